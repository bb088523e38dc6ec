//! Inertia of a moving, deformed element: forces, energy, momentum's derivatives.
//!
//! T = ½vᵀM(d)v with v the velocities of both nodes in their own axes. Lagrange's equations in
//! these quasi-velocities are d/dt(Mv) − ad(v)ᵀMv − Pᵀ∂T/∂d with ḋ = Pv.

use super::{
    BeamElement, MassPoint, Matrix12, Vector12, strain_operator, velocity_map,
    velocity_map_derivative,
};
use crate::lie::{self, Frame, Matrix6, Vector6, adjoint_algebra, coadjoint, join};
use nalgebra::{SMatrix, Vector3};

/// How inertia forces change with accelerations and velocities.
pub struct InertiaTangent {
    /// By the accelerations.
    pub mass: Matrix12,
    /// By the velocities.
    pub gyroscopic: Matrix12,
}

/// One six-vector of two.
pub fn half(both: &Vector12, first: usize) -> Vector6 {
    both.fixed_rows::<6>(first).into_owned()
}

/// Two six-vectors as one.
pub fn pair(a: &Vector6, b: &Vector6) -> Vector12 {
    let mut both = Vector12::zeros();
    both.fixed_rows_mut::<6>(0).copy_from(a);
    both.fixed_rows_mut::<6>(6).copy_from(b);
    both
}

impl BeamElement {
    /// Rate of d for velocities of the nodes.
    pub fn deformation_rate(&self, d: &Vector6, velocity: &Vector12) -> Vector6 {
        strain_operator(d) * velocity
    }

    /// Elastic forces on the nodes.
    pub fn stress_forces(&self, d: &Vector6) -> Vector12 {
        let stress = self.rigidity.component_mul(&(d - self.reference));
        strain_operator(d).transpose() * stress
    }

    /// Forces on the nodes of dampers parallel to the section's stiffness, `factor` times as large.
    pub fn strain_rate_forces(&self, d: &Vector6, velocity: &Vector12, factor: f64) -> Vector12 {
        let p = strain_operator(d);
        p.transpose() * self.rigidity.component_mul(&(p * velocity)) * factor
    }

    /// Inertia forces on the nodes for velocities and accelerations (rates of the velocities in
    /// node axes).
    pub fn inertia_forces(&self, d: &Vector6, velocity: &Vector12, rates: &Vector12) -> Vector12 {
        let map = velocity_map(d);
        let z = map * velocity;
        let d_rate = half(&z, 6);
        let map_rate = velocity_map_derivative(d, &d_rate);
        let z_rate = map * rates + map_rate * velocity;
        let delta = d - self.reference;
        let mut momentum = Vector12::zeros();
        let mut momentum_rate = Vector12::zeros();
        let mut by_deformation = Vector6::zeros();
        for point in &self.points {
            let (translation, rotation) = point.jacobians(&delta);
            let (translation_rate, rotation_rate) = point.jacobian_derivatives(&delta, &d_rate);
            let linear = translation * z * point.mass;
            let angular = point.inertia * (rotation * z);
            momentum += translation.tr_mul(&linear) + rotation.tr_mul(&angular);
            let linear_rate = (translation * z_rate + translation_rate * z) * point.mass;
            let angular_rate = point.inertia * (rotation * z_rate + rotation_rate * z);
            momentum_rate += translation.tr_mul(&linear_rate)
                + rotation.tr_mul(&angular_rate)
                + translation_rate.tr_mul(&linear)
                + rotation_rate.tr_mul(&angular);
            by_deformation += point.energy_gradient(&delta, &z, &linear, &angular);
        }
        by_deformation += map_gradient(d, &momentum, velocity);
        let on_nodes = map.tr_mul(&momentum);
        let turning = pair(
            &coadjoint(&half(velocity, 0), &half(&on_nodes, 0)),
            &coadjoint(&half(velocity, 6), &half(&on_nodes, 6)),
        );
        let strain = map.fixed_view::<6, 12>(6, 0);
        map_rate.tr_mul(&momentum) + map.tr_mul(&momentum_rate)
            - turning
            - strain.tr_mul(&by_deformation)
    }

