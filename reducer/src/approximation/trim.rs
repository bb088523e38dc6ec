//! Terms that a fitted table can do without.

use super::errors::{N_BLOCKS, Part, PointErrors};
use super::region::Region;
use super::sample::Sample;
use super::trial::{Context, TrialSamples, term_sizes};
use crate::description::mechanism::Criterion;
use crate::reduced_model::{Component, Table};

/// Validation points, and fitted points, at which the search looks; the result is checked at all.
const SEARCHED: usize = 32;

/// Points of the search between two looks at the errors.
const LOOKED_AT_ONCE: usize = 8;

/// A table of a box, from which terms are to be dropped.
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

/// A table with fewer terms.
pub(super) struct Trimmed {
    pub table: Table,
    /// Errors of its part of the model at the validation points.
    pub errors: Vec<PointErrors>,
}

impl Trimming<'_> {
    /// Drops as many of the smallest terms as leave every block's error within a tenth of its
    /// tolerance of what it was, and below the target of trimmed tables if it was; then fits what is left again.
    /// Absent where nothing can be dropped.
    pub fn trimmed(&self) -> Option<Trimmed> {
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
        before.extend(self.errors_of(self.table(), &fast[n_known..], |_| true));
        let before = self.ratios(&before);
        let refit = self.context.options().interpolate_ends;
        let order = terms_by_size(self.table(), self.components(), if refit { 2 } else { 1 });
        let (mut dropped, mut excess) = (0, order.len() + 1);
        while excess - dropped > 1 {
            let middle = (dropped + excess) / 2;
            let smaller = self.without(&order[..middle], refit);
            // More points can only add to a largest error, so the first that are not acceptable decide.
            let is_mean = self.context.rules.criterion == Criterion::Mean;
            let go_on = |errors: &[PointErrors]| is_mean || self.is_acceptable(errors, &before);
            if self.is_acceptable(&self.errors_of(&smaller, &fast, go_on), &before) {
                dropped = middle;
            } else {
                excess = middle;
            }
        }
        if dropped == 0 {
            return None;
        }
        let before = self.ratios(self.errors);
        for refit in [true, false] {
            let table = self.without(&order[..dropped], refit);
            let errors = self.errors_of(&table, &self.samples.validation, |_| true);
            if self.is_acceptable(&errors, &before) {
                return Some(Trimmed { table, errors });
            }
            if self.context.options().interpolate_ends {
                break;
            }
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
        let target = self.context.rules.trimmed_target;
        let limit = |before: f64| (before + 0.1).min(target.max(before + 1e-12));
        self.ratios(errors)
            .iter()
            .zip(before)
            .all(|(after, before)| *after <= limit(*before))
    }

    fn without(&self, dropped: &[usize], refit: bool) -> Table {
        if refit {
            let terms = kept_terms(self.table(), dropped);
            self.context
                .fit_table(self.region, self.samples, &terms, self.components())
        } else {
            kept_rows(self.table(), dropped, self.components().len())
        }
    }
}

/// Indices of terms from the smallest on; the first `protected` terms are left out.
fn terms_by_size(table: &Table, components: &[Component], protected: usize) -> Vec<usize> {
    let sizes = term_sizes(table, components);
    let mut order: Vec<usize> = (protected.min(sizes.len())..sizes.len()).collect();
    order.sort_by(|&a, &b| sizes[a].total_cmp(&sizes[b]).then(b.cmp(&a)));
    order
}

fn kept_terms(table: &Table, dropped: &[usize]) -> Vec<Vec<u8>> {
    (0..table.terms.len())
        .filter(|m| !dropped.contains(m))
        .map(|m| table.terms[m].clone())
        .collect()
}

fn kept_rows(table: &Table, dropped: &[usize], n_components: usize) -> Table {
    let rows = table
        .coefficients
        .chunks_exact(n_components.max(1))
        .enumerate();
    Table {
        terms: kept_terms(table, dropped),
        coefficients: rows
            .filter(|(m, _)| !dropped.contains(m))
            .flat_map(|(_, row)| row.iter().copied())
            .collect(),
    }
}
