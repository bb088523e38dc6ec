//! Why a declared observer does not fit a model.

use crate::description::mechanism::Origin;
use crate::error::Explain;
use thiserror::Error;

/// Why a declared observer does not fit a model.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages say what the facts are")]
pub enum ObserverError {
    #[error("the observer cannot use the model: {reason}")]
    Model { origin: Origin, reason: String },
    #[error(
        "`{what}` of the observer has {found} numbers; the model needs {expected}, for {coordinates}"
    )]
    Count {
        origin: Origin,
        what: &'static str,
        found: usize,
        expected: usize,
        coordinates: String,
    },
    #[error("sensor `{sensor}` reads modal coordinate {number}; the model has {modes}")]
    NoSuchMode {
        origin: Origin,
        sensor: String,
        number: usize,
        modes: usize,
    },
    #[error(
        "sensor `{sensor}` reads an angular velocity, whose derivatives by the state a model does not give"
    )]
    NotStored { origin: Origin, sensor: String },
    #[error("the model has no value at θ = {theta:?}, where the observer starts")]
    NoModel { origin: Origin, theta: Vec<f64> },
    #[error(
        "the sensors of the observer do not see {}: what they read over {horizon:.3} s does not depend on it",
        states.join(", ")
    )]
    Unobservable {
        origin: Origin,
        states: Vec<String>,
        horizon: f64,
    },
    #[error(
        "a period of {period} s is too long for the model, whose fastest eigenvalue is {fastest:.3e} 1/s: a prediction would take {count} steps; {most} are possible"
    )]
    TooSlow {
        origin: Origin,
        period: f64,
        fastest: f64,
        count: f64,
        most: usize,
    },
}

impl Explain for ObserverError {
    fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Model { origin, .. }
            | Self::Count { origin, .. }
            | Self::NoSuchMode { origin, .. }
            | Self::NotStored { origin, .. }
            | Self::NoModel { origin, .. }
            | Self::Unobservable { origin, .. }
            | Self::TooSlow { origin, .. } => Some(origin),
        }
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::Model { .. } => {
                "give the model of the scenario's mechanism, as it is now".to_owned()
            }
            Self::Count { what: "process", .. } => {
                "give one deviation of force per coordinate, first the actuated ones, then the modal ones".to_owned()
            }
            Self::Count { .. } => {
                "give one number per coordinate, first the actuated ones, then the modal ones, and then one per rate".to_owned()
            }
            Self::NoSuchMode { .. } => "correct the number, or keep more modes".to_owned(),
            Self::NotStored { .. } => {
                "measure positions, velocities or accelerations of outputs, or coordinates and their rates".to_owned()
            }
            Self::NoModel { .. } => {
                "begin inside the model's domain: `theta` of `[initial]`".to_owned()
            }
            Self::Unobservable { .. } => {
                "add a sensor that moves with it, or leave out the disturbance or mode".to_owned()
            }
            Self::TooSlow { .. } => {
                "make the `period` shorter, keep fewer modes, or declare `substeps`".to_owned()
            }
        })
    }
}
