//! Natural frequencies about a loaded state: a quadratic eigenproblem with gyroscopic terms.
//!
//! It is projected on a basis that starts with the lowest modes of the elastic stiffness and grows by
//! what the tangent stiffness makes of residuals, until the frequencies stand still.

use super::ModesError;
use crate::model::{LoadedOperators, SaddleError};
use crate::spectrum::lowest_modes;
use faer::{Mat, c64};

/// Relative change of a frequency that no longer counts.
const SETTLED: f64 = 1e-10;
/// Elastic energy of a correction to a shape of unit energy that no longer counts: frequencies change by
/// as little.
const NEGLIGIBLE: f64 = 1e-15;
const ROUNDS: usize = 20;

/// Imaginary parts (rad/s) of the eigenvalues nearest to zero, one of each pair, ascending; zero for a
/// direction in which the state is unstable.
pub fn loaded_frequencies(at: &LoadedOperators, count: usize) -> Result<Vec<f64>, ModesError> {
    let singular = || ModesError::Static(SaddleError::Singular);
    let start = lowest_modes::<ModesError>(at.n, 2 * count + 6, &|q| at.mass.times(q), &|f| {
        Ok(at.elastic_factor.solve(f, None).ok_or_else(singular)?.0)
    })?;
    let Some(&scale) = start.omega.first() else {
        return Ok(Vec::new());
    };
    let mut basis = Basis::new(at);
    basis.extend(&start.shapes);
    let mut last: Vec<f64> = Vec::new();
    for _ in 0..ROUNDS {
        let pairs = basis
            .eigenpairs(count, scale)
            .ok_or(ModesError::EigenproblemFailed)?;
        let mut found: Vec<f64> = pairs.iter().map(|p| p.frequency()).collect();
        found.sort_by(f64::total_cmp);
        let settled = found.len() == last.len()
            && (found.iter().zip(&last)).all(|(a, b)| (a - b).abs() <= SETTLED * (scale + a.abs()));
        if settled {
            return Ok(found);
        }
        last = found;
        let residuals = basis.residuals(&pairs);
        let (corrections, _) = at.factor.solve(&residuals, None).ok_or_else(singular)?;
        if !basis.extend(&corrections) {
            return Ok(last);
        }
    }
    Err(ModesError::EigenproblemFailed)
}

/// λ and the amplitudes of its shape in the basis, of unit elastic energy.
struct Eigenpair {
    value: c64,
    amplitudes: Vec<c64>,
}

impl Eigenpair {
    fn frequency(&self) -> f64 {
        if self.value.im.abs() <= 1e-9 * self.value.norm() {
            0.0
        } else {
            self.value.im.abs()
        }
    }
}

/// A basis of unit elastic energies, with what the operators make of it.
struct Basis<'a> {
    at: &'a LoadedOperators,
    vectors: Mat<f64>,
    elastic: Mat<f64>,
    mass: Mat<f64>,
    gyroscopic: Mat<f64>,
    stiffness: Mat<f64>,
}

impl<'a> Basis<'a> {
    fn new(at: &'a LoadedOperators) -> Self {
        let empty = || Mat::zeros(at.n, 0);
        Self {
            at,
            vectors: empty(),
            elastic: empty(),
            mass: empty(),
            gyroscopic: empty(),
            stiffness: empty(),
        }
    }

