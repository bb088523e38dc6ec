//! Blocks in the reduced model: their states are integrated with its own.

use super::error::ReducedError;
use super::linear::Seed;
use super::system::{Scratch, StateNumber, System};
use crate::dynamics::control::{Feedback, Place, Running, Sensed, Slopes};
use crate::reduced_model::{Dual, OutputNumbers};
use nalgebra::{DVector, Vector3};

/// The blocks at one instant, in the numbers of a state.
pub(super) struct Blocks<R> {
    pub signals: Vec<R>,
    pub rates: Vec<R>,
}

impl<R> Default for Blocks<R> {
    fn default() -> Self {
        Self {
            signals: Vec::new(),
            rates: Vec::new(),
        }
    }
}

impl System<'_> {
    /// Refuses sensors of modal coordinates that the model does not have.
    pub(super) fn check_sensors(&self) -> Result<(), ReducedError> {
        let sensors = self
            .blocks
            .as_ref()
            .map_or(&[][..], |run| &run.diagram.sensors);
        let modes = self.n - self.s;
        for sensor in sensors {
            if let Sensed::Modal(k) | Sensed::ModalRate(k) = sensor.sensed
                && k >= modes
            {
                return Err(ReducedError::NoSuchMode {
                    sensor: sensor.name.clone(),
                    number: k + 1,
                    modes,
                });
            }
        }
        Ok(())
    }

    fn feedback(&self) -> &[Feedback] {
        self.excitation
            .control()
            .map_or(&[], |(_, feedback)| feedback)
    }

    /// Forces of blocks on a coordinate.
    pub(super) fn fed_back<R: StateNumber>(&self, k: usize, blocks: &Blocks<R>) -> R {
        let own = self
            .feedback()
            .iter()
            .filter(|f| f.place == Place::Coordinate(k));
        own.fold(R::ZERO, |sum, f| {
            sum + R::load(f.term.weight) * blocks.signals[f.term.signal]
        })
    }

    /// Forces of blocks at outputs, by inertial axes.
    pub(super) fn fed_back_at_outputs<R: StateNumber>(
        &self,
        blocks: &Blocks<R>,
    ) -> Vec<(usize, [R; 3])> {
        let all = self.feedback().iter();
        all.filter_map(|f| match f.place {
            Place::Output(output, direction) => {
                let size = R::load(f.term.weight) * blocks.signals[f.term.signal];
                Some((output, [0, 1, 2].map(|i| R::load(direction[i]) * size)))
            }
            Place::Coordinate(_) => None,
        })
        .collect()
    }

    /// Outputs of blocks for a motion. Accelerations are those of `scratch.accel` where they are
    /// known, and no force depends on them.
    pub(super) fn read_blocks<R: StateNumber>(
        &self,
        time: f64,
        x: &[R],
        scratch: &mut Scratch<R>,
        accelerated: bool,
    ) {
        let Some(run) = &self.blocks else { return };
        let w = self.sensors(scratch, accelerated);
        let values = |list: &[R]| list.iter().map(|v| v.value()).collect::<Vec<f64>>();
        let at = run.evaluate(time, &values(x), &values(&w));
        scratch.blocks = if R::HAS_SLOPE {
            let slopes = run.slopes(&at);
            let seed = match self.seed.get() {
                Some(Seed::Output(k)) => Some(k),
                _ => None,
            };
            with_slopes(&at, slopes.as_ref(), x, &w, seed)
        } else {
            Blocks {
                signals: at.signals.iter().map(|v| R::load(*v)).collect(),
                rates: at.rates.iter().map(|v| R::load(*v)).collect(),
            }
        };
    }

    fn sensors<R: StateNumber>(&self, scratch: &mut Scratch<R>, accelerated: bool) -> Vec<R> {
        let Some(run) = &self.blocks else {
            return Vec::new();
        };
        let sensors = &run.diagram.sensors;
        let of_outputs = sensors.iter().any(|s| s.sensed.of_output().is_some());
        let motions = if of_outputs {
            let memory = &mut scratch.memory;
            self.evaluator
                .outputs_in(&scratch.eta, &scratch.rate, memory)
                .0
        } else {
            Vec::new()
        };
        let accelerations = if accelerated && sensors.iter().any(|s| s.sensed.is_acceleration()) {
            self.accelerations(scratch, &motions)
        } else {
            Vec::new()
        };
        let s = self.s;
        sensors
            .iter()
            .map(|sensor| match sensor.sensed {
                Sensed::Coordinate(k) => scratch.eta[k],
                Sensed::Rate(k) => scratch.rate[k],
                Sensed::CoordinateAcceleration(k) if accelerated => scratch.accel[k],
                Sensed::CoordinateAcceleration(_) => R::ZERO,
                Sensed::Modal(k) => scratch.eta[s + k],
                Sensed::ModalRate(k) => scratch.rate[s + k],
                ref sensed => self.read_output(sensed, &motions, &accelerations),
            })
            .collect()
    }

    fn read_output<R: StateNumber>(
        &self,
        sensed: &Sensed,
        motions: &[OutputNumbers<R>],
        accelerations: &[[R; 3]],
    ) -> R {
        let project = |vector: &[R; 3], axis: &Vector3<f64>, body: Option<&[R; 9]>| {
            let mut sum = R::ZERO;
            for i in 0..3 {
                // Axes of the output are columns of its rotation.
                let along = match body {
                    Some(r) => (0..3).fold(R::ZERO, |s, j| s + r[3 * i + j] * R::load(axis[j])),
                    None => R::load(axis[i]),
                };
                sum += along * vector[i];
            }
            sum
        };
        // Without a model there is no motion; the run ends for that reason.
        let Some(motion) = sensed.of_output().and_then(|output| motions.get(output)) else {
            return R::ZERO;
        };
        let turned = |body: bool| body.then_some(&motion.rotation);
        match sensed {
            Sensed::Position { axis, .. } => project(&motion.vectors[0], axis, None),
            Sensed::Velocity { axis, body, .. } => project(&motion.vectors[1], axis, turned(*body)),
            Sensed::AngularVelocity { axis, body, .. } => {
                project(&motion.vectors[2], axis, turned(*body))
            }
            Sensed::Acceleration {
                output,
                axis,
                body,
                gravity,
            } => {
                let Some(mut a) = accelerations.get(*output).copied() else {
                    return R::ZERO;
                };
                if *gravity {
                    for (a, g) in a.iter_mut().zip(&self.gravity) {
                        *a -= R::load(*g);
                    }
                }
                project(&a, axis, turned(*body))
            }
            _ => R::ZERO,
        }
    }

    /// Accelerations of outputs. Their slopes hold what the accelerations of the coordinates change:
    /// all of it at rest, and enough for Newton's method in motion.
    fn accelerations<R: StateNumber>(
        &self,
        scratch: &Scratch<R>,
        motions: &[OutputNumbers<R>],
    ) -> Vec<[R; 3]> {
        let dual = |(v, d): (&R, &R)| Dual {
            v: v.value(),
            d: d.value(),
        };
        let moving: Vec<Dual> = scratch.eta.iter().zip(&scratch.rate).map(dual).collect();
        let turning: Vec<Dual> = scratch.rate.iter().zip(&scratch.accel).map(dual).collect();
        let memory = &mut *self.motion_memory.borrow_mut();
        let (along, _) = self.evaluator.outputs_in(&moving, &turning, memory);
        along
            .iter()
            .zip(motions)
            .map(|(along, here)| {
                [0, 1, 2].map(|axis| {
                    let row = &here.jacobian[axis * self.n..(axis + 1) * self.n];
                    let slope = row.iter().zip(&scratch.accel);
                    let slope = slope.map(|(j, a)| j.value() * a.slope()).sum();
                    R::with_slope(along.vectors[1][axis].d, slope)
                })
            })
            .collect()
    }

    /// Lets sampled blocks act on a state.
    pub(super) fn let_blocks_act(&self, time: f64, state: &[f64]) {
        let Some(run) = &self.blocks else { return };
        let scratch = &mut *self.scratch.borrow_mut();
        self.evaluate(time, state, scratch);
        let x = self.block_states(state).to_vec();
        let w = self.sensors(scratch, true);
        run.sample(time, &x, &w);
        run.judge(&[&scratch.eta[..], &scratch.rate].concat());
    }

    /// Signals and states of the blocks in a state.
    pub(super) fn running(&self, time: f64, state: &[f64]) -> Option<Running> {
        self.blocks.as_ref()?;
        let scratch = &mut *self.scratch.borrow_mut();
        self.evaluate(time, state, scratch);
        Some(Running {
            x: self.block_states(state).to_vec(),
            rates: scratch.blocks.rates.clone(),
            signals: scratch.blocks.signals.clone(),
        })
    }

    /// Pieces of piecewise laws at work.
    pub(super) fn pieces(&self, time: f64, state: &[f64]) -> Vec<i8> {
        match (&self.blocks, self.running(time, state)) {
            (Some(run), Some(at)) => run.pieces(&at),
            _ => Vec::new(),
        }
    }

    /// Lets limited integrals rest at a limit or leave it; what reaches one may have to leave it at once.
    pub(super) fn switch_blocks(&self, time: f64, state: &mut [f64]) {
        for _ in 0..2 {
            let (Some(run), Some(mut at)) = (&self.blocks, self.running(time, state)) else {
                return;
            };
            let changed = run.switch(&mut at);
            let first = self.first_block_state();
            state[first..first + at.x.len()].copy_from_slice(&at.x);
            if !changed {
                return;
            }
        }
    }
}

