//! What a stored number means.

use super::validate::{Checked, finite, require};
use super::{FORMAT, FORMAT_COMBINED};
use kernel::Group;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Columns of the dynamics, at most, where there are combinations of them: kernels count them in 16 bits.
const MOST_COLUMNS: usize = 65_000;

/// One scalar function of θ. Indices count generalised coordinates from 0; entries of symmetric
/// matrices are stored once, with `row ≤ column`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(tag = "quantity", rename_all = "snake_case", deny_unknown_fields)]
pub enum Component {
    /// Entry of U₀, row ≤ column.
    MassFactor {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// Entry of U_d, row ≤ column, d ≥ number of θ.
    MassFactorSlope {
        /// The coordinate η_d that multiplies it.
        coordinate: usize,
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// Entry of B_de, row ≤ column in θ, first = d ≤ second = e in δ: rates of θ are scaled by
    /// B = 1 + ½ Σ B_de η_d η_e.
    RateScale {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
        /// d.
        first: usize,
        /// e.
        second: usize,
    },
    /// Potential U(θ) at η^δ = 0, in J.
    Potential,
    /// Generalised force −∂V/∂η_i at η^δ = 0; in `lagrangian` only for δ.
    Force {
        /// Row.
        row: usize,
    },
    /// Gravity's part of the force; stored only where it is not all of it.
    Gravity {
        /// Row.
        row: usize,
    },
    /// Potential U_a(θ) per unit of gravity along an inertial axis, at η^δ = 0; only where gravity
    /// stays free. `Potential` and `Force` then hold the rest.
    GravityPotential {
        /// 0, 1, 2: inertial x, y, z.
        axis: usize,
    },
    /// Generalised force per unit of gravity along an inertial axis; in `lagrangian` only for δ.
    GravityForce {
        /// Row.
        row: usize,
        /// 0, 1, 2: inertial x, y, z.
        axis: usize,
    },
    /// Entry of the stiffness on δ per unit of gravity along an inertial axis; only where gravity stays
    /// free. `StiffnessFactor` or `Stiffness` then hold the rest.
    GravityStiffness {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
        /// 0, 1, 2: inertial x, y, z.
        axis: usize,
    },
    /// Entry of L, K̄ = L Lᵀ, column ≤ row, both in δ.
    StiffnessFactor {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// Entry of the lower triangular factor of D̄ on δ; then D̄ has no entries between θ and δ.
    DampingFactor {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// Entry of D̄.
    Damping {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// Entry of M̄: `direct`, or `lagrangian` without modal coordinates in place of `mass_factor`.
    Mass {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// h̄_ijk, first ≤ second (`direct`).
    Gyroscopic {
        /// i.
        row: usize,
        /// j.
        first: usize,
        /// k.
        second: usize,
    },
    /// ∂²M̄/∂η_d∂η_e, row ≤ column in θ, first = d ≤ second = e in δ (`direct`).
    MassCurvature {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
        /// d.
        first: usize,
        /// e.
        second: usize,
    },
    /// Entry of K̄ (`direct`).
    Stiffness {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// Position of an output at η^δ = 0, in m.
    Position {
        /// Output.
        output: usize,
        /// 0, 1, 2: inertial x, y, z.
        axis: usize,
    },
    /// Orientation of an output at η^δ = 0, body to inertial, to be normalised.
    Quaternion {
        /// Output.
        output: usize,
        /// 0: scalar part, 1, 2, 3: vector part.
        entry: usize,
    },
    /// Elastic displacement (rows 0-2) and rotation (rows 3-5) of an output per modal coordinate,
    /// inertial axes.
    Amplitude {
        /// Output.
        output: usize,
        /// Row.
        row: usize,
        /// Modal coordinate (in δ).
        coordinate: usize,
    },
    /// Second derivative of an output's position by η_first and η_second, first ≤ second, inertial axes.
    PositionCurvature {
        /// Output.
        output: usize,
        /// 0, 1, 2: inertial x, y, z.
        axis: usize,
        /// Modal coordinate (in δ).
        first: usize,
        /// Modal coordinate (in δ).
        second: usize,
    },
    /// Displacement of a loaded dof per generalised coordinate.
    LoadMap {
        /// Loaded dof.
        loaded: usize,
        /// Generalised coordinate.
        coordinate: usize,
    },
    /// Entry of a derived quantity.
    Derived {
        /// Which, in the order of [`ModelLayout::derived`](super::ModelLayout::derived).
        entry: usize,
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
}

impl Component {
    /// The group of the kernel that uses it, and its indices there.
    pub fn place(self) -> (Group, [usize; 4]) {
        match self {
            Self::MassFactor { row, column } => (Group::MassFactor, [row, column, 0, 0]),
            Self::MassFactorSlope {
                coordinate,
                row,
                column,
            } => (Group::MassSlope, [row, column, coordinate, 0]),
            Self::RateScale {
                row,
                column,
                first,
                second,
            } => (Group::RateScale, [row, column, first, second]),
            Self::MassCurvature {
                row,
                column,
                first,
                second,
            } => (Group::MassCurvature, [row, column, first, second]),
            Self::GravityStiffness { row, column, axis } => {
                (Group::GravityStiffness, [row, column, axis, 0])
            }
            Self::PositionCurvature {
                output,
                axis,
                first,
                second,
            } => (Group::PositionCurvature, [axis, first, output, second]),
            Self::Potential => (Group::Potential, [0; 4]),
            Self::Force { row } => (Group::Force, [row, 0, 0, 0]),
            Self::Gravity { row } => (Group::Gravity, [row, 0, 0, 0]),
            Self::GravityPotential { axis } => (Group::GravityPotential, [0, 0, axis, 0]),
            Self::GravityForce { row, axis } => (Group::GravityForce, [row, 0, axis, 0]),
            Self::StiffnessFactor { row, column } => (Group::StiffnessFactor, [row, column, 0, 0]),
            Self::DampingFactor { row, column } => (Group::DampingFactor, [row, column, 0, 0]),
            Self::Damping { row, column } => (Group::Damping, [row, column, 0, 0]),
            Self::Mass { row, column } => (Group::Mass, [row, column, 0, 0]),
            Self::Gyroscopic { row, first, second } => (Group::Gyroscopic, [row, first, second, 0]),
            Self::Stiffness { row, column } => (Group::Stiffness, [row, column, 0, 0]),
            Self::Position { output, axis } => (Group::Position, [axis, 0, output, 0]),
            Self::Quaternion { output, entry } => (Group::Quaternion, [entry, 0, output, 0]),
            Self::Amplitude {
                output,
                row,
                coordinate,
            } => (Group::Amplitude, [row, coordinate, output, 0]),
            Self::LoadMap { loaded, coordinate } => (Group::LoadMap, [loaded, coordinate, 0, 0]),
            Self::Derived { entry, row, column } => (Group::Derived, [row, column, entry, 0]),
        }
    }

    /// What holds for all components of its kind.
    pub fn facts(self) -> Facts {
        let dynamics = Facts {
            is_output: false,
            is_energy: false,
            is_signless: false,
        };
        let output = Facts {
            is_output: true,
            ..dynamics
        };
        match self.place().0 {
            Group::MassFactor
            | Group::MassSlope
            | Group::RateScale
            | Group::MassCurvature
            | Group::GravityStiffness
            | Group::StiffnessFactor
            | Group::DampingFactor
            | Group::Mass
            | Group::Gyroscopic
            | Group::Stiffness
            | Group::Damping
            | Group::Force
            | Group::Gravity
            | Group::GravityForce => dynamics,
            Group::Potential | Group::GravityPotential => Facts {
                is_energy: true,
                ..dynamics
            },
            Group::Position
            | Group::Amplitude
            | Group::PositionCurvature
            | Group::LoadMap
            | Group::Derived => output,
            Group::Quaternion => Facts {
                is_signless: true,
                ..output
            },
        }
    }

    /// It belongs to a derived quantity, which is evaluated by itself.
    pub fn is_derived(self) -> bool {
        self.place().0 == Group::Derived
    }

    /// It belongs to the table of outputs.
    pub fn is_output(self) -> bool {
        self.facts().is_output
    }
}

impl Component {
    /// A diagonal entry of a factor, whose sign a proof of definiteness bounds.
    fn is_diagonal_of_factor(self) -> bool {
        match self {
            Self::MassFactor { row, column }
            | Self::StiffnessFactor { row, column }
            | Self::DampingFactor { row, column } => row == column,
            _ => false,
        }
    }
}

/// What holds for all components of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// It belongs to the table of outputs, not to that of the dynamics.
    pub is_output: bool,
    /// Forces are its derivatives.
    pub is_energy: bool,
    /// With the other sign it means the same, as after a full turn.
    pub is_signless: bool,
}

/// A component with the same value everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// What it is.
    pub component: Component,
    /// Its value.
    pub value: f64,
}

/// A component of the dynamics that is the same combination of columns of [`BoxModel::dynamics`](super::BoxModel::dynamics) in
/// every box.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Combination {
    /// What it is.
    pub component: Component,
    /// Columns, ascending, counted from 0 in the order of [`ComponentLists::dynamics`].
    pub of: Vec<u32>,
    /// What multiplies each of them.
    pub by: Vec<f64>,
}

/// Meaning of the stored numbers. What is in none of the lists is zero everywhere.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ComponentLists {
    /// The same everywhere.
    pub constants: Vec<Constant>,
    /// Columns of [`BoxModel::dynamics`](super::BoxModel::dynamics).
    pub dynamics: Vec<Component>,
    /// Columns of [`BoxModel::outputs`](super::BoxModel::outputs).
    pub outputs: Vec<Component>,
    /// Combinations of columns of the dynamics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub combined: Vec<Combination>,
}

impl ComponentLists {
    /// Version of the data layout that these lists need.
    pub fn format(&self) -> u32 {
        match self.combined.is_empty() {
            true => FORMAT,
            false => FORMAT_COMBINED,
        }
    }

    /// Combinations are of columns that exist, of no energies, and no diagonal entry of a factor is one: definiteness is
    /// proven from columns.
    pub(super) fn validate_combined(&self) -> Checked {
        let place = "components.combined";
        if self.combined.is_empty() {
            return Ok(());
        }
        let columns = self.dynamics.len();
        require(
            columns <= MOST_COLUMNS,
            place,
            format!("{columns} columns"),
            format!("at most {MOST_COLUMNS}"),
        )?;
        for c in &self.combined {
            let facts = c.component.facts();
            require(
                !facts.is_output && !facts.is_energy && !c.component.is_diagonal_of_factor(),
                place,
                format!("{:?}", c.component),
                "a function of the dynamics, no energy and no diagonal entry of a factor",
            )?;
            require(
                !c.of.is_empty() && c.of.is_sorted_by(|a, b| a < b) && c.of.len() == c.by.len(),
                place,
                format!("{} columns and {} factors", c.of.len(), c.by.len()),
                "ascending columns with a factor each",
            )?;
            let of = |column: &u32| self.dynamics.get(*column as usize);
            require(
                c.of.iter()
                    .all(|i| of(i).is_some_and(|d| !d.facts().is_energy)),
                place,
                format!("columns {:?}", c.of),
                format!("columns below {columns}, of no energy"),
            )?;
            finite(&c.by, place)?;
        }
        Ok(())
    }

    /// Numbers that combinations take, once for all boxes.
    pub fn combining_numbers(&self) -> usize {
        self.combined.iter().map(|c| c.by.len()).sum()
    }
}
