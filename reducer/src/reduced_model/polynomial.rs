//! Products of Chebyshev polynomials on a box, for fits.

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

impl PolynomialValues {
    /// Evaluates the terms `degrees` (`[term][θ]`) and their gradients at `theta`.
    pub fn fill(&mut self, degrees: &[u8], theta: &[f64], lower: &[f64], upper: &[f64]) {
        self.fill_values(degrees, theta, lower, upper);
        let (s, n_terms) = (theta.len(), self.terms.len());
        let size = self.univariate.len() / s.max(1);
        self.gradients.resize(s * n_terms, 0.0);
        for (m, term) in degrees.chunks_exact(s.max(1)).enumerate() {
            let value = |k: usize| self.univariate[k * size + term[k] as usize];
            for (k, &degree) in term.iter().enumerate() {
                let others: f64 = (0..s).filter(|&i| i != k).map(value).product();
                self.gradients[k * n_terms + m] = others * self.slopes[k * size + degree as usize];
            }
        }
    }

    /// Evaluates the terms alone; gradients are then undefined.
    pub fn fill_values(&mut self, degrees: &[u8], theta: &[f64], lower: &[f64], upper: &[f64]) {
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
        for (m, term) in degrees.chunks_exact(s.max(1)).enumerate() {
            self.terms[m] = (0..s)
                .map(|k| self.univariate[k * size + term[k] as usize])
                .product();
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
