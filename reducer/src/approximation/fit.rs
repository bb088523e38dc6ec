//! Polynomials through samples.

use super::least_squares::LeastSquares;
use super::region::Region;
use super::sample::{Sample, has_gradient};
use crate::reduced_model::{Component, PolynomialValues, Table};
use faer::Mat;

/// How a table is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FitOptions {
    /// Use exact gradients where samples have them.
    pub gradients: bool,
    /// s = 1: pass through the samples at the box's ends.
    pub interpolate_ends: bool,
}

/// Fits all components at once. Samples must determine the terms (as many as terms at least).
pub(super) fn fit(
    samples: &[&Sample],
    region: &Region,
    terms: &[Vec<u8>],
    components: &[Component],
    options: FitOptions,
) -> Table {
    let mut table = Table {
        terms: terms.to_vec(),
        coefficients: vec![0.0; terms.len() * components.len()],
    };
    let with_gradient = |c: &Component| options.gradients && has_gradient(*c);
    for gradients in [true, false] {
        let columns: Vec<usize> = (0..components.len())
            .filter(|&i| with_gradient(&components[i]) == gradients)
            .collect();
        if !columns.is_empty() {
            let part: Vec<Component> = columns.iter().map(|&i| components[i]).collect();
            let solution = if options.interpolate_ends {
                fit_between_ends(samples, region, terms, &part, gradients)
            } else {
                fit_free(samples, region, terms, &part, gradients)
            };
            for (j, &column) in columns.iter().enumerate() {
                for m in 0..terms.len() {
                    table.coefficients[m * components.len() + column] = solution[(m, j)];
                }
            }
        }
    }
    table
}

/// Values, then gradients times half width over degree (about the size of the derivative of a
/// Chebyshev polynomial in the mean), of every term at every sample.
fn design(
    samples: &[&Sample],
    region: &Region,
    terms: &[Vec<u8>],
    gradients: bool,
) -> (Mat<f64>, Vec<f64>) {
    let s = region.dimension();
    let degree = terms
        .iter()
        .map(|t| t.iter().map(|&d| u32::from(d)).sum::<u32>())
        .max()
        .unwrap_or(0)
        .max(1);
    let weights: Vec<f64> = (0..s)
        .map(|k| 0.5 * region.width(k) / f64::from(degree))
        .collect();
    let blocks = if gradients { 1 + s } else { 1 };
    let degrees: Vec<u8> = terms.iter().flatten().copied().collect();
    let mut matrix = Mat::zeros(blocks * samples.len(), terms.len());
    let mut at = PolynomialValues::default();
    for (i, sample) in samples.iter().enumerate() {
        at.fill(&degrees, sample.theta(), &region.lower, &region.upper);
        for (m, v) in at.terms().iter().enumerate() {
            matrix[(i, m)] = *v;
        }
        for k in 0..blocks - 1 {
            for (m, v) in at.gradient(k).iter().enumerate() {
                matrix[((k + 1) * samples.len() + i, m)] = weights[k] * v;
            }
        }
    }
    (matrix, weights)
}

/// Values and weighted gradients of the components, in the order of [`design`].
fn observations(
    samples: &[&Sample],
    components: &[Component],
    weights: &[f64],
    gradients: bool,
) -> Mat<f64> {
    let blocks = if gradients { 1 + weights.len() } else { 1 };
    Mat::from_fn(blocks * samples.len(), components.len(), |row, j| {
        let (block, i) = (row / samples.len(), row % samples.len());
        if block == 0 {
            samples[i].value(components[j])
        } else {
            weights[block - 1] * samples[i].slope(components[j], block - 1)
        }
    })
}

fn fit_free(
    samples: &[&Sample],
    region: &Region,
    terms: &[Vec<u8>],
    components: &[Component],
    gradients: bool,
) -> Mat<f64> {
    let (matrix, weights) = design(samples, region, terms, gradients);
    let right = observations(samples, components, &weights, gradients);
    LeastSquares::new(matrix).solve(right)
}

/// s = 1: T₀ and T₁ carry the values at the ends, the rest is fitted with T_k − T_{k mod 2},
/// which vanish there.
fn fit_between_ends(
    samples: &[&Sample],
    region: &Region,
    terms: &[Vec<u8>],
    components: &[Component],
    gradients: bool,
) -> Mat<f64> {
    let at_end = |end: f64| samples.iter().find(|p| p.theta()[0] == end);
    let (Some(low), Some(high)) = (at_end(region.lower[0]), at_end(region.upper[0])) else {
        return fit_free(samples, region, terms, components, gradients);
    };
    let (matrix, weights) = design(samples, region, terms, gradients);
    let mut right = observations(samples, components, &weights, gradients);
    let ends: Vec<[f64; 2]> = components
        .iter()
        .map(|&c| {
            [
                0.5 * (high.value(c) + low.value(c)),
                0.5 * (high.value(c) - low.value(c)),
            ]
        })
        .collect();
    for i in 0..right.nrows() {
        for (j, end) in ends.iter().enumerate() {
            right[(i, j)] -= matrix[(i, 0)] * end[0] + matrix[(i, 1)] * end[1];
        }
    }
    let parity = |m: usize| usize::from(terms[m][0] % 2);
    let inner = Mat::from_fn(matrix.nrows(), terms.len() - 2, |i, m| {
        matrix[(i, m + 2)] - matrix[(i, parity(m + 2))]
    });
    let solution = if terms.len() > 2 {
        LeastSquares::new(inner).solve(right)
    } else {
        Mat::zeros(0, components.len())
    };
    let mut all = Mat::zeros(terms.len(), components.len());
    for (j, end) in ends.iter().enumerate() {
        all[(0, j)] = end[0];
        all[(1, j)] = end[1];
        for m in 2..terms.len() {
            all[(m, j)] = solution[(m - 2, j)];
            all[(parity(m), j)] -= solution[(m - 2, j)];
        }
    }
    all
}
