//! Blocks at work: their outputs at an instant, and what happens at samples.

use super::diagram::{Diagram, DiagramFault};
use super::external::{ControllerFault, External, Process};
use super::law::{Law, Sample};
use super::linear::Slopes;
use super::order::Group;
use crate::reduced_model::Status;
use nalgebra::{DMatrix, DVector};
use std::cell::{Cell, RefCell};
use thiserror::Error;

/// Iterations that solve a loop or a step of the states.
const ITERATIONS: usize = 50;
/// What is left of a solution, in parts of its size.
const SOLVED: f64 = 1e-13;

/// What can go wrong while blocks work.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ControlFault {
    /// A loop has no solution where the run has come to.
    #[error(transparent)]
    Loop(#[from] DiagramFault),
    /// A value is not a number.
    #[error("block `{block}` gives {value}")]
    NotFinite {
        /// The block.
        block: String,
        /// What it gives.
        value: f64,
    },
    /// An output changes infinitely fast with its inputs.
    #[error("the output of block `{block}` has an infinite slope")]
    Steep {
        /// The block.
        block: String,
    },
    /// A block asks the reduced model where it should not be asked.
    #[error("block `{block}` evaluates the reduced model at θ = {theta:?}, {}", place(*status))]
    Model {
        /// The block.
        block: String,
        /// θ among its inputs.
        theta: Vec<f64>,
        /// What the model says.
        status: Status,
    },
    /// A block evaluates a model that nobody gave it.
    #[error("block `{block}` evaluates the reduced model and was given none")]
    NoModel {
        /// The block.
        block: String,
    },
    /// A controller of the user's own fails.
    #[error("the controller of block `{block}` fails: {fault}")]
    Controller {
        /// The block.
        block: String,
        /// How.
        fault: ControllerFault,
    },
}

impl ControlFault {
    /// One thing to try.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Loop(fault) => fault.help(),
            Self::NotFinite { .. } => {
                "see whether the loop is stable: `reduce linear` shows its poles; or limit the block's input"
            }
            Self::Steep { .. } => {
                "keep its input from where a root, power or quotient is infinitely steep, or make the block `sampled`"
            }
            Self::Model {
                status: Status::NotFinite,
                ..
            } => {
                "see whether the loop is stable: `reduce linear` shows its poles; or limit the block's inputs"
            }
            Self::NoModel { .. } => "give the model with the scenario's drives before they are run",
            Self::Model { .. } => {
                "keep its inputs inside the model's domain, by a `saturation` before it or another reference, or widen the domain"
            }
            Self::Controller { fault, .. } => fault.help(),
        }
    }
}

fn place(status: Status) -> &'static str {
    match status {
        Status::Inside => "in its domain",
        Status::Clamped => "outside its domain",
        Status::Undefined => "where it has no value",
        Status::NotFinite => "and not all of the block's inputs are numbers",
        Status::Bent => "with deflections beyond those for which it holds",
    }
}

/// What stays the same between samples and switches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Held {
    /// All outputs; those of sampled blocks count.
    outputs: Vec<f64>,
    /// Per block: 0, or which limit the integral rests at.
    pub(super) modes: Vec<i8>,
    /// Per block: what the discrete law remembers.
    memory: Vec<Vec<f64>>,
    /// Per block: samples so far.
    counts: Vec<u64>,
}

/// Signals and rates of one instant.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Running {
    /// Continuous states.
    pub x: Vec<f64>,
    /// Their rates.
    pub rates: Vec<f64>,
    /// Sensors and outputs.
    pub signals: Vec<f64>,
}

/// A diagram in one run.
pub(crate) struct ControlRun<'d> {
    pub diagram: &'d Diagram,
    held: RefCell<Held>,
    fault: RefCell<Option<ControlFault>>,
    /// Slopes of a linear diagram, which never change.
    slopes: RefCell<Option<Slopes>>,
    changes: Cell<usize>,
    controllers: RefCell<Controllers>,
}

