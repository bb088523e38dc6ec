//! Where a model comes from and how good it is.

use super::{Criterion, Objective};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

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

/// Blocks of a model that have a tolerance.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// M̄.
    Mass,
    /// h̄.
    Gyroscopic,
    /// Generalised force of gravity.
    Gravity,
    /// K̄ on δ.
    Stiffness,
    /// D̄.
    Damping,
    /// Inverse-dynamics force of a rigid motion at η^δ = 0.
    Force,
    /// Position, Jacobian and load map.
    Outputs,
    /// All coefficients of the dynamics in one weighted norm [T 5.165, 5.166].
    Combined,
}

impl Block {
    /// All blocks.
    pub const ALL: [Self; 8] = [
        Self::Mass,
        Self::Gyroscopic,
        Self::Gravity,
        Self::Stiffness,
        Self::Damping,
        Self::Force,
        Self::Outputs,
        Self::Combined,
    ];

    /// Name in settings and summaries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mass => "mass",
            Self::Gyroscopic => "gyroscopic",
            Self::Gravity => "gravity",
            Self::Stiffness => "stiffness",
            Self::Damping => "damping",
            Self::Force => "force",
            Self::Outputs => "outputs",
            Self::Combined => "combined",
        }
    }
}

/// Error of one block of the model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockError {
    /// The block.
    pub block: Block,
    /// Mean over the points.
    pub mean: f64,
    /// Largest of the points.
    pub max: f64,
}

/// Tolerance of one block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockTolerance {
    /// The block.
    pub block: Block,
    /// Its tolerance.
    pub tolerance: f64,
}

/// Functions on a box, as they were used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum BasisRecord {
    /// All monomials up to second order.
    Quadratic,
    /// Tensor-product Lagrange polynomials.
    Lagrange {
        /// Order in each coordinate.
        order: usize,
    },
    /// Chebyshev polynomials of adaptive total degree.
    Chebyshev {
        /// Largest degree.
        max_degree: usize,
    },
}

impl fmt::Display for BasisRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quadratic => write!(f, "quadratic"),
            Self::Lagrange { order } => write!(f, "lagrange, order {order}"),
            Self::Chebyshev { max_degree } => write!(f, "chebyshev, degree up to {max_degree}"),
        }
    }
}

/// The settings that made the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettingsRecord {
    /// Functions on a box.
    pub basis: BasisRecord,
    /// Which error the tolerances bound.
    pub criterion: Criterion,
    /// What was economised.
    pub objective: Objective,
    /// Tolerance of every block.
    pub tolerances: Vec<BlockTolerance>,
    /// Smallest box width per θ.
    pub minimal_width: Vec<f64>,
}

impl SettingsRecord {
    /// Tolerance of a block, where it has one.
    pub fn tolerance(&self, block: Block) -> Option<f64> {
        let found = self.tolerances.iter().find(|t| t.block == block);
        found.map(|t| t.tolerance)
    }

    /// The error that its tolerance bounds: mean or largest.
    pub fn judged(&self, error: &BlockError) -> f64 {
        match self.criterion {
            Criterion::Mean => error.mean,
            Criterion::Max => error.max,
        }
    }

    /// The error is within its tolerance, or has none.
    pub fn allows(&self, error: &BlockError) -> bool {
        self.tolerance(error.block)
            .is_none_or(|t| self.judged(error) <= t)
    }
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
    /// No region is missing, every box met every tolerance, and so did the fresh points.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_files() {
        for block in Block::ALL {
            assert_eq!(serde_json::json!(block), block.name());
            assert_eq!(Block::ALL[block as usize], block);
        }
        for criterion in [Criterion::Mean, Criterion::Max] {
            assert_eq!(serde_json::json!(criterion), criterion.name());
        }
        for objective in [Objective::Size, Objective::Speed] {
            assert_eq!(serde_json::json!(objective), objective.name());
        }
    }
}
