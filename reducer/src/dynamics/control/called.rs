//! The block that evaluates the reduced model: what computed-torque control and feedforward need of a mechanism.

use crate::reduced_model::{
    Dual, Evaluator, InvalidModel, Memory, ReducedModel, Status, Workspace,
};
use nalgebra::{DMatrix, DVector};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// What of the model is evaluated. Lists have one number per coordinate of θ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFunction {
    /// Of θ, θ̇, θ̈: the actuators' forces, modal coordinates following quasi-statically.
    Feedforward,
    /// Of θ: the forces that hold it at rest.
    Gravity,
    /// Of θ and a list a: M̄^θθ(θ) a of the undeformed mechanism.
    Mass,
}

impl ModelFunction {
    /// Number of lists that it takes.
    pub fn lists(self) -> usize {
        match self {
            Self::Feedforward => 3,
            Self::Gravity => 1,
            Self::Mass => 2,
        }
    }
}

/// A function of the reduced model as a block; inputs are its lists one after the other.
#[derive(Debug, Clone)]
pub struct ModelLaw {
    /// What is evaluated.
    pub function: ModelFunction,
    /// Number of coordinates of θ.
    pub coordinates: usize,
    /// The model; without one a run ends at once.
    model: Option<Arc<CalledModel>>,
}

impl PartialEq for ModelLaw {
    fn eq(&self, other: &Self) -> bool {
        self.function == other.function && self.coordinates == other.coordinates
    }
}

/// Why blocks cannot evaluate a model.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CalledModelError {
    /// No approximation could have made it.
    #[error(transparent)]
    Invalid(#[from] InvalidModel),
    /// It is one of another mechanism.
    #[error(
        "block `{block}` evaluates a model of {expected} actuated coordinates; this one has {found}"
    )]
    Coordinates {
        /// The block.
        block: String,
        /// Those of the scenario's mechanism.
        expected: usize,
        /// Those of the model.
        found: usize,
    },
}

/// A model that blocks evaluate.
#[derive(Debug)]
pub(crate) struct CalledModel {
    evaluator: Evaluator<'static>,
    work: Mutex<Work>,
}

#[derive(Debug, Default)]
struct Work {
    plain: Workspace,
    mass: Memory<f64>,
    dual: Memory<Dual>,
}

impl ModelLaw {
    /// A function without a model.
    pub fn new(function: ModelFunction, coordinates: usize) -> Self {
        Self {
            function,
            coordinates,
            model: None,
        }
    }

    /// Gives it a model of so many coordinates.
    pub(crate) fn attach(&mut self, model: &Arc<CalledModel>) {
        self.model = Some(Arc::clone(model));
    }

    pub(super) fn n_inputs(&self) -> usize {
        self.function.lists() * self.coordinates
    }

    /// Outputs; zeros where the model has no value, which the run then finds and names.
    pub(super) fn outputs(&self, u: &[f64], y: &mut [f64]) {
        let found = self.model.as_ref().map(|m| m.values(self.function, u));
        match found {
            Some((_, Status::NotFinite)) | None => y.fill(f64::NAN),
            Some((values, _)) => y.copy_from_slice(&values),
        }
    }

    /// Whether the model may be asked; it is none where the law was given none.
    pub(super) fn status(&self, u: &[f64]) -> Option<Status> {
        Some(self.model.as_ref()?.values(self.function, u).1)
    }

    /// Derivatives of outputs by inputs; zero where there is no value.
    pub(super) fn slopes(&self, u: &[f64]) -> DMatrix<f64> {
        let found = self.model.as_ref().and_then(|m| m.slopes(self.function, u));
        found.unwrap_or_else(|| DMatrix::zeros(self.coordinates, u.len()))
    }
}

impl CalledModel {
    pub fn new(model: &ReducedModel) -> Result<Self, InvalidModel> {
        Ok(Self {
            evaluator: Evaluator::owning(model.clone())?,
            work: Mutex::default(),
        })
    }

    /// Number of coordinates of θ.
    pub fn coordinates(&self) -> usize {
        self.evaluator.n_rigid()
    }

    /// Sizes were checked when the law was given the model.
    fn values(&self, function: ModelFunction, u: &[f64]) -> (Vec<f64>, Status) {
        let s = self.coordinates();
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        if function == ModelFunction::Mass {
            return self.weighed(u, &mut work);
        }
        let [theta, rate, accel] = self.motion(function, u);
        match (self.evaluator).feedforward(&theta, &rate, &accel, &mut work.plain) {
            Ok((force, _, status)) => (force, status),
            Err(_) => (vec![0.0; s], Status::NotFinite),
        }
    }

