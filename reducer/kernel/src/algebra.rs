//! Small dense algebra; matrices are row-major.

use super::locate::Status;
use super::number::Number;

/// A result beyond the range of numbers is reported and set to zero.
#[inline]
pub fn settle<R: Number>(status: Status, out: &mut [R]) -> Status {
    let status = if all_finite(out) {
        status
    } else {
        Status::NotFinite
    };
    if status >= Status::Undefined {
        out.fill(R::ZERO);
    }
    status
}

#[inline]
pub fn all_finite<R: Number>(x: &[R]) -> bool {
    x.iter().all(|v| v.is_finite())
}

/// Replaces a symmetric n×n matrix by the upper triangular U with A = U Uᵀ; false where not definite.
pub fn factor<R: Number>(a: &mut [R], n: usize) -> bool {
    let a = &mut a[..n * n];
    for j in (0..n).rev() {
        let mut pivot = a[j * n + j];
        for k in j + 1..n {
            pivot -= a[j * n + k] * a[j * n + k];
        }
        if !(pivot > R::ZERO && pivot <= R::MAX) {
            return false;
        }
        let diagonal = pivot.square_root();
        a[j * n + j] = diagonal;
        for i in 0..j {
            let mut value = a[i * n + j];
            for k in j + 1..n {
                value -= a[i * n + k] * a[j * n + k];
            }
            a[i * n + j] = value / diagonal;
            a[j * n + i] = R::ZERO;
        }
    }
    true
}

/// Solves U Uᵀ x = b in place; the diagonal of U is not zero.
pub fn solve<R: Number>(u: &[R], n: usize, x: &mut [R]) {
    let (u, x) = (&u[..n * n], &mut x[..n]);
    for i in (0..n).rev() {
        let mut value = x[i];
        for k in i + 1..n {
            value -= u[i * n + k] * x[k];
        }
        x[i] = value / u[i * n + i];
    }
    for i in 0..n {
        let mut value = x[i];
        for k in 0..i {
            value -= u[k * n + i] * x[k];
        }
        x[i] = value / u[i * n + i];
    }
}

/// Replaces an n×n matrix by its factors L, with a diagonal of ones that is not stored, and R; false where a pivot is not
/// positive. None is exchanged: where the symmetric part of a matrix is definite, so are those of its leading blocks, and
/// all pivots are positive.
pub fn eliminate<R: Number>(a: &mut [R], n: usize) -> bool {
    let a = &mut a[..n * n];
    for j in 0..n {
        let pivot = a[j * n + j];
        if !(pivot > R::ZERO && pivot <= R::MAX) {
            return false;
        }
        for i in j + 1..n {
            let part = a[i * n + j] / pivot;
            a[i * n + j] = part;
            for k in j + 1..n {
                let taken = part * a[j * n + k];
                a[i * n + k] -= taken;
            }
        }
    }
    true
}

/// Solves L R x = b in place.
pub fn substitute<R: Number>(a: &[R], n: usize, x: &mut [R]) {
    let (a, x) = (&a[..n * n], &mut x[..n]);
    for i in 0..n {
        let mut value = x[i];
        for k in 0..i {
            value -= a[i * n + k] * x[k];
        }
        x[i] = value;
    }
    for i in (0..n).rev() {
        let mut value = x[i];
        for k in i + 1..n {
            value -= a[i * n + k] * x[k];
        }
        x[i] = value / a[i * n + i];
    }
}

/// Replaces the upper triangular U by the symmetric U Uᵀ.
pub fn upper_product<R: Number>(u: &mut [R], n: usize) {
    let u = &mut u[..n * n];
    for i in 0..n {
        for j in i..n {
            let mut sum = R::ZERO;
            for k in j..n {
                sum += u[i * n + k] * u[j * n + k];
            }
            // Entries right of the diagonal are read again only in later columns of this row.
            u[i * n + j] = sum;
        }
    }
    for i in 0..n {
        for j in 0..i {
            u[i * n + j] = u[j * n + i];
        }
    }
}

/// L Lᵀ of a lower triangular factor.
pub fn lower_product<R: Number>(l: &[R], n: usize, out: &mut [R]) {
    let (l, out) = (&l[..n * n], &mut out[..n * n]);
    for i in 0..n {
        for j in 0..=i {
            let mut sum = R::ZERO;
            for k in 0..=j {
                sum += l[i * n + k] * l[j * n + k];
            }
            out[i * n + j] = sum;
            out[j * n + i] = sum;
        }
    }
}

/// out += A Bᵀ + B Aᵀ for upper triangular A and B.
pub fn add_products<R: Number>(a: &[R], b: &[R], n: usize, out: &mut [R]) {
    let (a, b, out) = (&a[..n * n], &b[..n * n], &mut out[..n * n]);
    for i in 0..n {
        for j in i..n {
            let mut sum = R::ZERO;
            for k in j..n {
                sum += (a[i * n + k] * b[j * n + k]) + (b[i * n + k] * a[j * n + k]);
            }
            out[i * n + j] += sum;
            if i != j {
                out[j * n + i] += sum;
            }
        }
    }
}
