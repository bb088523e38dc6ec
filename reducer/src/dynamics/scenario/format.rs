//! The scenario file as it is written: one type per table.
//!
//! The JSON Schema of the format is derived from these types, and their comments are its
//! descriptions.

use super::format_control::{BlockTable, SensorTable};
use super::format_observer::ObserverTable;
use super::format_track::{InvertTable, TrackTable};
use crate::description::format::{Located, Number, OverrideTable, Scalar, Vector};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use std::fmt;

/// A mechanism in time: what drives it, from which state, and what is wanted of its motion.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, title = "Scenario", extend("required" = ["format", "mechanism", "duration"]))]
pub struct ScenarioFile {
    /// Version of the format: 1.
    #[expect(
        dead_code,
        reason = "checked in the document; the schema is made from it"
    )]
    pub format: Option<Located<i64>>,
    /// The mechanism file, relative to this file.
    pub mechanism: Located<String>,
    /// A reduced model (`.json`, `.h5`), relative to this file; default: the mechanism is reduced.
    pub model: Option<Located<String>>,
    /// Time to simulate (s).
    pub duration: Scalar,
    /// The state at t = 0.
    #[serde(default)]
    pub initial: InitialTable,
    /// What drives the coordinates; those without a drive move freely.
    #[serde(default)]
    pub drive: Vec<Located<DriveTable>>,
    /// Forces at output points.
    #[serde(default)]
    pub point_force: Vec<Located<PointForceTable>>,
    /// Blows, which change velocities at once.
    #[serde(default)]
    pub impulse: Vec<Located<ImpulseTable>>,
    /// What is measured.
    #[serde(default)]
    pub sensor: Vec<Located<SensorTable>>,
    /// Controllers, filters, references.
    #[serde(default)]
    pub block: Vec<Located<BlockTable>>,
    /// A filter that finds the state from sensors.
    pub observer: Option<Located<ObserverTable>>,
    /// What `reduce invert` is to keep on paths, as many as coordinates.
    #[serde(default)]
    pub track: Vec<Located<TrackTable>>,
    /// How paths are inverted.
    #[serde(default)]
    pub invert: InvertTable,
    /// What is wanted; default: position and deflection of all outputs of the mechanism.
    #[serde(default)]
    pub output: Vec<Located<OutputTable>>,
    /// When it is wanted.
    #[serde(default)]
    pub sampling: SamplingTable,
    /// Integration of the full model.
    #[serde(default)]
    pub full: FullTable,
    /// Integration of the reduced model.
    #[serde(default)]
    pub reduced: ReducedTable,
    /// Changes to the mechanism: each value or table replaces that of the mechanism file.
    #[serde(default, rename = "override")]
    pub overrides: OverrideTable,
}

/// The state at t = 0.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct InitialTable {
    /// Coordinates, in the order of the mechanism; default: the start of a prescribed motion, home
    /// for the others.
    pub theta: Option<Located<Vec<Scalar>>>,
    /// Their rates; default: the rate of a prescribed motion, 0 for the others.
    pub rate: Option<Located<Vec<Scalar>>>,
    /// Deformation; default: undeformed.
    pub start: StartName,
}

/// Deformation at t = 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartName {
    /// No strain anywhere.
    #[default]
    Undeformed,
    /// Static equilibrium under gravity, constant loads and springs with the coordinates held.
    Equilibrium,
}

/// What drives a coordinate: exactly one of `force`, `motion`, `velocity`, `velocity_feedback`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DriveTable {
    /// Name of the coordinate.
    pub coordinate: Located<String>,
    /// A force, or the torque on a hinge (N, N m).
    pub force: Option<Located<SignalWritten>>,
    /// The coordinate itself (m, rad).
    pub motion: Option<Located<SignalWritten>>,
    /// The coordinate's rate (m/s, rad/s).
    pub velocity: Option<Located<SignalWritten>>,
    /// A force proportional to the difference between a wanted rate and the rate.
    pub velocity_feedback: Option<Located<FeedbackTable>>,
}

/// Force gain · (input_gain · input − rate).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FeedbackTable {
    /// Force per rate (N s/m, N m s/rad).
    pub gain: Scalar,
    /// Rate per input; default 1.
    pub input_gain: Option<Scalar>,
    /// The input.
    pub input: Located<SignalWritten>,
}

