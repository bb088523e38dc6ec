//! Finding the box of a configuration, and the memory an evaluation works in.

use super::polynomial::{FlatTable, PolynomialValues};
use super::{Component, Constant, InvalidModel, Parameters, ReducedModel};
use serde::{Deserialize, Serialize};

/// Periods, at most, by which a periodic coordinate is wrapped: beyond, little is left of its digits.
const MOST_PERIODS: f64 = 1e9;

/// How an evaluation went. Ordered by severity; statuses combine by maximum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// θ is in the domain.
    #[default]
    Inside,
    /// θ is outside; each θ_i was put to its interval.
    Clamped,
    /// θ is in a region without a model, or M̄ is singular there; results are zero.
    Undefined,
    /// An argument or a result is not finite; results are zero.
    NotFinite,
}

/// An argument has the wrong length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{argument}` has {found} values; the model needs {expected}")]
pub struct EvaluationError {
    /// Which argument.
    pub argument: &'static str,
    /// How many values it must have.
    pub expected: usize,
    /// How many it has.
    pub found: usize,
}

/// A validated model, ready to be evaluated. Immutable; share it between threads and give each
/// its own [`Workspace`].
#[derive(Debug, Clone)]
pub struct Evaluator<'m> {
    pub(super) model: &'m ReducedModel,
    pub(super) dynamics: Vec<FlatTable>,
    pub(super) outputs: Vec<FlatTable>,
    pub(super) dynamic_constants: Vec<Constant>,
    pub(super) output_constants: Vec<Constant>,
    /// Gravity on the mechanism where the model holds it per axis.
    pub(super) gravity: [f64; 3],
    /// What differs from the stored model; absent where nothing does.
    pub(super) added: Option<Parameters>,
    finite: bool,
}

/// Memory of evaluations; after the first call with a model nothing is allocated.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    pub(super) theta: Vec<f64>,
    pub(super) box_index: usize,
    pub(super) dynamics_at: PolynomialValues,
    pub(super) outputs_at: PolynomialValues,
    pub(super) values: Vec<f64>,
    pub(super) rates: Vec<f64>,
    pub(super) weights: Vec<f64>,
    pub(super) scratch: Vec<f64>,
    pub(super) factor: Vec<f64>,
    pub(super) factor_rate: Vec<f64>,
    /// ∂U/∂η_i, one after the other.
    pub(super) factor_slopes: Vec<f64>,
    pub(super) stiffness_factor: Vec<f64>,
    pub(super) damping_factor: Vec<f64>,
    pub(super) vectors: [Vec<f64>; 5],
    pub(super) bias: Vec<f64>,
    pub(super) free: Vec<usize>,
    pub(super) block: Vec<f64>,
    pub(super) extra: Vec<f64>,
}

impl<'m> Evaluator<'m> {
    /// Validates the model and prepares its tables.
    pub fn new(model: &'m ReducedModel) -> Result<Self, InvalidModel> {
        model.validate()?;
        Ok(Self::prepared(model))
    }

    /// Prepares the tables of a model that is valid by the way it was made.
    pub(crate) fn prepared(model: &'m ReducedModel) -> Self {
        let s = model.layout.n_rigid;
        let lists = &model.components;
        let constants = |output: bool| {
            let of_kind = |c: &&Constant| c.component.is_output() == output;
            lists.constants.iter().filter(of_kind).copied().collect()
        };
        let flat = |table, n| FlatTable::new(table, s, n);
        Self {
            model,
            dynamics: model
                .boxes
                .iter()
                .map(|b| flat(&b.dynamics, lists.dynamics.len()))
                .collect(),
            outputs: model
                .boxes
                .iter()
                .map(|b| flat(&b.outputs, lists.outputs.len()))
                .collect(),
            dynamic_constants: constants(false),
            output_constants: constants(true),
            gravity: model.layout.parameters.gravity,
            added: None,
            finite: true,
        }
    }

    /// The same model with other parameters. Where one is not finite, every status is `not_finite`.
    pub fn with_parameters(mut self, parameters: Parameters) -> Result<Self, EvaluationError> {
        parameters.check(&self.model.layout)?;
        self.finite = parameters.is_finite();
        self.gravity = parameters.gravity;
        self.added = Some(parameters.beyond(&self.model.layout.parameters));
        Ok(self)
    }

