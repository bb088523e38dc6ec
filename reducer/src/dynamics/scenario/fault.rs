//! What can be wrong with a scenario file.

use crate::description::mechanism::{Origin, Source};
use crate::description::{Fault, FaultKind, Faults};
use crate::dynamics::control::DiagramFault;
use crate::dynamics::drives::MotionFault;
use crate::error::Explain;
use thiserror::Error;

/// All faults of a scenario that do not follow from one another.
#[derive(Debug, Clone)]
pub struct ScenarioFaults {
    /// The faults in the order of the sources; at least one.
    pub faults: Vec<ScenarioFault>,
    /// The files that were read.
    pub sources: Vec<Source>,
}

/// One fault and its place.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{kind}")]
pub struct ScenarioFault {
    /// Where it is; none for a file that could not be read.
    pub origin: Option<Origin>,
    /// What it is.
    pub kind: ScenarioFaultKind,
}

/// Facts of a fault.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages say what the facts are")]
pub enum ScenarioFaultKind {
    #[error(transparent)]
    Description(FaultKind),
    #[error("`{path}` is a folder, not a scenario file")]
    Folder { path: String },
    #[error("`{path}` is empty")]
    Empty { path: String },
    #[error("coordinate `{coordinate}` cannot move so: {fault}")]
    Motion {
        coordinate: String,
        fault: MotionFault,
    },
    #[error("coordinate `{coordinate}` is driven twice")]
    DrivenTwice { coordinate: String },
    #[error("coordinate `{coordinate}` is prescribed to {what} {prescribed} at t = 0, not {given}")]
    StartsElsewhere {
        coordinate: String,
        what: &'static str,
        prescribed: f64,
        given: f64,
    },
    #[error(
        "coordinate `{coordinate}` follows the mechanism's trajectory and cannot be driven by itself"
    )]
    OnPath { coordinate: String },
    #[error(
        "the mechanism has a trajectory: the forces of its actuators hold it there, and no single force can be given for `path`"
    )]
    PathForced,
    #[error("the mechanism has a trajectory, but nothing drives the place on it, `path`")]
    PathNotDriven,
    #[error(transparent)]
    Blocks(DiagramFault),
    #[error(
        "the mechanism has a trajectory, on which motion alone can be given: sensors and blocks have nothing to act on"
    )]
    BlocksOnPath,
    #[error(
        "the mechanism has a trajectory, on which its outputs are already: nothing is left to track"
    )]
    TrackOnPath,
    #[error(
        "the scenario tracks outputs, for which all forces are to be found, and drives the mechanism besides"
    )]
    TrackedAndDriven,
    #[error("the output that is tracked has no `axis`")]
    TrackWithoutAxis,
    #[error("a curve is a function of `s`, which nothing gives")]
    CurveWithoutParameter,
    #[error("{count} sensors and blocks are too many; {limit} are possible")]
    TooManyBlocks { count: usize, limit: usize },
    #[error("blocks act {count} times in this run; {limit} are possible")]
    TooManyActs { count: f64, limit: f64 },
    #[error("the sensor of an output has no `axis`")]
    SensorWithoutAxis,
    #[error("this cannot be measured there")]
    NoSuchQuantity,
    #[error("the observer has no sensor")]
    ObserverWithoutSensor,
    #[error(
        "`initial` of the observer has {found} numbers; it needs two per coordinate of the model, which has at least {coordinates}"
    )]
    ObserverStates { found: usize, coordinates: usize },
    #[error("the noise of sensor `{sensor}` is not declared, or zero")]
    SensorWithoutNoise { sensor: String },
    #[error("`{what}` is not positive: {fact}")]
    NotDefinite {
        what: &'static str,
        fact: String,
        zero: bool,
    },
    #[error(
        "the motion of coordinate `{coordinate}` is prescribed, so that the force on it, from which the observer predicts, is not known"
    )]
    ObservedMotion { coordinate: String },
    #[error("block `{block}` has no continuous law, so that it must be sampled")]
    OnlySampled { block: String },
    #[error("there is no file `{path}`")]
    NoController { path: String },
    #[error("the library `{path}` cannot be used: {reason}")]
    BadLibrary { path: String, reason: String },
    #[error("`{signal}` depends on the motion and cannot stand for a function of time here")]
    NotOfTime { signal: String },
    #[error("`derivatives` are those of a `signal`, which this block does not have")]
    DerivativesWithoutSignal,
    #[error(
        "these coefficients do not make a system: sizes do not fit, rows differ in length, or the numerator's degree is the higher one"
    )]
    BadSystem,
    #[error("the lower limit {lower} is not below the upper one, {upper}")]
    LimitsOutOfOrder { lower: f64, upper: f64 },
    #[error("a look-up table needs two or more points [input, output] of increasing input")]
    BadLookup,
    #[error("{reason}")]
    BadExpression { reason: String },
    #[error("the derivative of a continuous controller needs a `filter`, zero or more")]
    DerivativeWithoutFilter,
    #[error("this makes {count} samples; {limit} are possible")]
    TooManySamples { count: f64, limit: usize },
    #[error("this makes {count} steps; {limit} are possible")]
    TooManySteps { count: f64, limit: usize },
    #[error("this makes {count} periods; {limit} are possible")]
    TooManyPeriods { count: f64, limit: f64 },
    #[error("the times of the table do not increase: {time} s comes after {before} s")]
    TimesOutOfOrder { time: f64, before: f64 },
    #[error("the table has a gap: row {row} has no value in column {column}")]
    Gap { row: usize, column: usize },
    #[error("`{cell}` is not a finite number")]
    NotANumber { cell: String },
    #[error("the table has {rows} row(s) of numbers; a curve needs two")]
    TooShort { rows: usize },
    #[error("the table's first row has no names of columns")]
    NoHeader,
    #[error("the table `{path}` is larger than {limit} bytes")]
    LargeTable { path: String, limit: usize },
    #[error("the table cannot be read: {reason}")]
    BadTable { reason: String },
}

