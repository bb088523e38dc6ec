//! The block of an observer.

use super::law::Sample;
use crate::dynamics::observer::{ObserverError, ObserverSettings, ObserverStatistics};
use crate::dynamics::signal::Signal;
use crate::reduced_model::{
    Evaluator, ObserverPlan, ObserverState, ReducedModel, Status, Workspace,
};
use nalgebra::{DMatrix, DVector};
use std::sync::{Arc, Mutex, PoisonError};

/// An observer as a block: sensors are its first inputs, forces of actuators the last ones. Outputs are the state and the
/// normalised innovation squared.
#[derive(Debug, Clone)]
pub struct ObserverLaw {
    /// As declared.
    pub settings: ObserverSettings,
    /// Of every actuator the part of its force that is a function of time, with a factor.
    pub forces: Vec<(f64, Signal)>,
    /// The filter of a model; without one outputs are held at zero.
    filter: Option<Arc<Filter>>,
}

impl PartialEq for ObserverLaw {
    fn eq(&self, other: &Self) -> bool {
        self.settings == other.settings && self.forces == other.forces
    }
}

/// The filter of a model.
#[derive(Debug)]
struct Filter {
    evaluator: Evaluator<'static>,
    plan: ObserverPlan,
    start: [Vec<f64>; 2],
    statistics: Mutex<ObserverStatistics>,
}

impl ObserverLaw {
    /// An observer without a model.
    pub fn new(settings: ObserverSettings) -> Self {
        Self {
            settings,
            forces: Vec::new(),
            filter: None,
        }
    }

    /// Gives it a model. It starts with the rates given, deflected or not.
    pub(crate) fn attach(
        &mut self,
        model: &ReducedModel,
        rate: &[f64],
        deflected: bool,
    ) -> Result<(), ObserverError> {
        let evaluator = self.settings.owning(model.clone())?;
        let plan = self.settings.plan(&evaluator)?;
        let statistics = ObserverStatistics {
            sensors: plan.sensors.len(),
            states: 2 * plan.n(),
            ..Default::default()
        };
        self.filter = Some(Arc::new(Filter {
            start: self.settings.start(&evaluator, rate, deflected),
            evaluator,
            plan,
            statistics: Mutex::new(statistics),
        }));
        Ok(())
    }

    /// What was seen since the model was given.
    pub fn statistics(&self) -> Option<ObserverStatistics> {
        let filter = self.filter.as_ref()?;
        let known = filter.statistics.lock();
        Some(*known.unwrap_or_else(PoisonError::into_inner))
    }

    /// Sensors and actuators.
    pub(super) fn n_inputs(&self) -> usize {
        self.settings.sensors.len() + self.settings.viscous.len()
    }

    /// State and normalised innovation squared.
    pub(super) fn n_outputs(&self) -> usize {
        self.settings.states() + 1
    }

    /// State, root of its covariance, and force.
    pub(super) fn n_memory(&self) -> usize {
        let states = self.settings.states();
        states + states * states + self.settings.n()
    }

    /// A prediction from the sample before, and an update.
    pub(super) fn sample(&self, at: &Sample, memory: &mut [f64], u: &[f64], y: &mut [f64]) {
        let Some(filter) = &self.filter else {
            return;
        };
        let (readings, forces) = u.split_at(self.settings.sensors.len());
        let mut force = vec![0.0; filter.plan.n()];
        // Half a period ago stands for the whole of it.
        let before = (at.time - 0.5 * at.period).max(0.0);
        for (k, sum) in force.iter_mut().take(forces.len()).enumerate() {
            let (factor, signal) = &self.forces[k];
            *sum = forces[k] + factor * signal.at(before).value;
        }
        let mut state = filter.load(memory);
        let status = filter.step(at.count == 0, &mut state, readings, &force);
        let mut known = filter.lock();
        if status >= Status::Undefined {
            known.refused += 1;
        } else {
            known.updates += 1;
            known.innovations += state.nis;
        }
        drop(known);
        let states = state.x.len();
        memory[..states].copy_from_slice(&state.x);
        memory[states..states + states * states].copy_from_slice(&state.root);
        memory[states + states * states..].copy_from_slice(&state.force);
        y[..states].copy_from_slice(&state.x);
        y[states] = state.nis;
    }

    /// Compares the estimate with what is true: η and rates.
    pub(super) fn judge(&self, memory: &[f64], truth: &[f64]) {
        if let Some(filter) = &self.filter {
            filter.judge(memory, truth);
        }
    }
}

impl Filter {
    fn lock(&self) -> std::sync::MutexGuard<'_, ObserverStatistics> {
        self.statistics
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn load(&self, memory: &[f64]) -> ObserverState {
        let states = self.plan.states();
        let (x, rest) = memory.split_at(states);
        let (root, force) = rest.split_at(states * states);
        ObserverState {
            x: x.to_vec(),
            root: root.to_vec(),
            force: force.to_vec(),
            nis: 0.0,
        }
    }

    /// Sizes were checked when the filter was made.
    fn step(
        &self,
        first: bool,
        state: &mut ObserverState,
        readings: &[f64],
        force: &[f64],
    ) -> Status {
        let work = &mut Workspace::default();
        let (evaluator, plan) = (&self.evaluator, &self.plan);
        let begun = if first {
            let [eta, rate] = &self.start;
            evaluator.observer_init(plan, state, [eta, rate, force])
        } else {
            evaluator.observer_predict(plan, state, force, work)
        };
        let updated = evaluator.observer_update(plan, state, readings, work);
        match (begun, updated) {
            (Ok(a), Ok(b)) => a.max(b),
            _ => Status::NotFinite,
        }
    }

    fn judge(&self, memory: &[f64], truth: &[f64]) {
        let state = self.load(memory);
        let (states, judged) = (state.x.len(), truth.len());
        let covariance = DMatrix::from_row_slice(states, states, &state.covariance());
        let covariance = covariance.view((0, 0), (judged, judged)).into_owned();
        let error = DVector::from_fn(judged, |i, _| truth[i] - state.x[i]);
        if let Some(factor) = covariance.cholesky() {
            let mut known = self.lock();
            known.judged += 1;
            known.errors += error.dot(&factor.solve(&error));
        }
    }
}
