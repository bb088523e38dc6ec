//! How values and derivatives in time of a table with gradients are summed over terms.
//!
//! Forces need no gradient of a single function [M 9.7]. A pass with whole gradients takes more than one product per
//! stored number and coordinate; sums over terms take three for any number of coordinates, and a few operations
//! for every term of a box. What takes fewer operations in the most expensive box is planned.

use super::runs::{Run, rows_of};
use super::table::{PlanTable, place};
use super::terms::TermList;
use std::collections::{BTreeMap, BTreeSet};

/// Terms of the rows of a table; fields as in [`kernel::Moving`].
#[derive(Debug, Clone, Default)]
pub struct PlanMoving {
    /// List of every box; none where whole gradients cost less.
    pub lists: Vec<u32>,
    /// Of every group of every box: first and end of its rows.
    pub rows: Vec<[u32; 2]>,
    /// Term of every row.
    pub terms: Vec<u16>,
}

impl PlanMoving {
    pub(super) fn view(&self) -> kernel::Moving<'_> {
        kernel::Moving {
            lists: &self.lists,
            rows: &self.rows,
            terms: &self.terms,
        }
    }
}

impl PlanTable {
    /// Plans sums over terms where they cost less in the most expensive box; `shapes` are the runs of groups.
    pub(super) fn move_if_cheaper(&mut self, shapes: &[Vec<Run>], s: usize, in_pairs: bool) {
        let rows: Vec<Vec<Vec<u8>>> = shapes.iter().map(|r| rows_of(r, self.powers)).collect();
        let (mut lists, mut known) = (Vec::new(), BTreeMap::new());
        let mut of_boxes = Vec::new();
        let (mut whole, mut moving) = (0, 0);
        for groups in self.places.chunks_exact(self.groups) {
            let orders: Vec<usize> = groups.iter().map(|[_, shape]| *shape as usize).collect();
            let terms: BTreeSet<&Vec<u8>> = orders.iter().flat_map(|&o| &rows[o]).collect();
            let terms: Vec<Vec<u8>> = terms.into_iter().cloned().collect();
            let list = TermList::new(&terms, s, in_pairs);
            whole = whole.max(self.whole_cost(&orders, shapes, s));
            moving = moving.max(self.moving_cost(&orders, &rows, &list, s));
            of_boxes.push(place(list, &mut known, &mut lists) as u32);
        }
        let longest = lists.iter().map(|l| l.rows.len()).max().unwrap_or(0);
        if moving >= whole || longest > usize::from(u16::MAX) {
            return;
        }
        self.n_terms = longest;
        self.add_lists(&lists);
        self.add_terms(of_boxes, &lists, &rows);
    }

    /// The term of every row of every group.
    fn add_terms(&mut self, of_boxes: Vec<u32>, lists: &[TermList], rows: &[Vec<Vec<u8>>]) {
        let places: Vec<BTreeMap<&[u8], u16>> = lists
            .iter()
            .map(|l| l.rows.iter().map(Vec::as_slice).zip(0..).collect())
            .collect();
        let mut known = BTreeMap::new();
        for (groups, &list) in self.places.chunks_exact(self.groups).zip(&of_boxes) {
            for [_, shape] in groups {
                let range = *known.entry((list, *shape)).or_insert_with(|| {
                    let first = self.moving.terms.len() as u32;
                    let of_list = &places[list as usize];
                    let terms = rows[*shape as usize].iter();
                    self.moving
                        .terms
                        .extend(terms.map(|row| of_list[row.as_slice()]));
                    [first, self.moving.terms.len() as u32]
                });
                self.moving.rows.push(range);
            }
        }
        self.moving.lists = of_boxes;
    }

    /// Operations of a box with whole gradients: sums, derivatives in time, weighted sums of gradients.
    fn whole_cost(&self, orders: &[usize], shapes: &[Vec<Run>], s: usize) -> usize {
        let of_run = |run: &Run| {
            let folds: usize = (1..=run.folds).map(|level| 2 + level).sum();
            let steps = match self.powers {
                true => run.count - 1 + run.count.saturating_sub(2),
                false => 2 * (run.count - 1),
            };
            2 * (steps + folds)
        };
        let sums: usize = orders.iter().flat_map(|&o| &shapes[o]).map(of_run).sum();
        let scaled = if self.powers { s * self.columns } else { 0 };
        let combined = (2 + s) * self.combined.cost();
        self.lanes * sums + scaled + (2 * s - 1) * self.values() + 2 * s * self.columns + combined
    }

    /// Operations of a box over terms: three products per stored number, eight per product of terms; powers need a
    /// basis of their own.
    fn moving_cost(
        &self,
        orders: &[usize],
        rows: &[Vec<Vec<u8>>],
        list: &TermList,
        s: usize,
    ) -> usize {
        let rows: usize = orders.iter().map(|&o| rows[o].len()).sum();
        let basis = if self.powers { 10 } else { 0 };
        let single = s * list.degree * (3 + basis);
        6 * self.lanes * rows + 8 * list.products.len() + single + 3 * self.combined.cost()
    }
}
