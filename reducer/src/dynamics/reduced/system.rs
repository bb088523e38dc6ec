//! The equations of motion [M 8.4] as a first-order system, and what is told of a state.

use super::error::ReducedError;
use super::{ReducedEnergies, ReducedInstant, ReducedOutput, ReducedSettings};
use crate::approximation::Path;
use crate::dynamics::excitation::{Drive, Excitation};
use crate::dynamics::full::OutputMotion;
use crate::reduced_model::{Dual, EvaluationError, Evaluator, Memory, Status, Workspace};
use kernel::Load;
use nalgebra::Vector3;
use std::cell::{Cell, RefCell};

/// Work of actuators, work of point forces, dissipation.
const INTEGRALS: usize = 3;

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
    scratch: RefCell<Scratch<f64>>,
    /// For derivatives along a direction.
    along: RefCell<Scratch<Dual>>,
    work: RefCell<Workspace>,
    evaluations: Cell<usize>,
}

/// One evaluation of the equations of motion.
struct Scratch<R> {
    memory: Memory<R>,
    eta: Vec<R>,
    rate: Vec<R>,
    accel: Vec<R>,
    force: Vec<R>,
    external: Vec<R>,
    actuator: Vec<R>,
    force_power: R,
    dissipation: R,
}

impl<R: Load<f64>> Scratch<R> {
    fn new(n: usize, s: usize) -> Self {
        let zeros = |len: usize| vec![R::ZERO; len];
        Self {
            memory: Memory::default(),
            eta: zeros(n),
            rate: zeros(n),
            accel: zeros(n),
            force: zeros(n),
            external: zeros(n),
            actuator: zeros(s),
            force_power: R::ZERO,
            dissipation: R::ZERO,
        }
    }
}

/// Numbers of a state: plain ones, or with their derivatives along a direction of states.
pub(super) trait StateNumber: Load<f64> {
    /// Without a derivative.
    fn value(self) -> f64;
    /// A force that depends on a position and a rate, by its derivatives.
    fn force(force: f64, by: [f64; 2], on: [Self; 2]) -> Self;
}

impl StateNumber for f64 {
    fn value(self) -> f64 {
        self
    }

    fn force(force: f64, _: [f64; 2], _: [Self; 2]) -> Self {
        force
    }
}

impl StateNumber for Dual {
    fn value(self) -> f64 {
        self.v
    }

