//! Deformable elements behind one notion: nodes and scalar dofs, a deformation, its energy, and a
//! mass that depends on the deformation alone.
//!
//! The local motion of an element is six values per node, in the node's axes, then its scalar dofs.
//! Matrices over local motions are column-major.

use super::FullModel;
use super::beam::{BeamElement, Vector12};
use super::curvature::shift_of_turn;
use super::dofs::DofMap;
use super::superelement::SuperElement;
use crate::lie::{Frame, Matrix6, Vector6};
use nalgebra::{DMatrix, DVector, Vector3};

/// Constants of an element.
#[derive(Debug, Clone)]
pub enum Element {
    /// Two nodes, geometrically exact.
    Beam(Box<BeamElement>),
    /// A condensed finite-element body between its interfaces.
    Super(Box<SuperElement>),
}

/// An element between nodes; equal elements share their constants.
#[derive(Debug, Clone)]
pub struct PlacedElement {
    /// Its nodes, all of one body.
    pub nodes: Vec<usize>,
    /// First of its scalar dofs among all scalar dofs.
    pub first_scalar: usize,
    /// Index into [`FullModel::elements`].
    pub element: usize,
    /// Places of its local motion in a motion of the model.
    pub places: Vec<usize>,
}

impl PlacedElement {
    /// Local part of a motion of the model.
    pub fn gather(&self, motion: &[f64]) -> DVector<f64> {
        DVector::from_iterator(self.places.len(), self.places.iter().map(|p| motion[*p]))
    }

    /// The same of a beam, whose places are those of two nodes.
    pub fn gather_beam(&self, motion: &[f64]) -> Vector12 {
        Vector12::from_fn(|i, _| motion[self.places[i]])
    }

    /// Lines between its nodes: from the first to every other.
    pub fn lines(&self) -> impl Iterator<Item = [usize; 2]> + '_ {
        self.nodes[1..].iter().map(|node| [self.nodes[0], *node])
    }

    /// Adds local forces to those on the model.
    pub fn scatter(&self, local: &DVector<f64>, forces: &mut [f64]) {
        for (place, value) in self.places.iter().zip(local.iter()) {
            forces[*place] += value;
        }
    }

    /// Local motion from velocities of the nodes and of all scalar dofs.
    pub fn of_nodes(&self, nodes: impl Fn(usize) -> Vector6, scalars: &[f64]) -> DVector<f64> {
        let mut out = DVector::zeros(self.places.len());
        for (k, node) in self.nodes.iter().enumerate() {
            out.fixed_rows_mut::<6>(6 * k).copy_from(&nodes(*node));
        }
        for i in 6 * self.nodes.len()..out.len() {
            out[i] = scalars[self.first_scalar + i - 6 * self.nodes.len()];
        }
        out
    }

    /// Blocks on the diagonal of the nodes, zero on scalar dofs.
    pub fn on_nodes(&self, block: impl Fn(usize) -> Matrix6) -> DMatrix<f64> {
        let n = self.places.len();
        let mut out = DMatrix::zeros(n, n);
        for (k, node) in self.nodes.iter().enumerate() {
            let mut view = out.fixed_view_mut::<6, 6>(6 * k, 6 * k);
            view.copy_from(&block(*node));
        }
        out
    }

    /// Entries of a matrix over local motions, over the unknowns of the solver.
    pub(crate) fn each_entry(
        &self,
        map: &DofMap,
        matrix: &[f64],
        mut push: impl FnMut(usize, usize, f64),
    ) {
        let n = self.places.len();
        let first = 6 * self.nodes.len();
        let scalar = |i: usize| map.first_scalar() + self.first_scalar + i - first;
        for (row, p) in self.nodes.iter().enumerate() {
            for (column, q) in self.nodes.iter().enumerate() {
                let block = Matrix6::from_fn(|i, j| matrix[(6 * column + j) * n + 6 * row + i]);
                map.each_entry(*p, *q, &block, &mut push);
            }
            for j in first..n {
                let down = Vector6::from_fn(|i, _| matrix[j * n + 6 * row + i]);
                for (dof, value) in map.project(*p, &down) {
                    push(dof, scalar(j), value);
                }
                let across = Vector6::from_fn(|i, _| matrix[(6 * row + i) * n + j]);
                for (dof, value) in map.project(*p, &across) {
                    push(scalar(j), dof, value);
                }
            }
        }
        for j in first..n {
            for i in first..n {
                push(scalar(i), scalar(j), matrix[j * n + i]);
            }
        }
    }
}

