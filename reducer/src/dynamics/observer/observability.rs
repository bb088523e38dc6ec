//! Which states sensors do not see.

use super::{ObserverError, ObserverSettings};
use crate::reduced_model::{Evaluator, ObserverPlan, Workspace};
use nalgebra::DMatrix;
use std::f64::consts::TAU;

/// A direction of the state is not seen where readings change with it by less than this part of what the best
/// seen one changes them, both by as much as their deviations at the start.
const UNSEEN: f64 = 1e-7;
/// Nor where it changes them by less than this part of their noise, which rounding may be.
const ROUNDING: f64 = 1e-9;
/// Samples that are looked at, at least and at most.
const SAMPLES: [usize; 2] = [100, 4000];
/// Periods of the slowest vibration that are looked at.
const PERIODS: f64 = 2.0;

/// A linear model where the observer starts.
pub(super) struct Around {
    pub a: DMatrix<f64>,
    pub b: DMatrix<f64>,
    /// Generalised force per disturbance.
    pub directions: DMatrix<f64>,
    /// Rows of the sensors.
    pub c: DMatrix<f64>,
    /// Natural frequencies of coordinates by themselves, all others held (Hz).
    pub frequencies: Vec<f64>,
}

/// Generalised force per unit of each disturbance.
pub(super) fn directions(
    evaluator: &Evaluator<'_>,
    plan: &ObserverPlan,
    x: &[f64],
    work: &mut Workspace,
) -> DMatrix<f64> {
    let n = evaluator.n();
    let zero = vec![0.0; n];
    let outputs = evaluator.outputs(&x[..n], &zero, work);
    DMatrix::from_fn(n, plan.disturbances.len(), |i, d| {
        let disturbance = &plan.disturbances[d];
        if !disturbance.at_output {
            return f64::from(u8::from(disturbance.index == i));
        }
        outputs.as_ref().map_or(0.0, |(all, _)| {
            let jacobian = &all[disturbance.index].jacobian;
            (0..3)
                .map(|a| disturbance.axis[a] * jacobian[a * n + i])
                .sum()
        })
    })
}

/// Natural frequencies of coordinates by themselves, all others held (Hz); 0 where they do not vibrate.
pub(super) fn frequencies(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Vec<f64> {
    let n = b.ncols();
    let Some(mass) = b.rows(n, n).clone_owned().try_inverse() else {
        return vec![0.0; n];
    };
    let stiffness = -(&mass * a.view((n, 0), (n, n)));
    let square = |i: usize| stiffness[(i, i)] / mass[(i, i)];
    (0..n).map(|i| square(i).max(0.0).sqrt() / TAU).collect()
}

/// Refuses sensors that do not see some state.
pub(super) fn check(
    settings: &ObserverSettings,
    evaluator: &Evaluator<'_>,
    plan: &ObserverPlan,
    around: &Around,
) -> Result<(), ObserverError> {
    let (n, states) = (evaluator.n(), plan.states());
    let transition = transition(plan, around);
    let slowest = (evaluator.n_rigid()..n)
        .map(|i| around.frequencies[i])
        .fold(f64::INFINITY, f64::min);
    let wanted = if slowest.is_finite() && slowest > 0.0 {
        (PERIODS / (slowest * plan.period)).ceil()
    } else {
        0.0
    };
    let count = (wanted as usize).clamp(SAMPLES[0], SAMPLES[1]);
    let noise = DMatrix::from_row_slice(plan.sensors.len(), plan.sensors.len(), &plan.measurement);
    let Some(mut rows) = noise.solve_lower_triangular(&around.c) else {
        return Ok(());
    };
    // States in units of their deviations, so that what is compared has one unit.
    let scale = |i: usize| {
        if plan.initial[i] > 0.0 {
            plan.initial[i]
        } else {
            1.0
        }
    };
    let mut seen = DMatrix::zeros(0, states);
    for _ in 0..count {
        let scaled = DMatrix::from_fn(rows.nrows(), states, |i, j| rows[(i, j)] * scale(j));
        let stacked = DMatrix::from_fn(seen.nrows() + scaled.nrows(), states, |i, j| {
            if i < seen.nrows() {
                seen[(i, j)]
            } else {
                scaled[(i - seen.nrows(), j)]
            }
        });
        seen = stacked.qr().r();
        rows = &rows * &transition;
    }
    let svd = seen.clone().svd(false, true);
    let seen_from = (UNSEEN * svd.singular_values.max()).max(ROUNDING);
    let mut unseen: Vec<usize> = Vec::new();
    if let Some(v) = &svd.v_t {
        for i in 0..v.nrows() {
            let seen = svd.singular_values[i] > seen_from;
            if !seen {
                unseen.push(v.row(i).transpose().iamax());
            }
        }
        if v.nrows() < states {
            // Fewer readings than states: some have no row at all.
            unseen.extend((0..states).filter(|j| seen.column(*j).amax() == 0.0));
        }
    }
    if unseen.is_empty() {
        return Ok(());
    }
    let mut names: Vec<String> = unseen
        .iter()
        .map(|&i| state_name(evaluator, plan, around, i))
        .collect();
    names.sort();
    names.dedup();
    Err(ObserverError::Unobservable {
        origin: settings.origin.clone(),
        states: names,
        horizon: count as f64 * plan.period,
    })
}

fn state_name(evaluator: &Evaluator<'_>, plan: &ObserverPlan, around: &Around, i: usize) -> String {
    let n = evaluator.n();
    if i >= 2 * n {
        return format!("the disturbance `{}`", plan.disturbance_names[i - 2 * n]);
    }
    let coordinate = &evaluator.model().layout.coordinates[i % n];
    if i % n >= evaluator.n_rigid() {
        let frequency = around.frequencies[i % n];
        return format!("mode `{}` (about {frequency:.3} Hz)", coordinate.name);
    }
    format!("coordinate `{}`", coordinate.name)
}

/// The state of the next sample per state of this one, as the filter takes it.
fn transition(plan: &ObserverPlan, around: &Around) -> DMatrix<f64> {
    let (n, states) = (plan.n(), plan.states());
    let mut a = DMatrix::zeros(states, states);
    a.view_mut((0, 0), (2 * n, 2 * n)).copy_from(&around.a);
    let pushed = &around.b * &around.directions;
    a.view_mut((0, 2 * n), (2 * n, states - 2 * n))
        .copy_from(&pushed);
    let h = plan.period / plan.substeps as f64;
    let mut term = DMatrix::identity(states, states);
    let mut step = term.clone();
    for k in 1..=4 {
        term = &a * term * (h / f64::from(k));
        step += &term;
    }
    let mut whole = DMatrix::identity(states, states);
    for _ in 0..plan.substeps {
        whole = &step * whole;
    }
    whole
}
