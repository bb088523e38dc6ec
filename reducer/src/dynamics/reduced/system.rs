//! The equations of motion as a first-order system, and what is told of a state.

use super::error::ReducedError;
use super::{ReducedEnergies, ReducedInstant, ReducedOutput, ReducedSettings};
use crate::approximation::Path;
use crate::dynamics::excitation::{Drive, Excitation};
use crate::dynamics::full::OutputMotion;
use crate::reduced_model::{EvaluationError, Evaluator, Status, Workspace};
use nalgebra::Vector3;
use std::cell::{Cell, RefCell};

/// Work of actuators, work of point forces, dissipation.
const INTEGRALS: usize = 3;

/// Part of a step along the motion over which accelerations of points are differenced: the error
/// of the central difference and rounding are then both near 1e-10 of the acceleration.
const DIFFERENCE: f64 = 1e-5;

/// Free coordinates, their rates, and the integrals.
pub(super) type State = Vec<f64>;

/// A model with what acts on it.
pub(super) struct System<'a> {
    pub evaluator: &'a Evaluator<'a>,
    pub excitation: &'a dyn Excitation,
    pub n: usize,
    pub s: usize,
    prescribed: Vec<bool>,
    free: Vec<usize>,
    coulomb: &'a [f64],
    path: Option<&'a Path>,
    coulomb_rate: f64,
    has_damping: bool,
    /// Inputs are evaluated before this time: the segment's end, where they may jump.
    until: Cell<f64>,
    scratch: RefCell<Scratch>,
    evaluations: Cell<usize>,
}

/// One evaluation of the equations of motion.
#[derive(Debug, Default)]
struct Scratch {
    work: Workspace,
    eta: Vec<f64>,
    rate: Vec<f64>,
    accel: Vec<f64>,
    force: Vec<f64>,
    external: Vec<f64>,
    actuator: Vec<f64>,
    force_power: f64,
    dissipation: f64,
}

impl<'a> System<'a> {
    pub fn new(
        evaluator: &'a Evaluator<'a>,
        excitation: &'a dyn Excitation,
        settings: &'a ReducedSettings,
    ) -> Self {
        let (n, s) = (evaluator.n(), evaluator.n_rigid());
        let prescribed: Vec<bool> = (0..n)
            .map(|k| k < s && excitation.is_prescribed(k))
            .collect();
        let scratch = Scratch {
            eta: vec![0.0; n],
            rate: vec![0.0; n],
            accel: vec![0.0; n],
            force: vec![0.0; n],
            external: vec![0.0; n],
            actuator: vec![0.0; s],
            ..Scratch::default()
        };
        Self {
            evaluator,
            excitation,
            n,
            s,
            free: (0..n).filter(|&k| !prescribed[k]).collect(),
            prescribed,
            coulomb: &settings.coulomb,
            path: settings.path.as_ref(),
            coulomb_rate: settings.coulomb_rate,
            has_damping: evaluator.dissipates(),
            until: Cell::new(f64::INFINITY),
            scratch: RefCell::new(scratch),
            evaluations: Cell::new(0),
        }
    }

    /// Number of entries of a state.
    pub fn n_state(&self) -> usize {
        self.n_active() + INTEGRALS
    }

    /// Evaluations of the equations of motion so far.
    pub fn evaluations(&self) -> usize {
        self.evaluations.get()
    }

    /// Number of entries of a state that its derivative depends on; the integrals follow them.
    pub fn n_active(&self) -> usize {
        2 * self.free.len()
    }

    /// Inputs are taken from before this time.
    pub fn until(&self, time: f64) {
        self.until.set(time.next_down());
    }

    /// The state with these coordinates and rates, before any work was done.
    pub fn pack(&self, eta: &[f64], rate: &[f64]) -> State {
        let positions = self.free.iter().map(|&k| eta[k]);
        let rates = self.free.iter().map(|&k| rate[k]);
        positions.chain(rates).chain([0.0; INTEGRALS]).collect()
    }

    /// Status of a configuration.
    pub fn status(&self, theta: &[f64]) -> Result<Status, EvaluationError> {
        let scratch = &mut *self.scratch.borrow_mut();
        self.evaluator.status(theta, &mut scratch.work)
    }

