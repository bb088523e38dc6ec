//! From a validated mechanism to the full model.

use super::beam::BeamElement;
use super::drawing::{has_no_orientation, plane_normal};
use super::superelement::SuperElement;
use super::{
    BodyModel, Element, FullModel, ModelDrive, ModelJoint, ModelLoad, ModelLoaded, ModelSpring,
    Mount, Node, PlacedElement, joint,
};
use crate::description::mechanism::{
    Attachment, BeamChain, BodyKind, BodyRef, Drive, JointKind, LoadedKind, Mechanism, Origin,
    RigidInertia, SpringKind,
};
use crate::error::Explain;
use crate::lie::{Frame, Matrix6, Vector6, join, skew};
use crate::linalg::{self, RANK_TOLERANCE};
use nalgebra::{DMatrix, Matrix3, Vector3};
use thiserror::Error;

/// Faults of the full model.
#[derive(Debug, Clone, Error)]
#[allow(missing_docs)]
pub enum ModelError {
    #[error("joint `{joint}` does not fit a planar mechanism: {} leaves the plane `{plane}`", axis_words(*.kind))]
    OutOfPlane {
        joint: String,
        kind: JointKind,
        plane: &'static str,
        origin: Origin,
    },
    #[error(
        "home is special: of the joint constraints {at_home} are independent there, but {elsewhere} at θ = {theta:?}"
    )]
    RankChanges {
        at_home: usize,
        elsewhere: usize,
        theta: Vec<f64>,
        origin: Origin,
    },
    #[error("gravity has a component across the plane `{plane}` of the mechanism")]
    GravityOutOfPlane { plane: &'static str, origin: Origin },
}

fn axis_words(kind: JointKind) -> &'static str {
    match kind {
        JointKind::Universal => "the motion about its axes",
        _ => "the motion that its axis allows",
    }
}

impl Explain for ModelError {
    fn origin(&self) -> Option<&Origin> {
        match self {
            Self::OutOfPlane { origin, .. }
            | Self::RankChanges { origin, .. }
            | Self::GravityOutOfPlane { origin, .. } => Some(origin),
        }
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::OutOfPlane { kind, .. } => {
                let axis = match kind {
                    JointKind::Hinge => "turn its axis across the plane",
                    JointKind::Prismatic => "turn its axis into the plane",
                    JointKind::Universal => "turn one of its axes across the plane",
                    _ => "turn its axis across the plane or into it",
                };
                format!("{axis}, or remove `plane`")
            }
            Self::RankChanges { .. } => {
                "draw the mechanism at another home, where no links are folded or aligned".into()
            }
            Self::GravityOutOfPlane { .. } => {
                "choose gravity in the plane, or remove `plane`".into()
            }
        })
    }
}

impl FullModel {
    /// Builds the model; `home` are the frames of all bodies in the assembled home configuration.
    /// `elsewhere` gives θ and frames spread over the domain; it is asked where constraints are
    /// redundant.
    ///
    /// Of a planar mechanism `check_plane` must have approved.
    pub fn new(
        mechanism: &Mechanism,
        home: &[Frame],
        length: f64,
        elsewhere: impl FnOnce() -> Vec<(Vec<f64>, Vec<Frame>)>,
    ) -> Result<Self, ModelError> {
        let normal = mechanism.plane.map(plane_normal);
        let mut model = Self {
            bodies: Vec::new(),
            nodes: Vec::new(),
            elements: Vec::new(),
            placed: Vec::new(),
            masses: Vec::new(),
            joints: Vec::new(),
            drives: Vec::new(),
            scalars: Vec::new(),
            springs: Vec::new(),
            loaded: Vec::new(),
            loads: Vec::new(),
            outputs: Vec::new(),
            gravity: mechanism.gravity,
            length,
            kept_rows: Vec::new(),
            n_joint_rows: 0,
        };
        for (b, frame) in home.iter().enumerate() {
            model.add_body(mechanism, b, frame, normal.as_ref());
        }
        for mass in &mechanism.point_masses {
            model.add_point_mass(&mass.at, mass.mass);
        }
        model.sum_body_inertia();
        model.add_connections(mechanism);
        model.add_element_scalars();
        model.find_independent_rows(mechanism, home, elsewhere)?;
        Ok(model)
    }

