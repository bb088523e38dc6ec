//! The validated mechanism: every number evaluated, every template expanded, every name resolved.
//!
//! SI units and radians. What the description guarantees to the phases after it is written at
//! each item; the model builder relies on it.

mod settings;

pub use crate::error::Origin;
pub use settings::{
    ApproximationSettings, Basis, Budgets, Continuity, Criterion, Damping, Form, Gauge,
    InternalModes, Objective, ReductionSettings, Stiffening, Trajectory,
};

use super::matrix::Matrix;
use crate::finite_elements::Superelement;
use crate::lie::Frame;
use nalgebra::{Matrix3, Vector3};
use serde::Serialize;
use std::sync::Arc;

/// Index of a body in [`Mechanism::bodies`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub usize);

/// Index of a joint in [`Mechanism::joints`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId(pub usize);

/// One file that was read: the main file first, then its includes.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path as the user would recognise it.
    pub path: String,
    /// The whole text.
    pub text: Arc<str>,
}

/// A mechanism, drawn at its home configuration, with the settings of its reduction.
#[derive(Debug, Clone)]
pub struct Mechanism {
    /// Prefix of everything that is generated.
    pub name: String,
    /// Acceleration of gravity, inertial axes (m/s²).
    pub gravity: Vector3<f64>,
    /// The direction and size of gravity can be changed in the reduced model.
    pub gravity_at_runtime: bool,
    /// Motion out of this plane is removed from the full model.
    pub plane: Option<Plane>,
    /// Bodies in the order of the file, templates expanded.
    pub bodies: Vec<Body>,
    /// Joints in the order of the file, templates expanded.
    pub joints: Vec<Joint>,
    /// The actuated coordinates, in the order of θ.
    pub coordinates: Vec<Coordinate>,
    /// Springs and dampers.
    pub springs: Vec<Spring>,
    /// Point masses fixed to bodies.
    pub point_masses: Vec<PointMass>,
    /// Constant forces.
    pub loads: Vec<PointLoad>,
    /// Named points whose motion the user wants to know.
    pub outputs: Vec<Output>,
    /// Dofs on which loads will act: one constraint mode (or attachment mode) each.
    pub loaded: Vec<LoadedDof>,
    /// Matrices of θ that are made of the reduced ones.
    pub derived: Vec<Derived>,
    /// Linear inequalities that restrict the domain further than the coordinates' intervals.
    pub inequalities: Vec<Inequality>,
    /// How far assembly may move a drawn point (m).
    pub home_tolerance: f64,
    /// Structural damping.
    pub damping: Damping,
    /// How local modes are chosen.
    pub reduction: ReductionSettings,
    /// How coefficients are approximated over the domain.
    pub approximation: ApproximationSettings,
    /// The files, for diagnostics of later phases.
    pub sources: Vec<Source>,
}

/// A coordinate plane of the inertial frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plane {
    /// x and y.
    Xy,
    /// x and z.
    Xz,
    /// y and z.
    Yz,
}

impl Plane {
    /// Its two axes, as the file spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xy => "xy",
            Self::Xz => "xz",
            Self::Yz => "yz",
        }
    }
}

/// A body with its reference frame as drawn at home.
#[derive(Debug, Clone)]
pub struct Body {
    /// Full path, for example `x.rod`.
    pub name: String,
    /// Where it is described.
    pub origin: Origin,
    /// Reference frame at home, in the inertial frame.
    pub frame: Frame,
    /// What it is made of.
    pub kind: BodyKind,
}

/// What a body is made of.
#[derive(Debug, Clone)]
pub enum BodyKind {
    /// A rigid body. Its only node is the body's frame.
    Rigid(RigidInertia),
    /// A mass with a position only. Its only node is the body's frame; where no joint gives it an
    /// orientation, that stays constant.
    Point {
        /// Mass (kg), ≥ 0.
        mass: f64,
    },
    /// A chain of beam elements between consecutive nodes (at least two nodes).
    Beam(BeamChain),
    /// A condensed finite-element body; its nodes are its interfaces.
    Superelement(Arc<Superelement>),
}

impl BodyKind {
    /// Frames of the nodes in the body's frame, where it is flexible.
    pub fn flexible_nodes(&self) -> Option<&[Frame]> {
        match self {
            Self::Beam(chain) => Some(&chain.nodes),
            Self::Superelement(body) => Some(&body.nodes),
            Self::Rigid(_) | Self::Point { .. } => None,
        }
    }
}

