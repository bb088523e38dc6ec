//! The run: start, steps from stop to stop, restarts where the excitation jumps.

use super::consistent::Consistency;
use super::equations::{Equations, State};
use super::initial::initial_state;
use super::iteration::{Iteration, Worst};
use super::observe::{Powers, Work, instant, kinetic_energy};
use super::schedule::{self, Stop};
use super::step::{Scheme, StepFailure, Stepper, Target, node_size};
use super::structure::Structure;
use super::{Equation, FullError, FullInstant, FullReport, FullSettings, Initial, StepControl};
use crate::description::mechanism::Origin;
use crate::dynamics::control::ControlRun;
use crate::dynamics::excitation::{Drive, Excitation, Impulse};
use crate::reduction::{LocalReducer, ReductionError};
use std::ops::ControlFlow;

/// The shortest adaptive step as a part of the first.
const SHORTEST: f64 = 1e-6;

/// Moves the full model and shows every accepted step to the observer, which may stop the run.
///
/// The observer is called at t = 0 and at the end of every step; a step ends at every asked
/// instant and wherever the excitation jumps. There the values just after the jump are shown.
pub fn simulate(
    model: &LocalReducer,
    excitation: &dyn Excitation,
    initial: &Initial,
    settings: &FullSettings,
    observer: &mut dyn FnMut(&FullInstant) -> ControlFlow<()>,
) -> Result<FullReport, FullError> {
    schedule::check(settings)?;
    let blocks = excitation
        .control()
        .map(|(diagram, _)| ControlRun::new(diagram));
    let (equations, mut state) =
        initial_state(model, excitation, blocks.as_ref(), initial, settings)?;
    let singular = FullError::Singular { time: 0.0 };
    let structure = Structure::new(
        model.damping(),
        settings.damped_modes,
        settings.mode_refresh,
    );
    let iteration = Iteration::new(&equations, &state, &structure).ok_or(singular)?;
    let mut run = Run {
        stepper: Stepper::new(scheme(settings), settings.newton_tolerance),
        structure,
        equations,
        iteration,
        settings,
        work: Work::default(),
        powers: Powers::default(),
        report: FullReport::default(),
        last_step: first_step(settings),
        massive: true,
        restarted: true,
        observer,
    };
    run.begin(&mut state, initial)?;
    run.advance(&mut state)?;
    run.report.newton_iterations = run.stepper.counters.iterations;
    run.report.factorisations = run.stepper.counters.factorisations;
    Ok(run.report)
}

fn scheme(settings: &FullSettings) -> Scheme {
    match settings.alpha {
        Some(alpha) => Scheme::with(alpha),
        None => Scheme::new(settings.spectral_radius),
    }
}

fn first_step(settings: &FullSettings) -> f64 {
    match settings.step {
        StepControl::Fixed(step) => step,
        StepControl::Adaptive { first, largest, .. } => first.min(largest),
    }
}

struct Run<'a, 'o> {
    equations: Equations<'a>,
    iteration: Iteration,
    structure: Structure,
    stepper: Stepper,
    settings: &'a FullSettings,
    work: Work,
    powers: Powers,
    report: FullReport,
    /// Step to which the auxiliary accelerations belong.
    last_step: f64,
    /// Nothing moves without mass.
    massive: bool,
    /// No step has been accepted since the last restart.
    restarted: bool,
    observer: &'o mut dyn FnMut(&FullInstant) -> ControlFlow<()>,
}

impl Run<'_, '_> {
    fn prepare(&mut self, theta: &[f64], time: f64) -> Result<(), FullError> {
        self.structure
            .prepare(self.equations.reducer, theta)
            .map_err(|fault| FullError::Reference { time, fault })
    }

    /// Velocities that the initial state asks for, accelerations that follow.
    fn begin(&mut self, state: &mut State, initial: &Initial) -> Result<(), FullError> {
        self.prepare(&initial.theta, 0.0)?;
        let held = Equations::new(
            self.equations.reducer,
            self.equations.excitation,
            None,
            (0..initial.theta.len()).collect(),
            &self
                .equations
                .reducer
                .kinematics()
                .solve(&initial.theta)
                .map_err(ReductionError::from)?,
            self.settings.coulomb_rate,
        );
        let singular = || FullError::Singular { time: 0.0 };
        let pattern = Iteration::new(&held, state, &self.structure).ok_or_else(singular)?;
        let consistency = Consistency::new(&held, &pattern);
        // The stiffness keeps the joints of deformed bodies from starting with strain rates.
        let factor = consistency
            .resolved(state, &self.structure, self.last_step)
            .ok_or_else(singular)?;
        let mut rates = initial.rate.clone();
        let moved = self.equations.prescribed_rates(state, 0.0);
        for (k, rate) in self.equations.prescribed.iter().zip(moved) {
            rates[*k] = rate;
        }
        if !consistency.project(state, &factor, &rates) {
            return Err(singular());
        }
        self.massive = Consistency::new(&self.equations, &self.iteration)
            .mass(state, &self.structure)
            .is_some();
        self.restart(state)?;
        self.let_blocks_act(&self.shown(state, 0.0), 0.0);
        let before = kinetic_energy(&self.equations, state);
        self.kick(state)?;
        let gained = kinetic_energy(&self.equations, state) - before;
        self.work.add_impulse(gained);
        self.restart(state)
    }

