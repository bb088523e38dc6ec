//! What joints forbid, as rows over the relative velocity of their two frames.
//!
//! With D = H_a⁻¹H_b and V_rel the velocity of frame b seen from frame a (axes of b), a joint
//! demands C(D)·V_rel = 0. Only the universal joint's C changes with D.

use crate::description::mechanism::JointKind;
use crate::lie::{self, Frame, Vector6, bracket, join};
use nalgebra::Vector3;
use std::f64::consts::TAU;

/// Up to six rows over a six-vector.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    rows: [Vector6; 6],
    len: usize,
}

impl Rows {
    fn new() -> Self {
        Self {
            rows: [Vector6::zeros(); 6],
            len: 0,
        }
    }

    fn push(&mut self, row: Vector6) {
        self.rows[self.len] = row;
        self.len += 1;
    }

    /// The rows.
    pub fn as_slice(&self) -> &[Vector6] {
        &self.rows[..self.len]
    }
}

/// Number of rows of a joint.
pub fn n_rows(kind: JointKind) -> usize {
    match kind {
        JointKind::Fixed => 6,
        JointKind::Hinge | JointKind::Prismatic => 5,
        JointKind::Cylindrical | JointKind::Universal => 4,
        JointKind::Spherical | JointKind::Planar | JointKind::Translation => 3,
    }
}

/// Relative motions a joint forbids for good, as components of V_rel.
fn fixed_components(kind: JointKind) -> &'static [usize] {
    match kind {
        JointKind::Fixed => &[0, 1, 2, 3, 4, 5],
        JointKind::Hinge => &[0, 1, 2, 3, 4],
        JointKind::Prismatic => &[0, 1, 3, 4, 5],
        JointKind::Cylindrical => &[0, 1, 3, 4],
        JointKind::Universal | JointKind::Spherical => &[0, 1, 2],
        JointKind::Planar => &[2, 3, 4],
        JointKind::Translation => &[3, 4, 5],
    }
}

/// The row of a universal joint: z of frame a stays perpendicular to x of frame b.
fn universal_row(z_of_a: &Vector3<f64>) -> Vector6 {
    join(&Vector3::zeros(), &Vector3::x().cross(z_of_a))
}

/// C(D) [M 4.1].
pub fn gradient(kind: JointKind, d: &Frame) -> Rows {
    let mut rows = Rows::new();
    for &component in fixed_components(kind) {
        rows.push(Vector6::ith(component, 1.0));
    }
    if kind == JointKind::Universal {
        rows.push(universal_row(&d.rotation.tr_mul(&Vector3::z())));
    }
    rows
}

/// Rate of C(D) while the frames move with relative velocity `v_rel`.
pub fn gradient_rate(kind: JointKind, d: &Frame, v_rel: &Vector6) -> Rows {
    let mut rows = Rows::new();
    for _ in fixed_components(kind) {
        rows.push(Vector6::zeros());
    }
    if kind == JointKind::Universal {
        let z = d.rotation.tr_mul(&Vector3::z());
        rows.push(universal_row(&z.cross(&lie::angular(v_rel))));
    }
    rows
}

/// How far the joint is from being closed: its derivative is C·V_rel where it is closed.
pub fn residual(kind: JointKind, d: &Frame) -> [f64; 6] {
    let p = d.rotation.tr_mul(&d.position);
    let rotation = match kind {
        JointKind::Fixed | JointKind::Prismatic | JointKind::Translation => {
            lie::log_rotation(&d.rotation)
        }
        JointKind::Hinge | JointKind::Cylindrical | JointKind::Planar => {
            let z = d.rotation.tr_mul(&Vector3::z());
            Vector3::new(z.y, -z.x, 0.0)
        }
        JointKind::Universal | JointKind::Spherical => Vector3::zeros(),
    };
    // A tilt shows as a shift of a distant origin; without it the rows below are the exact gradient.
    let all = join(&(p + rotation.cross(&p)), &rotation);
    let mut out = [0.0; 6];
    let fixed = fixed_components(kind);
    for (slot, &component) in out.iter_mut().zip(fixed) {
        *slot = all[component];
    }
    if kind == JointKind::Universal {
        out[3] = d.rotation[(2, 0)];
    }
    out
}

