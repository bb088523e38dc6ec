//! Linear systems ẋ = Ax + Bu, y = Cx + Du of a mechanism with or without its blocks: poles, zeros,
//! frequency responses.

use crate::linalg::to_faer;
use nalgebra::linalg::Schur;
use nalgebra::linalg::balancing::balance_parlett_reinsch;
use nalgebra::{Complex, DMatrix};
use std::f64::consts::TAU;

/// Iterations of the QR algorithm per eigenvalue; a few are usual.
const ITERATIONS: usize = 100;

/// A linear system with names.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSystem {
    /// A.
    pub a: DMatrix<f64>,
    /// B.
    pub b: DMatrix<f64>,
    /// C.
    pub c: DMatrix<f64>,
    /// D.
    pub d: DMatrix<f64>,
    /// Names of the states.
    pub states: Vec<String>,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
}

/// A pole or a zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    /// Where it is (1/s).
    pub at: Complex<f64>,
}

impl Root {
    /// |s|/2π (Hz).
    pub fn frequency_hz(&self) -> f64 {
        self.at.norm() / TAU
    }

    /// −Re s/|s|: 1 for a decay without oscillation, negative where it grows; 0 at the origin.
    pub fn damping(&self) -> f64 {
        let size = self.at.norm();
        if size > 0.0 { -self.at.re / size } else { 0.0 }
    }
}

/// Roots by rising frequency, then by imaginary part, so that equal systems give equal lists.
pub(crate) fn sorted(values: impl Iterator<Item = Complex<f64>>) -> Vec<Root> {
    let mut roots: Vec<Root> = values.map(|at| Root { at }).collect();
    roots.sort_by(|a, b| {
        let (p, q) = (a.at, b.at);
        (p.norm().total_cmp(&q.norm())).then(p.im.total_cmp(&q.im))
    });
    roots
}

/// Eigenvalues of a matrix whose entries may differ by many powers of ten.
pub(crate) fn eigenvalues(mut matrix: DMatrix<f64>) -> Vec<Complex<f64>> {
    if matrix.is_empty() || matrix.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    balance_parlett_reinsch(&mut matrix);
    let most = ITERATIONS * matrix.nrows();
    match Schur::try_new(matrix.clone(), f64::EPSILON, most) {
        Some(schur) => schur.complex_eigenvalues().iter().copied().collect(),
        // Its shifts can go round in a circle, for ever; those of another implementation are other ones.
        None => to_faer(&matrix).eigenvalues().unwrap_or_default(),
    }
}

impl LinearSystem {
    /// Eigenvalues of A.
    pub fn poles(&self) -> Vec<Root> {
        sorted(eigenvalues(self.a.clone()).into_iter())
    }

    /// Transmission zeros between as many inputs as outputs; none where the system is singular for
    /// every s.
    ///
    /// Where [A − s, B; C, D] is singular. With a shift s₀ its inverse times diag(I, 0) has the
    /// eigenvalues 1/(s − s₀), and 0 for zeros at infinity.
    pub fn zeros(&self, inputs: &[usize], outputs: &[usize]) -> Option<Vec<Root>> {
        let (n, m) = (self.a.nrows(), inputs.len());
        if m != outputs.len() || n == 0 {
            return None;
        }
        let size = self.a.norm().max(1.0);
        let shift = std::f64::consts::FRAC_1_PI * size / n as f64;
        let mut pencil = DMatrix::zeros(n + m, n + m);
        pencil.view_mut((0, 0), (n, n)).copy_from(&self.a);
        for k in 0..n {
            pencil[(k, k)] -= shift;
        }
        for (j, input) in inputs.iter().enumerate() {
            pencil
                .view_mut((0, n + j), (n, 1))
                .copy_from(&self.b.column(*input));
            for (i, output) in outputs.iter().enumerate() {
                pencil[(n + i, n + j)] = self.d[(*output, *input)];
            }
        }
        for (i, output) in outputs.iter().enumerate() {
            pencil
                .view_mut((n + i, 0), (1, n))
                .copy_from(&self.c.row(*output));
        }
        let mut right = DMatrix::zeros(n + m, n);
        right.fill_diagonal(1.0);
        let solved = pencil.lu().solve(&right)?;
        let values = eigenvalues(solved.rows(0, n).into_owned());
        let largest = values.iter().fold(0.0_f64, |most, v| most.max(v.norm()));
        // A zero at infinity of order r is spread to the r-th root of rounding.
        let finite = values.into_iter().filter(|v| v.norm() > 1e-4 * largest);
        let one = Complex::new(1.0, 0.0);
        Some(sorted(finite.map(|v| one / v + Complex::new(shift, 0.0))))
    }

    /// C(jω − A)⁻¹B + D at a frequency: one row per output, one column per input; none at a pole.
    pub fn response(&self, frequency_hz: f64) -> Option<DMatrix<Complex<f64>>> {
        let complex = |m: &DMatrix<f64>| m.map(|v| Complex::new(v, 0.0));
        let n = self.a.nrows();
        let turning = Complex::new(0.0, TAU * frequency_hz);
        let matrix = DMatrix::from_diagonal_element(n, n, turning) - complex(&self.a);
        let states = matrix.lu().solve(&complex(&self.b))?;
        Some(complex(&self.c) * states + complex(&self.d))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (s + 3)/(s² + 0.4 s + 4) in companion form.
    fn example() -> LinearSystem {
        let name = |text: &str| vec![text.to_owned()];
        LinearSystem {
            a: DMatrix::from_row_slice(2, 2, &[-0.4, -4.0, 1.0, 0.0]),
            b: DMatrix::from_row_slice(2, 1, &[1.0, 0.0]),
            c: DMatrix::from_row_slice(1, 2, &[1.0, 3.0]),
            d: DMatrix::zeros(1, 1),
            states: vec![String::new(); 2],
            inputs: name("u"),
            outputs: name("y"),
        }
    }

    #[test]
    fn poles_zeros_and_response_of_a_known_system() {
        let system = example();
        let poles = system.poles();
        assert!(
            (poles[0].at.norm() - 2.0).abs() < 1e-12 && (poles[0].damping() - 0.1).abs() < 1e-12
        );
        let zeros = system.zeros(&[0], &[0]).unwrap();
        assert_eq!(zeros.len(), 1);
        assert!(
            (zeros[0].at - Complex::new(-3.0, 0.0)).norm() < 1e-9,
            "{zeros:?}"
        );
        let s = Complex::new(0.0, 1.5);
        let expected = (s + 3.0) / (s * s + s * 0.4 + 4.0);
        let found = system.response(1.5 / TAU).unwrap()[(0, 0)];
        assert!((found - expected).norm() < 1e-13, "{found} {expected}");
    }
}
