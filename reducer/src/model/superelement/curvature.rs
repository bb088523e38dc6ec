//! Second derivatives of the element: of its deformation by local motions, of its mass by z.

use super::{Pair, SuperElement, stack};
use crate::lie::{Vector6, coadjoint, inverse_tangent_second_derivative};
use crate::model::curvature::shift_of_turn;
use nalgebra::{DMatrix, DVector};

impl SuperElement {
    /// The form w·D2 over local motions, undeformed [M 14.3].
    pub fn strain_curvature(&self, weights: &DVector<f64>) -> DMatrix<f64> {
        let zero = DVector::zeros(self.n_strains());
        let padded = DVector::from_iterator(
            6 + weights.len(),
            std::iter::repeat_n(0.0, 6).chain(weights.iter().copied()),
        );
        let mut by_deformation = DMatrix::zeros(self.n_local(), self.n_strains());
        for a in 0..self.first_mode() {
            self.add_pulled(&zero, a, &padded, &mut by_deformation, a);
        }
        let product = by_deformation * &self.strain_operator;
        let mut out = (&product + product.transpose()) * 0.5;
        let force = self.strain_operator.tr_mul(weights);
        for first in (0..6 * self.n_nodes()).step_by(6) {
            let pull = force.fixed_rows::<3>(first).into_owned();
            let mut block = out.fixed_view_mut::<6, 6>(first, first);
            block += shift_of_turn(&pull);
        }
        out
    }

    /// (∂²P/∂z_a∂z_b)·v of components of one interface; it has rows of that interface alone.
    fn second_change(&self, z: &DVector<f64>, a: usize, b: &Vector6, v: &DVector<f64>) -> Vector6 {
        let Pair { left, right } = self.second_pair(z, a, b);
        let i = a / 6;
        left * v.fixed_rows::<6>(0) + right * v.fixed_rows::<6>(6 * (i + 1))
    }

    fn second_pair(&self, z: &DVector<f64>, a: usize, b: &Vector6) -> Pair {
        let i = a / 6;
        let (d, one) = (Self::d(z, i), Vector6::ith(a % 6, 1.0));
        Pair {
            left: -(inverse_tangent_second_derivative(&(-d), &one, b) * self.carry[i]),
            right: inverse_tangent_second_derivative(&d, &one, b),
        }
    }

    /// yᵀ(∂²M/∂z_a∂z_b)x for all pairs.
    pub fn mass_curvature_between_at(
        &self,
        z: &DVector<f64>,
        y: &DVector<f64>,
        x: &DVector<f64>,
    ) -> DMatrix<f64> {
        let m = self.n_strains();
        let q = self.velocity_map(z);
        let inertia = self.inertia(z);
        let (w_y, w_x) = (&q * y, &q * x);
        let (p_y, p_x) = (&inertia * &w_y, &inertia * &w_x);
        let u_y = stack(&self.operator_changes(z, y), false);
        let u_x = stack(&self.operator_changes(z, x), false);
        let (l_y, l_x) = (self.inertia_changes(z, &w_y), self.inertia_changes(z, &w_x));
        let half = u_y.transpose() * (inertia * &u_x + l_x) + l_y.transpose() * u_x;
        let mut out = &half + half.transpose();
        let (s_y, s_x) = (
            w_y.fixed_rows::<3>(3).into_owned(),
            w_x.fixed_rows::<3>(3).into_owned(),
        );
        for a in 0..m {
            for b in 0..m {
                let square = &self.body.quadratic[a * m + b];
                out[(a, b)] += s_y.dot(&((square + square.transpose()) * s_x));
            }
        }
        for a in 0..self.first_mode() {
            let i = a / 6;
            let of = |p: &DVector<f64>| p.fixed_rows::<6>(6 + 6 * i).into_owned();
            for c in 0..6 {
                let b = Vector6::ith(c, 1.0);
                out[(a, 6 * i + c)] += self.second_change(z, a, &b, y).dot(&of(&p_x))
                    + self.second_change(z, a, &b, x).dot(&of(&p_y));
            }
        }
        out
    }

