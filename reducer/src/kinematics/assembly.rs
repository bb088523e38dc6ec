//! Home: closing the drawn mechanism, counting its freedoms and finding independent loop equations.

use super::closure::Posture;
use super::route::Roadmap;
use super::skeleton::{Link, Rotation, Skeleton};
use super::{KinematicsError, SingularityKind};
use crate::description::mechanism::{Attachment, BodyRef, Mechanism, Origin};
use crate::lie::{Frame, Vector6};
use crate::linalg::{self, RANK_TOLERANCE};
use crate::model::{joint, node_frame};
use nalgebra::{DMatrix, DVector, Dyn, LU};
use std::sync::OnceLock;

/// Residuals of closed joints, unit-free.
pub(super) const CLOSED: f64 = 1e-12;

/// The kinematics of a mechanism, assembled at home.
#[derive(Debug, Clone)]
pub struct Kinematics {
    pub(super) skeleton: Skeleton,
    pub(super) home: Posture,
    /// θ at home.
    pub(super) home_theta: Vec<f64>,
    /// Independent rows among those of the cut joints.
    pub(super) rows: Vec<usize>,
    /// Sign of the closure determinant on the chosen branch.
    pub(super) orientation: f64,
    /// Factors of the closure system at home.
    pub(super) home_factors: LU<f64, Dyn, Dyn>,
    /// Size of all joint rates per θ̇ at home.
    pub(super) home_amplification: f64,
    pub(super) coordinates: Vec<Named>,
    pub(super) joints: Vec<Named>,
    bodies: Vec<String>,
    home_shift: Option<HomeShift>,
    /// Range of every coordinate that is searched for routes.
    pub(super) search_range: Vec<(f64, f64)>,
    /// Found at the first configuration that needs it.
    pub(super) roadmap: OnceLock<Roadmap>,
}

/// The point that assembly at home moved farthest.
#[derive(Debug, Clone, PartialEq)]
pub struct HomeShift {
    /// Distance from where it is drawn (m).
    pub moved: f64,
    /// Its body.
    pub body: String,
    /// The point of the body: `origin`, a node of a beam, or a joint.
    pub point: String,
    /// Index of the body.
    pub(super) index: usize,
}

/// A name and where it is described.
#[derive(Debug, Clone, Default)]
pub(super) struct Named {
    pub name: String,
    pub origin: Origin,
}

impl Kinematics {
    /// Builds the skeleton and closes it at home.
    pub fn new(mechanism: &Mechanism) -> Result<Self, KinematicsError> {
        let skeleton = Skeleton::new(mechanism)?;
        let mut kinematics = Self {
            home: skeleton.posture(skeleton.drawn_state()),
            skeleton,
            home_theta: mechanism.coordinates.iter().map(|c| c.home).collect(),
            rows: Vec::new(),
            orientation: 1.0,
            home_factors: LU::new(DMatrix::zeros(0, 0)),
            home_amplification: 1.0,
            coordinates: mechanism
                .coordinates
                .iter()
                .map(|c| Named {
                    name: c.name.clone(),
                    origin: c.origin.clone(),
                })
                .collect(),
            bodies: mechanism.bodies.iter().map(|b| b.name.clone()).collect(),
            home_shift: None,
            search_range: Vec::new(),
            roadmap: OnceLock::new(),
            joints: mechanism
                .joints
                .iter()
                .map(|j| Named {
                    name: j.name.clone(),
                    origin: j.origin.clone(),
                })
                .collect(),
        };
        kinematics.search_range = kinematics.find_search_range(mechanism);
        kinematics.assemble(mechanism)?;
        kinematics.count_freedoms()?;
        Ok(kinematics)
    }

    /// Number of loop equations that follow from the others.
    pub fn n_redundant(&self) -> usize {
        self.skeleton.n_cut_rows() - self.rows.len()
    }

    /// All bodies form a tree, and every joint is actuated.
    pub fn is_tree(&self) -> bool {
        self.n_joint_coordinates() == self.home().len()
    }

    /// Number of joint coordinates of the spanning tree.
    pub fn n_joint_coordinates(&self) -> usize {
        self.skeleton.n_coordinates
    }

    /// A length typical of the mechanism (m).
    pub fn characteristic_length(&self) -> f64 {
        self.skeleton.length
    }

    /// How a body can turn.
    pub fn rotation(&self, body: usize) -> Rotation {
        self.skeleton.rotations[self.skeleton.body_link[body]].0
    }

    /// What assembly changed of the drawing; nothing where there is no body.
    pub fn home_shift(&self) -> Option<&HomeShift> {
        self.home_shift.as_ref()
    }

    /// θ at which the mechanism is drawn.
    pub fn home(&self) -> &[f64] {
        &self.home_theta
    }

