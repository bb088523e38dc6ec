//! Two-node geometrically exact beam on SE(3) with consistent inertia.
//!
//! Strain: d = log(H_A⁻¹H_B), ε = (d − d⁰)/L. The shear compliance is enlarged by L²/12EI, which
//! makes the linearised element exact at its nodes.
//!
//! Inertia: material points are placed in the element frame E = H_A·exp(d/2) [M 3.5], where they
//! move by the exact Timoshenko shape functions of the element's deformation d − d⁰. Velocities are the
//! exact derivatives of these positions, the motion of E included, so that the mass depends on d
//! alone and rigid motions of a deformed element carry their exact kinetic energy.

mod curvature;
pub mod motion;

use crate::description::mechanism::Section;
use crate::lie::{
    self, Frame, Matrix6, Vector6, adjoint_algebra, inverse_tangent, inverse_tangent_derivative,
    skew, tangent, tangent_derivative,
};
pub use curvature::second_index;
use nalgebra::{Matrix3, SMatrix, Vector3};

/// Matrix over the velocities of both nodes.
pub type Matrix12 = SMatrix<f64, 12, 12>;
type Matrix6x12 = SMatrix<f64, 6, 12>;
type Matrix12x6 = SMatrix<f64, 12, 6>;
type Matrix3x6 = SMatrix<f64, 3, 6>;
/// Forces on both nodes, each in the node's own frame.
pub type Vector12 = SMatrix<f64, 12, 1>;

/// Four-point Gauss rule on [0, 1]: exact for the products of cubics in a straight element.
const GAUSS: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];

/// One quadrature point: reference position and inertia in element axes, and how the element's
/// deformation moves and turns it.
#[derive(Debug, Clone)]
struct MassPoint {
    position: Vector3<f64>,
    shift: Matrix3x6,
    turn: Matrix3x6,
    mass: f64,
    inertia: Matrix3<f64>,
}

/// Constants of one element.
#[derive(Debug, Clone)]
pub struct BeamElement {
    reference: Vector6,
    rigidity: Vector6,
    points: Vec<MassPoint>,
    /// Stiffness in the undeformed configuration.
    pub stiffness: Matrix12,
    /// Mass in the undeformed configuration.
    pub mass: Matrix12,
    /// Derivatives of the mass with respect to the six components of d, undeformed.
    pub mass_gradient: [Matrix12; 6],
    /// Second derivatives of the mass, undeformed, in the order of [`second_index`].
    pub mass_curvature: Box<[Matrix12; 21]>,
    /// d's derivative with respect to the nodes' motions, undeformed.
    pub strain_operator: Matrix6x12,
    /// Derivatives of `strain_operator` with respect to the components of d.
    strain_gradient: [Matrix6x12; 6],
}

impl BeamElement {
    /// An element of arc length `length` between two frames as drawn; its stiffness [M 3.4].
    pub fn new(a: &Frame, b: &Frame, length: f64, section: &Section) -> Self {
        let reference = lie::log(&a.relative(b));
        let compliance_y = 1.0 / section.shear_y + length * length / (12.0 * section.bending_z);
        let compliance_z = 1.0 / section.shear_z + length * length / (12.0 * section.bending_y);
        let rigidity = Vector6::new(
            section.axial,
            1.0 / compliance_y,
            1.0 / compliance_z,
            section.torsion,
            section.bending_y,
            section.bending_z,
        ) / length;
        let mut element = Self {
            reference,
            rigidity,
            points: mass_points(&reference, length, section),
            stiffness: Matrix12::zeros(),
            mass: Matrix12::zeros(),
            mass_gradient: [Matrix12::zeros(); 6],
            mass_curvature: Box::new([Matrix12::zeros(); 21]),
            strain_operator: strain_operator(&reference),
            strain_gradient: std::array::from_fn(|m| {
                strain_operator_derivative(&reference, &Vector6::ith(m, 1.0))
            }),
        };
        let p = element.strain_operator;
        element.stiffness = p.transpose() * Matrix6::from_diagonal(&rigidity) * p;
        element.mass = element.mass_at(&reference);
        element.mass_gradient = element.mass_gradient_at(&reference);
        element.mass_curvature = element.mass_curvature_at(&reference);
        element
    }