impl Explain for ScenarioFault {
    fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    fn help(&self) -> Option<String> {
        use ScenarioFaultKind as Kind;
        Some(match &self.kind {
            Kind::Description(FaultKind::Value { .. }) => {
                "correct the value; the format is described in docs/scenario-format.md".into()
            }
            Kind::Description(kind) => return kind.help(),
            Kind::Folder { .. } => "give the path of a TOML file inside it".into(),
            Kind::Empty { .. } => {
                "start with `format = 1`, `mechanism = \"…\"` and `duration = …`".into()
            }
            Kind::Motion { fault, .. } => fault.help().into(),
            Kind::DrivenTwice { .. } => {
                "keep one `[[drive]]`; a list of tables adds signals".into()
            }
            Kind::StartsElsewhere { .. } => {
                "leave the value out: it follows from the motion".into()
            }
            Kind::OnPath { .. } => {
                "drive `path`, from 0 to 1, or reduce over the domain: `[override.approximation]` without `trajectory`".into()
            }
            Kind::PathForced | Kind::PathNotDriven => {
                "give `path` a `motion` or a `velocity`, from 0 to 1, or reduce over the domain: `[override.approximation]` without `trajectory`".into()
            }
            Kind::Blocks(fault) => fault.help().into(),
            Kind::BlocksOnPath => {
                "reduce over the domain: `[override.approximation]` without `trajectory`".into()
            }
            Kind::TrackOnPath => {
                "reduce over the domain: `[override.approximation]` without `trajectory`".into()
            }
            Kind::TrackedAndDriven => {
                "invert a scenario without `[[drive]]` and `[[point_force]]`, and drive another one with the result".into()
            }
            Kind::TrackWithoutAxis => "add `axis = \"x\"`, \"y\" or \"z\"".into(),
            Kind::CurveWithoutParameter => {
                "give it in `[invert]`: `parameter = { point_to_point = { to = 1, duration = 0.5 } }`".into()
            }
            Kind::TooManyBlocks { .. } => "join some: `state_space` holds many filters".into(),
            Kind::TooManyActs { .. } => "make the `period` longer or the `duration` shorter".into(),
            Kind::SensorWithoutAxis => "add `axis = \"x\"`, \"y\" or \"z\"".into(),
            Kind::NoSuchQuantity => {
                "a coordinate has `position`, `velocity`, `acceleration`; a modal one the first two".into()
            }
            Kind::ObserverWithoutSensor => {
                "name sensors of this file: `sensors = [\"angle\"]`".into()
            }
            Kind::ObserverStates { .. } => {
                "give one deviation per coordinate, first the actuated ones, then the modal ones, and then one per rate".into()
            }
            Kind::SensorWithoutNoise { .. } => {
                "give the sensor a `noise` with a positive deviation, or `[observer]` a list `measurement` of deviations".into()
            }
            Kind::NotDefinite { zero: true, .. } => {
                "deviations are zero or above, and a covariance is symmetric without negative eigenvalues".into()
            }
            Kind::NotDefinite { .. } => {
                "deviations are above zero, and a covariance is symmetric and positive definite: no reading is without noise".into()
            }
            Kind::ObservedMotion { .. } => {
                "drive it by a `force` or by `velocity_feedback`".into()
            }
            Kind::OnlySampled { .. } => "add `sampled = { period = … }`".into(),
            Kind::NoController { .. } => {
                "paths are relative to the scenario file; compile the controller first".into()
            }
            Kind::BadLibrary { .. } => {
                "compile it with `cc -shared -fPIC -o controller.so controller.c`, with the three functions `controller_init`, `controller_step` and `controller_free`".into()
            }
            Kind::NotOfTime { .. } => {
                "give it to a `force`, a `point_force` or the `input` of a `velocity_feedback`".into()
            }
            Kind::DerivativesWithoutSignal => {
                "leave it out, or differentiate an input by a `transfer` with a low pass".into()
            }
            Kind::BadSystem => {
                "A is n×n, B n×inputs, C outputs×n, D outputs×inputs; polynomials by falling powers of s".into()
            }
            Kind::LimitsOutOfOrder { .. } => "write [lower, upper]".into(),
            Kind::BadLookup => "write lookup = [[0, 0], [1, 2.5]]".into(),
            Kind::BadExpression { .. } => {
                "use the names of `input`, numbers, + - * / ^, parentheses and functions such as sin".into()
            }
            Kind::DerivativeWithoutFilter => {
                "add `filter = \"2 ms\"`, or a `rate_input`, or make the block `sampled`".into()
            }
            Kind::TooManySamples { .. } => "make `step` of `[sampling]` larger".into(),
            Kind::TooManySteps { .. } => {
                "make `step` of `[full]` larger, or give a `tolerance` and leave `step` out".into()
            }
            Kind::TooManyPeriods { .. } => {
                "make `duration` shorter or the frequency lower; what is far above the mechanism's frequencies does not move it".into()
            }
            Kind::TimesOutOfOrder { .. } => "sort the rows by time and give every time once".into(),
            Kind::Gap { .. } => "give every row a value, or remove the row".into(),
            Kind::NotANumber { .. } => "write numbers such as 0.25 or -1e-3".into(),
            Kind::TooShort { .. } => "add rows: a time, then values, separated by commas".into(),
            Kind::NoHeader => {
                "name the columns in the first row, or leave `column` out for the second column"
                    .into()
            }
            Kind::LargeTable { .. } => {
                "leave out rows: a smooth curve goes through what is between them".into()
            }
            Kind::BadTable { .. } => "write rows of numbers separated by commas".into(),
        })
    }
}

impl From<Fault> for ScenarioFault {
    fn from(fault: Fault) -> Self {
        Self {
            origin: fault.origin,
            kind: ScenarioFaultKind::Description(fault.kind),
        }
    }
}

impl From<Faults> for ScenarioFaults {
    fn from(faults: Faults) -> Self {
        Self {
            faults: faults.faults.into_iter().map(ScenarioFault::from).collect(),
            sources: faults.sources,
        }
    }
}
