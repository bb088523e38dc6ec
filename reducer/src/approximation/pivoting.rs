//! Choice of points: pivoted orthogonalisation of the basis at many candidates. Sequential, so that
//! results never depend on threads.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// Points that compete directly. Their vectors stay in the cache while directions are removed from
/// them one at a time.
const POOL: usize = 48;

/// A vector this much shorter (squared) than before loses directions that rounding left in it.
const SHRUNK: f64 = 1e-2;

/// Chooses points (columns of `vectors`) by pivoted orthogonalisation: always the one that has most
/// left outside of the span of those before, among the first `preferred` while they add something,
/// then among all. Returns as many as there are rows, or fewer where the columns do not span the space.
///
/// What is left of a vector only ever shrinks, so an old length bounds the present one. Directions
/// are therefore removed from a few points that lead, one at a time, until another point may lead;
/// from the others many at once, when their turn comes.
pub(super) fn choose_points(vectors: Mat<f64>, preferred: usize) -> Vec<usize> {
    let (dimension, count) = (vectors.nrows(), vectors.ncols());
    let mut candidates = Candidates::new(vectors);
    let scale = candidates.bounds.iter().copied().fold(0.0, f64::max);
    candidates.choose(preferred, 1e-2 * scale);
    if candidates.chosen.len() < dimension {
        candidates.choose(count, 1e-20 * scale);
    }
    candidates.chosen
}

struct Candidates {
    /// What is left of the vectors after the first `removed[j]` directions.
    vectors: Mat<f64>,
    removed: Vec<usize>,
    /// Their squared lengths, which bound the present ones; 0 for chosen points.
    bounds: Vec<f64>,
    /// Squared lengths at the start.
    lengths: Vec<f64>,
    /// Orthonormal, one column per chosen point.
    directions: Mat<f64>,
    chosen: Vec<usize>,
}

impl Candidates {
    fn new(vectors: Mat<f64>) -> Self {
        let lengths: Vec<f64> = (0..vectors.ncols())
            .map(|j| vectors.col(j).squared_norm_l2())
            .collect();
        Self {
            removed: vec![0; vectors.ncols()],
            bounds: lengths.clone(),
            lengths,
            directions: Mat::zeros(vectors.nrows(), vectors.nrows()),
            chosen: Vec::with_capacity(vectors.nrows()),
            vectors,
        }
    }

    /// Chooses among the first `range` points while the best has more than `threshold` left.
    fn choose(&mut self, range: usize, threshold: f64) {
        let mut order: Vec<usize> = (0..range).collect();
        while self.chosen.len() < self.vectors.nrows() {
            order.retain(|&j| self.bounds[j] > threshold);
            let by_bound =
                |a: &usize, b: &usize| self.bounds[*b].total_cmp(&self.bounds[*a]).then(a.cmp(b));
            if order.len() > POOL {
                order.select_nth_unstable_by(POOL, by_bound);
            }
            let size = POOL.min(order.len());
            let (pool, others) = order.split_at_mut(size);
            if pool.is_empty() {
                return;
            }
            pool.sort_unstable();
            let outside = others.iter().map(|&j| self.bounds[j]).fold(0.0, f64::max);
            self.compete(pool, outside.max(threshold));
        }
    }

    /// Brings a pool up to date and chooses from it while its best leads all others.
    fn compete(&mut self, pool: &[usize], outside: f64) {
        let dimension = self.vectors.nrows();
        let mut left = Mat::from_fn(dimension, pool.len(), |i, j| self.vectors[(i, pool[j])]);
        let first = pool.iter().map(|&j| self.removed[j]).min().unwrap_or(0);
        let known = self.chosen.len();
        remove(&mut left, &self.directions, first, known);
        let mut squares: Vec<f64> = (0..pool.len())
            .map(|j| left.col(j).squared_norm_l2())
            .collect();
        while self.chosen.len() < dimension {
            let best = (1..pool.len()).fold(0, |b, j| if squares[j] > squares[b] { j } else { b });
            if squares[best] <= 0.0 || squares[best] < outside {
                break;
            }
            let n = self.chosen.len();
            self.add_direction(
                &left,
                best,
                squares[best] < SHRUNK * self.lengths[pool[best]],
            );
            self.chosen.push(pool[best]);
            remove(&mut left, &self.directions, n, n + 1);
            for (j, square) in squares.iter_mut().enumerate() {
                let chosen = j == best || *square == 0.0;
                *square = if chosen {
                    0.0
                } else {
                    left.col(j).squared_norm_l2()
                };
            }
        }
        for (j, &point) in pool.iter().enumerate() {
            self.vectors.col_mut(point).copy_from(left.col(j));
            self.bounds[point] = squares[j];
            self.removed[point] = self.chosen.len();
        }
    }

