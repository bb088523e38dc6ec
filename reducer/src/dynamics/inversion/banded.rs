//! Banded systems of linear equations.

/// A square matrix whose entries are zero beyond `lower` places below and `upper` above the diagonal.
///
/// Factorised in place with the largest pivot of each column, for which every row has room for `lower` further
/// entries. Work and memory are linear in the number of rows.
pub(super) struct Banded {
    n: usize,
    lower: usize,
    upper: usize,
    entries: Vec<f64>,
    pivots: Vec<usize>,
}

impl Banded {
    pub fn zeros(n: usize, lower: usize, upper: usize) -> Self {
        Self {
            n,
            lower,
            upper,
            entries: vec![0.0; n * (2 * lower + upper + 1)],
            pivots: Vec::new(),
        }
    }

    /// Place of an entry; row r begins with column r − lower.
    fn place(&self, row: usize, column: usize) -> usize {
        row * (2 * self.lower + self.upper + 1) + column + self.lower - row
    }

    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        debug_assert!(column + self.lower >= row && column <= row + self.upper);
        let place = self.place(row, column);
        self.entries[place] = value;
    }

    /// Factorises; false where a pivot vanishes.
    pub fn factor(&mut self) -> bool {
        for k in 0..self.n {
            let last = (k + self.lower).min(self.n - 1);
            let end = (k + self.lower + self.upper).min(self.n - 1);
            let size = |row: usize| self.entries[self.place(row, k)].abs();
            let pivot = (k..=last).fold(k, |best, r| if size(r) > size(best) { r } else { best });
            if !(size(pivot) > 0.0 && size(pivot).is_finite()) {
                return false;
            }
            if pivot != k {
                let length = end + 1 - k;
                let (low, high) = (self.place(k, k), self.place(pivot, k));
                let (first, second) = self.entries.split_at_mut(high);
                first[low..low + length].swap_with_slice(&mut second[..length]);
            }
            self.pivots.push(pivot);
            let diagonal = self.place(k, k);
            for row in k + 1..=last {
                let here = self.place(row, k);
                let (first, second) = self.entries.split_at_mut(here);
                let source = &first[diagonal..=diagonal + end - k];
                let factor = second[0] / source[0];
                second[0] = factor;
                if factor != 0.0 {
                    for (x, y) in second[1..].iter_mut().zip(&source[1..]) {
                        *x -= factor * y;
                    }
                }
            }
        }
        true
    }

    /// The solution in place of the right-hand side.
    pub fn solve(&self, rhs: &mut [f64]) {
        for k in 0..self.n {
            rhs.swap(k, self.pivots[k]);
            let value = rhs[k];
            let last = (k + self.lower).min(self.n - 1);
            for (i, x) in rhs[k + 1..=last].iter_mut().enumerate() {
                *x -= self.entries[self.place(k + 1 + i, k)] * value;
            }
        }
        for k in (0..self.n).rev() {
            let end = (k + self.lower + self.upper).min(self.n - 1);
            let from = self.place(k, k);
            let row = &self.entries[from..=from + end - k];
            let known = row[1..].iter().zip(&rhs[k + 1..]);
            let known: f64 = known.map(|(a, x)| a * x).sum();
            rhs[k] = (rhs[k] - known) / row[0];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    /// Against a dense solution, with a diagonal so small that rows must be exchanged.
    #[test]
    fn solutions_are_those_of_the_dense_matrix() {
        let (n, lower, upper) = (40, 4, 3);
        let mut dense = DMatrix::zeros(n, n);
        let mut banded = Banded::zeros(n, lower, upper);
        for row in 0..n {
            for column in row.saturating_sub(lower)..=(row + upper).min(n - 1) {
                let value = if row == column {
                    1e-9
                } else {
                    ((row * 7 + column * 13) as f64).sin()
                };
                dense[(row, column)] = value;
                banded.set(row, column, value);
            }
        }
        let rhs = DVector::from_fn(n, |i, _| (i as f64).cos());
        let expected = dense.clone().lu().solve(&rhs).unwrap();
        let mut found = rhs.as_slice().to_vec();
        assert!(banded.factor());
        banded.solve(&mut found);
        let scale = expected.amax();
        for (x, y) in found.iter().zip(expected.iter()) {
            assert!((x - y).abs() < 1e-10 * scale, "{x} {y}");
        }
        assert!(!Banded::zeros(3, 1, 1).factor());
    }
}
