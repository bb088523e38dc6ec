//! Reduced mass and its derivatives with respect to all generalised coordinates.
//!
//! Parameterisation: x = x_ρ + R_ρΨ_xη, R = R_ρ·exp(Ψ_ψη), no further term [M 7.1]. Velocities in
//! node axes are J_i(θ, η)·η̇_i; N_d = ∂M̄/∂η_d collects the first-order change of J and of the element masses.

use crate::lie::{Vector6, angular, join, linear};
use crate::model::FullModel;
use crate::modes::{Linearised, LocalModes};
use faer::Mat;

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
    for d in s..n {
        let change = jacobian_change(at, modes, d);
        gradient.push(plus_transpose(&(change.transpose() * &mass_shapes)));
    }
    add_element_changes(at.model, modes, s, &mut gradient);
    ReducedInertia { mass, gradient }
}

/// ∂J/∂η_d at η^δ = 0, one column per coordinate [M 7.2, 7.3].
fn jacobian_change(at: &Linearised<'_>, modes: &LocalModes, d: usize) -> Mat<f64> {
    let s = at.velocities.len();
    let n = modes.shapes.ncols();
    let mut out = Mat::zeros(modes.shapes.nrows(), n);
    for node in 0..at.model.nodes.len() {
        let of = |m: &Mat<f64>, j: usize| Vector6::from_fn(|i, _| m[(6 * node + i, j)]);
        let shape = of(&modes.shapes, d);
        let (u, phi) = (linear(&shape), angular(&shape));
        for j in 0..n {
            let column = of(&modes.shapes, j);
            let (v, w) = (linear(&column), angular(&column));
            let change = if j < s {
                of(&modes.derivatives[j], d)
                    + join(&(w.cross(&u) - phi.cross(&v)), &(-phi.cross(&w)))
            } else {
                join(&(-phi.cross(&v)), &(phi.cross(&w) * -0.5))
            };
            for i in 0..6 {
                out[(6 * node + i, j)] = change[i];
            }
        }
    }
    out
}

/// Adds Jᵀ(∂M_e/∂d · strain of ψ_d)J of every beam element, the last sum of [M 7.6].
fn add_element_changes(model: &FullModel, modes: &LocalModes, s: usize, gradient: &mut [Mat<f64>]) {
    let n = modes.shapes.ncols();
    let mut local = vec![0.0; 12 * n];
    let mut image = vec![0.0; 12 * n];
    for beam in &model.beams {
        let element = &model.elements[beam.element];
        for j in 0..n {
            let column = modes.shapes.col_as_slice(j);
            local[12 * j..12 * j + 6].copy_from_slice(&column[6 * beam.a..6 * beam.a + 6]);
            local[12 * j + 6..12 * j + 12].copy_from_slice(&column[6 * beam.b..6 * beam.b + 6]);
        }
        let p = &element.strain_operator;
        for m in 0..6 {
            let strain = |d: usize| -> f64 { (0..12).map(|i| p[(m, i)] * local[12 * d + i]).sum() };
            let strains: Vec<f64> = (s..n).map(strain).collect();
            if strains.iter().all(|e| *e == 0.0) {
                continue;
            }
            let g = element.mass_gradient[m].as_slice();
            for j in 0..n {
                for i in 0..12 {
                    // Symmetric: column i read as row i.
                    image[12 * j + i] = dot12(&g[12 * i..12 * i + 12], &local[12 * j..12 * j + 12]);
                }
            }
            for i in 0..n {
                for j in 0..=i {
                    let product = dot12(&local[12 * i..12 * i + 12], &image[12 * j..12 * j + 12]);
                    for (d, e) in strains.iter().enumerate() {
                        gradient[s + d][(i, j)] += e * product;
                        if i != j {
                            gradient[s + d][(j, i)] += e * product;
                        }
                    }
                }
            }
        }
    }
}

fn dot12(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub(super) fn plus_transpose(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] + a[(j, i)])
}

pub(super) fn symmetrised(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| 0.5 * (a[(i, j)] + a[(j, i)]))
}
