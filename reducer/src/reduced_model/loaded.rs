//! Natural frequencies of a model about the deflection that its loads and its motion hold.

use super::evaluate::{EvaluationError, Evaluator, Status, Workspace};
use crate::linalg::quadratic_eigenvalues;
use faer::Mat;
use faer::linalg::solvers::Solve;
use std::f64::consts::TAU;

/// Newton's corrections of a deflection, at most.
const CORRECTIONS: usize = 30;

/// The mass matrix, and the derivatives of the force by η and by its rate.
struct Tangent {
    mass: Mat<f64>,
    by: Mat<f64>,
}

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
        let with_zeros = |values: &[f64]| [values, &vec![0.0; n - s]].concat();
        let (rate, accel) = (with_zeros(rate), with_zeros(accel));
        let bent = match status {
            Status::Inside | Status::Clamped => Some([theta, &modal].concat()),
            // A deflection may be balanced where the stiffness is not definite.
            _ => self.quasi_static(theta, [&rate, &accel], work)?,
        };
        let Some(eta) = bent else {
            return Ok(None);
        };
        if n == s {
            return Ok(Some(Vec::new()));
        }
        let Some(tangent) = self.tangent([&eta, &rate, &accel], work)? else {
            return Ok(None);
        };
        let damping = self.document(theta, work)?.damping;
        let mut gyroscopic = self.modal_block(&tangent.by, n);
        for i in 0..n - s {
            for j in 0..n - s {
                gyroscopic[(i, j)] -= damping[s + i][s + j];
            }
        }
        let (mass, stiffness) = (
            self.modal_block(&tangent.mass, 0),
            self.modal_block(&tangent.by, 0),
        );
        let found = quadratic_eigenvalues(&mass, &gyroscopic, &stiffness);
        Ok(found.map(|values| values.iter().map(|v| v / TAU).collect()))
    }

    /// Rows and columns of δ, columns counted from `first`.
    fn modal_block(&self, m: &Mat<f64>, first: usize) -> Mat<f64> {
        let (n, s) = (self.n(), self.n_rigid());
        Mat::from_fn(n - s, n - s, |i, j| m[(s + i, first + s + j)])
    }

    fn tangent(
        &self,
        [eta, rate, accel]: [&[f64]; 3],
        work: &mut Workspace,
    ) -> Result<Option<Tangent>, EvaluationError> {
        let n = self.n();
        let mut force = vec![0.0; n];
        self.inverse_dynamics(eta, rate, accel, &mut force, work)?;
        let (linear, status) = self.linearize(eta, rate, &force, work)?;
        if status >= Status::Undefined {
            return Ok(None);
        }
        // B holds M⁻¹, A holds −M⁻¹ times the derivatives of the force by η and by its rate.
        let inverse = Mat::from_fn(n, n, |i, j| linear.b[(n + i) * n + j]);
        let derivatives = Mat::from_fn(n, 2 * n, |i, j| -linear.a[(n + i) * 2 * n + j]);
        let factor = inverse.partial_piv_lu();
        Ok(Some(Tangent {
            mass: factor.solve(&Mat::<f64>::identity(n, n)),
            by: factor.solve(&derivatives),
        }))
    }

    /// η whose modal rows balance without modal rates, by Newton's method from the undeformed mechanism.
    fn quasi_static(
        &self,
        theta: &[f64],
        [rate, accel]: [&[f64]; 2],
        work: &mut Workspace,
    ) -> Result<Option<Vec<f64>>, EvaluationError> {
        let (n, s) = (self.n(), self.n_rigid());
        let mut eta = [theta, &vec![0.0; n - s]].concat();
        let mut force = vec![0.0; n];
        for _ in 0..CORRECTIONS {
            let Some(tangent) = self.tangent([&eta, rate, accel], work)? else {
                return Ok(None);
            };
            self.inverse_dynamics(&eta, rate, accel, &mut force, work)?;
            let rest = Mat::from_fn(n - s, 1, |i, _| force[s + i]);
            let step = self
                .modal_block(&tangent.by, 0)
                .partial_piv_lu()
                .solve(&rest);
            let (mut change, mut size) = (0.0, 0.0);
            for i in 0..n - s {
                eta[s + i] -= step[(i, 0)];
                change += step[(i, 0)].powi(2);
                size += eta[s + i].powi(2);
            }
            if change.is_finite() && change <= 1e-20 * size {
                return Ok(Some(eta));
            }
        }
        Ok(None)
    }
}
