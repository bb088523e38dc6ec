//! Second derivatives of an element: of its deformation by the nodes' motions, of its mass by d.

use super::{
    BeamElement, MassPoint, Matrix6x12, Matrix12, Vector12, stack, strain_operator,
    strain_operator_derivative, velocity_map, velocity_map_derivative,
};
use crate::lie::{
    self, Matrix6, Vector6, adjoint_algebra, inverse_tangent_second_derivative, tangent,
    tangent_derivative, tangent_second_derivative,
};
use crate::model::curvature::shift_of_turn;
use nalgebra::{Matrix3, SMatrix, Vector3};

/// Place of the pair (m, n) among second derivatives by the six components of d.
pub fn second_index(m: usize, n: usize) -> usize {
    let (low, high) = (m.min(n), m.max(n));
    high * (high + 1) / 2 + low
}

/// What second-order strains of a motion (u, φ) of both nodes with others are made of.
pub struct StrainImage {
    motion: Vector12,
    strain: Vector6,
    /// (∂_mP)z, one column per component m of the deformation.
    turned: Matrix6,
}

impl BeamElement {
    pub fn strain_image(&self, motion: &Vector12) -> StrainImage {
        let mut turned = Matrix6::zeros();
        for (m, gradient) in self.strain_gradient.iter().enumerate() {
            turned.set_column(m, &(gradient * motion));
        }
        StrainImage {
            motion: *motion,
            strain: self.strain_operator * motion,
            turned,
        }
    }

    /// D2(z, z′) itself [M 14.3]: many weights of one pair of motions cost less with it than with the form below.
    pub fn second_strain(&self, a: &StrainImage, b: &StrainImage) -> Vector6 {
        let mut shift = Vector12::zeros();
        for first in [0, 6] {
            let part = |z: &Vector12, i: usize| z.fixed_rows::<3>(first + i).into_owned();
            let (u, phi) = (part(&a.motion, 0), part(&a.motion, 3));
            let (v, psi) = (part(&b.motion, 0), part(&b.motion, 3));
            let both = (phi.cross(&v) + psi.cross(&u)) * -0.5;
            shift.fixed_rows_mut::<3>(first).copy_from(&both);
        }
        (b.turned * a.strain + a.turned * b.strain) * 0.5 + self.strain_operator * shift
    }

    /// The form w·D2 over motions (u, φ) of both nodes: second derivative of w·d, undeformed, where
    /// nodes are shifted by u and turned by exp(φ) [M 14.3].
    pub fn strain_curvature(&self, weights: &Vector6) -> Matrix12 {
        let mut by_deformation = SMatrix::<f64, 12, 6>::zeros();
        for (m, gradient) in self.strain_gradient.iter().enumerate() {
            by_deformation.set_column(m, &gradient.tr_mul(weights));
        }
        let product = by_deformation * self.strain_operator;
        let mut out = (product + product.transpose()) * 0.5;
        let force = self.strain_operator.tr_mul(weights);
        for first in [0, 6] {
            let pull = force.fixed_rows::<3>(first).into_owned();
            let mut block = out.fixed_view_mut::<6, 6>(first, first);
            block += shift_of_turn(&pull);
        }
        out
    }

    /// Stress of a small strain.
    pub fn stress(&self, strain: &Vector6) -> Vector6 {
        self.rigidity.component_mul(strain)
    }

    /// Second derivatives of the mass with respect to the components of d, in the order of
    /// [`second_index`].
    pub fn mass_curvature_at(&self, d: &Vector6) -> Box<[Matrix12; 21]> {
        let unit = |m: usize| Vector6::ith(m, 1.0);
        let delta = d - self.reference;
        let q = velocity_map(d);
        let q_1: [Matrix12; 6] = std::array::from_fn(|m| velocity_map_derivative(d, &unit(m)));
        let mut out = Box::new([Matrix12::zeros(); 21]);
        for n in 0..6 {
            for m in 0..=n {
                let q_2 = velocity_map_second_derivative(d, &unit(m), &unit(n));
                let mut sum = Matrix12::zeros();
                for point in &self.points {
                    let (v, w) = point.jacobians(&delta);
                    let (v_m, w_m) = point.jacobian_derivatives(&delta, &unit(m));
                    let (v_n, w_n) = point.jacobian_derivatives(&delta, &unit(n));
                    let w_2 = point.turn_second_derivative(&delta, &unit(m), &unit(n));
                    let both = v_m * q_1[n] + v_n * q_1[m] + v * q_2;
                    let half = (v * q).tr_mul(&both)
                        + (v_m * q + v * q_1[m]).tr_mul(&(v_n * q + v * q_1[n]));
                    sum += (half + half.transpose()) * point.mass;
                    let both = w_2 * q + w_m * q_1[n] + w_n * q_1[m] + w * q_2;
                    let half = (point.inertia * (w * q)).tr_mul(&both)
                        + (point.inertia * (w_m * q + w * q_1[m])).tr_mul(&(w_n * q + w * q_1[n]));
                    sum += half + half.transpose();
                }
                out[second_index(m, n)] = sum;
            }
        }
        out
    }

