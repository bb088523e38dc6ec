//! Tables in the order in which they are evaluated.

use super::common::Common;
use super::powers::in_powers;
use super::runs::{Run, n_rows, rows_of, runs_of, shape_degree};
use super::terms::TermList;
use crate::reduced_model::{Component, Constant, Table};
use kernel::{Entry, Group};
use std::collections::BTreeMap;

/// Columns whose values fit into the registers of common processors.
const VALUE_LANES: usize = 28;

/// A table with its coefficients in the order of its runs or terms; fields as in [`kernel::Table`].
#[derive(Debug, Clone, Default)]
pub struct PlanTable {
    /// Stored columns, a multiple of the lanes.
    pub columns: usize,
    /// Columns that are summed side by side.
    pub lanes: usize,
    /// Gradients are needed, not values alone.
    pub gradients: bool,
    /// Coefficients are those of powers, in falling order.
    pub powers: bool,
    /// Terms of a box, at most.
    pub n_terms: usize,
    /// Of every box: where its coefficients start, and its shape or list of terms.
    pub places: Vec<[u32; 2]>,
    /// Runs of boxes that differ in them: first, end, rows, largest degree.
    pub shapes: Vec<[u32; 4]>,
    /// Of every run: count, folds, degrees of the other coordinates.
    pub runs: Vec<u8>,
    /// Terms of boxes that differ in them: largest degree, first and end of their products.
    pub lists: Vec<[u32; 3]>,
    /// Products of two terms.
    pub products: Vec<[u32; 2]>,
    /// Values alone: boxes in front that have the first list of terms, where that is short.
    pub common: Option<Common>,
    /// Coefficients of all boxes.
    pub coefficients: Vec<f64>,
    /// The same everywhere.
    pub constants: Vec<f64>,
}

/// What a table is made from.
pub(super) struct Build<'a> {
    /// Meaning of the stored columns.
    pub stored: &'a [Component],
    /// Which of them are needed.
    pub used: &'a dyn Fn(&Component) -> bool,
    pub constants: &'a [Constant],
    pub n_rigid: usize,
    pub gradients: bool,
    /// Powers may be taken.
    pub powers: bool,
}

