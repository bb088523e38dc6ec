//! Polynomials [M 9.1] through samples.

use super::least_squares::LeastSquares;
use super::region::Region;
use super::sample::Sample;
use crate::description::mechanism::Criterion;
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

/// Weights that make least squares serve the error that is measured: relative to the size of the
/// gyroscopic tensor (the most demanding block), and, for a mean over the box, undoing the
/// crowding of samples at the faces.
pub(super) fn sample_weights(
    samples: &[&Sample],
    region: &Region,
    criterion: Criterion,
) -> Vec<f64> {
    let sizes: Vec<f64> = samples.iter().map(|p| p.gyroscopic_size).collect();
    let mean = sizes.iter().sum::<f64>() / sizes.len().max(1) as f64;
    let relative = |size: f64| {
        if mean > 0.0 {
            mean / size.max(0.1 * mean)
        } else {
            1.0
        }
    };
    let crowding = |theta: &[f64]| -> f64 {
        let inverse_density = |k: usize| {
            let xi = 2.0 * (theta[k] - region.middle(k)) / region.width(k);
            (1.0 - xi * xi).max(0.0).sqrt().max(0.05)
        };
        (0..theta.len()).map(inverse_density).product()
    };
    samples
        .iter()
        .zip(sizes)
        .map(|(sample, size)| match criterion {
            Criterion::Mean => (relative(size) * crowding(sample.theta())).sqrt(),
            Criterion::Max => relative(size),
        })
        .collect()
}

/// Samples with a weight each, to be fitted on a box with the given terms.
pub(super) struct Fit<'a> {
    pub samples: &'a [&'a Sample],
    pub weights: &'a [f64],
    pub region: &'a Region,
    pub terms: &'a [Vec<u8>],
    pub options: FitOptions,
}

impl Fit<'_> {
    /// Fits all components at once, those with gradients in one system and the others in a second
    /// one. There must be at least as many samples as terms.
    pub fn table(&self, components: &[Component]) -> Table {
        let mut table = Table {
            terms: self.terms.to_vec(),
            coefficients: vec![0.0; self.terms.len() * components.len()],
        };
        for gradients in [true, false] {
            let belongs =
                |c: Component| (self.options.gradients && self.has_gradient(c)) == gradients;
            let columns: Vec<usize> = (0..components.len())
                .filter(|&i| belongs(components[i]))
                .collect();
            if columns.is_empty() {
                continue;
            }
            let part: Vec<Component> = columns.iter().map(|&i| components[i]).collect();
            let solution = self.solve(&part, gradients);
            for (j, &column) in columns.iter().enumerate() {
                for m in 0..self.terms.len() {
                    table.coefficients[m * components.len() + column] = solution[(m, j)];
                }
            }
        }
        table
    }

    /// Samples carry the gradient of this component.
    fn has_gradient(&self, component: Component) -> bool {
        let first = self.samples.first();
        first.is_some_and(|sample| sample.slope(component, 0).is_some())
    }

    fn solve(&self, components: &[Component], gradients: bool) -> Mat<f64> {
        let matrix = self.matrix(gradients);
        let right = self.observations(components, gradients);
        match self.ends().filter(|_| self.options.interpolate_ends) {
            Some(ends) => self.solve_between_ends(matrix, right, components, ends),
            None => LeastSquares::new(matrix).solve(right),
        }
    }

    /// Weights of the gradient rows: half width over degree, about the inverse size of the
    /// derivative of a Chebyshev polynomial.
    fn slope_weight(&self, k: usize) -> f64 {
        let total = |t: &Vec<u8>| t.iter().map(|&d| u32::from(d)).sum::<u32>();
        let degree = self.terms.iter().map(total).max().unwrap_or(0).max(1);
        0.5 * self.region.width(k) / f64::from(degree)
    }

    /// Rows: values of the terms at every sample, then derivatives along each coordinate.
    fn matrix(&self, gradients: bool) -> Mat<f64> {
        let (n, s) = (self.samples.len(), self.region.dimension());
        let blocks = if gradients { 1 + s } else { 1 };
        let slope_weights: Vec<f64> = (0..s).map(|k| self.slope_weight(k)).collect();
        let degrees: Vec<u8> = self.terms.iter().flatten().copied().collect();
        let mut matrix = Mat::zeros(blocks * n, self.terms.len());
        let mut at = PolynomialValues::default();
        for (i, sample) in self.samples.iter().enumerate() {
            at.fill(
                &degrees,
                sample.theta(),
                &self.region.lower,
                &self.region.upper,
            );
            for (m, v) in at.terms().iter().enumerate() {
                matrix[(i, m)] = self.weights[i] * v;
            }
            for k in 0..blocks - 1 {
                let weight = self.weights[i] * slope_weights[k];
                for (m, v) in at.gradient(k).iter().enumerate() {
                    matrix[((k + 1) * n + i, m)] = weight * v;
                }
            }
        }
        matrix
    }

    /// Values and gradients of the components, in the rows of [`matrix`](Self::matrix).
    fn observations(&self, components: &[Component], gradients: bool) -> Mat<f64> {
        let (n, s) = (self.samples.len(), self.region.dimension());
        let blocks = if gradients { 1 + s } else { 1 };
        let slope_weights: Vec<f64> = (0..s).map(|k| self.slope_weight(k)).collect();
        let mut right = Mat::zeros(blocks * n, components.len());
        for (i, (sample, &weight)) in self.samples.iter().zip(self.weights).enumerate() {
            for (j, &component) in components.iter().enumerate() {
                right[(i, j)] = weight * sample.value(component);
            }
            for k in 0..blocks - 1 {
                let weight = weight * slope_weights[k];
                for (j, &component) in components.iter().enumerate() {
                    let slope = sample.slope(component, k).unwrap_or(f64::NAN);
                    right[((k + 1) * n + i, j)] = weight * slope;
                }
            }
        }
        right
    }

    /// s = 1: the samples at the ends of the box.
    fn ends(&self) -> Option<[&Sample; 2]> {
        let at = |end: f64| self.samples.iter().find(|p| p.theta()[0] == end).copied();
        Some([at(self.region.lower[0])?, at(self.region.upper[0])?])
    }

    /// s = 1: T₀ and T₁ carry the values at the ends, the rest is fitted with T_k − T_{k mod 2},
    /// which vanish there. The first two terms must be T₀ and T₁.
    fn solve_between_ends(
        &self,
        matrix: Mat<f64>,
        mut right: Mat<f64>,
        components: &[Component],
        ends: [&Sample; 2],
    ) -> Mat<f64> {
        let n_terms = self.terms.len();
        let mut all = Mat::zeros(n_terms, components.len());
        for (j, &c) in components.iter().enumerate() {
            let [low, high] = ends.map(|p| p.value(c));
            (all[(0, j)], all[(1, j)]) = (0.5 * (high + low), 0.5 * (high - low));
            for i in 0..right.nrows() {
                right[(i, j)] -= matrix[(i, 0)] * all[(0, j)] + matrix[(i, 1)] * all[(1, j)];
            }
        }
        if n_terms > 2 {
            let parity = |m: usize| usize::from(self.terms[m][0] % 2);
            let column = |i: usize, m: usize| matrix[(i, m + 2)] - matrix[(i, parity(m + 2))];
            let solution =
                LeastSquares::new(Mat::from_fn(matrix.nrows(), n_terms - 2, column)).solve(right);
            for j in 0..components.len() {
                for m in 2..n_terms {
                    all[(m, j)] = solution[(m - 2, j)];
                    all[(parity(m), j)] -= solution[(m - 2, j)];
                }
            }
        }
        all
    }
}