    /// Material stiffness over the nodes' motions at a deformation.
    pub fn material_stiffness(&self, d: &Vector6) -> Matrix12 {
        let p = strain_operator(d);
        p.transpose() * lie::Matrix6::from_diagonal(&self.rigidity) * p
    }

    /// Derivatives of the inertia forces with respect to the nodes' motions, for fixed velocities and
    /// accelerations.
    pub fn inertia_by_motion(
        &self,
        d: &Vector6,
        velocity: &super::Vector12,
        rates: &super::Vector12,
    ) -> Matrix12 {
        self.inertia_by_deformation(d, velocity, rates) * strain_operator(d)
    }

    /// Derivatives of the inertia forces with respect to the components of d, for fixed velocities
    /// and accelerations of the nodes.
    fn inertia_by_deformation(
        &self,
        d: &Vector6,
        velocity: &super::Vector12,
        rates: &super::Vector12,
    ) -> SMatrix<f64, 12, 6> {
        let p = strain_operator(d);
        let d_rate = p * velocity;
        let first = self.mass_gradient_at(d);
        let second = self.mass_curvature_at(d);
        let energy = Vector6::from_fn(|m, _| 0.5 * velocity.dot(&(first[m] * velocity)));
        let mut out = SMatrix::<f64, 12, 6>::zeros();
        for n in 0..6 {
            let p_n = strain_operator_derivative(d, &Vector6::ith(n, 1.0));
            let rate_n = p_n * velocity;
            let momentum = first[n] * velocity;
            let mut column = first[n] * rates - p_n.tr_mul(&energy);
            let mut energy_n = Vector6::zeros();
            for m in 0..6 {
                let mixed = &second[second_index(m, n)];
                column += (mixed * velocity) * d_rate[m] + (first[m] * velocity) * rate_n[m];
                energy_n[m] = 0.5 * velocity.dot(&(mixed * velocity));
            }
            column -= p.tr_mul(&energy_n);
            for start in [0, 6] {
                let v = super::motion::half(velocity, start);
                let turned = lie::coadjoint(&v, &super::motion::half(&momentum, start));
                let mut part = column.fixed_rows_mut::<6>(start);
                part -= turned;
            }
            out.set_column(n, &column);
        }
        out
    }
}

impl MassPoint {
    /// Second derivative of the angular velocity per (V_E, ḋ); that of the velocity vanishes.
    fn turn_second_derivative(
        &self,
        delta: &Vector6,
        one: &Vector6,
        two: &Vector6,
    ) -> SMatrix<f64, 3, 12> {
        let pure = |v: Vector3<f64>| lie::join(&Vector3::zeros(), &v);
        let turning = |m: lie::Matrix6| -> Matrix3<f64> { m.fixed_view::<3, 3>(3, 3).into_owned() };
        let phi = pure(self.turn * delta);
        let (a, b) = (self.turn * one, self.turn * two);
        let t = turning(tangent(&phi));
        let t_b = turning(tangent_derivative(&phi, &pure(b)));
        let t_ab = turning(tangent_second_derivative(&phi, &pure(a), &pure(b)));
        let back = lie::exp_rotation(&(-(self.turn * delta)));
        let spin = lie::skew(&(t * a)) * lie::skew(&(t * b)) - lie::skew(&(t_b * a));
        let mut out = SMatrix::<f64, 3, 12>::zeros();
        out.fixed_view_mut::<3, 3>(0, 3).copy_from(&(spin * back));
        out.fixed_view_mut::<3, 6>(0, 6)
            .copy_from(&(t_ab * self.turn));
        out
    }
}

fn strain_operator_second_derivative(d: &Vector6, one: &Vector6, two: &Vector6) -> Matrix6x12 {
    let mut p = Matrix6x12::zeros();
    p.fixed_view_mut::<6, 6>(0, 0)
        .copy_from(&-inverse_tangent_second_derivative(&(-d), one, two));
    p.fixed_view_mut::<6, 6>(0, 6)
        .copy_from(&inverse_tangent_second_derivative(d, one, two));
    p
}