    /// Velocities after the impulses of this instant [T 4.116-4.118].
    fn kick(&self, state: &mut State) -> Result<(), FullError> {
        let mut forces = vec![0.0; self.equations.len()];
        let now = |impulse: &&Impulse| impulse.is_at(state.time, self.settings.duration);
        let mut any = false;
        for impulse in self.equations.excitation.impulses().iter().filter(now) {
            let column = self.equations.force_column(&impulse.place, state);
            for (total, unit) in forces.iter_mut().zip(column) {
                *total -= impulse.size * unit;
            }
            any = true;
        }
        if !any {
            return Ok(());
        }
        let consistency = Consistency::new(&self.equations, &self.iteration);
        let factor = match consistency.mass(state, &self.structure) {
            Some(mass) => Some(mass),
            None => consistency.resolved(state, &self.structure, self.last_step),
        };
        let singular = || FullError::Singular { time: state.time };
        let factor = factor.ok_or_else(singular)?;
        let closed = vec![0.0; self.equations.n_rows()];
        let change = (self.iteration).solve(&self.equations, &factor, &forces, &closed);
        if !change.size.is_finite() {
            return Err(singular());
        }
        for (v, change) in state.velocity.iter_mut().zip(&change.motion) {
            *v += change;
        }
        Ok(())
    }

    /// Sampled blocks that are due act on what sensors read in a state.
    fn let_blocks_act(&self, shown: &State, time: f64) {
        if let Some(run) = self.equations.blocks {
            run.sample(time, &shown.control.x, &self.equations.sensors(shown));
        }
    }

    /// A fault of the blocks ends the run.
    fn check_blocks(&self, state: &State) -> Result<(), FullError> {
        let run = self.equations.blocks;
        match run.and_then(|run| run.check(&state.control)) {
            Some(fault) => Err(FullError::Control {
                time: state.time,
                fault,
            }),
            None => Ok(()),
        }
    }

    /// Blocks that are infinitely steep leave no matrix to solve with.
    fn check_slopes(&self, state: &State) -> Result<(), FullError> {
        let run = self.equations.blocks;
        match run.and_then(|run| run.check_slopes(&state.control)) {
            Some(fault) => Err(FullError::Control {
                time: state.time,
                fault,
            }),
            None => Ok(()),
        }
    }

    /// Consistent velocities, and accelerations with which steps can start: an error of first
    /// order in these keeps the order of positions and velocities.
    fn restart(&mut self, state: &mut State) -> Result<(), FullError> {
        let time = state.time;
        let h = self.last_step;
        let singular = || FullError::Singular { time };
        let consistency = Consistency::new(&self.equations, &self.iteration);
        let rates = self.equations.prescribed_rates(state, time);
        let Some(resolved) = consistency.resolved(state, &self.structure, h) else {
            self.check_blocks(state)?;
            self.check_slopes(state)?;
            return Err(singular());
        };
        let mass = consistency.mass(state, &self.structure);
        // Rigid bodies have no motion that a step could not resolve.
        let rigid = mass
            .as_ref()
            .filter(|_| !self.equations.model.is_flexible());
        let solved = consistency.project(state, mass.as_ref().unwrap_or(&resolved), &rates)
            && match rigid {
                Some(mass) => consistency.accelerate_anew(state, time, mass, &self.structure, 2),
                None => consistency.accelerate_anew(state, time, &resolved, &self.structure, 1),
            };
        if !solved {
            self.check_blocks(state)?;
            self.check_slopes(state)?;
            return Err(singular());
        }
        state.algorithmic.clone_from(&state.acceleration);
        self.equations.read_blocks(state, time);
        self.check_blocks(state)?;
        state.control_algorithmic.clone_from(&state.control.rates);
        self.restarted = true;
        Ok(())
    }

