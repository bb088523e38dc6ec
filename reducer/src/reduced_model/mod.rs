//! The product: a reduced model as plain, validated data, and its evaluation.
//!
//! Polynomials are sums of products of Chebyshev polynomials of the first kind in the box's own
//! coordinates ξ_i = (2θ_i − lower_i − upper_i)/(upper_i − lower_i); every basis of the
//! approximation ends in this form. In coordinates that turn they may be waves instead ([`Functions`]). In the
//! `lagrangian` form
//!
//! - T = ½ η̇ᵀ U Uᵀ η̇ with U = U₀(θ) + Σ_d U_d(θ) η_d, upper triangular, order θ, γ, ι; or, in models without modal
//!   coordinates, T = ½ θ̇ᵀ M(θ) θ̇ with the entries of M;
//! - V = U(θ) − f_δ(θ)ᵀ η_δ + ½ η_δᵀ L(θ) L(θ)ᵀ η_δ, L lower triangular; where gravity g stays
//!   free, U and f_δ hold springs and loads only and Σ_a g_a (U_a(θ) − f_a,δ(θ)ᵀ η_δ) is added;
//!
//! and everything else is a derivative of these. In the `direct` form [T 5.139] mass, gyroscopic
//! tensor, stiffness, damping and force are stored independently.

mod bidual;
mod coefficients;
mod components;
mod coverage;
mod derived;
mod dual;
mod dynamics;
mod evaluate;
mod hybrid;
mod loaded;
mod observer;
mod operations;
mod outputs;
mod parameters;
pub mod plan;
mod polynomial;
mod provenance;
mod remainder;
mod table;
mod validate;
mod validity;

pub use coefficients::{ModelCoefficients, ModelDocument, OutputDocument};
pub use components::{Combination, Component, ComponentLists, Constant, Facts};
pub use coverage::{DropReason, MissingRegion};
pub use derived::DerivedInfo;
pub use dual::Dual;
pub use dynamics::LinearModel;
pub use evaluate::{EvaluationError, Evaluator, Status, Workspace};
pub use observer::{ObserverPlan, ObserverState};
pub use operations::{CallCost, Operations, call_costs, inverse_dynamics_cost, observer_costs};
pub use outputs::OutputMotion;
pub use parameters::{NominalParameters, Parameters};
pub use polynomial::PolynomialValues;
pub use provenance::{
    BasisRecord, Block, BlockError, BlockTolerance, Continuity, CutShort, LargestError, Provenance,
    Quantity, SettingsRecord, readable,
};
pub use table::Table;
pub use validate::{InvalidModel, limits};
pub use validity::Validity;

pub(crate) use bidual::Bidual;
pub(crate) use coefficients::frequencies_hz;
pub(crate) use evaluate::Memory;
pub(crate) use outputs::OutputNumbers;

pub use crate::description::mechanism::{Criterion, Objective};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the data layout of models without combinations.
pub const FORMAT: u32 = 4;
/// The same with combinations, which readers of [`FORMAT`] do not know.
pub const FORMAT_COMBINED: u32 = 5;
/// Versions that this library writes and reads, each for the models that need it.
pub const FORMATS: [u32; 2] = [FORMAT, FORMAT_COMBINED];

/// A reduced model. Read it, [`validate`](ReducedModel::validate) it, then make an [`Evaluator`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReducedModel {
    /// Version of the data layout: [`FORMAT_COMBINED`] where there are combinations, [`FORMAT`] otherwise.
    pub format: u32,
    /// Names, units and domain.
    pub layout: ModelLayout,
    /// What is stored and what is derived.
    pub form: ModelForm,
    /// Functions of each θ of which the stored ones are sums of products, one per θ.
    pub functions: Vec<Functions>,
    /// What the columns of the tables mean.
    pub components: ComponentLists,
    /// Binary tree of boxes; node 0 is the whole domain, children come after their parent.
    pub tree: Vec<TreeNode>,
    /// The leaves that hold polynomials.
    pub boxes: Vec<BoxModel>,
    /// How the model behaves across faces of boxes.
    pub continuity: Continuity,
    /// Where it comes from and how good it is.
    pub provenance: Provenance,
}

/// What is stored and what is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelForm {
    /// Energies are stored, forces are their derivatives.
    Lagrangian,
    /// Every block of the equations of motion is stored by itself [T 5.139].
    Direct,
}

/// Functions of one θ, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Functions {
    /// Chebyshev polynomials of ξ by degree.
    Polynomials,
    /// Waves: 1, cos φ, sin φ, cos 2φ, sin 2φ, …, with φ = θ in the dynamics and φ = θ/2 in the outputs, whatever
    /// the box.
    Waves,
}

/// Names, units and domain of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelLayout {
    /// Name of the mechanism; prefix of generated source.
    pub name: String,
    /// Generalised coordinates η in the order θ, γ, ι.
    pub coordinates: Vec<CoordinateInfo>,
    /// Number of actuated coordinates θ.
    pub n_rigid: usize,
    /// Names of the output points.
    pub outputs: Vec<String>,
    /// Names of the dofs on which loads act, in the order of the rows of the load map.
    pub loaded: Vec<String>,
    /// Where θ may be.
    pub domain: Domain,
    /// Number of dofs of the full model.
    pub full_dofs: usize,
    /// What may be changed at run time, and gravity.
    pub parameters: NominalParameters,
    /// What changes the stiffness.
    #[serde(default, skip_serializing_if = "Stiffening::is_none")]
    pub stiffening: Stiffening,
    /// For which motion the model was made; absent where nothing deforms and no motion is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validity: Option<Validity>,
    /// Matrices of θ that are made of the others; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<DerivedInfo>,
}

