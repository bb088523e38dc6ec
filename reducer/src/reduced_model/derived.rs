//! Derived quantities: what files say of them, and their values.

use super::ModelLayout;
use super::evaluate::{EvaluationError, Evaluator, Status, Workspace, check_length};
use super::validate::{Checked, finite, limits, require};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Rows, and columns, at most.
const SIZE: usize = 64;

/// A matrix of θ that is made of the reduced model's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DerivedInfo {
    /// Name.
    pub name: String,
    /// The expression, as the mechanism file has it.
    pub value: String,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Tolerance of the relative error of its norm.
    pub tolerance: f64,
}

impl ModelLayout {
    pub(super) fn validate_derived(&self) -> Checked {
        let place = "layout.derived";
        let count = self.derived.len();
        let most = limits::OUTPUTS;
        require(count <= most, place, count, format!("at most {most}"))?;
        let distinct: BTreeSet<&str> = self.derived.iter().map(|d| d.name.as_str()).collect();
        require(
            distinct.len() == count,
            place,
            "a name used twice",
            "distinct names",
        )?;
        for derived in &self.derived {
            for (text, found) in [("a name", &derived.name), ("an expression", &derived.value)] {
                let fits = found.len() <= limits::TEXT;
                require(
                    fits,
                    place,
                    text,
                    format!("at most {} characters", limits::TEXT),
                )?;
            }
            for size in [derived.rows, derived.columns] {
                require(
                    (1..=SIZE).contains(&size),
                    place,
                    size,
                    format!("1 to {SIZE}"),
                )?;
            }
            finite(&[derived.tolerance], place)?;
            let positive = derived.tolerance > 0.0;
            require(positive, place, derived.tolerance, "a positive tolerance")?;
        }
        Ok(())
    }

    /// Smallest tolerance of the derived quantities; none without them.
    pub(crate) fn derived_tolerance(&self) -> Option<f64> {
        let tolerances = self.derived.iter().map(|d| d.tolerance);
        tolerances.reduce(f64::min)
    }
}

impl Evaluator<'_> {
    /// Values of all derived quantities at θ, each row-major; zero where the status is `undefined` or
    /// `not_finite`.
    pub fn derived(
        &self,
        theta: &[f64],
        work: &mut Workspace,
    ) -> Result<(Vec<Vec<f64>>, Status), EvaluationError> {
        check_length("theta", theta.len(), self.n_rigid())?;
        let mut status = Status::Inside;
        let mut found = Vec::new();
        for (quantity, info) in self.model.layout.derived.iter().enumerate() {
            let mut out = vec![0.0; info.rows * info.columns];
            let (m, scratch) = (self.plan.model(), work.scratch(&self.plan));
            let place = [quantity, info.columns];
            status = status.max(kernel::derived(&m, theta, place, &mut out, scratch).into());
            found.push(out);
        }
        Ok((found, status))
    }
}
