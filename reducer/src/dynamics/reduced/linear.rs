//! The reduced model and its blocks, linearised where they rest.

use super::ReducedSettings;
use super::error::ReducedError;
use super::start::initial_state;
use super::system::{State, System};
use crate::dynamics::excitation::Excitation;
use crate::dynamics::full::Initial;
use crate::dynamics::linear::LinearSystem;
use crate::reduced_model::{Dual, Evaluator, Status};
use nalgebra::DMatrix;

/// Linearises at θ, at rest, under the forces that hold the mechanism there [M 16.1].
///
/// Inputs are forces on the free coordinates of θ and what is added to the outputs of blocks; outputs
/// are the coordinates of θ, positions of outputs, sensors and blocks. Sampled blocks hold what they
/// give, so that they are no part of the loop.
pub fn linearise(
    evaluator: &Evaluator<'_>,
    excitation: &dyn Excitation,
    at: &Initial,
    settings: &ReducedSettings,
) -> Result<LinearSystem, ReducedError> {
    let system = System::new(evaluator, excitation, settings);
    if let Some(run) = &system.blocks {
        run.hold_controllers();
    }
    let state = initial_state(&system, at)?;
    linearise_system(&system, &state)
}

pub(super) fn linearise_system(
    system: &System<'_>,
    state: &State,
) -> Result<LinearSystem, ReducedError> {
    if let (Some(run), Some(at)) = (&system.blocks, system.running(0.0, state))
        && let Some(fault) = run.check_all(&at)
    {
        return Err(ReducedError::Control { time: 0.0, fault });
    }
    system.hold(state)?;
    let seeds = Seeds::of(system);
    let names = seeds.output_names(system);
    let n = system.n_active();
    let mut a = DMatrix::zeros(n, n);
    let mut c = DMatrix::zeros(names.len(), n);
    for j in 0..n {
        let mut direction = vec![0.0; state.len()];
        direction[j] = 1.0;
        let (rates, outputs) = system.change(state, &direction, None)?;
        a.set_column(j, &rates.into());
        c.set_column(j, &outputs.into());
    }
    let mut b = DMatrix::zeros(n, seeds.inputs.len());
    let mut d = DMatrix::zeros(names.len(), seeds.inputs.len());
    let still = vec![0.0; state.len()];
    for (j, (_, seed)) in seeds.inputs.iter().enumerate() {
        let (rates, outputs) = system.change(state, &still, Some(*seed))?;
        b.set_column(j, &rates.into());
        d.set_column(j, &outputs.into());
    }
    Ok(LinearSystem {
        a,
        b,
        c,
        d,
        states: system.state_names(),
        inputs: seeds.inputs.into_iter().map(|(name, _)| name).collect(),
        outputs: names,
    })
}

/// What is varied.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seed {
    /// The force on a coordinate.
    Force(usize),
    /// What is added to an output of a block.
    Output(usize),
}

struct Seeds {
    inputs: Vec<(String, Seed)>,
}

impl Seeds {
    fn of(system: &System<'_>) -> Self {
        let layout = &system.evaluator.model().layout;
        let free = (0..system.s).filter(|k| !system.excitation.is_prescribed(*k));
        let mut inputs: Vec<(String, Seed)> = free
            .map(|k| {
                (
                    format!("force.{}", layout.coordinates[k].name),
                    Seed::Force(k),
                )
            })
            .collect();
        if let Some(run) = &system.blocks {
            let names = run.diagram.signal_names();
            let own = names
                .into_iter()
                .skip(run.diagram.sensors.len())
                .enumerate();
            inputs.extend(own.map(|(k, name)| (format!("control.{name}"), Seed::Output(k))));
        }
        Self { inputs }
    }

    fn output_names(&self, system: &System<'_>) -> Vec<String> {
        let layout = &system.evaluator.model().layout;
        let theta = layout.coordinates[..system.s].iter();
        let mut names: Vec<String> = theta.map(|c| format!("coordinate.{}", c.name)).collect();
        for output in &layout.outputs {
            names.extend(["x", "y", "z"].map(|axis| format!("{output}.{axis}")));
        }
        if let Some(run) = &system.blocks {
            let signals = run.diagram.signal_names();
            names.extend(signals.into_iter().map(|name| format!("control.{name}")));
        }
        names
    }
}

impl System<'_> {
    /// Adds the constant forces under which nothing accelerates in a state at rest.
    fn hold(&self, state: &State) -> Result<(), ReducedError> {
        let (eta, force) = {
            let scratch = &mut *self.scratch.borrow_mut();
            self.evaluate(0.0, state, scratch);
            (scratch.eta.clone(), scratch.given.clone())
        };
        let needed = self.static_force(&eta)?;
        let missing = needed.iter().zip(&force).map(|(n, f)| n - f);
        *self.holding.borrow_mut() = missing.collect();
        Ok(())
    }

    /// Changes of the state's derivative and of all outputs along a direction, and per unit of a seed.
    fn change(
        &self,
        state: &State,
        direction: &[f64],
        seed: Option<Seed>,
    ) -> Result<(Vec<f64>, Vec<f64>), ReducedError> {
        let dual: Vec<Dual> = (state.iter().zip(direction))
            .map(|(&v, &d)| Dual { v, d })
            .collect();
        self.seed.set(seed);
        let scratch = &mut *self.along.borrow_mut();
        let mut rates = vec![f64::NAN; self.n_active()];
        let n = rates.len();
        let told = self.derivative_in(0.0, &dual, scratch, |i, x| {
            if i < n {
                rates[i] = x.d;
            }
        });
        self.seed.set(None);
        let mut outputs: Vec<f64> = scratch.eta[..self.s].iter().map(|x| x.d).collect();
        let memory = &mut scratch.memory;
        let (motions, status) = self
            .evaluator
            .outputs_in(&scratch.eta, &scratch.rate, memory);
        if !told || status >= Status::Undefined {
            let theta = scratch.eta[..self.s].iter().map(|x| x.v).collect();
            return Err(ReducedError::NoModel { time: 0.0, theta });
        }
        for motion in &motions {
            outputs.extend(motion.vectors[0].iter().map(|x| x.d));
        }
        outputs.extend(scratch.blocks.signals.iter().map(|x| x.d));
        Ok((rates, outputs))
    }

    fn state_names(&self) -> Vec<String> {
        let coordinates = &self.evaluator.model().layout.coordinates;
        let free = || self.free.iter().map(|k| &coordinates[*k].name);
        let mut names: Vec<String> = free().cloned().collect();
        names.extend(free().map(|name| format!("rate.{name}")));
        if let Some(run) = &self.blocks {
            names.extend(run.diagram.state_names());
        }
        names
    }
}
