//! Joints, coordinates and everything else that is attached to bodies.

use super::value::alternatives;
use super::{Located, Placement, PointOrName, Scalar, Vector};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use std::fmt;

/// Two bodies, or points of two bodies: `["crank", "coupler.from"]`.
pub type Pair = Located<[Located<String>; 2]>;

/// A joint: exactly one kind, with the two bodies that it connects.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Joint {
    /// Its name; default `joint1`, `joint2`, ….
    pub name: Option<Located<String>>,
    /// No relative motion.
    pub fixed: Option<Pair>,
    /// Rotation about `axis`.
    pub hinge: Option<Pair>,
    /// Translation along `axis`.
    pub prismatic: Option<Pair>,
    /// Rotation about and translation along `axis`.
    pub cylindrical: Option<Pair>,
    /// Rotation about the first of `axes`, fixed to the first body, and the second, fixed to the second.
    pub universal: Option<Pair>,
    /// All rotations.
    pub spherical: Option<Pair>,
    /// Translations across `axis` and rotation about it.
    pub planar: Option<Pair>,
    /// All translations, no rotation.
    pub translation: Option<Pair>,
    /// All motions: stands for the joints `x`, `y`, `z`, `yaw`, `pitch` and `roll` in its name, as in `base.x`.
    pub free: Option<Pair>,
    /// Where it is drawn (m); default: a point that both bodies have there.
    pub at: Option<Vector>,
    /// Its axis as drawn.
    pub axis: Option<Vector>,
    /// Both axes of a universal joint as drawn, perpendicular.
    pub axes: Option<Located<[Vector; 2]>>,
    /// Frame on the first body, in that body's frame or by name, instead of `at` and `axis`.
    pub frame_a: Option<FrameOrName>,
    /// Frame on the second body.
    pub frame_b: Option<FrameOrName>,
}

alternatives!(
    /// A frame on a body: the name of one of its points, or a table.
    FrameOrName,
    Name(String),
    Table(Box<Placement>),
    "the name of a point of the body or a table",
    [name, table]
);

/// An actuated coordinate.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Coordinate {
    /// Its name.
    pub name: Located<String>,
    /// The hinge or prismatic joint that it drives.
    pub drives: Option<Located<String>>,
    /// Two points whose distance it drives, instead of `drives`.
    pub distance: Option<Pair>,
    /// Value at which the mechanism is drawn (rad or m); default 0, or the drawn distance.
    pub home: Option<Scalar>,
    /// Smallest and largest value (rad or m); default: unbounded.
    pub range: Option<Located<[Scalar; 2]>>,
    /// The coordinate repeats after `range`.
    #[serde(default)]
    pub periodic: bool,
    /// Largest rate for which the model is made (rad/s or m/s); default: none is declared.
    pub rate: Option<Scalar>,
    /// Largest acceleration for which the model is made (rad/s² or m/s²); default: none is declared.
    pub acceleration: Option<Scalar>,
    /// Inertia of the rotor (kg m²), or moving mass of a linear motor (kg); default 0.
    pub rotor_inertia: Option<Scalar>,
    /// Motion of the rotor per unit of the coordinate; default 1.
    pub ratio: Option<Scalar>,
    /// Viscous friction (N m s/rad or N s/m); default 0.
    pub viscous: Option<Scalar>,
    /// Coulomb friction (N m or N); default 0.
    pub coulomb: Option<Scalar>,
    /// Stiffness between motor and joint (N m/rad or N/m); default: rigid.
    pub stiffness: Option<Scalar>,
    /// Damping parallel to that stiffness (N m s/rad or N s/m); default 0.
    pub stiffness_damping: Option<Scalar>,
}

/// A spring with a damper in parallel, across a joint or between two points.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Spring {
    /// Its name; default `spring1`, ….
    pub name: Option<Located<String>>,
    /// The hinge or prismatic joint on which it acts.
    pub joint: Option<Located<String>>,
    /// Two points between which it acts, instead of `joint`.
    pub between: Option<Pair>,
    /// Stiffness (N m/rad or N/m); default 0.
    pub stiffness: Option<Scalar>,
    /// Damping (N m s/rad or N s/m); default 0.
    pub damping: Option<Scalar>,
    /// Displacement of the joint from the drawing at which the spring is relaxed (rad or m); default 0.
    pub rest: Option<Scalar>,
    /// Relaxed length between two points (m); default: as drawn.
    pub length: Option<Scalar>,
}

/// A mass fixed to a body.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PointMass {
    /// Its name; default `mass1`, ….
    pub name: Option<Located<String>>,
    /// Where it sits: `"body"`, `"body.point"`, or drawn coordinates together with `body` (m).
    pub at: Located<PointOrName>,
    /// The body, where `at` is given by coordinates.
    pub body: Option<Located<String>>,
    /// Mass (kg).
    pub mass: Scalar,
}

/// A constant force and moment in the axes of the drawing.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Load {
    /// Its name; default `load1`, ….
    pub name: Option<Located<String>>,
    /// Where it acts: `"body"`, `"body.point"`, or drawn coordinates together with `body` (m).
    pub at: Located<PointOrName>,
    /// The body, where `at` is given by coordinates.
    pub body: Option<Located<String>>,
    /// Force (N); default: none.
    pub force: Option<Vector>,
    /// Moment (N m); default: none.
    pub moment: Option<Vector>,
}

/// A point whose motion is wanted.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Output {
    /// Its name.
    pub name: Located<String>,
    /// The point: `"body"`, `"body.point"`, or drawn coordinates together with `body` (m).
    pub at: Located<PointOrName>,
    /// The body, where `at` is given by coordinates.
    pub body: Option<Located<String>>,
}

/// A displacement on which loads act.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Loaded {
    /// Name of its modal coordinate.
    pub name: Located<String>,
    /// The point: `"body"`, `"body.point"`, or drawn coordinates together with `body` (m).
    pub at: Located<PointOrName>,
    /// The body, where `at` is given by coordinates.
    pub body: Option<Located<String>>,
    /// Direction of the displacement in the axes of the drawing.
    pub direction: Vector,
    /// Static shape that represents it; default: constraint mode.
    #[serde(default)]
    pub kind: LoadedKind,
}

/// A matrix of θ that is made of the reduced model's own.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Derived {
    /// Its name.
    pub name: Located<String>,
    /// A matrix expression of mass `M`, stiffness `K`, damping `D`, frequencies `omega`, Jacobians `J(output)`,
    /// rotations `R(output)` and load maps `L(loaded)`.
    pub value: Located<String>,
    /// Relative error of its norm; default: `tolerance` of the approximation.
    pub tolerance: Option<Scalar>,
}

/// How a loaded displacement is represented.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoadedKind {
    /// Constraint mode: shape of a unit displacement.
    #[default]
    Displacement,
    /// Attachment mode: shape of a unit force.
    Attachment,
}
