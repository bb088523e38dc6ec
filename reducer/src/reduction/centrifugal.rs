//! Second derivatives of the mass on θ by η^δ without second-order displacements [M 14.6].

use super::inertia::plus_transpose;
use super::second_order::{SecondOrderTerms, pair_index};
use super::strain_products::WeightedForm;
use crate::lie::{Vector6, angular, join, linear};
use crate::model::Element;
use crate::model::curvature::BilinearForm;
use faer::Mat;

/// First-order changes of the columns of θ, and of what element masses make of them.
pub(super) struct Explicit<'a> {
    terms: &'a SecondOrderTerms<'a>,
    momenta: &'a Mat<f64>,
    /// ∂J_k/∂η_d: one matrix per k, one column per d.
    changes: Vec<Mat<f64>>,
    /// M_dρ_k: one matrix per k, one column per d.
    shifted: Vec<Mat<f64>>,
}

impl<'a> Explicit<'a> {
    pub fn new(terms: &'a SecondOrderTerms<'a>, momenta: &'a Mat<f64>) -> Self {
        let s = terms.at.velocities.len();
        Self {
            terms,
            momenta,
            changes: (0..s).map(|k| column_changes(terms, k)).collect(),
            shifted: (0..s).map(|k| shifted_momenta(terms, k)).collect(),
        }
    }

    /// One matrix over δ per pair of θ.
    pub fn all(&self) -> Vec<Mat<f64>> {
        let s = self.changes.len();
        let images: Vec<Mat<f64>> = (self.changes.iter())
            .map(|changes| self.terms.at.model.mass_times(changes))
            .collect();
        let bending: Vec<Mat<f64>> = (0..s * s)
            .map(|index| self.jacobian_curvature(index / s, index % s))
            .collect();
        let mut out = Vec::with_capacity(s * (s + 1) / 2);
        for j in 0..s {
            for k in 0..=j {
                debug_assert_eq!(out.len(), pair_index(j, k));
                let both = self.changes[j].transpose() * &images[k]
                    + self.changes[j].transpose() * &self.shifted[k]
                    + self.changes[k].transpose() * &self.shifted[j];
                out.push(
                    plus_transpose(&both)
                        + &bending[j * s + k]
                        + &bending[k * s + j]
                        + self.mass_curvature(j, k),
                );
            }
        }
        out
    }

    /// (Mρ_j)·(explicit second-order change of column k).
    fn jacobian_curvature(&self, j: usize, k: usize) -> Mat<f64> {
        let shapes = self.terms.shapes();
        let rates = self.terms.derivative(k);
        let n = shapes.ncols();
        let mut out: Mat<f64> = Mat::zeros(n, n);
        for node in 0..self.terms.at.model.nodes.len() {
            let of = |m: &Mat<f64>, c: usize| Vector6::from_fn(|i, _| m[(6 * node + i, c)]);
            let momentum = of(self.momenta, j);
            let (p, h) = (linear(&momentum), angular(&momentum));
            let velocity = self.terms.at.velocities[k][node];
            let (v, w) = (linear(&velocity), angular(&velocity));
            for e in 0..n {
                let (shape, rate) = (of(shapes, e), of(rates, e));
                let moved = w.cross(&linear(&shape)) + linear(&rate);
                let (turn, turning) = (angular(&shape), angular(&rate));
                // a·(φ×b) = φ·(b×a), summed with the pair exchanged by the symmetric part below.
                let on_turn = moved.cross(&p) * -1.0
                    + turning.cross(&h) * -0.5
                    + turn.cross(&v).cross(&p) * 0.5
                    + turn.cross(&w).cross(&h) * 0.5;
                for d in 0..n {
                    out[(d, e)] += angular(&of(shapes, d)).dot(&on_turn);
                }
            }
        }
        plus_transpose(&out)
    }

    /// ρ_jᵀM_deρ_k of the element masses, without second-order displacements.
    fn mass_curvature(&self, j: usize, k: usize) -> Mat<f64> {
        let model = self.terms.at.model;
        let shapes = self.terms.shapes();
        let n = shapes.ncols();
        let mut out: Mat<f64> = Mat::zeros(n, n);
        let mut weighed = WeightedForm {
            stresses: Vec::with_capacity(6 * model.placed.len()),
            form: BilinearForm::default(),
        };
        for placed in &model.placed {
            let element = model.element(placed);
            let rigid = |c: usize| placed.gather(self.terms.at.rigid.col_as_slice(c));
            let (z_j, z_k) = (rigid(j), rigid(k));
            let weights = element.mass_gradient_between(&z_j, &z_k);
            match element {
                Element::Beam(_) => weighed.stresses.extend(weights.iter()),
                Element::Super(_) => {
                    let curvature = element.strain_curvature(&weights);
                    weighed.form.push_element(placed, curvature);
                }
            }
            let curvature = element.mass_curvature_between(&z_j, &z_k);
            let strains: Vec<_> = (0..n)
                .map(|d| element.strain(&placed.gather(shapes.col_as_slice(d))))
                .collect();
            for e in 0..n {
                let image = &curvature * &strains[e];
                for d in 0..n {
                    out[(d, e)] += strains[d].dot(&image);
                }
            }
        }
        out + self.terms.of(&weighed)
    }
}

/// ∂J_k/∂η_d for all d [M 7.2].
fn column_changes(terms: &SecondOrderTerms<'_>, k: usize) -> Mat<f64> {
    let shapes = terms.shapes();
    let mut out = terms.derivative(k).clone();
    for node in 0..terms.at.model.nodes.len() {
        let velocity = terms.at.velocities[k][node];
        let (v, w) = (linear(&velocity), angular(&velocity));
        for d in 0..shapes.ncols() {
            let shape = Vector6::from_fn(|i, _| shapes[(6 * node + i, d)]);
            let (u, phi) = (linear(&shape), angular(&shape));
            let change = join(&(w.cross(&u) - phi.cross(&v)), &(-phi.cross(&w)));
            for i in 0..6 {
                out[(6 * node + i, d)] += change[i];
            }
        }
    }
    out
}

/// M_dρ_k for all d: momenta of the rigid motion by the change of the element masses.
fn shifted_momenta(terms: &SecondOrderTerms<'_>, k: usize) -> Mat<f64> {
    let model = terms.at.model;
    let shapes = terms.shapes();
    let mut out = Mat::zeros(shapes.nrows(), shapes.ncols());
    for placed in &model.placed {
        let element = model.element(placed);
        let images = element.mass_gradient_times(&placed.gather(terms.at.rigid.col_as_slice(k)));
        for d in 0..shapes.ncols() {
            let strain = element.strain(&placed.gather(shapes.col_as_slice(d)));
            placed.scatter(&(&images * strain), out.col_as_slice_mut(d));
        }
    }
    out
}
