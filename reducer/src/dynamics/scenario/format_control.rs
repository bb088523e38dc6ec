//! Sensors and blocks as they are written.

use super::format::{AxesName, SignalWritten};
use crate::description::format::{Located, Scalar};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use std::fmt;

/// A sensor: exactly one of `coordinate`, `modal` and `output`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SensorTable {
    /// Its name, by which blocks and drives take it.
    pub name: Located<String>,
    /// A coordinate of the mechanism.
    pub coordinate: Option<Located<String>>,
    /// Number of a modal coordinate of the reduced model, from 1; for linear analysis.
    pub modal: Option<Located<i64>>,
    /// An output of the mechanism.
    pub output: Option<Located<String>>,
    /// What is measured of it; default: position.
    #[serde(default)]
    pub quantity: SensedName,
    /// Along or about which axis; needed for an output.
    pub axis: Option<AxisName>,
    /// Whose axis it is; default: inertial.
    #[serde(default)]
    pub axes: AxesName,
    /// An accelerometer feels gravity: rest reads as an acceleration upwards; default: false.
    #[serde(default)]
    pub gravity: bool,
    /// Random numbers that are added.
    pub noise: Option<NoiseTable>,
}

/// What a sensor measures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SensedName {
    /// The coordinate, or the output's position (inertial axes).
    #[default]
    Position,
    /// The coordinate's rate, or the output's velocity.
    Velocity,
    /// The second derivative.
    Acceleration,
    /// The output's angular velocity.
    AngularVelocity,
}

/// An axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AxisName {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

/// Normally distributed numbers, one per period, held between.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct NoiseTable {
    /// Standard deviation.
    pub deviation: Scalar,
    /// Time between numbers (s).
    pub period: Scalar,
    /// Which sequence; default 0.
    #[serde(default)]
    pub seed: u64,
}

/// A block: exactly one law.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct BlockTable {
    /// Its name; outputs of a block with several are `name.1`, `name.2`, …
    pub name: Located<String>,
    /// Sensors and blocks that it takes, `-` before a name subtracts it. They are added, but for
    /// `gains`, `state_space`, `expression`, `model`, `program` and `library`, where each is an input
    /// of its own.
    pub input: Option<Located<Names>>,
    /// When it acts; default: always.
    pub sampled: Option<SampledTable>,
    /// A function of time.
    pub signal: Option<Located<SignalWritten>>,
    /// With `signal`: how many of its derivatives are outputs as well, 0, 1 or 2; default 0.
    pub derivatives: Option<Located<i64>>,
    /// A multiple of the input.
    pub gain: Option<Scalar>,
    /// A matrix of multiples: one row per output, one column per input.
    pub gains: Option<Located<Vec<Vec<Scalar>>>>,
    /// The integral of the input.
    pub integrator: Option<Located<IntegratorTable>>,
    /// The input held between two limits.
    pub saturation: Option<Located<Vec<Scalar>>>,
    /// What the input is beyond two limits; zero between them.
    pub dead_zone: Option<Located<Vec<Scalar>>>,
    /// The nearest multiple of this step; only with `sampled`.
    pub quantiser: Option<Scalar>,
    /// Straight lines through points [input, output], held outside.
    pub lookup: Option<Located<Vec<Vec<Scalar>>>>,
    /// An expression of the inputs, by their names.
    pub expression: Option<Located<String>>,
    /// Proportional, integral and derivative action.
    pub pid: Option<Located<PidTable>>,
    /// A transfer function.
    pub transfer: Option<Located<TransferTable>>,
    /// ẋ = Ax + Bu, y = Cx + Du.
    pub state_space: Option<Located<StateSpaceTable>>,
    /// A Butterworth filter.
    pub butterworth: Option<Located<ButterworthTable>>,
    /// A delay.
    pub delay: Option<Located<DelayTable>>,
    /// A function of the reduced model; one output per coordinate of the mechanism.
    pub model: Option<Located<ModelFunctionName>>,
    /// A controller of one's own: a program that answers every line with one line; only with
    /// `sampled`.
    pub program: Option<Located<ProgramTable>>,
    /// A controller of one's own: a shared library; only with `sampled`.
    pub library: Option<Located<LibraryTable>>,
}

/// A function of the reduced model. Its inputs are lists with one number per coordinate, one after the
/// other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelFunctionName {
    /// Of coordinates, rates and accelerations: the actuators' forces.
    Feedforward,
    /// Of coordinates: the forces that hold them at rest.
    Gravity,
    /// Of coordinates and another list: the mass matrix times that list.
    Mass,
}

