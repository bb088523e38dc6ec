//! A condensed finite-element body between its interface nodes.
//!
//! Local motion: six values per interface, then the rates of the modes. The element frame E is that of
//! the first interface, d_i = log(A_i⁻¹H_1⁻¹H_i) with A_i the undeformed place of interface i in E, so
//! that rigid motions of the whole strain nothing and carry their exact kinetic energy [M 15.3].

mod curvature;

use super::element::InertiaTangent;
use crate::finite_elements::Superelement;
use crate::lie::{
    self, Frame, Matrix6, Vector6, adjoint_algebra, coadjoint, inverse_tangent,
    inverse_tangent_derivative,
};
use crate::model::beam::motion::coadjoint_by_motion;
use nalgebra::{DMatrix, DVector, Vector3};
use std::sync::Arc;

/// ḋ of one interface: left·v_1 + right·v_i.
struct Pair {
    left: Matrix6,
    right: Matrix6,
}

/// Constants of one element.
#[derive(Debug, Clone)]
pub struct SuperElement {
    pub(super) body: Arc<Superelement>,
    /// Undeformed places of the other interfaces seen from the first.
    places: Vec<Frame>,
    /// Adjoints of their inverses.
    carry: Vec<Matrix6>,
    /// Stiffness over local motions, undeformed.
    pub stiffness: DMatrix<f64>,
    /// Mass over local motions, undeformed.
    pub mass: DMatrix<f64>,
    /// Its derivatives by the components of z, undeformed.
    pub mass_gradient: Vec<DMatrix<f64>>,
    /// ż per local motion, undeformed.
    pub strain_operator: DMatrix<f64>,
}

impl SuperElement {
    /// The element of a condensed body.
    pub fn new(body: Arc<Superelement>) -> Self {
        let places: Vec<Frame> = (body.nodes[1..].iter())
            .map(|node| body.nodes[0].relative(node))
            .collect();
        let carry = places.iter().map(|a| a.inverse().adjoint()).collect();
        let mut element = Self {
            body,
            places,
            carry,
            stiffness: DMatrix::zeros(0, 0),
            mass: DMatrix::zeros(0, 0),
            mass_gradient: Vec::new(),
            strain_operator: DMatrix::zeros(0, 0),
        };
        let (n, m) = (element.n_local(), element.n_strains());
        let zero = DVector::zeros(m);
        let p = element.operator(&zero);
        element.stiffness = p.transpose() * &element.body.stiffness * &p;
        element.strain_operator = p;
        element.mass = element.mass_at(&zero);
        element.mass_gradient = vec![DMatrix::zeros(n, n); m];
        for j in 0..n {
            let mut unit = DVector::zeros(n);
            unit[j] = 1.0;
            let columns = element.mass_gradient_times_at(&zero, &unit);
            for (a, gradient) in element.mass_gradient.iter_mut().enumerate() {
                gradient.set_column(j, &columns.column(a));
            }
        }
        element
    }

    /// Number of interfaces.
    pub fn n_nodes(&self) -> usize {
        self.body.nodes.len()
    }

    /// Number of modes.
    pub fn n_scalars(&self) -> usize {
        self.body.n_modes()
    }

    /// Number of components of the deformation.
    pub fn n_strains(&self) -> usize {
        self.body.n_strains()
    }

    fn n_local(&self) -> usize {
        6 * self.n_nodes() + self.n_scalars()
    }

    /// First of the modes in z.
    fn first_mode(&self) -> usize {
        6 * self.places.len()
    }

    /// z for interface frames and values of the modes.
    pub fn deformation(&self, nodes: &[&Frame], modes: &[f64]) -> DVector<f64> {
        let mut z = DVector::zeros(self.n_strains());
        for (i, place) in self.places.iter().enumerate() {
            let relative = place.relative(&nodes[0].relative(nodes[i + 1]));
            z.fixed_rows_mut::<6>(6 * i).copy_from(&lie::log(&relative));
        }
        let first = self.first_mode();
        for (k, value) in modes.iter().enumerate() {
            z[first + k] = *value;
        }
        z
    }

    fn d(z: &DVector<f64>, i: usize) -> Vector6 {
        z.fixed_rows::<6>(6 * i).into_owned()
    }

    /// [−T⁻¹(−d)Ad(A⁻¹), T⁻¹(d)] of interface i + 1.
    fn pair(&self, z: &DVector<f64>, i: usize) -> Pair {
        let d = Self::d(z, i);
        Pair {
            left: -(inverse_tangent(&(-d)) * self.carry[i]),
            right: inverse_tangent(&d),
        }
    }

