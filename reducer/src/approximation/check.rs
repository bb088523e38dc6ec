//! Errors of a finished model at points that no fit has seen.

use super::errors::{Measure, Part, PointErrors, Scales, summarize};
use super::points::uniform;
use super::quantities::{Found, Quantities};
use super::region::Region;
use super::sample::Sample;
use super::search::{Place, budget, climb};
use super::source::LocalModel;
use crate::reduced_model::{
    Block, BlockError, CoordinateKind, Evaluator, InvalidModel, LargestError, ModelForm,
    ReducedModel, Workspace, frequencies_hz,
};
use rayon::prelude::*;

/// Errors at fresh points.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    /// Per block: Frobenius norm of the difference over that of the exact value (at least a tenth
    /// of its root mean square) [M 10.2].
    pub errors: Vec<BlockError>,
    /// Per block, at which of the points its error is largest.
    pub worst: Vec<WorstPoint>,
    /// The largest errors that a search from the worst points found: blocks, then outputs and forces in
    /// their units.
    pub largest: Vec<LargestError>,
    /// Relative errors of the natural frequencies of the internal modes; absent without them.
    pub frequencies: Option<FrequencyErrors>,
    /// Points that were compared.
    pub compared: usize,
    /// Points that the inequalities of the domain exclude.
    pub outside: usize,
    /// Points in regions that the model misses.
    pub without_model: usize,
    /// Points with a model at which the exact reduction fails.
    pub failed: usize,
}

/// Relative errors of natural frequencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrequencyErrors {
    /// Mean over the points of the largest error of each.
    pub mean: f64,
    /// Largest of the points.
    pub max: f64,
}

/// Where a block's error is largest.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstPoint {
    /// The block.
    pub block: Block,
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
    let found = exact_samples(&evaluator, local, &points);
    let absent = |why: Absent| {
        found
            .iter()
            .filter(|f| f.as_ref().err() == Some(&why))
            .count()
    };
    let (outside, without_model, failed) = (
        absent(Absent::Outside),
        absent(Absent::WithoutModel),
        absent(Absent::Failed),
    );
    let samples: Vec<Sample> = found.into_iter().flatten().collect();
    let mut scales = Scales::new(&samples, &model.layout);
    let settings = &model.provenance.settings;
    if settings.tolerance(Block::Combined).is_some() {
        scales = scales.with_combined(&settings.minimal_width);
    }
    let internal: Vec<usize> = (0..n)
        .filter(|&i| model.layout.coordinates[i].kind == CoordinateKind::Internal)
        .collect();
    let quantities = Quantities::new(&model.layout, &scales);
    let compared: Vec<Option<(PointErrors, f64, Found)>> = samples
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
            let frequencies = relative.fold(0.0, f64::max);
            Some((errors, frequencies, quantities.at(sample, c)))
        })
        .collect();
    let (mut errors, mut frequencies, mut points) = (Vec::new(), Vec::new(), Vec::new());
    for (of_blocks, of_frequencies, of_all) in compared.into_iter().flatten() {
        errors.push(of_blocks);
        frequencies.push(of_frequencies);
        points.push(of_all);
    }
    let n_fresh = points.len();
    points.extend(searched(&evaluator, local, &quantities, &points, n_samples));
    Ok(CheckReport {
        errors: summarize(&errors, &scales),
        worst: worst_points(&samples, &errors, &scales),
        largest: quantities.largest(&points, n_fresh),
        frequencies: (!internal.is_empty() && !frequencies.is_empty()).then(|| FrequencyErrors {
            mean: frequencies.iter().sum::<f64>() / frequencies.len() as f64,
            max: frequencies.iter().copied().fold(0.0, f64::max),
        }),
        compared: samples.len(),
        outside,
        without_model,
        failed,
    })
}

