//! Where a model comes from and how good it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Behaviour across faces of boxes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "class", rename_all = "snake_case", deny_unknown_fields)]
pub enum Continuity {
    /// One box: smooth.
    Smooth,
    /// Continuous.
    Continuous,
    /// Jumps; the largest seen, relative to the root mean square of its component.
    Jumps {
        /// Largest jump.
        largest: f64,
    },
}

/// Error of one block of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockError {
    /// `mass`, `gyroscopic`, `gravity`, `stiffness`, `damping`, `force` or `outputs`.
    pub block: String,
    /// Mean over the points.
    pub mean: f64,
    /// Largest of the points.
    pub max: f64,
}

/// Tolerance of one block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockTolerance {
    /// The block.
    pub block: String,
    /// Its tolerance.
    pub tolerance: f64,
}

/// The settings that made the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettingsRecord {
    /// `quadratic`, `lagrange` with its order, or `chebyshev` with its largest degree.
    pub basis: String,
    /// `mean` or `max`.
    pub criterion: String,
    /// `size` or `speed`.
    pub objective: String,
    /// Tolerance of every block.
    pub tolerances: Vec<BlockTolerance>,
    /// Smallest box width per θ.
    pub minimal_width: Vec<f64>,
}

/// Where a model comes from. No time, path, host or thread count: equal inputs give equal models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Name and version of the tool.
    pub tool: String,
    /// Hash of the full model and of the settings of its reduction, 64 hexadecimal digits.
    pub input_hash: String,
    /// Settings of the approximation.
    pub settings: SettingsRecord,
    /// Every box met every tolerance, and so did the fresh points.
    pub reached: bool,
    /// Samples that were reached around what blocks the straight line from home.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub routed_samples: usize,
    /// Errors at points never used in the fit: per point, Frobenius norm of the difference over
    /// that of the exact value (at least a tenth of its root mean square over the domain).
    pub errors: Vec<BlockError>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
