//! The full model in time.
//!
//! Generalised-α on the Lie group SE(3)ⁿ × ℝᵐ for the index-3 equations of motion: node frames,
//! deflections of flexible actuators and the actuated coordinates θ are the unknowns, constraints
//! hold at position level at the end of every step.

mod consistent;
mod control;
mod equations;
mod error;
mod initial;
mod iteration;
mod observe;
mod response;
mod run;
mod schedule;
mod step;
mod structure;

pub use error::{Equation, FullError};
pub use response::frequency_response;
pub use run::simulate;

use nalgebra::{Matrix3, Vector3};

/// Whether the bodies are deformed at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// No strain anywhere.
    #[default]
    Undeformed,
    /// Static equilibrium under gravity, constant loads and springs with θ held.
    Equilibrium,
}

/// The state at t = 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Initial {
    /// Actuated coordinates. Prescribed ones must agree with their motion.
    pub theta: Vec<f64>,
    /// Their rates. Prescribed coordinates take the rate of their motion instead.
    pub rate: Vec<f64>,
    /// Deformation.
    pub start: Start,
}

/// How steps are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepControl {
    /// Equal steps of at most this size between the times at which a step must end (s).
    Fixed(f64),
    /// Steps whose estimated local error stays below a tolerance.
    Adaptive {
        /// Size of the first step (s).
        first: f64,
        /// Local error of the position of any node per step, in parts of the mechanism's size.
        tolerance: f64,
        /// Largest step (s).
        largest: f64,
    },
}

/// How the full model is integrated.
#[derive(Debug, Clone, PartialEq)]
pub struct FullSettings {
    /// Time to simulate (s).
    pub duration: f64,
    /// Spectral radius at infinite frequency, from 0 (strongest numerical damping) to 1 (none).
    pub spectral_radius: f64,
    /// α_m and α_f of the method, instead of those that follow from the spectral radius.
    pub alpha: Option<[f64; 2]>,
    /// Step sizes.
    pub step: StepControl,
    /// Times at which the observer must be called; a step ends at each.
    pub instants: Vec<f64>,
    /// Newton's method stops where its error is below this part of the accelerations.
    pub newton_tolerance: f64,
    /// Number of modes, with actuators locked, to which a modal damping ratio applies.
    pub damped_modes: usize,
    /// Modes of modal damping are found anew where a coordinate moved by more than this (rad, or
    /// parts of the mechanism's size).
    pub mode_refresh: f64,
    /// Rate below which Coulomb friction falls linearly to zero.
    pub coulomb_rate: f64,
    /// Accelerations are found anew where sampled blocks act; without that the order falls to one.
    pub restart_at_samples: bool,
}

impl FullSettings {
    /// Fixed steps with mild numerical damping.
    pub fn new(duration: f64, step: f64) -> Self {
        Self {
            duration,
            spectral_radius: 0.8,
            alpha: None,
            step: StepControl::Fixed(step),
            instants: Vec::new(),
            newton_tolerance: 1e-8,
            damped_modes: 20,
            mode_refresh: 0.01,
            coulomb_rate: 1e-3,
            restart_at_samples: true,
        }
    }
}

/// Motion of an output frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputMotion {
    /// Position (m).
    pub position: Vector3<f64>,
    /// Columns are the output's axes in the inertial frame.
    pub rotation: Matrix3<f64>,
    /// Velocity, inertial axes.
    pub velocity: Vector3<f64>,
    /// Angular velocity, inertial axes.
    pub angular_velocity: Vector3<f64>,
    /// Acceleration, inertial axes.
    pub acceleration: Vector3<f64>,
}

/// Energies at one instant and work done since t = 0 (J).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Energies {
    /// Kinetic energy, rotors of actuators included.
    pub kinetic: f64,
    /// Strain energy of beams and flexible actuators.
    pub strain: f64,
    /// Potential of gravity and of constant loads.
    pub potential: f64,
    /// Energy stored in springs.
    pub springs: f64,
    /// Work of the actuators so far.
    pub actuator_work: f64,
    /// Work of point forces so far.
    pub force_work: f64,
    /// Energy dissipated by dampers, friction and the structure so far.
    pub dissipated: f64,
}

impl Energies {
    /// Kinetic energy, strain energy, potentials and springs.
    pub fn total(&self) -> f64 {
        self.kinetic + self.strain + self.potential + self.springs
    }
}

/// The full model at the end of a step.
///
/// Velocities, accelerations and multipliers satisfy the first and second derivatives of the
/// constraints.
#[derive(Debug, Clone, PartialEq)]
pub struct FullInstant {
    /// Time (s).
    pub time: f64,
    /// Whether this is one of the asked instants, t = 0 included.
    pub sample: bool,
    /// Actuated coordinates.
    pub theta: Vec<f64>,
    /// Their rates.
    pub rate: Vec<f64>,
    /// Their second derivatives.
    pub acceleration: Vec<f64>,
    /// Forces of the actuators on the mechanism along +θ; for prescribed motion the force needed.
    pub actuator_force: Vec<f64>,
    /// Outputs in the order of the mechanism.
    pub outputs: Vec<OutputMotion>,
    /// Energies and work.
    pub energies: Energies,
    /// Sensors and outputs of blocks.
    pub signals: Vec<f64>,
    /// Multipliers of the independent joint constraints, then of the actuated coordinates.
    pub multipliers: Vec<f64>,
    /// Largest residual of the constraints at position level (m, rad).
    pub constraint_residual: f64,
}

/// What the integration cost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FullReport {
    /// Accepted steps.
    pub steps: usize,
    /// Newton iterations, those of rejected steps included.
    pub newton_iterations: usize,
    /// Factorisations of the iteration matrix.
    pub factorisations: usize,
    /// Steps that were tried and repeated with a smaller size.
    pub rejected_steps: usize,
    /// Largest residual of the constraints at the end of any step (m, rad).
    pub largest_constraint_residual: f64,
    /// Time that was reached (s): the duration, unless the observer stopped the run.
    pub reached: f64,
}