/// Controllers of the user's own, started when they first act.
struct Controllers {
    /// One place per block.
    running: Vec<Option<Process>>,
    /// They hold what they gave, and none is started.
    held: bool,
}

impl Controllers {
    fn step(
        &mut self,
        block: usize,
        external: &External,
        at: &Sample,
        inputs: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), ControllerFault> {
        if self.held {
            return Ok(());
        }
        let place = &mut self.running[block];
        if place.is_none() {
            *place = Some(Process::start(external, at.period)?);
        }
        if let Some(process) = place {
            outputs.copy_from_slice(&process.step(external, at, inputs)?);
        }
        Ok(())
    }
}

impl<'d> ControlRun<'d> {
    pub fn new(diagram: &'d Diagram) -> Self {
        Self {
            diagram,
            held: RefCell::new(diagram.held()),
            fault: RefCell::new(None),
            slopes: RefCell::new(None),
            changes: Cell::new(0),
            controllers: RefCell::new(Controllers {
                running: diagram.blocks.iter().map(|_| None).collect(),
                held: false,
            }),
        }
    }

    /// From now on no controller of the user's own is asked.
    pub fn hold_controllers(&self) {
        self.controllers.borrow_mut().held = true;
    }

    /// The first fault since the start.
    pub fn fault(&self) -> Option<ControlFault> {
        self.fault.borrow().clone()
    }

    fn blame(&self, fault: ControlFault) {
        self.fault.borrow_mut().get_or_insert(fault);
    }

    /// Signals and rates for given states and sensors, not-a-number where a loop cannot be solved.
    pub fn evaluate(&self, time: f64, x: &[f64], sensors: &[f64]) -> Running {
        let held = self.held.borrow();
        match self.diagram.signals(time, x, sensors, &held) {
            Ok(signals) => Running {
                rates: self.diagram.rates(x, &signals, &held),
                x: x.to_vec(),
                signals,
            },
            Err(group) => {
                self.blame(self.diagram.loop_fault(group).into());
                Running {
                    x: x.to_vec(),
                    rates: vec![f64::NAN; x.len()],
                    signals: vec![f64::NAN; self.diagram.n_signals()],
                }
            }
        }
    }

    /// Slopes at an instant; none where a loop is singular.
    pub fn slopes(&self, at: &Running) -> Option<Slopes> {
        if self.diagram.is_linear {
            let mut kept = self.slopes.borrow_mut();
            if kept.is_none() {
                *kept = self.diagram.slopes(&at.x, &at.signals, &self.held.borrow());
            }
            return kept.clone();
        }
        self.diagram.slopes(&at.x, &at.signals, &self.held.borrow())
    }

    /// The end of a step with x = x̂ + κh·f(x, w) [M 13.3].
    pub fn step(&self, time: f64, known: &[f64], factor: f64, start: &[f64], w: &[f64]) -> Running {
        let mut at = self.evaluate(time, start, w);
        let n = known.len();
        for _ in 0..ITERATIONS {
            let residual = DVector::from_fn(n, |i, _| known[i] + factor * at.rates[i] - at.x[i]);
            if n == 0 || residual.iter().any(|r| !r.is_finite()) {
                return at;
            }
            let Some(slopes) = self.slopes(&at) else {
                return at;
            };
            let matrix = DMatrix::identity(n, n) - slopes.f_x * factor;
            let Some(change) = matrix.lu().solve(&residual) else {
                return at;
            };
            let x: Vec<f64> = at.x.iter().zip(change.iter()).map(|(x, d)| x + d).collect();
            let size = |v: &mut dyn Iterator<Item = f64>| v.fold(0.0_f64, |m, x| m.max(x.abs()));
            let done = size(&mut change.iter().copied()) <= SOLVED * size(&mut x.iter().copied())
                || change.iter().all(|c| *c == 0.0);
            at = self.evaluate(time, &x, w);
            if done || self.diagram.is_linear {
                break;
            }
        }
        at
    }

