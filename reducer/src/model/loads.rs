//! Constant forces and moments in inertial axes.

use super::FullModel;
use super::rows::{mount_frame, mount_velocity};
use crate::lie::{Frame, Vector6, angular, join};
use faer::Mat;

impl FullModel {
    /// `out += ` forces of constant loads on the motion (one column).
    pub fn add_loads(&self, frames: &[Frame], out: &mut Mat<f64>) {
        for load in &self.loads {
            let frame = mount_frame(&load.at, frames);
            let local = join(
                &frame.rotation.tr_mul(&load.force),
                &frame.rotation.tr_mul(&load.moment),
            );
            add_wrench(out, load.at.node, &load.at.frame.carry_force(&local));
        }
    }

    /// `out += ` rates of [`Self::add_loads`] while nodes move with `velocities`.
    pub fn add_load_rates(&self, frames: &[Frame], velocities: &[Vector6], out: &mut Mat<f64>) {
        for load in &self.loads {
            let frame = mount_frame(&load.at, frames);
            let spin = angular(&mount_velocity(&load.at, velocities));
            let local = join(
                &frame.rotation.tr_mul(&load.force).cross(&spin),
                &frame.rotation.tr_mul(&load.moment).cross(&spin),
            );
            add_wrench(out, load.at.node, &load.at.frame.carry_force(&local));
        }
    }

    /// Potential of constant forces; that of moments depends on how the bodies have turned.
    pub fn load_potential(&self, frames: &[Frame]) -> f64 {
        self.loads
            .iter()
            .map(|load| -load.force.dot(&mount_frame(&load.at, frames).position))
            .sum()
    }
}

fn add_wrench(out: &mut Mat<f64>, node: Option<usize>, wrench: &Vector6) {
    if let Some(node) = node {
        for i in 0..6 {
            out[(6 * node + i, 0)] += wrench[i];
        }
    }
}