    /// Derivatives of [`Self::inertia_forces`] with respect to accelerations and velocities.
    pub fn inertia_tangent(&self, d: &Vector6, velocity: &Vector12) -> InertiaTangent {
        let mass = self.mass_at(d);
        let strain = strain_operator(d);
        let d_rate = strain * velocity;
        let momentum = mass * velocity;
        let mut gyroscopic = Matrix12::zeros();
        let mut by_deformation = SMatrix::<f64, 12, 6>::zeros();
        for (m, gradient) in self.mass_gradient_at(d).iter().enumerate() {
            gyroscopic += gradient * d_rate[m];
            by_deformation.set_column(m, &(gradient * velocity));
        }
        let carried = by_deformation * strain;
        gyroscopic += carried - carried.transpose();
        for first in [0, 6] {
            let v = half(velocity, first);
            let rows = adjoint_algebra(&v).transpose() * mass.fixed_view::<6, 12>(first, 0);
            let mut block = gyroscopic.fixed_view_mut::<6, 12>(first, 0);
            block -= rows;
            let turned = coadjoint_by_motion(&half(&momentum, first));
            let mut block = gyroscopic.fixed_view_mut::<6, 6>(first, first);
            block -= turned;
        }
        InertiaTangent { mass, gyroscopic }
    }

    /// Mass, and first moment of mass about the origin of the outer frame, of an element whose
    /// first node is at `a`.
    pub fn first_moment(&self, a: &Frame, d: &Vector6) -> (f64, Vector3<f64>) {
        let element = a.compose(&lie::exp(&(d * 0.5)));
        let delta = d - self.reference;
        let mut mass = 0.0;
        let mut moment = Vector3::zeros();
        for point in &self.points {
            mass += point.mass;
            let local = point.position + point.shift * delta;
            moment += (element.position + element.rotation * local) * point.mass;
        }
        (mass, moment)
    }
}

/// The matrix N with N·δ = ad(δ)ᵀ·p.
pub fn coadjoint_by_motion(p: &Vector6) -> Matrix6 {
    let mut out = Matrix6::zeros();
    for j in 0..6 {
        out.set_column(j, &coadjoint(&Vector6::ith(j, 1.0), p));
    }
    out
}

impl MassPoint {
    /// ∂T/∂d of this point for fixed z = (V_E, ḋ), from its linear and angular momentum.
    fn energy_gradient(
        &self,
        delta: &Vector6,
        z: &Vector12,
        linear: &Vector3<f64>,
        angular: &Vector3<f64>,
    ) -> Vector6 {
        let w = z.fixed_rows::<3>(3).into_owned();
        let phi = self.turn * delta;
        let turning = self.turn * half(z, 6);
        let carried = lie::exp_rotation(&(-phi)) * w;
        let pure = |v: &Vector3<f64>| join(&Vector3::zeros(), v);
        let t = lie::tangent(&pure(&phi));
        let product =
            lie::tangent_product_gradient(&pure(&phi), &t, &pure(angular), &pure(&turning));
        let spin = t.fixed_view::<3, 3>(3, 3).tr_mul(&carried.cross(angular));
        self.shift.tr_mul(&linear.cross(&w)) + self.turn.tr_mul(&(lie::angular(&product) - spin))
    }
}

/// Gradient with respect to d of momentumᵀ·(V_E, ḋ) for fixed velocities of the nodes.
fn map_gradient(d: &Vector6, momentum: &Vector12, velocity: &Vector12) -> Vector6 {
    let middle = d * 0.5;
    let t = lie::tangent(&middle);
    let (of_frame, of_rate) = (half(momentum, 0), half(momentum, 6));
    let (v_a, v_b) = (half(velocity, 0), half(velocity, 6));
    let d_rate = strain_operator(d) * velocity;
    let carried = lie::exp(&middle).pull_back(&v_a);
    let on_rate = of_rate + t.tr_mul(&of_frame) * 0.5;
    t.tr_mul(&coadjoint(&carried, &of_frame)) * 0.5
        + lie::tangent_product_gradient(&middle, &t, &of_frame, &d_rate) * 0.25
        + lie::inverse_tangent_product_gradient(&(-d), &on_rate, &v_a)
        + lie::inverse_tangent_product_gradient(d, &on_rate, &v_b)
}

