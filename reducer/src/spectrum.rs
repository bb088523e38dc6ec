//! Lowest natural frequencies and modes of a mass and a compliance.
//!
//! Block Krylov iteration with the static compliance S in the inner product of the mass: the
//! largest eigenvalues of S·M are 1/ω². Full reorthogonalisation keeps it stable; a block finds
//! multiple frequencies; when the space is exhausted all finite modes have been found.

use crate::linalg::symmetric_eigen;
use faer::Mat;

/// Residual, relative to the eigenvalue, at which a mode is accepted.
const CONVERGED: f64 = 1e-11;
/// A new direction whose mass norm shrinks below this part of itself is dependent.
const DEPENDENT: f64 = 1e-9;

/// Natural modes in ascending frequency, normalised to unit modal mass.
#[derive(Debug, Clone)]
pub struct NaturalModes {
    /// Angular frequencies (rad/s).
    pub omega: Vec<f64>,
    /// One column per mode.
    pub shapes: Mat<f64>,
    /// All finite modes of the model are among them.
    pub complete: bool,
}

impl NaturalModes {
    /// Frequencies (Hz).
    pub fn frequencies_hz(&self) -> Vec<f64> {
        self.omega
            .iter()
            .map(|w| w / (2.0 * std::f64::consts::PI))
            .collect()
    }
}

/// The projected eigenvalue problem has no solution: something in it is not a number.
#[derive(Debug, Clone, Copy)]
pub struct NoSpectrum;

/// Static motions for given forces.
pub type Compliance<'a, E> = dyn Fn(&Mat<f64>) -> Result<Mat<f64>, E> + 'a;

/// The lowest `count` modes (fewer where the model has fewer).
///
/// `compliance` maps forces to static motions that satisfy all constraints; `mass` applies M.
pub fn lowest_modes<E: From<NoSpectrum>>(
    n: usize,
    count: usize,
    mass: &dyn Fn(&Mat<f64>) -> Mat<f64>,
    compliance: &Compliance<'_, E>,
) -> Result<NaturalModes, E> {
    let block = count.clamp(1, 8);
    let mut basis = KrylovBasis::new(n);
    let mut next = compliance(&mass(&start_block(n, block)))?;
    loop {
        let (added, coupling) = basis.extend(next, mass);
        if added == 0 {
            break;
        }
        if basis.len() > added
            && let Some(found) = basis.converged(count, &coupling)
        {
            return Ok(found);
        }
        let images = compliance(&basis.last_mass_block(added))?;
        basis.project(&images);
        next = images;
    }
    Ok(basis.ritz_modes(count, true)?)
}

/// Fixed pseudo-random numbers in [−1, 1] (splitmix64).
pub(crate) fn start_block(n: usize, columns: usize) -> Mat<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut out = Mat::zeros(n, columns);
    for j in 0..columns {
        for i in 0..n {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
            out[(i, j)] = (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        }
    }
    out
}

/// Mass-orthonormal basis with its images under the mass, and the projected operator.
struct KrylovBasis {
    n: usize,
    vectors: Vec<Vec<f64>>,
    images: Vec<Vec<f64>>,
    /// Rows of the projected operator QᵀM·S·M·Q, filled up to the last projected vector.
    projected: Vec<Vec<f64>>,
    n_projected: usize,
}