    /// Derivative of [`Self::pair`] along a change of d.
    fn pair_derivative(&self, z: &DVector<f64>, i: usize, direction: &Vector6) -> Pair {
        let d = Self::d(z, i);
        Pair {
            left: inverse_tangent_derivative(&(-d), direction) * self.carry[i],
            right: inverse_tangent_derivative(&d, direction),
        }
    }

    /// Rows of pairs as a matrix over local motions, without the modes.
    fn stacked(&self, pairs: impl Fn(usize) -> Pair) -> DMatrix<f64> {
        let mut p = DMatrix::zeros(self.n_strains(), self.n_local());
        for i in 0..self.places.len() {
            let Pair { left, right } = pairs(i);
            p.fixed_view_mut::<6, 6>(6 * i, 0).copy_from(&left);
            p.fixed_view_mut::<6, 6>(6 * i, 6 * (i + 1))
                .copy_from(&right);
        }
        p
    }

    /// ż per local motion.
    fn operator(&self, z: &DVector<f64>) -> DMatrix<f64> {
        let mut p = self.stacked(|i| self.pair(z, i));
        let (row, column) = (self.first_mode(), 6 * self.n_nodes());
        for k in 0..self.n_scalars() {
            p[(row + k, column + k)] = 1.0;
        }
        p
    }

    /// Derivative of [`Self::operator`] along a change of z.
    fn operator_derivative(&self, z: &DVector<f64>, direction: &DVector<f64>) -> DMatrix<f64> {
        self.stacked(|i| self.pair_derivative(z, i, &Self::d(direction, i)))
    }

    /// (∂P/∂z_a)·v for every a of one column each; those of modes vanish.
    fn operator_changes(&self, z: &DVector<f64>, v: &DVector<f64>) -> DMatrix<f64> {
        let m = self.n_strains();
        let mut out = DMatrix::zeros(m, m);
        let first = v.fixed_rows::<6>(0).into_owned();
        for i in 0..self.places.len() {
            let own = v.fixed_rows::<6>(6 * (i + 1)).into_owned();
            for c in 0..6 {
                let Pair { left, right } = self.pair_derivative(z, i, &Vector6::ith(c, 1.0));
                let change = left * first + right * own;
                out.fixed_view_mut::<6, 1>(6 * i, 6 * i + c)
                    .copy_from(&change);
            }
        }
        out
    }

    /// (V_E, ż) per local motion.
    fn velocity_map(&self, z: &DVector<f64>) -> DMatrix<f64> {
        stack(&self.operator(z), true)
    }

    /// The rows X of rotations with inertia = constant + EX + (EX)ᵀ.
    fn variable(&self, z: &DVector<f64>) -> DMatrix<f64> {
        let m = self.n_strains();
        let mut x = DMatrix::zeros(3, 6 + m);
        for (a, linear) in self.body.linear.iter().enumerate() {
            x += linear * z[a];
        }
        let mut square = nalgebra::Matrix3::zeros();
        for a in 0..m {
            for b in 0..m {
                square += self.body.quadratic[a * m + b] * (z[a] * z[b]);
            }
        }
        let mut block = x.fixed_view_mut::<3, 3>(0, 3);
        block += (square + square.transpose()) * 0.25;
        x
    }

    /// Derivative of [`Self::variable`] along a change of z.
    fn variable_derivative(&self, z: &DVector<f64>, direction: &DVector<f64>) -> DMatrix<f64> {
        let m = self.n_strains();
        let mut x = DMatrix::zeros(3, 6 + m);
        let mut square = nalgebra::Matrix3::zeros();
        for a in (0..m).filter(|a| direction[*a] != 0.0) {
            x += &self.body.linear[a] * direction[a];
            for b in 0..m {
                square += self.body.quadratic[a * m + b] * (direction[a] * z[b]);
            }
        }
        let mut block = x.fixed_view_mut::<3, 3>(0, 3);
        block += (square + square.transpose()) * 0.5;
        x
    }

    /// Inertia over (V_E, ż).
    fn inertia(&self, z: &DVector<f64>) -> DMatrix<f64> {
        add_variable(self.body.constant.clone(), &self.variable(z))
    }

