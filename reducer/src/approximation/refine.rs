//! The adaptive loop: waves of samples, attempts at all open boxes, then accept, raise the
//! degree, bisect or drop [T, figure 5.14].

mod degrees;
mod wider;

use super::axis::bisection_axis;
use super::budget::Needed;
use super::database::DatabaseError;
use super::errors::{OF_OUTPUTS, summarize};
use super::history::{Round, worst_of_blocks};
use super::observer::{Observer, Progress};
use super::plan::{Gathered, Plan, plan};
use super::region::Region;
use super::rules::Rules;
use super::source::SampleFailure;
use super::store::SampleStore;
use super::tree::{BoxTree, NodeId};
use super::trial::{Context, Trial, TrialSamples};
use crate::description::mechanism::Basis;
use crate::reduced_model::{Block, BlockError, BoxModel, CutShort, DropReason};
use degrees::{Degree, decays, lowest_degrees};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use wider::Tried;

/// Degree of the first attempt.
const FIRST_DEGREE: usize = 2;

/// A box that is not finished.
#[derive(Clone)]
struct OpenBox {
    node: NodeId,
    region: Region,
    dynamics: Degree,
    outputs: Degree,
    round: u64,
    /// Accept only if it stores fewer numbers: an attempt at merging two boxes.
    merge_below: Option<usize>,
    /// Its parent was bisected in search of what can be reduced.
    is_searched: bool,
    /// The box that it is a half of, where that was tried.
    parent: Option<Arc<Tried>>,
}

/// What is to be done with a box, and the errors that say so; none where it could not be tried.
struct Decision {
    outcome: Outcome,
    errors: Vec<BlockError>,
    /// The block whose error is largest in units of its tolerance.
    lagging: Option<Block>,
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
    /// Bisect in search of what can be reduced, as long as there may be such boxes.
    Search {
        axis: usize,
        otherwise: DropReason,
    },
    Drop(DropReason),
    /// Two boxes that were tried as one stay two.
    KeepApart,
}

/// What one refinement leaves to the next: it starts where the last one arrived.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Number of refinements before.
    attempt: u64,
    /// Degrees of dynamics and outputs by box.
    degrees: BTreeMap<u64, (Degree, Degree)>,
    /// All rounds so far.
    pub history: Vec<Round>,
    /// Boxes of this refinement that were bisected in search of what can be reduced.
    searched: usize,
    /// What ended the refinement before it was done.
    pub cut_short: Option<CutShort>,
    /// Boxes that were there when it was given up for their number.
    pub given_up_at: Option<usize>,
}

/// Runs until every box is finished; nothing where that takes more numbers than allowed.
pub(super) fn refine(
    context: &Context,
    store: &mut SampleStore,
    memory: &mut Memory,
    observer: &dyn Observer,
) -> Result<Option<BoxTree>, DatabaseError> {
    memory.searched = 0;
    let (mut tree, root) = BoxTree::new();
    let domain = Region::of_domain(&context.layout.domain);
    let start = vec![memory.open(context.rules, root, domain)];
    if !run(context, store, memory, observer, &mut tree, start)? {
        return Ok(None);
    }
    if context.rules.continuous && matches!(context.rules.basis, Basis::Lagrange { .. }) {
        loop {
            let open = nest_faces(context, memory, &mut tree);
            if open.is_empty() {
                break;
            }
            if !run(context, store, memory, observer, &mut tree, open)? {
                return Ok(None);
            }
        }
    }
    if context.layout.n_rigid == 1 && context.rules.is_adaptive_degree() {
        let candidates = merge_candidates(context, memory, &tree);
        run(context, store, memory, observer, &mut tree, candidates)?;
    }
    memory.attempt += 1;
    Ok(Some(tree))
}

