//! Tables in the order in which they are evaluated.

use super::columns::side_by_side;
use super::combined::PlanCombined;
use super::common::Common;
use super::moving::PlanMoving;
use super::powers::in_powers;
use super::runs::{Run, n_rows, rows_of, runs_of, shape_degree};
use super::terms::TermList;
use crate::reduced_model::{Combination, Component, Constant, Table};
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
    /// Terms of a group of columns, or of a list, at most.
    pub n_terms: usize,
    /// Groups of columns; 1 without gradients.
    pub groups: usize,
    /// Of every group of every box: where its coefficients start, and its shape or list of terms.
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
    /// Combinations of columns; values behind the constants.
    pub combined: PlanCombined,
    /// With gradients: sums over terms where whole gradients cost more.
    pub moving: PlanMoving,
}

/// What a table is made from.
pub(super) struct Build<'a> {
    /// Meaning of the stored columns.
    pub stored: &'a [Component],
    /// Which of them are needed.
    pub used: &'a dyn Fn(&Component) -> bool,
    pub constants: &'a [Constant],
    pub combined: &'a [Combination],
    pub n_rigid: usize,
    pub gradients: bool,
    /// Powers may be taken.
    pub powers: bool,
    /// Forces need derivatives in time and one sum of gradients.
    pub moving: bool,
    /// Degrees come in pairs, as cosines and sines do.
    pub in_pairs: bool,
}

impl Build<'_> {
    /// The table of all boxes; its values are added to `entries`.
    pub fn table(&self, tables: &[&Table], entries: &mut [Vec<Entry>; Group::COUNT]) -> PlanTable {
        let empty = Table {
            terms: Vec::new(),
            coefficients: Vec::new(),
        };
        let none = [&empty];
        let tables = if tables.is_empty() { &none } else { tables };
        let (kept, lanes) = self.kept(tables);
        let columns = kept.len().next_multiple_of(lanes).max(lanes);
        let stored = kept.iter().map(|&c| self.stored[c]).zip(0..);
        let constants = self.constants.iter().map(|c| c.component).zip(columns..);
        let combined = self.combined.iter().map(|c| c.component);
        let combined = combined.zip(columns + self.constants.len()..);
        for (component, value) in stored.chain(constants).chain(combined) {
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
            groups: if self.gradients { columns / lanes } else { 1 },
            constants: self.constants.iter().map(|c| c.value).collect(),
            combined: PlanCombined::new(self.combined, &kept, self.stored.len()),
            ..PlanTable::default()
        };
        if self.gradients {
            self.fill_groups(&mut out, tables, &kept);
        } else {
            self.fill_values(&mut out, tables, &kept);
        }
        out
    }

    /// Columns that are needed, in the order of the table, and how many stand side by side.
    fn kept(&self, tables: &[&Table]) -> (Vec<usize>, usize) {
        let used = |c: &usize| (self.used)(&self.stored[*c]);
        let mut kept: Vec<usize> = (0..self.stored.len()).filter(used).collect();
        if self.gradients {
            let (n, lanes) = (self.stored.len(), lanes(kept.len(), true));
            let grouped = side_by_side(tables, n, kept.clone(), lanes);
            return match is_mostly_zeros(tables, n, &grouped, lanes) {
                true => (side_by_side(tables, n, kept, 1), 1),
                false => (grouped, lanes),
            };
        }
        // Values that the same factor multiplies in the equations stand together, in the order of rows.
        kept.sort_by_key(|&c| {
            let (group, [i, j, k, _]) = self.stored[c].place();
            (group, [j, k, i])
        });
        let lanes = lanes(kept.len(), false);
        (kept, lanes)
    }

    /// Groups of columns with the runs that each needs.
    fn fill_groups(&self, out: &mut PlanTable, tables: &[&Table], kept: &[usize]) {
        let n = self.stored.len();
        let lanes = out.lanes;
        let group =
            |g: usize| &kept[(g * lanes).min(kept.len())..((g + 1) * lanes).min(kept.len())];
        let mut parts: Vec<Table> = tables
            .iter()
            .flat_map(|t| (0..out.groups).map(|g| part(t, n, group(g), lanes)))
            .collect();
        if let Some(powers) = self
            .powers
            .then(|| in_powers(&parts, lanes, self.n_rigid))
            .flatten()
        {
            (out.powers, parts) = (true, powers);
        }
        let (mut shapes, mut known) = (Vec::new(), BTreeMap::new());
        for part in &parts {
            let runs = runs_of(&part.terms, self.n_rigid, out.powers);
            let rows = rows_of(&runs, out.powers);
            out.n_terms = out.n_terms.max(rows.len());
            let order = place(runs, &mut known, &mut shapes);
            out.places
                .push([out.coefficients.len() as u32, order as u32]);
            let columns: Vec<usize> = (0..lanes).collect();
            out.add_rows(&rows, part, lanes, &columns);
        }
        for runs in &shapes {
            out.add_shape(runs);
        }
        if self.moving {
            out.move_if_cheaper(&shapes, self.n_rigid, self.in_pairs);
        }
    }

    /// Rows of all columns in the order of the terms.
    fn fill_values(&self, out: &mut PlanTable, tables: &[&Table], kept: &[usize]) {
        let (mut lists, mut known) = (Vec::new(), BTreeMap::new());
        for table in tables {
            let list = TermList::new(&table.terms, self.n_rigid, self.in_pairs);
            let rows = list.rows.clone();
            out.n_terms = out.n_terms.max(rows.len());
            let order = place(list, &mut known, &mut lists);
            out.places
                .push([out.coefficients.len() as u32, order as u32]);
            out.add_rows(&rows, table, self.stored.len(), kept);
        }
        out.common = Common::new(&lists, &out.places).filter(|_| !self.in_pairs);
        out.add_lists(&lists);
    }
}