    /// Lets every block that is due act, with sensors read just before.
    pub fn sample(&self, time: f64, x: &[f64], sensors: &[f64]) {
        let held = &mut *self.held.borrow_mut();
        let controllers = &mut *self.controllers.borrow_mut();
        if let Err(fault) = (self.diagram).sample(time, x, sensors, held, controllers) {
            self.blame(fault);
        }
    }

    /// Tells observers what is true: η and rates.
    pub fn judge(&self, truth: &[f64]) {
        let held = self.held.borrow();
        for (block, memory) in self.diagram.blocks.iter().zip(&held.memory) {
            if let Law::Observer(observer) = &block.law {
                observer.judge(memory, truth);
            }
        }
    }

    /// After a step: integrals that have reached or left a limit rest there or move on. True where
    /// something changed.
    pub fn switch(&self, at: &mut Running) -> bool {
        let mut held = self.held.borrow_mut();
        let changed = self.diagram.switch(at, &mut held);
        self.changes.set(self.changes.get() + usize::from(changed));
        changed
    }

    /// Which pieces of piecewise laws are at work; a change is an instant to be found.
    pub fn pieces(&self, at: &Running) -> Vec<i8> {
        self.diagram.pieces(at, &self.held.borrow())
    }

    /// A fault where an output is not a number, or a continuous block asks the model in vain.
    pub fn check(&self, at: &Running) -> Option<ControlFault> {
        self.check_models(at, false);
        let first = self.diagram.sensors.len();
        let place = at.signals.iter().skip(first).position(|v| !v.is_finite());
        if let Some(place) = place {
            let firsts = &self.diagram.first_output;
            let block = firsts.partition_point(|f| *f <= place) - 1;
            self.blame(ControlFault::NotFinite {
                block: self.diagram.blocks[block].name.clone(),
                value: at.signals[first + place],
            });
        }
        self.fault()
    }

    /// The same, sampled blocks included: as if they acted now.
    pub fn check_all(&self, at: &Running) -> Option<ControlFault> {
        self.check_models(at, true);
        self.check(at)
    }

    fn check_models(&self, at: &Running, sampled: bool) {
        let blocks = self.diagram.blocks.iter().enumerate();
        for (b, _) in blocks.filter(|(_, block)| block.sampled.is_none() || sampled) {
            let u = self.diagram.inputs(b, &at.signals);
            if let Err(fault) = self.diagram.check_model(b, &u) {
                self.blame(fault);
            }
        }
    }

    /// A fault where slopes are not finite.
    pub fn check_slopes(&self, at: &Running) -> Option<ControlFault> {
        if let Some(block) = self.diagram.steep(at, &self.held.borrow()) {
            let block = block.to_owned();
            self.blame(ControlFault::Steep { block });
        }
        self.fault()
    }
}

impl Diagram {
    /// Before the first sample: outputs zero.
    pub(crate) fn held(&self) -> Held {
        Held {
            outputs: vec![0.0; self.n_outputs()],
            modes: vec![0; self.blocks.len()],
            memory: self.blocks.iter().map(|b| b.memory()).collect(),
            counts: vec![0; self.blocks.len()],
        }
    }

    /// Sensors and outputs; the loop that cannot be solved.
    fn signals(&self, time: f64, x: &[f64], w: &[f64], held: &Held) -> Result<Vec<f64>, &Group> {
        let mut signals = w.to_vec();
        signals.extend(&held.outputs);
        for group in &self.groups {
            if group.is_loop {
                self.solve_loop(group, time, x, &mut signals)?;
            } else if self.blocks[group.blocks[0]].sampled.is_none() {
                self.find_outputs(group.blocks[0], time, x, &mut signals);
            }
        }
        Ok(signals)
    }

