//! Paths to be inverted, as they are written.

use super::format::SignalWritten;
use super::format_control::AxisName;
use crate::description::format::{Located, Scalar};
use schemars::JsonSchema;
use serde::Deserialize;

/// Something to be tracked: a `coordinate`, or an `output` along an `axis`, with exactly one of `position` and
/// `curve`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TrackTable {
    /// An output of the mechanism.
    pub output: Option<Located<String>>,
    /// Along which inertial axis; needed for an output.
    pub axis: Option<AxisName>,
    /// A coordinate of the mechanism.
    pub coordinate: Option<Located<String>>,
    /// Where it is wanted, as a function of time (m, rad).
    pub position: Option<Located<SignalWritten>>,
    /// Where it is wanted, as an expression of the parameter `s` of `[invert]` (m, rad).
    pub curve: Option<Located<String>>,
}

/// How paths are inverted.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct InvertTable {
    /// The parameter `s` of curves, as a function of time.
    pub parameter: Option<Located<SignalWritten>>,
    /// Intervals of time; default 1000.
    pub instants: Option<Located<i64>>,
    /// How long before the path forces may begin (s); default: eight time constants of the slowest zero.
    pub before: Option<Scalar>,
    /// How long after the path forces may go on (s); default likewise.
    pub after: Option<Scalar>,
    /// What decides about motions that do not come from the path; default: zeros.
    pub ends: EndsOfMotion,
}

/// What decides about motions that do not come from the path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndsOfMotion {
    /// Nothing that is unbounded beyond the ends.
    #[default]
    Zeros,
    /// The least bending.
    LeastBending,
}
