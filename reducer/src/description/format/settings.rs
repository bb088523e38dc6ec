//! Configuration space, damping, reduction and approximation.

use super::value::alternatives;
use super::{Entries, Located, Number, NumberOrList, Scalar};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use std::fmt;

/// A coordinate plane of the inertial frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlaneName {
    /// x and y.
    Xy,
    /// x and z.
    Xz,
    /// y and z.
    Yz,
}

/// Limits of the configuration space beyond the coordinates' ranges.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Domain {
    /// Linear inequalities in the coordinates.
    pub inequalities: Vec<Located<InequalityTable>>,
}

/// `Σ coefficient · coordinate`, at most or at least a bound.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct InequalityTable {
    /// Coefficient of each coordinate by name; the others have 0.
    pub coefficients: Entries<Scalar>,
    /// Upper bound of the sum.
    pub at_most: Option<Scalar>,
    /// Lower bound of the sum.
    pub at_least: Option<Scalar>,
}

/// Structural damping: `ratio`, or `alpha` and `beta`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct DampingTable {
    /// Damping ratio of every mode with actuators locked.
    pub ratio: Option<Scalar>,
    /// Rayleigh damping: factor of the mass (1/s).
    pub alpha: Option<Scalar>,
    /// Rayleigh damping: factor of the stiffness (s).
    pub beta: Option<Scalar>,
}

/// Choice of local modes.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ReductionTable {
    /// Internal modes: how many of the lowest, or a table; default: with beams at least 3 and one per
    /// compliant actuator, cut where the frequencies leave a gap everywhere; otherwise one per compliant actuator.
    pub internal_modes: Option<Located<InternalModes>>,
    /// How internal modes are given the same meaning everywhere; default: filtered.
    pub gauge: GaugeName,
    /// Iterations of the filtered gauge; default 2.
    pub power: Option<Located<i64>>,
    /// Reference configuration of the gauge, one value per coordinate; default: home.
    pub reference: Option<Located<Vec<Scalar>>>,
    /// What changes the stiffness: false for nothing, true for loads and motion, or a word; default: auto.
    pub stiffening: Option<StiffeningSetting>,
}

alternatives!(
    /// What changes the stiffness of the reduced model: false for nothing, true for loads and motion, or a word.
    StiffeningSetting,
    Switch(bool),
    Word(StiffeningWord),
    "true, false, \"auto\" or \"loads\"",
    [switch, word]
);

/// What changes the stiffness of the reduced model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StiffeningWord {
    /// What of loads and of declared rates and accelerations changes the stiffness by more than its tolerance.
    Auto,
    /// Gravity, constant loads and tensioned springs.
    Loads,
}

alternatives!(
    /// Internal modes: how many of the lowest, or a table.
    InternalModes,
    Count(usize),
    Table(ModeSelection),
    "a number of modes or a table",
    [count, table]
);

/// Internal modes by number, or by symmetry.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ModeSelection {
    /// These modes, counted from 0 in ascending frequency at the reference configuration.
    pub select: Option<Located<Vec<Located<usize>>>>,
    /// The lowest `count` of those that move in this plane only.
    pub in_plane: Option<PlaneName>,
    /// The lowest `count` of those that move across this plane only.
    pub out_of_plane: Option<PlaneName>,
    /// How many.
    pub count: Option<Located<usize>>,
}

/// How internal modes are given the same meaning at every configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GaugeName {
    /// Subspace iteration from fixed shapes.
    #[default]
    Filtered,
    /// Rotation of the lowest eigenmodes towards fixed shapes.
    Subspace,
    /// Single modes matched by MAC.
    Track,
}

/// Approximation over the configuration space.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ApproximationTable {
    /// What is fitted; default: lagrangian, or with the objective speed what takes fewer operations.
    pub form: Option<FormName>,
    /// Functions on a box; default: chebyshev.
    pub basis: BasisName,
    /// Order of the lagrange basis in each coordinate; default 2.
    pub order: Option<Located<i64>>,
    /// Largest total degree of the chebyshev basis; default: chosen from the number of coordinates.
    pub max_degree: Option<Located<i64>>,
    /// Relative error of every block without a tolerance of its own; default 0.005.
    pub tolerance: Option<Scalar>,
    /// Tolerances of single blocks.
    pub tolerances: BlockTolerances,
    /// Which error must be below the tolerance; default: mean.
    pub criterion: CriterionName,
    /// How many times its tolerance the largest error that is found may be, or false for any; default 10.
    pub largest: Option<Located<LargestSetting>>,
    /// What to economise; default: size.
    pub objective: ObjectiveName,
    /// Smallest width of a box, one for all or one per coordinate; default: 1/1024 of the range
    /// for one coordinate, 1/64, 1/16 and 1/8 for two, three and more.
    pub minimal_width: Option<Located<NumberOrList>>,
    /// Continuity across faces of boxes; default: chosen from basis, form and number of coordinates.
    pub continuity: Option<ContinuityName>,
    /// Reduction along a path instead of over the domain.
    pub trajectory: Option<TrajectoryTable>,
    /// Polynomial coefficients at which the best model so far is taken; default 4000000.
    pub max_numbers: Option<Located<i64>>,
    /// Boxes at which the best model so far is taken; default 10000.
    pub max_boxes: Option<Located<i64>>,
    /// Samples at which the best model so far is taken; default 20000.
    pub max_samples: Option<Located<i64>>,
}

alternatives!(
    /// How many times its tolerance the largest error that is found may be: a number, or false for any.
    LargestSetting,
    Number(Number),
    Switch(bool),
    "a number, or false",
    [number, switch]
);

/// Tolerances of single blocks.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct BlockTolerances {
    /// Mass matrix.
    pub mass: Option<Scalar>,
    /// Gyroscopic tensor.
    pub gyroscopic: Option<Scalar>,
    /// Generalised force of gravity.
    pub gravity: Option<Scalar>,
    /// Stiffness matrix.
    pub stiffness: Option<Scalar>,
    /// Damping matrix.
    pub damping: Option<Scalar>,
    /// Force of inverse dynamics.
    pub force: Option<Scalar>,
    /// Outputs.
    pub outputs: Option<Scalar>,
}

/// What is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormName {
    /// Mass, gyroscopic tensor, stiffness, … independently.
    Direct,
    /// The functions that generate the dynamics.
    Lagrangian,
}

/// Functions on a box.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BasisName {
    /// All monomials up to second order.
    Quadratic,
    /// Tensor products of Lagrange polynomials of `order`.
    Lagrange,
    /// Chebyshev polynomials of total degree.
    #[default]
    Chebyshev,
}

/// Which error must be below the tolerance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CriterionName {
    /// The mean over a box.
    #[default]
    Mean,
    /// The largest seen in a box.
    Max,
}

/// What to economise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObjectiveName {
    /// Fewest stored numbers.
    #[default]
    Size,
    /// Fewest operations per evaluation.
    Speed,
}

/// Continuity across faces of boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContinuityName {
    /// Whatever the fit gives.
    None,
    /// Continuous.
    C0,
    /// Continuous with their slopes; one coordinate only.
    C1,
}

/// A path in θ: `points`, or a `file` of comma-separated rows.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct TrajectoryTable {
    /// Points of the path, each with one value per coordinate.
    pub points: Option<Located<Vec<Located<Vec<Scalar>>>>>,
    /// A CSV file with one point per row, relative to this file; a header row is skipped.
    pub file: Option<Located<String>>,
}
