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

/// ∂J/∂η_d at η^δ = 0, one column per coordinate [M 7.2, 7.3]. Scalar dofs are η-linear, so that only
/// the change of their shapes along θ remains.
fn jacobian_change(at: &Linearised<'_>, modes: &LocalModes, d: usize, out: &mut Mat<f64>) {
    let s = at.velocities.len();
    let motions = 6 * at.model.nodes.len();
    let shape = &modes.shapes.col_as_slice(d)[..motions];
    for j in 0..modes.shapes.ncols() {
        for i in motions..out.nrows() {
            out[(i, j)] = if j < s {
                modes.derivatives[j][(i, d)]
            } else {
                0.0
            };
        }
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

/// Adds Jᵀ(∂M_e/∂d · strain of ψ_d)J of every element, the last sum of [M 7.6]: strains of all
/// shapes times products of all pairs of columns, summed over elements and strains at once.
fn add_element_changes(model: &FullModel, modes: &LocalModes, s: usize, gradient: &mut [Mat<f64>]) {
    let n = modes.shapes.ncols();
    let n_pairs = n * (n + 1) / 2;
    if model.placed.is_empty() || n == s {
        return;
    }
    let counts = model.placed.iter().map(|p| model.element(p).n_strains());
    let n_strains: usize = counts.sum();
    let mut strains = Mat::<f64>::zeros(n - s, n_strains);
    let mut products = Mat::<f64>::zeros(n_pairs, n_strains);
    let mut first = 0;
    for placed in &model.placed {
        let element = model.element(placed);
        let local: Vec<Vec<f64>> = (0..n)
            .map(|j| {
                let column = modes.shapes.col_as_slice(j);
                placed.places.iter().map(|place| column[*place]).collect()
            })
            .collect();
        let (p, count) = (element.strain_operator(), element.n_strains());
        for m in 0..count {
            for (d, local) in local[s..].iter().enumerate() {
                let row = p[m..].iter().step_by(count);
                strains[(d, first + m)] = row.zip(local).map(|(p, x)| p * x).sum();
            }
            let out = products.col_as_slice_mut(first + m);
            if placed.places.len() == 12 {
                pair_products::<12>(element.mass_gradient(m), &local, out);
            } else {
                wide_pair_products(element.mass_gradient(m), &local, out);
            }
        }
        first += count;
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

/// xᵢᵀA·xⱼ for all i ≥ j; A column-major, of known size so that sums stay in registers.
fn pair_products<const N: usize>(a: &[f64], local: &[Vec<f64>], out: &mut [f64]) {
    let mut pair = 0;
    for (j, local_j) in local.iter().enumerate() {
        let mut image = [0.0; N];
        for (column, x) in a.chunks_exact(N).zip(local_j) {
            for (out, a) in image.iter_mut().zip(column) {
                *out += a * x;
            }
        }
        for local_i in &local[j..] {
            out[pair] = dot(&local_i[..N], &image);
            pair += 1;
        }
    }
}

/// [`pair_products`] of blocks of any size.
fn wide_pair_products(a: &[f64], local: &[Vec<f64>], out: &mut [f64]) {
    let n = local[0].len();
    let a = faer::MatRef::from_column_major_slice(a, n, n);
    let x = Mat::from_fn(n, local.len(), |i, j| local[j][i]);
    let all = x.transpose() * (a * &x);
    let mut pair = 0;
    for j in 0..local.len() {
        for i in j..local.len() {
            out[pair] = all[(i, j)];
            pair += 1;
        }
    }
}

/// Four sums side by side: one after the other would wait for each addition.
fn dot(a: &[f64], b: &[f64]) -> f64 {
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
