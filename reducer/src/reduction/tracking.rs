//! Following single modes from the reference configuration to θ, for the `track` gauge.

use super::{LocalReducer, ReductionError};
use crate::modes::{ModesError, Reference, track_reference};
use std::sync::{Arc, Mutex, PoisonError};

/// Steps across the width of the domain.
const STEPS: f64 = 128.0;
/// Grid points in a row that may be passed over because two modes mix there.
const MAX_SKIPPED: usize = 3;

/// Shapes known along the way from the reference, in both directions of a single coordinate.
///
/// Entry i belongs to grid point i + 1. It depends on the grid alone, never on who asked first.
#[derive(Debug, Default)]
pub(super) struct Trail {
    directions: Mutex<[Vec<Step>; 2]>,
}

/// What is known after a grid point.
#[derive(Debug, Clone)]
struct Step {
    reference: Arc<Reference>,
    skipped: usize,
}

impl LocalReducer {
    /// Shapes of the last grid point on the straight path from the reference to θ.
    ///
    /// Grid points lie at fixed distances from the reference, so that neighbouring θ share them.
    /// A point inside a veering, where no mode resembles its predecessor, is passed over; modes
    /// that exchange their shapes within one step are followed by shape, not by frequency.
    pub(super) fn tracked_reference(
        &self,
        theta: &[f64],
    ) -> Result<Arc<Reference>, ReductionError> {
        let offset: Vec<f64> = theta
            .iter()
            .zip(&self.reference_theta)
            .zip(&self.widths)
            .map(|((t, r), w)| (t - r) / w)
            .collect();
        let distance = offset.iter().map(|d| d * d).sum::<f64>().sqrt();
        let n_steps = ((distance * STEPS).ceil() - 1.0).max(0.0) as usize;
        let direction: Vec<f64> = offset
            .iter()
            .map(|d| if distance > 0.0 { d / distance } else { 0.0 })
            .collect();
        let mut own = Vec::new();
        let mut shared = self
            .trail
            .directions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let steps = match theta.len() {
            1 => &mut shared[usize::from(direction[0] < 0.0)],
            _ => &mut own,
        };
        while steps.len() < n_steps {
            let last = steps.last().cloned().unwrap_or_else(|| Step {
                reference: Arc::new(self.reference().clone()),
                skipped: 0,
            });
            steps.push(self.track_step(&direction, steps.len() + 1, last)?);
        }
        Ok(match n_steps {
            0 => Arc::new(self.reference().clone()),
            n => steps[n - 1].reference.clone(),
        })
    }

    fn track_step(
        &self,
        direction: &[f64],
        index: usize,
        last: Step,
    ) -> Result<Step, ReductionError> {
        let point: Vec<f64> = self
            .reference_theta
            .iter()
            .zip(direction)
            .zip(&self.widths)
            .map(|((r, d), w)| r + d * w * index as f64 / STEPS)
            .collect();
        let configuration = self.kinematics().solve(&point)?;
        let at = self.linearise(&configuration)?;
        match track_reference(&at, &last.reference) {
            Ok(next) => Ok(Step {
                reference: Arc::new(next),
                skipped: 0,
            }),
            Err(ModesError::TrackLost { .. }) if last.skipped < MAX_SKIPPED => Ok(Step {
                reference: last.reference,
                skipped: last.skipped + 1,
            }),
            Err(fault) => Err(self.fault(&point, fault)),
        }
    }
}
