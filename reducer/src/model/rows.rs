//! Sparse rows over the motions of nodes and scalar dofs: constraint gradients and their rates.

use super::joint::{self, RelativeMotion};
use super::{FullModel, ModelDrive, Mount};
use crate::lie::{Frame, Vector6, angular, coadjoint, join, linear};
use faer::Mat;
use nalgebra::Vector3;

/// One row's coefficients on the motion of one node.
#[derive(Debug, Clone, Copy)]
pub struct RowEntry {
    /// Row.
    pub row: usize,
    /// Node.
    pub node: usize,
    /// Coefficients, node axes.
    pub values: Vector6,
}

/// Rows over the vector of all node motions (six each), followed by scalar dofs.
#[derive(Debug, Clone, Default)]
pub struct ConstraintRows {
    /// Coefficients on nodes. The list has the same places at every configuration.
    pub entries: Vec<RowEntry>,
    /// (row, scalar dof, coefficient).
    pub scalars: Vec<(usize, usize, f64)>,
    /// Number of rows.
    pub n_rows: usize,
}

impl ConstraintRows {
    /// `out[.., column] += factor · C · q[.., column]` for all columns.
    pub fn apply(&self, n_nodes: usize, q: &Mat<f64>, factor: f64, out: &mut Mat<f64>) {
        for column in 0..q.ncols() {
            for entry in &self.entries {
                let mut sum = 0.0;
                for i in 0..6 {
                    sum += entry.values[i] * q[(6 * entry.node + i, column)];
                }
                out[(entry.row, column)] += factor * sum;
            }
            for &(row, scalar, value) in &self.scalars {
                out[(row, column)] += factor * value * q[(6 * n_nodes + scalar, column)];
            }
        }
    }

    /// `out[.., column] += factor · Cᵀ · λ[.., column]` for all columns.
    pub fn apply_transposed(
        &self,
        n_nodes: usize,
        lambda: &Mat<f64>,
        factor: f64,
        out: &mut Mat<f64>,
    ) {
        for column in 0..lambda.ncols() {
            for entry in &self.entries {
                let l = factor * lambda[(entry.row, column)];
                for i in 0..6 {
                    out[(6 * entry.node + i, column)] += entry.values[i] * l;
                }
            }
            for &(row, scalar, value) in &self.scalars {
                out[(6 * n_nodes + scalar, column)] += factor * value * lambda[(row, column)];
            }
        }
    }

    fn push(&mut self, row: usize, mount: &Mount, values: impl FnOnce(&Frame) -> Vector6) {
        if let Some(node) = mount.node {
            self.entries.push(RowEntry {
                row,
                node,
                values: values(&mount.frame),
            });
        }
    }
}

/// Frame of a mount for given node frames.
pub fn mount_frame(mount: &Mount, frames: &[Frame]) -> Frame {
    match mount.node {
        Some(node) => frames[node].compose(&mount.frame),
        None => mount.frame,
    }
}

/// Velocity of a mount for given node velocities.
pub fn mount_velocity(mount: &Mount, velocities: &[Vector6]) -> Vector6 {
    match mount.node {
        Some(node) => mount.frame.pull_back(&velocities[node]),
        None => Vector6::zeros(),
    }
}

/// Rows of a pair of mounts over their relative velocity, appended from row `first`.
struct PairRows<'a> {
    a: &'a Mount,
    b: &'a Mount,
    motion: RelativeMotion,
}

impl<'a> PairRows<'a> {
    fn new(a: &'a Mount, b: &'a Mount, frames: &[Frame]) -> Self {
        let d = mount_frame(a, frames).relative(&mount_frame(b, frames));
        Self {
            a,
            b,
            motion: RelativeMotion { d },
        }
    }

    fn push(&self, out: &mut ConstraintRows, row: usize, c: &Vector6) {
        out.push(row, self.b, |f| f.carry_force(c));
        out.push(row, self.a, |f| {
            -f.carry_force(&self.motion.d.carry_force(c))
        });
    }

