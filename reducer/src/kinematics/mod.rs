//! The undeformed motion ρ(θ): configuration, velocities and their derivatives for given actuated
//! coordinates.

mod assembly;
mod closure;
mod error;
mod motion;
mod path;
mod redundancy;
mod route;
pub(crate) mod skeleton;

pub use assembly::{HomeShift, Kinematics};
pub use error::{KinematicsError, SingularityKind};
pub use motion::Motion;
pub use path::Configuration;
pub use skeleton::Rotation;
