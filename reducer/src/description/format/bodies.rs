//! Bodies, beam sections and materials.

use super::value::alternatives;
use super::{Entries, Located, NumberOrList, Scalar, Vector};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use std::fmt;

/// A body: exactly one of `rigid`, `rod`, `point`, `beam`, `superelement`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Body {
    /// Its name.
    pub name: Located<String>,
    /// A rigid body with a full inertia tensor.
    pub rigid: Option<Rigid>,
    /// A uniform slender rigid rod, without inertia about its axis.
    pub rod: Option<Rod>,
    /// A mass with a position only.
    pub point: Option<Point>,
    /// A flexible beam.
    pub beam: Option<Beam>,
    /// A body of a finite-element program.
    pub superelement: Option<Superelement>,
    /// Interface frames of a superelement.
    #[serde(default)]
    pub interface: Vec<Located<BodyInterface>>,
    /// Reference frame of a rigid body, or axes of a mesh, as drawn; default: the frame of the drawing.
    #[serde(default)]
    pub frame: Option<Placement>,
    /// Origin of a rigid body's frame; short for `frame = { at = … }` (m).
    pub at: Option<Vector>,
    /// Named points and frames in the body's frame.
    #[serde(default)]
    pub points: Entries<Located<NamedPoint>>,
}

/// Stiffness and mass of a mesh, from the text files of a finite-element program.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Superelement {
    /// File with the stiffness (a DMIG file may hold the mass as well).
    pub stiffness: Located<String>,
    /// File with the mass.
    pub mass: Option<Located<String>>,
    /// File that says which dof each equation is, where matrices do not.
    pub dofs: Option<Located<String>>,
    /// File with coordinates of nodes, sets and elements.
    pub nodes: Option<Located<String>>,
    /// Units of the files; default: m and kg.
    pub units: Option<MeshUnits>,
    /// Number of modes of the body with held interfaces; default 10.
    pub modes: Option<Located<i64>>,
    /// All modes below this frequency instead (Hz).
    pub up_to: Option<Scalar>,
}

/// Units of a mesh; forces follow, time is in seconds.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct MeshUnits {
    /// `m`, `mm`, `cm`, `in`.
    pub length: Option<Located<String>>,
    /// `kg`, `t`, `g`.
    pub mass: Option<Located<String>>,
}

/// A frame of a superelement to which joints, loads and outputs attach.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct BodyInterface {
    /// Its name.
    pub name: Located<String>,
    /// A node with six dofs.
    pub reference: Option<Located<i64>>,
    /// The node whose dofs 1 to 3 are the rotations of `reference`.
    pub rotation: Option<Located<i64>>,
    /// A node set of the file, or a list of nodes, instead of `reference`.
    pub nodes: Option<Located<NodesOrSet>>,
    /// A single node of the mesh instead: the frame moves with it and turns with the nodes around it, and
    /// stiffens nothing.
    pub node: Option<Located<i64>>,
    /// Where a frame on `nodes` is, in the axes of the mesh (m); default: the mean of the nodes.
    pub at: Option<Vector>,
    /// How nodes carry the frame; default `rigid`.
    pub kind: Option<CouplingWord>,
}

/// How nodes carry a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CouplingWord {
    /// The nodes move with the frame.
    Rigid,
    /// The frame follows the mean of the nodes.
    Average,
}

alternatives!(
    /// A node set by name, or nodes by number.
    NodesOrSet,
    Name(String),
    List(Vec<i64>),
    "the name of a node set or a list of nodes",
    [name, list]
);

/// A rigid body.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Rigid {
    /// Mass (kg); default: massless.
    pub mass: Option<Scalar>,
    /// Centre of mass in the body's frame (m); default: its origin.
    pub center_of_mass: Option<Vector>,
    /// Inertia (kg m²): `[xx, yy, zz]`, `[xx, yy, zz, xy, xz, yz]` or three rows; default: zero.
    pub inertia: Option<Located<Vec<Located<NumberOrList>>>>,
    /// Point about which the inertia is given; default: the centre of mass.
    #[serde(default)]
    pub inertia_about: InertiaAbout,
    /// Sign of the off-diagonals; default: that of the tensor.
    #[serde(default)]
    pub products: Products,
}

/// Point about which an inertia is given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InertiaAbout {
    /// The centre of mass.
    #[default]
    CenterOfMass,
    /// The origin of the body's frame.
    Origin,
}

/// Sign of the off-diagonals of an inertia.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Products {
    /// Entries of the tensor, −∫xy dm.
    #[default]
    Tensor,
    /// Products of inertia as CAD programs print them, +∫xy dm.
    Cad,
}

/// A uniform slender rod; the body's frame is at `from`, x along the rod.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Rod {
    /// First end as drawn (m).
    pub from: Vector,
    /// Second end as drawn (m).
    pub to: Vector,
    /// Mass (kg).
    pub mass: Scalar,
}

