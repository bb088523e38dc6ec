//! Sensors, blocks and what they act on, checked once.

use super::law::Law;
use super::order::{Group, order};
use nalgebra::{DMatrix, Vector3};
use thiserror::Error;

/// What a sensor measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sensed {
    /// A coordinate of θ.
    Coordinate(usize),
    /// Its rate.
    Rate(usize),
    /// Its second derivative.
    CoordinateAcceleration(usize),
    /// A modal coordinate η^δ, which only the reduced model has.
    Modal(usize),
    /// Rate of a modal coordinate.
    ModalRate(usize),
    /// Position of an output along an inertial direction.
    Position {
        /// The output.
        output: usize,
        /// The direction.
        axis: Vector3<f64>,
    },
    /// Velocity of an output along a direction.
    Velocity {
        /// The output.
        output: usize,
        /// The direction.
        axis: Vector3<f64>,
        /// The direction turns with the output.
        body: bool,
    },
    /// Acceleration of an output along a direction.
    Acceleration {
        /// The output.
        output: usize,
        /// The direction.
        axis: Vector3<f64>,
        /// The direction turns with the output.
        body: bool,
        /// Gravity is felt as well, as an accelerometer feels it.
        gravity: bool,
    },
    /// Angular velocity of an output about a direction.
    AngularVelocity {
        /// The output.
        output: usize,
        /// The direction.
        axis: Vector3<f64>,
        /// The direction turns with the output.
        body: bool,
    },
}

impl Sensed {
    /// Whether it depends on accelerations.
    pub fn is_acceleration(&self) -> bool {
        matches!(
            self,
            Self::CoordinateAcceleration(_) | Self::Acceleration { .. }
        )
    }

    /// Whether it is the motion of an output.
    pub fn of_output(&self) -> Option<usize> {
        match self {
            Self::Position { output, .. }
            | Self::Velocity { output, .. }
            | Self::Acceleration { output, .. }
            | Self::AngularVelocity { output, .. } => Some(*output),
            _ => None,
        }
    }
}

/// A sensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensor {
    /// Its name.
    pub name: String,
    /// What it measures.
    pub sensed: Sensed,
}

/// A multiple of a signal. Signals are the sensors, then the outputs of all blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// The signal.
    pub signal: usize,
    /// Its weight.
    pub weight: f64,
}

/// When a block acts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Time between samples (s).
    pub period: f64,
    /// Time of the first one (s).
    pub offset: f64,
}

/// A block.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// What it does.
    pub law: Law,
    /// Its inputs, each a sum of signals.
    pub inputs: Vec<Vec<Term>>,
    /// When it acts; always where absent.
    pub sampled: Option<Sampling>,
}

/// Where an output of a block acts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// As a force along a coordinate of θ.
    Coordinate(usize),
    /// As a force at an output, along an inertial direction.
    Output(usize, Vector3<f64>),
}

/// A force proportional to a signal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Feedback {
    /// Where it acts.
    pub place: Place,
    /// Signal and factor.
    pub term: Term,
}

/// Why blocks cannot be connected so.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum DiagramFault {
    /// A loop without a solution.
    #[error("the blocks {} form an algebraic loop without a unique solution", list(.0))]
    SingularLoop(Vec<String>),
    /// A loop in which a sampled block would need its own output at the same sample.
    #[error("the blocks {} form a loop in which a sampled block needs its own output at the same sample", list(.0))]
    SampledLoop(Vec<String>),
    /// A force that depends on the acceleration it causes.
    #[error("an acceleration acts on a force at the same instant through {}", list(.0))]
    AccelerationLoop(Vec<String>),
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    quoted.join(", ")
}

impl DiagramFault {
    /// One thing to try.
    pub fn help(&self) -> &'static str {
        match self {
            Self::SingularLoop(_) => "change a gain, or put a filter or a delay into the loop",
            Self::SampledLoop(_) => "put a `delay` of one sample into the loop",
            Self::AccelerationLoop(_) => {
                "filter the acceleration (`butterworth`), or make the block `sampled`"
            }
        }
    }
}

/// Connected blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagram {
    /// The sensors.
    pub sensors: Vec<Sensor>,
    /// The blocks.
    pub blocks: Vec<Block>,
    /// First state of each block, and the number of all.
    pub(super) first_state: Vec<usize>,
    /// First output of each block among all outputs, and the number of all.
    pub(super) first_output: Vec<usize>,
    /// Blocks in the order of evaluation; those that depend on each other together.
    pub(super) groups: Vec<Group>,
    /// Slopes are the same everywhere.
    pub(super) is_linear: bool,
}

