//! A look at a finished approximation with points that took no part in it.

use super::database::DatabaseError;
use super::errors::Part;
use super::points::{arcsine, halton};
use super::region::Region;
use super::rules::Rules;
use super::store::SampleStore;
use super::trial::Context;
use crate::description::mechanism::{Criterion, Objective};
use crate::reduced_model::{Evaluator, ModelCoefficients, ReducedModel, Status, Workspace};

/// What points that took no part in an approximation show of it.
pub(super) struct Audit {
    /// Largest error of any block over the part of its tolerance that leaves room for chance.
    pub excess: f64,
    /// The points.
    pub points: Vec<Vec<f64>>,
}

pub(super) fn audit(
    context: &Context,
    store: &mut SampleStore,
    model: &ReducedModel,
    attempt: u64,
) -> Result<Audit, DatabaseError> {
    let s = context.layout.n_rigid;
    let domain = Region::of_domain(&context.layout.domain);
    let key = 0xa0d1_7000 + attempt;
    let Ok(evaluator) = Evaluator::new(model) else {
        return Ok(Audit {
            excess: f64::INFINITY,
            points: Vec::new(),
        });
    };
    let mut work = Workspace::default();
    // The largest errors are near faces and corners: look there.
    let (count, crowded) = match context.rules.criterion {
        Criterion::Mean => (100 + 50 * s as u64, false),
        Criterion::Max => (300 + 150 * s as u64, true),
    };
    let place = |u: f64| if crowded { arcsine(u) } else { 2.0 * u - 1.0 };
    let mut points: Vec<Vec<f64>> = (0..count)
        .map(|i| domain.point(&halton(i, key, s).into_iter().map(place).collect::<Vec<_>>()))
        .collect();
    points = domain.admitted(&context.layout.domain, points);
    points.retain(|p| evaluator.status(p, &mut work) == Ok(Status::Inside));
    store.require(&points)?;
    let mut errors = Vec::with_capacity(points.len());
    let mut found = ModelCoefficients::default();
    for sample in points.iter().filter_map(|p| store.get(p)) {
        let evaluated = evaluator.coefficients_into(sample.theta(), &mut work, &mut found);
        if evaluated.is_ok() {
            let measure = context.rules.measure();
            let scales = context.scales;
            errors.push(scales.point_errors(&sample, &found, measure, Part::All));
        }
    }
    // The largest errors are searched for apart.
    let largest = Rules {
        largest: None,
        ..context.rules.clone()
    }
    .ratios(&errors, context.scales)
    .into_iter()
    .fold(0.0, f64::max);
    let part = match context.rules.criterion {
        // Trimmed tables use more of what is allowed.
        Criterion::Mean if context.rules.objective == Objective::Size => 0.88,
        Criterion::Mean => 0.85,
        Criterion::Max => 0.95,
    };
    Ok(Audit {
        excess: largest / part,
        points,
    })
}