/// How inertia forces change with accelerations and velocities.
pub struct InertiaTangent {
    /// By the accelerations.
    pub mass: DMatrix<f64>,
    /// By the velocities.
    pub gyroscopic: DMatrix<f64>,
}

impl Element {
    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        match self {
            Self::Beam(_) => 2,
            Self::Super(body) => body.n_nodes(),
        }
    }

    /// Number of scalar dofs.
    pub fn n_scalars(&self) -> usize {
        match self {
            Self::Beam(_) => 0,
            Self::Super(body) => body.n_scalars(),
        }
    }

    /// Number of components of the deformation.
    pub fn n_strains(&self) -> usize {
        match self {
            Self::Beam(_) => 6,
            Self::Super(body) => body.n_strains(),
        }
    }

    /// Length of a local motion.
    pub fn n_local(&self) -> usize {
        6 * self.n_nodes() + self.n_scalars()
    }

    /// Stiffness over local motions, undeformed.
    pub fn stiffness(&self) -> &[f64] {
        match self {
            Self::Beam(beam) => beam.stiffness.as_slice(),
            Self::Super(body) => body.stiffness.as_slice(),
        }
    }

    /// Mass over local motions, undeformed.
    pub fn mass(&self) -> &[f64] {
        match self {
            Self::Beam(beam) => beam.mass.as_slice(),
            Self::Super(body) => body.mass.as_slice(),
        }
    }

    /// Derivative of the mass by one component of the deformation, undeformed.
    pub fn mass_gradient(&self, component: usize) -> &[f64] {
        match self {
            Self::Beam(beam) => beam.mass_gradient[component].as_slice(),
            Self::Super(body) => body.mass_gradient[component].as_slice(),
        }
    }

    /// Derivative of the deformation with respect to local motions, undeformed.
    pub fn strain_operator(&self) -> &[f64] {
        match self {
            Self::Beam(beam) => beam.strain_operator.as_slice(),
            Self::Super(body) => body.strain_operator.as_slice(),
        }
    }

    /// Deformation of a small local motion, undeformed.
    pub fn strain(&self, motion: &DVector<f64>) -> DVector<f64> {
        match self {
            Self::Beam(beam) => dynamic(&(beam.strain_operator * fixed(motion))),
            Self::Super(body) => &body.strain_operator * motion,
        }
    }

    /// Stress of a small deformation.
    pub fn stress(&self, strain: &DVector<f64>) -> DVector<f64> {
        match self {
            Self::Beam(beam) => dynamic(&beam.stress(&six(strain))),
            Self::Super(body) => body.stress(strain),
        }
    }

    /// Local forces that do the work of a stress, undeformed.
    pub fn forces_of_stress(&self, stress: &DVector<f64>) -> DVector<f64> {
        match self {
            Self::Beam(beam) => dynamic(&beam.strain_operator.tr_mul(&six(stress))),
            Self::Super(body) => body.strain_operator.tr_mul(stress),
        }
    }

    /// The form w·D2 over local motions (u, φ): second derivative of w·(deformation), undeformed,
    /// where nodes are shifted by u and turned by exp(φ) [M 14.3].
    pub fn strain_curvature(&self, weights: &DVector<f64>) -> DMatrix<f64> {
        match self {
            Self::Beam(beam) => square(&beam.strain_curvature(&six(weights))),
            Self::Super(body) => body.strain_curvature(weights),
        }
    }

    /// yᵀ(∂M/∂d_m)z for every component m of the deformation, undeformed.
    pub fn mass_gradient_between(&self, y: &DVector<f64>, z: &DVector<f64>) -> DVector<f64> {
        match self {
            Self::Beam(beam) => {
                let (y, z) = (fixed(y), fixed(z));
                DVector::from_fn(6, |m, _| y.dot(&(beam.mass_gradient[m] * z)))
            }
            Self::Super(body) => {
                let zero = DVector::zeros(body.n_strains());
                body.mass_gradient_times_at(&zero, z).tr_mul(y)
            }
        }
    }

    /// (∂M/∂d_m)z for every component m of the deformation, one column each, undeformed.
    pub fn mass_gradient_times(&self, z: &DVector<f64>) -> DMatrix<f64> {
        match self {
            Self::Beam(beam) => {
                let z = fixed(z);
                let mut out = DMatrix::zeros(12, 6);
                for (m, gradient) in beam.mass_gradient.iter().enumerate() {
                    out.set_column(m, &(gradient * z));
                }
                out
            }
            Self::Super(body) => {
                let zero = DVector::zeros(body.n_strains());
                body.mass_gradient_times_at(&zero, z)
            }
        }
    }

    /// yᵀ(∂²M/∂d_m∂d_l)z for all pairs of components of the deformation, undeformed.
    pub fn mass_curvature_between(&self, y: &DVector<f64>, z: &DVector<f64>) -> DMatrix<f64> {
        match self {
            Self::Beam(beam) => {
                let (y, z) = (fixed(y), fixed(z));
                DMatrix::from_fn(6, 6, |m, l| {
                    let index = super::beam::second_index(m, l);
                    y.dot(&(beam.mass_curvature[index] * z))
                })
            }
            Self::Super(body) => {
                let zero = DVector::zeros(body.n_strains());
                body.mass_curvature_between_at(&zero, y, z)
            }
        }
    }

    /// Explicit second derivatives of the potential of a uniform field of accelerations, given as
    /// a local motion, undeformed.
    pub fn gravity_curvature(&self, field: &DVector<f64>) -> DMatrix<f64> {
        let n = self.n_local();
        let mass = DMatrix::from_column_slice(n, n, self.mass());
        let strain = DMatrix::from_column_slice(self.n_strains(), n, self.strain_operator());
        let mut turning = DMatrix::zeros(n, n);
        for first in (0..6 * self.n_nodes()).step_by(6) {
            let pull = field.fixed_rows::<3>(first).into_owned();
            let mut block = turning.fixed_view_mut::<3, 3>(first, first + 3);
            block.copy_from(&-crate::lie::skew(&pull));
        }
        let form = &mass * turning - self.mass_gradient_times(field) * strain;
        let mut form = (&form + form.transpose()) * 0.5;
        let force = mass * field;
        for first in (0..6 * self.n_nodes()).step_by(6) {
            let pull = force.fixed_rows::<3>(first).into_owned();
            let mut block = form.fixed_view_mut::<6, 6>(first, first);
            block -= shift_of_turn(&pull);
        }
        form
    }

    /// Strain energy.
    pub fn strain_energy(&self, d: &DVector<f64>) -> f64 {
        match self {
            Self::Beam(beam) => beam.strain_energy(&six(d)),
            Self::Super(body) => body.strain_energy(d),
        }
    }

    /// Rate of the deformation for local velocities.
    pub fn deformation_rate(&self, d: &DVector<f64>, velocity: &DVector<f64>) -> DVector<f64> {
        match self {
            Self::Beam(beam) => dynamic(&beam.deformation_rate(&six(d), &fixed(velocity))),
            Self::Super(body) => body.deformation_rate(d, velocity),
        }
    }

    /// Elastic forces.
    pub fn stress_forces(&self, d: &DVector<f64>) -> DVector<f64> {
        match self {
            Self::Beam(beam) => dynamic(&beam.stress_forces(&six(d))),
            Self::Super(body) => body.stress_forces(d),
        }
    }

    /// Elastic forces and their derivative with respect to local motions.
    pub fn elastic_forces(&self, d: &DVector<f64>) -> (DVector<f64>, DMatrix<f64>) {
        match self {
            Self::Beam(beam) => {
                let (force, tangent) = beam.elastic_forces(&six(d));
                (dynamic(&force), square(&tangent))
            }
            Self::Super(body) => body.elastic_forces(d),
        }
    }

    /// Material stiffness over local motions at a deformation.
    pub fn material_stiffness(&self, d: &DVector<f64>) -> DMatrix<f64> {
        match self {
            Self::Beam(beam) => square(&beam.material_stiffness(&six(d))),
            Self::Super(body) => body.material_stiffness(d),
        }
    }

    /// Forces of dampers parallel to the stiffness, `factor` times as large.
    pub fn strain_rate_forces(
        &self,
        d: &DVector<f64>,
        velocity: &DVector<f64>,
        factor: f64,
    ) -> DVector<f64> {
        match self {
            Self::Beam(beam) => {
                dynamic(&beam.strain_rate_forces(&six(d), &fixed(velocity), factor))
            }
            Self::Super(body) => body.strain_rate_forces(d, velocity, factor),
        }
    }

    /// Mass over local motions at a deformation.
    pub fn mass_at(&self, d: &DVector<f64>) -> DMatrix<f64> {
        match self {
            Self::Beam(beam) => square(&beam.mass_at(&six(d))),
            Self::Super(body) => body.mass_at(d),
        }
    }

    /// Kinetic energy for local velocities.
    pub fn kinetic_energy(&self, d: &DVector<f64>, velocity: &DVector<f64>) -> f64 {
        match self {
            Self::Beam(beam) => beam.kinetic_energy(&six(d), &fixed(velocity)),
            Self::Super(body) => 0.5 * velocity.dot(&(body.mass_at(d) * velocity)),
        }
    }

    /// Inertia forces for velocities and accelerations (rates of the velocities in node axes).
    pub fn inertia_forces(
        &self,
        d: &DVector<f64>,
        velocity: &DVector<f64>,
        rates: &DVector<f64>,
    ) -> DVector<f64> {
        match self {
            Self::Beam(beam) => {
                dynamic(&beam.inertia_forces(&six(d), &fixed(velocity), &fixed(rates)))
            }
            Self::Super(body) => body.inertia_forces(d, velocity, rates),
        }
    }

    /// Derivatives of [`Self::inertia_forces`] with respect to accelerations and velocities.
    pub fn inertia_tangent(&self, d: &DVector<f64>, velocity: &DVector<f64>) -> InertiaTangent {
        match self {
            Self::Beam(beam) => {
                let tangent = beam.inertia_tangent(&six(d), &fixed(velocity));
                InertiaTangent {
                    mass: square(&tangent.mass),
                    gyroscopic: square(&tangent.gyroscopic),
                }
            }
            Self::Super(body) => body.inertia_tangent(d, velocity),
        }
    }

    /// Derivatives of the inertia forces with respect to local motions, for fixed velocities and
    /// accelerations.
    pub fn inertia_by_motion(
        &self,
        d: &DVector<f64>,
        velocity: &DVector<f64>,
        rates: &DVector<f64>,
    ) -> DMatrix<f64> {
        match self {
            Self::Beam(beam) => {
                square(&beam.inertia_by_motion(&six(d), &fixed(velocity), &fixed(rates)))
            }
            Self::Super(body) => body.inertia_by_motion(d, velocity, rates),
        }
    }

    /// Mass, and first moment of mass about the origin of the outer frame, of an element whose
    /// first node is at `first`.
    pub fn first_moment(&self, first: &Frame, d: &DVector<f64>) -> (f64, Vector3<f64>) {
        match self {
            Self::Beam(beam) => beam.first_moment(first, &six(d)),
            Self::Super(body) => body.first_moment(first, d),
        }
    }
}