    /// Rate of the row `c` (itself changing at `c_rate`) for relative velocity `v_rel`.
    fn push_rate(
        &self,
        out: &mut ConstraintRows,
        row: usize,
        c: &Vector6,
        c_rate: &Vector6,
        v_rel: &Vector6,
    ) {
        out.push(row, self.b, |f| f.carry_force(c_rate));
        out.push(row, self.a, |f| {
            f.carry_force(&self.motion.d.carry_force(&(coadjoint(v_rel, c) - c_rate)))
        });
    }

    fn relative_velocity(&self, velocities: &[Vector6]) -> Vector6 {
        self.motion.velocity(
            &mount_velocity(self.a, velocities),
            &mount_velocity(self.b, velocities),
        )
    }
}

/// Coefficients on a node of the displacement of a mounted point along an inertial direction.
pub fn point_row(mount: &Mount, frame: &Frame, direction: &Vector3<f64>) -> Vector6 {
    let local = frame.rotation.tr_mul(direction);
    mount.frame.carry_force(&join(&local, &Vector3::zeros()))
}

/// Rate of [`point_row`] while the mount moves with `velocity` and the direction changes.
pub fn point_row_rate(
    mount: &Mount,
    frame: &Frame,
    velocity: &Vector6,
    direction: &Vector3<f64>,
    direction_rate: &Vector3<f64>,
) -> Vector6 {
    let local = frame.rotation.tr_mul(direction);
    let rate = frame.rotation.tr_mul(direction_rate) - angular(velocity).cross(&local);
    mount.frame.carry_force(&join(&rate, &Vector3::zeros()))
}

/// Unit vector from a to b, its rate, the distance and its rate.
pub struct Line {
    /// From a to b.
    pub direction: Vector3<f64>,
    /// Its rate.
    pub direction_rate: Vector3<f64>,
    /// Between a and b (m).
    pub distance: f64,
    /// Its rate.
    pub distance_rate: f64,
}

/// The line between two mounts; `velocities` absent: at rest.
pub fn line(a: &Mount, b: &Mount, frames: &[Frame], velocities: Option<&[Vector6]>) -> Line {
    let (fa, fb) = (mount_frame(a, frames), mount_frame(b, frames));
    let gap = fb.position - fa.position;
    let distance = gap.norm();
    let direction = gap / distance;
    let w = match velocities {
        Some(v) => {
            fb.rotation * linear(&mount_velocity(b, v))
                - fa.rotation * linear(&mount_velocity(a, v))
        }
        None => Vector3::zeros(),
    };
    let distance_rate = direction.dot(&w);
    Line {
        direction,
        direction_rate: (w - direction * distance_rate) / distance,
        distance,
        distance_rate,
    }
}

impl FullModel {
    /// Rows of joints (independent ones), actuated coordinates and fixed loaded dofs, in this order.
    pub fn constraint_rows(&self, frames: &[Frame], with_loaded: bool) -> ConstraintRows {
        let mut out = ConstraintRows::default();
        let mut candidate = 0;
        for model_joint in &self.joints {
            let pair = PairRows::new(&model_joint.a, &model_joint.b, frames);
            let gradient = joint::gradient(model_joint.kind, &pair.motion.d);
            for c in gradient.as_slice() {
                if let Some(row) = self.kept_rows[candidate] {
                    pair.push(&mut out, row, c);
                }
                candidate += 1;
            }
        }
        out.n_rows = self.n_joint_rows;
        for drive in &self.drives {
            let row = out.n_rows;
            out.n_rows += 1;
            self.drive_row(&mut out, row, drive, frames);
        }
        if with_loaded {
            for loaded in self.loaded.iter().filter(|l| l.fixed) {
                let row = out.n_rows;
                out.n_rows += 1;
                let frame = mount_frame(&loaded.at, frames);
                out.push(row, &loaded.at, |_| {
                    point_row(&loaded.at, &frame, &loaded.direction)
                });
            }
        }
        out
    }