/// A force at an output point.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PointForceTable {
    /// Name of the output.
    pub output: Located<String>,
    /// Direction, inertial axes.
    pub direction: Vector,
    /// Size (N).
    pub force: Located<SignalWritten>,
}

/// A blow on a coordinate, or on an output along a direction.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ImpulseTable {
    /// When (s).
    pub at: Scalar,
    /// Name of a coordinate.
    pub coordinate: Option<Located<String>>,
    /// Name of an output.
    pub output: Option<Located<String>>,
    /// Direction at the output, inertial axes.
    pub direction: Option<Vector>,
    /// Integral of the force over time (N s, or N m s on a hinge).
    pub size: Scalar,
}

/// Parameters of the full model's integration: exactly one of `hht` and `alpha`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct AlphaTable {
    /// α of Hilber, Hughes and Taylor, from 0 to 1/3.
    pub hht: Option<Scalar>,
    /// [α_m, α_f] of the generalised-α method, α_m ≤ α_f ≤ 1/2.
    pub alpha: Option<Vec<Scalar>>,
}

/// Motion of an output point.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct OutputTable {
    /// Name of the output of the mechanism.
    pub point: Located<String>,
    /// What is wanted of it; default: position and deflection.
    #[serde(default)]
    pub quantities: Vec<QuantityName>,
    /// Axes of deflection, velocity, acceleration and angular velocity; default: inertial.
    #[serde(default)]
    pub axes: AxesName,
}

/// A quantity of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuantityName {
    /// Position (m), always in inertial axes.
    Position,
    /// Displacement relative to the rigid mechanism at the same coordinates (m).
    Deflection,
    /// Velocity (m/s).
    Velocity,
    /// Acceleration (m/s²).
    Acceleration,
    /// Rotation vector of the point's frame (rad), always in inertial axes.
    Rotation,
    /// Angular velocity (rad/s).
    AngularVelocity,
}

/// Axes of a vector.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AxesName {
    /// The inertial frame.
    #[default]
    Inertial,
    /// The point's frame; for a deflection, that of the rigid mechanism.
    Body,
}

/// When outputs are wanted.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct SamplingTable {
    /// Time between rows of the tables (s); default: a five-hundredth of the duration.
    pub step: Option<Scalar>,
}

/// Integration of the full model: `step`, or `tolerance` for an adaptive step.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct FullTable {
    /// Time step (s); default: a two-thousandth of the duration.
    pub step: Option<Scalar>,
    /// Local error of positions per step, in parts of the mechanism's size.
    pub tolerance: Option<Scalar>,
    /// Spectral radius at infinite frequency, from 0 to 1; default 0.8.
    pub spectral_radius: Option<Scalar>,
    /// Parameters of the method, instead of a spectral radius.
    pub method: Option<Located<AlphaTable>>,
    /// Accelerations are found anew where sampled blocks act; without that the order falls to one;
    /// default: true.
    pub restart: Option<bool>,
}

/// Integration of the reduced model.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ReducedTable {
    /// Method; default: explicit.
    pub method: MethodName,
    /// Relative error per step; default 1e-6.
    pub tolerance: Option<Scalar>,
}

/// A method for the reduced model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MethodName {
    /// Explicit Runge-Kutta.
    #[default]
    Explicit,
    /// Implicit Runge-Kutta.
    Implicit,
}

/// A function of time: a number, the name of a sensor or block, one table, or a list of these, which are
/// added.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub enum SignalWritten {
    /// A constant, or a name.
    Number(Number),
    /// One function.
    Table(Box<SignalTable>),
    /// A sum of functions.
    List(Vec<Located<SignalPart>>),
}

/// One of several functions that are added.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub enum SignalPart {
    /// A constant, or a name.
    Number(Number),
    /// A function.
    Table(Box<SignalTable>),
}

impl<'de> Deserialize<'de> for SignalPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match SignalWritten::deserialize(deserializer)? {
            SignalWritten::Number(number) => Ok(Self::Number(number)),
            SignalWritten::Table(table) => Ok(Self::Table(table)),
            SignalWritten::List(_) => {
                Err(serde::de::Error::custom("a list inside a list of signals"))
            }
        }
    }
}