    /// The deformation d between two node frames [M 3.1].
    pub fn deformation(&self, a: &Frame, b: &Frame) -> Vector6 {
        lie::log(&a.relative(b))
    }

    /// Strain energy [M 3.3].
    pub fn strain_energy(&self, d: &Vector6) -> f64 {
        let e = d - self.reference;
        0.5 * e.dot(&self.rigidity.component_mul(&e))
    }

    /// Elastic forces on the nodes and their derivative with respect to the nodes' motions.
    pub fn elastic_forces(&self, d: &Vector6) -> (Vector12, Matrix12) {
        let p = strain_operator(d);
        let stress = self.rigidity.component_mul(&(d - self.reference));
        let mut tangent = p.transpose() * Matrix6::from_diagonal(&self.rigidity) * p;
        let mut by_deformation = Matrix12x6::zeros();
        for m in 0..6 {
            let dp = strain_operator_derivative(d, &Vector6::ith(m, 1.0));
            by_deformation.set_column(m, &(dp.transpose() * stress));
        }
        tangent += by_deformation * p;
        (p.transpose() * stress, tangent)
    }

    /// Consistent mass over the velocities of both nodes [M 3.8].
    pub fn mass_at(&self, d: &Vector6) -> Matrix12 {
        let q = velocity_map(d);
        let inner = self.inertia(&(d - self.reference));
        q.transpose() * inner * q
    }

    /// Derivatives of [`Self::mass_at`] with respect to the components of d.
    pub fn mass_gradient_at(&self, d: &Vector6) -> [Matrix12; 6] {
        let q = velocity_map(d);
        let delta = d - self.reference;
        let inner = self.inertia(&delta);
        let mut out = [Matrix12::zeros(); 6];
        for (m, gradient) in out.iter_mut().enumerate() {
            let direction = Vector6::ith(m, 1.0);
            let dq = velocity_map_derivative(d, &direction);
            let half = dq.transpose() * inner * q;
            *gradient =
                half + half.transpose() + q.transpose() * self.inertia_derivative(&delta, m) * q;
        }
        out
    }

    /// Inertia over (velocity of E, rate of d).
    fn inertia(&self, delta: &Vector6) -> Matrix12 {
        let mut out = Matrix12::zeros();
        for point in &self.points {
            let (translation, rotation) = point.jacobians(delta);
            out += translation.transpose() * translation * point.mass
                + rotation.transpose() * point.inertia * rotation;
        }
        out
    }

    fn inertia_derivative(&self, delta: &Vector6, m: usize) -> Matrix12 {
        let mut out = Matrix12::zeros();
        for point in &self.points {
            let (translation, rotation) = point.jacobians(delta);
            let (d_translation, d_rotation) =
                point.jacobian_derivatives(delta, &Vector6::ith(m, 1.0));
            let half = d_translation.transpose() * translation * point.mass
                + d_rotation.transpose() * point.inertia * rotation;
            out += half + half.transpose();
        }
        out
    }
}

impl MassPoint {
    /// Velocity (element axes) and angular velocity (axes turned with the point) per (V_E, ḋ)
    /// [M 3.7].
    fn jacobians(&self, delta: &Vector6) -> (SMatrix<f64, 3, 12>, SMatrix<f64, 3, 12>) {
        let position = self.position + self.shift * delta;
        let phi = self.turn * delta;
        let mut translation = SMatrix::<f64, 3, 12>::zeros();
        translation
            .fixed_view_mut::<3, 3>(0, 0)
            .copy_from(&Matrix3::identity());
        translation
            .fixed_view_mut::<3, 3>(0, 3)
            .copy_from(&(-skew(&position)));
        translation
            .fixed_view_mut::<3, 6>(0, 6)
            .copy_from(&self.shift);
        let mut rotation = SMatrix::<f64, 3, 12>::zeros();
        rotation
            .fixed_view_mut::<3, 3>(0, 3)
            .copy_from(&lie::exp_rotation(&(-phi)));
        rotation
            .fixed_view_mut::<3, 6>(0, 6)
            .copy_from(&(lie::rotation_tangent(&phi) * self.turn));
        (translation, rotation)
    }

