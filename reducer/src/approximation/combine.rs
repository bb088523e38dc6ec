//! Functions that are the same combination of others over the whole domain [M 9.9].
//!
//! Slopes of the mass factor are many and smooth, and few functions of θ span them all. Where it stores less, most of
//! them are therefore constant combinations of a few columns that stay in the tables of the boxes: their factors are
//! stored once. Which columns stay, and who takes which of them, follows from the samples of the run, weighed by the errors
//! that each function causes; the result is measured box by box and at fresh points like any other model.

mod coding;

use super::audit::audit;
use super::continuity::{assess, join_boxes};
use super::database::DatabaseError;
use super::peaks;
use super::region::Region;
use super::sample::Sample;
use super::store::SampleStore;
use super::trial::Context;
use crate::description::mechanism::Objective;
use crate::reduced_model::{
    BoxModel, Combination, Component, ComponentLists, PolynomialValues, ReducedModel, Table,
};
use coding::{Coding, Functions, skeleton};
use kernel::Group;

/// Part of the numbers, at most, for which combinations are worth what they take in every evaluation.
const WORTH: f64 = 0.5;
/// Part of a tolerance that combinations may cost at first,
const FIRST: f64 = 0.6;
/// what boxes may use of their tolerances then,
const MOST: f64 = 0.85;
/// and what is as good as that.
const ENOUGH: f64 = 0.72;
/// How often another part is tried.
const ATTEMPTS: u64 = 5;
/// Part of the error of combinations that functions beyond the span of those that stay may cause.
const BEYOND: f64 = 0.3;
/// How many times as many functions may stay as the span takes: with more to choose from, combinations are shorter.
const SPARE: [usize; 3] = [0, 1, 3];
/// Samples that are looked at, at most.
const SAMPLES: usize = 1500;
/// Seed of the fresh points, beyond those of audits.
const FRESH: u64 = 0x1000;

/// The smallest model with combinations that keeps the tolerances; nothing where it is not worth it.
pub(super) fn combine(
    context: &Context,
    store: &mut SampleStore,
    model: &ReducedModel,
) -> Result<Option<ReducedModel>, DatabaseError> {
    if !context.rules.is_adaptive_degree()
        || context.rules.thesis
        || context.rules.objective != Objective::Size
        || context.sensitivities.is_empty()
    {
        return Ok(None);
    }
    let Some(plain) = Plain::new(context, store, model) else {
        return Ok(None);
    };
    let codings: Vec<Coded> = SPARE.into_iter().map(|spare| plain.coded(spare)).collect();
    let (mut best, mut part): (Option<ReducedModel>, f64) = (None, FIRST);
    for attempt in 0..ATTEMPTS {
        let lists = codings.iter().filter_map(|c| plain.lists(c, part));
        let Some((numbers, lists)) = lists.min_by_key(|(numbers, _)| *numbers) else {
            break;
        };
        let most = best.as_ref().map_or(
            (WORTH * model.stored_numbers() as f64) as usize,
            ReducedModel::stored_numbers,
        );
        if numbers >= most {
            break;
        }
        let context = Context {
            components: &lists,
            ..*context
        };
        let (candidate, used) = plain.rebuilt(&context, store);
        let is_good = used <= MOST && keeps(&context, store, &candidate, attempt)?;
        if is_good {
            best = Some(candidate);
        }
        if is_good && used >= ENOUGH {
            break;
        }
        let aim = 0.5 * (MOST + ENOUGH);
        part *= match is_good {
            true => (aim / used.max(0.1)).min(1.5),
            false if used > MOST => (aim / used).clamp(0.3, 0.95),
            false => 0.7,
        };
        if best.is_some() && !is_good {
            break;
        }
    }
    Ok(best)
}

/// Proofs, and tolerances at fresh points and where a search finds the largest errors.
fn keeps(
    context: &Context,
    store: &mut SampleStore,
    model: &ReducedModel,
    attempt: u64,
) -> Result<bool, DatabaseError> {
    let audit = audit(context, store, model, FRESH + attempt)?;
    if audit.excess > 1.0 {
        return Ok(false);
    }
    match context.rules.largest {
        Some(factor) => {
            let found = peaks::search(context, store, model, &audit.points, factor)?;
            Ok(found.excess <= 1.0)
        }
        None => Ok(true),
    }
}

/// A model without combinations, and what its functions are at the samples of the run.
struct Plain<'a> {
    model: &'a ReducedModel,
    /// Numbers that every column takes in all boxes.
    stored: Vec<usize>,
    /// Columns that may be combinations.
    targets: Vec<usize>,
    /// Columns that stay anyway and of which others may be combinations.
    others: Vec<usize>,
    /// Exact values of the targets, and fitted ones of all columns; units make sums of squares of a target errors over
    /// tolerance.
    exact: Functions,
    fitted: Functions,
    /// What an error of one is in units of each target.
    units: Vec<f64>,
    /// Of every box the largest part of a tolerance that it uses.
    used: Vec<f64>,
}