    fn add_body(
        &mut self,
        mechanism: &Mechanism,
        b: usize,
        home: &Frame,
        normal: Option<&Vector3<f64>>,
    ) {
        let body = &mechanism.bodies[b];
        let first_node = self.nodes.len();
        let basis = |local: &Frame| -> Option<Vec<Vector6>> {
            let point = has_no_orientation(mechanism, b);
            node_basis(point, normal, &home.compose(local))
        };
        match &body.kind {
            BodyKind::Rigid(inertia) => {
                let local = Frame::identity();
                self.nodes.push(Node {
                    body: b,
                    local,
                    basis: basis(&local),
                });
                self.masses.push((first_node, rigid_mass(inertia)));
            }
            BodyKind::Point { mass } => {
                let local = Frame::identity();
                self.nodes.push(Node {
                    body: b,
                    local,
                    basis: basis(&local),
                });
                self.masses
                    .push((first_node, point_mass(*mass, &Vector3::zeros())));
            }
            BodyKind::Beam(chain) => {
                for local in &chain.nodes {
                    self.nodes.push(Node {
                        body: b,
                        local: *local,
                        basis: basis(local),
                    });
                }
                self.add_elements(chain, first_node);
            }
            BodyKind::Superelement(own) => {
                for local in &own.nodes {
                    self.nodes.push(Node {
                        body: b,
                        local: *local,
                        basis: basis(local),
                    });
                }
                self.elements
                    .push(Element::Super(Box::new(SuperElement::new(own.clone()))));
                let nodes: Vec<usize> = (first_node..self.nodes.len()).collect();
                self.placed.push(PlacedElement {
                    places: nodes.iter().flat_map(|n| 6 * n..6 * n + 6).collect(),
                    nodes,
                    first_scalar: 0,
                    element: self.elements.len() - 1,
                });
            }
        }
        self.bodies.push(BodyModel {
            name: body.name.clone(),
            first_node,
            n_nodes: self.nodes.len() - first_node,
            inertia: Matrix6::zeros(),
        });
    }

    /// Elements of a chain; an element equal to the one before shares its constants.
    fn add_elements(&mut self, chain: &BeamChain, first_node: usize) {
        let mut last: Option<(Frame, f64)> = None;
        for (i, pair) in chain.nodes.windows(2).enumerate() {
            let relative = pair[0].relative(&pair[1]);
            let length = chain.lengths[i];
            let same = last.is_some_and(|(frame, l)| {
                (l - length).abs() <= 1e-13 * length
                    && (frame.position - relative.position).norm() <= 1e-13 * length
                    && (frame.rotation - relative.rotation).norm() <= 1e-13
            });
            if !same {
                let beam = BeamElement::new(&pair[0], &pair[1], length, &chain.section);
                self.elements.push(Element::Beam(Box::new(beam)));
                last = Some((relative, length));
            }
            let a = first_node + i;
            self.placed.push(PlacedElement {
                nodes: vec![a, a + 1],
                first_scalar: 0,
                element: self.elements.len() - 1,
                places: (6 * a..6 * a + 12).collect(),
            });
        }
    }

    fn add_point_mass(&mut self, at: &Attachment, mass: f64) {
        let mount = self.mount(at);
        if let Some(node) = mount.node {
            self.masses
                .push((node, point_mass(mass, &mount.frame.position)));
        }
    }

