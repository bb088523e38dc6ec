//! The equations of motion [M 8.4] as a first-order system, and what is told of a state.

use super::control::Blocks;
use super::error::ReducedError;
use super::linear::Seed;
use super::perturbed::Perturbed;
use super::{ReducedEnergies, ReducedInstant, ReducedOutput, ReducedSettings};
use crate::approximation::Path;
use crate::dynamics::control::ControlRun;
use crate::dynamics::excitation::{Drive, Excitation};
use crate::dynamics::full::OutputMotion;
use crate::reduced_model::{Dual, EvaluationError, Evaluator, Memory, Status, Workspace};
use kernel::Load;
use nalgebra::Vector3;
use std::cell::{Cell, RefCell};

/// Work of actuators, work of point forces, dissipation.
const INTEGRALS: usize = 3;

/// Free coordinates, their rates, states of blocks, and the integrals.
pub(super) type State = Vec<f64>;

/// A model with what acts on it.
pub(super) struct System<'a> {
    pub evaluator: &'a Evaluator<'a>,
    pub excitation: &'a dyn Excitation,
    pub n: usize,
    pub s: usize,
    pub prescribed: Vec<bool>,
    pub free: Vec<usize>,
    coulomb: &'a [f64],
    path: Option<&'a Path>,
    coulomb_rate: f64,
    has_damping: bool,
    /// The blocks of this run.
    pub blocks: Option<ControlRun<'a>>,
    /// Equations of small motions, in place of the model's own.
    pub perturbed: Option<Perturbed<'a>>,
    pub gravity: Vector3<f64>,
    /// Inputs are evaluated before this time: the segment's end, where they may jump.
    until: Cell<f64>,
    pub scratch: RefCell<Scratch<f64>>,
    /// For derivatives along a direction.
    pub along: RefCell<Scratch<Dual>>,
    /// Constant forces besides all others, under which a state rests; empty for none.
    pub holding: RefCell<Vec<f64>>,
    /// What derivatives are taken along besides the state.
    pub seed: Cell<Option<Seed>>,
    pub work: RefCell<Workspace>,
    /// For accelerations of outputs.
    pub motion_memory: RefCell<Memory<Dual>>,
    evaluations: Cell<usize>,
}

/// One evaluation of the equations of motion.
pub(super) struct Scratch<R> {
    pub memory: Memory<R>,
    pub eta: Vec<R>,
    pub rate: Vec<R>,
    pub accel: Vec<R>,
    pub blocks: Blocks<R>,
    force: Vec<R>,
    external: Vec<R>,
    /// All forces that are given.
    pub given: Vec<R>,
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
            blocks: Blocks::default(),
            force: zeros(n),
            external: zeros(n),
            given: zeros(n),
            actuator: zeros(s),
            force_power: R::ZERO,
            dissipation: R::ZERO,
        }
    }
}

/// Numbers of a state: plain ones, or with their derivatives along a direction of states.
pub(super) trait StateNumber: Load<f64> {
    /// Whether it has a derivative.
    const HAS_SLOPE: bool;
    /// Without a derivative.
    fn value(self) -> f64;
    /// The derivative.
    fn slope(self) -> f64;
    /// Both.
    fn with_slope(value: f64, slope: f64) -> Self;
    /// A force that depends on a position and a rate, by its derivatives.
    fn force(force: f64, by: [f64; 2], on: [Self; 2]) -> Self;
}

impl StateNumber for f64 {
    const HAS_SLOPE: bool = false;

    fn value(self) -> f64 {
        self
    }

    fn slope(self) -> f64 {
        0.0
    }

    fn with_slope(value: f64, _: f64) -> Self {
        value
    }

    fn force(force: f64, _: [f64; 2], _: [Self; 2]) -> Self {
        force
    }
}

impl StateNumber for Dual {
    const HAS_SLOPE: bool = true;

    fn value(self) -> f64 {
        self.v
    }

    fn slope(self) -> f64 {
        self.d
    }

    fn with_slope(v: f64, d: f64) -> Self {
        Self { v, d }
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
            blocks: excitation
                .control()
                .map(|(diagram, _)| ControlRun::new(diagram)),
            perturbed: None,
            gravity: settings.gravity,
            motion_memory: RefCell::default(),
            until: Cell::new(f64::INFINITY),
            scratch: RefCell::new(Scratch::new(n, s)),
            along: RefCell::new(Scratch::new(n, s)),
            holding: RefCell::default(),
            seed: Cell::new(None),
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
        self.first_block_state() + self.n_block_states()
    }

