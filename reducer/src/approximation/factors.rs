//! Triangular factors and their derivatives; quaternions and theirs. Matrices row-major n×n.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

/// Upper triangular U with A = U Uᵀ [M 8.2], absent where A is not positive definite.
pub(super) fn upper_factor(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut u = a.to_vec();
    kernel::factor(&mut u, n).then_some(u)
}

/// The upper triangular dU with dA = dU Uᵀ + U dUᵀ [M 8.2].
fn upper_factor_slope(u: &[f64], da: &[f64], n: usize) -> Vec<f64> {
    let mut x = da.to_vec();
    make_upper_factor_slope(u, &mut x, n);
    x
}

/// The same in place of dA: dU = U X, X + Xᵀ = U⁻¹ dA U⁻ᵀ.
pub(super) fn make_upper_factor_slope(u: &[f64], x: &mut [f64], n: usize) {
    whiten_upper(u, x, n);
    // Row i of U X needs the rows of X from i on, so that the product replaces X row by row.
    for i in 0..n {
        x[i * n..i * n + i].fill(0.0);
        for j in i..n {
            let mut sum = 0.5 * u[i * n + j] * x[j * n + j];
            for k in i..j {
                sum += u[i * n + k] * x[k * n + j];
            }
            x[i * n + j] = sum;
        }
    }
}

/// Lower triangular L with A = L Lᵀ, absent where A is not positive definite.
pub(super) fn lower_factor(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let u = upper_factor(&reversed(a), n)?;
    Some(reversed(&u))
}

/// The lower triangular dL with dA = dL Lᵀ + L dLᵀ.
pub(super) fn lower_factor_slope(l: &[f64], da: &[f64], n: usize) -> Vec<f64> {
    reversed(&upper_factor_slope(&reversed(l), &reversed(da), n))
}

/// Rows and columns in the opposite order: J A J.
fn reversed(a: &[f64]) -> Vec<f64> {
    a.iter().rev().copied().collect()
}

/// A ← U⁻¹ A U⁻ᵀ for upper triangular U and symmetric A.
pub(super) fn whiten_upper(u: &[f64], a: &mut [f64], n: usize) {
    for i in (0..n).rev() {
        solve_row(u, a, n, i, i + 1..n);
    }
    transpose(a, n);
    for i in (0..n).rev() {
        solve_row(u, a, n, i, i + 1..n);
    }
}

/// A ← L⁻¹ A L⁻ᵀ for lower triangular L and symmetric A.
pub(super) fn whiten_lower(l: &[f64], a: &mut [f64], n: usize) {
    for i in 0..n {
        solve_row(l, a, n, i, 0..i);
    }
    transpose(a, n);
    for i in 0..n {
        solve_row(l, a, n, i, 0..i);
    }
}

/// Row i of F⁻¹ A, where the rows `others` are there already.
fn solve_row(f: &[f64], a: &mut [f64], n: usize, i: usize, others: std::ops::Range<usize>) {
    for k in others {
        let factor = f[i * n + k];
        let (row, other) = if i < k {
            let (head, tail) = a.split_at_mut(k * n);
            (&mut head[i * n..(i + 1) * n], &tail[..n])
        } else {
            let (head, tail) = a.split_at_mut(i * n);
            (&mut tail[..n], &head[k * n..(k + 1) * n])
        };
        for (value, other) in row.iter_mut().zip(other) {
            *value -= factor * other;
        }
    }
    let inverse = 1.0 / f[i * n + i];
    for value in &mut a[i * n..(i + 1) * n] {
        *value *= inverse;
    }
}

fn transpose(a: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            a.swap(i * n + j, j * n + i);
        }
    }
}

/// A ← A U⁻¹ for upper triangular A and U.
pub(super) fn over_upper(u: &[f64], a: &mut [f64], n: usize) {
    for i in 0..n {
        for j in i..n {
            let mut value = a[i * n + j];
            for k in i..j {
                value -= a[i * n + k] * u[k * n + j];
            }
            a[i * n + j] = value / u[j * n + j];
        }
    }
}