impl Diagram {
    /// Connects blocks. Terms must name signals that exist, and laws have the inputs they need.
    pub fn new(sensors: Vec<Sensor>, blocks: Vec<Block>) -> Result<Self, DiagramFault> {
        let mut first_state = vec![0];
        let mut first_output = vec![0];
        for (i, block) in blocks.iter().enumerate() {
            let states = if block.sampled.is_some() {
                0
            } else {
                block.law.n_states()
            };
            first_state.push(first_state[i] + states);
            first_output.push(first_output[i] + block.law.n_outputs());
        }
        let groups = order(&blocks, &first_output, sensors.len());
        let is_linear = blocks
            .iter()
            .all(|b| b.sampled.is_some() || b.law.is_linear());
        let diagram = Self {
            sensors,
            blocks,
            first_state,
            first_output,
            groups,
            is_linear,
        };
        diagram.check_loops()?;
        Ok(diagram)
    }

    /// Number of continuous states.
    pub fn n_states(&self) -> usize {
        self.first_state.last().copied().unwrap_or(0)
    }

    /// Number of outputs of all blocks.
    pub fn n_outputs(&self) -> usize {
        self.first_output.last().copied().unwrap_or(0)
    }

    /// Number of signals: sensors and outputs.
    pub fn n_signals(&self) -> usize {
        self.sensors.len() + self.n_outputs()
    }

    /// States at t = 0.
    pub fn initial(&self) -> Vec<f64> {
        let continuous = self.blocks.iter().filter(|b| b.sampled.is_none());
        continuous.flat_map(|b| b.law.initial()).collect()
    }

