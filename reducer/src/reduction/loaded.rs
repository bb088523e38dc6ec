//! Natural frequencies of the full model about its loaded state.

use super::{LocalReducer, ReductionError};
use crate::model::ActuatorMotion;
use crate::modes::{ModesError, loaded_frequencies};
use std::f64::consts::TAU;

/// Frequencies about the state in which the model rests relative to the motion of its actuators.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedFrequencies {
    /// Ascending (Hz); zero for a direction in which the state is unstable.
    pub frequencies_hz: Vec<f64>,
    /// The state is steady: nothing that matters changes while the actuators move on. Otherwise the
    /// frequencies are those of the equations frozen at this instant.
    pub steady: bool,
}

impl LocalReducer {
    /// The lowest frequencies with actuators held to their motion, Coriolis terms included, damping
    /// left out, about the static deflection under gravity, loads, springs and inertia forces
    /// [M 14.12].
    pub fn loaded_frequencies(
        &self,
        theta: &[f64],
        motion: ActuatorMotion<'_>,
        count: usize,
    ) -> Result<LoadedFrequencies, ReductionError> {
        if self.locked.is_none() {
            return Ok(LoadedFrequencies {
                frequencies_hz: Vec::new(),
                steady: true,
            });
        }
        let configuration = self.kinematics().solve(theta)?;
        let frames = self.model().node_frames(&configuration.frames);
        let state = self
            .model()
            .loaded_state(&frames, &configuration.hinge_angles, motion)
            .map_err(|fault| self.fault(theta, ModesError::Loaded(fault)))?;
        let at = (self.model().loaded_operators(&state))
            .ok_or_else(|| self.fault(theta, crate::model::SaddleError::Singular))?;
        let found = loaded_frequencies(&at, count).map_err(|fault| self.fault(theta, fault))?;
        Ok(LoadedFrequencies {
            frequencies_hz: found.iter().map(|w| w / TAU).collect(),
            steady: state.steady,
        })
    }
}