/// The row whose product with V_rel is the rate of the joint's coordinate (hinge or prismatic).
pub fn coordinate_row(kind: JointKind) -> Option<Vector6> {
    match kind {
        JointKind::Hinge => Some(Vector6::ith(5, 1.0)),
        JointKind::Prismatic => Some(Vector6::ith(2, 1.0)),
        _ => None,
    }
}

/// Angle of a hinge, the one within half a turn of `near`.
pub fn hinge_angle(d: &Frame, near: f64) -> f64 {
    let angle = d.rotation[(1, 0)].atan2(d.rotation[(0, 0)]);
    angle + TAU * ((near - angle) / TAU).round()
}

/// Frames a and b of a joint for given frames of the two nodes, and what joins them.
#[derive(Debug, Clone, Copy)]
pub struct RelativeMotion {
    /// Frame b as seen from frame a.
    pub d: Frame,
}

impl RelativeMotion {
    /// Velocity of b seen from a, axes of b, from velocities of frames a and b in their own axes
    /// [M 4.1].
    pub fn velocity(&self, v_a: &Vector6, v_b: &Vector6) -> Vector6 {
        v_b - self.d.pull_back(v_a)
    }

    /// Rate of [`Self::velocity`] for fixed node velocities while the frames move with `v_rel`.
    pub fn velocity_rate(&self, v_rel: &Vector6, v_a: &Vector6) -> Vector6 {
        bracket(v_rel, &self.d.pull_back(v_a))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A closed position of each joint, away from the drawn one.
    fn closed(kind: JointKind) -> Frame {
        let turn = |x: f64, y: f64, z: f64| lie::exp_rotation(&Vector3::new(x, y, z));
        match kind {
            JointKind::Fixed => Frame::identity(),
            JointKind::Hinge => Frame::new(turn(0.0, 0.0, 0.7), Vector3::zeros()),
            JointKind::Prismatic => Frame::translation(Vector3::new(0.0, 0.0, 0.4)),
            JointKind::Cylindrical => Frame::new(turn(0.0, 0.0, -1.1), Vector3::new(0.0, 0.0, 0.3)),
            JointKind::Universal => {
                Frame::new(turn(0.0, 0.0, 0.4) * turn(0.6, 0.0, 0.0), Vector3::zeros())
            }
            JointKind::Spherical => Frame::new(turn(0.3, -0.9, 0.5), Vector3::zeros()),
            JointKind::Planar => Frame::new(turn(0.0, 0.0, 0.8), Vector3::new(0.2, -0.5, 0.0)),
            JointKind::Translation => Frame::translation(Vector3::new(0.2, 0.1, -0.3)),
        }
    }

    #[test]
    fn rows_are_the_gradient_of_the_residual() {
        let h = 1e-6;
        for kind in JointKind::ALL {
            let d = closed(kind);
            let rows = gradient(kind, &d);
            assert_eq!(rows.as_slice().len(), n_rows(kind));
            assert!(residual(kind, &d).iter().all(|r| r.abs() < 1e-15));
            for i in 0..6 {
                let e = Vector6::ith(i, h);
                let plus = residual(kind, &d.compose(&lie::exp(&e)));
                let minus = residual(kind, &d.compose(&lie::exp(&(-e))));
                for (r, row) in rows.as_slice().iter().enumerate() {
                    let difference = (plus[r] - minus[r]) / (2.0 * h);
                    assert!((difference - row[i]).abs() < 1e-9, "{kind:?} {r} {i}");
                }
            }
        }
    }

    #[test]
    fn rate_of_rows_matches_differences() {
        let h = 1e-6;
        let v = Vector6::new(0.2, -0.4, 0.1, 0.5, 0.3, -0.7);
        for kind in JointKind::ALL {
            let d = closed(kind);
            let rate = gradient_rate(kind, &d, &v);
            let plus = gradient(kind, &d.compose(&lie::exp(&(v * h))));
            let minus = gradient(kind, &d.compose(&lie::exp(&(v * -h))));
            for r in 0..n_rows(kind) {
                let difference = (plus.as_slice()[r] - minus.as_slice()[r]) / (2.0 * h);
                assert!((difference - rate.as_slice()[r]).norm() < 1e-9);
            }
        }
    }
}
