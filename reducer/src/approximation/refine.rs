//! The adaptive loop: waves of samples, attempts at all open boxes, then accept, raise the
//! degree, bisect or drop [T, figure 5.14].

use super::database::DatabaseError;
use super::errors::Block;
use super::least_squares::choose_rows;
use super::observer::{Observer, Progress};
use super::points;
use super::region::Region;
use super::rules::Rules;
use super::sample::Sample;
use super::store::{SampleStore, key};
use super::terms::{total_degree, total_degree_count};
use super::tree::{BoxTree, NodeId};
use super::trial::{Context, Trial, TrialSamples, term_sizes};
use crate::description::mechanism::{Basis, Criterion};
use crate::reduced_model::{BoxModel, PolynomialValues, limits};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Degree of the first attempt.
const FIRST_DEGREE: usize = 2;
/// Above this decay per degree raising it is a waste.
const SLOW_DECAY: f64 = 0.8;

/// A box that is not finished.
struct OpenBox {
    node: NodeId,
    region: Region,
    dynamics: Degree,
    outputs: Degree,
    round: u64,
    /// Accept only if it stores fewer numbers: an attempt at merging two boxes.
    merge_below: Option<usize>,
}

/// Degree of one table and what it was before.
#[derive(Debug, Clone, Copy)]
struct Degree {
    now: usize,
    /// Earlier degree and its error over tolerance.
    before: Option<(usize, f64)>,
}

/// Points of one attempt.
struct Plan {
    fit: Vec<Vec<f64>>,
    validation: Vec<Vec<f64>>,
}

enum Outcome {
    Accept(Box<BoxModel>),
    Raise {
        dynamics: Degree,
        outputs: Degree,
        error: f64,
    },
    Bisect {
        axis: usize,
        error: f64,
    },
    Drop(String),
}

/// Runs until every box is finished.
pub(super) fn refine(
    context: &Context,
    store: &mut SampleStore,
    observer: &dyn Observer,
) -> Result<BoxTree, DatabaseError> {
    let (mut tree, root) = BoxTree::new();
    let domain = Region::of_domain(&context.layout.domain);
    run(
        context,
        store,
        observer,
        &mut tree,
        vec![OpenBox::new(root, domain)],
    )?;
    if context.rules.continuous && matches!(context.rules.basis, Basis::Lagrange { .. }) {
        loop {
            let open = nest_faces(&mut tree);
            if open.is_empty() {
                break;
            }
            run(context, store, observer, &mut tree, open)?;
        }
    }
    if context.layout.n_rigid == 1 && context.rules.is_adaptive_degree() {
        let candidates = merge_candidates(context, &tree);
        run(context, store, observer, &mut tree, candidates)?;
    }
    Ok(tree)
}

fn run(
    context: &Context,
    store: &mut SampleStore,
    observer: &dyn Observer,
    tree: &mut BoxTree,
    mut open: Vec<OpenBox>,
) -> Result<(), DatabaseError> {
    let mut worst = 0.0;
    while !open.is_empty() {
        observer.progress(&Progress {
            open_boxes: open.len(),
            finished_boxes: tree.n_leaves(),
            samples: store.len(),
            worst_error_over_tolerance: worst,
        });
        let plans: Vec<Plan> = open.par_iter().map(|b| plan(context, store, b)).collect();
        store.require(plans.iter().flat_map(|p| p.fit.iter().chain(&p.validation)))?;
        let outcomes: Vec<Outcome> = open
            .par_iter()
            .zip(&plans)
            .map(|(b, p)| decide(context, store, b, p, tree))
            .collect();
        let mut next = Vec::new();
        worst = 0.0;
        for (state, outcome) in open.into_iter().zip(outcomes) {
            worst = apply(context.rules, tree, state, outcome, &mut next).max(worst);
        }
        open = next;
    }
    Ok(())
}

fn apply(
    rules: &Rules,
    tree: &mut BoxTree,
    state: OpenBox,
    outcome: Outcome,
    next: &mut Vec<OpenBox>,
) -> f64 {
    if let Some(limit) = state.merge_below {
        if let Outcome::Accept(leaf) = outcome
            && leaf.reached
            && leaf.dynamics.coefficients.len() + leaf.outputs.coefficients.len() < limit
        {
            tree.close(state.node, *leaf);
        }
        return 0.0;
    }
    match outcome {
        Outcome::Accept(leaf) => {
            tree.close(state.node, *leaf);
            0.0
        }
        Outcome::Drop(reason) => {
            tree.drop_region(state.node, reason);
            0.0
        }
        Outcome::Raise {
            dynamics,
            outputs,
            error,
        } => {
            next.push(OpenBox {
                dynamics,
                outputs,
                round: state.round + 1,
                ..state
            });
            error
        }
        Outcome::Bisect { axis, error } => {
            let (low, high) = tree.split(state.node, &state.region, axis);
            let (low_region, high_region) = state.region.bisected(axis);
            let start = rules.max_degree.min(FIRST_DEGREE);
            next.push(OpenBox::with_degree(low, low_region, start));
            next.push(OpenBox::with_degree(high, high_region, start));
            error
        }
    }
}

