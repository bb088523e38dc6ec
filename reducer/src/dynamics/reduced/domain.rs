//! Where the model is valid.

use super::error::ReducedError;
use super::system::System;
use crate::reduced_model::Status;

/// Rounding of a motion that ends on the edge, in parts of the domain's width.
const ROUNDING: f64 = 1e-12;

/// Says when and how θ is outside the domain at a time; none where it is inside.
pub(super) fn departure(system: &System<'_>, time: f64, theta: &[f64]) -> Option<ReducedError> {
    if theta.iter().any(|t| !t.is_finite()) {
        let reason = "a coordinate is not a finite number".to_owned();
        return Some(ReducedError::Diverged { time, reason });
    }
    let layout = &system.evaluator.model().layout;
    let domain = &layout.domain;
    for (k, &value) in theta.iter().enumerate() {
        let (lower, upper) = (domain.lower[k], domain.upper[k]);
        let slack = ROUNDING * (upper - lower);
        if !domain.periodic[k] && !(lower - slack..=upper + slack).contains(&value) {
            return Some(ReducedError::LeftDomain {
                time,
                coordinate: layout.coordinates[k].name.clone(),
                value,
                lower,
                upper,
            });
        }
    }
    match system.status(theta) {
        Ok(Status::Inside | Status::Clamped) => None,
        Ok(Status::Undefined | Status::NotFinite | Status::Bent) => Some(ReducedError::NoModel {
            time,
            theta: theta.to_vec(),
        }),
        Err(error) => Some(error.into()),
    }
}
