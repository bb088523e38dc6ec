//! Inertia of a moving, deformed element: forces, energy, momentum's derivatives.
//!
//! T = ½vᵀM(d)v with v the velocities of both nodes in their own axes. Lagrange's equations in
//! these quasi-velocities are d/dt(Mv) − ad(v)ᵀMv − Pᵀ∂T/∂d with ḋ = Pv.

use super::{BeamElement, MassPoint, Matrix12, Vector12, strain_operator};
use crate::lie::{self, Frame, Matrix6, Vector6, adjoint_algebra, bracket, coadjoint, join};
use nalgebra::{Matrix3, SMatrix, Vector3};

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
        let map = VelocityMap::new(d);
        let motion = map.motion(velocity);
        let change = MapRate::new(&map, d, velocity, &motion.d_rate);
        let mut motion_rate = map.motion(rates);
        motion_rate.frame += change.frame + map.t * change.d_rate * 0.5;
        motion_rate.d_rate += change.d_rate;
        let delta = d - self.reference;
        let mut momentum = Momentum::default();
        let mut momentum_rate = Momentum::default();
        let mut by_deformation = Vector6::zeros();
        for point in &self.points {
            let moving = point.moving(&delta, &motion);
            let rate = moving.rates(point, &motion, &motion_rate);
            moving.add_momentum(point, [&moving.linear, &moving.angular], &mut momentum);
            moving.add_momentum(point, [&rate.linear, &rate.angular], &mut momentum_rate);
            moving.add_turning(point, &rate, &mut momentum_rate);
            by_deformation += moving.energy_gradient(point, &motion);
        }
        by_deformation += map.gradient(d, &momentum, velocity, &motion.d_rate);
        let on_nodes = map.forces(&momentum);
        let turning = pair(
            &coadjoint(&half(velocity, 0), &half(&on_nodes, 0)),
            &coadjoint(&half(velocity, 6), &half(&on_nodes, 6)),
        );
        momentum_rate.d_rate -= by_deformation;
        change.forces(&map, &momentum) + map.forces(&momentum_rate) - turning
    }

    /// Kinetic energy for velocities of the nodes.
    pub fn kinetic_energy(&self, d: &Vector6, velocity: &Vector12) -> f64 {
        let motion = VelocityMap::new(d).motion(velocity);
        let delta = d - self.reference;
        let twice = self.points.iter().map(|point| {
            let moving = point.moving(&delta, &motion);
            moving.linear.norm_squared() / point.mass + moving.angular.dot(&moving.spin)
        });
        0.5 * twice.sum::<f64>()
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

/// Velocity of the element frame and ḋ, or their rates.
struct ElementMotion {
    frame: Vector6,
    d_rate: Vector6,
}

/// Forces or momenta that belong to [`ElementMotion`].
#[derive(Default)]
struct Momentum {
    frame: Vector6,
    d_rate: Vector6,
}

/// (V_E, ḋ) from velocities of both nodes [M 3.6], without its matrix.
struct VelocityMap {
    /// ḋ per velocity of the nodes [M 3.2].
    strain: [Matrix6; 2],
    /// exp(d/2) and T(d/2).
    middle: Frame,
    t: Matrix6,
}

impl VelocityMap {
    fn new(d: &Vector6) -> Self {
        let right = lie::inverse_tangent(d);
        let middle = d * 0.5;
        Self {
            // The odd part of T⁻¹ is ½ad.
            strain: [adjoint_algebra(d) - right, right],
            middle: lie::exp(&middle),
            t: lie::tangent(&middle),
        }
    }

    fn motion(&self, velocity: &Vector12) -> ElementMotion {
        let v_a = half(velocity, 0);
        let d_rate = self.strain[0] * v_a + self.strain[1] * half(velocity, 6);
        ElementMotion {
            frame: self.middle.pull_back(&v_a) + self.t * d_rate * 0.5,
            d_rate,
        }
    }

    /// The transpose.
    fn forces(&self, momentum: &Momentum) -> Vector12 {
        let on_rate = momentum.d_rate + self.t.tr_mul(&momentum.frame) * 0.5;
        let carried = self.middle.carry_force(&momentum.frame);
        pair(
            &(self.strain[0].tr_mul(&on_rate) + carried),
            &self.strain[1].tr_mul(&on_rate),
        )
    }

    /// Gradient with respect to d of momentumᵀ·(V_E, ḋ) for fixed velocities of the nodes.
    fn gradient(
        &self,
        d: &Vector6,
        momentum: &Momentum,
        velocity: &Vector12,
        d_rate: &Vector6,
    ) -> Vector6 {
        let (v_a, v_b) = (half(velocity, 0), half(velocity, 6));
        let carried = self.middle.pull_back(&v_a);
        let on_rate = momentum.d_rate + self.t.tr_mul(&momentum.frame) * 0.5;
        self.t.tr_mul(&coadjoint(&carried, &momentum.frame)) * 0.5
            + lie::tangent_product_gradient(&(d * 0.5), &self.t, &momentum.frame, d_rate) * 0.25
            + lie::inverse_tangent_product_gradient(&(-d), &on_rate, &v_a)
            + lie::inverse_tangent_product_gradient(d, &on_rate, &v_b)
    }
}

/// The rate of [`VelocityMap`] along a motion.
struct MapRate {
    strain: [Matrix6; 2],
    /// Rate of T(d/2).
    t: Matrix6,
    /// Angular and linear velocity of E relative to the first node.
    spin: Vector6,
    /// What it makes of the velocities: of V_E without the part of `d_rate`, and of ḋ.
    frame: Vector6,
    d_rate: Vector6,
}

impl MapRate {
    fn new(map: &VelocityMap, d: &Vector6, velocity: &Vector12, d_rate: &Vector6) -> Self {
        let right = lie::inverse_tangent_derivative(d, d_rate);
        let strain = [adjoint_algebra(d_rate) - right, right];
        let t = lie::tangent_derivative(&(d * 0.5), &(d_rate * 0.5));
        let spin = map.t * d_rate * 0.5;
        let v_a = half(velocity, 0);
        let carried = map.middle.pull_back(&v_a);
        Self {
            frame: t * d_rate * 0.5 - bracket(&spin, &carried),
            d_rate: strain[0] * v_a + strain[1] * half(velocity, 6),
            strain,
            t,
            spin,
        }
    }

    /// The transpose.
    fn forces(&self, map: &VelocityMap, momentum: &Momentum) -> Vector12 {
        let on_rate = momentum.d_rate + map.t.tr_mul(&momentum.frame) * 0.5;
        let turned = self.t.tr_mul(&momentum.frame) * 0.5;
        let carried = map
            .middle
            .carry_force(&coadjoint(&self.spin, &momentum.frame));
        pair(
            &(self.strain[0].tr_mul(&on_rate) + map.strain[0].tr_mul(&turned) - carried),
            &(self.strain[1].tr_mul(&on_rate) + map.strain[1].tr_mul(&turned)),
        )
    }
}

/// A point in motion: everything in element axes, but rotations in axes turned with the point.
struct MovingPoint {
    place: Vector3<f64>,
    phi: Vector3<f64>,
    phi_rate: Vector3<f64>,
    /// Rate of the place in E.
    shift_rate: Vector3<f64>,
    /// From element axes to those of the point.
    turned: Matrix3<f64>,
    t: Matrix3<f64>,
    /// Angular velocity of E in axes of the point, and of the point relative to E.
    carried: Vector3<f64>,
    relative: Vector3<f64>,
    /// Angular velocity.
    spin: Vector3<f64>,
    /// Momentum.
    linear: Vector3<f64>,
    /// Angular momentum.
    angular: Vector3<f64>,
}

/// Rates of momentum and angular momentum.
struct MomentumRates {
    linear: Vector3<f64>,
    angular: Vector3<f64>,
    /// Rate of the rotational tangent map.
    t: Matrix3<f64>,
}

impl MassPoint {
    /// [M 3.7]
    fn moving(&self, delta: &Vector6, motion: &ElementMotion) -> MovingPoint {
        let (v, w) = (lie::linear(&motion.frame), lie::angular(&motion.frame));
        let place = self.position + self.shift * delta;
        let phi = self.turn * delta;
        let phi_rate = self.turn * motion.d_rate;
        let shift_rate = self.shift * motion.d_rate;
        let turned = lie::exp_rotation(&(-phi));
        let t = lie::rotation_tangent(&phi);
        let (carried, relative) = (turned * w, t * phi_rate);
        let spin = carried + relative;
        MovingPoint {
            linear: (v + w.cross(&place) + shift_rate) * self.mass,
            angular: self.inertia * spin,
            place,
            phi,
            phi_rate,
            shift_rate,
            turned,
            t,
            carried,
            relative,
            spin,
        }
    }
}

impl MovingPoint {
    fn rates(
        &self,
        point: &MassPoint,
        motion: &ElementMotion,
        rate: &ElementMotion,
    ) -> MomentumRates {
        let w = lie::angular(&motion.frame);
        let (v_rate, w_rate) = (lie::linear(&rate.frame), lie::angular(&rate.frame));
        let t = lie::rotation_tangent_derivative(&self.phi, &self.phi_rate);
        let spin_rate = self.turned * w_rate + self.t * (point.turn * rate.d_rate)
            - self.relative.cross(&self.carried)
            + t * self.phi_rate;
        let velocity_rate = v_rate
            + w_rate.cross(&self.place)
            + point.shift * rate.d_rate
            + w.cross(&self.shift_rate);
        MomentumRates {
            linear: velocity_rate * point.mass,
            angular: point.inertia * spin_rate,
            t,
        }
    }

    /// What a momentum and an angular momentum of the point are over (V_E, ḋ).
    fn add_momentum(
        &self,
        point: &MassPoint,
        [linear, angular]: [&Vector3<f64>; 2],
        out: &mut Momentum,
    ) {
        let moment = self.place.cross(linear) + self.turned.tr_mul(angular);
        out.frame += join(linear, &moment);
        out.d_rate += point.shift.tr_mul(linear) + point.turn.tr_mul(&self.t.tr_mul(angular));
    }

    /// What the changing map from (V_E, ḋ) makes of the point's momenta.
    fn add_turning(&self, point: &MassPoint, rate: &MomentumRates, out: &mut Momentum) {
        let moment = self.shift_rate.cross(&self.linear)
            + self.turned.tr_mul(&self.relative.cross(&self.angular));
        out.frame += join(&Vector3::zeros(), &moment);
        out.d_rate += point.turn.tr_mul(&rate.t.tr_mul(&self.angular));
    }

    /// ∂T/∂d of this point for fixed (V_E, ḋ).
    fn energy_gradient(&self, point: &MassPoint, motion: &ElementMotion) -> Vector6 {
        let w = lie::angular(&motion.frame);
        let product = lie::rotation_tangent_product_gradient(
            &self.phi,
            &self.t,
            &self.angular,
            &self.phi_rate,
        );
        let spin = self.t.tr_mul(&self.carried.cross(&self.angular));
        point.shift.tr_mul(&self.linear.cross(&w)) + point.turn.tr_mul(&(product - spin))
    }
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
    fn kinetic_energy_is_that_of_the_mass() {
        let (element, d) = deformed();
        let v = Vector12::from_column_slice(&VELOCITY);
        let expected = 0.5 * v.dot(&(element.mass_at(&d) * v));
        let found = element.kinetic_energy(&d, &v);
        assert!((found / expected - 1.0).abs() < 1e-14);
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
