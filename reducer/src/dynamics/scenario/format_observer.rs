//! Observers as they are written.

use crate::description::format::{Located, Scalar, Vector};
use schemars::JsonSchema;
use serde::Deserialize;

/// A filter that finds the state of the mechanism from sensors: a block whose outputs are coordinates and modal
/// coordinates, their rates, disturbances and the normalised innovation squared, as `name.1`, `name.2`, …
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ObserverTable {
    /// Name of its block; default `observer`.
    pub name: Option<Located<String>>,
    /// Time between samples (s).
    pub period: Scalar,
    /// Steps of integration in a period, from 1 to 64; default: as many as stability asks for.
    pub substeps: Option<Located<i64>>,
    /// Names of sensors that it reads.
    pub sensors: Located<Vec<Located<String>>>,
    /// Sensors and blocks that give the readings, one per sensor; default: the sensors. For analog filters between.
    pub inputs: Option<Located<Vec<Located<String>>>>,
    /// Standard deviations of the readings; default: those of the sensors' `noise`.
    pub measurement: Option<Located<Vec<Scalar>>>,
    /// Covariance of the readings, as a list of rows, instead.
    pub measurement_covariance: Option<Located<Vec<Vec<Scalar>>>>,
    /// Standard deviations of unknown forces on coordinates and modal coordinates, each held for a period (N, N m).
    pub process: Option<Located<Vec<Scalar>>>,
    /// Their covariance, as a list of rows, instead.
    pub process_covariance: Option<Located<Vec<Vec<Scalar>>>>,
    /// Standard deviations of the state at t = 0: coordinates and modal coordinates, then their rates.
    pub initial: Located<Vec<Scalar>>,
    /// The state at t = 0 as the observer has it; default: that of the scenario.
    pub estimate: Option<Located<Vec<Scalar>>>,
    /// Unknown forces that are found as well.
    #[serde(default)]
    pub disturbance: Vec<Located<DisturbanceTable>>,
}

/// An unknown force: on a `coordinate`, or at an `output` along a `direction`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DisturbanceTable {
    /// A coordinate of the mechanism.
    pub coordinate: Option<Located<String>>,
    /// An output of the mechanism.
    pub output: Option<Located<String>>,
    /// Along which it acts there, inertial axes.
    pub direction: Option<Vector>,
    /// Standard deviation at t = 0 (N, N m); default 0.
    pub initial: Option<Scalar>,
    /// Standard deviation of its change in one second (N, N m).
    pub drift: Scalar,
}
