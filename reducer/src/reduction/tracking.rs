//! Following single modes from the reference configuration to θ, for the `track` gauge.

use super::{LocalReducer, ReductionError};
use crate::modes::{Reference, track_reference};

/// Steps across the width of the domain.
const STEPS: f64 = 128.0;
/// Grid points in a row that may be passed over because two modes mix there.
const MAX_SKIPPED: usize = 3;

impl LocalReducer {
    /// Shapes of the last grid point on the straight path from the reference to θ.
    ///
    /// Grid points lie at fixed distances from the reference, so that neighbouring θ share them.
    /// A point inside a veering, where no mode resembles its predecessor, is passed over; modes
    /// that exchange their shapes within one step are followed by shape, not by frequency.
    pub(super) fn tracked_reference(&self, theta: &[f64]) -> Result<Reference, ReductionError> {
        let distance = theta
            .iter()
            .zip(&self.reference_theta)
            .zip(&self.widths)
            .map(|((t, r), w)| ((t - r) / w).powi(2))
            .sum::<f64>()
            .sqrt();
        let mut reference = self.reference().clone();
        let mut skipped = 0;
        let mut step = 1;
        while (step as f64) < distance * STEPS {
            let part = step as f64 / (distance * STEPS);
            let point: Vec<f64> = self
                .reference_theta
                .iter()
                .zip(theta)
                .map(|(r, t)| r + part * (t - r))
                .collect();
            let configuration = self.kinematics().solve(&point)?;
            let at = self.linearise(&configuration)?;
            match track_reference(&at, &reference) {
                Ok(next) => {
                    reference = next;
                    skipped = 0;
                }
                Err(fault) => {
                    skipped += 1;
                    if skipped > MAX_SKIPPED {
                        return Err(self.fault(&point, fault));
                    }
                }
            }
            step += 1;
        }
        Ok(reference)
    }
}
