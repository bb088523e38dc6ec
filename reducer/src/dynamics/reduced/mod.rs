//! The reduced model in time.
//!
//! The free generalised coordinates and their rates are integrated by `diffsol`, explicitly
//! (Tsitouras 4(5)) or implicitly (ESDIRK of order 3(4)); work and dissipation are integrated with
//! them, so that the energy balance is a check of the whole. Prescribed coordinates are not
//! integrated: they follow their motion exactly, and the force this takes comes from the same
//! solution of the equations of motion as the accelerations of the free ones.

mod adaptive;
mod control;
mod domain;
mod error;
mod impulse;
mod integrate;
mod linear;
mod periodic;
mod perturbation;
mod perturbed;
mod start;
mod system;

pub use error::ReducedError;
pub use linear::linearise;
pub use periodic::{SampledLoop, linearise_sampled};
pub use perturbation::{AlongMotion, Perturbation, Perturbations, Stiffness};
pub use perturbed::{PerturbationSettings, simulate_perturbed};

use super::excitation::Excitation;
use super::full::{Initial, OutputMotion};
use crate::approximation::Path;
use crate::reduced_model::Evaluator;
use nalgebra::{Matrix3, Vector3};
use std::ops::ControlFlow;
use system::System;

/// How the reduced model is integrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Explicit Runge-Kutta: fastest unless a mode is far faster than what is of interest.
    #[default]
    Explicit,
    /// Implicit Runge-Kutta, stable for any step.
    Implicit,
}

/// Settings of a simulation of the reduced model.
#[derive(Debug, Clone, PartialEq)]
pub struct ReducedSettings {
    /// Time to simulate (s).
    pub duration: f64,
    /// Method.
    pub method: Method,
    /// Relative error per step; the absolute one is a thousandth of it, in SI units.
    pub tolerance: f64,
    /// Times at which the observer is called, in increasing order.
    pub instants: Vec<f64>,
    /// Coulomb friction on each coordinate of the mechanism, which the model does not hold; empty
    /// for none.
    pub coulomb: Vec<f64>,
    /// The path that the mechanism's coordinates follow where the model is one along a path.
    pub path: Option<Path>,
    /// Rate below which Coulomb friction falls linearly to zero.
    pub coulomb_rate: f64,
    /// Gravity, for sensors that feel it (m/s²).
    pub gravity: Vector3<f64>,
}

impl ReducedSettings {
    /// Explicit integration without Coulomb friction.
    pub fn new(duration: f64, tolerance: f64) -> Self {
        Self {
            duration,
            method: Method::Explicit,
            tolerance,
            instants: Vec::new(),
            coulomb: Vec::new(),
            path: None,
            coulomb_rate: 1e-3,
            gravity: Vector3::zeros(),
        }
    }
}

/// Energies at one instant and work done since t = 0 (J).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReducedEnergies {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential of gravity, constant loads and springs, and strain energy; zero at home.
    pub potential: f64,
    /// Work of the actuators so far.
    pub actuator_work: f64,
    /// Work of point forces so far.
    pub force_work: f64,
    /// Energy dissipated by damping and friction so far.
    pub dissipated: f64,
}

impl ReducedEnergies {
    /// Energy that came from nowhere, if this were the start of the run with energy `initial`.
    pub fn imbalance(&self, initial: f64) -> f64 {
        self.kinetic + self.potential + self.dissipated
            - self.actuator_work
            - self.force_work
            - initial
    }
}

/// The point of an output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReducedOutput {
    /// Its motion.
    pub motion: OutputMotion,
    /// Displacement relative to the rigid mechanism at the same θ, inertial axes (m).
    pub deflection: Vector3<f64>,
    /// Axes of the output in the rigid mechanism at the same θ, as columns.
    pub rigid_axes: Matrix3<f64>,
}

/// The reduced model at one of the asked instants.
#[derive(Debug, Clone, PartialEq)]
pub struct ReducedInstant {
    /// Time (s).
    pub time: f64,
    /// Actuated coordinates.
    pub theta: Vec<f64>,
    /// Their rates.
    pub rate: Vec<f64>,
    /// Their second derivatives.
    pub acceleration: Vec<f64>,
    /// Modal coordinates.
    pub modal: Vec<f64>,
    /// Their rates.
    pub modal_rate: Vec<f64>,
    /// Forces of the actuators on the mechanism along +θ; for prescribed motion the force needed.
    pub actuator_force: Vec<f64>,
    /// Sensors and outputs of blocks.
    pub signals: Vec<f64>,
    /// Outputs in the order of the model.
    pub outputs: Vec<ReducedOutput>,
    /// Energies and work.
    pub energies: ReducedEnergies,
}

/// What the integration cost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReducedReport {
    /// Accepted steps.
    pub steps: usize,
    /// Evaluations of the equations of motion.
    pub evaluations: usize,
    /// Time that was reached (s): the duration, unless the observer stopped the run.
    pub reached: f64,
}

/// Integrates the reduced model from t = 0. The observer gets every asked instant, also those
/// before an error.
pub fn simulate(
    evaluator: &Evaluator<'_>,
    excitation: &dyn Excitation,
    initial: &Initial,
    settings: &ReducedSettings,
    observer: &mut dyn FnMut(&ReducedInstant) -> ControlFlow<()>,
) -> Result<ReducedReport, ReducedError> {
    check_settings(settings)?;
    let system = System::new(evaluator, excitation, settings);
    let state = start::initial_state(&system, initial)?;
    integrate::run(&system, state, settings, observer)
}

fn check_settings(settings: &ReducedSettings) -> Result<(), ReducedError> {
    let positive = [
        ("duration", settings.duration),
        ("tolerance", settings.tolerance),
        ("rate of Coulomb friction", settings.coulomb_rate),
    ];
    for (what, found) in positive {
        if !(found > 0.0 && found.is_finite()) {
            return Err(ReducedError::NotPositive { what, found });
        }
    }
    Ok(())
}
