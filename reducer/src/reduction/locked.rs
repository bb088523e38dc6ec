//! Natural modes of the full model with actuators locked.

use super::{LocalReducer, ReductionError};
use crate::kinematics::Configuration;
use crate::modes::{Linearised, ModesError};
use crate::spectrum::{NaturalModes, lowest_modes};
use faer::Mat;

impl LocalReducer {
    /// The lowest natural frequencies of the full model with actuators locked and loaded dofs free.
    pub fn locked_frequencies_hz(
        &self,
        theta: &[f64],
        count: usize,
    ) -> Result<Vec<f64>, ReductionError> {
        if self.locked.is_none() {
            return Ok(Vec::new());
        }
        let configuration = self.kinematics().solve(theta)?;
        Ok(self.locked_modes(&configuration, count)?.frequencies_hz())
    }

    /// The lowest natural modes of the full model with actuators locked and loaded dofs free; none
    /// where nothing can deform.
    pub fn locked_modes(
        &self,
        configuration: &Configuration,
        count: usize,
    ) -> Result<NaturalModes, ReductionError> {
        let n = self.model().n_motion();
        let Some(saddle) = &self.locked else {
            return Ok(NaturalModes {
                omega: Vec::new(),
                shapes: Mat::zeros(n, 0),
                complete: true,
            });
        };
        let fault = |fault: ModesError| self.fault(&configuration.theta, fault);
        let at = Linearised::new(self.model(), configuration, Some(saddle), false)
            .map_err(|e| fault(e.into()))?;
        lowest_modes::<ModesError>(n, count, &|q| self.model().mass_times(q), &|f| {
            Ok(at.static_response(f, None)?.0)
        })
        .map_err(fault)
    }
}
