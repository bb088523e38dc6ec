//! The undeformed mechanism: enough to solve its kinematics and to draw it.

use crate::description::mechanism::JointKind;
use crate::lie::Frame;
use crate::model::{FullModel, ModelDrive, Mount};
use crate::reduction::LocalReducer;
use serde::Serialize;

/// Bodies as drawn at home, what joins them and what drives them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Skeleton {
    /// θ at home.
    pub home: Vec<f64>,
    /// Bodies.
    pub bodies: Vec<SkeletonBody>,
    /// Nodes of all bodies, then the points that outline bodies of finite-element programs.
    pub nodes: Vec<SkeletonNode>,
    /// Beam elements and outlines as pairs of nodes.
    pub beams: Vec<[usize; 2]>,
    /// Joints.
    pub joints: Vec<SkeletonJoint>,
    /// Actuators in the order of θ.
    pub drives: Vec<SkeletonDrive>,
    /// Output frames.
    pub outputs: Vec<PlacedFrame>,
    /// Springs and dampers between points; those across a joint have no length to draw.
    pub springs: Vec<SkeletonSpring>,
    /// Constant loads.
    pub loads: Vec<SkeletonLoad>,
    /// Gravity, inertial axes (m/s²).
    pub gravity: [f64; 3],
    /// Bodies whose terms of second order lack the stiffness of a state of stress inside.
    pub without_geometric_stiffness: Vec<String>,
}

/// A body.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkeletonBody {
    /// Full path.
    pub name: String,
    /// Position of its frame at home (m).
    pub position: [f64; 3],
    /// Rotation at home, body to inertial, row-major.
    pub rotation: [f64; 9],
}

/// A node of the mesh.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkeletonNode {
    /// Its body.
    pub body: usize,
    /// Its place in the undeformed body (m).
    pub position: [f64; 3],
}

/// A frame fixed to a body, or to the ground.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlacedFrame {
    /// The body; none for the ground.
    pub body: Option<usize>,
    /// The node it belongs to; none for the ground.
    pub node: Option<usize>,
    /// Origin in the body's frame (m).
    pub position: [f64; 3],
    /// Axes in the body's frame, row-major.
    pub rotation: [f64; 9],
}

/// A joint.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkeletonJoint {
    /// What it leaves free.
    pub kind: JointKind,
    /// First frame; z is the axis.
    pub a: PlacedFrame,
    /// Second frame.
    pub b: PlacedFrame,
}

/// What an actuated coordinate measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DriveKind {
    /// The angle about z.
    Angle,
    /// The way along z.
    Shift,
    /// The distance of the origins.
    Distance,
}

impl DriveKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Angle, Self::Shift, Self::Distance];
}

/// An actuated coordinate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkeletonDrive {
    /// What the coordinate measures.
    pub kind: DriveKind,
    /// First frame.
    pub a: PlacedFrame,
    /// Second frame.
    pub b: PlacedFrame,
}

/// A spring or damper between two points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkeletonSpring {
    /// One end.
    pub a: PlacedFrame,
    /// The other.
    pub b: PlacedFrame,
}

/// A constant load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkeletonLoad {
    /// Where it acts.
    pub at: PlacedFrame,
    /// Force, inertial axes (N).
    pub force: [f64; 3],
    /// Moment, inertial axes (N m).
    pub moment: [f64; 3],
}

impl Skeleton {
    /// Takes the skeleton from the full model.
    pub(super) fn new(reducer: &LocalReducer) -> Self {
        let model = reducer.model();
        let kinematics = reducer.kinematics();
        let place = |mount: &Mount| match mount.node {
            Some(node) => {
                let frame = model.nodes[node].local.compose(&mount.frame);
                PlacedFrame::new(Some(model.nodes[node].body), Some(node), &frame)
            }
            None => PlacedFrame::new(None, None, &mount.frame),
        };
        let home_frames = kinematics.home_frames();
        let (outline, lines) = outlines(model);
        Self {
            home: kinematics.home().to_vec(),
            bodies: model
                .bodies
                .iter()
                .zip(home_frames)
                .map(|(body, frame)| SkeletonBody {
                    name: body.name.clone(),
                    position: frame.position.into(),
                    rotation: row_major(&frame),
                })
                .collect(),
            nodes: model
                .nodes
                .iter()
                .map(|node| SkeletonNode {
                    body: node.body,
                    position: node.local.position.into(),
                })
                .chain(outline)
                .collect(),
            beams: model.element_lines().into_iter().chain(lines).collect(),
            joints: model
                .joints
                .iter()
                .map(|joint| SkeletonJoint {
                    kind: joint.kind,
                    a: place(&joint.a),
                    b: place(&joint.b),
                })
                .collect(),
            drives: model
                .drives
                .iter()
                .map(|drive| SkeletonDrive {
                    kind: drive_kind(drive),
                    a: place(&drive.a),
                    b: place(&drive.b),
                })
                .collect(),
            outputs: model.outputs.iter().map(place).collect(),
            springs: (model.springs.iter())
                .filter(|spring| spring.joint.is_none())
                .map(|spring| SkeletonSpring {
                    a: place(&spring.drive.a),
                    b: place(&spring.drive.b),
                })
                .collect(),
            loads: (model.loads.iter())
                .map(|load| SkeletonLoad {
                    at: place(&load.at),
                    force: load.force.into(),
                    moment: load.moment.into(),
                })
                .collect(),
            gravity: model.gravity.into(),
            without_geometric_stiffness: model.without_geometric_stiffness(),
        }
    }
}

/// Points that outline finite-element bodies, and lines between them, numbered after all nodes.
fn outlines(model: &FullModel) -> (Vec<SkeletonNode>, Vec<[usize; 2]>) {
    let (mut nodes, mut lines) = (Vec::new(), Vec::new());
    for body in model.pictured() {
        let (points, own) = body.outline();
        let first = model.nodes.len() + nodes.len();
        lines.extend(own.into_iter().map(|line| line.map(|point| first + point)));
        nodes.extend(points.into_iter().map(|point| SkeletonNode {
            body: model.nodes[body.first_node()].body,
            position: body.point(point).into(),
        }));
    }
    (nodes, lines)
}

impl PlacedFrame {
    fn new(body: Option<usize>, node: Option<usize>, frame: &Frame) -> Self {
        Self {
            body,
            node,
            position: frame.position.into(),
            rotation: row_major(frame),
        }
    }
}

fn row_major(frame: &Frame) -> [f64; 9] {
    std::array::from_fn(|i| frame.rotation[(i / 3, i % 3)])
}

fn drive_kind(drive: &ModelDrive) -> DriveKind {
    match drive.coordinate {
        None => DriveKind::Distance,
        Some(row) if row[5] != 0.0 => DriveKind::Angle,
        Some(_) => DriveKind::Shift,
    }
}