/// What changes the stiffness of a model; its terms are of second order in the deformation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stiffening {
    /// Nothing.
    #[default]
    None,
    /// Gravity, constant loads and tensioned springs.
    Loads,
    /// These, and rates and accelerations of θ.
    All,
}

impl Stiffening {
    /// Nothing changes the stiffness.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// One generalised coordinate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoordinateInfo {
    /// Name.
    pub name: String,
    /// What it stands for.
    pub kind: CoordinateKind,
    /// Unit, for example `m` or `rad`.
    pub unit: String,
}

/// What a generalised coordinate stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CoordinateKind {
    /// Actuated rigid motion, θ.
    Rigid,
    /// Amplitude of a constraint mode.
    Constraint,
    /// Amplitude of an attachment mode.
    Attachment,
    /// Amplitude of an internal mode.
    Internal,
}

/// Region of θ: intervals, ends included, and linear inequalities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// Smallest values, one per θ.
    pub lower: Vec<f64>,
    /// Largest values, one per θ.
    pub upper: Vec<f64>,
    /// Coordinates that repeat after `upper − lower`, one flag per θ.
    pub periodic: Vec<bool>,
    /// Further restrictions; the model is undefined where one is violated.
    pub inequalities: Vec<LinearInequality>,
}

/// `coefficients · θ ≤ bound`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearInequality {
    /// One per θ.
    pub coefficients: Vec<f64>,
    /// Right-hand side.
    pub bound: f64,
}

/// A node of the tree of boxes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "node", rename_all = "snake_case", deny_unknown_fields)]
pub enum TreeNode {
    /// Two children: `low` for θ_axis < at, `high` otherwise.
    Split {
        /// Coordinate that is cut.
        axis: usize,
        /// Where.
        at: f64,
        /// Index of the lower child.
        low: usize,
        /// Index of the upper child.
        high: usize,
    },
    /// A box with polynomials.
    Leaf {
        /// Index into [`ReducedModel::boxes`].
        index: usize,
    },
    /// A region without a model.
    Dropped {
        /// Why.
        reason: DropReason,
    },
}

/// Polynomials on one box.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxModel {
    /// Smallest θ of the box.
    pub lower: Vec<f64>,
    /// Largest θ of the box.
    pub upper: Vec<f64>,
    /// Columns are [`ComponentLists::dynamics`].
    pub dynamics: Table,
    /// Columns are [`ComponentLists::outputs`].
    pub outputs: Table,
    /// Guaranteed lower bound for definiteness in the whole box; absent where not certified.
    /// `lagrangian`: of every diagonal entry of U₀ and L; `direct`, or where entries of M̄ are stored: of the
    /// eigenvalues of M̄ (and K̄ on δ) relative to those at the box's centre, or to its largest diagonal entries.
    pub definite: Option<f64>,
    /// Every block met its tolerance at the validation points.
    pub reached: bool,
    /// Errors at the validation points of this box, in the measures of the tolerance.
    pub errors: Vec<BlockError>,
}

impl ModelLayout {
    /// Number of generalised coordinates.
    pub fn n(&self) -> usize {
        self.coordinates.len()
    }
}

impl ModelLayout {
    /// The same names and sizes over the range of one box.
    pub(crate) fn over(&self, of: &BoxModel) -> Self {
        Self {
            domain: Domain {
                lower: of.lower.clone(),
                upper: of.upper.clone(),
                periodic: vec![false; self.n_rigid],
                inequalities: Vec::new(),
            },
            ..self.clone()
        }
    }
}

impl ReducedModel {
    /// In which θ the functions are waves.
    pub(crate) fn waves(&self) -> Vec<bool> {
        self.functions
            .iter()
            .map(|f| *f == Functions::Waves)
            .collect()
    }

    /// A model of one of the boxes, closed: what it has on faces that belong to a neighbour.
    pub(crate) fn box_alone(&self, index: usize) -> Self {
        let of = &self.boxes[index];
        Self {
            format: self.format,
            layout: self.layout.over(of),
            form: self.form,
            functions: self.functions.clone(),
            components: self.components.clone(),
            tree: vec![TreeNode::Leaf { index: 0 }],
            boxes: vec![of.clone()],
            continuity: Continuity::Smooth,
            provenance: self.provenance.clone(),
        }
    }

    /// Number of polynomial coefficients of the dynamics, all boxes, and of factors of combinations.
    pub fn stored_numbers(&self) -> usize {
        let of_boxes: usize = self.boxes.iter().map(|b| b.dynamics.stored()).sum();
        of_boxes + self.components.combining_numbers()
    }

    /// Number of polynomial coefficients of outputs and load map, all boxes.
    pub fn stored_numbers_outputs(&self) -> usize {
        self.boxes.iter().map(|b| b.outputs.stored()).sum()
    }
}
