//! The `filtered` gauge: subspace iteration from fixed shapes, rotated towards them.
//!
//! Y = (S·M)^p X_ref with the constrained compliance S [M 6.1]; Ψ = Y·P with ΨᵀMΨ = I and ΨᵀM·X_ref
//! symmetric positive definite. Analytic in θ, without an eigenproblem; derivatives reuse the
//! factorisation and solve a small Sylvester equation for the rotation.

use super::{Linearised, ModesError, Reference};
use crate::linalg::{cholesky, solve_lower, solve_lower_transposed, symmetric_eigen};
use faer::Mat;

/// Internal modes with their derivatives along θ.
pub(super) struct Gauged {
    pub shapes: Mat<f64>,
    pub derivatives: Vec<Mat<f64>>,
    /// Smallest singular value of the overlap with the reference shapes.
    pub overlap: f64,
}

pub(super) fn filtered(
    at: &Linearised<'_>,
    reference: &Reference,
    power: usize,
) -> Result<Gauged, ModesError> {
    let s = at.velocities.len();
    let model = at.model;
    let (n, k) = (reference.shapes.nrows(), reference.shapes.ncols());
    let mut y = reference.shapes.clone();
    let mut dy: Vec<Mat<f64>> = (0..s).map(|_| Mat::zeros(n, k)).collect();
    for _ in 0..power {
        let (next, lambda) = at.static_response(&model.mass_times(&y), None)?;
        for (l, d) in dy.iter_mut().enumerate() {
            *d = at
                .static_response_rate(l, model.mass_times(d), &next, &lambda)?
                .0;
            scale_columns(d, &reference.omega);
        }
        y = next;
        scale_columns(&mut y, &reference.omega);
        orthonormalise(at, &mut y, &mut dy)?;
    }
    rotate_towards(at, reference, &y, &dy)
}

/// Another basis of the same space. Each step enlarges what a column has of lower modes by the square of the ratio of
/// frequencies; without this, several steps leave columns that are parallel to rounding where one mode is far softer
/// than the others. The change of basis is a constant in derivatives: the result depends on the space alone.
fn orthonormalise(
    at: &Linearised<'_>,
    y: &mut Mat<f64>,
    dy: &mut [Mat<f64>],
) -> Result<(), ModesError> {
    let gram = symmetric(&(y.transpose() * at.model.mass_times(y)));
    let l = cholesky(&gram).ok_or(ModesError::GaugeLost { overlap: 0.0 })?;
    let change = solve_lower_transposed(&l, &Mat::identity(y.ncols(), y.ncols()));
    *y = &*y * &change;
    for d in dy {
        *d = &*d * &change;
    }
    Ok(())
}

/// Undoes the shrinking by 1/ω² so that columns stay comparable; the space does not change.
fn scale_columns(y: &mut Mat<f64>, omega: &[f64]) {
    for (j, w) in omega.iter().enumerate() {
        for value in y.col_as_slice_mut(j) {
            *value *= w * w;
        }
    }
}

/// Mass-orthonormal basis of the columns of `y` nearest to the reference shapes [M 6.2, 6.3], and its
/// derivatives [M 6.4, 6.5].
pub(super) fn rotate_towards(
    at: &Linearised<'_>,
    reference: &Reference,
    y: &Mat<f64>,
    dy: &[Mat<f64>],
) -> Result<Gauged, ModesError> {
    let k = y.ncols();
    let my = at.model.mass_times(y);
    let gram = symmetric(&(y.transpose() * &my));
    let l = cholesky(&gram).ok_or(ModesError::GaugeLost { overlap: 0.0 })?;
    // B = QᵀM·X_ref with Q = Y·L⁻ᵀ; polar factors from BᵀB = V σ² Vᵀ.
    let b = solve_lower(&l, &(y.transpose() * &reference.mass_shapes));
    let (squares, v) =
        symmetric_eigen(&symmetric(&(b.transpose() * &b))).ok_or(ModesError::EigenproblemFailed)?;
    let sigma: Vec<f64> = squares.iter().map(|x| x.max(0.0).sqrt()).collect();
    let overlap = sigma.first().copied().unwrap_or(1.0);
    if overlap.is_nan() || overlap < 1e-6 {
        return Err(ModesError::GaugeLost { overlap });
    }
    let v_scaled = Mat::from_fn(k, k, |i, j| v[(i, j)] / sigma[j]);
    let rotation = &b * &v_scaled * v.transpose();
    let h: Mat<f64> = Mat::from_fn(k, k, |i, j| {
        (0..k)
            .map(|m| v[(i, m)] * sigma[m] * v[(j, m)])
            .sum::<f64>()
    });
    let p = solve_lower_transposed(&l, &rotation);
    let shapes = y * &p;
    let mass_shapes = &my * &p;
    let derivatives = dy
        .iter()
        .map(|d| {
            let z = d * &p;
            let e = symmetric(&(mass_shapes.transpose() * &z));
            let f = z.transpose() * &reference.mass_shapes;
            let right = &f - f.transpose() - &e * &h + &h * &e;
            let in_basis = v.transpose() * &right * &v;
            let omega = Mat::from_fn(k, k, |i, j| in_basis[(i, j)] / (sigma[i] + sigma[j]));
            let w = &v * omega * v.transpose() - &e;
            z + &shapes * w
        })
        .collect();
    Ok(Gauged {
        shapes,
        derivatives,
        overlap,
    })
}

fn symmetric(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| 0.5 * (a[(i, j)] + a[(j, i)]))
}
