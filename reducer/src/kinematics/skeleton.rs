//! The skeleton: undeformed bodies as a tree of elementary joints, loops closed by cut joints.
//!
//! A spanning tree with the fewest joint coordinates keeps the loop equations small whatever the
//! mesh: joints with many constraints stay in the tree, joints with few are cut. Actuated joints
//! always stay in the tree, so that their coordinates are unknowns themselves.

use super::KinematicsError;
use super::closure::Posture;
use crate::description::mechanism::{
    Attachment, BodyKind, BodyRef, Drive, JointId, JointKind, Mechanism, Plane,
};
use crate::lie::{Frame, Vector6, join};
use crate::model::{drawn_frame, has_no_orientation, node_frame, plane_normal};
use nalgebra::Vector3;

/// An elementary joint. The axis is in the joint's frame.
#[derive(Debug, Clone, Copy)]
pub(super) enum Elementary {
    Locked,
    Turn(Vector3<f64>),
    Slide(Vector3<f64>),
    Ball,
}

impl Elementary {
    pub(super) fn dofs(&self) -> usize {
        match self {
            Self::Locked => 0,
            Self::Turn(_) | Self::Slide(_) => 1,
            Self::Ball => 3,
        }
    }

    fn reversed(self) -> Self {
        match self {
            Self::Turn(axis) => Self::Turn(-axis),
            Self::Slide(axis) => Self::Slide(-axis),
            other => other,
        }
    }

    /// Velocity of the joint's moving frame per unit rate of its `i`-th coordinate.
    fn subspace(&self, i: usize) -> Vector6 {
        match self {
            Self::Locked => Vector6::zeros(),
            Self::Turn(axis) => join(&Vector3::zeros(), axis),
            Self::Slide(axis) => join(axis, &Vector3::zeros()),
            Self::Ball => Vector6::ith(3 + i, 1.0),
        }
    }
}

/// A frame that one elementary joint moves: H = H_parent·before·X(q)·after.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub parent: Option<usize>,
    pub before: Frame,
    pub after: Frame,
    pub motion: Elementary,
    /// First of its coordinates.
    pub first: usize,
    /// Index among the ball joints.
    pub ball: usize,
    /// Velocity of the link's frame per rate of each coordinate.
    pub subspace: Vec<Vector6>,
    /// Joint coordinates that move it, ascending.
    pub support: Vec<usize>,
    /// The joint it comes from; none for the implicit guide of a point body.
    pub joint: Option<JointId>,
}

/// An attachment on the skeleton: a link (none: ground) and a frame in it.
#[derive(Debug, Clone)]
pub(super) struct Mount {
    pub link: Option<usize>,
    pub frame: Frame,
}

/// A joint that closes a loop.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    pub kind: JointKind,
    pub a: Mount,
    pub b: Mount,
    pub joint: JointId,
}

/// How an actuated coordinate is measured.
#[derive(Debug, Clone)]
pub(super) enum Gauge {
    /// A tree coordinate, zero in the drawing.
    Coordinate(usize),
    /// The distance between two points, less that of the drawing.
    Distance {
        a: Box<Mount>,
        b: Box<Mount>,
        drawn: f64,
    },
}

/// How a link can turn in inertial space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rotation {
    /// Not at all.
    None,
    /// About this fixed direction.
    About(Vector3<f64>),
    /// About changing directions.
    Free,
}

/// The skeleton of a mechanism.
#[derive(Debug, Clone)]
pub struct Skeleton {
    pub(super) links: Vec<Link>,
    /// Link that carries each body's frame.
    pub(super) body_link: Vec<usize>,
    pub(super) cuts: Vec<Cut>,
    pub(super) gauges: Vec<Gauge>,
    pub(super) n_coordinates: usize,
    pub(super) n_balls: usize,
    /// Joint coordinates that are lengths.
    pub(super) is_length: Vec<bool>,
    /// Joints that are hinges.
    pub(super) is_hinge: Vec<bool>,
    /// How each link can turn, and the sense of its own joint about a fixed direction.
    pub(super) rotations: Vec<(Rotation, f64)>,
    /// Length by which translations are made comparable with rotations.
    pub(super) length: f64,
}

/// An edge of the body graph.
struct Edge {
    a: Option<usize>,
    b: Option<usize>,
    joint: Option<JointId>,
    kind: JointKind,
    rank: (bool, usize),
}

