//! Products of Chebyshev polynomials on a box: values, directional and adjoint derivatives.

use super::Table;

/// A table made ready for evaluation.
#[derive(Debug, Clone)]
pub(super) struct FlatTable {
    n_components: usize,
    n_theta: usize,
    /// `[term][θ]`.
    degrees: Vec<u8>,
    /// `[term][component]`.
    coefficients: Vec<f64>,
}

/// Values and gradients of the terms of a table at one θ.
#[derive(Debug, Clone, Default)]
pub struct PolynomialValues {
    /// Chebyshev polynomials and derivatives, `[θ][degree]`.
    univariate: Vec<f64>,
    slopes: Vec<f64>,
    /// Values of the terms.
    terms: Vec<f64>,
    /// Derivatives of the terms, `[θ][term]`.
    gradients: Vec<f64>,
}

impl FlatTable {
    pub(super) fn new(table: &Table, n_theta: usize, n_components: usize) -> Self {
        Self {
            n_components,
            n_theta,
            degrees: table.terms.iter().flatten().copied().collect(),
            coefficients: table.coefficients.clone(),
        }
    }

    /// Prepares `at` for this table: `theta` in the box between `lower` and `upper`.
    pub(super) fn locate(
        &self,
        theta: &[f64],
        lower: &[f64],
        upper: &[f64],
        at: &mut PolynomialValues,
    ) {
        at.fill(&self.degrees, theta, lower, upper);
    }

    /// Values of all components.
    pub(super) fn values(&self, at: &PolynomialValues, out: &mut [f64]) {
        self.combine(&at.terms, out);
    }

    /// Derivatives of all components along `direction` in θ; `scratch` holds one value per term.
    pub(super) fn directional(
        &self,
        at: &PolynomialValues,
        direction: &[f64],
        scratch: &mut Vec<f64>,
        out: &mut [f64],
    ) {
        let n_terms = at.terms.len();
        scratch.clear();
        scratch.resize(n_terms, 0.0);
        for (k, &rate) in direction.iter().enumerate() {
            for (sum, slope) in scratch
                .iter_mut()
                .zip(&at.gradients[k * n_terms..(k + 1) * n_terms])
            {
                *sum += rate * slope;
            }
        }
        self.combine(scratch, out);
    }

    /// Adds the gradient in θ of Σ_c weights_c f_c(θ) to `out`.
    pub(super) fn adjoint(&self, at: &PolynomialValues, weights: &[f64], out: &mut [f64]) {
        let n_terms = at.terms.len();
        if self.n_components == 0 {
            return;
        }
        for (m, row) in self
            .coefficients
            .chunks_exact(self.n_components)
            .enumerate()
        {
            let along: f64 = row.iter().zip(weights).map(|(c, w)| c * w).sum();
            for (k, slope) in out.iter_mut().enumerate().take(self.n_theta) {
                *slope += along * at.gradients[k * n_terms + m];
            }
        }
    }

    /// Second derivatives of all components, `[θ_k][θ_l][component]`.
    pub(super) fn hessian(&self, theta: &[f64], lower: &[f64], upper: &[f64]) -> Vec<f64> {
        let s = self.n_theta;
        let size = usize::from(self.degrees.iter().copied().max().unwrap_or(0)) + 1;
        // T, T′ and T″ of every θ.
        let mut univariate = vec![vec![0.0; s * size]; 3];
        for k in 0..s {
            let half = 0.5 * (upper[k] - lower[k]);
            let xi = (theta[k] - 0.5 * (lower[k] + upper[k])) / half;
            for degree in 0..size {
                let at = chebyshev_triple(xi, 1.0 / half, degree);
                for (order, value) in at.into_iter().enumerate() {
                    univariate[order][k * size + degree] = value;
                }
            }
        }
        let mut out = vec![0.0; s * s * self.n_components];
        let mut products = vec![0.0; self.degrees.len() / s.max(1)];
        for k in 0..s {
            for l in 0..s {
                for (product, term) in products.iter_mut().zip(self.degrees.chunks_exact(s)) {
                    let order = |i: usize| usize::from(i == k) + usize::from(i == l);
                    let factor = |i: usize| univariate[order(i)][i * size + usize::from(term[i])];
                    *product = (0..s).map(factor).product();
                }
                let place = (k * s + l) * self.n_components;
                self.combine(&products, &mut out[place..place + self.n_components]);
            }
        }
        out
    }

