//! Errors of a finished model at points that no fit has seen.

use super::errors::{Block, Measure, Part, PointErrors, Scales, summarize};
use super::points::uniform;
use super::region::Region;
use super::sample::Sample;
use super::source::LocalModel;
use crate::reduced_model::{
    BlockError, CoordinateKind, Evaluator, InvalidModel, ModelForm, ReducedModel, Status,
    Workspace, frequencies_hz,
};
use rayon::prelude::*;

/// Errors at fresh points.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    /// Per block: Frobenius norm of the difference over that of the exact value (at least a tenth
    /// of its root mean square) [M 10.2].
    pub errors: Vec<BlockError>,
    /// Per block, where its error is largest.
    pub worst: Vec<WorstPoint>,
    /// Relative errors of the natural frequencies of the internal modes; absent without them.
    pub frequencies: Option<BlockError>,
    /// Points that were compared.
    pub compared: usize,
    /// Points in dropped regions, or where the exact reduction fails.
    pub skipped: usize,
}

/// Where a block's error is largest.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstPoint {
    /// The block.
    pub block: String,
    /// Configuration.
    pub theta: Vec<f64>,
    /// Error there.
    pub error: f64,
}

/// Compares a model with the exact one at `n_samples` uniform random points of the domain, fixed
/// by `seed`.
pub fn check(
    model: &ReducedModel,
    local: &dyn LocalModel,
    n_samples: usize,
    seed: u64,
) -> Result<CheckReport, InvalidModel> {
    let evaluator = Evaluator::new(model)?;
    let points = random_points(model, n_samples, seed);
    let n = model.layout.n();
    let samples: Vec<Option<Sample>> = points
        .par_iter()
        .map_init(Workspace::default, |work, theta| {
            let status = evaluator.status(theta, work).ok()?;
            (status == Status::Inside).then_some(())?;
            Sample::new(
                local.evaluate(theta).ok()?.into(),
                &model.layout,
                ModelForm::Direct,
            )
            .ok()
        })
        .collect();
    let samples: Vec<Sample> = samples.into_iter().flatten().collect();
    let mut scales = Scales::new(&samples);
    let settings = &model.provenance.settings;
    if settings
        .tolerances
        .iter()
        .any(|t| t.block == Block::Combined.name())
    {
        scales = scales.with_combined(&settings.minimal_width);
    }
    let internal: Vec<usize> = (0..n)
        .filter(|&i| model.layout.coordinates[i].kind == CoordinateKind::Internal)
        .collect();
    let compared: Vec<Option<(PointErrors, f64)>> = samples
        .par_iter()
        .map_init(Default::default, |(work, c), sample| {
            evaluator.coefficients_into(sample.theta(), work, c).ok()?;
            let errors = scales.point_errors(sample, c, Measure::Frobenius, Part::All);
            let found = frequencies_hz(&c.mass, &c.stiffness, n, &internal);
            let exact = frequencies_hz(&sample.exact.mass, &sample.exact.stiffness, n, &internal);
            let relative = found
                .iter()
                .zip(&exact)
                .map(|(f, e)| (f - e).abs() / e.max(f64::MIN_POSITIVE));
            Some((errors, relative.fold(0.0, f64::max)))
        })
        .collect();
    let (errors, frequencies): (Vec<PointErrors>, Vec<f64>) =
        compared.into_iter().flatten().unzip();
    Ok(CheckReport {
        errors: summarize(&errors, &scales),
        worst: worst_points(&samples, &errors, &scales),
        frequencies: (!internal.is_empty() && !frequencies.is_empty()).then(|| BlockError {
            block: "frequencies".to_owned(),
            mean: frequencies.iter().sum::<f64>() / frequencies.len() as f64,
            max: frequencies.iter().copied().fold(0.0, f64::max),
        }),
        compared: samples.len(),
        skipped: points.len() - samples.len(),
    })
}

fn random_points(model: &ReducedModel, n_samples: usize, seed: u64) -> Vec<Vec<f64>> {
    let s = model.layout.n_rigid;
    let domain = Region::of_domain(&model.layout.domain);
    let start = seed.wrapping_mul(0xd1b5_4a32_d192_ed03);
    (0..n_samples as u64)
        .map(|i| {
            let coordinate = |k: u64| 2.0 * uniform(start.wrapping_add(i * s as u64 + k)) - 1.0;
            domain.point(&(0..s as u64).map(coordinate).collect::<Vec<_>>())
        })
        .collect()
}

fn worst_points(samples: &[Sample], errors: &[PointErrors], scales: &Scales) -> Vec<WorstPoint> {
    let worst = |block: Block| {
        let of = |p: &(&Sample, &PointErrors)| p.1[block as usize];
        let (sample, e) = samples
            .iter()
            .zip(errors)
            .max_by(|a, b| of(a).total_cmp(&of(b)))?;
        Some(WorstPoint {
            block: block.name().to_owned(),
            theta: sample.theta().to_vec(),
            error: e[block as usize],
        })
    };
    Block::ALL
        .into_iter()
        .filter(|b| scales.is_present(*b))
        .filter_map(worst)
        .collect()
}