/// False where it was given up.
fn run(
    context: &Context,
    store: &mut SampleStore,
    memory: &mut Memory,
    observer: &dyn Observer,
    tree: &mut BoxTree,
    mut open: Vec<OpenBox>,
) -> Result<bool, DatabaseError> {
    let mut worst = Worst::default();
    // Boxes that the last wave left open, with its samples.
    let mut last: Vec<Arc<Tried>> = Vec::new();
    while !open.is_empty() {
        let degree = |b: &OpenBox| b.dynamics.now.max(b.outputs.now);
        let plans: Vec<Plan> = open
            .par_iter()
            .map(|b| plan(context, store, &b.region, degree(b), b.round))
            .collect();
        let wanted = || plans.iter().flat_map(|p| p.fit.iter().chain(&p.validation));
        let new_samples = store.n_new(wanted());
        observer.progress(&Progress {
            open_boxes: open.len(),
            finished_boxes: tree.n_leaves(),
            samples: store.len(),
            new_samples,
            worst_error_over_tolerance: worst.error,
            lagging: worst.block,
        });
        let cut_short = if last.is_empty() {
            store.require(wanted()).map(|()| None)?
        } else {
            match needed(context, store, tree, &open, new_samples).over(&context.rules.budgets) {
                Some(budget) => Some(budget),
                None => store.require_watched(wanted(), observer)?,
            }
        };
        if cut_short.is_some() {
            memory.cut_short = cut_short;
            conclude(context, store, tree, &last, &open);
            return Ok(true);
        }
        observer.fitting(open.len());
        let decisions: Vec<Decision> = open
            .par_iter()
            .zip(&plans)
            .map(|(b, p)| decide(context, store, b, p))
            .collect();
        context.counters.count_boxes(open.len());
        let round = (!open.iter().any(|b| b.merge_below.is_some()))
            .then(|| told(memory.attempt, store, &open, &decisions));
        let mut next = Vec::new();
        worst = Worst::default();
        last.clear();
        for ((state, plan), decision) in open.into_iter().zip(plans).zip(decisions) {
            let (before, n_open) = (state.clone(), next.len());
            let outcome = decision.outcome;
            let is_bisected = matches!(outcome, Outcome::Bisect { .. });
            let error = apply(context.rules, memory, tree, state, outcome, &mut next);
            worst.include(error, decision.lagging);
            if next.len() > n_open {
                let state = before;
                let tried = Arc::new(Tried { state, plan, error });
                if is_bisected {
                    tried.adopt(&mut next[n_open..]);
                }
                last.push(tried);
            }
        }
        memory.history.extend(round.map(|round| Round {
            finished: tree.n_leaves(),
            ..round
        }));
        open = next;
        let boxes = tree.n_leaves() + open.len();
        if boxes.saturating_mul(context.numbers_per_box()) > context.rules.most_numbers {
            memory.given_up_at = Some(boxes);
            return Ok(false);
        }
    }
    Ok(true)
}

/// The largest error over its tolerance of a wave.
#[derive(Default)]
struct Worst {
    error: f64,
    block: Option<Block>,
}

impl Worst {
    fn include(&mut self, error: f64, block: Option<Block>) {
        if error > self.error {
            *self = Self { error, block };
        }
    }
}

/// What the run will have taken after a wave.
fn needed(
    context: &Context,
    store: &SampleStore,
    tree: &BoxTree,
    open: &[OpenBox],
    new_samples: usize,
) -> Needed {
    let lists = context.components;
    let numbers = |b: &OpenBox| {
        context.terms(b.dynamics.now).len() * lists.dynamics.len()
            + context.terms(b.outputs.now).len() * lists.outputs.len()
    };
    Needed {
        numbers: tree.stored_numbers() + open.iter().map(numbers).sum::<usize>(),
        boxes: tree.n_ends(),
        samples: store.len() + new_samples,
    }
}

/// Ends with what the samples of the last wave make of the boxes that it left open. Of a box that was bisected in
/// search of what can be reduced, the halves were not looked at.
fn conclude(
    context: &Context,
    store: &SampleStore,
    tree: &mut BoxTree,
    last: &[Arc<Tried>],
    open: &[OpenBox],
) {
    for half in open.iter().filter(|b| b.is_searched) {
        tree.drop_region(half.node, DropReason::Unfinished);
    }
    wider::conclude(context, store, tree, last);
}

/// The round that tried these boxes, without the number of finished ones.
fn told(refinement: u64, store: &SampleStore, open: &[OpenBox], decisions: &[Decision]) -> Round {
    let largest = |of: fn(&OpenBox) -> Degree| open.iter().map(|b| of(b).now).max().unwrap_or(0);
    Round {
        refinement,
        tried: open.len(),
        finished: 0,
        samples: store.len(),
        degree: largest(|b| b.dynamics),
        outputs_degree: largest(|b| b.outputs),
        errors: worst_of_blocks(decisions.iter().map(|d| &d.errors)),
    }
}