impl Skeleton {
    /// Builds the tree and the cuts; does not yet assemble anything.
    pub fn new(mechanism: &Mechanism) -> Result<Self, KinematicsError> {
        let edges = edges(mechanism);
        let (in_tree, order) = spanning_tree(mechanism, &edges)?;
        let mut skeleton = Self {
            links: Vec::new(),
            body_link: vec![usize::MAX; mechanism.bodies.len()],
            cuts: Vec::new(),
            gauges: Vec::new(),
            n_coordinates: 0,
            n_balls: 0,
            is_length: Vec::new(),
            rotations: Vec::new(),
            is_hinge: mechanism
                .joints
                .iter()
                .map(|joint| joint.kind == JointKind::Hinge)
                .collect(),
            length: characteristic_length(mechanism),
        };
        let mut joint_coordinate = vec![None; mechanism.joints.len()];
        for &(edge, reversed) in &order {
            let first = skeleton.n_coordinates;
            skeleton.add_tree_edge(mechanism, &edges[edge], reversed);
            if let Some(joint) = edges[edge].joint {
                joint_coordinate[joint.0] = Some(first);
            }
        }
        for (edge, kept) in edges.iter().zip(&in_tree) {
            if let (false, Some(joint)) = (kept, edge.joint) {
                let described = &mechanism.joints[joint.0];
                skeleton.cuts.push(Cut {
                    kind: edge.kind,
                    a: skeleton.mount(mechanism, &described.a),
                    b: skeleton.mount(mechanism, &described.b),
                    joint,
                });
            }
        }
        for coordinate in &mechanism.coordinates {
            let gauge = match &coordinate.drive {
                Drive::Joint(joint) => match joint_coordinate[joint.0] {
                    Some(first) => Gauge::Coordinate(first),
                    None => {
                        return Err(KinematicsError::ActuatedLoop {
                            coordinate: coordinate.name.clone(),
                            joint: mechanism.joints[joint.0].name.clone(),
                            origin: coordinate.origin.clone(),
                        });
                    }
                },
                Drive::Distance(a, b) => {
                    let drawn = (drawn_frame(mechanism, b).position
                        - drawn_frame(mechanism, a).position)
                        .norm();
                    Gauge::Distance {
                        a: Box::new(skeleton.mount(mechanism, a)),
                        b: Box::new(skeleton.mount(mechanism, b)),
                        drawn,
                    }
                }
            };
            skeleton.gauges.push(gauge);
        }
        skeleton.find_rotations();
        Ok(skeleton)
    }

    /// Parallel axes stay parallel: what turns about nothing else turns about a fixed direction.
    fn find_rotations(&mut self) {
        let drawn = self.posture(self.drawn_state());
        for link in &self.links {
            let (before, parent) = match link.parent {
                Some(p) => (drawn.frames[p].compose(&link.before), self.rotations[p].0),
                None => (link.before, Rotation::None),
            };
            let own = match (link.motion, parent) {
                (Elementary::Locked | Elementary::Slide(_), _) => (parent, 0.0),
                (Elementary::Ball, _) | (_, Rotation::Free) => (Rotation::Free, 0.0),
                (Elementary::Turn(axis), Rotation::None) => {
                    (Rotation::About(before.rotation * axis), 1.0)
                }
                (Elementary::Turn(axis), Rotation::About(fixed)) => {
                    let axis = before.rotation * axis;
                    if axis.cross(&fixed).norm() < 1e-9 {
                        (parent, axis.dot(&fixed).signum())
                    } else {
                        (Rotation::Free, 0.0)
                    }
                }
            };
            self.rotations.push(own);
        }
    }

    /// Angle since the drawing of every body that turns about a fixed direction, full turns
    /// counted; zero for others.
    pub(super) fn turns(&self, posture: &Posture) -> Vec<f64> {
        let mut turns: Vec<f64> = Vec::with_capacity(self.links.len());
        for (link, (rotation, sense)) in self.links.iter().zip(&self.rotations) {
            let carried = link.parent.map_or(0.0, |p| turns[p]);
            turns.push(match (link.motion, rotation) {
                (_, Rotation::Free) => 0.0,
                (Elementary::Turn(_), _) => carried + sense * posture.state.coordinates[link.first],
                _ => carried,
            });
        }
        self.body_link.iter().map(|&link| turns[link]).collect()
    }

    /// The link and frame of an attachment.
    pub(super) fn mount(&self, mechanism: &Mechanism, at: &Attachment) -> Mount {
        match at.body {
            BodyRef::Ground => Mount {
                link: None,
                frame: at.frame,
            },
            BodyRef::Body(body) => Mount {
                link: Some(self.body_link[body.0]),
                frame: node_frame(mechanism, at).compose(&at.frame),
            },
        }
    }

