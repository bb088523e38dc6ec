//! Degrees of the tables of one box: which to try next, and whether raising them pays.

use super::super::errors::Part;
use super::super::region::Region;
use super::super::trial::{Context, Trial, TrialSamples};
use super::OpenBox;

/// Above this decay per degree raising it is a waste.
const SLOW_DECAY: f64 = 0.8;

/// Degree of one table and what it was before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Degree {
    pub now: usize,
    /// Earlier degree and its error over tolerance.
    pub before: Option<(usize, f64)>,
}

/// Degrees that a step skipped may do as well; the samples are there.
pub(super) fn lowest_degrees(
    context: &Context,
    state: &OpenBox,
    samples: &TrialSamples,
    mut trial: Trial,
) -> Trial {
    let skipped =
        |degree: Degree| degree.before.map_or(degree.now, |(before, _)| before + 1)..degree.now;
    let degrees = [
        (Part::Dynamics, state.dynamics),
        (Part::Outputs, state.outputs),
    ];
    for (part, degree) in degrees {
        for degree in skipped(degree).rev() {
            match context.with_degree(&state.region, samples, &trial, part, degree) {
                Some(lower) => trial = lower,
                None => break,
            }
        }
    }
    trial
}

impl Degree {
    /// The degree at which the error will reach the target if it goes on falling as it did.
    pub fn predicted(self, ratio: f64, target: f64) -> Option<usize> {
        let (degree, old) = self.before?;
        let decay = (ratio / old).powf(1.0 / self.now.saturating_sub(degree).max(1) as f64);
        let steps = ((target / ratio).ln() / decay.ln()).ceil();
        (decay < SLOW_DECAY).then_some(self.now + steps.clamp(1.0, 100.0) as usize)
    }

    /// The next degree for a table that is `ratio` times over its tolerance.
    pub fn raised(self, ratio: f64, target: f64, limit: usize) -> Self {
        if ratio <= target {
            return self;
        }
        let next = self
            .predicted(ratio, target)
            .unwrap_or(self.now + 1)
            .min(self.now + 3);
        Self {
            now: next.min(limit),
            before: Some((self.now, ratio)),
        }
    }
}

/// s = 1: errors fall with the degree fast enough to reach the target before the largest degree.
/// The decay comes from a fit two degrees lower, so that even and odd functions do not mislead.
pub(super) fn decays(
    context: &Context,
    region: &Region,
    samples: &TrialSamples,
    state: &OpenBox,
    error: f64,
) -> bool {
    let lower = |degree: Degree| degree.now.saturating_sub(2).max(1);
    if state.dynamics.now < 4 {
        return true;
    }
    let trial = context.attempt(region, samples, lower(state.dynamics), lower(state.outputs));
    let before = context
        .rules
        .ratios(&trial.errors, context.scales)
        .into_iter()
        .fold(0.0, f64::max);
    let decay = (error / before).sqrt();
    let needed = (context.rules.target / error).ln() / decay.ln();
    decay < SLOW_DECAY && state.dynamics.now as f64 + needed <= context.rules.max_degree as f64
}
