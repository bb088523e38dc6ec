//! Coefficients that a fitted table can do without.

use super::errors::{N_BLOCKS, Part, PointErrors};
use super::region::Region;
use super::sample::Sample;
use super::trial::{Context, TrialSamples, kind_scales};
use crate::description::mechanism::Criterion;
use crate::reduced_model::{Component, PolynomialValues, Table};

/// Validation points, and fitted points, at which the search looks; the result is checked at all.
const SEARCHED: usize = 32;

/// Points of the search between two looks at the errors.
const LOOKED_AT_ONCE: usize = 8;

/// A table of a box, from which coefficients are to be dropped.
pub(super) struct Trimming<'a> {
    pub context: &'a Context<'a>,
    pub region: &'a Region,
    pub samples: &'a TrialSamples<'a>,
    pub dynamics: &'a Table,
    pub outputs: &'a Table,
    /// At the validation points, as the tables are.
    pub errors: &'a [PointErrors],
    /// The part whose table is trimmed.
    pub part: Part,
}

/// A table with fewer coefficients.
pub(super) struct Trimmed {
    pub table: Table,
    /// Errors of its part of the model at the validation points.
    pub errors: Vec<PointErrors>,
}

impl Trimming<'_> {
    /// Drops as many coefficients, those that matter least first, as leave every block's error within a
    /// part of its tolerance of what it was, and below the target of trimmed tables if it was. Absent where
    /// nothing can be dropped.
    pub fn trimmed(&self) -> Option<Trimmed> {
        let table = self.table();
        let fast: Vec<&Sample> = self
            .samples
            .validation
            .iter()
            .take(SEARCHED)
            .chain(self.samples.fit.iter().take(SEARCHED))
            .copied()
            .collect();
        let n_known = self.samples.validation.len().min(SEARCHED);
        let mut before = self.errors[..n_known].to_vec();
        before.extend(self.errors_of(table, &fast[n_known..], |_| true));
        let before = self.ratios(&before);
        let order = self.by_weight(table);
        let (mut dropped, mut excess) = (0, order.len() + 1);
        while excess - dropped > 1 + order.len() / 2048 {
            let middle = (dropped + excess) / 2;
            let smaller = self.without(table, &order[..middle]);
            // More points can only add to a largest error, so the first that are not acceptable decide.
            let is_mean = self.context.rules.criterion == Criterion::Mean;
            let go_on = |errors: &[PointErrors]| is_mean || self.is_acceptable(errors, &before);
            if self.is_acceptable(&self.errors_of(&smaller, &fast, go_on), &before) {
                dropped = middle;
            } else {
                excess = middle;
            }
        }
        let before = self.ratios(self.errors);
        while dropped > 0 {
            let table = self.without(table, &order[..dropped]);
            let errors = self.errors_of(&table, &self.samples.validation, |_| true);
            if self.is_acceptable(&errors, &before) {
                return Some(Trimmed { table, errors });
            }
            // Put back a little of what is kept, not of what is dropped, which is far more.
            let kept = order.len() - dropped;
            dropped = dropped.saturating_sub(1 + kept / 32);
        }
        None
    }

    fn table(&self) -> &Table {
        match self.part {
            Part::Outputs => self.outputs,
            Part::Dynamics | Part::All => self.dynamics,
        }
    }

    fn components(&self) -> &[Component] {
        let lists = self.context.components;
        match self.part {
            Part::Outputs => &lists.outputs,
            Part::Dynamics | Part::All => &lists.dynamics,
        }
    }

    fn errors_of(
        &self,
        candidate: &Table,
        at: &[&Sample],
        go_on: impl Fn(&[PointErrors]) -> bool,
    ) -> Vec<PointErrors> {
        let tables = match self.part {
            Part::Outputs => [self.dynamics, candidate],
            Part::Dynamics | Part::All => [candidate, self.outputs],
        };
        self.context
            .errors_while(self.region, tables, self.part, at, LOOKED_AT_ONCE, go_on)
    }

    fn ratios(&self, errors: &[PointErrors]) -> [f64; N_BLOCKS] {
        self.context.rules.ratios(errors, self.context.scales)
    }

    fn is_acceptable(&self, errors: &[PointErrors], before: &[f64; N_BLOCKS]) -> bool {
        let target = self.context.rules.trimmed_target(self.part);
        let loss = self.context.rules.trimming;
        let limit = |before: f64| (before + loss).min(target.max(before + 1e-12));
        self.ratios(errors)
            .iter()
            .zip(before)
            .all(|(after, before)| *after <= limit(*before))
    }

    /// Places of the coefficients, those first whose loss adds least to the errors.
    fn by_weight(&self, table: &Table) -> Vec<usize> {
        let n = self.components().len().max(1);
        let at = PolynomialValues::new(self.context.functions, self.part == Part::Outputs);
        let terms = TermSizes::new(table, self.region, &self.samples.fit, at);
        let scales = kind_scales(table, self.components());
        let weight = |place: usize| {
            let (m, j, c) = (place / n, place % n, table.coefficients[place].abs());
            match self.part {
                Part::Outputs => c / scales[j] * terms.degree(m),
                Part::Dynamics | Part::All => {
                    let slopes = terms.slopes(m).map(|d| c * d);
                    self.context
                        .sensitivities
                        .error(j, c * terms.values[m], slopes)
                }
            }
        };
        // Where boxes meet, the first two terms carry the values at the ends.
        let kept = if self.context.options().interpolate_ends {
            2
        } else {
            0
        };
        let mut order: Vec<(f64, usize)> = (kept * n..table.coefficients.len())
            .filter(|&place| table.coefficients[place] != 0.0)
            .map(|place| (weight(place), place))
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        order.into_iter().map(|(_, place)| place).collect()
    }

    /// The table without some coefficients, and without terms that lose all.
    fn without(&self, table: &Table, dropped: &[usize]) -> Table {
        let n = self.components().len().max(1);
        let mut table = table.clone();
        let at_ends = self.context.options().interpolate_ends;
        for &place in dropped {
            let c = std::mem::take(&mut table.coefficients[place]);
            if at_ends {
                // T_k is T_0 or T_1 at both ends of the box, whose values stay.
                let parity = usize::from(table.terms[place / n][0] % 2);
                table.coefficients[parity * n + place % n] += c;
            }
        }
        table.without_zero_terms(n)
    }
}