fn apply(
    rules: &Rules,
    memory: &mut Memory,
    tree: &mut BoxTree,
    state: OpenBox,
    outcome: Outcome,
    next: &mut Vec<OpenBox>,
) -> f64 {
    if let Some(limit) = state.merge_below {
        if let Outcome::Accept(leaf) = outcome
            && leaf.reached
            && leaf.dynamics.stored() + leaf.outputs.stored() < limit
        {
            tree.close(state.node, *leaf);
        }
        return 0.0;
    }
    let degrees = (state.dynamics, state.outputs);
    memory.degrees.insert(state.region.key(), degrees);
    match outcome {
        Outcome::Accept(leaf) => {
            tree.close(state.node, *leaf);
            0.0
        }
        Outcome::Search { axis, otherwise } => {
            if memory.searched < rules.most_searches() {
                memory.searched += 1;
                let halves = memory.open_halves(rules, tree, state.node, &state.region, axis);
                next.extend(halves.map(|half| OpenBox {
                    is_searched: true,
                    ..half
                }));
            } else {
                tree.drop_region(state.node, otherwise);
            }
            0.0
        }
        Outcome::Drop(reason) => {
            tree.drop_region(state.node, reason);
            0.0
        }
        Outcome::KeepApart => 0.0,
        Outcome::Raise {
            dynamics,
            outputs,
            error,
        } => {
            next.push(OpenBox {
                dynamics,
                outputs,
                round: state.round + 1,
                is_searched: false,
                ..state
            });
            error
        }
        Outcome::Bisect { axis, error } => {
            next.extend(memory.open_halves(rules, tree, state.node, &state.region, axis));
            error
        }
    }
}

impl Memory {
    fn open(&self, rules: &Rules, node: NodeId, region: Region) -> OpenBox {
        let first = Degree {
            now: FIRST_DEGREE.min(rules.max_degree),
            before: None,
        };
        let (dynamics, outputs) = self
            .degrees
            .get(&region.key())
            .copied()
            .unwrap_or((first, first));
        OpenBox {
            node,
            region,
            dynamics,
            outputs,
            round: 1000 * self.attempt,
            merge_below: None,
            is_searched: false,
            parent: None,
        }
    }

    fn open_halves(
        &self,
        rules: &Rules,
        tree: &mut BoxTree,
        node: NodeId,
        region: &Region,
        axis: usize,
    ) -> [OpenBox; 2] {
        let (low, high) = tree.split(node, region, axis);
        let (low_region, high_region) = region.bisected(axis);
        [
            self.open(rules, low, low_region),
            self.open(rules, high, high_region),
        ]
    }
}

/// Bisects finished boxes whose face with a neighbour is nested in neither: traces there could
/// not be made equal. Ends, since no box becomes narrower than its neighbours are.
fn nest_faces(context: &Context, memory: &Memory, tree: &mut BoxTree) -> Vec<OpenBox> {
    let leaves = tree.leaves();
    let mut open = Vec::new();
    for (i, (node, region)) in leaves.iter().enumerate() {
        let axis = leaves[i + 1..]
            .iter()
            .find_map(|(_, other)| region.axis_to_nest(other));
        if let Some(axis) = axis {
            open.extend(memory.open_halves(context.rules, tree, *node, region, axis));
        }
    }
    open
}

/// Two finished neighbours as one box of the largest degree, once.
fn merge_candidates(context: &Context, memory: &Memory, tree: &BoxTree) -> Vec<OpenBox> {
    let numbers = |b: &BoxModel| b.dynamics.stored() + b.outputs.stored();
    tree.pairs()
        .into_iter()
        .map(|(node, low, high)| {
            let region = Region {
                lower: low.lower.clone(),
                upper: high.upper.clone(),
            };
            let degree = Degree {
                now: context.rules.max_degree,
                before: None,
            };
            OpenBox {
                merge_below: Some(numbers(low) + numbers(high)),
                dynamics: degree,
                outputs: degree,
                ..memory.open(context.rules, node, region)
            }
        })
        .collect()
}

/// What to do with a box once its samples are there.
fn decide(context: &Context, store: &SampleStore, state: &OpenBox, plan: &Plan) -> Decision {
    let region = &state.region;
    let gathered = match samples_of(context, store, state, plan) {
        Ok(gathered) => gathered,
        Err((divisible, reason)) => {
            let axis = context.rules.widest_axis(region).filter(|_| divisible);
            let outcome = match axis {
                Some(axis) => Outcome::Search {
                    axis,
                    otherwise: reason,
                },
                None => Outcome::Drop(reason),
            };
            return Decision {
                outcome,
                errors: Vec::new(),
                lagging: None,
            };
        }
    };
    let samples = gathered.samples();
    let trial = context.attempt(region, &samples, state.dynamics.now, state.outputs.now);
    Decision {
        errors: summarize(&trial.errors, context.scales),
        lagging: context.rules.lagging(&trial.errors, context.scales),
        outcome: judge(context, state, &samples, trial),
    }
}