    /// Adds what is independent of the basis and not negligible; false where nothing is.
    fn extend(&mut self, more: &Mat<f64>) -> bool {
        let mut added = false;
        for j in 0..more.ncols() {
            let mut v = Mat::from_fn(self.at.n, 1, |i, _| more[(i, j)]);
            let mut image = self.at.elastic.times(&v);
            let original = inner(&v, &image);
            if original <= NEGLIGIBLE {
                continue;
            }
            for _ in 0..2 {
                let part = self.elastic.transpose() * &v;
                v -= &self.vectors * &part;
            }
            image = self.at.elastic.times(&v);
            let left = inner(&v, &image);
            if left <= NEGLIGIBLE.max(1e-12 * original) {
                continue;
            }
            added = true;
            let factor = 1.0 / left.sqrt();
            let v = v * faer::Scale(factor);
            append(&mut self.elastic, &(image * faer::Scale(factor)));
            append(&mut self.mass, &self.at.mass.times(&v));
            append(&mut self.gyroscopic, &self.at.gyroscopic.times(&v));
            append(&mut self.stiffness, &self.at.stiffness.times(&v));
            append(&mut self.vectors, &v);
        }
        added
    }

    /// The eigenpairs nearest to zero, one of each pair ±λ; rates are measured by `scale`.
    fn eigenpairs(&self, count: usize, scale: f64) -> Option<Vec<Eigenpair>> {
        use faer::linalg::solvers::Solve;
        let m = self.vectors.ncols();
        let project = |image: &Mat<f64>, factor: f64| {
            (self.vectors.transpose() * image) * faer::Scale(factor)
        };
        // With μ = scale/λ: μx = −K⁻¹(Gx + My), μy = x.
        let stiffness = project(&self.stiffness, 1.0).partial_piv_lu();
        let gyroscopic = stiffness.solve(&project(&self.gyroscopic, scale));
        let mass = stiffness.solve(&project(&self.mass, scale * scale));
        let companion = Mat::from_fn(2 * m, 2 * m, |i, j| {
            if i >= m {
                if j + m == i { 1.0 } else { 0.0 }
            } else if j < m {
                -gyroscopic[(i, j)]
            } else {
                -mass[(i, j - m)]
            }
        });
        let eigen = companion.eigen().ok()?;
        let values = eigen.S().column_vector();
        let mut order: Vec<usize> = (0..2 * m)
            .filter(|&i| {
                let value = values[i];
                let size = value.norm();
                // One of each pair: λ = scale/μ has a positive imaginary part where μ has a negative.
                let rotates = value.im.abs() > 1e-9 * size;
                size > 1e-12
                    && if rotates {
                        value.im < 0.0
                    } else {
                        value.re > 0.0
                    }
            })
            .collect();
        order.sort_by(|&a, &b| values[b].norm().total_cmp(&values[a].norm()));
        order.truncate(count);
        let pairs = order.into_iter().map(|i| {
            let shape = || (0..m).map(|row| eigen.U()[(row, i)]);
            let size = shape().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
            Eigenpair {
                value: c64::new(scale, 0.0) / values[i],
                amplitudes: shape().map(|x| x / size).collect(),
            }
        });
        Some(pairs.collect())
    }

    /// Real and imaginary parts of (K + λG + λ²M)x, two columns per pair.
    fn residuals(&self, pairs: &[Eigenpair]) -> Mat<f64> {
        let m = self.vectors.ncols();
        let mut out = Mat::zeros(self.at.n, 2 * pairs.len());
        for (p, pair) in pairs.iter().enumerate() {
            let square = pair.value * pair.value;
            for j in 0..m {
                let x = pair.amplitudes[j];
                let (g, q) = (pair.value * x, square * x);
                for i in 0..self.at.n {
                    let (k, d, w) = (
                        self.stiffness[(i, j)],
                        self.gyroscopic[(i, j)],
                        self.mass[(i, j)],
                    );
                    out[(i, 2 * p)] += k * x.re + d * g.re + w * q.re;
                    out[(i, 2 * p + 1)] += k * x.im + d * g.im + w * q.im;
                }
            }
        }
        out
    }
}

fn inner(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (a.col_as_slice(0).iter().zip(b.col_as_slice(0)))
        .map(|(x, y)| x * y)
        .sum()
}

fn append(to: &mut Mat<f64>, column: &Mat<f64>) {
    let n = to.ncols();
    to.resize_with(column.nrows(), n + 1, |i, _| column[(i, 0)]);
}
