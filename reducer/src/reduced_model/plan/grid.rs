//! Boxes found by a table instead of a tree.
//!
//! Boxes come from bisections of the domain, so all cuts lie on a regular grid. Where that grid is
//! not much finer than the boxes, the cell of θ follows from one multiplication per coordinate, made
//! a little too small so that rounding never leads beyond the cell, and one comparison with the cut
//! above.

use super::Parts;
use crate::reduced_model::coverage::box_of;
use crate::reduced_model::{Domain, TreeNode};
use kernel::Finder;

/// Cells for each box, at most,
const CELLS_PER_BOX: usize = 16;
/// or coefficients for each cell, at least: cells then take a sixteenth of the room.
const NUMBERS_PER_CELL: usize = 4;
/// Bisections of one coordinate, at most.
const BISECTIONS: u32 = 12;

/// A regular grid over the domain.
#[derive(Debug, Clone)]
pub struct Grid {
    /// Cells of each coordinate.
    pub cells: Vec<usize>,
    /// Upper ends of the cells of one coordinate after the other; the last one is beyond the domain.
    pub ends: Vec<f64>,
    /// Cells per unit of each coordinate.
    pub scale: Vec<f64>,
    /// Box of every cell, the last coordinate fastest; −1: none.
    pub boxes: Vec<i16>,
}

impl Grid {
    /// The grid of a model, where it has one that is worth its size.
    pub(super) fn new(parts: &Parts) -> Option<Self> {
        let domain = &parts.layout.domain;
        let s = domain.lower.len();
        if parts.tree.len() < 2 || parts.boxes.len() > i16::MAX as usize {
            return None;
        }
        let cuts: Vec<Vec<f64>> = (0..s)
            .map(|k| lines(&parts.tree, domain, k))
            .collect::<Option<_>>()?;
        let cells: Vec<usize> = cuts.iter().map(Vec::len).collect();
        let stored: usize = parts
            .boxes
            .iter()
            .map(|b| b.dynamics.coefficients.len())
            .sum();
        let most = (CELLS_PER_BOX * parts.boxes.len()).max(stored / NUMBERS_PER_CELL);
        let total = cells
            .iter()
            .try_fold(1_usize, |product, n| product.checked_mul(*n))
            .filter(|n| *n <= most)?;
        let scale: Vec<f64> = (0..s)
            .map(|k| cells_per_unit(&cuts[k], domain.upper[k]))
            .collect::<Option<_>>()?;
        let inside = |mut cell: usize| -> Vec<f64> {
            let mut theta = vec![0.0; s];
            for k in (0..s).rev() {
                let i = cell % cells[k];
                cell /= cells[k];
                let end = cuts[k].get(i + 1).copied().unwrap_or(domain.upper[k]);
                theta[k] = 0.5 * (cuts[k][i] + end);
            }
            theta
        };
        let boxes = (0..total)
            .map(|c| box_of(&parts.tree, &inside(c)).map_or(-1, |index| index as i16))
            .collect();
        // No θ lies beyond the last cell.
        let beyond = f64::from(f32::MAX);
        let ends = cuts
            .iter()
            .flat_map(|c| c[1..].iter().copied().chain([beyond]));
        Some(Self {
            ends: ends.collect(),
            cells,
            scale,
            boxes,
        })
    }

    pub(super) fn finder(&self) -> Finder<'_, f64> {
        Finder::Grid {
            per_unit: &self.scale,
            counts: &self.cells,
            ends: &self.ends,
            boxes: &self.boxes,
        }
    }

    /// Numbers of boxes fit into eight bits.
    pub fn is_narrow(&self) -> bool {
        self.boxes.iter().all(|b| i8::try_from(*b).is_ok())
    }
}

/// Lower ends of equal cells of coordinate k, among them every cut of the tree exactly.
fn lines(tree: &[TreeNode], domain: &Domain, k: usize) -> Option<Vec<f64>> {
    let (lower, width) = (domain.lower[k], domain.upper[k] - domain.lower[k]);
    let of_axis = |node: &TreeNode| match node {
        TreeNode::Split { axis, at, .. } if *axis == k => Some(*at),
        _ => None,
    };
    let cuts: Vec<f64> = tree.iter().filter_map(of_axis).collect();
    (0..=BISECTIONS).find_map(|bisections| {
        let n = 1_usize << bisections;
        let mut lines: Vec<f64> = (0..n)
            .map(|i| lower + width * i as f64 / n as f64)
            .collect();
        for &at in &cuts {
            let place = (at - lower) / width * n as f64;
            let line = lines.get_mut(place.round() as usize)?;
            if (place - place.round()).abs() > 1e-9 || place < 0.5 {
                return None;
            }
            *line = at;
        }
        Some(lines)
    })
}

/// Cells per unit such that (θ − lower)·scale, cut off, is the cell of θ or the one below, in double
/// and in single precision. Both steps are monotonic, so it suffices to look at the cuts.
fn cells_per_unit(cuts: &[f64], upper: f64) -> Option<f64> {
    let exact = cuts.len() as f64 / (upper - cuts[0]);
    let is_sound = |scale: &f64| {
        let double = |x: f64| (x - cuts[0]) * scale;
        let single = |x: f32| f64::from((x - cuts[0] as f32) * *scale as f32);
        let ends = cuts.iter().enumerate().skip(1).all(|(i, &cut)| {
            let cell = i as f64;
            let before = [double(cut.next_down()), single((cut as f32).next_down())];
            let at = [double(cut), single(cut as f32)];
            before.iter().all(|q| *q < cell) && at.iter().all(|q| *q >= cell - 1.0)
        });
        let last = [double(upper), single(upper as f32)];
        ends && last.iter().all(|q| *q < cuts.len() as f64)
    };
    (8..=20)
        .rev()
        .map(|bits| exact * (1.0 - 0.5_f64.powi(bits)))
        .find(is_sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers on, just below and just above every cut, in both precisions.
    #[test]
    fn the_quotient_is_the_cell_or_the_one_below() {
        for (lower, upper, n) in [(-0.08, 0.26, 16), (1e3, 1e3 + 0.7, 8), (-3.0, 1e-3, 4096)] {
            let cut = |i: usize| lower + (upper - lower) * i as f64 / n as f64;
            let cuts: Vec<f64> = (0..n).map(cut).collect();
            let scale = cells_per_unit(&cuts, upper).expect("cells wider than rounding");
            for (i, &cut) in cuts.iter().enumerate().skip(1) {
                for (x, cell) in [(cut.next_down(), i - 1), (cut, i), (cut.next_up(), i)] {
                    let found = ((x - lower) * scale) as usize;
                    assert!(found == cell || found + 1 == cell, "{x}: {found}");
                }
                let cut = cut as f32;
                for (x, cell) in [(cut.next_down(), i - 1), (cut, i), (cut.next_up(), i)] {
                    let found = ((x - lower as f32) * scale as f32) as usize;
                    assert!(found == cell || found + 1 == cell, "{x}: {found}");
                }
            }
        }
        // In single precision these cells are narrower than rounding.
        let narrow: Vec<f64> = (0..64).map(|i| 1e4 + 1e-4 * f64::from(i)).collect();
        assert_eq!(cells_per_unit(&narrow, 1e4 + 0.0064), None);
    }
}
