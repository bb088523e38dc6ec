//! Mass and elastic stiffness of the undeformed model as operators on motion vectors.

use super::rows::mount_frame;
use super::{FullModel, PlacedElement};
use crate::lie::{Frame, Vector6, angular, join};
use faer::Mat;
use nalgebra::Vector3;

impl FullModel {
    /// M·q, column by column.
    pub fn mass_times(&self, q: &Mat<f64>) -> Mat<f64> {
        let mut out = Mat::zeros(q.nrows(), q.ncols());
        for column in 0..q.ncols() {
            let x = q.col_as_slice(column);
            let y = out.col_as_slice_mut(column);
            for (node, mass) in &self.masses {
                add_node_block(mass.as_slice(), *node, x, y);
            }
            for placed in &self.placed {
                add_element_block(self.element(placed).mass(), placed, x, y);
            }
        }
        out
    }

    /// K·q of elements and flexible actuators, column by column.
    pub fn stiffness_times(&self, q: &Mat<f64>) -> Mat<f64> {
        let mut out = Mat::zeros(q.nrows(), q.ncols());
        let first_scalar = 6 * self.nodes.len();
        for column in 0..q.ncols() {
            let x = q.col_as_slice(column);
            let y = out.col_as_slice_mut(column);
            for placed in &self.placed {
                add_element_block(self.element(placed).stiffness(), placed, x, y);
            }
            for (i, (stiffness, _)) in self.scalars.iter().enumerate() {
                y[first_scalar + i] += stiffness * x[first_scalar + i];
            }
        }
        out
    }

    /// The uniform acceleration field of gravity as a motion.
    pub fn gravity_field(&self, frames: &[Frame]) -> Mat<f64> {
        self.uniform_field(&self.gravity, frames)
    }

    /// A uniform field of accelerations, given in inertial axes, as a motion.
    pub fn uniform_field(&self, acceleration: &Vector3<f64>, frames: &[Frame]) -> Mat<f64> {
        self.field(|node| {
            let local = frames[node].rotation.tr_mul(acceleration);
            join(&local, &Vector3::zeros())
        })
    }

    /// Rate of [`Self::uniform_field`] in node axes while nodes move with `velocities`.
    pub fn uniform_field_rate(
        &self,
        acceleration: &Vector3<f64>,
        frames: &[Frame],
        velocities: &[Vector6],
    ) -> Mat<f64> {
        self.field(|node| {
            let local = frames[node].rotation.tr_mul(acceleration);
            join(&local.cross(&angular(&velocities[node])), &Vector3::zeros())
        })
    }

    fn field(&self, value: impl Fn(usize) -> Vector6) -> Mat<f64> {
        let mut out = Mat::zeros(self.n_motion(), 1);
        for node in 0..self.nodes.len() {
            let v = value(node);
            for i in 0..6 {
                out[(6 * node + i, 0)] = v[i];
            }
        }
        out
    }

    /// Potential of gravity of the undeformed bodies.
    pub fn gravity_potential(&self, bodies: &[Frame]) -> f64 {
        -self.gravity.dot(&self.first_moment(bodies))
    }

    /// Mass of everything (kg).
    pub fn total_mass(&self) -> f64 {
        self.bodies.iter().map(|body| body.inertia[(0, 0)]).sum()
    }

    /// Lengths along the inertial axes of the box around nodes and joints of the undeformed bodies (m).
    pub fn size(&self, bodies: &[Frame]) -> Vector3<f64> {
        let frames = self.node_frames(bodies);
        let ends = self.joints.iter().flat_map(|joint| [&joint.a, &joint.b]);
        let places = ends.map(|mount| mount_frame(mount, &frames).position);
        let mut all = places.chain(frames.iter().map(|frame| frame.position));
        let Some(first) = all.next() else {
            return Vector3::zeros();
        };
        let bounds = all.fold((first, first), |(low, high), p| (low.inf(&p), high.sup(&p)));
        bounds.1 - bounds.0
    }

    /// Mass times centre of mass of the undeformed bodies, inertial axes.
    pub fn first_moment(&self, bodies: &[Frame]) -> Vector3<f64> {
        self.bodies
            .iter()
            .zip(bodies)
            .map(|(body, frame)| {
                let m = &body.inertia;
                // First moment m·c from the coupling block m·skew(c).
                let moment = Vector3::new(m[(5, 1)], m[(3, 2)], m[(4, 0)]);
                frame.position * m[(0, 0)] + frame.rotation * moment
            })
            .sum()
    }
}

/// y += A·x over the motion of one node; A column-major.
fn add_node_block(a: &[f64], node: usize, x: &[f64], y: &mut [f64]) {
    let span = 6 * node..6 * node + 6;
    let sum: [f64; 6] = combined(a, x[span.clone()].iter().copied());
    y[span].iter_mut().zip(sum).for_each(|(y, s)| *y += s);
}

/// y += A·x over the local motion of an element; A column-major.
fn add_element_block(a: &[f64], placed: &PlacedElement, x: &[f64], y: &mut [f64]) {
    let (&[first, second], 12) = (placed.nodes.as_slice(), placed.places.len()) else {
        for (column, from) in a.chunks_exact(placed.places.len()).zip(&placed.places) {
            for (value, to) in column.iter().zip(&placed.places) {
                y[*to] += value * x[*from];
            }
        }
        return;
    };
    let nodes = [first, second];
    let spans = nodes.map(|node| 6 * node..6 * node + 6);
    let values = spans.clone().into_iter().flat_map(|span| &x[span]).copied();
    let sum: [f64; 12] = combined(a, values);
    for (span, sum) in spans.into_iter().zip(sum.chunks_exact(6)) {
        y[span].iter_mut().zip(sum).for_each(|(y, s)| *y += s);
    }
}

/// The columns of a square block of known size, each times its factor; the size lets them be summed
/// in registers.
fn combined<const N: usize>(a: &[f64], factors: impl Iterator<Item = f64>) -> [f64; N] {
    let mut sum = [0.0; N];
    for (column, factor) in a.chunks_exact(N).zip(factors) {
        for (s, c) in sum.iter_mut().zip(column) {
            *s += c * factor;
        }
    }
    sum
}
