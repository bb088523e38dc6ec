//! Loop closure: frames, residuals and the square system W·ż = [0; θ̇] of the skeleton [M 5.1].
//!
//! Rows are made free of units: lengths are divided by the skeleton's characteristic length, in
//! the unknowns as well as in the residuals.

use super::skeleton::{Elementary, Gauge, Link, Mount, Skeleton};
use crate::description::mechanism::JointKind;
use crate::lie::{Frame, Vector6, exp_rotation, linear};
use crate::model::joint::{self, RelativeMotion};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

/// Joint coordinates of the skeleton.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub coordinates: Vec<f64>,
    pub balls: Vec<Matrix3<f64>>,
    /// Angles of cut hinges, followed through full turns; one per cut.
    pub cut_angles: Vec<f64>,
}

/// A state with the frames of all links.
#[derive(Debug, Clone)]
pub(super) struct Posture {
    pub state: State,
    /// Each link seen from its parent.
    pub relative: Vec<Frame>,
    /// Each link seen from the ground.
    pub frames: Vec<Frame>,
}

impl Skeleton {
    pub(super) fn drawn_state(&self) -> State {
        State {
            coordinates: vec![0.0; self.n_coordinates],
            balls: vec![Matrix3::identity(); self.n_balls],
            cut_angles: vec![0.0; self.cuts.len()],
        }
    }

    pub(super) fn posture(&self, state: State) -> Posture {
        let n = self.links.len();
        let mut posture = Posture {
            state,
            relative: vec![Frame::identity(); n],
            frames: vec![Frame::identity(); n],
        };
        self.update_frames(&mut posture);
        posture
    }

    fn update_frames(&self, posture: &mut Posture) {
        for (i, link) in self.links.iter().enumerate() {
            let x = self.joint_frame(link, &posture.state);
            let relative = link.before.compose(&x).compose(&link.after);
            posture.relative[i] = relative;
            posture.frames[i] = match link.parent {
                Some(parent) => posture.frames[parent].compose(&relative),
                None => relative,
            };
        }
        for (i, cut) in self.cuts.iter().enumerate() {
            if cut.kind == JointKind::Hinge {
                let near = posture.state.cut_angles[i];
                let d = self.cut_motion(posture, i).d;
                posture.state.cut_angles[i] = joint::hinge_angle(&d, near);
            }
        }
    }

    /// Angle of every hinge since the drawing, full turns counted; zero for other joints.
    pub(super) fn hinge_angles(&self, posture: &Posture) -> Vec<f64> {
        let mut out = vec![0.0; self.is_hinge.len()];
        for link in &self.links {
            if let Some(joint) = link.joint.filter(|joint| self.is_hinge[joint.0]) {
                out[joint.0] = match link.motion {
                    Elementary::Turn(_) => posture.state.coordinates[link.first],
                    _ => 0.0,
                };
            }
        }
        for (cut, angle) in self.cuts.iter().zip(&posture.state.cut_angles) {
            out[cut.joint.0] = *angle;
        }
        out
    }

    fn joint_frame(&self, link: &Link, state: &State) -> Frame {
        match &link.motion {
            Elementary::Locked => Frame::identity(),
            Elementary::Turn(axis) => Frame::new(
                exp_rotation(&(axis * state.coordinates[link.first])),
                Vector3::zeros(),
            ),
            Elementary::Slide(axis) => Frame::translation(axis * state.coordinates[link.first]),
            Elementary::Ball => Frame::new(state.balls[link.ball], Vector3::zeros()),
        }
    }

    /// Moves all joints by `z` (unit-free).
    pub(super) fn advance(&self, posture: &mut Posture, z: &DVector<f64>) {
        for link in &self.links {
            match link.motion {
                Elementary::Locked => {}
                Elementary::Turn(_) => posture.state.coordinates[link.first] += z[link.first],
                Elementary::Slide(_) => {
                    posture.state.coordinates[link.first] += z[link.first] * self.length;
                }
                Elementary::Ball => {
                    let turn = Vector3::new(z[link.first], z[link.first + 1], z[link.first + 2]);
                    let ball = &mut posture.state.balls[link.ball];
                    *ball = orthonormalised(&(*ball * exp_rotation(&turn)));
                }
            }
        }
        self.update_frames(posture);
    }

    /// Velocity of every link per unit-free rate of every joint coordinate: column c of link i at
    /// `i·n + c`.
    pub(super) fn link_jacobians(&self, posture: &Posture) -> Vec<Vector6> {
        let n = self.n_coordinates;
        let mut out = vec![Vector6::zeros(); self.links.len() * n];
        for (i, link) in self.links.iter().enumerate() {
            if let Some(parent) = link.parent {
                for &c in &self.links[parent].support {
                    out[i * n + c] = posture.relative[i].pull_back(&out[parent * n + c]);
                }
            }
            for (k, column) in link.subspace.iter().enumerate() {
                let c = link.first + k;
                out[i * n + c] = if self.is_length[c] {
                    column * self.length
                } else {
                    *column
                };
            }
        }
        out
    }

    pub(super) fn mount_frame(&self, posture: &Posture, mount: &Mount) -> Frame {
        match mount.link {
            Some(link) => posture.frames[link].compose(&mount.frame),
            None => mount.frame,
        }
    }