    fn find_outputs(&self, b: usize, time: f64, x: &[f64], signals: &mut [f64]) {
        let law = &self.blocks[b].law;
        let u = if self.blocks[b].feeds_through() {
            self.inputs(b, signals)
        } else {
            Vec::new()
        };
        law.outputs(
            time,
            self.states(b, x),
            &u,
            &mut signals[self.output_range(b)],
        );
    }

    /// Newton's method on the outputs of a loop.
    fn solve_loop<'g>(
        &self,
        group: &'g Group,
        time: f64,
        x: &[f64],
        signals: &mut [f64],
    ) -> Result<(), &'g Group> {
        let places = self.loop_signals(group);
        for _ in 0..ITERATIONS {
            let mut next = signals.to_vec();
            for &b in &group.blocks {
                let u = self.inputs(b, signals);
                let range = self.output_range(b);
                self.blocks[b]
                    .law
                    .outputs(time, self.states(b, x), &u, &mut next[range]);
            }
            let residual =
                DVector::from_fn(places.len(), |i, _| next[places[i]] - signals[places[i]]);
            let matrix = self.loop_matrix(group, x, signals);
            let change = matrix.lu().solve(&residual).ok_or(group)?;
            let mut size = 0.0_f64;
            for (place, change) in places.iter().zip(change.iter()) {
                signals[*place] += change;
                size = size.max(signals[*place].abs());
            }
            let left = change.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
            if !left.is_finite() {
                return Err(group);
            }
            if left <= SOLVED * size {
                return Ok(());
            }
        }
        Err(group)
    }

    fn rates(&self, x: &[f64], signals: &[f64], held: &Held) -> Vec<f64> {
        let mut rates = vec![0.0; self.n_states()];
        for (b, block) in self.blocks.iter().enumerate() {
            let range = self.first_state[b]..self.first_state[b + 1];
            if !range.is_empty() {
                let u = self.inputs(b, signals);
                block
                    .law
                    .rates(self.states(b, x), &u, held.modes[b], &mut rates[range]);
            }
        }
        rates
    }

    /// All blocks in their order, those that are due with their discrete laws.
    fn sample(
        &self,
        time: f64,
        x: &[f64],
        w: &[f64],
        held: &mut Held,
        controllers: &mut Controllers,
    ) -> Result<(), ControlFault> {
        let mut signals = self
            .signals(time, x, w, held)
            .map_err(|group| self.loop_fault(group))?;
        let before = signals.clone();
        let mut due = Vec::new();
        for group in &self.groups {
            if group.is_loop {
                self.solve_loop(group, time, x, &mut signals)
                    .map_err(|group| self.loop_fault(group))?;
                continue;
            }
            let b = group.blocks[0];
            match self.blocks[b].due(time, held.counts[b]) {
                Some(sample) => {
                    self.act(b, &sample, (&before, &mut signals), held, controllers)?;
                    due.push((b, sample));
                }
                None if self.blocks[b].sampled.is_none() => {
                    self.find_outputs(b, time, x, &mut signals);
                }
                None => {}
            }
        }
        // What gives now what it got before takes its input when all signals are known.
        for (b, sample) in due {
            let u = self.inputs(b, &signals);
            self.blocks[b].law.store(&sample, &mut held.memory[b], &u);
            held.counts[b] += 1;
        }
        Ok(())
    }

    fn act(
        &self,
        b: usize,
        sample: &Sample,
        (before, signals): (&[f64], &mut [f64]),
        held: &mut Held,
        controllers: &mut Controllers,
    ) -> Result<(), ControlFault> {
        let mut u = self.inputs(b, signals);
        if let Law::Observer(observer) = &self.blocks[b].law {
            // Forces are those that acted until now.
            let first = observer.settings.sensors.len();
            u[first..].copy_from_slice(&self.inputs(b, before)[first..]);
        }
        let range = self.output_range(b);
        let y = &mut signals[range.clone()];
        match &self.blocks[b].law {
            Law::External(external) => {
                controllers
                    .step(b, external, sample, &u, y)
                    .map_err(|fault| ControlFault::Controller {
                        block: self.blocks[b].name.clone(),
                        fault,
                    })?
            }
            law => law.sample(sample, &mut held.memory[b], &u, y),
        }
        self.check_model(b, &u)?;
        let first = self.sensors.len();
        held.outputs[range.start - first..range.end - first].copy_from_slice(&signals[range]);
        Ok(())
    }

    /// A fault where a block asks the model outside its domain.
    fn check_model(&self, b: usize, u: &[f64]) -> Result<(), ControlFault> {
        let Law::Model(model) = &self.blocks[b].law else {
            return Ok(());
        };
        let block = self.blocks[b].name.clone();
        match model.status(u) {
            Some(Status::Inside) => Ok(()),
            Some(status) => Err(ControlFault::Model {
                block,
                theta: u[..model.coordinates].to_vec(),
                status,
            }),
            None => Err(ControlFault::NoModel { block }),
        }
    }

    /// A continuous block whose outputs change infinitely fast with its inputs or states.
    fn steep(&self, at: &Running, held: &Held) -> Option<&str> {
        let continuous = self.blocks.iter().enumerate();
        let mut continuous = continuous.filter(|(_, block)| block.sampled.is_none());
        let steep = continuous.find(|(b, block)| {
            let u = self.inputs(*b, &at.signals);
            let s = block.law.slopes(self.states(*b, &at.x), &u, held.modes[*b]);
            let mut all = s.a.iter().chain(&s.b).chain(&s.c).chain(&s.d);
            all.any(|slope| !slope.is_finite())
        });
        steep.map(|(_, block)| block.name.as_str())
    }

    fn switch(&self, at: &mut Running, held: &mut Held) -> bool {
        let mut changed = false;
        for (b, block) in self.blocks.iter().enumerate() {
            if block.sampled.is_some() {
                continue;
            }
            let u = self.inputs(b, &at.signals);
            let Some((limits, rate)) = block.law.integral(self.states(b, &at.x), &u) else {
                continue;
            };
            let place = self.first_state[b];
            let mode = match held.modes[b] {
                0 if at.x[place] > limits[1] => 1,
                0 if at.x[place] < limits[0] => -1,
                mode if f64::from(mode) * rate < 0.0 => 0,
                mode => mode,
            };
            if mode != 0 {
                at.x[place] = limits[usize::from(mode > 0)];
            }
            changed |= mode != held.modes[b];
            held.modes[b] = mode;
        }
        changed
    }

    fn pieces(&self, at: &Running, held: &Held) -> Vec<i8> {
        let mut pieces = Vec::new();
        for (b, block) in self.blocks.iter().enumerate() {
            if block.sampled.is_some() {
                continue;
            }
            let (x, u) = (self.states(b, &at.x), self.inputs(b, &at.signals));
            pieces.push(block.law.piece(x, &u));
            if let Some((limits, rate)) = block.law.integral(x, &u) {
                pieces.push(match held.modes[b] {
                    0 => i8::from(x[0] > limits[1]) - i8::from(x[0] < limits[0]),
                    mode => i8::from(f64::from(mode) * rate < 0.0),
                });
            }
        }
        pieces
    }
}

impl super::diagram::Block {
    fn memory(&self) -> Vec<f64> {
        let mut memory = vec![0.0; self.law.n_memory()];
        if self.sampled.is_some() {
            let initial = self.law.initial();
            for (value, initial) in memory.iter_mut().zip(initial) {
                *value = initial;
            }
        }
        memory
    }

    /// The sample that a time is, if any.
    fn due(&self, time: f64, count: u64) -> Option<Sample> {
        let sampling = self.sampled?;
        let wanted = sampling.time(count);
        (time >= wanted - 1e-9 * sampling.period).then_some(Sample {
            time,
            period: sampling.period,
            count,
        })
    }
}