/// How targets that do not stay take up what stays.
struct Coded {
    /// Places of the rest in the list of targets.
    rest: Vec<usize>,
    /// Columns of which the rest are combinations.
    atoms: Vec<usize>,
    coding: Coding,
}

impl<'a> Plain<'a> {
    /// Nothing where too few functions can be combinations for it to be worth anything.
    fn new(context: &Context, store: &SampleStore, model: &'a ReducedModel) -> Option<Self> {
        let columns = &model.components.dynamics;
        let targets: Vec<usize> = (0..columns.len())
            .filter(|&c| may_be_combined(columns[c]))
            .collect();
        let others = (0..columns.len())
            .filter(|&c| !may_be_combined(columns[c]) && !columns[c].facts().is_energy)
            .collect();
        let stored = stored_by_column(&model.boxes, columns.len());
        let numbers: usize = targets.iter().map(|&t| stored[t]).sum();
        let total = model.stored_numbers();
        // A combination takes at least one number.
        let least = total - numbers + targets.len();
        if targets.is_empty() || least as f64 >= WORTH * total as f64 {
            return None;
        }
        let rows = rows(store, model);
        let inverse = |s: &Sample| 1.0 / s.gyroscopic_size.max(f64::MIN_POSITIVE);
        // Errors are relative to what is small in some places; sensitivities are means over all.
        let mean: f64 = rows
            .iter()
            .map(|r| (r.weight * inverse(&r.sample)).powi(2))
            .sum();
        let weights: Vec<f64> = (rows.iter())
            .map(|r| r.weight * (inverse(&r.sample) / mean.sqrt()).clamp(0.1, 10.0))
            .collect();
        let exact: Functions = targets
            .iter()
            .map(|&t| {
                let unit = context.sensitivities.of_value(t);
                let row = |(r, w): (&Row, &f64)| unit * w * r.sample.value(columns[t]);
                rows.iter().zip(&weights).map(row).collect()
            })
            .collect();
        let mut fitted = vec![Vec::with_capacity(rows.len()); columns.len()];
        let mut at = PolynomialValues::new(context.functions, false);
        for (row, weight) in rows.iter().zip(&weights) {
            let values = values(
                &model.boxes[row.index],
                row.sample.theta(),
                &mut at,
                columns.len(),
            );
            for (function, value) in fitted.iter_mut().zip(values) {
                function.push(weight * value);
            }
        }
        let used = model
            .boxes
            .iter()
            .map(|b| assess(context, store, &mut b.clone()));
        Some(Self {
            model,
            stored,
            units: targets
                .iter()
                .map(|&t| context.sensitivities.of_value(t))
                .collect(),
            used: used.collect(),
            targets,
            others,
            exact,
            fitted,
        })
    }

    /// Codes the targets by a skeleton of them and by all other columns.
    fn coded(&self, spare: usize) -> Coded {
        let square = (BEYOND * FIRST).powi(2);
        let kept = skeleton(&self.exact, square, spare);
        let rest: Vec<usize> = (0..self.targets.len())
            .filter(|t| kept.binary_search(t).is_err())
            .collect();
        let of_kept = kept.iter().map(|&k| self.targets[k]);
        let atoms: Vec<usize> = of_kept.chain(self.others.iter().copied()).collect();
        let exact: Functions = rest.iter().map(|&r| self.exact[r].clone()).collect();
        let fitted: Functions = atoms.iter().map(|&a| self.fitted[a].clone()).collect();
        Coded {
            coding: Coding::new(&exact, &fitted, (0.02 * FIRST).powi(2)),
            rest,
            atoms,
        }
    }

    /// Components of a model in which combinations cost a part of the tolerance, and how many numbers it stores; nothing
    /// where that cannot be.
    fn lists(&self, coded: &Coded, part: f64) -> Option<(usize, ComponentLists)> {
        let counts = coded.coding.within(part * part)?;
        let columns = &self.model.components.dynamics;
        let is_rest = |c: usize| coded.rest.iter().any(|&r| self.targets[r] == c);
        let stays: Vec<usize> = (0..columns.len()).filter(|&c| !is_rest(c)).collect();
        let mut place = vec![0; columns.len()];
        for (at, &column) in stays.iter().enumerate() {
            place[column] = at as u32;
        }
        // What takes no other function is zero.
        let combined = (coded.rest.iter().zip(&counts).enumerate())
            .filter(|(_, (_, count))| **count > 0)
            .map(|(i, (&target, &count))| {
                let factors = coded.coding.factors(i, count);
                let mut terms: Vec<(u32, f64)> = (factors.into_iter())
                    .map(|(atom, x)| (place[coded.atoms[atom]], x / self.units[target]))
                    .collect();
                terms.sort_by_key(|(column, _)| *column);
                let (of, by) = terms.into_iter().unzip();
                Combination {
                    component: columns[self.targets[target]],
                    of,
                    by,
                }
            });
        let lists = ComponentLists {
            dynamics: stays.iter().map(|&c| columns[c]).collect(),
            combined: combined.collect(),
            ..self.model.components.clone()
        };
        let of_boxes: usize = stays.iter().map(|&c| self.stored[c]).sum();
        Some((of_boxes + lists.combining_numbers(), lists))
    }