#[cfg(test)]
mod tests {
    use super::super::tests::deformed;
    use super::*;

    const VELOCITY: [f64; 12] = [
        0.4, -1.1, 0.7, 2.0, -1.3, 0.9, 0.5, -0.8, 0.2, 1.7, -1.9, 1.4,
    ];
    const RATES: [f64; 12] = [
        3.0, -2.0, 5.0, -7.0, 4.0, 6.0, 2.5, -3.5, 4.5, -6.0, 5.0, 8.0,
    ];

    /// The same forces from the matrices M(d) and ∂M/∂d.
    #[test]
    fn inertia_forces_are_those_of_lagrange() {
        let (element, d) = deformed();
        let v = Vector12::from_column_slice(&VELOCITY);
        let a = Vector12::from_column_slice(&RATES);
        let p = strain_operator(&d);
        let d_rate = p * v;
        let mass = element.mass_at(&d);
        let mut expected = mass * a;
        for (m, gradient) in element.mass_gradient_at(&d).iter().enumerate() {
            expected += gradient * v * d_rate[m];
            expected -= p.row(m).transpose() * (0.5 * v.dot(&(gradient * v)));
        }
        let momentum = mass * v;
        expected -= pair(
            &coadjoint(&half(&v, 0), &half(&momentum, 0)),
            &coadjoint(&half(&v, 6), &half(&momentum, 6)),
        );
        let found = element.inertia_forces(&d, &v, &a);
        assert!((found - expected).norm() < 1e-12 * expected.norm());
    }

    #[test]
    fn inertia_tangent_matches_differences() {
        let (element, d) = deformed();
        let v = Vector12::from_column_slice(&VELOCITY);
        let a = Vector12::from_column_slice(&RATES);
        let tangent = element.inertia_tangent(&d, &v);
        for i in 0..12 {
            let e = Vector12::ith(i, 1e-3);
            let by = |change_v: &Vector12, change_a: &Vector12| {
                let plus = element.inertia_forces(&d, &(v + change_v), &(a + change_a));
                let minus = element.inertia_forces(&d, &(v - change_v), &(a - change_a));
                (plus - minus) / 2e-3
            };
            let zero = Vector12::zeros();
            assert!((by(&e, &zero) - tangent.gyroscopic.column(i)).norm() < 1e-10);
            assert!((by(&zero, &e) - tangent.mass.column(i)).norm() < 1e-10);
        }
    }

    #[test]
    fn a_uniform_field_acts_on_the_first_moment() {
        let (element, d) = deformed();
        let a = lie::exp(&Vector6::new(0.3, 0.1, -0.4, 0.5, -0.2, 0.8));
        let g = Vector3::new(1.0, -2.0, 9.0);
        let b = a.compose(&lie::exp(&d));
        let local = |f: &Frame| join(&f.rotation.tr_mul(&g), &Vector3::zeros());
        let force = element.mass_at(&d) * pair(&local(&a), &local(&b));
        let potential = |fa: &Frame, fb: &Frame| {
            let d = element.deformation(fa, fb);
            g.dot(&element.first_moment(fa, &d).1)
        };
        let h = 1e-5;
        for i in 0..12 {
            let e = Vector6::ith(i % 6, h);
            let at = |s: f64| {
                let moved = lie::exp(&(e * s));
                if i < 6 {
                    potential(&a.compose(&moved), &b)
                } else {
                    potential(&a, &b.compose(&moved))
                }
            };
            let slope = (at(1.0) - at(-1.0)) / (2.0 * h);
            assert!((slope - force[i]).abs() < 1e-8 * force.norm(), "{i}");
        }
    }
}
