//! What the approximation promises, on mechanisms known in closed form.

mod budgets;
mod database;
mod determinism;
mod distribution;
mod dynamics;
#[path = "../../../tests/support/energy.rs"]
mod energy;
mod evaluation;
mod flexible;
mod orthoglide;
mod path;
mod quality;
mod search;
mod validation;

use reducer::approximation::{LocalModel, SampleDatabase, Silent};
use reducer::description::mechanism::{
    ApproximationSettings, Basis, Budgets, Criterion, Objective, Origin,
};
use reducer::pipeline::{Summary, reduce};
use reducer::reduced_model::ReducedModel;

/// Default settings with a tolerance of 0.5 %.
pub fn settings(minimal_width: &[f64]) -> ApproximationSettings {
    ApproximationSettings {
        origin: Origin::default(),
        form: None,
        basis: Basis::Chebyshev { max_degree: None },
        tolerance: 0.005,
        block_tolerances: Vec::new(),
        criterion: Criterion::Mean,
        largest: None,
        objective: Objective::Size,
        minimal_width: minimal_width.to_vec(),
        continuity: None,
        trajectory: None,
        budgets: Budgets::default(),
    }
}

/// A model without a database on disk.
pub fn reduced(
    local: &dyn LocalModel,
    settings: &ApproximationSettings,
) -> (ReducedModel, Summary) {
    let mut database = SampleDatabase::in_memory();
    reduce(local, settings, &Silent, &mut database).expect("the mechanism can be reduced")
}

/// Numbers in [−1, 1] from a fixed sequence.
pub struct Numbers(u64);

impl Numbers {
    /// Starts the sequence.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// The next `n` numbers times `scale`.
    pub fn vector(&mut self, n: usize, scale: f64) -> Vec<f64> {
        (0..n).map(|_| scale * self.number()).collect()
    }
}
