//! Dense least squares; sequential, so that results never depend on threads.

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
}
