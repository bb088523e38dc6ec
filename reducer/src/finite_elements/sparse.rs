//! Sparse symmetric matrices by their lower triangle.

use faer::linalg::solvers::SolveCore;
use faer::sparse::linalg::solvers::Llt;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, Mat, Side};

/// A symmetric matrix: entries (row, column, value) with row ≥ column, every place once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Symmetric {
    pub n: usize,
    pub entries: Vec<(u32, u32, f64)>,
}

/// Factors of a definite matrix; none of one without rows.
pub(crate) struct Factor(Option<Llt<usize, f64>>);

impl Factor {
    pub fn solve(&self, mut rhs: Mat<f64>) -> Mat<f64> {
        if let Some(factor) = &self.0 {
            factor.solve_in_place_with_conj(Conj::No, rhs.as_mut());
        }
        rhs
    }
}

impl Symmetric {
    /// From entries of either triangle; equal places add up.
    pub fn from_entries(n: usize, mut entries: Vec<(u32, u32, f64)>) -> Self {
        for entry in &mut entries {
            if entry.0 < entry.1 {
                *entry = (entry.1, entry.0, entry.2);
            }
        }
        entries.sort_by_key(|(row, column, _)| (*column, *row));
        let mut summed: Vec<(u32, u32, f64)> = Vec::with_capacity(entries.len());
        for (row, column, value) in entries {
            match summed.last_mut() {
                Some(last) if (last.0, last.1) == (row, column) => last.2 += value,
                _ => summed.push((row, column, value)),
            }
        }
        Self { n, entries: summed }
    }

    /// The matrix times some columns.
    pub fn times(&self, x: &Mat<f64>) -> Mat<f64> {
        let mut out = Mat::zeros(x.nrows(), x.ncols());
        for j in 0..x.ncols() {
            let from = x.col_as_slice(j);
            let to = out.col_as_slice_mut(j);
            for &(row, column, value) in &self.entries {
                let (row, column) = (row as usize, column as usize);
                to[row] += value * from[column];
                if row != column {
                    to[column] += value * from[row];
                }
            }
        }
        out
    }

    /// Diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.n];
        for &(row, column, value) in &self.entries {
            if row == column {
                out[row as usize] = value;
            }
        }
        out
    }

    /// `self + factor·other`.
    pub fn plus(&self, other: &Self, factor: f64) -> Self {
        let scaled = other.entries.iter().map(|(r, c, v)| (*r, *c, v * factor));
        let all = self.entries.iter().copied().chain(scaled).collect();
        Self::from_entries(self.n, all)
    }

    /// The part over rows and columns with an index in `place`.
    pub fn part(&self, place: &[Option<u32>], n: usize) -> Self {
        let entries = (self.entries.iter())
            .filter_map(|&(row, column, value)| {
                Some((place[row as usize]?, place[column as usize]?, value))
            })
            .collect();
        Self::from_entries(n, entries)
    }

    /// Rows of one part against columns of another, dense.
    pub fn between(
        &self,
        rows: &[Option<u32>],
        n_rows: usize,
        columns: &[Option<u32>],
        n_columns: usize,
    ) -> Mat<f64> {
        let mut out = Mat::zeros(n_rows, n_columns);
        for &(row, column, value) in &self.entries {
            let (row, column) = (row as usize, column as usize);
            if let (Some(i), Some(j)) = (rows[row], columns[column]) {
                out[(i as usize, j as usize)] += value;
            }
            if row != column
                && let (Some(i), Some(j)) = (rows[column], columns[row])
            {
                out[(i as usize, j as usize)] += value;
            }
        }
        out
    }

    /// AᵀKA for a map whose rows are sparse: every old dof is a sum of new ones.
    pub fn carried(&self, map: &[Vec<(u32, f64)>], n: usize) -> Self {
        let mut entries = Vec::with_capacity(self.entries.len());
        for &(row, column, value) in &self.entries {
            for &(i, a) in &map[row as usize] {
                for &(j, b) in &map[column as usize] {
                    // The mirror image meets the same pair with the roles exchanged.
                    if row == column {
                        if i >= j {
                            entries.push((i, j, value * a * b));
                        }
                    } else if i == j {
                        entries.push((i, j, 2.0 * value * a * b));
                    } else {
                        entries.push((i, j, value * a * b));
                    }
                }
            }
        }
        Self::from_entries(n, entries)
    }

    /// Cholesky factors with a fill-reducing order; none where the matrix is not definite.
    pub fn factor(&self) -> Option<Factor> {
        if self.n == 0 {
            return Some(Factor(None));
        }
        let triplets: Vec<_> = (self.entries.iter())
            .map(|&(row, column, value)| Triplet::new(row as usize, column as usize, value))
            .collect();
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(self.n, self.n, &triplets);
        let factor = matrix.ok()?.sp_cholesky(Side::Lower).ok()?;
        Some(Factor(Some(factor)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_congruence_is_that_of_dense_matrices() {
        let k = Symmetric::from_entries(
            3,
            vec![
                (0, 0, 4.0),
                (1, 0, 1.0),
                (1, 1, 3.0),
                (2, 1, -2.0),
                (2, 2, 5.0),
            ],
        );
        let map = vec![
            vec![(0, 1.0), (1, 0.5)],
            vec![(1, 2.0)],
            vec![(0, -1.0), (1, 3.0)],
        ];
        let a = Mat::from_fn(3, 2, |i, j| {
            map[i]
                .iter()
                .find(|(c, _)| *c as usize == j)
                .map_or(0.0, |(_, v)| *v)
        });
        let dense = a.transpose() * k.times(&a);
        let found = k.carried(&map, 2).times(&Mat::identity(2, 2));
        assert!((dense - found).norm_max() < 1e-14);
    }
}
