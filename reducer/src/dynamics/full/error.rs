//! What can go wrong while the full model moves.

use crate::description::mechanism::Origin;
use crate::dynamics::control::ControlFault;
use crate::error::Explain;
use crate::model::StaticsError;
use crate::reduction::ReductionError;
use thiserror::Error;

/// The equation that was farthest from being satisfied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Equation {
    /// Balance of forces on a body.
    Body(String),
    /// Balance of forces on an actuated coordinate or its lumped flexibility.
    Coordinate(String),
    /// Closure of a joint.
    Joint(String),
    /// A coordinate's relation to the bodies, or its prescribed motion.
    Drive(String),
}

impl std::fmt::Display for Equation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Body(name) => write!(f, "the balance of forces on body `{name}`"),
            Self::Coordinate(name) => write!(f, "the balance of forces on coordinate `{name}`"),
            Self::Joint(name) => write!(f, "the closure of joint `{name}`"),
            Self::Drive(name) => write!(f, "the position of coordinate `{name}`"),
        }
    }
}

/// Faults of a simulation of the full model. What the observer received before stays valid.
#[derive(Debug, Clone, Error)]
#[allow(missing_docs)]
pub enum FullError {
    #[error(
        "step {step} of the full model, from t = {time:.6e} s with a size of {size:.3e} s, did not converge: {equation} is farthest from being satisfied, by {residual:.2e} of its size after {iterations} iterations"
    )]
    NewtonFailed {
        step: usize,
        time: f64,
        size: f64,
        iterations: usize,
        equation: Equation,
        residual: f64,
        adaptive: bool,
        origin: Option<Origin>,
    },
    #[error(
        "at t = {time:.6e} s the equations of motion of the full model are singular: something can move without inertia, or joints hold it twice"
    )]
    Singular { time: f64 },
    #[error(
        "at t = 0 coordinate `{coordinate}` is prescribed to be at {prescribed:.9e}, but the initial state has it at {given:.9e}"
    )]
    StartsElsewhere {
        coordinate: String,
        prescribed: f64,
        given: f64,
        origin: Origin,
    },
    #[error(
        "initial values must be {expected} finite number(s) per list, found θ = {theta:?} and rates {rate:?}"
    )]
    BadInitial {
        expected: usize,
        theta: Vec<f64>,
        rate: Vec<f64>,
    },
    #[error("{what} must be {must}, found {found}")]
    BadSetting {
        what: &'static str,
        must: &'static str,
        found: f64,
    },
    #[error("the initial equilibrium was not found: {0}")]
    Equilibrium(#[from] StaticsError),
    #[error(transparent)]
    Reduction(#[from] ReductionError),
    #[error("at t = {time:.6e} s {fault}")]
    Reference { time: f64, fault: ReductionError },
    #[error("at t = {time:.6e} s what drives coordinate `{coordinate}` is not a finite number")]
    DriveNotFinite {
        time: f64,
        coordinate: String,
        origin: Origin,
    },
    #[error("at t = {time:.6e} s {fault}")]
    Control { time: f64, fault: ControlFault },
    #[error("sensor `{sensor}` measures a modal coordinate, which the full model does not have")]
    ModalSensor { sensor: String },
}

impl Explain for FullError {
    fn origin(&self) -> Option<&Origin> {
        match self {
            Self::NewtonFailed { origin, .. } => origin.as_ref(),
            Self::StartsElsewhere { origin, .. } | Self::DriveNotFinite { origin, .. } => {
                Some(origin)
            }
            Self::Reduction(e) | Self::Reference { fault: e, .. } => e.origin(),
            Self::Singular { .. }
            | Self::BadInitial { .. }
            | Self::BadSetting { .. }
            | Self::Equilibrium(_)
            | Self::Control { .. }
            | Self::ModalSensor { .. } => None,
        }
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::NewtonFailed { adaptive: true, .. } => {
                "check whether the motion passes a singular configuration or jumps at this time, and name jumps as breaks".into()
            }
            Self::NewtonFailed { size, .. } => {
                format!("try a step of {:.1e} s, or an adaptive step", 0.25 * size)
            }
            Self::Singular { .. } => {
                "give every body that can move by itself a mass, and check the joints for loops that hold a freedom twice".into()
            }
            Self::StartsElsewhere { .. } => {
                "start the prescribed motion at the initial position, or the other way round".into()
            }
            Self::BadInitial { expected, .. } => {
                format!("give {expected} value(s) in the order of the file's coordinates")
            }
            Self::BadSetting { what, must, .. } => format!("choose a {what} that is {must}"),
            Self::Equilibrium(_) => {
                "start undeformed, or check gravity, loads and springs against the stiffness of the bodies".into()
            }
            Self::Reduction(e) | Self::Reference { fault: e, .. } => return e.help(),
            Self::Control { fault, .. } => fault.help().into(),
            Self::ModalSensor { .. } => {
                "measure a coordinate or an output; linear analysis of the reduced model takes modal coordinates".into()
            }
            Self::DriveNotFinite { .. } => "check the input at this time".into(),
        })
    }
}