    /// Derivatives along a change of z of (∂M/∂z_a)·v, one column per a.
    fn mass_gradient_change(
        &self,
        z: &DVector<f64>,
        v: &DVector<f64>,
        direction: &DVector<f64>,
    ) -> DMatrix<f64> {
        let m = self.n_strains();
        let q = self.velocity_map(z);
        let q_rate = stack(&self.operator_derivative(z, direction), false);
        let inertia = self.inertia(z);
        let inertia_rate = self.inertia_derivative(z, direction);
        let (w, w_rate) = (&q * v, &q_rate * v);
        let momentum = &inertia * &w;
        let momentum_rate = &inertia_rate * &w + &inertia * &w_rate;
        let changes = stack(&self.operator_changes(z, v), false);
        let mut second = DMatrix::zeros(6 + m, m);
        for a in 0..self.first_mode() {
            let own = Self::d(direction, a / 6);
            let change = self.second_change(z, a, &own, v);
            second
                .fixed_view_mut::<6, 1>(6 + 6 * (a / 6), a)
                .copy_from(&change);
        }
        let inner = &inertia * &changes + self.inertia_changes(z, &w);
        let mut inner_rate =
            inertia_rate * changes + inertia * second + self.inertia_changes(z, &w_rate);
        let spin = w.fixed_rows::<3>(3).into_owned();
        for a in 0..m {
            for b in 0..m {
                let square = &self.body.quadratic[a * m + b];
                let turned = (square + square.transpose()) * spin * direction[b];
                let mut rows = inner_rate.fixed_view_mut::<3, 1>(3, a);
                rows += turned;
            }
        }
        let mut out = q_rate.transpose() * inner + q.transpose() * inner_rate;
        for a in 0..self.first_mode() {
            self.add_pulled(z, a, &momentum_rate, &mut out, a);
            let i = a / 6;
            let Pair { left, right } = self.second_pair(z, a, &Self::d(direction, i));
            let own = momentum.fixed_rows::<6>(6 + 6 * i).into_owned();
            let mut first = out.fixed_view_mut::<6, 1>(0, a);
            first += left.tr_mul(&own);
            let mut other = out.fixed_view_mut::<6, 1>(6 * (i + 1), a);
            other += right.tr_mul(&own);
        }
        out
    }

    /// Derivatives of the inertia forces by local motions, for fixed velocities and accelerations.
    pub fn inertia_by_motion(
        &self,
        z: &DVector<f64>,
        v: &DVector<f64>,
        rates: &DVector<f64>,
    ) -> DMatrix<f64> {
        let p = self.operator(z);
        let z_rate = &p * v;
        let by_velocity = self.mass_gradient_times_at(z, v);
        let energy = by_velocity.tr_mul(v) * 0.5;
        // Columns of ∂/∂z_n: Mₙ·rates + Σ M_mn·v·ż_m + Σ M_m·v·(Pₙv)_m − Pₙᵀe − Pᵀeₙ − ad(v)ᵀMₙv.
        let mut out = self.mass_gradient_times_at(z, rates)
            + self.mass_gradient_change(z, v, &z_rate)
            + &by_velocity * self.operator_changes(z, v)
            - p.tr_mul(&(self.mass_curvature_between_at(z, v, v) * 0.5));
        let mut padded = DVector::zeros(6 + energy.len());
        padded.rows_mut(6, energy.len()).copy_from(&-energy);
        for a in 0..self.first_mode() {
            self.add_pulled(z, a, &padded, &mut out, a);
        }
        for a in 0..self.n_strains() {
            for first in (0..6 * self.n_nodes()).step_by(6) {
                let turned = coadjoint(
                    &v.fixed_rows::<6>(first).into_owned(),
                    &by_velocity.fixed_view::<6, 1>(first, a).into_owned(),
                );
                let mut part = out.fixed_view_mut::<6, 1>(first, a);
                part -= turned;
            }
        }
        out * p
    }
}
