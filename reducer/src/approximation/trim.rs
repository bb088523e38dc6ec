//! Terms that a fitted table can do without.

use super::errors::N_BLOCKS;
use super::region::Region;
use super::sample::Sample;
use super::trial::{Context, TrialSamples, term_sizes};
use crate::reduced_model::{Component, Table};

/// Validation points, and fitted points, at which the search looks; the result is checked at all.
const SEARCHED: usize = 32;

/// A table of a box, from which terms are to be dropped.
pub(super) struct Trimming<'a> {
    pub context: &'a Context<'a>,
    pub region: &'a Region,
    pub samples: &'a TrialSamples<'a>,
    pub table: &'a Table,
    /// The box's other table.
    pub other: &'a Table,
    pub is_dynamics: bool,
}

impl Trimming<'_> {
    /// Drops as many of the smallest terms as leave every block's error within a tenth of its
    /// tolerance of what it was, and below the target if it was; then fits what is left again.
    pub fn table(&self) -> Table {
        let fast: Vec<&Sample> = self
            .samples
            .validation
            .iter()
            .take(SEARCHED)
            .chain(self.samples.fit.iter().take(SEARCHED))
            .copied()
            .collect();
        let before = self.ratios(self.table, &fast);
        let refit = self.context.options().interpolate_ends;
        let order = terms_by_size(self.table, self.components(), if refit { 2 } else { 1 });
        let (mut dropped, mut excess) = (0, order.len() + 1);
        while excess - dropped > 1 {
            let middle = (dropped + excess) / 2;
            if self.is_acceptable(&self.without(&order[..middle], refit), &fast, &before) {
                dropped = middle;
            } else {
                excess = middle;
            }
        }
        let before = self.ratios(self.table, &self.samples.validation);
        for refit in [true, false] {
            let smaller = self.without(&order[..dropped], refit);
            if self.is_acceptable(&smaller, &self.samples.validation, &before) {
                return smaller;
            }
            if self.context.options().interpolate_ends {
                break;
            }
        }
        self.table.clone()
    }

    fn components(&self) -> &[Component] {
        let lists = self.context.components;
        if self.is_dynamics {
            &lists.dynamics
        } else {
            &lists.outputs
        }
    }

    fn ratios(&self, candidate: &Table, at: &[&Sample]) -> [f64; N_BLOCKS] {
        let (dynamics, outputs) = if self.is_dynamics {
            (candidate, self.other)
        } else {
            (self.other, candidate)
        };
        let errors = self.context.errors(self.region, dynamics, outputs, at);
        self.context.rules.ratios(&errors, self.context.scales)
    }

    fn is_acceptable(&self, candidate: &Table, at: &[&Sample], before: &[f64; N_BLOCKS]) -> bool {
        let limit = |before: f64| (before + 0.1).min(self.context.rules.target.max(before + 1e-12));
        self.ratios(candidate, at)
            .iter()
            .zip(before)
            .all(|(after, before)| *after <= limit(*before))
    }

    fn without(&self, dropped: &[usize], refit: bool) -> Table {
        if refit {
            let terms = kept_terms(self.table, dropped);
            self.context
                .fit_table(self.region, self.samples, &terms, self.components())
        } else {
            kept_rows(self.table, dropped, self.components().len())
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
