//! Thin layer over the factorisations this crate uses, with their traps handled once.
//!
//! All dense spectral work goes through faer sequentially; parallelism lives outside, over
//! configurations, so that results do not depend on the number of threads.

use faer::{Mat, Side};
use nalgebra::{DMatrix, DVector};

/// Pivots below this fraction of the largest count as zero when constraints are counted.
pub const RANK_TOLERANCE: f64 = 1e-8;
/// Independence with which a choice of rows is left alone.
const WELL_INDEPENDENT: f64 = 0.1;

/// A faer copy of an nalgebra matrix.
pub fn to_faer(m: &DMatrix<f64>) -> Mat<f64> {
    Mat::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)])
}

/// Singular values in descending order with both bases.
fn svd(m: &DMatrix<f64>) -> Option<(Mat<f64>, Vec<f64>, Mat<f64>)> {
    let decomposition = to_faer(m).svd().ok()?;
    let values = decomposition.S().column_vector().iter().copied().collect();
    Some((
        decomposition.U().to_owned(),
        values,
        decomposition.V().to_owned(),
    ))
}

/// Shortest x that minimises |A·x − b|, with singular values below `tolerance`·largest left out.
pub fn least_squares(a: &DMatrix<f64>, b: &DVector<f64>, tolerance: f64) -> DVector<f64> {
    let mut x = DVector::zeros(a.ncols());
    let Some((u, values, v)) = svd(a) else {
        x.fill(f64::NAN);
        return x;
    };
    let largest = values.first().copied().unwrap_or(0.0);
    for (k, &value) in values.iter().enumerate() {
        if value <= tolerance * largest || value == 0.0 {
            break;
        }
        let dot: f64 = (0..a.nrows()).map(|i| u[(i, k)] * b[i]).sum();
        for j in 0..a.ncols() {
            x[j] += v[(j, k)] * dot / value;
        }
    }
    x
}

/// Unit vector on which A acts least.
pub fn null_direction(a: &DMatrix<f64>) -> DVector<f64> {
    let n = a.ncols();
    match svd(a) {
        Some((_, _, v)) if n > 0 => DVector::from_fn(n, |i, _| v[(i, n - 1)]),
        _ => DVector::zeros(n),
    }
}

/// Smallest of the min(rows, columns) singular values; infinite for an empty matrix.
pub fn smallest_singular_value(a: &DMatrix<f64>) -> f64 {
    if a.nrows() == 0 || a.ncols() == 0 {
        return f64::INFINITY;
    }
    svd(a)
        .and_then(|(_, values, _)| values.last().copied())
        .unwrap_or(0.0)
}

/// Indices, ascending, of a maximal independent set of rows, by column-pivoted QR of Aᵀ.
pub fn independent_rows(a: &DMatrix<f64>, tolerance: f64) -> Vec<usize> {
    if a.nrows() == 0 || a.ncols() == 0 {
        return Vec::new();
    }
    let qr = to_faer(&a.transpose()).col_piv_qr();
    let r = qr.thin_R();
    let order = qr.P().arrays().0;
    let largest = r[(0, 0)].abs();
    let rank = (0..r.nrows().min(r.ncols()))
        .take_while(|&i| r[(i, i)].abs() > tolerance * largest)
        .count();
    let mut rows: Vec<usize> = order[..rank].to_vec();
    rows.sort_unstable();
    rows
}

/// How independent some rows are, from 0 to about 1: their smallest pivot over that of as many rows
/// chosen freely. Zero where no choice of as many rows is independent.
pub fn independence(a: &DMatrix<f64>, rows: &[usize]) -> f64 {
    let best = smallest_pivot(a, rows.len());
    if best == 0.0 {
        return 0.0;
    }
    smallest_pivot(&a.select_rows(rows), rows.len()) / best
}

/// The last of `count` pivots of the QR decomposition of Aᵀ with column pivoting; infinite for
/// none, zero where they are not independent.
fn smallest_pivot(a: &DMatrix<f64>, count: usize) -> f64 {
    if count == 0 {
        return f64::INFINITY;
    }
    if a.nrows() < count || a.ncols() < count {
        return 0.0;
    }
    let qr = to_faer(&a.transpose()).col_piv_qr();
    let r = qr.thin_R();
    let (largest, last) = (r[(0, 0)].abs(), r[(count - 1, count - 1)].abs());
    if last > RANK_TOLERANCE * largest {
        last
    } else {
        0.0
    }
}

