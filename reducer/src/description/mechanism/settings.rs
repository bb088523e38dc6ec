//! Settings of the reduction and of the approximation, validated.

use super::{Origin, Plane};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Structural damping; dampers of springs and actuators come in addition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Damping {
    /// None.
    None,
    /// The same ratio for every mode with actuators locked.
    Modal {
        /// Damping ratio.
        ratio: f64,
    },
    /// alpha·M + beta·K.
    Rayleigh {
        /// Factor of the mass (1/s).
        alpha: f64,
        /// Factor of the stiffness (s).
        beta: f64,
    },
}

/// Which internal modes are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InternalModes {
    /// The lowest.
    Lowest(usize),
    /// These, counted from 0 in ascending frequency at the reference configuration.
    Select(Vec<usize>),
    /// The lowest of those that move in this plane only.
    InPlane(Plane, usize),
    /// The lowest of those that move across this plane only.
    OutOfPlane(Plane, usize),
}

/// How internal modes are given the same meaning at every configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gauge {
    /// Subspace iteration from fixed shapes.
    Filtered {
        /// Number of iterations.
        power: usize,
    },
    /// Rotation of the lowest eigenmodes towards fixed shapes.
    Subspace,
    /// Single modes matched by MAC.
    Track,
}

/// How local modes are chosen.
#[derive(Debug, Clone)]
pub struct ReductionSettings {
    /// Where it is described (the table, or the start of the file where there is none).
    pub origin: Origin,
    /// Internal modes; where absent they are chosen from the mechanism's frequencies.
    pub internal: Option<InternalModes>,
    /// Gauge of the internal modes.
    pub gauge: Gauge,
    /// Reference configuration of the gauge; home where absent.
    pub reference: Option<Vec<f64>>,
    /// What changes the stiffness.
    pub stiffening: Stiffening,
}

/// What changes the stiffness of the reduced model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stiffening {
    /// Whatever changes it by more than the tolerance of the stiffness.
    Auto,
    /// Nothing.
    None,
    /// Gravity, constant loads and tensioned springs.
    Loads,
    /// These, and rates and accelerations of θ.
    All,
}

/// What is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Mass, gyroscopic tensor, stiffness, … independently, as in the thesis.
    Direct,
    /// The functions that generate the dynamics; the rest is derived.
    Lagrangian,
}

/// Functions on a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// All monomials up to second order, central composite sampling.
    Quadratic,
    /// Tensor-product Lagrange polynomials.
    Lagrange {
        /// Order in each coordinate.
        order: usize,
    },
    /// Chebyshev polynomials of total degree, chosen adaptively.
    Chebyshev {
        /// Largest degree; chosen from the number of coordinates where absent.
        max_degree: Option<usize>,
    },
}

/// Which error must be below the tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// The mean over a box.
    Mean,
    /// The largest seen in a box.
    Max,
}

impl Criterion {
    /// Name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Max => "max",
        }
    }
}

/// What to economise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// Fewest stored numbers.
    Size,
    /// Fewest operations per evaluation.
    Speed,
}

impl Objective {
    /// Name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Speed => "speed",
        }
    }
}

/// Neighbouring boxes agree on their common face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuity {
    /// Whatever the fit gives; the largest jump is recorded.
    None,
    /// Continuous.
    C0,
    /// Continuous with their slopes; one coordinate only.
    C1,
}

/// How coefficients are approximated over the domain.
#[derive(Debug, Clone)]
pub struct ApproximationSettings {
    /// Where it is described (the table, or the start of the file where there is none).
    pub origin: Origin,
    /// What is fitted; where absent `Lagrangian`, or with the objective speed what takes fewer
    /// operations.
    pub form: Option<Form>,
    /// Functions on a box.
    pub basis: Basis,
    /// Tolerance of every block that has none of its own.
    pub tolerance: f64,
    /// Tolerances of single blocks (`mass`, `gyroscopic`, `gravity`, `stiffness`, `damping`, `force`, `outputs`).
    pub block_tolerances: Vec<(String, f64)>,
    /// Mean or largest error.
    pub criterion: Criterion,
    /// With the criterion mean: the largest error that is found may be so many times the tolerance; absent: any.
    pub largest: Option<f64>,
    /// What to economise.
    pub objective: Objective,
    /// Smallest box width per coordinate.
    pub minimal_width: Vec<f64>,
    /// Continuity across faces; chosen from basis and form where absent.
    pub continuity: Option<Continuity>,
    /// Reduction along a path instead of over the domain.
    pub trajectory: Option<Trajectory>,
    /// How much it may take.
    pub budgets: Budgets,
}

/// What an approximation may take; at the first of them it ends with the best model so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// Polynomial coefficients: of finished boxes what they store, of open ones what their degree would.
    pub numbers: usize,
    /// Boxes of the tree, regions without a model included.
    pub boxes: usize,
    /// Configurations of the full model.
    pub samples: usize,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            numbers: 4_000_000,
            boxes: 10_000,
            samples: 20_000,
        }
    }
}

/// A path in θ; the reduced model has one coordinate, its parameter.
#[derive(Debug, Clone)]
pub struct Trajectory {
    /// Points of the path, each with one value per coordinate.
    pub points: Vec<Vec<f64>>,
    /// The file they come from, from the folder of the mechanism's own; none where that holds them.
    pub file: Option<PathBuf>,
}
