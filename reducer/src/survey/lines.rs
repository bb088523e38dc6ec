//! Exact coefficients along lines through the domain.

use crate::approximation::{LocalModel, TracedPoint, trace};
use crate::modes::class_frequencies_hz;
use crate::reduced_model::{Block, InvalidModel, ReducedModel};
use crate::reduction::LocalReducer;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// Points on the line of the only coordinate.
const ALONG_ONE: usize = 57;
/// Points on each of several lines.
const ALONG_MANY: usize = 17;

/// A straight line through the domain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// The coordinate it follows; none for the diagonal of the domain.
    pub axis: Option<usize>,
    /// One end.
    pub from: Vec<f64>,
    /// The other.
    pub to: Vec<f64>,
    /// Evenly spaced points; none where full or reduced model do not exist.
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
fn lay(model: &ReducedModel, base: &[f64]) -> Vec<Line> {
    let domain = &model.layout.domain;
    let s = base.len();
    let count = if s == 1 { ALONG_ONE } else { ALONG_MANY };
    let line = |axis, from, to| Line {
        axis,
        from,
        to,
        points: vec![None; count],
    };
    let mut lines: Vec<Line> = (0..s)
        .map(|k| {
            let end = |value: f64| {
                let mut point = base.to_vec();
                point[k] = value;
                point
            };
            line(Some(k), end(domain.lower[k]), end(domain.upper[k]))
        })
        .collect();
    if s > 1 {
        lines.push(line(None, domain.lower.clone(), domain.upper.clone()));
    }
    lines
}

pub(super) fn sample(
    model: &ReducedModel,
    local: &dyn LocalModel,
    reducer: &LocalReducer,
    base: &[f64],
    theta_of: &(dyn Fn(&[f64]) -> Vec<f64> + Sync),
) -> Result<Vec<Line>, InvalidModel> {
    let mut lines = lay(model, base);
    let points: Vec<Vec<f64>> = lines
        .iter()
        .flat_map(|line| {
            let last = (line.points.len() - 1) as f64;
            (0..line.points.len()).map(move |i| line.at(i as f64 / last))
        })
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
