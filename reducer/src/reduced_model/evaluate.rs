//! A model made ready for evaluation, and the memory an evaluation works in.

use super::plan::{Plan, Purpose};
use super::{InvalidModel, Parameters, ReducedModel};
use kernel::{Load, Number, Scratch};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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
    /// Deflections are beyond those for which second-order terms hold; results are zero.
    Bent,
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

impl From<kernel::Status> for Status {
    fn from(status: kernel::Status) -> Self {
        match status {
            kernel::Status::Ok => Self::Inside,
            kernel::Status::Clamped => Self::Clamped,
            kernel::Status::Undefined => Self::Undefined,
            kernel::Status::NotFinite => Self::NotFinite,
            kernel::Status::Bent => Self::Bent,
        }
    }
}

/// A validated model, ready to be evaluated by the kernel in `f64`. Immutable; share it between threads and
/// give each its own [`Workspace`].
#[derive(Debug, Clone)]
pub struct Evaluator<'m> {
    pub(super) model: Cow<'m, ReducedModel>,
    pub(super) plan: Plan,
    pub(super) parameters: Option<Parameters>,
}

/// Memory of evaluations; after the first call with a model nothing is allocated.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    pub(super) numbers: Memory<f64>,
}

/// The same for any kind of number.
#[derive(Debug, Clone)]
pub(crate) struct Memory<R> {
    pub(super) scratch: Vec<R>,
    /// Parameters, one list after the other.
    pub(super) parameters: Vec<R>,
    pub(super) mass: Vec<R>,
    pub(super) bias: Vec<R>,
    pub(super) block: Vec<R>,
    pub(super) free: Vec<usize>,
}

impl<R> Default for Memory<R> {
    fn default() -> Self {
        Self {
            scratch: Vec::new(),
            parameters: Vec::new(),
            mass: Vec::new(),
            bias: Vec::new(),
            block: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<R> Memory<R> {
    /// The mass matrix of the last hybrid dynamics, n×n row-major.
    pub fn mass(&self) -> &[R] {
        &self.mass
    }
}

/// Memory for a call with the plan.
pub(super) fn scratch<'w, R: Number>(memory: &'w mut Vec<R>, plan: &Plan) -> Scratch<'w, R> {
    let needed = plan.memory();
    if memory.len() < needed {
        memory.resize(needed, R::ZERO);
    }
    Scratch::new(memory)
}

impl Workspace {
    /// Memory for a call with the plan.
    pub(super) fn scratch(&mut self, plan: &Plan) -> Scratch<'_, f64> {
        scratch(&mut self.numbers.scratch, plan)
    }
}

impl<'m> Evaluator<'m> {
    /// Validates the model and prepares its tables.
    pub fn new(model: &'m ReducedModel) -> Result<Self, InvalidModel> {
        model.validate()?;
        Ok(Self::planned(Cow::Borrowed(model), Purpose::Evaluation))
    }

    /// The same of a model that goes into the evaluator, for callers that keep both together.
    pub fn owning(model: ReducedModel) -> Result<Evaluator<'static>, InvalidModel> {
        model.validate()?;
        Ok(Evaluator::planned(Cow::Owned(model), Purpose::Evaluation))
    }

    /// Prepares, for a few evaluations, a model that is valid by the way it was made.
    pub(crate) fn trial(model: &'m ReducedModel) -> Self {
        Self::planned(Cow::Borrowed(model), Purpose::Trial)
    }

    fn planned(model: Cow<'m, ReducedModel>, purpose: Purpose) -> Self {
        Self {
            plan: Plan::new(&model, purpose),
            model,
            parameters: None,
        }
    }

    /// The same model with other parameters. Where one is not finite, every status is `not_finite`.
    pub fn with_parameters(mut self, parameters: Parameters) -> Result<Self, EvaluationError> {
        parameters.check(&self.model.layout)?;
        self.parameters = Some(parameters);
        Ok(self)
    }

    /// Parameters as the kernel wants them.
    pub(super) fn parameters(&self) -> Option<kernel::Parameters<'_, f64>> {
        self.parameters.as_ref().map(Parameters::view)
    }

    /// The same in other numbers.
    pub(super) fn parameters_in<'p, R: Load<f64>>(
        &self,
        memory: &'p mut Vec<R>,
    ) -> Option<kernel::Parameters<'p, R>> {
        Some(self.parameters.as_ref()?.load(memory))
    }

    /// The model.
    pub fn model(&self) -> &ReducedModel {
        &self.model
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
        Ok(self.located(theta, work)?.0)
    }

    /// Status of a configuration, and θ as it is used: wrapped or put to the domain.
    pub(super) fn located(
        &self,
        theta: &[f64],
        work: &mut Workspace,
    ) -> Result<(Status, Vec<f64>), EvaluationError> {
        let s = self.n_rigid();
        check_length("theta", theta.len().min(s), s)?;
        let place = work.scratch(&self.plan).take(s);
        let (status, _) = kernel::locate(&self.plan.model(), theta, place);
        let finite = self.parameters().is_none_or(|p| p.finite());
        let status = if finite {
            status.into()
        } else {
            Status::NotFinite
        };
        Ok((status, place.to_vec()))
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
