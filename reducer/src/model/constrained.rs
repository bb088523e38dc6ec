//! Sparse matrices with constraint rows, built entry by entry and factorised.

use super::PlacedElement;
use super::dofs::DofMap;
use super::rows::ConstraintRows;
use crate::lie::Matrix6;
use faer::linalg::solvers::SolveCore;
use faer::sparse::linalg::solvers::Lu;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, Mat};
use nalgebra::DMatrix;

/// Entries of a sparse matrix over the solver's unknowns; equal places add up.
#[derive(Debug, Clone, Default)]
pub struct Entries(Vec<Triplet<usize, usize, f64>>);

impl Entries {
    pub(super) fn push(&mut self, i: usize, j: usize, value: f64) {
        if value != 0.0 {
            self.0.push(Triplet::new(i, j, value));
        }
    }

    pub(super) fn push_block(&mut self, map: &DofMap, row: usize, column: usize, block: &Matrix6) {
        map.each_entry(row, column, block, |i, j, v| self.push(i, j, v));
    }

    pub(super) fn push_element(
        &mut self,
        map: &DofMap,
        placed: &PlacedElement,
        matrix: &DMatrix<f64>,
    ) {
        placed.each_entry(map, matrix.as_slice(), |i, j, v| self.push(i, j, v));
    }

    /// Every entry; equal places add up.
    pub fn each(&self, mut tell: impl FnMut(usize, usize, f64)) {
        for entry in &self.0 {
            tell(entry.row, entry.col, entry.val);
        }
    }

    /// The matrix times some columns.
    pub fn times(&self, x: &Mat<f64>) -> Mat<f64> {
        let mut out = Mat::zeros(x.nrows(), x.ncols());
        for column in 0..x.ncols() {
            let from = x.col_as_slice(column);
            let to = out.col_as_slice_mut(column);
            for entry in &self.0 {
                to[entry.row] += entry.val * from[entry.col];
            }
        }
        out
    }
}

/// A matrix with constraint rows, factorised.
pub struct ConstrainedFactor {
    lu: Lu<usize, f64>,
    n: usize,
    scale: f64,
    row_scale: Vec<f64>,
}

impl ConstrainedFactor {
    pub(super) fn new(matrix: &Entries, rows: &ConstraintRows, map: &DofMap) -> Option<Self> {
        let n = map.len();
        let scale = matrix.0.iter().fold(0.0_f64, |m, t| m.max(t.val.abs()));
        let mut row_scale = vec![0.0_f64; rows.n_rows];
        map.each_row_entry(rows, |r, _, v| row_scale[r] = row_scale[r].max(v.abs()));
        for value in &mut row_scale {
            *value = if *value > 0.0 { 1.0 / *value } else { 1.0 };
        }
        let mut entries: Vec<_> = (matrix.0.iter())
            .map(|t| Triplet::new(t.row, t.col, t.val / scale))
            .collect();
        map.each_row_entry(rows, |r, dof, v| {
            entries.push(Triplet::new(n + r, dof, v * row_scale[r]));
            entries.push(Triplet::new(dof, n + r, v * row_scale[r]));
        });
        let size = n + rows.n_rows;
        let matrix = SparseColMat::try_new_from_triplets(size, size, &entries).ok()?;
        Some(Self {
            lu: matrix.sp_lu().ok()?,
            n,
            scale,
            row_scale,
        })
    }

    /// Unknowns and multipliers of A·x + Cᵀλ = f, C·x = g, column by column; g absent: zero. None
    /// where the matrix is singular.
    pub fn solve(&self, f: &Mat<f64>, g: Option<&Mat<f64>>) -> Option<(Mat<f64>, Mat<f64>)> {
        let rows = self.row_scale.len();
        let mut y = Mat::from_fn(self.n + rows, f.ncols(), |i, j| {
            if i < self.n {
                f[(i, j)] / self.scale
            } else {
                g.map_or(0.0, |g| g[(i - self.n, j)] * self.row_scale[i - self.n])
            }
        });
        self.lu.solve_in_place_with_conj(Conj::No, y.as_mut());
        let x = Mat::from_fn(self.n, f.ncols(), |i, j| y[(i, j)]);
        let lambda = Mat::from_fn(rows, f.ncols(), |r, j| {
            y[(self.n + r, j)] * self.scale * self.row_scale[r]
        });
        x.norm_max().is_finite().then_some((x, lambda))
    }
}