    /// The direction of a point that is chosen; `again` removes the others once more first.
    fn add_direction(&mut self, left: &Mat<f64>, column: usize, again: bool) {
        let n = self.chosen.len();
        let mut direction = Mat::from_fn(left.nrows(), 1, |i, _| left[(i, column)]);
        if again {
            remove(&mut direction, &self.directions, 0, n);
        }
        let length = direction.col(0).norm_l2();
        for i in 0..left.nrows() {
            self.directions[(i, n)] = direction[(i, 0)] / length;
        }
    }
}

/// Takes the parts along directions `first..end` out of all columns.
fn remove(columns: &mut Mat<f64>, directions: &Mat<f64>, first: usize, end: usize) {
    if first == end {
        return;
    }
    let directions = directions.as_ref().subcols(first, end - first);
    let mut along = Mat::zeros(end - first, columns.ncols());
    matmul(
        along.as_mut(),
        Accum::Replace,
        directions.transpose(),
        columns.as_ref(),
        1.0,
        Par::Seq,
    );
    matmul(
        columns.as_mut(),
        Accum::Add,
        directions,
        along.as_ref(),
        -1.0,
        Par::Seq,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approximation::points::{arcsine, halton};

    fn columns(vectors: &[[f64; 3]]) -> Mat<f64> {
        Mat::from_fn(3, vectors.len(), |i, j| vectors[j][i])
    }

    #[test]
    fn preferred_points_are_used_while_they_help() {
        let vectors = columns(&[
            [1.0, 0.0, 0.0],
            [1.0, 1e-9, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 9.0],
            [0.0, 0.0, 1.0],
        ]);
        let chosen = choose_points(vectors, 3);
        assert_eq!(chosen.len(), 3);
        assert!(chosen[..2].iter().all(|j| *j < 3) && chosen[2] == 3);
    }

    #[test]
    fn columns_that_do_not_span_the_space_end_the_choice() {
        let plane = columns(&[[1.0, 0.3, 0.0], [0.2, 1.0, 0.0], [1.0, 1.0, 0.0]]);
        assert_eq!(choose_points(plane, 0).len(), 2);
        assert!(choose_points(Mat::zeros(3, 4), 2).is_empty());
        assert!(choose_points(Mat::zeros(3, 0), 0).is_empty());
    }

    /// Values of a total-degree basis in three coordinates at crowded points, many more than a pool.
    fn basis(count: usize) -> Mat<f64> {
        let terms = crate::approximation::terms::total_degree(3, 6);
        Mat::from_fn(terms.len(), count, |i, j| {
            let xi = halton(j as u64, 0, 3).into_iter().map(arcsine);
            let value = |(x, d): (f64, &u8)| (f64::from(*d) * x.acos()).cos();
            xi.zip(&terms[i]).map(value).product()
        })
    }

    /// The same rule, every direction removed from every vector at once.
    fn choose_plainly(mut vectors: Mat<f64>) -> Vec<usize> {
        let mut chosen = Vec::new();
        for _ in 0..vectors.nrows() {
            let lengths: Vec<f64> = (0..vectors.ncols())
                .map(|j| vectors.col(j).squared_norm_l2())
                .collect();
            let best =
                (1..lengths.len()).fold(0, |b, j| if lengths[j] > lengths[b] { j } else { b });
            let unit = vectors.as_ref().subcols(best, 1) * faer::Scale(1.0 / lengths[best].sqrt());
            remove(&mut vectors, &unit, 0, 1);
            chosen.push(best);
        }
        chosen
    }

    #[test]
    fn removing_directions_late_chooses_the_same_points() {
        let vectors = basis(250);
        assert!(vectors.ncols() > 4 * POOL);
        assert_eq!(choose_points(vectors.clone(), 0), choose_plainly(vectors));
    }

    #[test]
    fn directions_are_orthonormal_however_little_is_left() {
        // Monomials: the last directions have little left of their vectors.
        let powers = Mat::from_fn(24, 200, |i, j| (j as f64 / 199.0).powi(i as i32));
        let mut candidates = Candidates::new(powers);
        candidates.choose(200, 0.0);
        let n = candidates.chosen.len();
        let directions = candidates.directions.as_ref().subcols(0, n);
        let gram = directions.transpose() * directions;
        for i in 0..n {
            for j in 0..n {
                let expected = f64::from(u8::from(i == j));
                assert!(
                    (gram[(i, j)] - expected).abs() < 1e-10,
                    "{i} {j}: {}",
                    gram[(i, j)]
                );
            }
        }
        assert!(n >= 15, "{n}");
    }
}