    fn inertia_derivative(&self, z: &DVector<f64>, direction: &DVector<f64>) -> DMatrix<f64> {
        let m = self.n_strains();
        add_variable(
            DMatrix::zeros(6 + m, 6 + m),
            &self.variable_derivative(z, direction),
        )
    }

    fn unit(&self, a: usize) -> DVector<f64> {
        let mut unit = DVector::zeros(self.n_strains());
        unit[a] = 1.0;
        unit
    }

    /// I_a·w for every a, one column each.
    fn inertia_changes(&self, z: &DVector<f64>, w: &DVector<f64>) -> DMatrix<f64> {
        let m = self.n_strains();
        let spin = w.fixed_rows::<3>(3).into_owned();
        let mut out = DMatrix::zeros(6 + m, m);
        for a in 0..m {
            let x = self.variable_derivative(z, &self.unit(a));
            let mut column = x.tr_mul(&spin);
            let turned = &x * w;
            let mut rows = column.fixed_rows_mut::<3>(3);
            rows += turned;
            out.set_column(a, &column);
        }
        out
    }

    /// Mass over local motions.
    pub fn mass_at(&self, z: &DVector<f64>) -> DMatrix<f64> {
        let q = self.velocity_map(z);
        q.transpose() * self.inertia(z) * q
    }

    /// (∂M/∂z_a)·v for every a, one column each.
    pub fn mass_gradient_times_at(&self, z: &DVector<f64>, v: &DVector<f64>) -> DMatrix<f64> {
        let q = self.velocity_map(z);
        let inertia = self.inertia(z);
        let w = &q * v;
        let momentum = &inertia * &w;
        let changes = stack(&self.operator_changes(z, v), false);
        let mut out = q.transpose() * (inertia * changes + self.inertia_changes(z, &w));
        for a in 0..self.first_mode() {
            self.add_pulled(z, a, &momentum, &mut out, a);
        }
        out
    }

    /// `out[.., column] += (∂Q/∂z_a)ᵀ·momentum`.
    fn add_pulled(
        &self,
        z: &DVector<f64>,
        a: usize,
        momentum: &DVector<f64>,
        out: &mut DMatrix<f64>,
        column: usize,
    ) {
        let i = a / 6;
        let Pair { left, right } = self.pair_derivative(z, i, &Vector6::ith(a % 6, 1.0));
        let own = momentum.fixed_rows::<6>(6 + 6 * i).into_owned();
        let mut first = out.fixed_view_mut::<6, 1>(0, column);
        first += left.tr_mul(&own);
        let mut other = out.fixed_view_mut::<6, 1>(6 * (i + 1), column);
        other += right.tr_mul(&own);
    }

    /// Stress of a deformation.
    pub fn stress(&self, z: &DVector<f64>) -> DVector<f64> {
        &self.body.stiffness * z
    }

    /// Strain energy.
    pub fn strain_energy(&self, z: &DVector<f64>) -> f64 {
        0.5 * z.dot(&self.stress(z))
    }

    /// Rate of z.
    pub fn deformation_rate(&self, z: &DVector<f64>, v: &DVector<f64>) -> DVector<f64> {
        self.operator(z) * v
    }

    /// Elastic forces.
    pub fn stress_forces(&self, z: &DVector<f64>) -> DVector<f64> {
        self.operator(z).tr_mul(&self.stress(z))
    }

    /// Elastic forces and their derivative by local motions.
    pub fn elastic_forces(&self, z: &DVector<f64>) -> (DVector<f64>, DMatrix<f64>) {
        let p = self.operator(z);
        let stress = self.stress(z);
        let mut by_deformation = p.transpose() * &self.body.stiffness;
        let padded = DVector::from_iterator(
            6 + stress.len(),
            std::iter::repeat_n(0.0, 6).chain(stress.iter().copied()),
        );
        for a in 0..self.first_mode() {
            self.add_pulled(z, a, &padded, &mut by_deformation, a);
        }
        (p.tr_mul(&stress), by_deformation * p)
    }

    /// Material stiffness over local motions.
    pub fn material_stiffness(&self, z: &DVector<f64>) -> DMatrix<f64> {
        let p = self.operator(z);
        p.transpose() * &self.body.stiffness * p
    }

    /// Forces of dampers parallel to the stiffness.
    pub fn strain_rate_forces(
        &self,
        z: &DVector<f64>,
        v: &DVector<f64>,
        factor: f64,
    ) -> DVector<f64> {
        let p = self.operator(z);
        let rate = &p * v;
        p.tr_mul(&self.stress(&rate)) * factor
    }

