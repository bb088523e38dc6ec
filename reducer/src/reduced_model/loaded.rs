//! Natural frequencies of a model about the deflection that its loads and its motion hold.

use super::evaluate::{EvaluationError, Evaluator, Status, Workspace};
use crate::linalg::quadratic_eigenvalues;
use faer::Mat;
use faer::linalg::solvers::Solve;
use std::f64::consts::TAU;

impl Evaluator<'_> {
    /// Frequencies (Hz, ascending) with θ held to its motion, Coriolis terms included, damping left out,
    /// about the modal coordinates that follow the motion quasi-statically; zero for a direction in which
    /// they are unstable. None where there is no such deflection.
    pub fn loaded_frequencies_hz(
        &self,
        theta: &[f64],
        rate: &[f64],
        accel: &[f64],
        work: &mut Workspace,
    ) -> Result<Option<Vec<f64>>, EvaluationError> {
        let (n, s) = (self.n(), self.n_rigid());
        let (_, modal, status) = self.feedforward(theta, rate, accel, work)?;
        if status >= Status::Undefined {
            return Ok(None);
        }
        if n == s {
            return Ok(Some(Vec::new()));
        }
        let with_zeros = |values: &[f64]| [values, &vec![0.0; n - s]].concat();
        let (eta, rate, accel) = (
            [theta, &modal].concat(),
            with_zeros(rate),
            with_zeros(accel),
        );
        let mut force = vec![0.0; n];
        self.inverse_dynamics(&eta, &rate, &accel, &mut force, work)?;
        let (linear, status) = self.linearize(&eta, &rate, &force, work)?;
        if status >= Status::Undefined {
            return Ok(None);
        }
        // B holds M⁻¹, A holds −M⁻¹ times the derivatives of the force by η and by its rate.
        let inverse = Mat::from_fn(n, n, |i, j| linear.b[(n + i) * n + j]);
        let derivatives = Mat::from_fn(n, 2 * n, |i, j| -linear.a[(n + i) * 2 * n + j]);
        let factor = inverse.partial_piv_lu();
        let (mass, by) = (
            factor.solve(&Mat::<f64>::identity(n, n)),
            factor.solve(&derivatives),
        );
        let damping = self.document(theta, work)?.damping;
        let block = |m: &Mat<f64>, first: usize| {
            Mat::from_fn(n - s, n - s, |i, j| m[(s + i, first + s + j)])
        };
        let mut gyroscopic = block(&by, n);
        for i in 0..n - s {
            for j in 0..n - s {
                gyroscopic[(i, j)] -= damping[s + i][s + j];
            }
        }
        let found = quadratic_eigenvalues(&block(&mass, 0), &gyroscopic, &block(&by, 0));
        Ok(found.map(|values| values.iter().map(|v| v / TAU).collect()))
    }
}
