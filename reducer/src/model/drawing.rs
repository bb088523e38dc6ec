//! What the drawing says: frames of attachments, and whether a planar mechanism stays in its plane.

use super::ModelError;
use crate::description::mechanism::{
    Attachment, BodyKind, BodyRef, Joint, JointKind, Mechanism, Plane,
};
use crate::lie::Frame;
use nalgebra::Vector3;

/// Sine of the largest angle between directions that count as equal.
const PARALLEL: f64 = 1e-9;

/// Frame of the attachment's node in its body.
pub(crate) fn node_frame(mechanism: &Mechanism, at: &Attachment) -> Frame {
    match at.body {
        BodyRef::Ground => Frame::identity(),
        BodyRef::Body(body) => match mechanism.bodies[body.0].kind.flexible_nodes() {
            Some(nodes) => nodes[at.node],
            None => Frame::identity(),
        },
    }
}

/// Frame of an attachment as drawn.
pub(crate) fn drawn_frame(mechanism: &Mechanism, at: &Attachment) -> Frame {
    let inner = node_frame(mechanism, at).compose(&at.frame);
    match at.body {
        BodyRef::Ground => inner,
        BodyRef::Body(body) => mechanism.bodies[body.0].frame.compose(&inner),
    }
}

/// A point body that no joint orients keeps its orientation.
pub(crate) fn has_no_orientation(mechanism: &Mechanism, body: usize) -> bool {
    let touches = |r: &Attachment| matches!(r.body, BodyRef::Body(b) if b.0 == body);
    matches!(mechanism.bodies[body].kind, BodyKind::Point { .. })
        && mechanism
            .joints
            .iter()
            .filter(|j| touches(&j.a) || touches(&j.b))
            .all(|j| j.kind == JointKind::Spherical)
}

/// Unit normal of a coordinate plane.
pub(crate) fn plane_normal(plane: Plane) -> Vector3<f64> {
    match plane {
        Plane::Xy => Vector3::z(),
        Plane::Xz => Vector3::y(),
        Plane::Yz => Vector3::x(),
    }
}

/// Refuses joints and gravity that do not fit the plane of a planar mechanism.
pub fn check_plane(mechanism: &Mechanism) -> Result<(), ModelError> {
    let Some(plane) = mechanism.plane else {
        return Ok(());
    };
    let normal = plane_normal(plane);
    let name = match plane {
        Plane::Xy => "xy",
        Plane::Xz => "xz",
        Plane::Yz => "yz",
    };
    if normal.dot(&mechanism.gravity).abs() > 1e-12 * mechanism.gravity.norm() {
        return Err(ModelError::GravityOutOfPlane {
            plane: name,
            origin: Default::default(),
        });
    }
    match mechanism
        .joints
        .iter()
        .find(|joint| !fits_plane(mechanism, joint, &normal))
    {
        Some(joint) => Err(ModelError::OutOfPlane {
            joint: joint.name.clone(),
            kind: joint.kind,
            plane: name,
            origin: joint.origin.clone(),
        }),
        None => Ok(()),
    }
}

/// A joint fits if it leaves a motion in the plane free and none that is oblique to it.
fn fits_plane(mechanism: &Mechanism, joint: &Joint, normal: &Vector3<f64>) -> bool {
    let z = drawn_frame(mechanism, &joint.a).rotation * Vector3::z();
    let x = drawn_frame(mechanism, &joint.b).rotation * Vector3::x();
    let along = |axis: &Vector3<f64>| axis.cross(normal).norm() < PARALLEL;
    let across = |axis: &Vector3<f64>| axis.dot(normal).abs() < PARALLEL;
    match joint.kind {
        JointKind::Fixed | JointKind::Spherical | JointKind::Translation => true,
        JointKind::Hinge => along(&z),
        JointKind::Prismatic => across(&z),
        JointKind::Cylindrical | JointKind::Planar => along(&z) || across(&z),
        JointKind::Universal => along(&z) || (along(&x) && across(&z)),
    }
}