/// What a search from the worst of the points finds.
fn searched(
    evaluator: &Evaluator,
    local: &dyn LocalModel,
    quantities: &Quantities,
    points: &[Found],
    n_samples: usize,
) -> Vec<Found> {
    let place = |p: &Found| Place {
        theta: p.theta.clone(),
        errors: p.worst.clone(),
    };
    let known: Vec<Place> = points.iter().map(place).collect();
    let model = evaluator.model();
    let mut found = Vec::new();
    let Ok(_) = climb(
        model,
        &known,
        budget(model.layout.n_rigid, n_samples),
        |wanted| {
            let measured: Vec<Option<Found>> = exact_samples(evaluator, local, wanted)
                .par_iter()
                .map_init(Default::default, |(work, c), sample| {
                    let sample = sample.as_ref().ok()?;
                    evaluator.coefficients_into(sample.theta(), work, c).ok()?;
                    Some(quantities.at(sample, c))
                })
                .collect();
            let errors = measured.iter().map(|m| m.as_ref().map(|f| f.worst.clone()));
            let errors: Vec<Option<Vec<f64>>> = errors.collect();
            found.extend(measured.into_iter().flatten());
            Ok::<_, std::convert::Infallible>(errors)
        },
    );
    found
}

/// Why a point is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    Outside,
    WithoutModel,
    Failed,
}

/// The full model at points, where there is a reduced one to compare with.
fn exact_samples(
    evaluator: &Evaluator,
    local: &dyn LocalModel,
    points: &[Vec<f64>],
) -> Vec<Result<Sample, Absent>> {
    let comparable: Vec<Result<&[f64], Absent>> = points
        .par_iter()
        .map_init(Workspace::default, |work, theta| {
            match evaluator.drop_reason(theta, work) {
                Ok(None) => Ok(theta.as_slice()),
                Ok(Some(reason)) if !reason.is_missing() => Err(Absent::Outside),
                Ok(Some(_)) | Err(_) => Err(Absent::WithoutModel),
            }
        })
        .collect();
    let at: Vec<&[f64]> = comparable.iter().flatten().copied().collect();
    let layout = &evaluator.model().layout;
    let samples: Vec<Result<Sample, Absent>> = (local.evaluate_all(&at).into_par_iter())
        .map(|exact| {
            let exact = exact.map_err(|_| Absent::Failed)?;
            Sample::new(exact.into(), layout, ModelForm::Direct).map_err(|_| Absent::Failed)
        })
        .collect();
    let mut samples = samples.into_iter();
    let found = |place: Result<&[f64], Absent>| {
        place.and_then(|_| samples.next().unwrap_or(Err(Absent::Failed)))
    };
    comparable.into_iter().map(found).collect()
}

fn random_points(model: &ReducedModel, n_samples: usize, seed: u64) -> Vec<Vec<f64>> {
    let s = model.layout.n_rigid;
    let domain = Region::of_domain(&model.layout.domain);
    let start = seed.wrapping_mul(0xd1b5_4a32_d192_ed03);
    let points: Vec<Vec<f64>> = (0..n_samples as u64)
        .map(|i| {
            let coordinate = |k: u64| 2.0 * uniform(start.wrapping_add(i * s as u64 + k)) - 1.0;
            domain.point(&(0..s as u64).map(coordinate).collect::<Vec<_>>())
        })
        .collect();
    let bounds = &model.layout.domain;
    match points.iter().any(|p| bounds.admits(p)) {
        true => points,
        // Of a domain that chance does not hit, points near its boundary are compared.
        false => domain.admitted(bounds, points),
    }
}

fn worst_points(samples: &[Sample], errors: &[PointErrors], scales: &Scales) -> Vec<WorstPoint> {
    let worst = |block: Block| {
        let of = |p: &(&Sample, &PointErrors)| p.1[block as usize];
        let (sample, e) = samples
            .iter()
            .zip(errors)
            .max_by(|a, b| of(a).total_cmp(&of(b)))?;
        Some(WorstPoint {
            block,
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