impl<'de> Deserialize<'de> for SignalWritten {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SignalVisitor;
        impl<'de> Visitor<'de> for SignalVisitor {
            type Value = SignalWritten;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a number, a name, a table or a list of these")
            }

            fn visit_f64<E>(self, value: f64) -> Result<SignalWritten, E> {
                Ok(SignalWritten::Number(Number::Value(value)))
            }

            fn visit_i64<E>(self, value: i64) -> Result<SignalWritten, E> {
                Ok(SignalWritten::Number(Number::Value(value as f64)))
            }

            fn visit_str<E>(self, value: &str) -> Result<SignalWritten, E> {
                Ok(SignalWritten::Number(Number::Expression(value.to_owned())))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SignalWritten, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map)).map(SignalWritten::Table)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<SignalWritten, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = list.next_element()? {
                    parts.push(part);
                }
                Ok(SignalWritten::List(parts))
            }
        }
        deserializer.deserialize_any(SignalVisitor)
    }
}

/// A function of time: exactly one key.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct SignalTable {
    /// The same value always.
    pub constant: Option<Scalar>,
    /// One value before an instant, another from then on.
    pub step: Option<StepTable>,
    /// A straight line between two values, held outside.
    pub ramp: Option<WayTable>,
    /// A sine.
    pub sine: Option<SineTable>,
    /// A sine of growing frequency.
    pub chirp: Option<ChirpTable>,
    /// A smooth way between two values: s − sin(2πs)/2π.
    pub point_to_point: Option<WayTable>,
    /// +amplitude for half the duration, −amplitude for the other half, zero outside.
    pub bang_bang: Option<BangBangTable>,
    /// An angle whose rate grows smoothly from zero.
    pub spin_up: Option<SpinUpTable>,
    /// A smooth curve through points of a CSV file.
    pub table: Option<TableTable>,
}

/// One value before an instant, another from then on.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct StepTable {
    /// When (s).
    pub at: Scalar,
    /// Value before; default 0.
    pub before: Option<Scalar>,
    /// Value from then on.
    pub value: Scalar,
}

/// From one value to another.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WayTable {
    /// First value; default 0.
    pub from: Option<Scalar>,
    /// Last value.
    pub to: Scalar,
    /// When it begins (s); default 0.
    pub start: Option<Scalar>,
    /// How long it takes (s).
    pub duration: Scalar,
}

/// offset + amplitude · sin(2π · frequency · (t − start) + phase).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SineTable {
    /// Amplitude.
    pub amplitude: Scalar,
    /// Frequency (Hz).
    pub frequency: Scalar,
    /// Phase (rad); default 0.
    pub phase: Option<Scalar>,
    /// Mean value; default 0.
    pub offset: Option<Scalar>,
    /// When it begins (s); default 0.
    pub start: Option<Scalar>,
}

/// A sine whose frequency grows linearly.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ChirpTable {
    /// Amplitude.
    pub amplitude: Scalar,
    /// First frequency (Hz).
    pub from: Scalar,
    /// Last frequency (Hz).
    pub to: Scalar,
    /// When it begins (s); default 0.
    pub start: Option<Scalar>,
    /// How long the frequency changes (s).
    pub duration: Scalar,
}

/// +amplitude, then −amplitude.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct BangBangTable {
    /// Amplitude.
    pub amplitude: Scalar,
    /// When it begins (s); default 0.
    pub start: Option<Scalar>,
    /// Duration of both halves (s).
    pub duration: Scalar,
}

/// An angle whose rate grows smoothly from 0 to `rate`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SpinUpTable {
    /// Last rate.
    pub rate: Scalar,
    /// When it begins (s); default 0.
    pub start: Option<Scalar>,
    /// How long the rate grows (s).
    pub duration: Scalar,
    /// First value; default 0.
    pub from: Option<Scalar>,
}

/// Points of a CSV file: times in the first column.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TableTable {
    /// The file, relative to this file.
    pub file: Located<String>,
    /// Name of the column in the file's first row; default: the second column.
    pub column: Option<Located<String>>,
    /// How the curve begins and ends; default: free.
    #[serde(default)]
    pub ends: EndsName,
}

/// How a curve through points begins and ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndsName {
    /// Without bend.
    #[default]
    Free,
    /// Without slope.
    Rest,
}
