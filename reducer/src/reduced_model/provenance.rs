//! Where a model comes from and how good it is.

use super::{Criterion, ModelLayout, Objective};
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
    /// Continuous with all slopes: forces and velocities of outputs do not jump either.
    Differentiable,
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
    /// Second derivatives of M̄ on θ by η^δ, and the stiffness of gravity per axis.
    Stiffening,
    /// Derived quantities: the worst of them, each over its own tolerance, times the smallest tolerance of all.
    Derived,
}

impl Block {
    /// All blocks.
    pub const ALL: [Self; 10] = [
        Self::Mass,
        Self::Gyroscopic,
        Self::Gravity,
        Self::Stiffness,
        Self::Damping,
        Self::Force,
        Self::Outputs,
        Self::Combined,
        Self::Stiffening,
        Self::Derived,
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
            Self::Stiffening => "stiffening",
            Self::Derived => "derived",
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

/// What an error is an error of.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(tag = "of", rename_all = "snake_case", deny_unknown_fields)]
pub enum Quantity {
    /// A block, relative to its exact value.
    Block {
        /// The block.
        block: Block,
    },
    /// Position of an output, in m.
    Position {
        /// Its index.
        output: usize,
    },
    /// Orientation of an output, in rad.
    Orientation {
        /// Its index.
        output: usize,
    },
    /// Inverse-dynamics force on a coordinate of θ, in N or N m.
    Force {
        /// Its index.
        coordinate: usize,
    },
    /// A derived quantity, relative to its exact norm.
    Derived {
        /// Its index.
        entry: usize,
    },
}

impl Quantity {
    /// Its size depends on how the mechanism moves.
    pub fn has_motion(self) -> bool {
        let block = Block::Force;
        matches!(self, Self::Force { .. }) || self == Self::Block { block }
    }

    /// Name of the kind, the output or coordinate it belongs to, and the unit.
    pub fn names(self, layout: &ModelLayout) -> [&str; 3] {
        let output = |i: usize| layout.outputs.get(i).map_or("", String::as_str);
        match self {
            Self::Block { block } => [block.name(), "", "1"],
            Self::Position { output: i } => ["position", output(i), "m"],
            Self::Orientation { output: i } => ["orientation", output(i), "rad"],
            Self::Derived { entry } => {
                let found = layout.derived.get(entry);
                ["derived", found.map_or("", |d| d.name.as_str()), "1"]
            }
            Self::Force { coordinate } => {
                let found = layout.coordinates.get(coordinate);
                let unit = match found.map_or("", |c| c.unit.as_str()) {
                    "m" => "N",
                    "rad" => "N m",
                    // Along a path the force is work per part of the path.
                    _ => "J",
                };
                ["force", found.map_or("", |c| c.name.as_str()), unit]
            }
        }
    }
}

/// The largest error that was found, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LargestError {
    /// Of what.
    pub quantity: Quantity,
    /// Mean over the fresh points.
    pub mean: f64,
    /// Largest at the fresh points and in the search that starts from the worst of them.
    pub largest: f64,
    /// Where that is, s values.
    pub theta: Vec<f64>,
    /// Rates of θ that go with it; empty where no motion matters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate: Vec<f64>,
    /// Accelerations of θ that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accel: Vec<f64>,
}

impl LargestError {
    /// The block; none where the error is absolute.
    pub fn block(&self) -> Option<Block> {
        match self.quantity {
            Quantity::Block { block } => Some(block),
            _ => None,
        }
    }

    /// Mean and largest error with a unit that suits their size (mm, mrad).
    pub fn in_words(&self, layout: &ModelLayout) -> String {
        let [kind, of, unit] = self.quantity.names(layout);
        let (factor, unit) = match unit {
            "m" => (1e3, "mm"),
            "rad" => (1e3, "mrad"),
            "1" => (1e2, "%"),
            other => (1.0, other),
        };
        let [mean, largest] = [self.mean, self.largest].map(|v| readable(factor * v));
        format!("{kind} of {of}: mean {mean} {unit}, largest {largest} {unit}")
    }
}

/// A number with four digits, as people write it; powers of ten only where it is very small or large.
pub fn readable(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-3..1e5).contains(&size) {
        return format!("{value:.3e}");
    }
    let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
    format!("{value:.decimals$}")
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
    /// The largest error that is found may be so many times the tolerance; absent where it is not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest: Option<f64>,
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

    /// What the largest error of a quantity may be, where that is judged.
    pub fn largest_allowed(&self, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::Block { block } => Some(self.largest? * self.tolerance(block)?),
            Quantity::Position { .. }
            | Quantity::Orientation { .. }
            | Quantity::Force { .. }
            | Quantity::Derived { .. } => None,
        }
    }

    /// The largest error that was found is small enough, or is not judged.
    pub fn allows_largest(&self, found: &LargestError) -> bool {
        self.largest_allowed(found.quantity)
            .is_none_or(|limit| found.largest <= limit)
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
    /// What ended the refinement before it was done; absent where nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<CutShort>,
    /// Errors at points never used in the fit: per point, Frobenius norm of the difference over
    /// that of the exact value (at least a tenth of its root mean square over the domain).
    pub errors: Vec<BlockError>,
    /// The largest errors that a search from the worst of these points found: blocks, then outputs and
    /// forces in their units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub largest: Vec<LargestError>,
    /// The largest jumps of outputs and forces across faces of boxes that were seen, in their units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jumps: Vec<LargestError>,
}

impl Provenance {
    /// Largest error of a block that a search found.
    pub fn largest_of(&self, block: Block) -> Option<&LargestError> {
        self.largest.iter().find(|e| e.block() == Some(block))
    }

    /// Errors in the units of what they belong to.
    pub fn absolute(&self) -> impl Iterator<Item = &LargestError> {
        self.largest.iter().filter(|e| e.block().is_none())
    }
}

/// What ended a refinement before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CutShort {
    /// The budget of stored numbers.
    Numbers,
    /// The budget of boxes.
    Boxes,
    /// The budget of samples.
    Samples,
    /// The time that was given. Such a model is not the same on every machine.
    Time,
    /// The memory that was given.
    Memory,
}

impl CutShort {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Numbers,
        Self::Boxes,
        Self::Samples,
        Self::Time,
        Self::Memory,
    ];

    /// Name in files and summaries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Boxes => "boxes",
            Self::Samples => "samples",
            Self::Time => "time",
            Self::Memory => "memory",
        }
    }
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
        for cut in CutShort::ALL {
            assert_eq!(serde_json::json!(cut), cut.name());
        }
        for objective in [Objective::Size, Objective::Speed] {
            assert_eq!(serde_json::json!(objective), objective.name());
        }
    }
}