impl OpenBox {
    fn new(node: NodeId, region: Region) -> Self {
        Self::with_degree(node, region, FIRST_DEGREE)
    }

    fn with_degree(node: NodeId, region: Region, degree: usize) -> Self {
        let degree = Degree {
            now: degree,
            before: None,
        };
        Self {
            node,
            region,
            dynamics: degree,
            outputs: degree,
            round: 0,
            merge_below: None,
        }
    }
}

/// Bisects finished boxes whose face with a neighbour is nested in neither: traces there could
/// not be made equal. Ends, since no box becomes narrower than its neighbours are.
fn nest_faces(tree: &mut BoxTree) -> Vec<OpenBox> {
    let leaves = tree.leaves();
    let mut open = Vec::new();
    for (i, (node, region)) in leaves.iter().enumerate() {
        let axis = leaves[i + 1..]
            .iter()
            .find_map(|(_, other)| region.axis_to_nest(other));
        if let Some(axis) = axis {
            let (low, high) = tree.split(*node, region, axis);
            let (low_region, high_region) = region.bisected(axis);
            open.push(OpenBox::new(low, low_region));
            open.push(OpenBox::new(high, high_region));
        }
    }
    open
}

/// Two finished neighbours as one box of the largest degree, once.
fn merge_candidates(context: &Context, tree: &BoxTree) -> Vec<OpenBox> {
    let numbers = |b: &BoxModel| b.dynamics.coefficients.len() + b.outputs.coefficients.len();
    tree.pairs()
        .into_iter()
        .map(|(node, low, high)| {
            let region = Region {
                lower: low.lower.clone(),
                upper: high.upper.clone(),
            };
            OpenBox {
                merge_below: Some(numbers(low) + numbers(high)),
                ..OpenBox::with_degree(node, region, context.rules.max_degree)
            }
        })
        .collect()
}

/// Points at which an attempt needs samples.
fn plan(context: &Context, store: &SampleStore, state: &OpenBox) -> Plan {
    let (region, s) = (&state.region, context.layout.n_rigid);
    if is_outside(context, region) {
        return Plan {
            fit: Vec::new(),
            validation: Vec::new(),
        };
    }
    let fit = match context.rules.basis {
        Basis::Quadratic => points::central_composite(region),
        Basis::Lagrange { order } => points::grid(&points::lobatto(order), s)
            .iter()
            .map(|xi| region.point(xi))
            .collect(),
        Basis::Chebyshev { .. } => adaptive_points(
            context,
            store,
            region,
            state.dynamics.now.max(state.outputs.now),
        ),
    };
    let count = match context.rules.criterion {
        _ if context.rules.thesis => 0,
        Criterion::Mean => 8 + 6 * s,
        Criterion::Max => 16 + 16 * s,
    };
    let mut taken: BTreeSet<Vec<u64>> = fit.iter().map(|p| key(p)).collect();
    let mut validation = points::validation(region, state.round, count);
    if context.rules.criterion == Criterion::Max && !context.rules.thesis {
        // Whatever was seen before must not be worse than the largest error allowed.
        let known = store.inside(region, usize::MAX);
        validation.extend(known.iter().map(|p| p.theta().to_vec()));
    }
    validation.retain(|p| taken.insert(key(p)) && is_admitted(context, p));
    Plan { fit, validation }
}

fn is_outside(context: &Context, region: &Region) -> bool {
    context
        .layout
        .domain
        .inequalities
        .iter()
        .any(|i| region.is_outside(i))
}

fn is_admitted(context: &Context, theta: &[f64]) -> bool {
    context
        .layout
        .domain
        .inequalities
        .iter()
        .all(|i| i.holds(theta))
}