/// A mass with a position only.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Point {
    /// Where it is drawn (m).
    pub at: Vector,
    /// Mass (kg); default: massless.
    pub mass: Option<Scalar>,
}

/// A flexible beam, straight or along a circular arc; the body's frame is that of its first node.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Beam {
    /// First end as drawn (m).
    pub from: Vector,
    /// Second end as drawn (m).
    pub to: Vector,
    /// A point of the arc between the ends (m); the beam is straight without it.
    pub through: Option<Vector>,
    /// Number of finite elements of equal length.
    pub elements: Located<i64>,
    /// Its section: a name from `[section]`, or a table.
    pub section: Located<SectionOrName>,
    /// Its material: a name, or a table.
    pub material: Located<MaterialOrName>,
    /// Direction of the section's z axis (its height) at the first end.
    pub up: Option<Vector>,
    /// Direction of the section's y axis (its width) at the first end, instead of `up`.
    pub side: Option<Vector>,
}

alternatives!(
    /// A section: a name from `[section]`, or a table.
    SectionOrName,
    Name(String),
    Table(Box<Section>),
    "the name of a section or a table",
    [name, table]
);

/// A beam section: one shape, or the numbers. Height is along z, width along y.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Section {
    /// A full rectangle.
    pub rectangle: Option<Rectangle>,
    /// A full circle.
    pub circle: Option<Circle>,
    /// A circular tube.
    pub tube: Option<Tube>,
    /// A rectangular tube.
    #[serde(rename = "box")]
    pub rectangular_tube: Option<RectangularTube>,
    /// An I profile; the web is along z.
    pub i: Option<Profile>,
    /// Area (m²).
    pub area: Option<Scalar>,
    /// Second moment of area about y, ∫z² dA (m⁴).
    pub inertia_y: Option<Scalar>,
    /// Second moment of area about z, ∫y² dA (m⁴).
    pub inertia_z: Option<Scalar>,
    /// Torsion constant (m⁴).
    pub torsion: Option<Scalar>,
    /// Polar moment for the rotary mass inertia (m⁴); default: the sum of the second moments.
    pub polar_inertia: Option<Scalar>,
    /// Shear factor in both directions; default: that of the shape, 5/6 for numbers.
    pub shear_factor: Option<Scalar>,
    /// Shear factor for shear along y.
    pub shear_factor_y: Option<Scalar>,
    /// Shear factor for shear along z.
    pub shear_factor_z: Option<Scalar>,
}

/// A full rectangle.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Rectangle {
    /// Size along z (m).
    pub height: Scalar,
    /// Size along y (m).
    pub width: Scalar,
}

/// A full circle.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Circle {
    /// Diameter (m).
    pub diameter: Scalar,
}

/// A circular tube.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Tube {
    /// Outer diameter (m).
    pub diameter: Scalar,
    /// Thickness of the wall (m).
    pub wall: Scalar,
}

/// A rectangular tube with walls of equal thickness.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RectangularTube {
    /// Outer size along z (m).
    pub height: Scalar,
    /// Outer size along y (m).
    pub width: Scalar,
    /// Thickness of the walls (m).
    pub wall: Scalar,
}

/// An I profile.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Profile {
    /// Outer size along z (m).
    pub height: Scalar,
    /// Width of the flanges along y (m).
    pub width: Scalar,
    /// Thickness of the web (m).
    pub web: Scalar,
    /// Thickness of each flange (m).
    pub flange: Scalar,
}

alternatives!(
    /// A material: a name, or a table.
    MaterialOrName,
    Name(String),
    Table(Box<Material>),
    "the name of a material or a table",
    [name, table]
);

/// An isotropic elastic material.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Material {
    /// Density (kg/m³).
    pub density: Scalar,
    /// Young's modulus (Pa).
    pub young: Scalar,
    /// Poisson's ratio; give it or `shear`.
    pub poisson: Option<Scalar>,
    /// Shear modulus (Pa).
    pub shear: Option<Scalar>,
}

/// A frame: an origin and one way to give its axes.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Placement {
    /// Origin (m).
    pub at: Option<Vector>,
    /// Orientation as a quaternion w, x, y, z.
    pub quaternion: Option<Located<[Scalar; 4]>>,
    /// Axis of a rotation by `angle`.
    pub axis: Option<Vector>,
    /// Angle of a rotation about `axis` (rad).
    pub angle: Option<Scalar>,
    /// Roll, pitch, yaw: rotations about the fixed axes x, then y, then z (rad).
    pub rpy: Option<Vector>,
    /// Direction of the frame's x axis; give two of `x`, `y`, `z`: the first holds exactly, the
    /// second is made perpendicular.
    pub x: Option<Vector>,
    /// Direction of the frame's y axis.
    pub y: Option<Vector>,
    /// Direction of the frame's z axis.
    pub z: Option<Vector>,
}

alternatives!(
    /// A named point: three numbers, or a frame.
    NamedPoint,
    Position([Scalar; 3]),
    Table(Box<Placement>),
    "three numbers or a table",
    [triple, table]
);