    fn add_tree_edge(&mut self, mechanism: &Mechanism, edge: &Edge, reversed: bool) {
        let (parent, child) = if reversed {
            (edge.b, edge.a)
        } else {
            (edge.a, edge.b)
        };
        let Some(child) = child else { return };
        let (parent_frame, child_frame) = match edge.joint {
            Some(joint) => {
                let joint = &mechanism.joints[joint.0];
                let in_body = |at: &Attachment| node_frame(mechanism, at).compose(&at.frame);
                if reversed {
                    (in_body(&joint.b), in_body(&joint.a))
                } else {
                    (in_body(&joint.a), in_body(&joint.b))
                }
            }
            None => (mechanism.bodies[child].frame, Frame::identity()),
        };
        let drawn = match parent {
            Some(body) => mechanism.bodies[body].frame.compose(&parent_frame),
            None => parent_frame,
        };
        let mut motions = elementary_motions(edge.kind, mechanism.plane, &drawn);
        if reversed {
            motions.reverse();
            for motion in &mut motions {
                *motion = motion.reversed();
            }
        }
        let mut link = parent.map(|body| self.body_link[body]);
        let last = motions.len() - 1;
        for (i, motion) in motions.into_iter().enumerate() {
            let before = if i == 0 {
                parent_frame
            } else {
                Frame::identity()
            };
            let after = if i == last {
                child_frame.inverse()
            } else {
                Frame::identity()
            };
            link = Some(self.push_link(link, before, after, motion, edge.joint));
        }
        self.body_link[child] = self.links.len() - 1;
    }

    fn push_link(
        &mut self,
        parent: Option<usize>,
        before: Frame,
        after: Frame,
        motion: Elementary,
        joint: Option<JointId>,
    ) -> usize {
        let dofs = motion.dofs();
        let mut support = parent.map_or(Vec::new(), |p| self.links[p].support.clone());
        support.extend(self.n_coordinates..self.n_coordinates + dofs);
        self.links.push(Link {
            support,
            parent,
            before,
            after,
            motion,
            first: self.n_coordinates,
            ball: self.n_balls,
            subspace: (0..dofs)
                .map(|i| after.pull_back(&motion.subspace(i)))
                .collect(),
            joint,
        });
        self.n_coordinates += dofs;
        self.is_length
            .extend((0..dofs).map(|_| matches!(motion, Elementary::Slide(_))));
        if matches!(motion, Elementary::Ball) {
            self.n_balls += 1;
        }
        self.links.len() - 1
    }
}

fn edges(mechanism: &Mechanism) -> Vec<Edge> {
    let body = |at: &Attachment| match at.body {
        BodyRef::Ground => None,
        BodyRef::Body(b) => Some(b.0),
    };
    let actuated = |id: usize| {
        mechanism
            .coordinates
            .iter()
            .any(|c| matches!(c.drive, Drive::Joint(j) if j.0 == id))
    };
    let mut edges: Vec<Edge> = mechanism
        .joints
        .iter()
        .enumerate()
        .map(|(id, joint)| Edge {
            a: body(&joint.a),
            b: body(&joint.b),
            joint: Some(JointId(id)),
            kind: joint.kind,
            rank: (
                !actuated(id),
                2 * (6 - crate::model::joint::n_rows(joint.kind)),
            ),
        })
        .collect();
    for body in 0..mechanism.bodies.len() {
        if has_no_orientation(mechanism, body) {
            // Ranked before spherical joints: it must stay in the tree.
            edges.push(Edge {
                a: None,
                b: Some(body),
                joint: None,
                kind: JointKind::Translation,
                rank: (true, 5),
            });
        }
    }
    edges
}

