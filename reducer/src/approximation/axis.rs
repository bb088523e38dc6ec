//! Along which coordinate a box is bisected.

use super::points;
use super::region::Region;
use super::trial::{Context, Trial, TrialSamples, term_sizes};
use crate::description::mechanism::Objective;
use crate::reduced_model::{Component, Table};

/// `chebyshev`: the axis that leaves the least (objective `speed`) or has the largest tail;
/// otherwise that of the largest error half-way [T 5.170].
pub(super) fn bisection_axis(
    context: &Context,
    region: &Region,
    samples: &TrialSamples,
    trial: &Trial,
) -> Option<usize> {
    if !context.rules.is_adaptive_degree() {
        return axis_of_largest_error(context, region, samples, trial);
    }
    let left = match context.rules.objective {
        Objective::Speed => left_by_bisection(context, region, samples, trial),
        Objective::Size => None,
    };
    match left {
        Some(left) => context.rules.best_axis(region, |k| -left[k]),
        None => {
            let dynamics = tails(region, &trial.dynamics, &context.components.dynamics);
            let outputs = tails(region, &trial.outputs, &context.components.outputs);
            let tail = |k: usize| dynamics[k] + outputs[k];
            context.rules.best_axis(region, tail)
        }
    }
}

/// What a fit of the dynamics lacks is about what the next degree adds. Halving the box along k
/// divides a term of that degree by two to the power of its degree in θ_k; the sum of the squares of
/// what is left, per axis. Nothing where there are too few samples for the next degree.
fn left_by_bisection(
    context: &Context,
    region: &Region,
    samples: &TrialSamples,
    trial: &Trial,
) -> Option<Vec<f64>> {
    let degree = top_degree(&trial.dynamics) + 1;
    let terms = context.terms(degree as usize);
    let all = TrialSamples {
        fit: [&samples.fit[..], &samples.validation[..]].concat(),
        validation: Vec::new(),
    };
    if all.fit.len() < terms.len() {
        return None;
    }
    let components = &context.components.dynamics;
    let table = context.fit_table(region, &all, &terms, components);
    let sizes = term_sizes(&table, components);
    let lacking = || {
        let pairs = table.terms.iter().zip(&sizes);
        pairs.filter(|(term, _)| total(term) == degree)
    };
    let left = |k: usize| {
        let part = |(term, size): (&Vec<u8>, &f64)| size * 0.5_f64.powi(i32::from(term[k]));
        lacking().map(|pair| part(pair).powi(2)).sum()
    };
    Some((0..region.dimension()).map(left).collect())
}

fn total(term: &[u8]) -> u32 {
    term.iter().map(|&d| u32::from(d)).sum()
}

fn top_degree(table: &Table) -> u32 {
    table.terms.iter().map(|t| total(t)).max().unwrap_or(0)
}

/// Sizes of the terms of the two highest degrees, each counted by its degree in every coordinate.
fn tails(region: &Region, table: &Table, components: &[Component]) -> Vec<f64> {
    let top = top_degree(table);
    let mut tails = vec![0.0; region.dimension()];
    for (term, size) in table.terms.iter().zip(term_sizes(table, components)) {
        if total(term) + 1 >= top {
            term.iter()
                .zip(&mut tails)
                .for_each(|(d, tail)| *tail += f64::from(*d) * size);
        }
    }
    tails
}

fn axis_of_largest_error(
    context: &Context,
    region: &Region,
    samples: &TrialSamples,
    trial: &Trial,
) -> Option<usize> {
    let rules = context.rules;
    let star = points::star(region.dimension(), 0.5);
    let sensitivity = |axis: usize| {
        let ends = [
            region.point(&star[2 * axis]),
            region.point(&star[2 * axis + 1]),
        ];
        let at_ends = samples
            .validation
            .iter()
            .zip(&trial.errors)
            .filter(|(p, _)| ends.iter().any(|e| e == p.theta()));
        at_ends
            .map(|(_, e)| {
                rules
                    .ratios(std::slice::from_ref(e), context.scales)
                    .into_iter()
                    .fold(0.0, f64::max)
            })
            .sum::<f64>()
    };
    rules.best_axis(region, sensitivity)
}
