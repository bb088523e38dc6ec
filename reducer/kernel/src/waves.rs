//! Waves of a turning coordinate: 1, cos φ, sin φ, cos 2φ, sin 2φ and so on, with φ = θ in the dynamics and
//! φ = θ/2 in the outputs, whose quaternions repeat after two turns [M 9.4].
//!
//! Function 2h − 1 is cos hφ, function 2h is sin hφ. They come in pairs, since one is the derivative of the other.

use super::number::Number;

/// φ over θ in the table of the dynamics (`false`) or of the outputs (`true`).
#[inline(always)]
pub fn per_angle<R: Number>(is_motion: bool) -> R {
    if is_motion { R::of(0.5) } else { R::ONE }
}

/// Functions of one coordinate up to `degree`, in whole pairs, without the first; every `stride`-th of `out`.
#[inline(always)]
pub fn fill<R: Number>(theta: R, per_angle: R, degree: usize, stride: usize, out: &mut [R]) {
    if degree == 0 {
        return;
    }
    let (cosine, sine) = (per_angle * theta).cosine_sine();
    let twice = R::TWO * cosine;
    let (mut before, mut now) = ((R::ONE, R::ZERO), (cosine, sine));
    for h in 0..degree.div_ceil(2) {
        if h > 0 {
            let next = (twice * now.0 - before.0, twice * now.1 - before.1);
            (before, now) = (now, next);
        }
        (out[2 * h * stride], out[(2 * h + 1) * stride]) = now;
    }
}

/// `factor` times the derivatives by φ of functions that are laid out in the same way.
#[inline(always)]
pub fn differentiate<R: Number>(
    functions: &[R],
    factor: R,
    degree: usize,
    stride: usize,
    out: &mut [R],
) {
    for h in 0..degree.div_ceil(2) {
        let rate = factor * R::of((h + 1) as f64);
        let (cosine, sine) = (2 * h * stride, (2 * h + 1) * stride);
        (out[cosine], out[sine]) = (-(rate * functions[sine]), rate * functions[cosine]);
    }
}