/// The samples of a box; where they do not make a fit, why, and whether its halves may be better.
fn samples_of(
    context: &Context,
    store: &SampleStore,
    state: &OpenBox,
    plan: &Plan,
) -> Result<Gathered, (bool, DropReason)> {
    let region = &state.region;
    if region.is_outside(&context.layout.domain) {
        return Err((false, DropReason::Outside));
    }
    if let Some((theta, failure)) = store.failure_inside(region) {
        let is_partly_good = !store.inside(region, 1).is_empty();
        return Err((is_partly_good, failed(theta, failure)));
    }
    let gathered = Gathered::new(store, plan);
    let samples = gathered.samples();
    let degree = state.dynamics.now.max(state.outputs.now);
    let needed = context.terms(degree).len();
    if samples.fit.len() < needed || samples.validation.is_empty() {
        let reason = DropReason::Cut {
            samples: samples.fit.len(),
            needed,
            checks: samples.validation.len(),
        };
        return Err((true, reason));
    }
    Ok(gathered)
}

fn judge(context: &Context, state: &OpenBox, samples: &TrialSamples, trial: Trial) -> Outcome {
    let (rules, region) = (context.rules, &state.region);
    let ratios = rules.ratios(&trial.errors, context.scales);
    let outputs = OF_OUTPUTS.map(|b| ratios[b as usize]);
    let outputs = outputs.into_iter().fold(0.0, f64::max);
    let of_dynamics = Block::ALL.into_iter().filter(|b| !OF_OUTPUTS.contains(b));
    let dynamics = of_dynamics.map(|b| ratios[b as usize]).fold(0.0, f64::max);
    let error = dynamics.max(outputs);
    if error <= rules.target {
        let trial = lowest_degrees(context, state, samples, trial);
        let finished = context.finish(region, samples, trial, true);
        // Halves may be shown to be definite where the whole is not.
        let halved = rules.widest_axis(region);
        return match halved.filter(|_| rules.needs_proof() && finished.definite.is_none()) {
            Some(_) if state.merge_below.is_some() => Outcome::KeepApart,
            Some(axis) => Outcome::Bisect { axis, error },
            None => Outcome::Accept(Box::new(finished)),
        };
    }
    if state.merge_below.is_some() {
        return Outcome::KeepApart;
    }
    let axis = bisection_axis(context, region, samples, &trial);
    let raised = |limit: usize, outputs_limit: usize| {
        let next = |degree: Degree, ratio: f64, limit| degree.raised(ratio, rules.target, limit);
        (
            next(state.dynamics, dynamics, limit),
            next(state.outputs, outputs, outputs_limit),
        )
    };
    let may_raise = |limit: usize| {
        rules.is_adaptive_degree()
            && (dynamics <= rules.target || state.dynamics.now < limit)
            && (outputs <= rules.target || state.outputs.now < rules.max_degree)
    };
    let limit = rules.dynamics_degree;
    let promising = || region.dimension() > 1 || decays(context, region, samples, state, error);
    if may_raise(limit) && promising() {
        let (dynamics, outputs) = raised(limit, rules.max_degree);
        return Outcome::Raise {
            dynamics,
            outputs,
            error,
        };
    }
    let stretched = rules.stretched_degree(region.dimension());
    let in_reach = |degree: Degree, ratio: f64| {
        let predicted = degree.predicted(ratio, rules.target);
        ratio <= rules.target || predicted.is_some_and(|d| d <= stretched)
    };
    if stretched > limit && in_reach(state.dynamics, dynamics) && in_reach(state.outputs, outputs) {
        let (dynamics, outputs) = raised(stretched, stretched);
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
        let (dynamics, outputs) = raised(rules.max_degree, rules.max_degree);
        return Outcome::Raise {
            dynamics,
            outputs,
            error,
        };
    }
    Outcome::Accept(Box::new(as_it_is(context, region, samples, trial)))
}

/// The box as good as the trial is.
fn as_it_is(context: &Context, region: &Region, samples: &TrialSamples, trial: Trial) -> BoxModel {
    let trial = context.completed(region, samples, trial);
    let ratios = context.rules.ratios(&trial.errors, context.scales);
    let reached = ratios.iter().all(|r| *r <= 1.0);
    context.finish(region, samples, trial, reached)
}

/// Why a box with a failed sample, whose own θ is given, has no model.
fn failed(theta: Vec<f64>, failure: &SampleFailure) -> DropReason {
    let message = failure.reason().chars().take(200).collect();
    match failure {
        SampleFailure::Singular { .. } => DropReason::Singular { theta, message },
        SampleFailure::Inadmissible { .. } => DropReason::Inadmissible { theta, message },
    }
}
