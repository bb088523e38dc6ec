//! A body that floats: three slides and three turns in a row between two frames, because coordinates and springs act
//! on joints of one motion.

use super::super::mechanism::{
    Attachment, Body, BodyId, BodyKind, BodyRef, Joint, JointKind, Origin, RigidInertia,
};
use super::placement::axes_about;
use crate::lie::Frame;
use nalgebra::{Matrix3, Vector3};

/// The motions in their order from the first body to the second: along the axes of the joint, then about the z, y and
/// x axes that the turns before have left.
pub const MOTIONS: [&str; 6] = ["x", "y", "z", "yaw", "pitch", "roll"];

/// A free joint as the joints that it is made of and the massless bodies between them.
pub struct Chain {
    /// One for each of [`MOTIONS`], named after the free joint and the motion.
    pub joints: [Joint; 6],
    /// One after each motion but the last, named like it.
    pub carriers: [Body; 5],
}

impl Chain {
    /// Between frames on two bodies that coincide at `home`; the first carrier will be body `next`.
    pub fn new(
        name: &str,
        origin: &Origin,
        ends: [Attachment; 2],
        home: Frame,
        next: usize,
    ) -> Self {
        let [first, last] = ends;
        let named = |motion: usize| format!("{name}.{}", MOTIONS[motion]);
        let carried = |motion: usize| Attachment {
            body: BodyRef::Body(BodyId(next + motion)),
            node: 0,
            frame: Frame::identity(),
        };
        let joints = std::array::from_fn(|motion| {
            let before = match motion {
                0 => first.clone(),
                motion => carried(motion - 1),
            };
            let after = match motion {
                5 => last.clone(),
                motion => carried(motion),
            };
            Joint {
                name: named(motion),
                origin: origin.clone(),
                kind: match motion {
                    0..3 => JointKind::Prismatic,
                    _ => JointKind::Hinge,
                },
                a: along(before, motion),
                b: along(after, motion),
            }
        });
        let carriers = std::array::from_fn(|motion| Body {
            name: named(motion),
            origin: origin.clone(),
            frame: home,
            kind: BodyKind::Rigid(RigidInertia {
                mass: 0.0,
                center_of_mass: Vector3::zeros(),
                inertia: Matrix3::zeros(),
            }),
        });
        Self { joints, carriers }
    }
}

/// The frame of the free joint turned so that its z axis is that of the motion.
fn along(end: Attachment, motion: usize) -> Attachment {
    let axis = match motion {
        0 | 5 => Vector3::x(),
        1 | 4 => Vector3::y(),
        _ => Vector3::z(),
    };
    let rotation = end.frame.rotation * axes_about(axis);
    Attachment {
        frame: Frame::new(rotation, end.frame.position),
        ..end
    }
}
