//! Loops with sampled blocks about rest: exact, hold and delays included.

use super::ReducedSettings;
use super::error::ReducedError;
use super::linear::linearise_system;
use super::start::initial_state;
use super::system::System;
use crate::dynamics::control::PeriodHeld;
use crate::dynamics::excitation::Excitation;
use crate::dynamics::full::Initial;
use crate::dynamics::linear::{LinearSystem, Root, eigenvalues, sorted};
use crate::reduced_model::Evaluator;
use nalgebra::{Complex, DMatrix};

/// A loop with sampled blocks as a map over the period that all of them have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledLoop {
    /// The period (s).
    pub period: f64,
    /// States just before a sample from those a period earlier: continuous ones, what blocks remember,
    /// outputs that they hold.
    pub map: DMatrix<f64>,
}

impl SampledLoop {
    /// Eigenvalues z of the map, the largest first.
    pub fn multipliers(&self) -> Vec<Complex<f64>> {
        let mut all = eigenvalues(self.map.clone());
        all.sort_by(|a, b| (b.norm().total_cmp(&a.norm())).then(b.im.total_cmp(&a.im)));
        all
    }

    /// ln z over the period, for |z| above what rounding leaves of zero. What is faster than half the
    /// sampling frequency appears below it.
    pub fn poles(&self) -> Vec<Root> {
        let all = self.multipliers().into_iter();
        let present = all.filter(|z| z.norm() > 1e-8);
        sorted(present.map(|z| z.ln() / self.period))
    }
}

/// The linear system with outputs of sampled blocks held, and the loop that they close; no loop where
/// no sampled block takes part.
pub fn linearise_sampled(
    evaluator: &Evaluator<'_>,
    excitation: &dyn Excitation,
    at: &Initial,
    settings: &ReducedSettings,
) -> Result<(LinearSystem, Option<SampledLoop>), ReducedError> {
    let system = System::new(evaluator, excitation, settings);
    if let Some(run) = &system.blocks {
        run.hold_controllers();
    }
    let state = initial_state(&system, at)?;
    let linear = linearise_system(&system, &state)?;
    let (Some(run), Some(at)) = (&system.blocks, system.running(0.0, &state)) else {
        return Ok((linear, None));
    };
    let Some(slopes) = run.slopes(&at) else {
        return Ok((linear, None));
    };
    let (signals, outputs) = (run.diagram.n_signals(), run.diagram.n_outputs());
    let first_row = linear.c.nrows() - signals;
    let first_column = linear.b.ncols() - outputs;
    let held = PeriodHeld {
        a: &linear.a,
        b: linear.b.columns(first_column, outputs).into_owned(),
        c: linear.c.rows(first_row, signals).into_owned(),
        d: (linear.d)
            .view((first_row, first_column), (signals, outputs))
            .into_owned(),
    };
    let found = run.diagram.period_map(&held, &slopes, &at)?;
    let sampled = found.map(|(period, map)| SampledLoop { period, map });
    Ok((linear, sampled))
}