    /// Joint coordinates that move a mount.
    fn support(&self, mount: &Mount) -> &[usize] {
        mount.link.map_or(&[], |link| &self.links[link].support)
    }

    pub(super) fn cut_motion(&self, posture: &Posture, cut: usize) -> RelativeMotion {
        let cut = &self.cuts[cut];
        let a = self.mount_frame(posture, &cut.a);
        let b = self.mount_frame(posture, &cut.b);
        RelativeMotion { d: a.relative(&b) }
    }

    pub(super) fn n_cut_rows(&self) -> usize {
        self.cuts.iter().map(|c| joint::n_rows(c.kind)).sum()
    }

    /// Divisor that makes row `r` of a joint unit-free: translations come first in every kind.
    pub(super) fn row_scale(&self, kind: JointKind, r: usize) -> f64 {
        use JointKind as K;
        let translations = match kind {
            K::Fixed | K::Hinge | K::Universal | K::Spherical => 3,
            K::Prismatic | K::Cylindrical => 2,
            K::Planar => 1,
            K::Translation => 0,
        };
        if r < translations { self.length } else { 1.0 }
    }

    /// Divisor of an actuated coordinate.
    pub(super) fn gauge_scale(&self, gauge: &Gauge) -> f64 {
        match gauge {
            Gauge::Coordinate(c) if !self.is_length[*c] => 1.0,
            _ => self.length,
        }
    }

    /// Residuals of all cut joints, unit-free.
    pub(super) fn cut_residuals(&self, posture: &Posture) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.n_cut_rows());
        for (i, cut) in self.cuts.iter().enumerate() {
            let motion = self.cut_motion(posture, i);
            let residual = joint::residual(cut.kind, &motion.d);
            for (r, value) in residual.iter().take(joint::n_rows(cut.kind)).enumerate() {
                out.push(value / self.row_scale(cut.kind, r));
            }
        }
        out
    }

    /// Rows of all cut joints over all joint coordinates, unit-free.
    pub(super) fn cut_rows(&self, posture: &Posture, jacobians: &[Vector6]) -> DMatrix<f64> {
        let n = self.n_coordinates;
        let mut rows = DMatrix::zeros(self.n_cut_rows(), n);
        let mut first = 0;
        for (i, cut) in self.cuts.iter().enumerate() {
            let motion = self.cut_motion(posture, i);
            let gradient = joint::gradient(cut.kind, &motion.d);
            let mut add = |c: usize, v: Vector6| {
                for (r, row) in gradient.as_slice().iter().enumerate() {
                    rows[(first + r, c)] += row.dot(&v) / self.row_scale(cut.kind, r);
                }
            };
            for &c in self.support(&cut.b) {
                add(c, mount_velocity(&cut.b, jacobians, n, c));
            }
            for &c in self.support(&cut.a) {
                let v = mount_velocity(&cut.a, jacobians, n, c);
                add(c, -motion.d.pull_back(&v));
            }
            first += gradient.as_slice().len();
        }
        rows
    }

    /// Change of every actuated coordinate since the drawing.
    pub(super) fn measured(&self, posture: &Posture) -> Vec<f64> {
        self.gauges
            .iter()
            .map(|gauge| match gauge {
                Gauge::Coordinate(c) => posture.state.coordinates[*c],
                Gauge::Distance { a, b, drawn } => {
                    let pa = self.mount_frame(posture, a).position;
                    let pb = self.mount_frame(posture, b).position;
                    (pb - pa).norm() - drawn
                }
            })
            .collect()
    }

    /// Rows of the actuated coordinates, unit-free.
    pub(super) fn gauge_rows(&self, posture: &Posture, jacobians: &[Vector6]) -> DMatrix<f64> {
        let n = self.n_coordinates;
        let mut rows = DMatrix::zeros(self.gauges.len(), n);
        for (r, gauge) in self.gauges.iter().enumerate() {
            match gauge {
                Gauge::Coordinate(c) => rows[(r, *c)] = 1.0,
                Gauge::Distance { a, b, .. } => {
                    let (fa, fb) = (self.mount_frame(posture, a), self.mount_frame(posture, b));
                    let direction = (fb.position - fa.position).normalize();
                    for c in 0..n {
                        let va = fa.rotation * linear(&mount_velocity(a, jacobians, n, c));
                        let vb = fb.rotation * linear(&mount_velocity(b, jacobians, n, c));
                        rows[(r, c)] = direction.dot(&(vb - va)) / self.length;
                    }
                }
            }
        }
        rows
    }
}

/// Velocity of a mounted frame for column `c` of velocities laid out as `link·n + c`.
pub(super) fn mount_velocity(mount: &Mount, velocities: &[Vector6], n: usize, c: usize) -> Vector6 {
    match mount.link {
        Some(link) => mount.frame.pull_back(&velocities[link * n + c]),
        None => Vector6::zeros(),
    }
}

/// The nearest rotation, for a matrix that is one but for rounding: one Newton step.
fn orthonormalised(r: &Matrix3<f64>) -> Matrix3<f64> {
    r * (Matrix3::identity() * 3.0 - r.transpose() * r) * 0.5
}