fn velocity_map_second_derivative(d: &Vector6, one: &Vector6, two: &Vector6) -> Matrix12 {
    let (half, a, b) = (d * 0.5, one * 0.5, two * 0.5);
    let p = strain_operator(d);
    let (p_a, p_b) = (
        strain_operator_derivative(d, one),
        strain_operator_derivative(d, two),
    );
    let p_ab = strain_operator_second_derivative(d, one, two);
    let t = tangent(&half);
    let (t_a, t_b) = (tangent_derivative(&half, &a), tangent_derivative(&half, &b));
    let t_ab = tangent_second_derivative(&half, &a, &b);
    let mut v_e = (t_ab * p + t_a * p_b + t_b * p_a + t * p_ab) * 0.5;
    let (spin_a, spin_b) = (adjoint_algebra(&(t * a)), adjoint_algebra(&(t * b)));
    let carry = (spin_a * spin_b - adjoint_algebra(&(t_b * a))) * lie::exp(&(-half)).adjoint();
    let mut block = v_e.fixed_view_mut::<6, 6>(0, 0);
    block += carry;
    stack(&v_e, &p_ab)
}

#[cfg(test)]
mod tests {
    use super::super::motion::half;
    use super::super::tests::deformed;
    use super::*;
    use crate::lie::{Frame, exp};

    #[test]
    fn curvature_of_the_mass_matches_differences_of_its_gradient() {
        let (element, d) = deformed();
        let h = 1e-5;
        for d in [d, element.reference] {
            let found = element.mass_curvature_at(&d);
            let scale = element.mass_gradient_at(&d)[4].norm();
            for n in 0..6 {
                let e = Vector6::ith(n, h);
                let plus = element.mass_gradient_at(&(d + e));
                let minus = element.mass_gradient_at(&(d - e));
                for m in 0..6 {
                    let difference = (plus[m] - minus[m]) / (2.0 * h);
                    let error = (difference - found[second_index(m, n)]).norm();
                    assert!(
                        error < 1e-7 * scale.max(difference.norm()),
                        "{m} {n} {error:e}"
                    );
                }
            }
        }
    }

    #[test]
    fn inertia_forces_change_with_deformation_as_differences_say() {
        let (element, d) = deformed();
        let v = super::super::Vector12::from_fn(|i, _| (1.3 * i as f64).sin() * 2.0);
        let a = super::super::Vector12::from_fn(|i, _| (0.7 * i as f64 + 1.0).cos() * 5.0);
        let found = element.inertia_by_deformation(&d, &v, &a);
        let h = 1e-5;
        for n in 0..6 {
            let e = Vector6::ith(n, h);
            let difference = (element.inertia_forces(&(d + e), &v, &a)
                - element.inertia_forces(&(d - e), &v, &a))
                / (2.0 * h);
            let error = (difference - found.column(n)).norm();
            assert!(error < 1e-7 * found.norm(), "{n} {error:e}");
        }
    }

    /// Second differences of d where nodes are shifted by u and turned by exp(φ).
    #[test]
    fn curvature_of_the_deformation_matches_second_differences() {
        let (element, _) = deformed();
        let (a, b) = (Frame::identity(), exp(&element.reference));
        let moved = |frame: &Frame, z: &Vector6| {
            frame.compose(&Frame::new(
                lie::exp_rotation(&lie::angular(z)),
                lie::linear(z),
            ))
        };
        let z = [
            super::super::Vector12::from_fn(|i, _| (1.3 * i as f64).sin()),
            super::super::Vector12::from_fn(|i, _| (0.7 * i as f64 + 1.0).cos()),
        ];
        let at = |s: f64, t: f64| {
            let z = z[0] * s + z[1] * t;
            element.deformation(&moved(&a, &half(&z, 0)), &moved(&b, &half(&z, 6)))
        };
        let h = 1e-3;
        let second = |h: f64| (at(h, h) - at(h, -h) - at(-h, h) + at(-h, -h)) / (4.0 * h * h);
        let difference = (second(h) * 4.0 - second(2.0 * h)) / 3.0;
        for m in 0..6 {
            let form = element.strain_curvature(&Vector6::ith(m, 1.0));
            let found = z[0].dot(&(form * z[1]));
            assert!((difference[m] - found).abs() < 1e-7, "{m}: {found}");
            assert!((form - form.transpose()).norm() < 1e-14);
        }
    }
}