    fn combine(&self, factors: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        if self.n_components == 0 {
            return;
        }
        for (factor, row) in factors
            .iter()
            .zip(self.coefficients.chunks_exact(self.n_components))
        {
            for (sum, c) in out.iter_mut().zip(row) {
                *sum += factor * c;
            }
        }
    }
}

impl PolynomialValues {
    /// Evaluates the terms `degrees` (`[term][θ]`) and their gradients at `theta`.
    pub fn fill(&mut self, degrees: &[u8], theta: &[f64], lower: &[f64], upper: &[f64]) {
        let s = theta.len();
        let n_terms = degrees.len() / s.max(1);
        let size = degrees.iter().copied().max().unwrap_or(0) as usize + 1;
        self.univariate.resize(s * size, 0.0);
        self.slopes.resize(s * size, 0.0);
        for k in 0..s {
            let half = 0.5 * (upper[k] - lower[k]);
            let xi = (theta[k] - 0.5 * (lower[k] + upper[k])) / half;
            let span = k * size..(k + 1) * size;
            chebyshev(
                xi,
                1.0 / half,
                &mut self.univariate[span.clone()],
                &mut self.slopes[span],
            );
        }
        self.terms.resize(n_terms, 0.0);
        self.gradients.resize(s * n_terms, 0.0);
        for (m, term) in degrees.chunks_exact(s.max(1)).enumerate() {
            let value = |k: usize| self.univariate[k * size + term[k] as usize];
            self.terms[m] = (0..s).map(value).product();
            for (k, &degree) in term.iter().enumerate() {
                let others: f64 = (0..s).filter(|&i| i != k).map(value).product();
                self.gradients[k * n_terms + m] = others * self.slopes[k * size + degree as usize];
            }
        }
    }

    /// Values of the terms.
    pub fn terms(&self) -> &[f64] {
        &self.terms
    }

    /// Derivatives of the terms with respect to θ_k.
    pub fn gradient(&self, k: usize) -> &[f64] {
        let n = self.terms.len();
        &self.gradients[k * n..(k + 1) * n]
    }
}

/// T_d at ξ, its derivative times `scale` and its second derivative times `scale`².
fn chebyshev_triple(xi: f64, scale: f64, degree: usize) -> [f64; 3] {
    let (mut last, mut here) = ([0.0; 3], [1.0, 0.0, 0.0]);
    for k in 0..degree {
        let next = if k == 0 {
            [xi, scale, 0.0]
        } else {
            [
                2.0 * xi * here[0] - last[0],
                2.0 * (scale * here[0] + xi * here[1]) - last[1],
                2.0 * (2.0 * scale * here[1] + xi * here[2]) - last[2],
            ]
        };
        (last, here) = (here, next);
    }
    here
}

/// T_0 … T_d at ξ and their derivatives times `scale`.
fn chebyshev(xi: f64, scale: f64, values: &mut [f64], slopes: &mut [f64]) {
    values[0] = 1.0;
    slopes[0] = 0.0;
    if values.len() > 1 {
        values[1] = xi;
        slopes[1] = scale;
    }
    for k in 2..values.len() {
        values[k] = 2.0 * xi * values[k - 1] - values[k - 2];
        slopes[k] = 2.0 * (scale * values[k - 1] + xi * slopes[k - 1]) - slopes[k - 2];
    }
}
