//! Rigid motions: frames, velocities and the maps between them.

use nalgebra::{Matrix3, Vector3};

/// A frame: rotation and position with respect to another frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Columns are the frame's axes in the outer frame.
    pub rotation: Matrix3<f64>,
    /// Origin in the outer frame [m].
    pub position: Vector3<f64>,
}

impl Frame {
    /// The outer frame itself.
    pub fn identity() -> Self {
        Self {
            rotation: Matrix3::identity(),
            position: Vector3::zeros(),
        }
    }

    /// A frame from its axes and origin.
    pub fn new(rotation: Matrix3<f64>, position: Vector3<f64>) -> Self {
        Self { rotation, position }
    }

    /// `self` followed by `inner`, a frame given in `self`.
    pub fn compose(&self, inner: &Self) -> Self {
        Self {
            rotation: self.rotation * inner.rotation,
            position: self.position + self.rotation * inner.position,
        }
    }

    /// The outer frame as seen from this one.
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.transpose();
        Self {
            rotation,
            position: -(rotation * self.position),
        }
    }
}
