//! What the approximation promises, on mechanisms known in closed form.

mod flexible;
mod orthoglide;
mod quality;

use reducer::approximation::{LocalModel, SampleDatabase, Silent};
use reducer::description::mechanism::{
    ApproximationSettings, Basis, Criterion, Form, Objective, Origin,
};
use reducer::pipeline::{Summary, reduce};
use reducer::reduced_model::ReducedModel;

/// Default settings with a tolerance of 0.5 %.
pub fn settings(minimal_width: &[f64]) -> ApproximationSettings {
    ApproximationSettings {
        origin: Origin::default(),
        form: Form::Lagrangian,
        basis: Basis::Chebyshev { max_degree: None },
        tolerance: 0.005,
        block_tolerances: Vec::new(),
        criterion: Criterion::Mean,
        objective: Objective::Size,
        minimal_width: minimal_width.to_vec(),
        continuity: None,
        trajectory: None,
    }
}

/// A model without a database on disk.
pub fn reduced(
    local: &dyn LocalModel,
    settings: &ApproximationSettings,
) -> (ReducedModel, Summary) {
    reduce(local, settings, &Silent, &mut SampleDatabase::in_memory())
        .expect("the mechanism can be reduced")
}
