//! Exact coefficients along lines through the domain.

use crate::approximation::{LocalModel, TracedPoint, trace};
use crate::modes::class_frequencies_hz;
use crate::reduced_model::{Block, Evaluator, InvalidModel, ReducedModel, Status, Workspace};
use crate::reduction::LocalReducer;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// Points on the line of the only coordinate.
const ALONG_ONE: usize = 57;
/// Points on each of a few lines, and of many: there are as many lines as coordinates, and one more.
const ALONG_FEW: usize = 17;
const ALONG_MANY: usize = 9;
/// Coordinates from which on lines are many.
const MANY: usize = 4;
/// Where the first point lies, in spacings from the end of the line. Samples of a fit lie at the ends
/// of boxes, in their middle and at Chebyshev points; there a fit is exact, and its error says nothing.
/// No such point is this part, the golden one, of a spacing away.
const FIRST: f64 = 0.381_966_011_250_105;
/// Points of the reduced model in one spacing, among which peaks are looked for.
const FINER: usize = 8;
/// Peaks of a line that get a point, and how far one rises above the mean.
const PEAKS: usize = 3;
const RISE: f64 = 1.5;

/// A straight line through the domain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// The coordinate it follows; none for the diagonal of the domain.
    pub axis: Option<usize>,
    /// One end.
    pub from: Vec<f64>,
    /// The other.
    pub to: Vec<f64>,
    /// Where its points are, as parts of the way, ascending: evenly spaced between the samples of
    /// the fit, and at peaks of mass and stiffness.
    pub parts: Vec<f64>,
    /// The points; none where full or reduced model do not exist.
    pub points: Vec<Option<ExactPoint>>,
}

/// Exact coefficients at one point, matrices row-major, and the errors of the reduced model there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExactPoint {
    /// M̄.
    pub mass: Vec<f64>,
    /// h̄, index (i·n + j)·n + k.
    pub gyroscopic: Vec<f64>,
    /// K̄.
    pub stiffness: Vec<f64>,
    /// D̄.
    pub damping: Vec<f64>,
    /// −∂V/∂η of everything conservative.
    pub force: Vec<f64>,
    /// −∂V/∂η of gravity.
    pub gravity: Vec<f64>,
    /// Positions of the outputs, three values each.
    pub positions: Vec<f64>,
    /// Lowest frequencies of the full model, θ and loaded dofs held, of the kept class (Hz).
    pub frequencies_hz: Vec<f64>,
    /// Relative error of each block.
    pub errors: Vec<(Block, f64)>,
}

impl Line {
    /// Point `part` of the way, from 0 to 1.
    pub fn at(&self, part: f64) -> Vec<f64> {
        let ends = self.from.iter().zip(&self.to);
        ends.map(|(a, b)| (1.0 - part) * a + part * b).collect()
    }
}

/// A line along each coordinate through the base point; for several also the diagonal.
fn lay(model: &ReducedModel, base: &[f64]) -> Result<Vec<Line>, InvalidModel> {
    let domain = &model.layout.domain;
    let s = base.len();
    let count = match s {
        1 => ALONG_ONE,
        2..MANY => ALONG_FEW,
        _ => ALONG_MANY,
    };
    let mut ends: Vec<(Option<usize>, Vec<f64>, Vec<f64>)> = (0..s)
        .map(|k| {
            let end = |value: f64| {
                let mut point = base.to_vec();
                point[k] = value;
                point
            };
            (Some(k), end(domain.lower[k]), end(domain.upper[k]))
        })
        .collect();
    if s > 1 {
        ends.push((None, domain.lower.clone(), domain.upper.clone()));
    }
    let evaluator = Evaluator::new(model)?;
    let lines = ends.into_par_iter().map(|(axis, from, to)| {
        let mut line = Line {
            axis,
            from,
            to,
            parts: Vec::new(),
            points: Vec::new(),
        };
        line.parts = (0..count)
            .map(|i| (i as f64 + FIRST) / count as f64)
            .collect();
        line.parts.extend(peaks(&evaluator, &line, FINER * count));
        line.parts.sort_by(f64::total_cmp);
        line.points = vec![None; line.parts.len()];
        line
    });
    Ok(lines.collect())
}