    /// Inertia of each undeformed body about its own frame.
    fn sum_body_inertia(&mut self) {
        for &(node, mass) in &self.masses {
            let Node { body, local, .. } = &self.nodes[node];
            let carry = local.inverse().adjoint();
            self.bodies[*body].inertia += carry.transpose() * mass * carry;
        }
        for placed in &self.placed {
            let element = &self.elements[placed.element];
            let body = self.nodes[placed.nodes[0]].body;
            // Columns: unit motions of the body as motions of the nodes.
            let mut carry =
                nalgebra::OMatrix::<f64, nalgebra::Dyn, nalgebra::U6>::zeros(element.n_local());
            for (k, node) in placed.nodes.iter().enumerate() {
                let local = self.nodes[*node].local.inverse().adjoint();
                carry.fixed_view_mut::<6, 6>(6 * k, 0).copy_from(&local);
            }
            let n = element.n_local();
            let mass = DMatrix::from_column_slice(n, n, element.mass());
            self.bodies[body].inertia += carry.transpose() * mass * carry;
        }
    }

    fn mount(&self, at: &Attachment) -> Mount {
        match at.body {
            BodyRef::Ground => Mount {
                node: None,
                frame: at.frame,
            },
            BodyRef::Body(body) => Mount {
                node: Some(self.bodies[body.0].first_node + at.node),
                frame: at.frame,
            },
        }
    }

    fn add_connections(&mut self, mechanism: &Mechanism) {
        for described in &mechanism.joints {
            self.joints.push(ModelJoint {
                kind: described.kind,
                a: self.mount(&described.a),
                b: self.mount(&described.b),
            });
        }
        for coordinate in &mechanism.coordinates {
            let mut drive = match &coordinate.drive {
                Drive::Joint(id) => self.joint_drive(id.0),
                Drive::Distance(a, b) => ModelDrive {
                    a: self.mount(a),
                    b: self.mount(b),
                    coordinate: None,
                    scalar: None,
                },
            };
            if let Some(stiffness) = coordinate.stiffness {
                drive.scalar = Some(self.scalars.len());
                self.scalars.push((stiffness, coordinate.stiffness_damping));
            }
            self.drives.push(drive);
        }
        for spring in &mechanism.springs {
            let (drive, joint, rest) = match &spring.kind {
                SpringKind::Joint { joint, rest } => {
                    (self.joint_drive(joint.0), Some(joint.0), *rest)
                }
                SpringKind::Points { a, b, length } => (
                    ModelDrive {
                        a: self.mount(a),
                        b: self.mount(b),
                        coordinate: None,
                        scalar: None,
                    },
                    None,
                    *length,
                ),
            };
            self.springs.push(ModelSpring {
                drive,
                joint,
                rest,
                stiffness: spring.stiffness,
                damping: spring.damping,
            });
        }
        for loaded in &mechanism.loaded {
            self.loaded.push(ModelLoaded {
                at: self.mount(&loaded.at),
                direction: loaded.direction,
                fixed: loaded.kind == LoadedKind::Displacement,
            });
        }
        for load in &mechanism.loads {
            self.loads.push(ModelLoad {
                at: self.mount(&load.at),
                force: load.force,
                moment: load.moment,
            });
        }
        for output in &mechanism.outputs {
            self.outputs.push(self.mount(&output.at));
        }
    }

    /// Scalar dofs of elements, behind those of flexible actuators. Their stiffness is the element's.
    fn add_element_scalars(&mut self) {
        let first_scalar = 6 * self.nodes.len();
        for placed in &mut self.placed {
            let count = self.elements[placed.element].n_scalars();
            placed.first_scalar = self.scalars.len();
            let first = first_scalar + self.scalars.len();
            placed.places.extend(first..first + count);
            self.scalars.extend(std::iter::repeat_n((0.0, 0.0), count));
        }
    }

    fn joint_drive(&self, joint: usize) -> ModelDrive {
        let ModelJoint { kind, a, b } = &self.joints[joint];
        ModelDrive {
            a: a.clone(),
            b: b.clone(),
            coordinate: joint::coordinate_row(*kind),
            scalar: None,
        }
    }

