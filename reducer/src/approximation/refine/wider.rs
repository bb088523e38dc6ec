//! Boxes that were bisected: what their polynomials are still good for.
//!
//! Halves begin again at a low degree. Where a refinement ends before they have grown beyond it, the wider box is
//! the better model.

use super::super::errors::{Part, PointErrors};
use super::super::plan::Plan;
use super::super::region::Region;
use super::super::store::SampleStore;
use super::super::tree::BoxTree;
use super::super::trial::{Context, Trial, TrialSamples};
use super::{OpenBox, as_it_is, samples_of};
use crate::reduced_model::{BoxModel, Table};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An attempt at a box that did not finish it.
pub(super) struct Tried {
    pub state: OpenBox,
    pub plan: Plan,
    /// Largest error over its tolerance.
    pub error: f64,
}

impl Tried {
    /// Makes this the parent of its halves.
    pub fn adopt(self: &Arc<Self>, halves: &mut [OpenBox]) {
        for half in halves {
            half.parent = Some(Arc::clone(self));
        }
    }

    /// Of this box and those it is a part of, the one with the smallest error.
    fn best(self: &Arc<Self>) -> &Arc<Self> {
        match self.state.parent.as_ref().map(Self::best) {
            Some(wider) if wider.error < self.error => wider,
            _ => self,
        }
    }
}

/// Finishes the boxes that a wave left open with what its samples make of them, or with polynomials of a wider box
/// where these are better.
pub(super) fn conclude(
    context: &Context,
    store: &SampleStore,
    tree: &mut BoxTree,
    last: &[Arc<Tried>],
) {
    let wider: BTreeMap<u64, &Arc<Tried>> = (last.iter())
        .filter_map(|tried| tried.state.parent.as_ref().map(Tried::best))
        .map(|tried| (tried.state.region.key(), tried))
        .collect();
    let fitted: BTreeMap<u64, Trial> = wider
        .par_iter()
        .filter_map(|(key, tried)| Some((*key, fit(context, store, tried)?)))
        .collect();
    let concluded: Vec<Option<Conclusion>> = last
        .par_iter()
        .map(|tried| {
            let parent = tried.state.parent.as_ref().map(Tried::best);
            let fits = parent.and_then(|p| Some((p, fitted.get(&p.state.region.key())?)));
            conclusion(context, store, tried, fits)
        })
        .collect();
    let mut numbers = tree.stored_numbers();
    let stored = |b: &BoxModel| b.dynamics.stored() + b.outputs.stored();
    let own = |c: &Conclusion| stored(&c.own);
    numbers += concluded.iter().flatten().map(own).sum::<usize>();
    let mut whole: BTreeMap<u64, usize> = BTreeMap::new();
    for (tried, conclusion) in last.iter().zip(concluded) {
        let Some(Conclusion { own, narrowed }) = conclusion else {
            continue;
        };
        let leaf = match narrowed {
            None => own,
            Some((key, narrowed)) => {
                *whole.entry(key).or_default() += 1;
                let more = (numbers + stored(&narrowed)).saturating_sub(stored(&own));
                if more <= context.rules.budgets.numbers {
                    numbers = more;
                    narrowed
                } else {
                    own
                }
            }
        };
        tree.close(tried.state.node, leaf);
    }
    // Where all parts of a wider box are its polynomials, it is one box.
    for (key, parts) in whole {
        let tried = wider[&key];
        if tree.n_ends_below(tried.state.node) == parts
            && let Ok(gathered) = samples_of(context, store, &tried.state, &tried.plan)
        {
            let (samples, region) = (gathered.samples(), &tried.state.region);
            let trial = fit_at(context, tried, &samples);
            let leaf = as_it_is(context, region, &samples, trial);
            tree.close(tried.state.node, leaf);
        }
    }
}

/// What a box may end with.
struct Conclusion {
    own: BoxModel,
    /// Polynomials of a wider box, by its key, where they are better.
    narrowed: Option<(u64, BoxModel)>,
}

fn conclusion(
    context: &Context,
    store: &SampleStore,
    tried: &Tried,
    wider: Option<(&Arc<Tried>, &Trial)>,
) -> Option<Conclusion> {
    let region = &tried.state.region;
    let gathered = samples_of(context, store, &tried.state, &tried.plan).ok()?;
    let samples = gathered.samples();
    let trial = context.completed(region, &samples, fit_at(context, tried, &samples));
    let narrowed = wider.and_then(|(wide, fit)| {
        let narrow = |table: &Table, list: usize| narrowed(table, list, &wide.state.region, region);
        let dynamics = narrow(&fit.dynamics, context.components.dynamics.len());
        let outputs = narrow(&fit.outputs, context.components.outputs.len());
        let tables = [&dynamics, &outputs];
        let errors = context.errors(region, tables, Part::All, &samples.validation);
        let worst = |errors: &[PointErrors]| {
            let ratios = context.rules.ratios(errors, context.scales);
            ratios.into_iter().fold(0.0, f64::max)
        };
        (worst(&errors) < worst(&trial.errors)).then(|| {
            let trial = Trial {
                dynamics,
                outputs,
                errors,
            };
            let leaf = as_it_is(context, region, &samples, trial);
            (wide.state.region.key(), leaf)
        })
    });
    Some(Conclusion {
        own: as_it_is(context, region, &samples, trial),
        narrowed,
    })
}

