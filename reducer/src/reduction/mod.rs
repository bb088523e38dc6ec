//! Reduced coefficients f(θ) at one configuration.

mod centrifugal;
mod checks;
mod coefficients;
mod damping;
mod default_modes;
pub(crate) mod derived;
mod effects;
mod inertia;
mod inspection;
mod loaded;
mod local;
mod locked;
mod portrait;
mod rigid;
mod second_order;
mod stiffening;
mod strain_products;
mod tracking;

pub use coefficients::{Coefficients, DerivedCoefficients, GravityAxis, OutputCoefficients};
pub use default_modes::ModeChoice;
pub use derived::DerivedFault;
pub use effects::Effects;
pub use inspection::{Inspection, frequencies_hz};
pub use loaded::LoadedFrequencies;
pub use local::LocalReducer;
pub use portrait::{ModeKind, ModePortrait, Portrait};
pub use second_order::{SecondOrder, SecondOrderShapes, pair_index};

pub use crate::kinematics::{HomeShift, KinematicsError, SingularityKind};
pub use crate::model::ModelError;
pub use crate::modes::{ModesError, in_plane_energy};

use crate::description::mechanism::Origin;
use crate::error::Explain;
use crate::modes::SMALLEST_OVERLAP;
use thiserror::Error;

/// Faults on the way from a mechanism to its coefficients.
#[derive(Debug, Clone, Error)]
#[allow(missing_docs)]
pub enum ReductionError {
    #[error(transparent)]
    Kinematics(#[from] KinematicsError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("at θ = {theta:?}: {fault}")]
    Modes {
        theta: Vec<f64>,
        fault: ModesError,
        origin: Origin,
    },
    #[error("loaded dof `{name}` cannot move: actuators and joints already hold it")]
    LoadedDofHeld { name: String, origin: Origin },
    #[error("loaded dof `{name}` moves with the loaded dofs before it, never by itself")]
    LoadedDofRepeated { name: String, origin: Origin },
    #[error(
        "the constant moment of load `{load}` has no potential: body `{body}` turns about more than one direction"
    )]
    MomentWithoutPotential {
        load: String,
        body: String,
        origin: Origin,
    },
    #[error(
        "at θ = {theta:?} the mechanism buckles under {factor:.3} times gravity, loads and tensions of springs as they are"
    )]
    Buckles {
        theta: Vec<f64>,
        factor: f64,
        origin: Origin,
    },
    #[error("coordinate `{coordinate}` moves without inertia at home")]
    NoInertia { coordinate: String, origin: Origin },
    #[error(
        "at θ = {theta:?} a mode has frequency zero: with all actuators locked body `{body}` moves freely {motion}"
    )]
    FreeMode {
        theta: Vec<f64>,
        body: String,
        /// The direction, or the flexible coordinate, in words.
        motion: String,
        origin: Origin,
    },
    #[error("at θ = {theta:?} coefficients are not finite numbers")]
    NotFinite { theta: Vec<f64>, origin: Origin },
    #[error(
        "internal or constraint modes were asked for, but no body of the mechanism is flexible"
    )]
    NothingFlexible { origin: Origin },
}

impl Explain for ReductionError {
    fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Kinematics(e) => e.origin(),
            Self::Model(e) => e.origin(),
            Self::Modes { origin, .. }
            | Self::LoadedDofHeld { origin, .. }
            | Self::LoadedDofRepeated { origin, .. }
            | Self::MomentWithoutPotential { origin, .. }
            | Self::NoInertia { origin, .. }
            | Self::Buckles { origin, .. }
            | Self::FreeMode { origin, .. }
            | Self::NotFinite { origin, .. }
            | Self::NothingFlexible { origin } => Some(origin),
        }
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::Kinematics(e) => return e.help(),
            Self::Model(e) => return e.help(),
            Self::LoadedDofHeld { .. } => {
                "choose another direction or point, or give the structure behind it flexibility".into()
            }
            Self::LoadedDofRepeated { .. } => {
                "remove it, or choose another direction or point".into()
            }
            Self::MomentWithoutPotential { .. } => {
                "replace the moment by opposite forces at two points of the body".into()
            }
            Self::Buckles { .. } => {
                "lower the loads, stiffen the mechanism, or shrink the domain".into()
            }
            Self::NoInertia { .. } => {
                "give a body that moves with it a mass or an inertia, or the coordinate a `rotor_inertia`".into()
            }
            Self::FreeMode { .. } => {
                "check the stiffness that should hold it (N/m, or N m/rad on a hinge; E in Pa), or add a joint or an actuator".into()
            }
            Self::NotFinite { .. } => {
                "check masses, lengths and this configuration for numbers of absurd size".into()
            }
            Self::NothingFlexible { .. } => {
                "make a body a `beam`, give a coordinate `stiffness`, or remove `internal_modes` and `loaded`".into()
            }
            Self::Modes { fault, .. } => match fault {
                ModesError::Static(_) | ModesError::EigenproblemFailed => {
                    "check stiffness and joints of the bodies: with actuators locked nothing may move freely".into()
                }
                ModesError::Loaded(_) => {
                    "check the size of loads, gravity, rates and accelerations against the stiffness: the mechanism may buckle".into()
                }
                ModesError::TooFewModes { found, .. } => {
                    format!("ask for at most {found} internal modes, or refine the mesh")
                }
                ModesError::GaugeLost { .. } => format!(
                    "keep more internal modes, choose another reference configuration, or shrink the domain (an overlap of {SMALLEST_OVERLAP} is needed)"
                ),
                ModesError::GapTooSmall { .. } => {
                    "keep whole clusters of modes, or use gauge = \"filtered\"".into()
                }
                ModesError::TrackLost { .. } => {
                    "two modes veer here: use gauge = \"filtered\" or \"subspace\"".into()
                }
            },
        })
    }
}