/// About 1.5 points per term: those that exist first, then candidates in their order.
fn adaptive_points(
    context: &Context,
    store: &SampleStore,
    region: &Region,
    degree: usize,
) -> Vec<Vec<f64>> {
    let s = region.dimension();
    let n_terms = total_degree_count(s, degree);
    let wanted = n_terms + n_terms.div_ceil(2);
    let existing: Vec<Vec<f64>> = store
        .inside(region, 3 * n_terms)
        .iter()
        .map(|p| p.theta().to_vec())
        .collect();
    let known: BTreeSet<Vec<u64>> = existing.iter().map(|p| key(p)).collect();
    let mut fresh = points::candidates(region, degree, 3 * n_terms);
    let mut seen = known;
    fresh.retain(|p| seen.insert(key(p)) && is_admitted(context, p));
    let preferred = existing.len();
    let all: Vec<Vec<f64>> = existing.into_iter().chain(fresh).collect();
    let rows = weighted_rows(&all, region, &total_degree(s, degree));
    let mut is_chosen = vec![false; all.len()];
    choose_rows(rows, preferred)
        .into_iter()
        .for_each(|i| is_chosen[i] = true);
    if s == 1 {
        // Box ends carry continuity.
        for (i, p) in all.iter().enumerate() {
            is_chosen[i] |= p[0] == region.lower[0] || p[0] == region.upper[0];
        }
    }
    let mut n_chosen = is_chosen.iter().filter(|c| **c).count();
    let limit = wanted.max(2 * n_terms);
    for (i, chosen) in is_chosen.iter_mut().enumerate() {
        let allowed = if i < preferred { limit } else { wanted };
        if !*chosen && n_chosen < allowed {
            *chosen = true;
            n_chosen += 1;
        }
    }
    all.into_iter()
        .zip(is_chosen)
        .filter(|(_, c)| *c)
        .map(|(p, _)| p)
        .collect()
}

/// Terms at each point, normalised in the Chebyshev weight.
fn weighted_rows(all: &[Vec<f64>], region: &Region, terms: &[Vec<u8>]) -> Vec<Vec<f64>> {
    let degrees: Vec<u8> = terms.iter().flatten().copied().collect();
    let weights: Vec<f64> = terms
        .iter()
        .map(|t| {
            2f64.powi(t.iter().filter(|d| **d > 0).count() as i32)
                .sqrt()
        })
        .collect();
    let mut at = PolynomialValues::default();
    all.iter()
        .map(|p| {
            at.fill(&degrees, p, &region.lower, &region.upper);
            at.terms()
                .iter()
                .zip(&weights)
                .map(|(v, w)| v * w)
                .collect()
        })
        .collect()
}

/// What to do with a box once its samples are there.
fn decide(
    context: &Context,
    store: &SampleStore,
    state: &OpenBox,
    plan: &Plan,
    tree: &BoxTree,
) -> Outcome {
    let (rules, region) = (context.rules, &state.region);
    if is_outside(context, region) {
        return Outcome::Drop("outside the inequalities of the domain".to_owned());
    }
    let axis_without_errors = || {
        rules
            .widest_axis(region)
            .filter(|_| tree.n_leaves() < limits::BOXES / 4)
    };
    if let Some(failure) = store.failure_inside(region) {
        return match axis_without_errors() {
            Some(axis) => Outcome::Bisect {
                axis,
                error: f64::INFINITY,
            },
            None => Outcome::Drop(shortened(failure.reason())),
        };
    }
    let samples = gather(store, plan);
    if samples.fit.len()
        < context
            .terms(state.dynamics.now.max(state.outputs.now))
            .len()
        || samples.validation.is_empty()
    {
        return match axis_without_errors() {
            Some(axis) => Outcome::Bisect {
                axis,
                error: f64::INFINITY,
            },
            None => Outcome::Drop(
                "too little of the box satisfies the inequalities of the domain".to_owned(),
            ),
        };
    }
    let trial = context.attempt(region, &samples, state.dynamics.now, state.outputs.now);
    judge(context, state, &samples, trial)
}

