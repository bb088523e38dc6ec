//! Products of Chebyshev polynomials on a box, or of waves, for fits.

use super::Functions;

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
    /// In which θ they are waves, of so many θ; empty where in none.
    waves: Vec<bool>,
    per_angle: f64,
}

impl PolynomialValues {
    /// For a table of the dynamics, or of the outputs, with these functions of every θ.
    pub fn new(functions: &[Functions], is_output: bool) -> Self {
        Self {
            waves: functions.iter().map(|f| *f == Functions::Waves).collect(),
            per_angle: if is_output { 0.5 } else { 1.0 },
            ..Self::default()
        }
    }

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
            let span = k * size..(k + 1) * size;
            let (values, slopes) = (&mut self.univariate[span.clone()], &mut self.slopes[span]);
            if self.waves.get(k) == Some(&true) {
                waves(theta[k], self.per_angle, values, slopes);
                continue;
            }
            let half = 0.5 * (upper[k] - lower[k]);
            let xi = (theta[k] - 0.5 * (lower[k] + upper[k])) / half;
            chebyshev(xi, 1.0 / half, values, slopes);
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

/// 1, cos φ, sin φ, cos 2φ, … with φ = `per_angle` θ, and their derivatives by θ.
fn waves(theta: f64, per_angle: f64, values: &mut [f64], slopes: &mut [f64]) {
    for (i, (value, slope)) in values.iter_mut().zip(slopes).enumerate() {
        let frequency = i.div_ceil(2) as f64 * per_angle;
        let (sine, cosine) = (frequency * theta).sin_cos();
        (*value, *slope) = match i % 2 {
            1 => (cosine, -frequency * sine),
            _ if i > 0 => (sine, frequency * cosine),
            _ => (1.0, 0.0),
        };
    }
}