/// Quaternion (w, x, y, z) of a row-major rotation matrix, either sign.
pub(super) fn quaternion(rotation: &[f64; 9]) -> [f64; 4] {
    let matrix = Matrix3::from_row_slice(rotation);
    let q = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix));
    [q.w, q.i, q.j, q.k]
}

/// dq = ½ ω q, for ω in the outer axes.
pub(super) fn quaternion_slope(q: &[f64; 4], omega: [f64; 3]) -> [f64; 4] {
    let v = Vector3::new(q[1], q[2], q[3]);
    let w = Vector3::from(omega);
    let vector = w * q[0] + w.cross(&v);
    [
        -0.5 * w.dot(&v),
        0.5 * vector.x,
        0.5 * vector.y,
        0.5 * vector.z,
    ]
}

/// q turned by the rotation vector `turn` in the outer axes.
pub(super) fn quaternion_turned(q: &[f64; 4], turn: [f64; 3]) -> [f64; 4] {
    let step = UnitQuaternion::from_scaled_axis(Vector3::from(turn));
    let old = nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]);
    let new = step.into_inner() * old;
    [new.w, new.i, new.j, new.k]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definite(t: f64) -> Vec<f64> {
        let g = [
            1.0 + t,
            0.3 * t,
            -0.2,
            0.5,
            1.2 - t,
            0.4 * t * t,
            0.1 * t,
            0.7,
            1.5,
        ];
        let mut a = vec![0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                a[i * 3 + j] = (0..3).map(|k| g[i * 3 + k] * g[j * 3 + k]).sum();
            }
        }
        a
    }

    #[test]
    fn slopes_of_both_factors_agree_with_differences() {
        let (t, h) = (0.3, 1e-5);
        let (a, b) = (definite(t + h), definite(t - h));
        let da: Vec<f64> = a.iter().zip(&b).map(|(x, y)| (x - y) / (2.0 * h)).collect();
        type Factor = fn(&[f64], usize) -> Option<Vec<f64>>;
        type Slope = fn(&[f64], &[f64], usize) -> Vec<f64>;
        let pairs: [(Factor, Slope); 2] = [
            (upper_factor, upper_factor_slope),
            (lower_factor, lower_factor_slope),
        ];
        for (factor, slope) in pairs {
            let at = factor(&definite(t), 3).expect("definite");
            let (fa, fb) = (
                factor(&a, 3).expect("definite"),
                factor(&b, 3).expect("definite"),
            );
            let exact = slope(&at, &da, 3);
            for i in 0..9 {
                assert!((exact[i] - (fa[i] - fb[i]) / (2.0 * h)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn whitening_is_undone_by_the_factors() {
        let (a, b) = (definite(0.3), definite(-0.4));
        type Factor = fn(&[f64], usize) -> Option<Vec<f64>>;
        type Whiten = fn(&[f64], &mut [f64], usize);
        let pairs: [(Factor, Whiten); 2] =
            [(upper_factor, whiten_upper), (lower_factor, whiten_lower)];
        for (factor, whiten) in pairs {
            let f = factor(&a, 3).expect("definite");
            let mut x = b.clone();
            whiten(&f, &mut x, 3);
            for i in 0..3 {
                for j in 0..3 {
                    let terms = (0..9).map(|kl| (kl / 3, kl % 3));
                    let product: f64 = terms
                        .map(|(k, l)| f[i * 3 + k] * x[k * 3 + l] * f[j * 3 + l])
                        .sum();
                    assert!((product - b[i * 3 + j]).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn lower_factor_is_cholesky() {
        let l = lower_factor(&definite(0.1), 3).expect("definite");
        assert_eq!([l[1], l[2], l[5]], [0.0; 3]);
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| l[i * 3 + k] * l[j * 3 + k]).sum();
                assert!((product - definite(0.1)[i * 3 + j]).abs() < 1e-14);
            }
        }
        assert!(lower_factor(&[1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}
