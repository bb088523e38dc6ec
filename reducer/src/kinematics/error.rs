//! What can go wrong on the way to an undeformed configuration.

use super::HomeShift;
use crate::description::mechanism::Origin;
use crate::error::Explain;
use thiserror::Error;

/// Ways in which θ can stop to determine the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SingularityKind {
    /// With all actuators locked the mechanism can still move.
    Actuator,
    /// The loop equations themselves lose rank: motions branch.
    ConfigurationSpace,
    /// Of redundant loop equations, those that are kept lose rank, while all of them would not.
    KeptEquations,
}

impl std::fmt::Display for SingularityKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Actuator => "an actuator singularity, where the mechanism moves although all actuators are locked",
            Self::ConfigurationSpace => "a configuration-space singularity, where motions branch",
            Self::KeptEquations => "a configuration where the loop equations that are kept no longer suffice, although the mechanism is regular",
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
        "assembly at home would move body `{}` at {} by {:.3e} m, more than home_tolerance = {tolerance:.3e} m",
        shift.body, shift.point, shift.moved
    )]
    FarFromDrawing {
        shift: HomeShift,
        tolerance: f64,
        origin: Origin,
    },
    #[error(
        "{actuated} actuated coordinate(s) cannot determine a mechanism with {mobility} degree(s) of freedom: {}",
        if mobility > actuated { format!("with all actuators locked body `{body}` can still move, at joint `{culprit}`") }
        else { format!("coordinate `{culprit}` cannot move independently of the others") }
    )]
    Mobility {
        mobility: usize,
        actuated: usize,
        /// Joint that still moves with all actuators locked, or coordinate that cannot move.
        culprit: String,
        /// Body that still moves; empty where a coordinate cannot move.
        body: String,
        origin: Origin,
    },
    #[error(
        "θ = {theta:?} is at or too close to {kind} (joint `{joint}` moves most; coordinate `{coordinate}` is farthest from home)"
    )]
    Singular {
        kind: SingularityKind,
        theta: Vec<f64>,
        coordinate: String,
        joint: String,
        origin: Origin,
    },
    #[error(
        "θ = {theta:?} cannot be reached from home: near θ = {reached:?} the path ends at {kind} (joint `{joint}` moves most; coordinate `{coordinate}` is farthest from home)"
    )]
    Blocked {
        kind: SingularityKind,
        theta: Vec<f64>,
        reached: Vec<f64>,
        coordinate: String,
        joint: String,
        origin: Origin,
    },
    #[error("θ = {theta:?} is too far from home to be reached along coordinate `{coordinate}`")]
    TooFar {
        theta: Vec<f64>,
        coordinate: String,
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
            | Self::TooFar { origin, .. }
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
            Self::Mobility { mobility, actuated, .. } if mobility > actuated => {
                "actuate it (where a spring holds it, by a coordinate with `stiffness`), replace it by a joint with fewer freedoms (a rod between two spherical joints spins about itself: make one of them `universal`), or, if the mechanism is drawn folded or aligned, draw it at another home".into()
            }
            Self::Mobility { .. } => {
                "remove this coordinate, or use joints with more freedoms".into()
            }
            Self::Singular { .. } => {
                "keep home and the domain away from this configuration".into()
            }
            Self::Blocked { .. } => {
                "end the coordinates' ranges before this configuration, or draw the mechanism at a home beyond it".into()
            }
            Self::TooFar { .. } => "choose a configuration closer to home".into(),
            Self::Inconsistent { .. } => {
                "choose a home that is not special (for instance not folded or aligned)".into()
            }
            Self::BadCoordinates { expected, .. } => {
                format!("give {expected} comma-separated value(s), in the order of the file's coordinates")
            }
        })
    }
}