/// Inertia of a rigid body, checked: mass ≥ 0, inertia positive semidefinite, triangle inequality.
#[derive(Debug, Clone)]
pub struct RigidInertia {
    /// Mass (kg).
    pub mass: f64,
    /// Centre of mass in the body's frame (m).
    pub center_of_mass: Vector3<f64>,
    /// Inertia tensor about the centre of mass, body axes, off-diagonals −∫xy dm (kg m²).
    pub inertia: Matrix3<f64>,
}

/// A meshed flexible beam.
#[derive(Debug, Clone)]
pub struct BeamChain {
    /// Node frames in the body's frame, x along the tangent, y and z along the section's axes.
    pub nodes: Vec<Frame>,
    /// Arc length of each element (m); one less than nodes.
    pub lengths: Vec<f64>,
    /// The section, the same along the body.
    pub section: Section,
}

/// Section constants of a beam; all positive and finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Section {
    /// Axial stiffness EA (N).
    pub axial: f64,
    /// Shear stiffness GA·k along y (N).
    pub shear_y: f64,
    /// Shear stiffness GA·k along z (N).
    pub shear_z: f64,
    /// Torsional stiffness GJ (N m²).
    pub torsion: f64,
    /// Bending stiffness about y, EI_y (N m²).
    pub bending_y: f64,
    /// Bending stiffness about z, EI_z (N m²).
    pub bending_z: f64,
    /// Mass per length (kg/m).
    pub mass_per_length: f64,
    /// Rotary inertia per length about x, y, z (kg m).
    pub rotary_inertia: Vector3<f64>,
}

/// A body, or the ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BodyRef {
    /// The inertial frame.
    Ground,
    /// A moving body.
    Body(BodyId),
}

/// A frame fixed to a node of a body (for the ground: to the inertial frame, node 0).
#[derive(Debug, Clone)]
pub struct Attachment {
    /// The body.
    pub body: BodyRef,
    /// Node of a beam chain; 0 for rigid and point bodies.
    pub node: usize,
    /// The frame, in the node's frame.
    pub frame: Frame,
}

/// Kinds of joints; `z` and `x` are axes of the attached frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// No relative motion.
    Fixed,
    /// Rotation about z.
    Hinge,
    /// Translation along z.
    Prismatic,
    /// Rotation about and translation along z.
    Cylindrical,
    /// Rotation about z of the first frame and x of the second, which stay perpendicular.
    Universal,
    /// All rotations.
    Spherical,
    /// Translations along x and y, rotation about z.
    Planar,
    /// All translations, no rotation.
    Translation,
}

impl JointKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Fixed,
        Self::Hinge,
        Self::Prismatic,
        Self::Cylindrical,
        Self::Universal,
        Self::Spherical,
        Self::Planar,
        Self::Translation,
    ];
}

/// A joint. As drawn at home its two frames coincide, but for errors that assembly removes.
#[derive(Debug, Clone)]
pub struct Joint {
    /// Full path.
    pub name: String,
    /// Where it is described.
    pub origin: Origin,
    /// What it leaves free.
    pub kind: JointKind,
    /// Frame on the first body.
    pub a: Attachment,
    /// Frame on the second body.
    pub b: Attachment,
}

/// What an actuator drives.
#[derive(Debug, Clone)]
pub enum Drive {
    /// The coordinate of a hinge or prismatic joint; no two actuators drive the same joint.
    Joint(JointId),
    /// The distance between two points.
    Distance(Box<Attachment>, Box<Attachment>),
}

