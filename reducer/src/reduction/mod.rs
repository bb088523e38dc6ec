//! Reduced coefficients f(θ) at one configuration.

pub mod coefficients;
mod damping;
mod inertia;
mod local;

pub use coefficients::{Coefficients, OutputCoefficients};
pub use local::LocalReducer;

use crate::description::mechanism::Origin;
use crate::error::Explain;
use crate::kinematics::KinematicsError;
use crate::model::ModelError;
use crate::modes::ModesError;
use thiserror::Error;

/// Faults on the way from a mechanism to its coefficients.
#[derive(Debug, Clone, Error)]
#[allow(missing_docs)]
pub enum ReductionError {
    #[error(transparent)]
    Kinematics(#[from] KinematicsError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Modes(#[from] ModesError),
}

impl Explain for ReductionError {
    fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Kinematics(e) => e.origin(),
            Self::Model(e) => e.origin(),
            Self::Modes(_) => None,
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::Kinematics(e) => e.help(),
            Self::Model(e) => e.help(),
            Self::Modes(_) => None,
        }
    }
}
