//! What drives a mechanism, as both integrators see it.

use super::control::{Diagram, Feedback, Place};
use nalgebra::Vector3;

/// What an actuator does at one instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Drive {
    /// A force (torque on a hinge) along the coordinate.
    Force {
        /// Its value (N, N m).
        force: f64,
        /// Its derivative by the coordinate.
        by_position: f64,
        /// Its derivative by the coordinate's rate.
        by_rate: f64,
    },
    /// The coordinate moves as given; the force that this takes is a result.
    Motion {
        /// Value of the coordinate (m, rad).
        position: f64,
        /// First derivative by time.
        rate: f64,
        /// Second derivative by time.
        acceleration: f64,
    },
}

/// A blow: a force without duration that changes velocities at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impulse {
    /// When (s).
    pub time: f64,
    /// Where.
    pub place: Place,
    /// Integral of the force (N s, N m s).
    pub size: f64,
}

impl Impulse {
    /// Whether it acts at an instant of a run of this duration.
    pub fn is_at(&self, time: f64, duration: f64) -> bool {
        (self.time - time).abs() <= 2e-12 * duration
    }
}

/// Everything that acts on a mechanism from outside besides gravity.
///
/// Whether a coordinate is moved or forced does not change during a run.
pub trait Excitation {
    /// Whether coordinate `k` of θ is moved as prescribed, rather than forced.
    fn is_prescribed(&self, k: usize) -> bool;

    /// What drives coordinate `k` of θ, at its present position and rate.
    fn drive(&self, k: usize, time: f64, position: f64, rate: f64) -> Drive;

    /// Force (N, inertial axes) at the point of output `output`; none where no force ever acts.
    fn point_force(&self, output: usize, time: f64) -> Option<Vector3<f64>>;

    /// Blocks that close loops, and the forces they give besides; none where nothing is fed back.
    fn control(&self) -> Option<(&Diagram, &[Feedback])> {
        None
    }

    /// Blows; each at t = 0 or at one of the breaks.
    fn impulses(&self) -> &[Impulse] {
        &[]
    }

    /// Times in increasing order at which something jumps or bends; steps end there.
    fn breaks(&self) -> &[f64];
}
