//! A finished model beside the exact one at chosen points.

use super::errors::{Measure, Part, Scales};
use super::sample::Sample;
use super::source::LocalModel;
use crate::reduced_model::{
    Block, Evaluator, InvalidModel, ModelForm, ReducedModel, Status, Workspace,
};
use crate::reduction::Coefficients;
use rayon::prelude::*;
use std::sync::Arc;

/// Exact coefficients at one point, and the errors of the model there.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedPoint {
    /// Exact coefficients.
    pub exact: Arc<Coefficients>,
    /// Gyroscopic tensor of the exact coefficients.
    pub gyroscopic: Vec<f64>,
    /// Per block: Frobenius norm of the difference over that of the exact value (at least a tenth
    /// of its root mean square over the points).
    pub errors: Vec<(Block, f64)>,
}

/// Compares a model with the exact one at `points`; none where either does not exist.
pub fn trace(
    model: &ReducedModel,
    local: &dyn LocalModel,
    points: &[Vec<f64>],
) -> Result<Vec<Option<TracedPoint>>, InvalidModel> {
    let evaluator = Evaluator::new(model)?;
    let samples: Vec<Option<Sample>> = points
        .par_iter()
        .map(|theta| {
            let status = evaluator.status(theta, &mut Workspace::default()).ok()?;
            (status == Status::Inside).then_some(())?;
            let exact = local.evaluate(theta).ok()?;
            Sample::new(exact.into(), &model.layout, ModelForm::Direct).ok()
        })
        .collect();
    let found: Vec<Sample> = samples.iter().flatten().cloned().collect();
    let scales = Scales::new(&found, &model.layout);
    let mut work = Workspace::default();
    let mut compare = |sample: Sample| {
        let reduced = evaluator.coefficients(sample.theta(), &mut work).ok()?;
        let errors = scales.point_errors(&sample, &reduced, Measure::Frobenius, Part::All);
        Some(TracedPoint {
            errors: Block::ALL
                .into_iter()
                .filter(|block| scales.is_present(*block))
                .map(|block| (block, errors[block as usize]))
                .collect(),
            exact: sample.exact,
            gyroscopic: sample.gyroscopic,
        })
    };
    Ok(samples
        .into_iter()
        .map(|sample| sample.and_then(&mut compare))
        .collect())
}