    /// θ, θ̇, θ̈.
    fn motion(&self, function: ModelFunction, u: &[f64]) -> [Vec<f64>; 3] {
        let s = self.coordinates();
        [0, 1, 2].map(|k| match function {
            ModelFunction::Feedforward => u[k * s..(k + 1) * s].to_vec(),
            _ if k == 0 => u[..s].to_vec(),
            _ => vec![0.0; s],
        })
    }

    /// M̄^θθ a.
    fn weighed(&self, u: &[f64], work: &mut Work) -> (Vec<f64>, Status) {
        let (n, s) = (self.evaluator.n(), self.coordinates());
        let mut eta = u[..s].to_vec();
        eta.resize(n, 0.0);
        let (still, moved) = (vec![0.0; n], vec![true; n]);
        let (mut accel, mut force) = (still.clone(), still.clone());
        let status = self.evaluator.hybrid_in(
            [&eta, &still],
            &moved,
            &mut accel,
            &mut force,
            &mut work.mass,
        );
        let status = match u[s..].iter().all(|a| a.is_finite()) {
            true => status,
            false => Status::NotFinite,
        };
        if status >= Status::Undefined {
            return (vec![0.0; s], status);
        }
        let mass = DMatrix::from_row_slice(n, n, work.mass.mass());
        let weighed = mass.view((0, 0), (s, s)) * DVector::from_column_slice(&u[s..]);
        (weighed.as_slice().to_vec(), status)
    }

    /// None where there is no value.
    fn slopes(&self, function: ModelFunction, u: &[f64]) -> Option<DMatrix<f64>> {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        if function == ModelFunction::Mass {
            return self.weighed_slopes(u, &mut work);
        }
        let (n, s) = (self.evaluator.n(), self.coordinates());
        let motion = self.motion(function, u);
        let [theta, rate, accel] = &motion;
        let found = (self.evaluator).feedforward(theta, rate, accel, &mut work.plain);
        let (_, modal, status) = found.ok()?;
        if status >= Status::Undefined {
            return None;
        }
        let mut at = motion;
        for list in &mut at {
            list.resize(n, 0.0);
        }
        at[0][s..].copy_from_slice(&modal);
        let dual = &mut work.dual;
        let mut column = |place: usize, index: usize| self.along(&at, place, index, dual);
        // Modal rows stay at rest: dτ = r_θ,u du + r_θ,δ dη^δ with 0 = r_δ,u du + r_δ,δ dη^δ [M 13.5].
        let by_modal: Option<Vec<DVector<f64>>> = (s..n).map(|j| column(0, j)).collect();
        let by_input: Option<Vec<DVector<f64>>> =
            (0..u.len()).map(|j| column(j / s, j % s)).collect();
        let by_input = DMatrix::from_columns(&by_input?);
        let direct = by_input.rows(0, s).into_owned();
        if n == s {
            return Some(direct);
        }
        let by_modal = DMatrix::from_columns(&by_modal?);
        let stiffness = by_modal.rows(s, n - s).into_owned();
        let follows = stiffness
            .lu()
            .solve(&by_input.rows(s, n - s).into_owned())?;
        Some(direct - by_modal.rows(0, s) * follows)
    }

    /// Change of all forces along one coordinate (place 0), rate (1) or acceleration (2).
    fn along(
        &self,
        at: &[Vec<f64>; 3],
        place: usize,
        index: usize,
        memory: &mut Memory<Dual>,
    ) -> Option<DVector<f64>> {
        let n = self.evaluator.n();
        let mut numbers = [0, 1, 2].map(|k| constant(&at[k]));
        numbers[place][index].d = 1.0;
        let [eta, rate, mut accel] = numbers;
        let (moved, mut force) = (vec![true; n], constant(&vec![0.0; n]));
        let motion = [&eta[..], &rate];
        let status = (self.evaluator).hybrid_in(motion, &moved, &mut accel, &mut force, memory);
        (status < Status::Undefined).then(|| DVector::from_iterator(n, force.iter().map(|f| f.d)))
    }

    fn weighed_slopes(&self, u: &[f64], work: &mut Work) -> Option<DMatrix<f64>> {
        let (n, s) = (self.evaluator.n(), self.coordinates());
        let mut slopes = DMatrix::zeros(s, 2 * s);
        let still = vec![0.0; n];
        let a = DVector::from_column_slice(&u[s..]);
        for j in 0..s {
            let mut theta = u[..s].to_vec();
            theta.resize(n, 0.0);
            self.along(&[theta, still.clone(), still.clone()], 0, j, &mut work.dual)?;
            let mass = work.dual.mass();
            let change = DMatrix::from_fn(s, s, |i, k| mass[i * n + k].d) * &a;
            slopes.set_column(j, &change);
            for i in 0..s {
                slopes[(i, s + j)] = mass[i * n + j].v;
            }
        }
        Some(slopes)
    }
}

fn constant(values: &[f64]) -> Vec<Dual> {
    values.iter().map(|&v| Dual { v, d: 0.0 }).collect()
}
