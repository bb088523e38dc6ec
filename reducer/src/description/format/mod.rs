//! The mechanism file as it is written: one type per table.
//!
//! The JSON Schema of the format is derived from these types, and their comments are its
//! descriptions. Values keep their place in the file; nothing is evaluated yet.

mod bodies;
mod overrides;
mod parts;
mod settings;
mod value;

pub use bodies::*;
pub use overrides::*;
pub use parts::*;
pub use settings::*;
pub use value::*;

use schemars::JsonSchema;
use serde::Deserialize;

/// A mechanism, drawn at its home configuration, with the settings of its reduction.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, title = "Mechanism", extend("required" = ["format"]))]
pub struct File {
    /// Version of the format: 1.
    pub format: Option<Located<i64>>,
    /// Prefix of everything that is generated; default: the file's stem.
    pub name: Option<Located<String>>,
    /// Acceleration of gravity in inertial axes (m/s²); default: none.
    pub gravity: Option<Located<Gravity>>,
    /// Motion out of this plane is removed from the full model.
    pub plane: Option<PlaneName>,
    /// How far assembly may move a drawn point (m); default 1e-6.
    pub home_tolerance: Option<Scalar>,
    /// Files whose contents come before this one's, relative to this file.
    pub include: Vec<Located<String>>,
    /// Named numbers for expressions.
    pub parameters: Entries<Located<Parameter>>,
    /// Named materials.
    pub material: Entries<Material>,
    /// Named beam sections.
    pub section: Entries<Section>,
    /// Named points of the inertial frame.
    pub ground: Ground,
    /// Bodies.
    pub body: Vec<Located<Body>>,
    /// Joints.
    pub joint: Vec<Located<Joint>>,
    /// Actuated coordinates; their order is that of θ.
    pub coordinate: Vec<Located<Coordinate>>,
    /// Springs and dampers.
    pub spring: Vec<Located<Spring>>,
    /// Masses fixed to bodies.
    pub point_mass: Vec<Located<PointMass>>,
    /// Constant forces.
    pub load: Vec<Located<Load>>,
    /// Points whose motion is wanted.
    pub output: Vec<Located<Output>>,
    /// Displacements on which loads act: one constraint or attachment mode each.
    pub loaded: Vec<Located<Loaded>>,
    /// Matrices of θ that are made of the others, fitted and exported like them.
    pub derived: Vec<Located<Derived>>,
    /// Parts that are drawn once and used several times.
    pub template: Entries<Template>,
    /// Instances of templates.
    #[serde(rename = "use")]
    pub instances: Vec<Located<Use>>,
    /// Limits of the configuration space beyond the coordinates' ranges.
    pub domain: Domain,
    /// Structural damping; default: none.
    pub damping: Option<DampingTable>,
    /// Choice of local modes.
    pub reduction: ReductionTable,
    /// Approximation over the configuration space.
    pub approximation: ApproximationTable,
}

/// A part that is drawn once and used several times.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Template {
    /// Default values of the template's own parameters.
    pub parameters: Entries<Located<Parameter>>,
    /// Bodies.
    pub body: Vec<Located<Body>>,
    /// Joints.
    pub joint: Vec<Located<Joint>>,
    /// Actuated coordinates.
    pub coordinate: Vec<Located<Coordinate>>,
    /// Springs and dampers.
    pub spring: Vec<Located<Spring>>,
    /// Masses fixed to bodies.
    pub point_mass: Vec<Located<PointMass>>,
    /// Constant forces; their directions turn with the instance.
    pub load: Vec<Located<Load>>,
    /// Points whose motion is wanted.
    pub output: Vec<Located<Output>>,
    /// Displacements on which loads act.
    pub loaded: Vec<Located<Loaded>>,
    /// Instances of other templates.
    #[serde(rename = "use")]
    pub instances: Vec<Located<Use>>,
}

/// Instances of a template.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Use {
    /// Name of the template.
    pub template: Located<String>,
    /// One instance for each name, in this order.
    pub names: Vec<Located<String>>,
    /// Turns each instance one step further than the one before; the first is not turned.
    pub rotate: Option<Rotate>,
    /// Where the template's drawing is placed.
    #[serde(default)]
    pub frame: Option<Placement>,
    /// Where the origin of the template's drawing is placed; short for `frame = { at = … }`.
    pub at: Option<Vector>,
    /// Values of parameters in these instances.
    #[serde(default)]
    pub parameters: Entries<Located<Parameter>>,
}

/// A step of rotation from one instance to the next.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Rotate {
    /// Axis of rotation.
    pub axis: Vector,
    /// Angle from one instance to the next (rad).
    pub step: Scalar,
    /// A point on the axis (m); default: the origin.
    pub about: Option<Vector>,
}

alternatives!(
    /// A parameter: a number, or a table that lets it stay free.
    Parameter,
    Number(Number),
    Table(ParameterTable),
    "a number, an expression or a table",
    [number, table]
);

/// A parameter that may stay free in the reduced model.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ParameterTable {
    /// Its value.
    pub value: Scalar,
    /// It can be changed in the reduced model: for payloads, rotor inertia and friction only.
    #[serde(default)]
    pub runtime: bool,
}

alternatives!(
    /// Acceleration of gravity: three numbers, or a table or the word `"runtime"` that let it stay
    /// free.
    Gravity,
    Position([Scalar; 3]),
    Table(GravityTable),
    Word(GravityWord),
    "three numbers, a table or \"runtime\"",
    [triple, table, word]
);

/// Gravity in one word.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GravityWord {
    /// It stays free in the reduced model; nominally 9.81 m/s² along −z.
    Runtime,
}

/// Gravity that may stay free in the reduced model.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct GravityTable {
    /// Acceleration in inertial axes (m/s²).
    pub value: [Scalar; 3],
    /// Its size and direction can be changed in the reduced model.
    #[serde(default)]
    pub runtime: bool,
}

/// The inertial frame.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Ground {
    /// Named points, for example `"ground.pivot"`.
    pub points: Entries<Located<NamedPoint>>,
}

// The visitors of `alternatives!` need these names here.
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use std::fmt;