fn fit(context: &Context, store: &SampleStore, tried: &Tried) -> Option<Trial> {
    let gathered = samples_of(context, store, &tried.state, &tried.plan).ok()?;
    Some(fit_at(context, tried, &gathered.samples()))
}

fn fit_at(context: &Context, tried: &Tried, samples: &TrialSamples) -> Trial {
    let state = &tried.state;
    context.attempt(
        &state.region,
        samples,
        state.dynamics.now,
        state.outputs.now,
    )
}

/// The polynomials of a table of a box on a part of it: the same functions, in the part's own coordinates.
fn narrowed(table: &Table, n_components: usize, from: &Region, to: &Region) -> Table {
    let mut rows: BTreeMap<Vec<u8>, Vec<f64>> = (table.terms.iter().cloned())
        .zip(table.coefficients.chunks_exact(n_components.max(1)))
        .map(|(term, row)| (term, row.to_vec()))
        .collect();
    for k in 0..from.dimension() {
        let slope = to.width(k) / from.width(k);
        let offset = (to.lower[k] + to.upper[k] - from.lower[k] - from.upper[k]) / from.width(k);
        let most = rows.keys().map(|term| term[k]).max().unwrap_or(0);
        let expansions = expansions(slope, offset, usize::from(most));
        let mut changed: BTreeMap<Vec<u8>, Vec<f64>> = BTreeMap::new();
        for (term, row) in rows {
            for (degree, part) in expansions[usize::from(term[k])].iter().enumerate() {
                let mut place = term.clone();
                place[k] = degree as u8;
                let sum = changed.entry(place).or_insert_with(|| vec![0.0; row.len()]);
                for (s, c) in sum.iter_mut().zip(&row) {
                    *s += part * c;
                }
            }
        }
        rows = changed;
    }
    let mut rows: Vec<(Vec<u8>, Vec<f64>)> = rows.into_iter().collect();
    rows.sort_by_key(|(term, _)| term.iter().map(|&d| u32::from(d)).sum::<u32>());
    let (terms, rows): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    Table {
        terms,
        coefficients: rows.concat(),
    }
}

/// T_n(slope ξ + offset) in Chebyshev polynomials of ξ, for every n up to `most`, by T_{n+1}(y) = 2 y T_n(y) − T_{n−1}(y).
fn expansions(slope: f64, offset: f64, most: usize) -> Vec<Vec<f64>> {
    let mut all = vec![vec![1.0], vec![offset, slope]];
    for n in 1..most {
        let mut next = vec![0.0; n + 2];
        for (k, c) in all[n].iter().enumerate() {
            next[k] += 2.0 * offset * c;
            // ξ T_k is half of T_{k+1} + T_{|k−1|}.
            next[k + 1] += slope * c;
            next[k.abs_diff(1)] += slope * c;
        }
        for (k, c) in all[n - 1].iter().enumerate() {
            next[k] -= c;
        }
        all.push(next);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chebyshev(n: u8, x: f64) -> f64 {
        (f64::from(n) * x.acos()).cos()
    }

    fn value(table: &Table, region: &Region, theta: &[f64]) -> f64 {
        let xi = region.coordinates(theta);
        let of = |(term, c): (&Vec<u8>, &f64)| {
            let factors = term.iter().zip(&xi).map(|(n, x)| chebyshev(*n, *x));
            c * factors.product::<f64>()
        };
        table.terms.iter().zip(&table.coefficients).map(of).sum()
    }

    #[test]
    fn polynomials_stay_what_they_are_on_a_part_of_a_box() {
        let wide = Region {
            lower: vec![-1.0, 2.0],
            upper: vec![3.0, 5.0],
        };
        let part = Region {
            lower: vec![1.0, 2.0],
            upper: vec![2.0, 3.5],
        };
        let table = Table {
            terms: vec![vec![0, 0], vec![1, 0], vec![0, 3], vec![4, 1], vec![2, 5]],
            coefficients: vec![0.3, -1.0, 0.7, 0.2, -0.4],
        };
        let found = narrowed(&table, 1, &wide, &part);
        for theta in [[1.0, 2.0], [1.3, 3.1], [2.0, 3.5], [1.9, 2.2]] {
            let (a, b) = (value(&table, &wide, &theta), value(&found, &part, &theta));
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
        let graded = |t: &[Vec<u8>]| t.iter().map(|t| t[0] + t[1]).collect::<Vec<_>>();
        assert!(graded(&found.terms).is_sorted());
    }
}
