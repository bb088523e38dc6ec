//! Small motions about a nominal one in time, under the same drives, loads and blocks as the reduced model.

use super::adaptive::{AdaptiveModes, picked};
use super::error::ReducedError;
use super::perturbation::{Perturbation, Perturbations};
use super::system::{StateNumber, System};
use super::{ReducedInstant, ReducedReport, ReducedSettings, check_settings, integrate, start};
use crate::dynamics::control::{Diagram, Feedback};
use crate::dynamics::excitation::{Drive, Excitation, Impulse};
use crate::dynamics::full::Initial;
use crate::reduced_model::{Evaluator, Status};
use nalgebra::{DMatrix, DVector, Vector3};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Instants between which adaptive modes are smooth curves, at least.
const LEAST_INSTANTS: usize = 200;

/// How small motions are integrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerturbationSettings {
    /// So many of the lowest modes at each instant carry the motion; all coordinates where absent.
    pub modes: Option<usize>,
    /// What is told of an instant is corrected by the static answer of the modes left out, δη = K₀⁻¹(f − r₀ − M₀δη̈ −
    /// C₀δη̇).
    pub mode_acceleration: bool,
}

/// What replaces the model's own equations in a system.
pub(super) struct Perturbed<'a> {
    source: &'a dyn Perturbations,
    modes: Option<AdaptiveModes>,
    mode_acceleration: bool,
    last: RefCell<Option<(f64, Rc<Perturbation>)>>,
}

/// What drives the mechanism, with the breaks of the nominal motion among its own.
struct Merged<'a> {
    own: &'a dyn Excitation,
    breaks: Vec<f64>,
}

impl Excitation for Merged<'_> {
    fn is_prescribed(&self, k: usize) -> bool {
        self.own.is_prescribed(k)
    }

    fn drive(&self, k: usize, time: f64, position: f64, rate: f64) -> Drive {
        self.own.drive(k, time, position, rate)
    }

    fn point_force(&self, output: usize, time: f64) -> Option<Vector3<f64>> {
        self.own.point_force(output, time)
    }

    fn control(&self) -> Option<(&Diagram, &[Feedback])> {
        self.own.control()
    }

    fn impulses(&self) -> &[Impulse] {
        self.own.impulses()
    }

    fn breaks(&self) -> &[f64] {
        &self.breaks
    }
}

/// Integrates small motions about a nominal one from t = 0; `breaks` are the times at which the nominal motion bends.
///
/// Mass, damping and stiffness are those of the instant. Drives, forces at outputs and blocks act on the whole motion, θ₀ + δη,
/// with the model's own outputs.
pub fn simulate_perturbed(
    evaluator: &Evaluator<'_>,
    excitation: &dyn Excitation,
    (source, breaks): (&dyn Perturbations, &[f64]),
    initial: &Initial,
    settings: &ReducedSettings,
    options: &PerturbationSettings,
    observer: &mut dyn FnMut(&ReducedInstant) -> ControlFlow<()>,
) -> Result<ReducedReport, ReducedError> {
    check_settings(settings)?;
    let mut all = [excitation.breaks(), breaks].concat();
    all.retain(|t| *t > 0.0 && *t < settings.duration);
    all.sort_by(f64::total_cmp);
    all.dedup_by(|later, earlier| *later - *earlier <= 1e-12 * settings.duration);
    let merged = Merged {
        own: excitation,
        breaks: all,
    };
    let mut system = System::new(evaluator, &merged, settings);
    let modes = match options.modes {
        Some(count) => {
            let parts = settings.instants.len().max(LEAST_INSTANTS);
            // One instant more than the run has: a spline is at rest from its last point on.
            let instants: Vec<f64> = (0..=parts + 1)
                .map(|k| settings.duration * k as f64 / parts as f64)
                .collect();
            Some(AdaptiveModes::new(source, &system.free, count, &instants)?)
        }
        None => None,
    };
    system.perturbed = Some(Perturbed {
        source,
        modes,
        mode_acceleration: options.mode_acceleration,
        last: RefCell::default(),
    });
    let state = start::initial_state(&system, initial)?;
    integrate::run(&system, state, settings, observer)
}