/// An actuated coordinate: θ = home + what the joint or the distance changed since the drawing.
#[derive(Debug, Clone)]
pub struct Coordinate {
    /// Full path.
    pub name: String,
    /// Where it is described.
    pub origin: Origin,
    /// What it drives.
    pub drive: Drive,
    /// Value at which the mechanism is drawn.
    pub home: f64,
    /// Smallest value; −∞ where unbounded.
    pub lower: f64,
    /// Largest value; ∞ where unbounded.
    pub upper: f64,
    /// The coordinate repeats after `upper − lower`.
    pub periodic: bool,
    /// Largest rate for which the model is made, where one is declared.
    pub rate: Option<f64>,
    /// Largest acceleration for which the model is made, where one is declared.
    pub acceleration: Option<f64>,
    /// Inertia added on θ: rotor inertia times ratio squared.
    pub rotor_inertia: f64,
    /// Viscous friction on θ.
    pub viscous: f64,
    /// Coulomb friction on θ.
    pub coulomb: f64,
    /// Lumped stiffness between motor (θ) and joint; rigid where absent.
    pub stiffness: Option<f64>,
    /// Damping parallel to that stiffness.
    pub stiffness_damping: f64,
    /// What can be changed in the reduced model.
    pub at_runtime: ActuatorAtRuntime,
}

/// Properties of an actuator that can be changed in the reduced model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ActuatorAtRuntime {
    /// Inertia added on θ.
    pub rotor_inertia: bool,
    /// Viscous friction.
    pub viscous: bool,
    /// Coulomb friction.
    pub coulomb: bool,
}

/// A spring with a damper in parallel.
#[derive(Debug, Clone)]
pub struct Spring {
    /// Full path.
    pub name: String,
    /// Where it is described.
    pub origin: Origin,
    /// What it acts on.
    pub kind: SpringKind,
    /// Stiffness (N/m) or (N m/rad), ≥ 0.
    pub stiffness: f64,
    /// Damping (N s/m) or (N m s/rad), ≥ 0.
    pub damping: f64,
}

/// What a spring acts on.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "a mechanism has few springs")]
pub enum SpringKind {
    /// The coordinate of a hinge or prismatic joint, measured from the drawing; free of force at `rest`.
    Joint {
        /// The joint.
        joint: JointId,
        /// Joint displacement from the drawing at which the spring is relaxed.
        rest: f64,
    },
    /// The distance between two points.
    Points {
        /// First end.
        a: Attachment,
        /// Second end.
        b: Attachment,
        /// Relaxed length (m).
        length: f64,
    },
}

/// A mass fixed to a body.
#[derive(Debug, Clone)]
pub struct PointMass {
    /// Full path.
    pub name: String,
    /// Where it is described.
    pub origin: Origin,
    /// Where it sits.
    pub at: Attachment,
    /// Mass (kg), ≥ 0.
    pub mass: f64,
    /// It can be changed in the reduced model (a payload).
    pub at_runtime: bool,
}

/// A constant force and moment, inertial axes.
#[derive(Debug, Clone)]
pub struct PointLoad {
    /// Full path.
    pub name: String,
    /// Where it is described.
    pub origin: Origin,
    /// Where it acts.
    pub at: Attachment,
    /// Force (N).
    pub force: Vector3<f64>,
    /// Moment (N m).
    pub moment: Vector3<f64>,
}

/// A named point.
#[derive(Debug, Clone)]
pub struct Output {
    /// Full path.
    pub name: String,
    /// Where it is described.
    pub origin: Origin,
    /// The point and its axes.
    pub at: Attachment,
}

/// A matrix of θ that is made of the reduced ones.
#[derive(Debug, Clone)]
pub struct Derived {
    /// Its name.
    pub name: String,
    /// Where its expression is.
    pub origin: Origin,
    /// The expression as written.
    pub text: String,
    /// The expression; names are resolved, sizes are not known yet.
    pub value: Matrix,
    /// Relative error of its norm.
    pub tolerance: f64,
}

/// How a loaded dof is represented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadedKind {
    /// Constraint mode: static shape of a unit displacement.
    Displacement,
    /// Attachment mode: static shape of a unit force.
    Attachment,
}

/// A displacement on which loads act.
#[derive(Debug, Clone)]
pub struct LoadedDof {
    /// Name of its modal coordinate.
    pub name: String,
    /// Where it is described.
    pub origin: Origin,
    /// The point.
    pub at: Attachment,
    /// Unit vector, inertial axes.
    pub direction: Vector3<f64>,
    /// Constraint or attachment mode.
    pub kind: LoadedKind,
}

/// `coefficients · θ ≤ bound`.
#[derive(Debug, Clone)]
pub struct Inequality {
    /// Where it is described.
    pub origin: Origin,
    /// One coefficient per coordinate.
    pub coefficients: Vec<f64>,
    /// Right-hand side.
    pub bound: f64,
}