    /// The model.
    pub fn model(&self) -> &'m ReducedModel {
        self.model
    }

    /// Number of generalised coordinates.
    pub fn n(&self) -> usize {
        self.model.layout.n()
    }

    /// Number of actuated coordinates.
    pub fn n_rigid(&self) -> usize {
        self.model.layout.n_rigid
    }

    /// Status of a configuration; `theta` holds θ or all of η.
    pub fn status(&self, theta: &[f64], work: &mut Workspace) -> Result<Status, EvaluationError> {
        let s = self.n_rigid();
        check_length("theta", theta.len().min(s), s)?;
        Ok(self.locate(&theta[..s], work))
    }

    /// Puts θ into the domain, finds its box and leaves both in the workspace.
    pub(super) fn locate(&self, theta: &[f64], work: &mut Workspace) -> Status {
        if !self.finite || theta.iter().any(|v| !v.is_finite()) {
            return Status::NotFinite;
        }
        let domain = &self.model.layout.domain;
        let mut status = Status::Inside;
        work.theta.clear();
        for (k, &value) in theta.iter().enumerate() {
            let (lower, upper) = (domain.lower[k], domain.upper[k]);
            let width = upper - lower;
            let periods = (value - lower) / width;
            let outside = !(lower..=upper).contains(&value);
            let inside = if domain.periodic[k] && outside && periods.abs() < MOST_PERIODS {
                // Rounding may lead beyond an end, which is the same configuration.
                (lower + (value - lower).rem_euclid(width)).clamp(lower, upper)
            } else {
                value
            };
            let put = inside.clamp(lower, upper);
            if put != inside {
                status = Status::Clamped;
            }
            work.theta.push(put);
        }
        if !domain.admits(&work.theta) {
            return Status::Undefined;
        }
        match self.model.box_at(&work.theta) {
            Some(index) => work.box_index = index,
            None => return Status::Undefined,
        }
        status
    }

    /// Values of the dynamics' polynomials at the located θ.
    pub(super) fn evaluate_dynamics(&self, work: &mut Workspace) {
        let b = &self.model.boxes[work.box_index];
        let table = &self.dynamics[work.box_index];
        table.locate(&work.theta, &b.lower, &b.upper, &mut work.dynamics_at);
        work.values
            .resize(self.model.components.dynamics.len(), 0.0);
        table.values(&work.dynamics_at, &mut work.values);
    }

    /// Derivatives of the dynamics' polynomials along `direction` in θ, after the values.
    pub(super) fn evaluate_rates(&self, direction: &[f64], work: &mut Workspace) {
        let table = &self.dynamics[work.box_index];
        work.rates.resize(self.model.components.dynamics.len(), 0.0);
        table.directional(
            &work.dynamics_at,
            direction,
            &mut work.scratch,
            &mut work.rates,
        );
    }

    /// Calls `visit` with every component of the dynamics that is not zero, its value and rate.
    pub(super) fn visit_dynamics(
        &self,
        values: &[f64],
        rates: &[f64],
        mut visit: impl FnMut(Component, f64, f64),
    ) {
        for (i, &component) in self.model.components.dynamics.iter().enumerate() {
            visit(component, values[i], rates.get(i).copied().unwrap_or(0.0));
        }
        for constant in &self.dynamic_constants {
            visit(constant.component, constant.value, 0.0);
        }
    }
}

pub(super) fn check_length(
    argument: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), EvaluationError> {
    if found == expected {
        Ok(())
    } else {
        Err(EvaluationError {
            argument,
            expected,
            found,
        })
    }
}

impl super::LinearInequality {
    /// True where the inequality holds, within rounding.
    pub fn holds(&self, theta: &[f64]) -> bool {
        let mut value = -self.bound;
        let mut size = self.bound.abs();
        for (c, t) in self.coefficients.iter().zip(theta) {
            value += c * t;
            size += (c * t).abs();
        }
        value <= 8.0 * f64::EPSILON * size
    }
}