    /// A maximal independent subset of the joint constraints: that found at home, unless another
    /// stays more independent elsewhere.
    fn find_independent_rows(
        &mut self,
        mechanism: &Mechanism,
        home: &[Frame],
        elsewhere: impl FnOnce() -> Vec<(Vec<f64>, Vec<Frame>)>,
    ) -> Result<(), ModelError> {
        let n: usize = self.joints.iter().map(|j| joint::n_rows(j.kind)).sum();
        self.kept_rows = (0..n).map(Some).collect();
        self.n_joint_rows = n;
        let mut seen = vec![self.dense_joint_rows(home)];
        let mut kept = linalg::independent_rows(&seen[0], RANK_TOLERANCE);
        if kept.len() < n {
            for (theta, frames) in elsewhere() {
                let rows = self.dense_joint_rows(&frames);
                let rank = linalg::independent_rows(&rows, RANK_TOLERANCE).len();
                if rank > kept.len() {
                    let first = mechanism.coordinates.first();
                    return Err(ModelError::RankChanges {
                        at_home: kept.len(),
                        elsewhere: rank,
                        theta,
                        origin: first.map(|c| c.origin.clone()).unwrap_or_default(),
                    });
                }
                seen.push(rows);
            }
            kept = linalg::rows_independent_everywhere(&seen, &kept);
        }
        self.kept_rows = vec![None; n];
        for (row, candidate) in kept.iter().enumerate() {
            self.kept_rows[*candidate] = Some(row);
        }
        self.n_joint_rows = kept.len();
        Ok(())
    }

    /// All joint constraints over the dofs that they touch, the largest entry of each row 1; while
    /// all of them are kept.
    fn dense_joint_rows(&self, bodies: &[Frame]) -> DMatrix<f64> {
        let n = self.n_joint_rows;
        let rows = self.constraint_rows(&self.node_frames(bodies), false);
        let map = self.dof_map();
        let mut touched: Vec<usize> = Vec::new();
        for entry in rows.entries.iter().filter(|e| e.row < n) {
            touched.extend(map.range(entry.node));
        }
        touched.sort_unstable();
        touched.dedup();
        let mut dense = DMatrix::zeros(n, touched.len());
        for entry in rows.entries.iter().filter(|e| e.row < n) {
            for (dof, value) in map.project(entry.node, &entry.values) {
                if let Ok(column) = touched.binary_search(&dof) {
                    dense[(entry.row, column)] += value;
                }
            }
        }
        for mut row in dense.row_iter_mut() {
            let size = row.amax();
            if size > 0.0 {
                row /= size;
            }
        }
        dense
    }
}

/// Directions in which a node can move, node axes; none: all six.
fn node_basis(point: bool, normal: Option<&Vector3<f64>>, frame: &Frame) -> Option<Vec<Vector6>> {
    let zero = Vector3::zeros();
    match normal {
        None if point => Some((0..3).map(|i| Vector6::ith(i, 1.0)).collect()),
        None => None,
        Some(normal) => {
            let n = frame.rotation.tr_mul(normal);
            let other = if n.x.abs() < 0.9 {
                Vector3::x()
            } else {
                Vector3::y()
            };
            let first = other.cross(&n).normalize();
            let mut basis = vec![join(&first, &zero), join(&n.cross(&first), &zero)];
            if !point {
                basis.push(join(&zero, &n));
            }
            Some(basis)
        }
    }
}

fn rigid_mass(inertia: &RigidInertia) -> Matrix6 {
    let mut m = point_mass(inertia.mass, &inertia.center_of_mass);
    let mut block = m.fixed_view_mut::<3, 3>(3, 3);
    block += inertia.inertia;
    m
}

fn point_mass(mass: f64, at: &Vector3<f64>) -> Matrix6 {
    let s = skew(at) * mass;
    let mut m = Matrix6::zeros();
    m.fixed_view_mut::<3, 3>(0, 0)
        .copy_from(&(Matrix3::identity() * mass));
    m.fixed_view_mut::<3, 3>(0, 3).copy_from(&(-s));
    m.fixed_view_mut::<3, 3>(3, 0).copy_from(&s);
    m.fixed_view_mut::<3, 3>(3, 3).copy_from(&(-(s * skew(at))));
    m
}
