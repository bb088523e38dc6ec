//! Local modes: rigid, constraint (or attachment) and internal modes at one configuration, and the
//! gauge that gives them the same meaning everywhere.

mod eigen_gauges;
mod energy;
mod filtered;
mod linearised;
mod loaded;
mod local;
mod reference;

pub use eigen_gauges::{SMALLEST_OVERLAP, class_frequencies_hz, track_reference};
pub use energy::{kinetic_shares, strain_shares};
pub use linearised::Linearised;
pub use loaded::loaded_frequencies;
pub use local::LocalModes;
pub(crate) use reference::separated;
pub use reference::{Reference, in_plane_energy, internal_modes};

use crate::model::{SaddleError, StaticsError};
use crate::spectrum::NoSpectrum;
use thiserror::Error;

impl From<NoSpectrum> for ModesError {
    fn from(_: NoSpectrum) -> Self {
        Self::EigenproblemFailed
    }
}

/// Faults of the local modes.
#[derive(Debug, Clone, Error)]
#[allow(missing_docs)]
pub enum ModesError {
    #[error(transparent)]
    Static(#[from] SaddleError),
    #[error("no equilibrium under the loads and inertia forces was found: {0}")]
    Loaded(StaticsError),
    #[error("the eigenproblem of the constrained model did not converge")]
    EigenproblemFailed,
    #[error(
        "{wanted} internal mode(s) were asked for, but the model has {found} with the actuators and loaded dofs fixed"
    )]
    TooFewModes { wanted: usize, found: usize },
    #[error(
        "internal modes have lost their resemblance to the reference shapes (overlap {overlap:.2e})"
    )]
    GaugeLost { overlap: f64 },
    #[error(
        "mode {mode} at {frequency_hz:.2} Hz is followed by another within {gap:.3} (relative); subspace needs a gap of {smallest}"
    )]
    GapTooSmall {
        mode: usize,
        frequency_hz: f64,
        gap: f64,
        smallest: f64,
    },
    #[error(
        "mode {mode} cannot be tracked: best MAC {mac:.3} at {frequency_hz:.2} Hz, rival at {rival_hz:.2} Hz"
    )]
    TrackLost {
        mode: usize,
        mac: f64,
        frequency_hz: f64,
        rival_hz: f64,
    },
}