/// A program: a line of its input is the time and the inputs, a line of its output the outputs.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ProgramTable {
    /// The program, or a list of it and its arguments. A path is relative to this file; a name
    /// without a slash is that of a command.
    pub command: Located<Names>,
    /// Number of outputs; default 1.
    pub outputs: Option<Located<i64>>,
    /// How long an answer may take (s); default 10.
    pub timeout: Option<Scalar>,
}

/// A shared library with `controller_init`, `controller_step` and `controller_free`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LibraryTable {
    /// The file, relative to this one.
    pub path: Located<String>,
    /// A text for `controller_init`; default: empty.
    #[serde(default)]
    pub setting: String,
    /// Number of outputs; default 1.
    pub outputs: Option<Located<i64>>,
    /// How long an answer may take (s); default 10.
    pub timeout: Option<Scalar>,
}

/// Instants at which a block acts; between them it holds its outputs.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SampledTable {
    /// Time between samples (s).
    pub period: Scalar,
    /// Time of the first sample (s); default 0.
    pub offset: Option<Scalar>,
}

/// The integral of gain · input.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct IntegratorTable {
    /// Multiple of the input; default 1.
    pub gain: Option<Scalar>,
    /// Value at t = 0; default 0.
    pub initial: Option<Scalar>,
    /// Where it stops.
    pub limits: Option<Located<Vec<Scalar>>>,
}

/// kp·e + I + D, limited.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PidTable {
    /// Proportional gain; default 0.
    pub kp: Option<Scalar>,
    /// Integral gain; default 0.
    pub ki: Option<Scalar>,
    /// Derivative gain; default 0.
    pub kd: Option<Scalar>,
    /// Time constant of the derivative's low pass (s); needed with `kd` unless the block is sampled
    /// or has a `rate_input`.
    pub filter: Option<Scalar>,
    /// What the derivative acts on instead of the derivative of the input.
    pub rate_input: Option<Located<Names>>,
    /// Limits of the output.
    pub limits: Option<Located<Vec<Scalar>>>,
    /// Limits of the integral part.
    pub integral_limits: Option<Located<Vec<Scalar>>>,
    /// Anti-windup: time constant with which the integral follows the limited output (s).
    pub tracking: Option<Scalar>,
}

/// Coefficients of falling powers of s.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TransferTable {
    /// Of the numerator.
    pub numerator: Vec<Scalar>,
    /// Of the denominator.
    pub denominator: Vec<Scalar>,
}

/// Matrices as lists of rows.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct StateSpaceTable {
    /// A.
    pub a: Vec<Vec<Scalar>>,
    /// B.
    pub b: Vec<Vec<Scalar>>,
    /// C.
    pub c: Vec<Vec<Scalar>>,
    /// D; default: zero.
    pub d: Option<Vec<Vec<Scalar>>>,
    /// x at t = 0; default: zero.
    pub initial: Option<Vec<Scalar>>,
}

/// A Butterworth filter: exactly one of `low_pass`, `high_pass` and `band_pass`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ButterworthTable {
    /// Corner frequency (Hz).
    pub low_pass: Option<Scalar>,
    /// Corner frequency (Hz).
    pub high_pass: Option<Scalar>,
    /// Both corner frequencies (Hz).
    pub band_pass: Option<Located<Vec<Scalar>>>,
    /// Poles of the low-pass prototype, from 1 to 10; a band pass has twice as many.
    pub order: Located<i64>,
}

/// A delay: `samples` of a sampled block, or `time`, which is approximated by a rational function.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DelayTable {
    /// Whole samples.
    pub samples: Option<Located<i64>>,
    /// Time (s).
    pub time: Option<Scalar>,
    /// Order of the Padé approximant, from 1 to 10; default 4.
    pub order: Option<Located<i64>>,
}

/// One name or several.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub enum Names {
    /// One.
    One(String),
    /// Several.
    Many(Vec<Located<String>>),
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NamesVisitor;
        impl<'de> Visitor<'de> for NamesVisitor {
            type Value = Names;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a name or a list of names")
            }

            fn visit_str<E>(self, value: &str) -> Result<Names, E> {
                Ok(Names::One(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(Names::Many(names))
            }
        }
        deserializer.deserialize_any(NamesVisitor)
    }
}
