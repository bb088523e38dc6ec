//! What can go wrong while the reduced model moves.

use crate::approximation::PATH;
use crate::description::mechanism::Origin;
use crate::dynamics::control::{ControlFault, PeriodFault};
use crate::error::Explain;
use crate::reduced_model::EvaluationError;
use thiserror::Error;

/// Faults of a simulation of the reduced model. What the observer received before stays valid.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages say what the facts are")]
pub enum ReducedError {
    #[error(
        "at t = {time:.6} s coordinate `{coordinate}` leaves the reduced model's domain, {lower} to {upper}: it is at {value:.6}"
    )]
    LeftDomain {
        time: f64,
        coordinate: String,
        value: f64,
        lower: f64,
        upper: f64,
    },
    #[error("at t = {time:.6} s the reduced model comes to θ = {theta:?}, where it is not defined")]
    NoModel { time: f64, theta: Vec<f64> },
    #[error("the reduced model diverges at t = {time:.6} s: {reason}")]
    Diverged { time: f64, reason: String },
    #[error(
        "at t = 0 coordinate `{coordinate}` is prescribed to be at {prescribed:.9}, but the initial state has it at {given:.9}"
    )]
    StartsElsewhere {
        coordinate: String,
        prescribed: f64,
        given: f64,
    },
    #[error("the reduced model has no static equilibrium at θ = {theta:?}")]
    NoEquilibrium { theta: Vec<f64> },
    #[error("the {what} must be positive, not {found}")]
    NotPositive { what: &'static str, found: f64 },
    #[error("at t = {time:.6} s {fault}")]
    Control { time: f64, fault: ControlFault },
    #[error("sensor `{sensor}` measures modal coordinate {number}; the reduced model has {modes}")]
    NoSuchMode {
        sensor: String,
        number: usize,
        modes: usize,
    },
    #[error(
        "the nominal motion leaves coordinate `{coordinate}` free: a force drives it, or nothing does"
    )]
    NotPrescribed { coordinate: String },
    #[error("{count} modes of small motions are wanted; {most} coordinates are free to move")]
    ModeCount { count: usize, most: usize },
    #[error("at t = {time:.6} s the mass of small motions is singular, so that they have no modes")]
    NoModes { time: f64 },
    #[error("at t = {time:.6} s another mode takes the place of one of the {count} lowest")]
    ModesJump { time: f64, count: usize },
    #[error(
        "at t = {time:.6} s the stiffness of small motions is singular, so that nothing corrects them statically"
    )]
    NoStaticAnswer { time: f64 },
    #[error(transparent)]
    Period(#[from] PeriodFault),
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
}

impl Explain for ReducedError {
    fn origin(&self) -> Option<&Origin> {
        None
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::LeftDomain { coordinate, .. } if coordinate == PATH => {
                "shorten the motion, or lengthen the `trajectory` in the mechanism file".into()
            }
            Self::LeftDomain { .. } => {
                "widen the `range` of the coordinate in the mechanism file, or shorten the motion"
                    .into()
            }
            Self::NoModel { .. } => {
                "keep the motion away from the regions that `reduce` reports as missing".into()
            }
            Self::Diverged { .. } => {
                "try `method = \"implicit\"`, or smaller rates: the model is valid for (θ̇/ω₁)² ≪ 1"
                    .into()
            }
            Self::StartsElsewhere { .. } => {
                "start the prescribed motion at the initial position, or the other way round".into()
            }
            Self::NoEquilibrium { .. } => "start undeformed".into(),
            Self::NotPositive { .. } => "give a positive value".into(),
            Self::Control { fault, .. } => fault.help().into(),
            Self::NoSuchMode { modes, .. } => format!("number modal coordinates from 1 to {modes}"),
            Self::NotPrescribed { .. } => {
                "give every coordinate of the trajectory a `motion` or a `velocity`".into()
            }
            Self::ModeCount { most, .. } => format!("keep 1 to {most} modes"),
            Self::NoModes { .. } => "integrate all coordinates".into(),
            Self::ModesJump { count, .. } => {
                format!("keep {} modes, or all coordinates", count + 1)
            }
            Self::NoStaticAnswer { .. } => {
                "leave the correction away: a coordinate of θ is free to float".into()
            }
            Self::Period(_) => {
                "make the periods multiples of one another, and delays shorter".into()
            }
            Self::Evaluation(_) => "use a model of this mechanism".into(),
        })
    }
}