/// Zeros fill at least half of the groups of columns: a column by itself then takes fewer operations, and no more
/// of them in vector registers.
fn is_mostly_zeros(tables: &[&Table], n_columns: usize, order: &[usize], lanes: usize) -> bool {
    let (mut own, mut filled) = (0, 0);
    for row in tables
        .iter()
        .flat_map(|t| t.coefficients.chunks_exact(n_columns.max(1)))
    {
        for group in order.chunks(lanes) {
            let here = group.iter().filter(|&&c| row[c] != 0.0).count();
            own += here;
            filled += if here > 0 { lanes } else { 0 };
        }
    }
    2 * own <= filled && own > 0
}

/// A group of columns by itself, with the terms that any of them has; zeros fill it up to `width`.
fn part(table: &Table, n_columns: usize, group: &[usize], width: usize) -> Table {
    let rows = table.coefficients.chunks_exact(n_columns.max(1));
    let padded = |row: &[f64]| {
        let own = group.iter().map(|&c| row[c]);
        own.chain(std::iter::repeat(0.0))
            .take(width)
            .collect::<Vec<f64>>()
    };
    Table {
        terms: table.terms.clone(),
        coefficients: rows.flat_map(padded).collect(),
    }
    .without_zero_terms(width)
}

impl PlanTable {
    /// Appends coefficients in the order of rows: these columns of a table, then zeros.
    fn add_rows(&mut self, rows: &[Vec<u8>], table: &Table, n_columns: usize, kept: &[usize]) {
        let terms: BTreeMap<&[u8], usize> = table
            .terms
            .iter()
            .enumerate()
            .map(|(m, t)| (t.as_slice(), m))
            .collect();
        let width = if self.gradients {
            self.lanes
        } else {
            self.columns
        };
        for row in rows {
            let stored = terms.get(row.as_slice());
            let value = |column: usize| match (stored, kept.get(column)) {
                (Some(m), Some(c)) => table.coefficients[m * n_columns + c],
                _ => 0.0,
            };
            self.coefficients.extend((0..width).map(value));
        }
    }

    /// Appends lists of terms and their products.
    pub(super) fn add_lists(&mut self, lists: &[TermList]) {
        for list in lists {
            let first = self.products.len();
            let products = list.products.iter();
            self.products
                .extend(products.map(|&(a, b)| [a as u32, b as u32]));
            let numbers = [list.degree, first, self.products.len()];
            self.lists.push(numbers.map(|v| v as u32));
        }
    }

    /// Largest degree of any group of a box.
    pub fn degree(&self, index: usize) -> u32 {
        let shapes = self.places[index * self.groups..(index + 1) * self.groups].iter();
        shapes
            .map(|[_, s]| self.shapes[*s as usize][3])
            .max()
            .unwrap_or(0)
    }

    /// Shapes, or the list of terms, of a box.
    pub fn orders(&self, index: usize) -> Vec<u32> {
        let places = self.places[index * self.groups..(index + 1) * self.groups].iter();
        places.map(|[_, order]| *order).collect()
    }

    /// Columns, constants and combinations.
    pub fn values(&self) -> usize {
        self.columns + self.constants.len() + self.combined.ends.len()
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
            groups: self.groups,
            places: &self.places,
            shapes: &self.shapes,
            runs: &self.runs,
            lists: &self.lists,
            products: &self.products,
            coefficients: &self.coefficients,
            constants: &self.constants,
            moving: self.moving.view(),
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
pub(super) fn place<T: Ord + Clone>(
    order: T,
    known: &mut BTreeMap<T, usize>,
    list: &mut Vec<T>,
) -> usize {
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
