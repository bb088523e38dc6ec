//! Reduced mass and its derivatives with respect to all generalised coordinates.
//!
//! Parameterisation: x = x_ρ + R_ρΨ_xη, R = R_ρ·exp(Ψ_ψη), no further term [M 7.1]. Velocities in
//! node axes are J_i(θ, η)·η̇_i; N_d = ∂M̄/∂η_d collects the first-order change of J and of the element masses.

use crate::lie::join;
use crate::model::FullModel;
use crate::modes::{Linearised, LocalModes};
use faer::Mat;
use nalgebra::Vector3;

/// M̄ and ∂M̄/∂η_i for every coordinate i.
pub(super) struct ReducedInertia {
    pub mass: Mat<f64>,
    pub gradient: Vec<Mat<f64>>,
}

/// The mass [M 7.4], its derivatives along θ [M 7.5] and along δ [M 7.6].
pub(super) fn reduced_inertia(at: &Linearised<'_>, modes: &LocalModes) -> ReducedInertia {
    let s = at.velocities.len();
    let n = modes.shapes.ncols();
    let mass_shapes = at.model.mass_times(&modes.shapes);
    let mass = symmetrised(&(modes.shapes.transpose() * &mass_shapes));
    let mut gradient: Vec<Mat<f64>> = modes
        .derivatives
        .iter()
        .map(|d| plus_transpose(&(d.transpose() * &mass_shapes)))
        .collect();
    let mut change = Mat::zeros(modes.shapes.nrows(), n);
    for d in s..n {
        jacobian_change(at, modes, d, &mut change);
        gradient.push(plus_transpose(&(change.transpose() * &mass_shapes)));
    }
    add_element_changes(at.model, modes, s, &mut gradient);
    ReducedInertia { mass, gradient }
}

/// ∂J/∂η_d at η^δ = 0, one column per coordinate [M 7.2, 7.3]; rows of scalar dofs stay as they are.
fn jacobian_change(at: &Linearised<'_>, modes: &LocalModes, d: usize, out: &mut Mat<f64>) {
    let s = at.velocities.len();
    let motions = 6 * at.model.nodes.len();
    let shape = &modes.shapes.col_as_slice(d)[..motions];
    for j in 0..modes.shapes.ncols() {
        let columns = modes.shapes.col_as_slice(j)[..motions].chunks_exact(6);
        let pairs = columns.zip(shape.chunks_exact(6));
        let out = out.col_as_slice_mut(j)[..motions].chunks_exact_mut(6);
        if j < s {
            let rates = modes.derivatives[j].col_as_slice(d)[..motions].chunks_exact(6);
            for ((out, rate), (column, shape)) in out.zip(rates).zip(pairs) {
                let ((u, phi), (v, w)) = (halves(shape), halves(column));
                let turned = join(&(w.cross(&u) - phi.cross(&v)), &(-phi.cross(&w)));
                for (out, (rate, turned)) in out.iter_mut().zip(rate.iter().zip(turned.iter())) {
                    *out = rate + turned;
                }
            }
        } else {
            for (out, (column, shape)) in out.zip(pairs) {
                let ((_, phi), (v, w)) = (halves(shape), halves(column));
                let turned = join(&(-phi.cross(&v)), &(phi.cross(&w) * -0.5));
                out.copy_from_slice(turned.as_slice());
            }
        }
    }
}

/// Linear and angular part of six values.
fn halves(motion: &[f64]) -> (Vector3<f64>, Vector3<f64>) {
    (
        Vector3::from_column_slice(&motion[..3]),
        Vector3::from_column_slice(&motion[3..]),
    )
}

/// Adds Jᵀ(∂M_e/∂d · strain of ψ_d)J of every beam element, the last sum of [M 7.6]: strains of all
/// shapes times products of all pairs of columns, summed over elements and strains at once.
fn add_element_changes(model: &FullModel, modes: &LocalModes, s: usize, gradient: &mut [Mat<f64>]) {
    let n = modes.shapes.ncols();
    let n_pairs = n * (n + 1) / 2;
    if model.beams.is_empty() || n == s {
        return;
    }
    let mut strains = Mat::<f64>::zeros(n - s, 6 * model.beams.len());
    let mut products = Mat::<f64>::zeros(n_pairs, 6 * model.beams.len());
    let mut local = vec![[0.0; 12]; n];
    for (b, beam) in model.beams.iter().enumerate() {
        let element = &model.elements[beam.element];
        for (j, local) in local.iter_mut().enumerate() {
            let column = modes.shapes.col_as_slice(j);
            local[..6].copy_from_slice(&column[6 * beam.a..6 * beam.a + 6]);
            local[6..].copy_from_slice(&column[6 * beam.b..6 * beam.b + 6]);
        }
        let p = &element.strain_operator;
        for m in 0..6 {
            for (d, local) in local[s..].iter().enumerate() {
                strains[(d, 6 * b + m)] = (0..12).map(|i| p[(m, i)] * local[i]).sum();
            }
            let g = element.mass_gradient[m].as_slice();
            let out = products.col_as_slice_mut(6 * b + m);
            let mut pair = 0;
            for (j, local_j) in local.iter().enumerate() {
                let image = times12(g, local_j);
                for local_i in &local[j..] {
                    out[pair] = dot12(local_i, &image);
                    pair += 1;
                }
            }
        }
    }
    let change = &products * strains.transpose();
    for (d, gradient) in gradient[s..].iter_mut().enumerate() {
        let mut pair = 0;
        for j in 0..n {
            for i in j..n {
                gradient[(i, j)] += change[(pair, d)];
                if i != j {
                    gradient[(j, i)] += change[(pair, d)];
                }
                pair += 1;
            }
        }
    }
}

/// A·x of a column-major block.
fn times12(a: &[f64], x: &[f64; 12]) -> [f64; 12] {
    let mut out = [0.0; 12];
    for (column, x) in a.chunks_exact(12).zip(x) {
        for (out, a) in out.iter_mut().zip(column) {
            *out += a * x;
        }
    }
    out
}

/// Four sums side by side: one after the other would wait for each addition.
fn dot12(a: &[f64; 12], b: &[f64; 12]) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
        for (sum, (x, y)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += x * y;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

pub(super) fn plus_transpose(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] + a[(j, i)])
}

pub(super) fn symmetrised(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| 0.5 * (a[(i, j)] + a[(j, i)]))
}