    fn jacobian_derivatives(
        &self,
        delta: &Vector6,
        direction: &Vector6,
    ) -> (SMatrix<f64, 3, 12>, SMatrix<f64, 3, 12>) {
        let phi = self.turn * delta;
        let d_phi = self.turn * direction;
        let mut translation = SMatrix::<f64, 3, 12>::zeros();
        translation
            .fixed_view_mut::<3, 3>(0, 3)
            .copy_from(&(-skew(&(self.shift * direction))));
        let spin = lie::rotation_tangent(&phi) * d_phi;
        let d_tangent = lie::rotation_tangent_derivative(&phi, &d_phi);
        let mut rotation = SMatrix::<f64, 3, 12>::zeros();
        rotation
            .fixed_view_mut::<3, 3>(0, 3)
            .copy_from(&(-(skew(&spin) * lie::exp_rotation(&(-phi)))));
        rotation
            .fixed_view_mut::<3, 6>(0, 6)
            .copy_from(&(d_tangent * self.turn));
        (translation, rotation)
    }
}

/// ḋ per velocities of both nodes: [−T⁻¹(−d), T⁻¹(d)] [M 3.2].
fn strain_operator(d: &Vector6) -> Matrix6x12 {
    let mut p = Matrix6x12::zeros();
    let right = inverse_tangent(d);
    // The odd part of T⁻¹ is ½ad.
    p.fixed_view_mut::<6, 6>(0, 0)
        .copy_from(&(adjoint_algebra(d) - right));
    p.fixed_view_mut::<6, 6>(0, 6).copy_from(&right);
    p
}

fn strain_operator_derivative(d: &Vector6, direction: &Vector6) -> Matrix6x12 {
    let mut p = Matrix6x12::zeros();
    let right = inverse_tangent_derivative(d, direction);
    p.fixed_view_mut::<6, 6>(0, 0)
        .copy_from(&(adjoint_algebra(direction) - right));
    p.fixed_view_mut::<6, 6>(0, 6).copy_from(&right);
    p
}

/// (V_E, ḋ) per velocities of both nodes [M 3.6].
fn velocity_map(d: &Vector6) -> Matrix12 {
    let half = d * 0.5;
    let p = strain_operator(d);
    let mut v_e = tangent(&half) * p * 0.5;
    let carry = lie::exp(&(-half)).adjoint();
    for i in 0..6 {
        for j in 0..6 {
            v_e[(i, j)] += carry[(i, j)];
        }
    }
    stack(&v_e, &p)
}

fn velocity_map_derivative(d: &Vector6, direction: &Vector6) -> Matrix12 {
    let half = d * 0.5;
    let p = strain_operator(d);
    let dp = strain_operator_derivative(d, direction);
    let t = tangent(&half);
    let mut v_e = (tangent_derivative(&half, &(direction * 0.5)) * p + t * dp) * 0.5;
    let spin = t * direction * 0.5;
    let carry = -(adjoint_algebra(&spin) * lie::exp(&(-half)).adjoint());
    for i in 0..6 {
        for j in 0..6 {
            v_e[(i, j)] += carry[(i, j)];
        }
    }
    stack(&v_e, &dp)
}

fn stack(top: &Matrix6x12, bottom: &Matrix6x12) -> Matrix12 {
    let mut q = Matrix12::zeros();
    q.fixed_view_mut::<6, 12>(0, 0).copy_from(top);
    q.fixed_view_mut::<6, 12>(6, 0).copy_from(bottom);
    q
}