    /// Force that holds a configuration at rest.
    pub fn static_force(&self, eta: &[f64]) -> Result<Vec<f64>, EvaluationError> {
        let zero = vec![0.0; self.n];
        let mut force = vec![0.0; self.n];
        let work = &mut self.scratch.borrow_mut().work;
        self.evaluator
            .inverse_dynamics(eta, &zero, &zero, &mut force, work)?;
        Ok(force)
    }

    /// θ at a time and state.
    pub fn theta(&self, time: f64, state: &[f64]) -> Vec<f64> {
        let scratch = &mut *self.scratch.borrow_mut();
        self.unpack(time, state, scratch);
        scratch.eta[..self.s].to_vec()
    }

    /// Derivative of the state; not a number where the model cannot tell, so that no step is
    /// accepted there.
    pub fn derivative(&self, time: f64, state: &[f64], out: &mut [f64]) {
        let scratch = &mut *self.scratch.borrow_mut();
        if self.evaluate(time, state, scratch).is_err() {
            out.fill(f64::NAN);
            return;
        }
        let m = self.free.len();
        for (i, &k) in self.free.iter().enumerate() {
            out[i] = scratch.rate[k];
            out[m + i] = scratch.accel[k];
        }
        let power = scratch.actuator.iter().zip(&scratch.rate);
        out[2 * m] = power.map(|(f, v)| f * v).sum();
        out[2 * m + 1] = scratch.force_power;
        out[2 * m + 2] = scratch.dissipation;
    }

    /// Coordinates, rates and prescribed accelerations.
    fn unpack(&self, time: f64, state: &[f64], scratch: &mut Scratch) {
        let m = self.free.len();
        for (i, &k) in self.free.iter().enumerate() {
            scratch.eta[k] = state[i];
            scratch.rate[k] = state[m + i];
        }
        let time = time.min(self.until.get());
        for k in (0..self.s).filter(|&k| self.prescribed[k]) {
            if let Drive::Motion {
                position,
                rate,
                acceleration,
            } = self.excitation.drive(k, time, 0.0, 0.0)
            {
                scratch.eta[k] = position;
                scratch.rate[k] = rate;
                scratch.accel[k] = acceleration;
            }
        }
    }

    fn evaluate(
        &self,
        time: f64,
        state: &[f64],
        scratch: &mut Scratch,
    ) -> Result<Status, EvaluationError> {
        self.evaluations.set(self.evaluations.get() + 1);
        self.unpack(time, state, scratch);
        let time = time.min(self.until.get());
        self.add_point_forces(time, scratch)?;
        scratch.force.copy_from_slice(&scratch.external);
        scratch.dissipation = 0.0;
        for k in 0..self.s {
            let (position, rate) = (scratch.eta[k], scratch.rate[k]);
            let friction = self.friction(k, position, rate);
            scratch.dissipation += friction * rate;
            scratch.external[k] -= friction;
            scratch.force[k] -= friction;
            if let Drive::Force { force, .. } = self.excitation.drive(k, time, position, rate) {
                scratch.actuator[k] = force;
                scratch.force[k] += force;
            }
        }
        let status = self.evaluator.hybrid_dynamics(
            &scratch.eta,
            &scratch.rate,
            &self.prescribed,
            &mut scratch.accel,
            &mut scratch.force,
            &mut scratch.work,
        )?;
        for k in (0..self.s).filter(|&k| self.prescribed[k]) {
            scratch.actuator[k] = scratch.force[k] - scratch.external[k];
        }
        if self.has_damping && status < Status::Undefined {
            let power = self
                .evaluator
                .dissipated_power(&scratch.rate, &mut scratch.work);
            scratch.dissipation += power;
        }
        Ok(status)
    }

    /// Coulomb friction against a rate; along a path that of all coordinates, projected on it.
    fn friction(&self, k: usize, position: f64, rate: f64) -> f64 {
        let against = |size: f64, rate: f64| size * (rate / self.coulomb_rate).clamp(-1.0, 1.0);
        match self.path {
            None => against(self.coulomb.get(k).copied().unwrap_or(0.0), rate),
            Some(path) => {
                let [_, slope, _] = path.configuration(position);
                let each = slope.iter().zip(self.coulomb);
                each.map(|(t, size)| t * against(*size, t * rate)).sum()
            }
        }
    }