    fn force(force: f64, by: [f64; 2], on: [Self; 2]) -> Self {
        let d = by[0] * on[0].d + by[1] * on[1].d;
        Self { v: force, d }
    }
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
            scratch: RefCell::new(Scratch::new(n, s)),
            along: RefCell::new(Scratch::new(n, s)),
            work: RefCell::default(),
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
        self.evaluator.status(theta, &mut self.work.borrow_mut())
    }

    /// Force that holds a configuration at rest.
    pub fn static_force(&self, eta: &[f64]) -> Result<Vec<f64>, EvaluationError> {
        let zero = vec![0.0; self.n];
        let mut force = vec![0.0; self.n];
        let work = &mut self.work.borrow_mut();
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
        self.evaluations.set(self.evaluations.get() + 1);
        if !self.derivative_in(time, state, scratch, |i, x| out[i] = x) {
            out.fill(f64::NAN);
        }
    }

    /// Change of that derivative per change `direction` of the state, exact but for rounding.
    pub fn derivative_along(&self, time: f64, state: &[f64], direction: &[f64], out: &mut [f64]) {
        let scratch = &mut *self.along.borrow_mut();
        let pairs = state.iter().zip(direction);
        let state: Vec<Dual> = pairs.map(|(&v, &d)| Dual { v, d }).collect();
        if !self.derivative_in(time, &state, scratch, |i, x| out[i] = x.d) {
            out.fill(f64::NAN);
        }
    }

    /// Tells every entry of the derivative; false where the model cannot.
    fn derivative_in<R: StateNumber>(
        &self,
        time: f64,
        state: &[R],
        scratch: &mut Scratch<R>,
        mut tell: impl FnMut(usize, R),
    ) -> bool {
        if self.evaluate(time, state, scratch) >= Status::Undefined {
            return false;
        }
        let m = self.free.len();
        for (i, &k) in self.free.iter().enumerate() {
            tell(i, scratch.rate[k]);
            tell(m + i, scratch.accel[k]);
        }
        let power = scratch.actuator.iter().zip(&scratch.rate);
        tell(2 * m, power.fold(R::ZERO, |sum, (f, v)| sum + *f * *v));
        tell(2 * m + 1, scratch.force_power);
        tell(2 * m + 2, scratch.dissipation);
        true
    }

    /// Coordinates, rates and prescribed accelerations.
    fn unpack<R: StateNumber>(&self, time: f64, state: &[R], scratch: &mut Scratch<R>) {
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
                scratch.eta[k] = R::load(position);
                scratch.rate[k] = R::load(rate);
                scratch.accel[k] = R::load(acceleration);
            }
        }
    }

    /// Evaluates the equations of motion (10.1).
    fn evaluate<R: StateNumber>(&self, time: f64, state: &[R], scratch: &mut Scratch<R>) -> Status {
        self.unpack(time, state, scratch);
        let time = time.min(self.until.get());
        self.add_point_forces(time, scratch);
        scratch.force.copy_from_slice(&scratch.external);
        scratch.dissipation = R::ZERO;
        for k in 0..self.s {
            let (position, rate) = (scratch.eta[k], scratch.rate[k]);
            let friction = self.friction(k, position, rate);
            scratch.dissipation += friction * rate;
            scratch.external[k] -= friction;
            scratch.force[k] -= friction;
            let drive = self
                .excitation
                .drive(k, time, position.value(), rate.value());
            if let Drive::Force {
                force,
                by_position,
                by_rate,
            } = drive
            {
                scratch.actuator[k] = R::force(force, [by_position, by_rate], [position, rate]);
                scratch.force[k] += scratch.actuator[k];
            }
        }
        let motion = [&scratch.eta[..], &scratch.rate];
        let (accel, force) = (&mut scratch.accel, &mut scratch.force);
        let memory = &mut scratch.memory;
        let status = self
            .evaluator
            .hybrid_in(motion, &self.prescribed, accel, force, memory);
        for k in (0..self.s).filter(|&k| self.prescribed[k]) {
            scratch.actuator[k] = scratch.force[k] - scratch.external[k];
        }
        if self.has_damping && status < Status::Undefined {
            let memory = &mut scratch.memory;
            let power = self
                .evaluator
                .dissipated_power(&scratch.eta, &scratch.rate, memory);
            scratch.dissipation += power;
        }
        status
    }

    /// Coulomb friction against a rate; along a path that of all coordinates, projected on it.
    fn friction<R: StateNumber>(&self, k: usize, position: R, rate: R) -> R {
        let against = |size: f64, rate: R| {
            let (size, part) = (R::load(size), rate / R::load(self.coulomb_rate));
            if part > R::ONE {
                size
            } else if part < -R::ONE {
                -size
            } else {
                size * part
            }
        };
        match self.path {
            None => against(self.coulomb.get(k).copied().unwrap_or(0.0), rate),
            Some(path) => {
                let [_, slope, bend] = path.configuration(position.value());
                let each = slope.iter().zip(&bend).zip(self.coulomb);
                each.fold(R::ZERO, |sum, ((t, dt), size)| {
                    let t = R::force(*t, [*dt, 0.0], [position, rate]);
                    sum + t * against(*size, t * rate)
                })
            }
        }
    }

    /// Generalised forces of forces at outputs, and their power.
    fn add_point_forces<R: StateNumber>(&self, time: f64, scratch: &mut Scratch<R>) {
        scratch.external.fill(R::ZERO);
        scratch.force_power = R::ZERO;
        let n_outputs = self.evaluator.model().layout.outputs.len();
        let forces: Vec<(usize, Vector3<f64>)> = (0..n_outputs)
            .filter_map(|o| Some((o, self.excitation.point_force(o, time)?)))
            .collect();
        if forces.is_empty() {
            return;
        }
        let memory = &mut scratch.memory;
        let (motions, _) = self
            .evaluator
            .outputs_in(&scratch.eta, &scratch.rate, memory);
        for (output, force) in forces {
            let Some(motion) = motions.get(output) else {
                continue;
            };
            let [_, velocity, _] = &motion.vectors;
            for (axis, force) in force.iter().map(|f| R::load(*f)).enumerate() {
                let row = &motion.jacobian[axis * self.n..(axis + 1) * self.n];
                for (external, j) in scratch.external.iter_mut().zip(row) {
                    *external += *j * force;
                }
                scratch.force_power += velocity[axis] * force;
            }
        }
    }

    /// Everything that is told of a state.
    pub fn instant(&self, time: f64, state: &[f64]) -> Result<ReducedInstant, ReducedError> {
        let scratch = &mut *self.scratch.borrow_mut();
        let work = &mut *self.work.borrow_mut();
        self.evaluate(time, state, scratch);
        let (kinetic, potential, _) = self.evaluator.energy(&scratch.eta, &scratch.rate, work)?;
        let integrals = &state[2 * self.free.len()..];
        let outputs = self.outputs(scratch, work)?;
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

    fn outputs(
        &self,
        scratch: &Scratch<f64>,
        work: &mut Workspace,
    ) -> Result<Vec<ReducedOutput>, EvaluationError> {
        let Scratch {
            eta, rate, accel, ..
        } = scratch;
        let mut rigid = eta.clone();
        rigid[self.s..].fill(0.0);
        let (here, _) = self.evaluator.outputs(eta, rate, work)?;
        let (rigid, _) = self.evaluator.outputs(&rigid, rate, work)?;
        // Velocities differentiated along the motion.
        let dual = |(&v, &d): (&f64, &f64)| Dual { v, d };
        let moving: Vec<Dual> = eta.iter().zip(rate).map(dual).collect();
        let turning: Vec<Dual> = rate.iter().zip(accel).map(dual).collect();
        let memory = &mut self.along.borrow_mut().memory;
        let (along, _) = self.evaluator.outputs_in(&moving, &turning, memory);
        let outputs = here.iter().zip(rigid.iter().zip(&along));
        Ok(outputs
            .map(|(here, (rigid, along))| {
                let [_, velocity, _] = &along.vectors;
                ReducedOutput {
                    motion: OutputMotion {
                        position: here.position,
                        rotation: here.rotation,
                        velocity: here.velocity,
                        angular_velocity: here.angular_velocity,
                        acceleration: Vector3::from(velocity.map(|v| v.d)),
                    },
                    deflection: here.position - rigid.position,
                    rigid_axes: rigid.rotation,
                }
            })
            .collect())
    }
}