/// Which edges are in the tree, and the tree edges from the ground outwards with their direction.
#[allow(clippy::type_complexity)]
fn spanning_tree(
    mechanism: &Mechanism,
    edges: &[Edge],
) -> Result<(Vec<bool>, Vec<(usize, bool)>), KinematicsError> {
    let n = mechanism.bodies.len();
    let vertex = |end: Option<usize>| end.map_or(n, |b| b);
    let mut sorted: Vec<usize> = (0..edges.len()).collect();
    sorted.sort_by_key(|&i| (edges[i].rank, i));
    let mut group: Vec<usize> = (0..=n).collect();
    let mut in_tree = vec![false; edges.len()];
    for i in sorted {
        let (a, b) = (group[vertex(edges[i].a)], group[vertex(edges[i].b)]);
        if a != b {
            in_tree[i] = true;
            for g in &mut group {
                if *g == b {
                    *g = a;
                }
            }
        }
    }
    if let Some(loose) = (0..n).find(|&b| group[b] != group[n]) {
        return Err(KinematicsError::Disconnected {
            body: mechanism.bodies[loose].name.clone(),
            origin: mechanism.bodies[loose].origin.clone(),
        });
    }
    let mut reached = vec![false; n + 1];
    reached[n] = true;
    let mut order = Vec::new();
    let mut placed = vec![false; edges.len()];
    loop {
        let next = (0..edges.len()).find(|&i| {
            in_tree[i] && !placed[i] && (reached[vertex(edges[i].a)] || reached[vertex(edges[i].b)])
        });
        let Some(i) = next else { break };
        placed[i] = true;
        let reversed = !reached[vertex(edges[i].a)];
        reached[vertex(edges[i].a)] = true;
        reached[vertex(edges[i].b)] = true;
        order.push((i, reversed));
    }
    Ok((in_tree, order))
}

/// Elementary motions of a joint, from its first frame to its second; in a planar mechanism those
/// that stay in the plane.
fn elementary_motions(kind: JointKind, plane: Option<Plane>, drawn: &Frame) -> Vec<Elementary> {
    use Elementary::{Ball, Slide, Turn};
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    let Some(plane) = plane else {
        return match kind {
            JointKind::Fixed => vec![Elementary::Locked],
            JointKind::Hinge => vec![Turn(z)],
            JointKind::Prismatic => vec![Slide(z)],
            JointKind::Cylindrical => vec![Slide(z), Turn(z)],
            JointKind::Universal => vec![Turn(z), Turn(x)],
            JointKind::Spherical => vec![Ball],
            JointKind::Planar => vec![Slide(x), Slide(y), Turn(z)],
            JointKind::Translation => vec![Slide(x), Slide(y), Slide(z)],
        };
    };
    let normal = drawn.rotation.tr_mul(&plane_normal(plane));
    let along = |axis: &Vector3<f64>| axis.cross(&normal).norm() < 1e-9;
    let across = |axis: &Vector3<f64>| axis.dot(&normal).abs() < 1e-9;
    let (turns, slides): (Vec<_>, Vec<_>) = match kind {
        JointKind::Fixed => (vec![], vec![]),
        JointKind::Hinge => (vec![z], vec![]),
        JointKind::Prismatic => (vec![], vec![z]),
        JointKind::Cylindrical => (vec![z], vec![z]),
        JointKind::Universal => (vec![z, x], vec![]),
        JointKind::Spherical => (vec![normal], vec![]),
        JointKind::Planar if along(&z) => (vec![z], vec![x, y]),
        JointKind::Planar => (vec![], vec![z.cross(&normal).normalize()]),
        JointKind::Translation => {
            let first = if normal.x.abs() < 0.9 { x } else { y }
                .cross(&normal)
                .normalize();
            (vec![], vec![first, normal.cross(&first)])
        }
    };
    let mut motions: Vec<Elementary> = slides
        .into_iter()
        .filter(across)
        .map(Slide)
        .chain(turns.into_iter().filter(along).map(Turn))
        .collect();
    if motions.is_empty() {
        motions.push(Elementary::Locked);
    }
    motions
}

/// Half the diagonal of the box around all drawn joints and bodies, at least 1 µm.
fn characteristic_length(mechanism: &Mechanism) -> f64 {
    let mut low = Vector3::repeat(f64::INFINITY);
    let mut high = Vector3::repeat(f64::NEG_INFINITY);
    let mut include = |p: &Vector3<f64>| {
        low = low.inf(p);
        high = high.sup(p);
    };
    for body in &mechanism.bodies {
        include(&body.frame.position);
        match &body.kind {
            BodyKind::Beam(_) | BodyKind::Superelement(_) => {
                let nodes = body.kind.flexible_nodes().unwrap_or_default();
                (nodes.iter()).for_each(|n| include(&body.frame.compose(n).position));
            }
            BodyKind::Rigid(inertia) => include(
                &body
                    .frame
                    .compose(&Frame::translation(inertia.center_of_mass))
                    .position,
            ),
            BodyKind::Point { .. } => {}
        }
    }
    for joint in &mechanism.joints {
        include(&drawn_frame(mechanism, &joint.a).position);
        include(&drawn_frame(mechanism, &joint.b).position);
    }
    let size = 0.5 * (high - low).norm();
    if size.is_finite() && size > 1e-6 {
        size
    } else {
        1.0
    }
}