/// A maximal set of rows that stays independent in all of several matrices of equal rank: `first`
/// if it does well everywhere, otherwise the best of the sets that single matrices suggest.
///
/// Matrices of another rank than `first` has rows take no part.
pub fn rows_independent_everywhere(seen: &[DMatrix<f64>], first: &[usize]) -> Vec<usize> {
    let sets: Vec<Vec<usize>> = seen
        .iter()
        .map(|a| independent_rows(a, RANK_TOLERANCE))
        .collect();
    let pairs = seen.iter().zip(&sets);
    let (seen, sets): (Vec<_>, Vec<_>) = pairs.filter(|(_, set)| set.len() == first.len()).unzip();
    let worst = |set: &[usize]| {
        let all = seen.iter().map(|a| independence(a, set));
        all.fold(f64::INFINITY, f64::min)
    };
    let mut best = (worst(first), first);
    if best.0 >= WELL_INDEPENDENT {
        return first.to_vec();
    }
    for set in sets {
        let found = worst(set);
        if found > best.0 {
            best = (found, set);
        }
    }
    best.1.to_vec()
}

/// Eigenvalues (ascending) and orthonormal eigenvectors of a symmetric matrix.
///
/// faer loses accuracy when entries are far from 1, so the matrix is scaled to unit size first.
pub fn symmetric_eigen(a: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let scale = a.norm_max();
    if a.nrows() == 0 {
        return Some((Vec::new(), Mat::zeros(0, 0)));
    }
    if !scale.is_finite() {
        return None;
    }
    if scale == 0.0 {
        return Some((vec![0.0; a.nrows()], Mat::identity(a.nrows(), a.nrows())));
    }
    let scaled = Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] / scale);
    let eigen = scaled.self_adjoint_eigen(Side::Lower).ok()?;
    let values = eigen
        .S()
        .column_vector()
        .iter()
        .map(|v| v * scale)
        .collect();
    Some((values, eigen.U().to_owned()))
}

/// Imaginary parts, ascending and one of each pair, of the eigenvalues of λ²M + λG + K with definite M; zero
/// for a pair that is real.
pub fn quadratic_eigenvalues(
    mass: &Mat<f64>,
    gyroscopic: &Mat<f64>,
    stiffness: &Mat<f64>,
) -> Option<Vec<f64>> {
    let n = mass.nrows();
    let l = cholesky(mass)?;
    let white = |m: &Mat<f64>| {
        let half = solve_lower(&l, m);
        solve_lower(&l, &half.transpose().to_owned())
            .transpose()
            .to_owned()
    };
    let (g, k) = (white(gyroscopic), white(stiffness));
    // Rates in units in which stiffness is of size 1.
    let unit = k.norm_max().sqrt();
    if n == 0 || unit == 0.0 {
        return Some(vec![0.0; n]);
    }
    let companion = Mat::from_fn(2 * n, 2 * n, |i, j| match (i < n, j < n) {
        (true, true) => 0.0,
        (true, false) => f64::from(u8::from(j == i + n)),
        (false, true) => -k[(i - n, j)] / (unit * unit),
        (false, false) => -g[(i - n, j - n)] / unit,
    });
    let values = companion.eigenvalues().ok()?;
    let mut out: Vec<f64> = (values.iter())
        .filter(|v| {
            let turns = v.im.abs() > 1e-9 * v.norm();
            if turns { v.im > 0.0 } else { v.re > 0.0 }
        })
        .map(|v| {
            if v.im.abs() > 1e-9 * v.norm() {
                v.im * unit
            } else {
                0.0
            }
        })
        .collect();
    out.sort_by(f64::total_cmp);
    Some(out)
}

/// Lower triangular factor of a positive definite matrix.
pub fn cholesky(a: &Mat<f64>) -> Option<Mat<f64>> {
    if a.nrows() == 0 {
        return Some(Mat::zeros(0, 0));
    }
    a.llt(Side::Lower).ok().map(|f| f.L().to_owned())
}

/// L⁻¹·B for lower triangular L.
pub fn solve_lower(l: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    let mut x = b.clone();
    if l.nrows() > 0 && b.ncols() > 0 {
        l.solve_lower_triangular_in_place(x.as_mut());
    }
    x
}

/// L⁻ᵀ·B for lower triangular L.
pub fn solve_lower_transposed(l: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    let mut x = b.clone();
    if l.nrows() > 0 && b.ncols() > 0 {
        l.transpose().solve_upper_triangular_in_place(x.as_mut());
    }
    x
}

/// Makes faer's own operations sequential: results must not depend on the number of threads, and
/// configurations are already processed in parallel.
pub fn use_one_thread() {
    faer::set_global_parallelism(faer::Par::Seq);
}

/// h_ijk = ½(∂_k M_ij + ∂_j M_ik − ∂_i M_jk), index (i·n + j)·n + k.
pub(crate) fn christoffel(gradient: &[Vec<f64>], n: usize, h: &mut [f64]) {
    for i in 0..n {
        for j in 0..n {
            for k in 0..=j {
                let value = 0.5
                    * (gradient[k][i * n + j] + gradient[j][i * n + k] - gradient[i][j * n + k]);
                h[(i * n + j) * n + k] = value;
                h[(i * n + k) * n + j] = value;
            }
        }
    }
}