fn judge(context: &Context, state: &OpenBox, samples: &TrialSamples, trial: Trial) -> Outcome {
    let (rules, region) = (context.rules, &state.region);
    let ratios = rules.ratios(&trial.errors, context.scales);
    let outputs = ratios[Block::Outputs as usize];
    let of_dynamics = Block::ALL.into_iter().filter(|b| *b != Block::Outputs);
    let dynamics = of_dynamics.map(|b| ratios[b as usize]).fold(0.0, f64::max);
    let error = dynamics.max(outputs);
    if error <= rules.target {
        let trial = lowest_degrees(context, state, samples, trial);
        return Outcome::Accept(Box::new(context.finish(region, samples, trial, true)));
    }
    if state.merge_below.is_some() {
        return Outcome::Drop(String::new());
    }
    let axis = bisection_axis(context, region, samples, &trial);
    let raised = |limit: usize| {
        let next = |degree: Degree, ratio: f64| degree.raised(ratio, rules.target, limit);
        (next(state.dynamics, dynamics), next(state.outputs, outputs))
    };
    let may_raise = |limit: usize| {
        rules.is_adaptive_degree()
            && (dynamics <= rules.target || state.dynamics.now < limit)
            && (outputs <= rules.target || state.outputs.now < limit)
    };
    let limit = rules.preferred_degree(region.dimension());
    let promising = || region.dimension() > 1 || decays(context, region, samples, state, error);
    if may_raise(limit) && promising() {
        let (dynamics, outputs) = raised(limit);
        return Outcome::Raise {
            dynamics,
            outputs,
            error,
        };
    }
    if let Some(axis) = axis {
        return Outcome::Bisect { axis, error };
    }
    if may_raise(rules.max_degree) {
        let (dynamics, outputs) = raised(rules.max_degree);
        return Outcome::Raise {
            dynamics,
            outputs,
            error,
        };
    }
    Outcome::Accept(Box::new(context.finish(
        region,
        samples,
        trial,
        error <= 1.0,
    )))
}

/// Degrees that a step skipped may do as well; the samples are there.
fn lowest_degrees(
    context: &Context,
    state: &OpenBox,
    samples: &TrialSamples,
    mut trial: Trial,
) -> Trial {
    let skipped =
        |degree: Degree| degree.before.map_or(degree.now, |(before, _)| before + 1)..degree.now;
    let is_good = |trial: &Trial| {
        let ratios = context.rules.ratios(&trial.errors, context.scales);
        ratios.iter().all(|r| *r <= context.rules.target)
    };
    let mut dynamics = state.dynamics.now;
    for degree in skipped(state.dynamics).rev() {
        let lower = context.attempt(&state.region, samples, degree, state.outputs.now);
        if !is_good(&lower) {
            break;
        }
        (trial, dynamics) = (lower, degree);
    }
    for degree in skipped(state.outputs).rev() {
        let lower = context.attempt(&state.region, samples, dynamics, degree);
        if !is_good(&lower) {
            break;
        }
        trial = lower;
    }
    trial
}

impl Degree {
    /// The next degree for a table that is `ratio` times over its tolerance.
    fn raised(self, ratio: f64, target: f64, limit: usize) -> Self {
        if ratio <= target {
            return self;
        }
        let decay = self
            .before
            .map(|(degree, old)| (ratio / old).powf(1.0 / (self.now - degree).max(1) as f64));
        let step = match decay {
            Some(r) if r < SLOW_DECAY => {
                ((target / ratio).ln() / r.ln()).ceil().clamp(1.0, 3.0) as usize
            }
            _ => 1,
        };
        Self {
            now: (self.now + step).min(limit),
            before: Some((self.now, ratio)),
        }
    }
}

/// s = 1: errors fall with the degree fast enough to reach the target before the largest degree.
/// The decay comes from a fit two degrees lower, so that even and odd functions do not mislead.
fn decays(
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

/// `chebyshev`: the axis of the largest tail; otherwise of the largest error half-way [T 5.170].
fn bisection_axis(
    context: &Context,
    region: &Region,
    samples: &TrialSamples,
    trial: &Trial,
) -> Option<usize> {
    let rules = context.rules;
    if rules.is_adaptive_degree() {
        let tails = |table: &crate::reduced_model::Table, components| {
            let top = table
                .terms
                .iter()
                .map(|t| t.iter().map(|&d| u32::from(d)).sum::<u32>())
                .max()
                .unwrap_or(0);
            let mut tails = vec![0.0; region.dimension()];
            for (term, size) in table.terms.iter().zip(term_sizes(table, components)) {
                if term.iter().map(|&d| u32::from(d)).sum::<u32>() + 1 >= top {
                    term.iter()
                        .zip(&mut tails)
                        .for_each(|(d, tail)| *tail += f64::from(*d) * size);
                }
            }
            tails
        };
        let dynamics = tails(&trial.dynamics, &context.components.dynamics);
        let outputs = tails(&trial.outputs, &context.components.outputs);
        return rules.best_axis(region, |k| dynamics[k] + outputs[k]);
    }
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

fn gather<'s>(store: &'s SampleStore, plan: &Plan) -> TrialSamples<'s> {
    let all = |points: &[Vec<f64>]| -> Vec<&'s Sample> {
        points
            .iter()
            .filter_map(|p| store.get(p))
            .filter_map(|r| r.as_ref().ok())
            .collect()
    };
    TrialSamples {
        fit: all(&plan.fit),
        validation: all(&plan.validation),
    }
}

fn shortened(reason: &str) -> String {
    reason.chars().take(200).collect()
}