    /// Generalised forces of forces at outputs, and their power.
    fn add_point_forces(&self, time: f64, scratch: &mut Scratch) -> Result<(), EvaluationError> {
        scratch.external.fill(0.0);
        scratch.force_power = 0.0;
        let n_outputs = self.evaluator.model().layout.outputs.len();
        let forces: Vec<(usize, Vector3<f64>)> = (0..n_outputs)
            .filter_map(|o| Some((o, self.excitation.point_force(o, time)?)))
            .collect();
        if forces.is_empty() {
            return Ok(());
        }
        let (motions, _) =
            self.evaluator
                .outputs(&scratch.eta, &scratch.rate, &mut scratch.work)?;
        for (output, force) in forces {
            let Some(motion) = motions.get(output) else {
                continue;
            };
            for (j, external) in scratch.external.iter_mut().enumerate() {
                let column = |axis: usize| motion.jacobian[axis * self.n + j];
                *external += Vector3::new(column(0), column(1), column(2)).dot(&force);
            }
            scratch.force_power += motion.velocity.dot(&force);
        }
        Ok(())
    }

    /// Everything that is told of a state.
    pub fn instant(&self, time: f64, state: &[f64]) -> Result<ReducedInstant, ReducedError> {
        let scratch = &mut *self.scratch.borrow_mut();
        self.evaluate(time, state, scratch)?;
        let (kinetic, potential, _) =
            self.evaluator
                .energy(&scratch.eta, &scratch.rate, &mut scratch.work)?;
        let integrals = &state[2 * self.free.len()..];
        let outputs = self.outputs(scratch)?;
        let (s, n) = (self.s, self.n);
        Ok(ReducedInstant {
            time,
            theta: scratch.eta[..s].to_vec(),
            rate: scratch.rate[..s].to_vec(),
            acceleration: scratch.accel[..s].to_vec(),
            modal: scratch.eta[s..n].to_vec(),
            modal_rate: scratch.rate[s..n].to_vec(),
            actuator_force: scratch.actuator.clone(),
            outputs,
            energies: ReducedEnergies {
                kinetic,
                potential,
                actuator_work: integrals[0],
                force_work: integrals[1],
                dissipated: integrals[2],
            },
        })
    }

    fn outputs(&self, scratch: &mut Scratch) -> Result<Vec<ReducedOutput>, EvaluationError> {
        let Scratch {
            work,
            eta,
            rate,
            accel,
            ..
        } = scratch;
        let mut rigid = eta.clone();
        rigid[self.s..].fill(0.0);
        let shifted = |sign: f64| -> Vec<f64> {
            let along = eta.iter().zip(rate.iter());
            along.map(|(x, v)| x + sign * DIFFERENCE * v).collect()
        };
        let (before, after) = (shifted(-1.0), shifted(1.0));
        let (here, _) = self.evaluator.outputs(eta, rate, work)?;
        let (rigid, _) = self.evaluator.outputs(&rigid, rate, work)?;
        let (before, _) = self.evaluator.outputs(&before, rate, work)?;
        let (after, _) = self.evaluator.outputs(&after, rate, work)?;
        let neighbours = rigid.iter().zip(before.iter().zip(&after));
        let outputs = here.iter().zip(neighbours);
        Ok(outputs
            .map(|(here, (rigid, (before, after)))| {
                let row = |axis: usize| {
                    let row = &here.jacobian[axis * self.n..(axis + 1) * self.n];
                    row.iter().zip(accel.iter()).map(|(j, a)| j * a).sum()
                };
                let turning = (after.velocity - before.velocity) / (2.0 * DIFFERENCE);
                ReducedOutput {
                    motion: OutputMotion {
                        position: here.position,
                        rotation: here.rotation,
                        velocity: here.velocity,
                        angular_velocity: here.angular_velocity,
                        acceleration: Vector3::new(row(0), row(1), row(2)) + turning,
                    },
                    deflection: here.position - rigid.position,
                    rigid_axes: rigid.rotation,
                }
            })
            .collect())
    }
}
