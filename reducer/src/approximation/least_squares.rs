//! Dense least squares and choice of points; sequential, so that results never depend on threads.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::qr::no_pivoting::{factor, solve};
use faer::{Mat, Par};

/// A factorised overdetermined system, rows ≥ columns.
pub(super) struct LeastSquares {
    qr: Mat<f64>,
    coefficients: Mat<f64>,
    scales: Vec<f64>,
}

impl LeastSquares {
    /// Factorises after scaling every column to unit length.
    pub fn new(mut matrix: Mat<f64>) -> Self {
        let (rows, columns) = (matrix.nrows(), matrix.ncols());
        let mut scales = Vec::with_capacity(columns);
        for j in 0..columns {
            let length = (0..rows)
                .map(|i| matrix[(i, j)] * matrix[(i, j)])
                .sum::<f64>()
                .sqrt();
            let scale = if length > 0.0 { 1.0 / length } else { 1.0 };
            (0..rows).for_each(|i| matrix[(i, j)] *= scale);
            scales.push(scale);
        }
        let block = factor::recommended_block_size::<f64>(rows, columns);
        let mut coefficients = Mat::zeros(block, rows.min(columns));
        let scratch =
            factor::qr_in_place_scratch::<f64>(rows, columns, block, Par::Seq, Default::default());
        factor::qr_in_place(
            matrix.as_mut(),
            coefficients.as_mut(),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Default::default(),
        );
        Self {
            qr: matrix,
            coefficients,
            scales,
        }
    }

    /// Solutions for all right-hand sides, columns × right-hand sides.
    pub fn solve(&self, mut right: Mat<f64>) -> Mat<f64> {
        let (rows, columns) = (self.qr.nrows(), self.qr.ncols());
        let scratch = solve::solve_lstsq_in_place_scratch::<f64>(
            rows,
            columns,
            self.coefficients.nrows(),
            right.ncols(),
            Par::Seq,
        );
        solve::solve_lstsq_in_place(
            self.qr.as_ref(),
            self.coefficients.as_ref(),
            self.qr.as_ref(),
            right.as_mut(),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
        );
        Mat::from_fn(columns, right.ncols(), |i, j| {
            right[(i, j)] * self.scales[i]
        })
    }
}

/// Chooses rows of a matrix (one per point, `rows[i]` of equal length m) by pivoted
/// orthogonalisation: among the first `preferred` rows while they add something, then among all.
/// Returns m rows, or fewer where the rows do not span the space.
pub(super) fn choose_rows(mut rows: Vec<Vec<f64>>, preferred: usize) -> Vec<usize> {
    let dimension = rows.first().map_or(0, Vec::len);
    let mut norms: Vec<f64> = rows.iter().map(|r| dot(r, r)).collect();
    let scale = norms.iter().copied().fold(0.0, f64::max);
    let mut chosen = Vec::with_capacity(dimension);
    let mut range = preferred;
    let mut threshold = 1e-2 * scale;
    while chosen.len() < dimension {
        let best = (0..range).fold(None, |best: Option<usize>, i| match best {
            Some(b) if norms[b] >= norms[i] => Some(b),
            _ => Some(i),
        });
        match best.filter(|&i| norms[i] > threshold) {
            Some(pivot) => {
                orthogonalise(&mut rows, &mut norms, pivot);
                chosen.push(pivot);
            }
            None if range < rows.len() => {
                range = rows.len();
                threshold = 1e-20 * scale;
            }
            None => break,
        }
    }
    chosen
}

fn orthogonalise(rows: &mut [Vec<f64>], norms: &mut [f64], pivot: usize) {
    let length = dot(&rows[pivot], &rows[pivot]).sqrt();
    let direction: Vec<f64> = rows[pivot].iter().map(|v| v / length).collect();
    norms[pivot] = 0.0;
    for (row, norm) in rows.iter_mut().zip(norms) {
        if *norm > 0.0 {
            let along = dot(row, &direction);
            row.iter_mut()
                .zip(&direction)
                .for_each(|(r, d)| *r -= along * d);
            *norm = dot(row, row);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovers_an_exact_solution() {
        let a = Mat::from_fn(7, 3, |i, j| ((i + 1) as f64).powi(j as i32));
        let x = [2.0, -1.0, 0.5];
        let b = Mat::from_fn(7, 1, |i, _| (0..3).map(|j| a[(i, j)] * x[j]).sum());
        let found = LeastSquares::new(a).solve(b);
        for j in 0..3 {
            assert!((found[(j, 0)] - x[j]).abs() < 1e-12);
        }
    }

    #[test]
    fn preferred_rows_are_used_while_they_help() {
        let rows = vec![
            vec![1.0, 0.0, 0.0],
            vec![1.0, 1e-9, 0.0],
            vec![0.0, 1.0, 0.0],
            vec![0.0, 0.0, 9.0],
            vec![0.0, 0.0, 1.0],
        ];
        let chosen = choose_rows(rows, 3);
        assert_eq!(chosen.len(), 3);
        assert!(chosen[..2].iter().all(|i| *i < 3) && chosen[2] == 3);
    }
}