    /// Names of all signals; outputs of a block with several are numbered from 1.
    pub fn signal_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.sensors.iter().map(|s| s.name.clone()).collect();
        for block in &self.blocks {
            match block.law.n_outputs() {
                1 => names.push(block.name.clone()),
                n => names.extend((1..=n).map(|k| format!("{}.{k}", block.name))),
            }
        }
        names
    }

    /// Outputs of a block among the signals; none where there is no such block.
    pub fn signals_of(&self, block: &str) -> std::ops::Range<usize> {
        match self.blocks.iter().position(|b| b.name == block) {
            Some(b) => self.output_range(b),
            None => 0..0,
        }
    }

    /// Lets blocks take multiples of some signals.
    pub(crate) fn scale(&mut self, signals: &std::ops::Range<usize>, factor: f64) {
        let inputs = self.blocks.iter_mut().flat_map(|b| b.inputs.iter_mut());
        for term in inputs.flatten().filter(|t| signals.contains(&t.signal)) {
            term.weight *= factor;
        }
    }

    /// Names of the continuous states: the block's, numbered from 1.
    pub fn state_names(&self) -> Vec<String> {
        let all = self.blocks.iter().enumerate();
        all.flat_map(|(b, block)| {
            let count = self.first_state[b + 1] - self.first_state[b];
            (1..=count).map(|k| format!("{}.state{k}", block.name))
        })
        .collect()
    }

    pub(super) fn states<'x>(&self, block: usize, x: &'x [f64]) -> &'x [f64] {
        &x[self.first_state[block]..self.first_state[block + 1]]
    }

    /// Place of a block's outputs among the signals.
    pub(super) fn output_range(&self, block: usize) -> std::ops::Range<usize> {
        let n = self.sensors.len();
        n + self.first_output[block]..n + self.first_output[block + 1]
    }

    pub(super) fn inputs(&self, block: usize, signals: &[f64]) -> Vec<f64> {
        let sum = |terms: &Vec<Term>| terms.iter().map(|t| t.weight * signals[t.signal]).sum();
        self.blocks[block].inputs.iter().map(sum).collect()
    }

    /// Instants after 0 at which blocks act until the end of a run, in order, each once.
    pub fn samples(&self, duration: f64) -> Vec<f64> {
        let mut times = Vec::new();
        for sampling in self.blocks.iter().filter_map(|b| b.sampled) {
            let count = ((duration - sampling.offset) / sampling.period)
                .ceil()
                .max(0.0) as u64;
            times.extend((0..=count).map(|k| sampling.time(k)));
        }
        times.retain(|t| *t > 0.0 && *t < duration);
        times.sort_by(f64::total_cmp);
        times.dedup_by(|later, earlier| *later - *earlier <= 1e-12 * duration);
        times
    }

    /// How many samples a run has.
    pub fn sample_count(&self, duration: f64) -> f64 {
        let all = self.blocks.iter().filter_map(|b| b.sampled);
        all.map(|s| duration / s.period).fold(0.0, f64::max)
    }

    /// Refuses forces that depend on accelerations at the same instant: the mechanism would be part
    /// of the algebraic loop.
    pub fn check_feedback(&self, feedback: &[Feedback]) -> Result<(), DiagramFault> {
        let n = self.sensors.len();
        // For every signal the names of blocks through which an acceleration reaches it.
        let mut reached: Vec<Option<Vec<String>>> = vec![None; self.n_signals()];
        for (i, sensor) in self.sensors.iter().enumerate() {
            if sensor.sensed.is_acceleration() {
                reached[i] = Some(vec![sensor.name.clone()]);
            }
        }
        for _ in 0..self.blocks.len() {
            for (b, block) in self.blocks.iter().enumerate() {
                let range = self.output_range(b);
                if block.sampled.is_some()
                    || !block.feeds_through()
                    || reached[range.start].is_some()
                {
                    continue;
                }
                let from = block
                    .inputs
                    .iter()
                    .flatten()
                    .find_map(|t| reached[t.signal].clone());
                if let Some(mut way) = from {
                    way.push(block.name.clone());
                    range.for_each(|signal| reached[signal] = Some(way.clone()));
                }
            }
        }
        debug_assert!(n <= reached.len());
        let found = feedback.iter().find_map(|f| reached[f.term.signal].clone());
        found.map_or(Ok(()), |way| Err(DiagramFault::AccelerationLoop(way)))
    }

    fn names(&self, group: &Group) -> Vec<String> {
        group
            .blocks
            .iter()
            .map(|b| self.blocks[*b].name.clone())
            .collect()
    }

    /// Loops must be regular at rest, and must not contain sampled blocks.
    fn check_loops(&self) -> Result<(), DiagramFault> {
        let x = self.initial();
        let signals = vec![0.0; self.n_signals()];
        for group in self.groups.iter().filter(|g| g.is_loop) {
            if group
                .blocks
                .iter()
                .any(|b| self.blocks[*b].sampled.is_some())
            {
                return Err(DiagramFault::SampledLoop(self.names(group)));
            }
            let matrix = self.loop_matrix(group, &x, &signals);
            if !is_regular(&matrix) {
                return Err(DiagramFault::SingularLoop(self.names(group)));
            }
        }
        Ok(())
    }

    pub(super) fn loop_fault(&self, group: &Group) -> DiagramFault {
        DiagramFault::SingularLoop(self.names(group))
    }

    /// I − ∂g/∂y of the outputs of a loop [T 4.13].
    pub(super) fn loop_matrix(&self, group: &Group, x: &[f64], signals: &[f64]) -> DMatrix<f64> {
        let places = self.loop_signals(group);
        let mut matrix = DMatrix::identity(places.len(), places.len());
        let mut row = 0;
        for &b in &group.blocks {
            let u = self.inputs(b, signals);
            let slopes = self.blocks[b].law.slopes(self.states(b, x), &u, 0);
            for y in 0..slopes.d.nrows() {
                for (j, terms) in self.blocks[b].inputs.iter().enumerate() {
                    for term in terms {
                        if let Some(column) = places.iter().position(|p| *p == term.signal) {
                            matrix[(row, column)] -= slopes.d[(y, j)] * term.weight;
                        }
                    }
                }
                row += 1;
            }
        }
        matrix
    }

    pub(super) fn loop_signals(&self, group: &Group) -> Vec<usize> {
        group
            .blocks
            .iter()
            .flat_map(|b| self.output_range(*b))
            .collect()
    }
}

/// Whether a small matrix has an inverse with digits.
pub(super) fn is_regular(matrix: &DMatrix<f64>) -> bool {
    let values = matrix.clone().svd(false, false).singular_values;
    let (smallest, largest) = (values.min(), values.max());
    smallest.is_finite() && smallest > 1e-12 * largest
}

impl Block {
    /// Whether an output depends on an input at the same instant.
    pub(super) fn feeds_through(&self) -> bool {
        self.law.feeds_through(self.sampled.is_some())
    }
}

impl Sampling {
    /// Time of sample `k`.
    pub fn time(&self, k: u64) -> f64 {
        self.offset + k as f64 * self.period
    }
}
