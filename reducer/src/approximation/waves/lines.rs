//! Samples along single coordinates, which show what functions of them there are.

use super::super::database::DatabaseError;
use super::super::points::halton;
use super::super::sample::Sample;
use super::super::store::SampleStore;
use super::axis::{Axis, Family, Span};
use crate::reduced_model::{Component, Domain, Functions};
use std::sync::Arc;

/// How many lines there are along every θ, and how many points they have along an angle and along a length.
pub(super) struct Extent {
    pub lines: u64,
    pub waves: usize,
    pub polynomials: usize,
}

impl Extent {
    pub fn points(&self, functions: Functions) -> usize {
        match functions {
            Functions::Waves => self.waves,
            Functions::Polynomials => self.polynomials,
        }
    }
}

/// Samples that differ in one θ alone.
pub(super) struct Line {
    nodes: Vec<f64>,
    samples: Vec<Arc<Sample>>,
}

/// Lines along θ_k through points of the domain; nothing where a sample fails.
pub(super) fn take(
    axis: &Axis,
    k: usize,
    domain: &Domain,
    extent: &Extent,
    store: &mut SampleStore,
) -> Result<Option<Vec<Line>>, DatabaseError> {
    let nodes = axis.nodes(extent.points(axis.functions));
    let mut all = Vec::new();
    for line in 0..extent.lines {
        let ends = domain.lower.iter().zip(&domain.upper);
        let through: Vec<f64> = (ends.zip(halton(line, 0x11e5, domain.lower.len())))
            .map(|((low, high), u)| low + u * (high - low))
            .collect();
        let point = |node: &f64| {
            let mut point = through.clone();
            point[k] = *node;
            point
        };
        let points: Vec<Vec<f64>> = nodes.iter().map(point).collect();
        let Some(samples) = samples(store, &points)? else {
            return Ok(None);
        };
        all.push(Line {
            nodes: nodes.clone(),
            samples,
        });
    }
    Ok(Some(all))
}

/// Samples at points; nothing where one fails.
pub(super) fn samples(
    store: &mut SampleStore,
    points: &[Vec<f64>],
) -> Result<Option<Vec<Arc<Sample>>>, DatabaseError> {
    store.require(points)?;
    Ok(points.iter().map(|p| store.get(p)).collect())
}

impl Line {
    /// Coefficients of components in a family of functions of θ_k, as many as its points tell apart.
    pub fn coefficients(
        &self,
        axis: &Axis,
        k: usize,
        family: Family,
        components: &[Component],
    ) -> Option<Vec<Vec<f64>>> {
        let points = self.nodes.len();
        let count = match family {
            Family::HalfWaves => points - points % 2,
            Family::Waves => points - (points + 1) % 2,
            Family::Polynomials => points,
        };
        let inverse = axis.inverse(&self.nodes, Span::new(family, count))?;
        let of = |component: &Component| {
            let signs = self.signs(k, *component);
            let values: Vec<f64> = (self.samples.iter().zip(signs))
                .map(|(s, sign)| sign * s.value(*component))
                .collect();
            let row = |i: usize| inverse.row(i).iter().zip(&values).map(|(a, v)| a * v).sum();
            (0..count).map(row).collect()
        };
        Some(components.iter().map(of).collect())
    }

    /// The quaternion of an output changes its sign with every turn of θ_k.
    pub fn changes_sign(&self, k: usize, output: usize) -> bool {
        let component = Component::Quaternion { output, entry: 0 };
        let signs = self.signs(k, component);
        let (Some(last), Some(first)) = (self.samples.last(), self.samples.first()) else {
            return false;
        };
        let step = std::f64::consts::TAU / self.samples.len() as f64;
        signs.last() != Some(&continued(last, first, output, k, step))
    }

    /// Signs that make a quaternion continuous; one for anything else.
    fn signs(&self, k: usize, component: Component) -> Vec<f64> {
        let Component::Quaternion { output, .. } = component else {
            return vec![1.0; self.samples.len()];
        };
        let mut signs = vec![1.0; self.samples.len()];
        for i in 1..signs.len() {
            let step = self.nodes[i] - self.nodes[i - 1];
            let sign = continued(&self.samples[i - 1], &self.samples[i], output, k, step);
            signs[i] = signs[i - 1] * sign;
        }
        signs
    }
}

/// Sign with which the quaternion of an output at `to` continues that at `from`, a step of θ_k before. A body that turns
/// about an axis at rest by the angle a has q cos a/2 + 2 ∂q sin a/2.
pub(super) fn continued(from: &Sample, to: &Sample, output: usize, k: usize, step: f64) -> f64 {
    let agreement: f64 = (0..4)
        .map(|entry| {
            let component = Component::Quaternion { output, entry };
            let slope = from.slope(component, k).unwrap_or(0.0);
            let size = turning_rate(from, output, k);
            let (sine, cosine) = (0.5 * size * step).sin_cos();
            let along = if size > 0.0 { 2.0 * slope / size } else { 0.0 };
            let expected = cosine * from.value(component) + sine * along;
            expected * to.value(component)
        })
        .sum();
    if agreement < 0.0 { -1.0 } else { 1.0 }
}

/// Angular velocity of an output per rate of θ_k.
fn turning_rate(sample: &Sample, output: usize, k: usize) -> f64 {
    let n = sample.exact.n();
    let jacobian = &sample.exact.outputs[output].jacobian;
    let squares = (3..6).map(|row| jacobian[row * n + k].powi(2));
    squares.sum::<f64>().sqrt()
}