fn mass_points(reference: &Vector6, length: f64, section: &Section) -> Vec<MassPoint> {
    let half = reference * 0.5;
    let to_nodes = nodal_motions(&half);
    GAUSS
        .iter()
        .map(|&(xi, weight)| {
            let frame = lie::exp(&(reference * (xi - 0.5)));
            let (shift, turn) = shape_functions(xi, length, section);
            let r = frame.rotation;
            MassPoint {
                position: frame.position,
                shift: shift * to_nodes,
                turn: turn * to_nodes,
                mass: weight * length * section.mass_per_length,
                inertia: r
                    * Matrix3::from_diagonal(&section.rotary_inertia)
                    * r.transpose()
                    * (weight * length),
            }
        })
        .collect()
}

/// Motions of the nodes in element axes per change of d: A = E·exp(−d/2), B = E·exp(d/2).
fn nodal_motions(half: &Vector6) -> Matrix12x6 {
    let mut out = Matrix12x6::zeros();
    for (row, sign) in [(0, -1.0), (6, 1.0)] {
        let end = half * sign;
        let own = tangent(&end) * (0.5 * sign);
        let r = lie::exp(&end).rotation;
        let linear = r * own.fixed_view::<3, 6>(0, 0);
        let angular = r * own.fixed_view::<3, 6>(3, 0);
        out.fixed_view_mut::<3, 6>(row, 0).copy_from(&linear);
        out.fixed_view_mut::<3, 6>(row + 3, 0).copy_from(&angular);
    }
    out
}

/// Exact static (interdependent) shape functions of a Timoshenko beam: displacement and rotation
/// at ξ per nodal displacements and rotations.
fn shape_functions(
    xi: f64,
    length: f64,
    section: &Section,
) -> (SMatrix<f64, 3, 12>, SMatrix<f64, 3, 12>) {
    let mut shift = SMatrix::<f64, 3, 12>::zeros();
    let mut turn = SMatrix::<f64, 3, 12>::zeros();
    shift[(0, 0)] = 1.0 - xi;
    shift[(0, 6)] = xi;
    turn[(0, 3)] = 1.0 - xi;
    turn[(0, 9)] = xi;
    // Bending in x-y uses (v, φ_z); in x-z it uses (w, −φ_y).
    for (axis, rotation, sign, ratio) in [
        (1, 5, 1.0, section.bending_z / section.shear_y),
        (2, 4, -1.0, section.bending_y / section.shear_z),
    ] {
        let phi = 12.0 * ratio / (length * length);
        let (n, slope) = bending_shapes(xi, length, phi);
        for (k, column, factor) in [
            (0, axis, 1.0),
            (1, rotation, sign),
            (2, 6 + axis, 1.0),
            (3, 6 + rotation, sign),
        ] {
            shift[(axis, column)] = n[k] * factor;
            turn[(rotation - 3, column)] = slope[k] * factor * sign;
        }
    }
    (shift, turn)
}

