//! Springs and dampers at a configuration: force, stiffness, and how they change with it.

use super::rows::{ConstraintRows, line, mount_frame};
use super::{FullModel, ModelDrive, joint};
use crate::lie::{Frame, Vector6};
use faer::Mat;

/// A spring at one configuration.
#[derive(Debug, Clone)]
pub struct SpringState {
    /// Row of its coordinate over the motion.
    pub row: ConstraintRows,
    /// Pulling force −∂V/∂coordinate, sign turned: stiffness·(coordinate − rest).
    pub tension: f64,
    /// Stiffness along the row.
    pub stiffness: f64,
    /// Damping along the row.
    pub damping: f64,
    /// Stored energy.
    pub energy: f64,
}

impl FullModel {
    /// All springs at a configuration.
    ///
    /// Frames tell a hinge's angle up to full turns; `hinge_angles` (one per joint) tell the turns.
    /// Where they are left out every hinge is within half a turn of the drawing.
    pub fn spring_states(&self, frames: &[Frame], hinge_angles: &[f64]) -> Vec<SpringState> {
        self.springs
            .iter()
            .map(|spring| {
                let near = spring.joint.and_then(|joint| hinge_angles.get(joint));
                let near = near.copied().unwrap_or(0.0);
                let stretch = self.coordinate_value(&spring.drive, frames, near) - spring.rest;
                SpringState {
                    row: self.coordinate_entries(&spring.drive, frames, None),
                    tension: spring.stiffness * stretch,
                    stiffness: spring.stiffness,
                    damping: spring.damping,
                    energy: 0.5 * spring.stiffness * stretch * stretch,
                }
            })
            .collect()
    }

    /// Rates of the springs' rows while nodes move with `velocities`.
    pub fn spring_row_rates(
        &self,
        frames: &[Frame],
        velocities: &[Vector6],
    ) -> Vec<ConstraintRows> {
        self.springs
            .iter()
            .map(|spring| self.coordinate_entries(&spring.drive, frames, Some(velocities)))
            .collect()
    }

    /// Joint displacement since the drawing (an angle within half a turn of `near`), or distance
    /// between the ends.
    pub(crate) fn coordinate_value(&self, drive: &ModelDrive, frames: &[Frame], near: f64) -> f64 {
        match &drive.coordinate {
            None => line(&drive.a, &drive.b, frames, None).distance,
            Some(row) => {
                let d = mount_frame(&drive.a, frames).relative(&mount_frame(&drive.b, frames));
                if row[5] != 0.0 {
                    joint::hinge_angle(&d, near)
                } else {
                    d.position.z
                }
            }
        }
    }

    /// `out += factor · (Σ stiffness·rowᵀrow) · q`.
    pub fn add_spring_stiffness(&self, states: &[SpringState], q: &Mat<f64>, out: &mut Mat<f64>) {
        self.add_row_products(states.iter().map(|s| (&s.row, s.stiffness)), q, out);
    }

    /// Damping forces of springs and scalar dofs: `out += D · q`.
    pub fn add_damping(&self, states: &[SpringState], q: &Mat<f64>, out: &mut Mat<f64>) {
        self.add_row_products(states.iter().map(|s| (&s.row, s.damping)), q, out);
        let first = 6 * self.nodes.len();
        for column in 0..q.ncols() {
            for (i, (_, damping)) in self.scalars.iter().enumerate() {
                out[(first + i, column)] += damping * q[(first + i, column)];
            }
        }
    }

    fn add_row_products<'a>(
        &self,
        rows: impl Iterator<Item = (&'a ConstraintRows, f64)>,
        q: &Mat<f64>,
        out: &mut Mat<f64>,
    ) {
        let n = self.nodes.len();
        for (row, factor) in rows {
            if factor == 0.0 {
                continue;
            }
            let mut product = Mat::zeros(1, q.ncols());
            row.apply(n, q, factor, &mut product);
            row.apply_transposed(n, &product, 1.0, out);
        }
    }
}