    /// Inertia forces: d/dt(Mv) − ad(v)ᵀMv − Pᵀ∂T/∂z.
    pub fn inertia_forces(
        &self,
        z: &DVector<f64>,
        v: &DVector<f64>,
        rates: &DVector<f64>,
    ) -> DVector<f64> {
        let m = self.n_strains();
        let q = self.velocity_map(z);
        let w = &q * v;
        let z_rate = w.rows(6, m).into_owned();
        let q_rate = stack(&self.operator_derivative(z, &z_rate), false);
        let w_rate = &q * rates + &q_rate * v;
        let inertia = self.inertia(z);
        let momentum = &inertia * &w;
        let momentum_rate = inertia * w_rate + self.inertia_derivative(z, &z_rate) * &w;
        let by_deformation = self.inertia_changes(z, &w).tr_mul(&w) * 0.5
            + self.operator_changes(z, v).tr_mul(&momentum.rows(6, m));
        let on_nodes = q.tr_mul(&momentum);
        let mut force = q_rate.tr_mul(&momentum) + q.tr_mul(&momentum_rate)
            - q.rows(6, m).tr_mul(&by_deformation);
        for first in (0..6 * self.n_nodes()).step_by(6) {
            let turned = coadjoint(
                &v.fixed_rows::<6>(first).into_owned(),
                &on_nodes.fixed_rows::<6>(first).into_owned(),
            );
            let mut part = force.fixed_rows_mut::<6>(first);
            part -= turned;
        }
        force
    }

    /// Derivatives of [`Self::inertia_forces`] by accelerations and velocities.
    pub fn inertia_tangent(&self, z: &DVector<f64>, v: &DVector<f64>) -> InertiaTangent {
        let q = self.velocity_map(z);
        let inertia = self.inertia(z);
        let mass = q.transpose() * &inertia * &q;
        let strain = q.rows(6, self.n_strains()).into_owned();
        let z_rate = &strain * v;
        let q_rate = stack(&self.operator_derivative(z, &z_rate), false);
        let half = q_rate.transpose() * inertia * &q;
        let mut gyroscopic =
            &half + half.transpose() + q.transpose() * self.inertia_derivative(z, &z_rate) * &q;
        let carried = self.mass_gradient_times_at(z, v) * strain;
        gyroscopic += &carried - carried.transpose();
        let momentum = &mass * v;
        for first in (0..6 * self.n_nodes()).step_by(6) {
            let spin = adjoint_algebra(&v.fixed_rows::<6>(first).into_owned());
            let rows = spin.transpose() * mass.fixed_rows::<6>(first);
            let mut block = gyroscopic.fixed_rows_mut::<6>(first);
            block -= rows;
            let turned = coadjoint_by_motion(&momentum.fixed_rows::<6>(first).into_owned());
            let mut block = gyroscopic.fixed_view_mut::<6, 6>(first, first);
            block -= turned;
        }
        InertiaTangent { mass, gyroscopic }
    }

    /// Mass and first moment about the origin of the outer frame, the first interface at `first`.
    pub fn first_moment(&self, first: &Frame, z: &DVector<f64>) -> (f64, Vector3<f64>) {
        let constant = &self.body.constant;
        let mass = constant[(0, 0)];
        let mut local = Vector3::new(constant[(1, 5)], constant[(2, 3)], constant[(0, 4)]);
        for (a, value) in z.iter().enumerate() {
            local += constant.fixed_view::<3, 1>(0, 6 + a) * *value;
        }
        (mass, first.position * mass + first.rotation * local)
    }
}

/// Velocities of E above rates of z: E moves with the first interface, or not at all.
fn stack(p: &DMatrix<f64>, moves: bool) -> DMatrix<f64> {
    let mut q = DMatrix::zeros(6 + p.nrows(), p.ncols());
    q.rows_mut(6, p.nrows()).copy_from(p);
    if moves {
        q.fixed_view_mut::<6, 6>(0, 0)
            .copy_from(&Matrix6::identity());
    }
    q
}

/// `matrix + EX + (EX)ᵀ`, E the rows of rotations.
fn add_variable(mut matrix: DMatrix<f64>, x: &DMatrix<f64>) -> DMatrix<f64> {
    let mut rows = matrix.fixed_rows_mut::<3>(3);
    rows += x;
    let mut columns = matrix.fixed_columns_mut::<3>(3);
    columns += x.transpose();
    matrix
}