    /// Where the states of blocks begin.
    pub fn first_block_state(&self) -> usize {
        2 * self.free.len()
    }

    fn n_block_states(&self) -> usize {
        self.blocks.as_ref().map_or(0, |run| run.diagram.n_states())
    }

    /// States of blocks in a state.
    pub fn block_states<'x, R>(&self, state: &'x [R]) -> &'x [R] {
        &state[self.first_block_state()..self.n_active()]
    }

    /// Inputs are taken from before this time.
    pub fn until(&self, time: f64) {
        self.until.set(time.next_down());
    }

    /// The state with these coordinates and rates, before any work was done.
    pub fn pack(&self, eta: &[f64], rate: &[f64]) -> State {
        let positions = self.free.iter().map(|&k| eta[k]);
        let rates = self.free.iter().map(|&k| rate[k]);
        let blocks = self.blocks.as_ref();
        let blocks = blocks.map_or(Vec::new(), |run| run.diagram.initial());
        let motion = positions.chain(rates).chain(blocks);
        motion.chain([0.0; INTEGRALS]).collect()
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

    /// Coordinates and rates at a time and state.
    pub fn motion(&self, time: f64, state: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let scratch = &mut *self.scratch.borrow_mut();
        self.unpack(time, state, scratch);
        (scratch.eta.clone(), scratch.rate.clone())
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
    pub(super) fn derivative_in<R: StateNumber>(
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
        for (i, rate) in scratch.blocks.rates.iter().enumerate() {
            tell(2 * m + i, *rate);
        }
        let first = self.n_active();
        let power = scratch.actuator.iter().zip(&scratch.rate);
        tell(first, power.fold(R::ZERO, |sum, (f, v)| sum + *f * *v));
        tell(first + 1, scratch.force_power);
        tell(first + 2, scratch.dissipation);
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
    pub(super) fn evaluate<R: StateNumber>(
        &self,
        time: f64,
        state: &[R],
        scratch: &mut Scratch<R>,
    ) -> Status {
        self.unpack(time, state, scratch);
        let time = time.min(self.until.get());
        self.read_blocks(time, self.block_states(state), scratch, false);
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
                scratch.actuator[k] = R::force(force, [by_position, by_rate], [position, rate])
                    + self.fed_back(k, &scratch.blocks);
                scratch.force[k] += scratch.actuator[k];
            }
        }
        self.add_held(&mut scratch.force);
        scratch.given.copy_from_slice(&scratch.force);
        let motion = [&scratch.eta[..], &scratch.rate];
        let (accel, force) = (&mut scratch.accel, &mut scratch.force);
        let memory = &mut scratch.memory;
        let status = match &self.perturbed {
            Some(small) => small.hybrid(time, motion, &self.free, accel, force),
            None => self
                .evaluator
                .hybrid_in(motion, &self.prescribed, accel, force, memory),
        };
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
        if self.senses_acceleration() && status < Status::Undefined {
            self.read_blocks(time, self.block_states(state), scratch, true);
        }
        status
    }

    /// Forces that hold a state, and what is varied of them.
    fn add_held<R: StateNumber>(&self, force: &mut [R]) {
        for (force, held) in force.iter_mut().zip(&*self.holding.borrow()) {
            *force += R::load(*held);
        }
        if let Some(Seed::Force(k)) = self.seed.get() {
            force[k] += R::with_slope(0.0, 1.0);
        }
    }

    fn senses_acceleration(&self) -> bool {
        let blocks = self.blocks.as_ref();
        blocks.is_some_and(|run| {
            run.diagram
                .sensors
                .iter()
                .any(|s| s.sensed.is_acceleration())
        })
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
        let mut forces: Vec<(usize, [R; 3])> = (0..n_outputs)
            .filter_map(|o| {
                let force = self.excitation.point_force(o, time)?;
                Some((o, [0, 1, 2].map(|axis| R::load(force[axis]))))
            })
            .collect();
        forces.extend(self.fed_back_at_outputs(&scratch.blocks));
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
            for (axis, force) in force.into_iter().enumerate() {
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
        let integrals = &state[self.n_active()..];
        if let Some(small) = &self.perturbed {
            let time = time.min(self.until.get());
            let Scratch {
                eta,
                rate,
                accel,
                given,
                ..
            } = scratch;
            small.improve(time, &self.free, [eta, rate, accel, given])?;
        }
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
            signals: scratch.blocks.signals.clone(),
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