impl Perturbed<'_> {
    fn at(&self, time: f64) -> Result<Rc<Perturbation>, ReducedError> {
        if let Some((last, found)) = &*self.last.borrow()
            && *last == time
        {
            return Ok(Rc::clone(found));
        }
        let found = Rc::new(self.source.at(time)?);
        *self.last.borrow_mut() = Some((time, Rc::clone(&found)));
        Ok(found)
    }

    /// Accelerations of what is free under its forces, and forces of what is moved, as
    /// [`Evaluator::hybrid_dynamics`] has them.
    pub fn hybrid<R: StateNumber>(
        &self,
        time: f64,
        [eta, rate]: [&[R]; 2],
        free: &[usize],
        accel: &mut [R],
        force: &mut [R],
    ) -> Status {
        let Ok(at) = self.at(time) else {
            return Status::Undefined;
        };
        let parts: [fn(&R) -> f64; 2] = [|x| x.value(), |x| x.slope()];
        let count = if R::HAS_SLOPE { 2 } else { 1 };
        let mut found = [(); 2].map(|()| (DVector::zeros(0), DVector::zeros(0)));
        for (k, part) in parts.into_iter().enumerate().take(count) {
            let list = |values: &[R]| DVector::from_iterator(values.len(), values.iter().map(part));
            let mut motion = [list(eta), list(rate), list(accel)];
            let mut balance = list(force);
            if k == 0 {
                for (values, nominal) in motion.iter_mut().zip(&at.nominal) {
                    for (value, nominal) in values.iter_mut().zip(nominal) {
                        *value -= nominal;
                    }
                }
                balance -= &at.force;
            }
            let Some(answer) = self.answer(time, &at, motion, balance, free) else {
                return Status::Undefined;
            };
            found[k] = answer;
        }
        let (accelerations, forces) = &found[0];
        for i in 0..eta.len() {
            let slope = |of: &DVector<f64>| if count == 2 { of[i] } else { 0.0 };
            if free.contains(&i) {
                let nominal = at.nominal[2].get(i).copied().unwrap_or(0.0);
                accel[i] = R::with_slope(accelerations[i] + nominal, slope(&found[1].0));
            } else {
                force[i] = R::with_slope(forces[i] + at.force[i], slope(&found[1].1));
            }
        }
        if accel.iter().all(|a| a.value().is_finite()) {
            Status::Inside
        } else {
            Status::NotFinite
        }
    }

    /// δη̈ and M₀δη̈ + C₀δη̇ + K₀δη, for δη, δη̇, given accelerations of what is moved and f − r₀ on what is free.
    fn answer(
        &self,
        time: f64,
        at: &Perturbation,
        [eta, rate, mut accel]: [DVector<f64>; 3],
        balance: DVector<f64>,
        free: &[usize],
    ) -> Option<(DVector<f64>, DVector<f64>)> {
        let passive = &at.damping * &rate + &at.stiffness * &eta;
        for i in free {
            accel[*i] = 0.0;
        }
        let moved = &at.mass * &accel;
        let pick =
            |v: &DVector<f64>| DVector::from_iterator(free.len(), free.iter().map(|i| v[*i]));
        let mass = picked(&at.mass, free);
        let driven = pick(&(balance - &passive - moved));
        let solved = match &self.modes {
            None => mass.cholesky()?.solve(&driven),
            Some(modes) => {
                let [phi, phi_rate, phi_accel] = modes.at(time);
                let weighted = phi.transpose() * &mass;
                let modal = (&weighted * &phi).cholesky()?;
                let place = modal.solve(&(&weighted * pick(&eta)));
                let speed = modal.solve(&(&weighted * (pick(&rate) - &phi_rate * &place)));
                let turning = 2.0 * phi_rate * speed + phi_accel * place;
                let rest = phi.transpose() * driven - weighted * &turning;
                phi * modal.solve(&rest) + turning
            }
        };
        for (i, value) in free.iter().zip(solved.iter()) {
            accel[*i] = *value;
        }
        let forces = &at.mass * &accel + passive;
        Some((accel, forces))
    }

    /// Replaces free coordinates by those of the mode-acceleration method.
    pub fn improve(
        &self,
        time: f64,
        free: &[usize],
        [eta, rate, accel, given]: [&mut [f64]; 4],
    ) -> Result<(), ReducedError> {
        if !self.mode_acceleration {
            return Ok(());
        }
        let at = self.at(time)?;
        let [place, speed, change] = [&*eta, rate, accel].map(DVector::from_column_slice);
        let mut motion = [place, speed, change];
        for (values, nominal) in motion.iter_mut().zip(&at.nominal) {
            for (value, nominal) in values.iter_mut().zip(nominal) {
                *value -= nominal;
            }
        }
        let mut held = motion[0].clone();
        free.iter().for_each(|i| held[*i] = 0.0);
        let inertia = &at.mass * &motion[2] + &at.damping * &motion[1] + &at.stiffness * held;
        let load = DVector::from_column_slice(given) - &at.force - inertia;
        let load = DVector::from_iterator(free.len(), free.iter().map(|i| load[*i]));
        let stiffness: DMatrix<f64> = picked(&at.stiffness, free);
        let found = stiffness.lu().solve(&load);
        let Some(found) = found.filter(|x| x.iter().all(|v| v.is_finite())) else {
            return Err(ReducedError::NoStaticAnswer { time });
        };
        for (i, value) in free.iter().zip(found.iter()) {
            eta[*i] = at.nominal[0].get(*i).copied().unwrap_or(0.0) + value;
        }
        Ok(())
    }
}