    /// The state with velocities and accelerations that satisfy the derivatives of the
    /// constraints, as the observer gets it.
    fn shown(&self, state: &State, reading: f64) -> State {
        let mut shown = state.clone();
        if !self.massive {
            return shown;
        }
        let consistency = Consistency::new(&self.equations, &self.iteration);
        let rates = self.equations.prescribed_rates(&shown, reading);
        let solved = consistency
            .mass(&shown, &self.structure)
            .is_some_and(|factor| {
                consistency.project(&mut shown, &factor, &rates)
                    && consistency.accelerate(&mut shown, reading, &factor, &self.structure)
            });
        if solved { shown } else { state.clone() }
    }

    fn show(&mut self, state: &State, sample: bool) -> ControlFlow<()> {
        let seen = instant(&self.equations, state, &self.work, sample, state.time);
        let largest = &mut self.report.largest_constraint_residual;
        *largest = largest.max(seen.constraint_residual);
        self.report.reached = state.time;
        (self.observer)(&seen)
    }

    /// From stop to stop until the end, or until the observer stops.
    fn advance(&mut self, state: &mut State) -> Result<(), FullError> {
        let shown = self.shown(state, state.time);
        self.powers = Powers::at(&self.equations, &shown, state.time, &self.structure);
        if self.show(&shown, true).is_break() {
            return Ok(());
        }
        let samples = (self.equations.blocks).map_or(Vec::new(), |run| {
            run.diagram.samples(self.settings.duration)
        });
        let stops = schedule::stops(self.settings, self.equations.excitation.breaks(), &samples);
        let mut wanted = self.last_step;
        for (i, stop) in stops.iter().enumerate() {
            let last = i + 1 == stops.len();
            while state.time < stop.time {
                let flow = self.one_step(state, stop, &mut wanted, last)?;
                if flow.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// One accepted step towards a stop.
    fn one_step(
        &mut self,
        state: &mut State,
        stop: &Stop,
        wanted: &mut f64,
        last: bool,
    ) -> Result<ControlFlow<()>, FullError> {
        loop {
            let remaining = stop.time - state.time;
            let count = (remaining / *wanted - 1e-9).ceil().max(1.0);
            let arrives = count == 1.0;
            let size = remaining / count;
            let time = stop.time - (count - 1.0) * size;
            let jumps = arrives && (stop.jump || stop.acts);
            let target = Target {
                time,
                size,
                reading: if jumps { time.next_down() } else { time },
            };
            self.check_drives(state, target.reading)?;
            self.rescale(state, size);
            self.prepare(&self.predicted_theta(state, size), state.time)?;
            let result = self.stepper.step(
                &self.equations,
                &self.iteration,
                &self.structure,
                state,
                &target,
            );
            let next = match result {
                Ok(next) => next,
                Err(failure) => {
                    // Blocks that cannot tell at the step's end make it fail.
                    let mut ahead = state.clone();
                    self.equations.read_blocks(&mut ahead, target.reading);
                    self.check_blocks(&ahead)?;
                    self.check_slopes(&ahead)?;
                    self.retry_smaller(state, size, &failure, wanted)?;
                    self.start_smaller(state, *wanted)?;
                    continue;
                }
            };
            if self.is_too_coarse(state, &next, size, wanted) {
                self.report.rejected_steps += 1;
                self.start_smaller(state, *wanted)?;
                continue;
            }
            *state = next;
            self.equations.switch_blocks(state, target.reading);
            self.check_blocks(state)?;
            self.restarted = false;
            self.report.steps += 1;
            let mut shown = self.shown(state, target.reading);
            let powers = Powers::at(&self.equations, &shown, target.reading, &self.structure);
            self.work.add(&self.powers, &powers, size);
            self.powers = powers;
            if jumps && !last {
                let before = kinetic_energy(&self.equations, &shown);
                if stop.acts {
                    self.let_blocks_act(&shown, time);
                }
                self.kick(state)?;
                if stop.jump || self.settings.restart_at_samples {
                    self.restart(state)?;
                } else {
                    self.equations.read_blocks(state, time);
                }
                shown = self.shown(state, time);
                let after = kinetic_energy(&self.equations, &shown);
                self.work.add_impulse(after - before);
                self.powers = Powers::at(&self.equations, &shown, time, &self.structure);
            }
            return Ok(self.show(&shown, arrives && stop.sample));
        }
    }

    fn check_drives(&self, state: &State, time: f64) -> Result<(), FullError> {
        for k in 0..self.equations.n_theta() {
            let sum = match self.equations.drive(k, time, state) {
                Drive::Force { force, .. } => force,
                Drive::Motion {
                    position,
                    rate,
                    acceleration,
                } => position + rate + acceleration,
            };
            if !sum.is_finite() {
                let (name, origin) = self.equations.reducer.kinematics().coordinate_place(k);
                return Err(FullError::DriveNotFinite {
                    time,
                    coordinate: name.to_owned(),
                    origin: origin.clone(),
                });
            }
        }
        Ok(())
    }

    /// Auxiliary accelerations belong to a step size: their lag is proportional to it.
    fn rescale(&mut self, state: &mut State, size: f64) {
        let ratio = size / self.last_step;
        if ratio != 1.0 {
            for (a, rate) in state.algorithmic.iter_mut().zip(&state.acceleration) {
                *a = rate + ratio * (*a - rate);
            }
            let blocks = state.control_algorithmic.iter_mut();
            for (b, rate) in blocks.zip(&state.control.rates) {
                *b = rate + ratio * (*b - rate);
            }
            self.last_step = size;
        }
    }

    fn predicted_theta(&self, state: &State, h: f64) -> Vec<f64> {
        let first = self.equations.first_theta();
        let theta = self.equations.theta(state);
        (theta.iter().enumerate())
            .map(|(k, theta)| {
                theta + h * state.velocity[first + k] + 0.5 * h * h * state.acceleration[first + k]
            })
            .collect()
    }

    /// Accelerations with which steps start belong to their size.
    fn start_smaller(&mut self, state: &mut State, size: f64) -> Result<(), FullError> {
        if self.restarted {
            self.last_step = size;
            self.restart(state)?;
        }
        Ok(())
    }

    /// Adaptive steps: whether the local error is too large; chooses the next size.
    fn is_too_coarse(&self, from: &State, to: &State, size: f64, wanted: &mut f64) -> bool {
        let StepControl::Adaptive {
            first,
            tolerance,
            largest,
        } = self.settings.step
        else {
            return false;
        };
        let change: Vec<f64> = (to.algorithmic.iter().zip(&from.algorithmic))
            .map(|(new, old)| new - old)
            .collect();
        let error = self.stepper.scheme.position_error()
            * size
            * size
            * node_size(&change, &self.equations);
        let factor = (0.8 * (tolerance / error.max(1e-300)).cbrt()).clamp(0.3, 2.0);
        let rejected = error > tolerance && size > SHORTEST * first;
        // A step kept at its size keeps its factors.
        if rejected || !(1.0..1.3).contains(&factor) {
            *wanted = (size * factor).min(largest);
        }
        rejected
    }

    /// After a failed step: a shorter one where steps are adaptive.
    fn retry_smaller(
        &mut self,
        state: &State,
        size: f64,
        failure: &StepFailure,
        wanted: &mut f64,
    ) -> Result<(), FullError> {
        let adaptive = match self.settings.step {
            StepControl::Adaptive { first, .. } => {
                if size > SHORTEST * first {
                    self.report.rejected_steps += 1;
                    *wanted = 0.25 * size;
                    return Ok(());
                }
                true
            }
            StepControl::Fixed(_) => false,
        };
        let Some(worst) = &failure.worst else {
            return Err(FullError::Singular { time: state.time });
        };
        let (equation, origin) = self.name(worst);
        Err(FullError::NewtonFailed {
            step: self.report.steps + 1,
            time: state.time,
            size,
            iterations: failure.iterations,
            equation,
            residual: failure.residual,
            adaptive,
            origin,
        })
    }

    fn name(&self, worst: &Worst) -> (Equation, Option<Origin>) {
        let kinematics = self.equations.reducer.kinematics();
        let model = self.equations.model;
        let coordinate = |k: usize, make: fn(String) -> Equation| {
            let (name, origin) = kinematics.coordinate_place(k);
            (make(name.to_owned()), Some(origin.clone()))
        };
        match *worst {
            Worst::Node(node) => {
                let body = &model.bodies[model.nodes[node].body];
                (Equation::Body(body.name.clone()), None)
            }
            Worst::Scalar(i) => match model.drives.iter().position(|d| d.scalar == Some(i)) {
                Some(k) => coordinate(k, Equation::Coordinate),
                None => {
                    let owner = (model.placed.iter().rev()).find(|p| p.first_scalar <= i);
                    let body = owner.map_or(0, |placed| model.body_of(placed));
                    (Equation::Body(model.bodies[body].name.clone()), None)
                }
            },
            Worst::Theta(k) => coordinate(k, Equation::Coordinate),
            Worst::Row(r) => match model.joint_of_row(r) {
                Some(joint) => {
                    let (name, origin) = kinematics.joint_place(joint);
                    (Equation::Joint(name.to_owned()), Some(origin.clone()))
                }
                None => {
                    let k = r - self.equations.first_drive_row();
                    let k = match k.checked_sub(self.equations.n_theta()) {
                        Some(p) => self.equations.prescribed[p],
                        None => k,
                    };
                    coordinate(k, Equation::Drive)
                }
            },
        }
    }
}
