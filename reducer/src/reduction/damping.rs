//! Structural damping of the elastic coordinates.

use crate::description::mechanism::Damping;
use crate::linalg::{cholesky, solve_lower, symmetric_eigen};
use faer::Mat;

/// D̄^δδ for the locked problem (M̄^δδ, K̄^δδ).
///
/// A uniform modal ratio ζ gives M̄Φ·diag(2ζω)·ΦᵀM̄ = 2ζ·L(L⁻¹K̄L⁻ᵀ)^½Lᵀ with M̄ = LLᵀ, a smooth
/// function of both matrices even where frequencies cross [M 7.8].
pub(super) fn structural(damping: Damping, mass: &Mat<f64>, stiffness: &Mat<f64>) -> Mat<f64> {
    let n = mass.nrows();
    match damping {
        Damping::None => Mat::zeros(n, n),
        Damping::Rayleigh { alpha, beta } => {
            Mat::from_fn(n, n, |i, j| alpha * mass[(i, j)] + beta * stiffness[(i, j)])
        }
        Damping::Modal { ratio } => modal(ratio, mass, stiffness).unwrap_or_else(|| {
            // The masses of independent modes are definite; not-a-number tells where they are not.
            Mat::from_fn(n, n, |_, _| f64::NAN)
        }),
    }
}

fn modal(ratio: f64, mass: &Mat<f64>, stiffness: &Mat<f64>) -> Option<Mat<f64>> {
    let n = mass.nrows();
    let l = cholesky(mass)?;
    let half = solve_lower(&l, stiffness);
    let standard = solve_lower(&l, &half.transpose().to_owned());
    let (values, v) = symmetric_eigen(&standard)?;
    let root = Mat::from_fn(n, n, |i, j| {
        (0..n)
            .map(|k| 2.0 * ratio * v[(i, k)] * values[k].max(0.0).sqrt() * v[(j, k)])
            .sum::<f64>()
    });
    Some(&l * root * l.transpose())
}