impl Build<'_> {
    /// The table of all boxes; its values are added to `entries`.
    pub fn table(&self, tables: &[&Table], entries: &mut [Vec<Entry>; Group::COUNT]) -> PlanTable {
        let kept = self.kept();
        let lanes = lanes(kept.len(), self.gradients);
        let columns = kept.len().next_multiple_of(lanes).max(lanes);
        let stored = kept.iter().map(|&c| self.stored[c]).zip(0..);
        let constants = self.constants.iter().map(|c| c.component).zip(columns..);
        for (component, value) in stored.chain(constants) {
            let (group, [i, j, k, l]) = component.place();
            entries[group as usize].push(Entry {
                value: value as u32,
                i: i as u8,
                j: j as u8,
                k: k as u8,
                l: l as u8,
            });
        }
        let mut out = PlanTable {
            columns,
            lanes,
            gradients: self.gradients,
            constants: self.constants.iter().map(|c| c.value).collect(),
            ..PlanTable::default()
        };
        let empty = Table {
            terms: Vec::new(),
            coefficients: Vec::new(),
        };
        let none = [&empty];
        let tables = if tables.is_empty() { &none } else { tables };
        let powers = (self.gradients && self.powers)
            .then(|| in_powers(tables, self.stored.len(), self.n_rigid))
            .flatten();
        match &powers {
            Some(powers) => {
                out.powers = true;
                self.fill(&mut out, &powers.iter().collect::<Vec<_>>(), &kept);
            }
            None => self.fill(&mut out, tables, &kept),
        }
        out
    }

    /// Columns that are needed, in the order of the table.
    fn kept(&self) -> Vec<usize> {
        let used = |c: &usize| (self.used)(&self.stored[*c]);
        let mut kept: Vec<usize> = (0..self.stored.len()).filter(used).collect();
        if !self.gradients {
            // Values that the same factor multiplies in the equations stand together, in the order of rows.
            kept.sort_by_key(|&c| {
                let (group, [i, j, k, _]) = self.stored[c].place();
                (group, [j, k, i])
            });
        }
        kept
    }

    fn fill(&self, out: &mut PlanTable, tables: &[&Table], kept: &[usize]) {
        let s = self.n_rigid;
        let (mut shapes, mut lists) = (Vec::new(), Vec::new());
        let (mut known_shapes, mut known_lists) = (BTreeMap::new(), BTreeMap::new());
        for table in tables {
            let (rows, order) = if self.gradients {
                let runs = runs_of(&table.terms, s, out.powers);
                let rows = rows_of(&runs, out.powers);
                (rows, place(runs, &mut known_shapes, &mut shapes))
            } else {
                let list = TermList::new(&table.terms, s);
                let rows = list.rows.clone();
                (rows, place(list, &mut known_lists, &mut lists))
            };
            out.n_terms = out.n_terms.max(rows.len());
            let start = out.coefficients.len();
            out.places.push([start as u32, order as u32]);
            self.add_box(out, &rows, table, kept);
        }
        out.common = Common::new(&lists, &out.places);
        for runs in &shapes {
            out.add_shape(runs);
        }
        for list in &lists {
            let first = out.products.len();
            out.products
                .extend(list.products.iter().map(|&(a, b)| [a as u32, b as u32]));
            let numbers = [list.degree, first, out.products.len()];
            out.lists.push(numbers.map(|v| v as u32));
        }
    }

    /// Appends the coefficients of a box in the order of its rows.
    fn add_box(&self, out: &mut PlanTable, rows: &[Vec<u8>], table: &Table, kept: &[usize]) {
        let terms: BTreeMap<&[u8], usize> = table
            .terms
            .iter()
            .enumerate()
            .map(|(m, t)| (t.as_slice(), m))
            .collect();
        let width = if self.gradients {
            out.lanes
        } else {
            out.columns
        };
        for first in (0..out.columns).step_by(width) {
            for row in rows {
                let stored = terms.get(row.as_slice());
                let value = |column: usize| match (stored, kept.get(column)) {
                    (Some(m), Some(c)) => table.coefficients[m * self.stored.len() + c],
                    _ => 0.0,
                };
                out.coefficients.extend((first..first + width).map(value));
            }
        }
    }
}

impl PlanTable {
    /// Columns and constants.
    pub fn values(&self) -> usize {
        self.columns + self.constants.len()
    }

    /// The table as the kernel wants it.
    pub(super) fn view(&self) -> kernel::Table<'_, f64> {
        kernel::Table {
            columns: self.columns,
            values: self.values(),
            lanes: self.lanes,
            gradients: self.gradients,
            powers: self.powers,
            n_terms: self.n_terms,
            places: &self.places,
            shapes: &self.shapes,
            runs: &self.runs,
            lists: &self.lists,
            products: &self.products,
            coefficients: &self.coefficients,
            constants: &self.constants,
        }
    }

    fn add_shape(&mut self, runs: &[Run]) {
        let stride = runs[0].degrees.len() + 2;
        let first = self.runs.len() / stride;
        for run in runs {
            self.runs.extend([run.count as u8, run.folds as u8]);
            self.runs.extend(&run.degrees);
        }
        let numbers = [first, first + runs.len(), n_rows(runs), shape_degree(runs)];
        self.shapes.push(numbers.map(|v| v as u32));
    }
}

/// The place of an order of rows in a list; equal ones are stored once.
fn place<T: Ord + Clone>(order: T, known: &mut BTreeMap<T, usize>, list: &mut Vec<T>) -> usize {
    let next = list.len();
    let found = *known.entry(order.clone()).or_insert(next);
    if found == next {
        list.push(order);
    }
    found
}

/// Columns side by side: sums of values alone need one register each, gradients several.
fn lanes(columns: usize, gradients: bool) -> usize {
    match columns {
        0..=2 => 2,
        _ if gradients => 4,
        _ => columns
            .div_ceil(columns.div_ceil(VALUE_LANES))
            .next_multiple_of(4),
    }
}