impl FullModel {
    /// Constants of a placed element.
    pub fn element(&self, placed: &PlacedElement) -> &Element {
        &self.elements[placed.element]
    }

    /// Body of a placed element.
    pub fn body_of(&self, placed: &PlacedElement) -> usize {
        self.nodes[placed.nodes[0]].body
    }

    /// Deformation of a placed element for frames of all nodes and values of all scalar dofs.
    pub fn deformation(
        &self,
        placed: &PlacedElement,
        frames: &[Frame],
        scalars: &[f64],
    ) -> DVector<f64> {
        match self.element(placed) {
            Element::Beam(beam) => {
                let [a, b] = [placed.nodes[0], placed.nodes[1]];
                dynamic(&beam.deformation(&frames[a], &frames[b]))
            }
            Element::Super(body) => {
                let nodes: Vec<&Frame> = placed.nodes.iter().map(|n| &frames[*n]).collect();
                let first = placed.first_scalar;
                body.deformation(&nodes, &scalars[first..first + body.n_scalars()])
            }
        }
    }
}

fn six(values: &DVector<f64>) -> Vector6 {
    Vector6::from_column_slice(values.as_slice())
}

fn fixed(values: &DVector<f64>) -> Vector12 {
    Vector12::from_column_slice(values.as_slice())
}

fn dynamic<const N: usize>(values: &nalgebra::SVector<f64, N>) -> DVector<f64> {
    DVector::from_column_slice(values.as_slice())
}

fn square(matrix: &super::beam::Matrix12) -> DMatrix<f64> {
    DMatrix::from_column_slice(12, 12, matrix.as_slice())
}