fn bending_shapes(xi: f64, length: f64, phi: f64) -> ([f64; 4], [f64; 4]) {
    let scale = 1.0 / (1.0 + phi);
    let (x2, x3) = (xi * xi, xi * xi * xi);
    let sway = scale * (3.0 * x2 - 2.0 * x3 + phi * xi);
    let displacement = [
        1.0 - sway,
        scale * length * (x3 - (2.0 + 0.5 * phi) * x2 + (1.0 + 0.5 * phi) * xi),
        sway,
        scale * length * (x3 - (1.0 - 0.5 * phi) * x2 - 0.5 * phi * xi),
    ];
    let lean = 6.0 * scale * (x2 - xi) / length;
    let rotation = [
        lean,
        scale * (3.0 * x2 - (4.0 + phi) * xi + 1.0 + phi),
        -lean,
        scale * (3.0 * x2 - (2.0 - phi) * xi),
    ];
    (displacement, rotation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section() -> Section {
        Section {
            axial: 2.1e7,
            shear_y: 6.7e6,
            shear_z: 6.1e6,
            torsion: 323.0,
            bending_y: 700.0,
            bending_z: 393.75,
            mass_per_length: 0.81,
            rotary_inertia: Vector3::new(4.2e-5, 2.7e-5, 1.5e-5),
        }
    }

    pub(super) fn deformed() -> (BeamElement, Vector6) {
        let a = Frame::identity();
        let arc = Vector6::new(0.2, 0.0, 0.0, 0.02, -0.1, 0.25);
        let element = BeamElement::new(&a, &lie::exp(&arc), 0.2, &section());
        let d = arc + Vector6::new(2e-3, -4e-3, 3e-3, 0.05, 0.08, -0.06);
        (element, d)
    }

    #[test]
    fn tangent_is_the_derivative_of_the_forces() {
        let (element, d) = deformed();
        let (a, b) = (Frame::identity(), lie::exp(&d));
        let (_, k) = element.elastic_forces(&d);
        let h = 1e-6;
        for i in 0..12 {
            let move_by = |s: f64| {
                let e = Vector6::ith(i % 6, s);
                let (fa, fb) = if i < 6 {
                    (a.compose(&lie::exp(&e)), b)
                } else {
                    (a, b.compose(&lie::exp(&e)))
                };
                let d = element.deformation(&fa, &fb);
                (element.elastic_forces(&d).0, element.strain_energy(&d))
            };
            let (plus, minus) = (move_by(h), move_by(-h));
            let difference = (plus.0 - minus.0) / (2.0 * h);
            assert!((difference - k.column(i)).norm() < 1e-8 * k.norm());
            let force = element.elastic_forces(&d).0[i];
            let slope = (plus.1 - minus.1) / (2.0 * h);
            assert!((slope - force).abs() < 1e-7 * element.elastic_forces(&d).0.norm());
        }
    }

    #[test]
    fn mass_gradient_matches_differences() {
        let (element, d) = deformed();
        let h = 1e-5;
        let gradient = element.mass_gradient_at(&d);
        for (m, exact) in gradient.iter().enumerate() {
            let e = Vector6::ith(m, h);
            let difference = (element.mass_at(&(d + e)) - element.mass_at(&(d - e))) / (2.0 * h);
            assert!((difference - exact).norm() < 1e-8 * exact.norm().max(element.mass.norm()));
        }
    }

    #[test]
    fn rigid_motion_carries_the_inertia_of_a_rod() {
        let length = 0.6;
        let s = section();
        let b = Frame::translation(Vector3::new(length, 0.0, 0.0));
        let element = BeamElement::new(&Frame::identity(), &b, length, &s);
        let v = Vector6::new(0.3, -0.2, 0.5, 1.1, 0.7, -0.4);
        let mut both = Vector12::zeros();
        both.fixed_rows_mut::<6>(0).copy_from(&v);
        both.fixed_rows_mut::<6>(6).copy_from(&b.pull_back(&v));
        let energy = both.dot(&(element.mass * both));
        let m = s.mass_per_length * length;
        let center = lie::linear(&v) + lie::angular(&v).cross(&(b.position * 0.5));
        let w = lie::angular(&v);
        let spin =
            s.rotary_inertia * length + Vector3::new(0.0, 1.0, 1.0) * (m * length * length / 12.0);
        let expected = m * center.norm_squared() + w.dot(&spin.component_mul(&w));
        assert!((energy - expected).abs() < 1e-14 * expected);
        assert!((element.stiffness * both).norm() < 1e-9 * element.stiffness.norm());
    }

    #[test]
    fn cantilever_tip_is_exact_with_one_element() {
        let length = 0.6;
        let s = section();
        let b = Frame::translation(Vector3::new(length, 0.0, 0.0));
        let element = BeamElement::new(&Frame::identity(), &b, length, &s);
        let k = element.stiffness.fixed_view::<6, 6>(6, 6).into_owned();
        let tip = k.lu().solve(&Vector6::ith(1, 1.0)).expect("clamped beam");
        let expected = length.powi(3) / (3.0 * s.bending_z) + length / s.shear_y;
        assert!((tip[1] - expected).abs() < 1e-12 * expected);
        let slope = length * length / (2.0 * s.bending_z);
        assert!((tip[5] - slope).abs() < 1e-12 * slope);
    }
}