/// Values with their changes along a direction of states and sensors.
fn with_slopes<R: StateNumber>(
    at: &Running,
    slopes: Option<&Slopes>,
    x: &[R],
    w: &[R],
    seed: Option<usize>,
) -> Blocks<R> {
    let changes = |list: &[R]| DVector::from_iterator(list.len(), list.iter().map(|v| v.slope()));
    let (dx, dw) = (changes(x), changes(w));
    let n = at.rates.len();
    let (outputs, rates) = match slopes {
        Some(s) => {
            let mut outputs = &s.y_x * &dx + &s.y_w * &dw;
            let mut rates = &s.f_x * &dx + &s.f_w * &dw;
            if let Some(k) = seed {
                outputs += s.y_y.column(k);
                rates += s.f_y.column(k);
            }
            (outputs, rates)
        }
        None => {
            let p = at.signals.len() - w.len();
            (
                DVector::from_element(p, f64::NAN),
                DVector::from_element(n, f64::NAN),
            )
        }
    };
    let join = |values: &[f64], slopes: &[f64]| {
        let pairs = values.iter().zip(slopes);
        pairs
            .map(|(v, d)| R::with_slope(*v, *d))
            .collect::<Vec<R>>()
    };
    let mut signals = w.to_vec();
    signals.extend(join(&at.signals[w.len()..], outputs.as_slice()));
    Blocks {
        signals,
        rates: join(&at.rates, rates.as_slice()),
    }
}