/// Root mean squares of terms and of their derivatives by θ over the samples of a box.
struct TermSizes<'a> {
    terms: &'a [Vec<u8>],
    values: Vec<f64>,
    /// Of one θ after the other.
    slopes: Vec<f64>,
}

impl<'a> TermSizes<'a> {
    fn new(
        table: &'a Table,
        region: &Region,
        samples: &[&Sample],
        mut at: PolynomialValues,
    ) -> Self {
        let (count, s) = (table.terms.len(), region.dimension());
        let degrees: Vec<u8> = table.terms.iter().flatten().copied().collect();
        let (mut values, mut slopes) = (vec![0.0; count], vec![0.0; count * s]);
        for sample in samples {
            at.fill(&degrees, sample.theta(), &region.lower, &region.upper);
            let add = |sums: &mut [f64], found: &[f64]| {
                let pairs = sums.iter_mut().zip(found);
                pairs.for_each(|(sum, v)| *sum += v * v);
            };
            add(&mut values, at.terms());
            for (k, sums) in slopes.chunks_exact_mut(count.max(1)).enumerate() {
                add(sums, at.gradient(k));
            }
        }
        let inverse = 1.0 / samples.len().max(1) as f64;
        let root = |sums: Vec<f64>| sums.into_iter().map(|v| (v * inverse).sqrt()).collect();
        Self {
            terms: &table.terms,
            values: root(values),
            slopes: root(slopes),
        }
    }

    fn slopes(&self, term: usize) -> impl Iterator<Item = f64> {
        self.slopes
            .iter()
            .copied()
            .skip(term)
            .step_by(self.terms.len().max(1))
    }

    /// Total degree, at least 1.
    fn degree(&self, term: usize) -> f64 {
        let total: f64 = self.terms[term].iter().map(|&d| f64::from(d)).sum();
        total.max(1.0)
    }
}
