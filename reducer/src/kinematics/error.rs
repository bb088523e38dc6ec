//! What can go wrong on the way to an undeformed configuration.

use crate::description::mechanism::Origin;
use crate::error::Explain;
use thiserror::Error;

/// Two ways in which θ can stop to determine the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SingularityKind {
    /// With all actuators locked the mechanism can still move.
    Actuator,
    /// The loop equations themselves lose rank: motions branch.
    ConfigurationSpace,
}

impl std::fmt::Display for SingularityKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Actuator => "an actuator singularity",
            Self::ConfigurationSpace => "a configuration-space singularity",
        })
    }
}

/// Faults of the kinematics.
#[derive(Debug, Clone, Error)]
#[allow(missing_docs)]
pub enum KinematicsError {
    #[error("body `{body}` is not connected to the ground by joints")]
    Disconnected { body: String, origin: Origin },
    #[error(
        "coordinate `{coordinate}` drives joint `{joint}`, which closes a loop of actuated joints"
    )]
    ActuatedLoop {
        coordinate: String,
        joint: String,
        origin: Origin,
    },
    #[error(
        "the drawing cannot be assembled at home: joint `{joint}` stays open by {gap:.3e} (lengths in m, angles in rad)"
    )]
    NotAssembled {
        joint: String,
        gap: f64,
        origin: Origin,
    },
    #[error(
        "assembly at home would move body `{body}` by {moved:.3e} m, more than home_tolerance = {tolerance:.3e} m"
    )]
    FarFromDrawing {
        body: String,
        moved: f64,
        tolerance: f64,
        origin: Origin,
    },
    #[error(
        "the mechanism has {mobility} degree(s) of freedom as rigid bodies but {actuated} actuated coordinate(s)"
    )]
    Mobility {
        mobility: usize,
        actuated: usize,
        /// Joint that still moves with all actuators locked.
        free_joint: Option<String>,
        origin: Origin,
    },
    #[error("θ = {theta:?} is at {kind} (coordinate `{coordinate}`, joint `{joint}`)")]
    Singular {
        kind: SingularityKind,
        theta: Vec<f64>,
        coordinate: String,
        joint: String,
        origin: Origin,
    },
    #[error(
        "θ = {theta:?} cannot be reached from home: the path ends at {kind} near θ = {reached:?} (coordinate `{coordinate}`, joint `{joint}`)"
    )]
    Blocked {
        kind: SingularityKind,
        theta: Vec<f64>,
        reached: Vec<f64>,
        coordinate: String,
        joint: String,
        origin: Origin,
    },
    #[error(
        "at θ = {theta:?} joint `{joint}` stays open by {gap:.3e}: a constraint that was redundant at home is not redundant there"
    )]
    Inconsistent {
        theta: Vec<f64>,
        joint: String,
        gap: f64,
        origin: Origin,
    },
    #[error("θ must be {expected} finite number(s), found {found:?}")]
    BadCoordinates {
        expected: usize,
        found: Vec<f64>,
        origin: Origin,
    },
}

impl Explain for KinematicsError {
    fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Disconnected { origin, .. }
            | Self::ActuatedLoop { origin, .. }
            | Self::NotAssembled { origin, .. }
            | Self::FarFromDrawing { origin, .. }
            | Self::Mobility { origin, .. }
            | Self::Singular { origin, .. }
            | Self::Blocked { origin, .. }
            | Self::Inconsistent { origin, .. }
            | Self::BadCoordinates { origin, .. } => Some(origin),
        }
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::Disconnected { .. } => {
                "add a joint between this body and the ground or another connected body".into()
            }
            Self::ActuatedLoop { .. } => {
                "a loop of actuated joints has more actuators than freedoms: make one of them passive".into()
            }
            Self::NotAssembled { .. } => {
                "check `at`, `axis` and the lengths of the loop through this joint at home".into()
            }
            Self::FarFromDrawing { .. } => {
                "draw the mechanism more exactly at home, or raise home_tolerance".into()
            }
            Self::Mobility { mobility, actuated, free_joint, .. } => {
                if mobility > actuated {
                    match free_joint {
                        Some(joint) => format!("actuate joint `{joint}`, which moves with all actuators locked, or replace it by a joint with fewer freedoms"),
                        None => "add actuated coordinates or joints with fewer freedoms".into(),
                    }
                } else {
                    "remove actuated coordinates, or use joints with more freedoms".into()
                }
            }
            Self::Singular { .. } | Self::Blocked { .. } => {
                "keep the domain away from this configuration".into()
            }
            Self::Inconsistent { .. } => {
                "choose a home that is not special (for instance not folded or aligned)".into()
            }
            Self::BadCoordinates { expected, .. } => {
                format!("give {expected} comma-separated value(s), in the order of the file's coordinates")
            }
        })
    }
}
