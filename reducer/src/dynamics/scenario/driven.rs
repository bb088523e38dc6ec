//! What can be driven: the coordinates of the mechanism, or the place on its path.

use crate::approximation::PATH;
use crate::description::mechanism::{Drive, JointKind, Mechanism};
use crate::description::quantity::Dimension;

/// A rigid coordinate of the model, as drives and tables name it.
#[derive(Debug, Clone, PartialEq)]
pub struct DrivenCoordinate {
    /// Its name.
    pub name: String,
    /// What it measures.
    pub kind: DrivenKind,
    /// Where it is unless a scenario says otherwise.
    pub home: f64,
}

/// What a driven coordinate measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrivenKind {
    /// An angle; forces along it are torques.
    Angle,
    /// A length.
    Length,
    /// The place on a path, from 0 to 1; forces along it are the actuators' power over its rate.
    Path,
}

impl DrivenKind {
    /// Dimension of the coordinate, and of a force along it.
    pub(super) fn dimensions(self) -> (Dimension, Dimension) {
        match self {
            Self::Angle => (Dimension::ANGLE, Dimension::MOMENT),
            Self::Length => (Dimension::LENGTH, Dimension::FORCE),
            Self::Path => (Dimension::NONE, Dimension::MOMENT),
        }
    }

    /// Units of a force along the coordinate, and of the coordinate.
    pub fn units(self) -> [&'static str; 2] {
        match self {
            Self::Angle => ["N m", "rad"],
            Self::Length => ["N", "m"],
            Self::Path => ["J", "1"],
        }
    }
}

/// The coordinates of the model that a mechanism asks for.
pub(super) fn driven(mechanism: &Mechanism) -> Vec<DrivenCoordinate> {
    if mechanism.approximation.trajectory.is_some() {
        return vec![DrivenCoordinate {
            name: PATH.to_owned(),
            kind: DrivenKind::Path,
            home: 0.0,
        }];
    }
    let hinge = |joint: usize| mechanism.joints[joint].kind == JointKind::Hinge;
    mechanism
        .coordinates
        .iter()
        .map(|c| DrivenCoordinate {
            name: c.name.clone(),
            kind: match c.drive {
                Drive::Joint(joint) if hinge(joint.0) => DrivenKind::Angle,
                Drive::Joint(_) | Drive::Distance(..) => DrivenKind::Length,
            },
            home: c.home,
        })
        .collect()
}