/// Eight sums side by side: one after the other would wait for each addition.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (mut sums, mut rest) = ([0.0; 8], 0.0);
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    for (x, y) in a.remainder().iter().zip(b.remainder()) {
        rest += x * y;
    }
    for (a, b) in a.zip(b) {
        for (sum, (x, y)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f64>() + rest
}

impl KrylovBasis {
    fn new(n: usize) -> Self {
        Self {
            n,
            vectors: Vec::new(),
            images: Vec::new(),
            projected: Vec::new(),
            n_projected: 0,
        }
    }

    fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Orthonormalises new vectors; returns how many were independent and the coefficients of the
    /// given vectors on them.
    fn extend(
        &mut self,
        block: Mat<f64>,
        mass: &dyn Fn(&Mat<f64>) -> Mat<f64>,
    ) -> (usize, Mat<f64>) {
        let first = self.len();
        let columns = block.ncols();
        let mut coupling = Mat::zeros(columns, columns);
        for j in 0..columns {
            let mut v = block.col_as_slice(j).to_vec();
            let mut image = apply(mass, &v);
            let original = dot(&v, &image).max(0.0).sqrt();
            if original == 0.0 {
                continue;
            }
            for _ in 0..2 {
                for (k, (q, mq)) in self.vectors.iter().zip(&self.images).enumerate() {
                    let c = dot(mq, &v);
                    if k >= first {
                        coupling[(k - first, j)] += c;
                    }
                    for (x, y) in v.iter_mut().zip(q) {
                        *x -= c * y;
                    }
                }
            }
            image = apply(mass, &v);
            let norm = dot(&v, &image).max(0.0).sqrt();
            if norm <= DEPENDENT * original || self.len() == first + columns {
                continue;
            }
            coupling[(self.len() - first, j)] = norm;
            v.iter_mut().for_each(|x| *x /= norm);
            image.iter_mut().for_each(|x| *x /= norm);
            self.vectors.push(v);
            self.images.push(image);
        }
        (self.len() - first, coupling)
    }

    fn last_mass_block(&self, added: usize) -> Mat<f64> {
        let first = self.len() - added;
        Mat::from_fn(self.n, added, |i, j| self.images[first + j][i])
    }

    /// Adds the columns of the projected operator for the last vectors.
    fn project(&mut self, images: &Mat<f64>) {
        let m = self.len();
        self.projected.resize(m, Vec::new());
        for row in &mut self.projected {
            row.resize(m, 0.0);
        }
        for j in 0..images.ncols() {
            let column = self.n_projected + j;
            let w = images.col_as_slice(j);
            for i in 0..m {
                let value = dot(&self.images[i], w);
                self.projected[i][column] = value;
                self.projected[column][i] = value;
            }
        }
        self.n_projected += images.ncols();
    }

    fn ritz(&self) -> Option<(Vec<f64>, Mat<f64>)> {
        let m = self.n_projected;
        symmetric_eigen(&Mat::from_fn(m, m, |i, j| self.projected[i][j]))
    }

    /// Modes where the wanted Ritz pairs have converged. `coupling` gives the part of the last
    /// images outside of the projected space.
    fn converged(&self, count: usize, coupling: &Mat<f64>) -> Option<NaturalModes> {
        let m = self.n_projected;
        if m < count {
            return None;
        }
        let (values, vectors) = self.ritz()?;
        let first = m - coupling.ncols();
        let added = self.len() - m;
        for k in (m - count)..m {
            let mut residual = 0.0_f64;
            for i in 0..added {
                let r: f64 = (0..coupling.ncols())
                    .map(|j| coupling[(i, j)] * vectors[(first + j, k)])
                    .sum();
                residual += r * r;
            }
            if residual.sqrt() > CONVERGED * values[k] {
                return None;
            }
        }
        self.shapes(&values, &vectors, count, false).ok()
    }

    fn ritz_modes(&self, count: usize, complete: bool) -> Result<NaturalModes, NoSpectrum> {
        let (values, vectors) = self.ritz().ok_or(NoSpectrum)?;
        self.shapes(&values, &vectors, count, complete)
    }

    fn shapes(
        &self,
        values: &[f64],
        vectors: &Mat<f64>,
        count: usize,
        complete: bool,
    ) -> Result<NaturalModes, NoSpectrum> {
        let m = self.n_projected;
        let largest = values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..m)
            .rev()
            .take(count)
            .filter(|&k| values[k] > 1e-14 * largest)
            .collect();
        let mut shapes = Mat::zeros(self.n, kept.len());
        for (column, &k) in kept.iter().enumerate() {
            let out = shapes.col_as_slice_mut(column);
            for (i, q) in self.vectors.iter().take(m).enumerate() {
                let c = vectors[(i, k)];
                for (x, y) in out.iter_mut().zip(q) {
                    *x += c * y;
                }
            }
        }
        Ok(NaturalModes {
            omega: kept.iter().map(|&k| 1.0 / values[k].sqrt()).collect(),
            shapes,
            complete: complete && count >= m,
        })
    }
}

fn apply(mass: &dyn Fn(&Mat<f64>) -> Mat<f64>, v: &[f64]) -> Vec<f64> {
    let column = Mat::from_fn(v.len(), 1, |i, _| v[i]);
    mass(&column).col_as_slice(0).to_vec()
}
