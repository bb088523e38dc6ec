//! Observers of a model: what they are made of, and the kernel's filter in `f64`.

use super::evaluate::check_length;
use super::{EvaluationError, Evaluator, Status, Workspace};
use kernel::{Disturbance, Estimate, ObserverModel, Scratch, Sensor};

/// What an observer of a model is made of; sizes and definiteness were checked where it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct ObserverPlan {
    /// What is measured.
    pub sensors: Vec<Sensor<f64>>,
    /// Their names.
    pub sensor_names: Vec<String>,
    /// Unknown forces.
    pub disturbances: Vec<Disturbance<f64>>,
    /// Their names.
    pub disturbance_names: Vec<String>,
    /// Time between predictions (s).
    pub period: f64,
    /// Steps of integration in a period.
    pub substeps: usize,
    /// Lower factor of the covariance of forces on the coordinates, held for a period.
    pub process: Vec<f64>,
    /// Deviation of the change of every disturbance in a period.
    pub drift: Vec<f64>,
    /// Lower factor of the covariance of the sensors' noise.
    pub measurement: Vec<f64>,
    /// Deviations of the first state: η, rates, disturbances.
    pub initial: Vec<f64>,
    /// Gravity that sensors feel (m/s²).
    pub gravity: [f64; 3],
}

/// What an observer knows.
#[derive(Debug, Clone, PartialEq)]
pub struct ObserverState {
    /// η, rates, disturbances.
    pub x: Vec<f64>,
    /// S of the covariance P = S Sᵀ, row-major.
    pub root: Vec<f64>,
    /// Force of the last prediction.
    pub force: Vec<f64>,
    /// Squared innovation of the last update in units of its covariance.
    pub nis: f64,
}

impl ObserverPlan {
    /// As the kernel wants it.
    pub fn view(&self) -> ObserverModel<'_, f64> {
        ObserverModel {
            sensors: &self.sensors,
            disturbances: &self.disturbances,
            substeps: self.substeps,
            step: self.period / self.substeps as f64,
            process: &self.process,
            drift: &self.drift,
            measurement: &self.measurement,
            initial: &self.initial,
            gravity: self.gravity,
        }
    }

    /// Number of states: η, rates and disturbances.
    pub fn states(&self) -> usize {
        self.initial.len()
    }

    /// Number of coordinates η.
    pub fn n(&self) -> usize {
        (self.initial.len() - self.disturbances.len()) / 2
    }

    /// An observer that knows nothing yet.
    pub fn state(&self) -> ObserverState {
        let states = self.states();
        ObserverState {
            x: vec![0.0; states],
            root: vec![0.0; states * states],
            force: vec![0.0; self.n()],
            nis: 0.0,
        }
    }
}

impl ObserverState {
    fn view(&mut self) -> Estimate<'_, f64> {
        Estimate {
            x: &mut self.x,
            root: &mut self.root,
            force: &mut self.force,
            nis: &mut self.nis,
        }
    }

    /// Covariance P, row-major.
    pub fn covariance(&self) -> Vec<f64> {
        let n = self.x.len();
        let entry = |i: usize, j: usize| {
            let rows = (0..n).map(|k| self.root[i * n + k] * self.root[j * n + k]);
            rows.sum::<f64>()
        };
        (0..n * n).map(|at| entry(at / n, at % n)).collect()
    }
}

impl Evaluator<'_> {
    fn observer_scratch<'w>(
        &self,
        plan: &ObserverPlan,
        work: &'w mut Workspace,
    ) -> Scratch<'w, f64> {
        let outputs = self.model.layout.outputs.len();
        let needed = self.plan.memory() + plan.view().memory(self.n(), outputs);
        let memory = &mut work.numbers.scratch;
        if memory.len() < needed {
            memory.resize(needed, 0.0);
        }
        Scratch::new(memory)
    }

    /// Begins an observer with a state under a force.
    pub fn observer_init(
        &self,
        plan: &ObserverPlan,
        state: &mut ObserverState,
        [eta, rate, force]: [&[f64]; 3],
    ) -> Result<Status, EvaluationError> {
        check_length("observer", plan.n(), self.n())?;
        check_length("eta", eta.len(), self.n())?;
        check_length("rate", rate.len(), self.n())?;
        check_length("force", force.len(), self.n())?;
        let m = self.plan.model();
        let status = kernel::observer_init(&m, &plan.view(), &mut state.view(), [eta, rate, force]);
        Ok(status.into())
    }

    /// Takes an observer through one period under a constant force.
    pub fn observer_predict(
        &self,
        plan: &ObserverPlan,
        state: &mut ObserverState,
        force: &[f64],
        work: &mut Workspace,
    ) -> Result<Status, EvaluationError> {
        check_length("observer", plan.n(), self.n())?;
        check_length("force", force.len(), self.n())?;
        let (m, p) = (self.plan.model(), self.parameters());
        let scratch = self.observer_scratch(plan, work);
        let mut e = state.view();
        let status = kernel::observer_predict(&m, &plan.view(), p.as_ref(), &mut e, force, scratch);
        Ok(status.into())
    }

    /// Corrects an observer by what its sensors read.
    pub fn observer_update(
        &self,
        plan: &ObserverPlan,
        state: &mut ObserverState,
        readings: &[f64],
        work: &mut Workspace,
    ) -> Result<Status, EvaluationError> {
        check_length("observer", plan.n(), self.n())?;
        check_length("readings", readings.len(), plan.sensors.len())?;
        let (m, p) = (self.plan.model(), self.parameters());
        let scratch = self.observer_scratch(plan, work);
        let mut e = state.view();
        let status =
            kernel::observer_update(&m, &plan.view(), p.as_ref(), &mut e, readings, scratch);
        Ok(status.into())
    }

    /// What the sensors of an observer would read in a state x under generalised forces, and the derivatives of that by x,
    /// one row per sensor. Disturbances act through their directions alone.
    pub fn observer_readings(
        &self,
        plan: &ObserverPlan,
        x: &[f64],
        force: &[f64],
        work: &mut Workspace,
    ) -> Result<(Vec<f64>, Vec<f64>, Status), EvaluationError> {
        check_length("observer", plan.n(), self.n())?;
        check_length("x", x.len(), plan.states())?;
        check_length("force", force.len(), self.n())?;
        let (m, p) = (self.plan.model(), self.parameters());
        let scratch = self.observer_scratch(plan, work);
        let (sensors, states) = (plan.sensors.len(), plan.states());
        let (mut reading, mut slope) = (vec![0.0; sensors], vec![0.0; sensors * states]);
        let given = [x, force];
        let found = [&mut reading[..], &mut slope[..]];
        let status = kernel::observer_readings(&m, &plan.view(), p.as_ref(), given, found, scratch);
        Ok((reading, slope, status.into()))
    }
}