    /// Name of a joint and where it is described.
    pub(crate) fn joint_place(&self, joint: usize) -> (&str, &Origin) {
        let Named { name, origin } = &self.joints[joint];
        (name, origin)
    }

    /// Name of an actuated coordinate and where it is described.
    pub(crate) fn coordinate_place(&self, coordinate: usize) -> (&str, &Origin) {
        let Named { name, origin } = &self.coordinates[coordinate];
        (name, origin)
    }

    /// Frames of all bodies at home.
    pub fn home_frames(&self) -> Vec<Frame> {
        let links = self.skeleton.body_link.iter();
        links.map(|&link| self.home.frames[link]).collect()
    }

    /// Gauss-Newton from the drawing with θ held at home; shortest corrections.
    fn assemble(&mut self, mechanism: &Mechanism) -> Result<(), KinematicsError> {
        for _ in 0..30 {
            if self.skeleton.n_coordinates == 0 {
                break;
            }
            let jacobians = self.skeleton.link_jacobians(&self.home);
            let closure = self.skeleton.cut_rows(&self.home, &jacobians);
            let gauges = self.skeleton.gauge_rows(&self.home, &jacobians);
            let mut residual = self.skeleton.cut_residuals(&self.home);
            for (value, gauge) in self
                .skeleton
                .measured(&self.home)
                .iter()
                .zip(&self.skeleton.gauges)
            {
                residual.push(value / self.skeleton.gauge_scale(gauge));
            }
            let system = stack(&closure, &gauges);
            let step = linalg::least_squares(&system, &DVector::from_vec(residual), RANK_TOLERANCE);
            self.skeleton.advance(&mut self.home, &(-&step));
            if step.amax() < 1e-15 || !step.amax().is_finite() {
                break;
            }
        }
        if let Some((joint, gap)) = self.open_joint(&self.home) {
            return Err(KinematicsError::NotAssembled {
                joint: self.joints[joint].name.clone(),
                gap,
                origin: self.joints[joint].origin.clone(),
            });
        }
        self.home_shift = self.largest_shift(mechanism);
        let tolerance = mechanism.home_tolerance;
        match &self.home_shift {
            Some(shift) if shift.moved > tolerance => Err(KinematicsError::FarFromDrawing {
                shift: shift.clone(),
                tolerance,
                origin: mechanism.bodies[shift.index].origin.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// The point that assembly moved farthest from where it is drawn: frames of bodies, nodes of beams
    /// and both ends of joints, since a body that only turns keeps the origin of its frame.
    fn largest_shift(&self, mechanism: &Mechanism) -> Option<HomeShift> {
        let nodes = mechanism.bodies.iter().enumerate().flat_map(|(b, body)| {
            let nodes = body.kind.flexible_nodes().unwrap_or_default();
            let nodes = nodes.iter().enumerate();
            std::iter::once((b, "origin".to_owned(), Frame::identity()))
                .chain(nodes.map(move |(k, frame)| (b, format!("node{k}"), *frame)))
        });
        let ends = mechanism.joints.iter().flat_map(|joint| {
            let of = |at: &Attachment| match at.body {
                BodyRef::Ground => None,
                BodyRef::Body(body) => Some((
                    body.0,
                    format!("joint {}", joint.name),
                    node_frame(mechanism, at).compose(&at.frame),
                )),
            };
            [of(&joint.a), of(&joint.b)].into_iter().flatten()
        });
        let shift = |(b, point, inner): (usize, String, Frame)| {
            let body = &mechanism.bodies[b];
            let home = self.home.frames[self.skeleton.body_link[b]].compose(&inner);
            HomeShift {
                moved: (home.position - body.frame.compose(&inner).position).norm(),
                body: body.name.clone(),
                point,
                index: b,
            }
        };
        nodes
            .chain(ends)
            .map(shift)
            .max_by(|a, b| a.moved.total_cmp(&b.moved))
    }

    fn count_freedoms(&mut self) -> Result<(), KinematicsError> {
        let n = self.skeleton.n_coordinates;
        let s = self.skeleton.gauges.len();
        let jacobians = self.skeleton.link_jacobians(&self.home);
        let closure = self.skeleton.cut_rows(&self.home, &jacobians);
        self.rows = linalg::independent_rows(&closure, RANK_TOLERANCE);
        let mobility = n - self.rows.len();
        let locked = stack(&closure, &self.skeleton.gauge_rows(&self.home, &jacobians));
        if mobility != s {
            return Err(self.wrong_mobility(mobility, &locked));
        }
        if s == 0 {
            return Ok(());
        }
        let lu = LU::new(self.closure_system(&self.home));
        let motion = self.skeleton.motion(&self.home, &self.rows, &lu);
        let regular = linalg::independent_rows(&locked, RANK_TOLERANCE).len() == n;
        let (true, Some(motion)) = (regular, motion) else {
            let z = linalg::null_direction(&locked);
            return Err(self.singular(
                SingularityKind::Actuator,
                self.home_theta.clone(),
                z.as_slice(),
            ));
        };
        self.home_amplification = motion.amplification;
        self.orientation = lu.determinant().signum();
        self.home_factors = lu;
        self.settle_rows();
        Ok(())
    }

    /// The error that names a free joint or a coordinate too many; `locked` are the closure rows
    /// followed by those of the actuated coordinates.
    fn wrong_mobility(&self, mobility: usize, locked: &DMatrix<f64>) -> KinematicsError {
        let actuated = self.coordinates.len();
        let mut body = String::new();
        let culprit = if mobility > actuated {
            let motion = linalg::null_direction(locked);
            body = self.largest_body(motion.as_slice());
            self.largest_joint(motion.as_slice())
        } else {
            // The first coordinate whose row adds nothing to those before it.
            let first = locked.nrows() - actuated;
            (0..actuated)
                .find(|k| {
                    let upto = locked.rows(0, first + k + 1).into_owned();
                    let rank = linalg::independent_rows(&upto, RANK_TOLERANCE).len();
                    rank < self.rows.len() + k + 1
                })
                .map(|k| self.coordinates[k].clone())
        };
        let culprit = culprit.unwrap_or_default();
        KinematicsError::Mobility {
            mobility,
            actuated,
            culprit: culprit.name,
            body,
            origin: culprit.origin,
        }
    }

    /// [independent closure rows; actuated rows], square.
    pub(super) fn closure_system(&self, posture: &Posture) -> DMatrix<f64> {
        let jacobians = self.skeleton.link_jacobians(posture);
        let closure = self.skeleton.cut_rows(posture, &jacobians);
        let gauges = self.skeleton.gauge_rows(posture, &jacobians);
        stack(&closure.select_rows(&self.rows), &gauges)
    }

    /// The cut joint that is most open, where any is.
    pub(super) fn open_joint(&self, posture: &Posture) -> Option<(usize, f64)> {
        let residuals = self.skeleton.cut_residuals(posture);
        let mut first = 0;
        let mut worst: Option<(usize, f64)> = None;
        for cut in &self.skeleton.cuts {
            let n = joint::n_rows(cut.kind);
            for (r, value) in residuals[first..first + n].iter().enumerate() {
                let gap = value.abs() * self.skeleton.row_scale(cut.kind, r);
                let open = value.is_nan() || value.abs() > CLOSED;
                if open && worst.is_none_or(|(_, w)| gap > w) {
                    worst = Some((cut.joint.0, gap));
                }
            }
            first += n;
        }
        worst
    }

    /// The joint with the largest rate.
    pub(super) fn largest_joint(&self, rates: &[f64]) -> Option<Named> {
        let size = |link: &Link| {
            let own = rates.iter().skip(link.first).take(link.motion.dofs());
            own.fold(0.0_f64, |m, rate| m.max(rate.abs()))
        };
        let links = self.skeleton.links.iter();
        links
            .filter_map(|link| Some((size(link), link.joint?)))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
            .map(|(_, joint)| self.joints[joint.0].clone())
    }

    /// The body that moves or turns most; rates are free of units.
    fn largest_body(&self, rates: &[f64]) -> String {
        let skeleton = &self.skeleton;
        let jacobians = skeleton.link_jacobians(&self.home);
        let n = skeleton.n_coordinates;
        let size = |link: usize| {
            let mut v = Vector6::zeros();
            for (column, rate) in jacobians[link * n..(link + 1) * n].iter().zip(rates) {
                v += column * *rate;
            }
            let (shift, turn) = (v.fixed_rows::<3>(0), v.fixed_rows::<3>(3));
            shift.norm().max(turn.norm() * skeleton.length)
        };
        let bodies = skeleton.body_link.iter().zip(&self.bodies);
        bodies
            .map(|(&link, name)| (size(link), name))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, name)| name.clone())
            .unwrap_or_default()
    }

    pub(super) fn singular(
        &self,
        kind: SingularityKind,
        theta: Vec<f64>,
        rates: &[f64],
    ) -> KinematicsError {
        let coordinate = self.first_coordinate();
        KinematicsError::Singular {
            kind,
            theta,
            coordinate: coordinate.name,
            joint: self.largest_joint(rates).unwrap_or_default().name,
            origin: coordinate.origin,
        }
    }

    pub(super) fn first_coordinate(&self) -> Named {
        self.coordinates.first().cloned().unwrap_or_default()
    }
}

fn stack(top: &DMatrix<f64>, bottom: &DMatrix<f64>) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(top.nrows() + bottom.nrows(), bottom.ncols());
    out.rows_mut(0, top.nrows()).copy_from(top);
    out.rows_mut(top.nrows(), bottom.nrows()).copy_from(bottom);
    out
}