/// The highest peaks of diagonal entries of M̄ and K̄ on a line, as parts of the way: a dot that
/// misses them leaves open whether the reduced model's peak is the full one's.
fn peaks(evaluator: &Evaluator<'_>, line: &Line, count: usize) -> Vec<f64> {
    let mut work = Workspace::default();
    let mut curves: Vec<Vec<f64>> = Vec::new();
    for i in 0..=count {
        let theta = line.at(i as f64 / count as f64);
        let Ok(c) = evaluator.coefficients(&theta, &mut work) else {
            return Vec::new();
        };
        if c.status >= Status::Undefined {
            return Vec::new();
        }
        let n = c.force.len();
        let diagonals = (0..n).flat_map(|k| [c.mass[k * n + k], c.stiffness[k * n + k]]);
        curves.push(diagonals.collect());
    }
    let mut found: Vec<(f64, usize)> = (0..curves[0].len())
        .filter_map(|entry| {
            let of = |i: usize| curves[i][entry];
            let top = (0..=count).max_by(|&a, &b| of(a).total_cmp(&of(b)))?;
            let mean = (0..=count).map(of).sum::<f64>() / (count + 1) as f64;
            let inside = top > 0 && top < count;
            (inside && of(top) > RISE * mean).then(|| (of(top) / mean, top))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut places: Vec<usize> = Vec::new();
    for (_, top) in found {
        if places.len() < PEAKS && places.iter().all(|p| p.abs_diff(top) > 1) {
            places.push(top);
        }
    }
    places.iter().map(|&i| i as f64 / count as f64).collect()
}

pub(super) fn sample(
    model: &ReducedModel,
    local: &dyn LocalModel,
    reducer: &LocalReducer,
    base: &[f64],
    theta_of: &(dyn Fn(&[f64]) -> Vec<f64> + Sync),
) -> Result<Vec<Line>, InvalidModel> {
    let mut lines = lay(model, base)?;
    let points: Vec<Vec<f64>> = lines
        .iter()
        .flat_map(|line| line.parts.iter().map(|&part| line.at(part)))
        .collect();
    let traced = trace(model, local, &points)?;
    let frequencies: Vec<Vec<f64>> = points
        .par_iter()
        .zip(&traced)
        .map(|(point, found)| match found {
            Some(_) => true_frequencies_hz(reducer, &theta_of(point)).unwrap_or_default(),
            None => Vec::new(),
        })
        .collect();
    let mut found = traced.into_iter().zip(frequencies);
    for slot in lines.iter_mut().flat_map(|line| &mut line.points) {
        if let Some((Some(point), hz)) = found.next() {
            *slot = Some(ExactPoint::new(point, hz));
        }
    }
    Ok(lines)
}

/// As many of the lowest frequencies of the kept class as modes are kept.
fn true_frequencies_hz(reducer: &LocalReducer, theta: &[f64]) -> Option<Vec<f64>> {
    let kept = reducer.reference().shapes.ncols();
    if kept == 0 {
        return None;
    }
    let configuration = reducer.kinematics().solve(theta).ok()?;
    let at = reducer.linearise(&configuration).ok()?;
    class_frequencies_hz(&at, reducer.reference(), kept).ok()
}

impl ExactPoint {
    fn new(point: TracedPoint, frequencies_hz: Vec<f64>) -> Self {
        let exact = Arc::unwrap_or_clone(point.exact);
        Self {
            positions: exact.outputs.iter().flat_map(|o| o.position).collect(),
            mass: exact.mass,
            gyroscopic: point.gyroscopic,
            stiffness: exact.stiffness,
            damping: exact.damping,
            force: exact.force,
            gravity: exact.gravity,
            frequencies_hz,
            errors: point.errors,
        }
    }
}