    /// Rates of [`Self::constraint_rows`] while nodes move with `velocities`.
    pub fn constraint_rates(
        &self,
        frames: &[Frame],
        velocities: &[Vector6],
        with_loaded: bool,
    ) -> ConstraintRows {
        let mut out = ConstraintRows::default();
        let mut candidate = 0;
        for model_joint in &self.joints {
            let pair = PairRows::new(&model_joint.a, &model_joint.b, frames);
            let v_rel = pair.relative_velocity(velocities);
            let gradient = joint::gradient(model_joint.kind, &pair.motion.d);
            let rate = joint::gradient_rate(model_joint.kind, &pair.motion.d, &v_rel);
            for (c, c_rate) in gradient.as_slice().iter().zip(rate.as_slice()) {
                if let Some(row) = self.kept_rows[candidate] {
                    pair.push_rate(&mut out, row, c, c_rate, &v_rel);
                }
                candidate += 1;
            }
        }
        out.n_rows = self.n_joint_rows;
        for drive in &self.drives {
            let row = out.n_rows;
            out.n_rows += 1;
            self.drive_rate(&mut out, row, drive, frames, velocities);
        }
        if with_loaded {
            for loaded in self.loaded.iter().filter(|l| l.fixed) {
                let row = out.n_rows;
                out.n_rows += 1;
                let frame = mount_frame(&loaded.at, frames);
                let v = mount_velocity(&loaded.at, velocities);
                out.push(row, &loaded.at, |_| {
                    point_row_rate(&loaded.at, &frame, &v, &loaded.direction, &Vector3::zeros())
                });
            }
        }
        out
    }

    fn drive_row(
        &self,
        out: &mut ConstraintRows,
        row: usize,
        drive: &ModelDrive,
        frames: &[Frame],
    ) {
        match &drive.coordinate {
            Some(c) => PairRows::new(&drive.a, &drive.b, frames).push(out, row, c),
            None => {
                let l = line(&drive.a, &drive.b, frames, None);
                for (mount, sign) in [(&drive.b, 1.0), (&drive.a, -1.0)] {
                    let frame = mount_frame(mount, frames);
                    out.push(row, mount, |_| {
                        point_row(mount, &frame, &(l.direction * sign))
                    });
                }
            }
        }
        if let Some(scalar) = drive.scalar {
            out.scalars.push((row, scalar, -1.0));
        }
    }

    fn drive_rate(
        &self,
        out: &mut ConstraintRows,
        row: usize,
        drive: &ModelDrive,
        frames: &[Frame],
        velocities: &[Vector6],
    ) {
        match &drive.coordinate {
            Some(c) => {
                let pair = PairRows::new(&drive.a, &drive.b, frames);
                let v_rel = pair.relative_velocity(velocities);
                pair.push_rate(out, row, c, &Vector6::zeros(), &v_rel);
            }
            None => {
                let l = line(&drive.a, &drive.b, frames, Some(velocities));
                for (mount, sign) in [(&drive.b, 1.0), (&drive.a, -1.0)] {
                    let frame = mount_frame(mount, frames);
                    let v = mount_velocity(mount, velocities);
                    out.push(row, mount, |_| {
                        point_row_rate(
                            mount,
                            &frame,
                            &v,
                            &(l.direction * sign),
                            &(l.direction_rate * sign),
                        )
                    });
                }
            }
        }
    }

    /// Row of a joint's coordinate or of a distance, as coefficients on nodes, with its rate.
    pub(super) fn coordinate_entries(
        &self,
        drive: &ModelDrive,
        frames: &[Frame],
        velocities: Option<&[Vector6]>,
    ) -> ConstraintRows {
        let mut out = ConstraintRows {
            n_rows: 1,
            ..ConstraintRows::default()
        };
        match velocities {
            None => self.drive_row(&mut out, 0, drive, frames),
            Some(v) => self.drive_rate(&mut out, 0, drive, frames, v),
        }
        out
    }
}
