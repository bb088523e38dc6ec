//! The full model: frames, elements, joints and their sparse operators.
//!
//! A motion of the model is a vector of six values per node (in the node's own axes) followed by
//! scalar dofs, the lumped deflections of flexible actuators.

pub mod beam;
mod build;
mod constrained;
pub mod curvature;
mod dofs;
mod drawing;
pub mod element;
mod inertia;
pub mod joint;
mod loaded;
mod loads;
mod picture;
pub mod rows;
mod saddle;
mod springs;
mod statics;
pub mod superelement;

use crate::description::mechanism::JointKind;
use crate::lie::{Frame, Matrix6, Vector6};
use nalgebra::Vector3;

pub use build::ModelError;
pub(crate) use dofs::DofMap;
pub use drawing::check_plane;
pub(crate) use drawing::{drawn_frame, has_no_orientation, node_frame, plane_normal};
pub use element::{Element, PlacedElement};
pub use loaded::{ActuatorMotion, LoadedOperators};
pub use picture::{Pictured, PicturedMotion};
pub use saddle::{Factor, Saddle, SaddleError};
pub use springs::SpringState;
pub use statics::{Equilibrium, StaticsError};

/// A frame fixed to a node; none: to the ground.
#[derive(Debug, Clone)]
pub struct Mount {
    /// The node.
    pub node: Option<usize>,
    /// Frame in the node's frame.
    pub frame: Frame,
}

/// A node of the mesh.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its body.
    pub body: usize,
    /// Its frame in the body's frame, undeformed.
    pub local: Frame,
    /// Directions in which it can move, where not all six.
    pub basis: Option<Vec<Vector6>>,
}

/// A body of the full model.
#[derive(Debug, Clone)]
pub struct BodyModel {
    /// Full path.
    pub name: String,
    /// First of its nodes.
    pub first_node: usize,
    /// Number of nodes.
    pub n_nodes: usize,
    /// Inertia of the undeformed body about its frame.
    pub inertia: Matrix6,
}

/// A joint between two mounts.
#[derive(Debug, Clone)]
pub struct ModelJoint {
    /// What it leaves free.
    pub kind: JointKind,
    /// First frame.
    pub a: Mount,
    /// Second frame.
    pub b: Mount,
}

/// An actuated coordinate.
#[derive(Debug, Clone)]
pub struct ModelDrive {
    /// First frame.
    pub a: Mount,
    /// Second frame.
    pub b: Mount,
    /// Row over the relative velocity; none: the distance between the frames.
    pub coordinate: Option<Vector6>,
    /// Scalar dof of its lumped flexibility.
    pub scalar: Option<usize>,
}

/// A spring and damper on a joint coordinate or a distance.
#[derive(Debug, Clone)]
pub struct ModelSpring {
    /// What it acts on.
    pub drive: ModelDrive,
    /// The joint across which it acts; none: between two points.
    pub joint: Option<usize>,
    /// Relaxed distance, or displacement of the joint since the drawing.
    pub rest: f64,
    /// Stiffness.
    pub stiffness: f64,
    /// Damping.
    pub damping: f64,
}

/// A loaded dof.
#[derive(Debug, Clone)]
pub struct ModelLoaded {
    /// The point.
    pub at: Mount,
    /// Unit vector, inertial axes.
    pub direction: Vector3<f64>,
    /// It is held when internal modes are computed (constraint mode, not attachment mode).
    pub fixed: bool,
}

/// A constant load.
#[derive(Debug, Clone)]
pub struct ModelLoad {
    /// Where it acts.
    pub at: Mount,
    /// Force, inertial axes (N).
    pub force: Vector3<f64>,
    /// Moment, inertial axes (N m).
    pub moment: Vector3<f64>,
}

/// The full model of a mechanism: constants only; a configuration is a list of node frames.
#[derive(Debug, Clone)]
pub struct FullModel {
    /// Bodies in the order of the mechanism.
    pub bodies: Vec<BodyModel>,
    /// Nodes of all bodies.
    pub nodes: Vec<Node>,
    /// Constants of distinct elements.
    pub elements: Vec<Element>,
    /// All deformable elements.
    pub placed: Vec<PlacedElement>,
    /// Rigid inertia at nodes, about the node's frame.
    pub masses: Vec<(usize, Matrix6)>,
    /// Joints.
    pub joints: Vec<ModelJoint>,
    /// Actuated coordinates in the order of θ.
    pub drives: Vec<ModelDrive>,
    /// Stiffness and damping of scalar dofs.
    pub scalars: Vec<(f64, f64)>,
    /// Springs and dampers.
    pub springs: Vec<ModelSpring>,
    /// Loaded dofs.
    pub loaded: Vec<ModelLoaded>,
    /// Constant loads.
    pub loads: Vec<ModelLoad>,
    /// Output frames.
    pub outputs: Vec<Mount>,
    /// Acceleration of gravity, inertial axes.
    pub gravity: Vector3<f64>,
    /// A length typical of the mechanism (m).
    pub length: f64,
    /// Row of each joint constraint among the independent ones.
    kept_rows: Vec<Option<usize>>,
    n_joint_rows: usize,
}

impl FullModel {
    /// Length of a motion vector.
    pub fn n_motion(&self) -> usize {
        6 * self.nodes.len() + self.scalars.len()
    }

    /// Number of dofs that can move before constraints.
    pub fn n_dofs(&self) -> usize {
        let nodes: usize = self
            .nodes
            .iter()
            .map(|n| n.basis.as_ref().map_or(6, Vec::len))
            .sum();
        nodes + self.scalars.len()
    }

    /// Number of flexible actuators; their scalar dofs come first.
    pub fn n_flexible_actuators(&self) -> usize {
        self.drives.iter().filter(|d| d.scalar.is_some()).count()
    }

    /// Number of independent joint constraints.
    pub fn n_joint_rows(&self) -> usize {
        self.n_joint_rows
    }

    /// Number of joint constraints that follow from the others.
    pub fn n_redundant(&self) -> usize {
        self.kept_rows.len() - self.n_joint_rows
    }

    /// The joint to which an independent joint constraint belongs.
    pub(crate) fn joint_of_row(&self, row: usize) -> Option<usize> {
        let mut candidates = self.kept_rows.iter();
        self.joints.iter().position(|model_joint| {
            candidates
                .by_ref()
                .take(joint::n_rows(model_joint.kind))
                .any(|kept| *kept == Some(row))
        })
    }

    /// Whether anything can deform.
    pub fn is_flexible(&self) -> bool {
        !self.placed.is_empty() || !self.scalars.is_empty()
    }

    /// Node frames of the undeformed bodies at given body frames.
    pub fn node_frames(&self, bodies: &[Frame]) -> Vec<Frame> {
        self.nodes
            .iter()
            .map(|node| bodies[node.body].compose(&node.local))
            .collect()
    }
}