    /// The model with the components of a context, and the largest part of a tolerance that a box uses which used less
    /// before.
    fn rebuilt(&self, context: &Context, store: &SampleStore) -> (ReducedModel, f64) {
        let before = &self.model.components.dynamics;
        let kept: Vec<usize> = (0..before.len())
            .filter(|&c| context.components.dynamics.contains(&before[c]))
            .collect();
        let mut largest = 0.0_f64;
        let rebuild = |(b, used): (&BoxModel, &f64)| {
            let mut b = BoxModel {
                dynamics: columns_of(&b.dynamics, before.len(), &kept),
                ..b.clone()
            };
            let was_definite = b.definite.is_some();
            let now = assess(context, store, &mut b);
            if now > *used {
                largest = largest.max(now);
            }
            if was_definite && b.definite.is_none() {
                largest = f64::INFINITY;
            }
            b
        };
        let mut boxes: Vec<BoxModel> = self
            .model
            .boxes
            .iter()
            .zip(&self.used)
            .map(rebuild)
            .collect();
        let tree = self.model.tree.clone();
        let continuity = join_boxes(context, store, &tree, &mut boxes);
        let mut model = context.draft(self.model.layout.clone(), tree, boxes, continuity);
        model.provenance.cut_short = self.model.provenance.cut_short;
        (model, largest)
    }
}

/// Forces at small deflections need the values of these functions, not their derivatives, and proofs of definiteness
/// need neither.
fn may_be_combined(component: Component) -> bool {
    matches!(
        component.place().0,
        Group::MassSlope | Group::Gyroscopic | Group::MassCurvature
    )
}

/// A sample and its box.
struct Row {
    sample: std::sync::Arc<Sample>,
    index: usize,
    /// Such that every box counts alike; squares add up to one.
    weight: f64,
}

fn rows(store: &SampleStore, model: &ReducedModel) -> Vec<Row> {
    let regions: Vec<Region> = model.boxes.iter().map(Region::of_box).collect();
    let step = store.len().div_ceil(SAMPLES).max(1);
    let mut rows: Vec<Row> = (store.samples().step_by(step))
        .filter_map(|sample| {
            let index = regions.iter().position(|r| r.contains(sample.theta()))?;
            Some(Row {
                sample,
                index,
                weight: 0.0,
            })
        })
        .collect();
    let mut counts = vec![0_usize; regions.len()];
    rows.iter().for_each(|r| counts[r.index] += 1);
    let boxes = counts.iter().filter(|c| **c > 0).count();
    for row in &mut rows {
        row.weight = 1.0 / ((boxes * counts[row.index]) as f64).sqrt();
    }
    rows
}

/// Values of all columns of a box.
fn values(b: &BoxModel, theta: &[f64], at: &mut PolynomialValues, n: usize) -> Vec<f64> {
    let degrees: Vec<u8> = b.dynamics.terms.iter().flatten().copied().collect();
    at.fill_values(&degrees, theta, &b.lower, &b.upper);
    let mut values = vec![0.0; n];
    let rows = b.dynamics.coefficients.chunks_exact(n.max(1));
    for (term, row) in at.terms().iter().zip(rows) {
        values.iter_mut().zip(row).for_each(|(v, c)| *v += term * c);
    }
    values
}

/// Coefficients that are not zero, by column.
fn stored_by_column(boxes: &[BoxModel], n: usize) -> Vec<usize> {
    let mut counts = vec![0; n];
    for row in boxes
        .iter()
        .flat_map(|b| b.dynamics.coefficients.chunks_exact(n.max(1)))
    {
        for (count, c) in counts.iter_mut().zip(row) {
            *count += usize::from(*c != 0.0);
        }
    }
    counts
}

/// Some columns of a table.
fn columns_of(table: &Table, n: usize, kept: &[usize]) -> Table {
    let rows = table.coefficients.chunks_exact(n.max(1));
    Table {
        terms: table.terms.clone(),
        coefficients: rows.flat_map(|row| kept.iter().map(|&c| row[c])).collect(),
    }
    .without_zero_terms(kept.len())
}
