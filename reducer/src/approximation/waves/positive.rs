//! Proof that sums of waves are positive over a whole domain.

use crate::reduced_model::Functions;

/// Pieces of the domain, at most.
const MOST_PIECES: usize = 4_000;

/// A term: its coefficient, and the frequency and phase of every factor, a cosine.
struct Term {
    coefficient: f64,
    factors: Vec<(f64, f64)>,
}

/// Smallest value that a positive sum of waves and Chebyshev polynomials is shown to have for θ between `lower` and
/// `upper`.
///
/// T_i(ξ) is cos iφ with ξ = cos φ, so that every factor is a cosine of some angle. On a piece with centre c and half
/// widths r, f ≥ f(c) − Σ r_k |∂_k f(c)| − ½ Σ |w| (Σ_k h_k r_k)² [M 9.6], with the frequencies h_k of the term that has weight w.
pub(in super::super) fn lower_bound(
    terms: &[(&[u8], f64)],
    functions: &[Functions],
    lower: &[f64],
    upper: &[f64],
) -> Option<f64> {
    let constant: f64 = (terms.iter().filter(|(t, _)| t.iter().all(|d| *d == 0)))
        .map(|(_, c)| c)
        .sum();
    let others: f64 = terms.iter().map(|(_, c)| c.abs()).sum::<f64>() - constant.abs();
    if constant > others {
        return Some(constant - others);
    }
    let sum: Vec<Term> = terms.iter().map(|(t, c)| term(t, *c, functions)).collect();
    let ends = |k: usize| match functions[k] {
        Functions::Waves => (lower[k], upper[k]),
        Functions::Polynomials => (0.0, std::f64::consts::PI),
    };
    let ends: Vec<(f64, f64)> = (0..functions.len()).map(ends).collect();
    let middle = |(low, high): &(f64, f64)| (0.5 * (low + high), 0.5 * (high - low));
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![ends.iter().map(middle).collect()];
    let (mut bound, mut visited) = (f64::MAX, 0);
    while let Some(piece) = pieces.pop() {
        visited += 1;
        let (low, steepest) = bound_on(&sum, &piece);
        if low > 0.0 {
            bound = bound.min(low);
            continue;
        }
        if visited + pieces.len() >= MOST_PIECES {
            return None;
        }
        for side in [-0.5, 0.5] {
            let mut half = piece.clone();
            half[steepest].0 += side * half[steepest].1;
            half[steepest].1 *= 0.5;
            pieces.push(half);
        }
    }
    Some(bound)
}

fn term(numbers: &[u8], coefficient: f64, functions: &[Functions]) -> Term {
    let factor = |(number, functions): (&u8, &Functions)| {
        let i = f64::from(*number);
        match functions {
            Functions::Polynomials => (i, 0.0),
            // sin hθ = cos(hθ − π/2).
            Functions::Waves if number % 2 == 0 && *number > 0 => {
                (0.5 * i, -std::f64::consts::FRAC_PI_2)
            }
            Functions::Waves => (0.5 * (i + f64::from(number % 2)), 0.0),
        }
    };
    Term {
        coefficient,
        factors: numbers.iter().zip(functions).map(factor).collect(),
    }
}

/// Lower bound on a piece, given by centre and half width of every angle, and the angle that loosens it most.
fn bound_on(sum: &[Term], piece: &[(f64, f64)]) -> (f64, usize) {
    let mut value = 0.0;
    let mut slopes = vec![0.0; piece.len()];
    let mut spreads = vec![0.0; piece.len()];
    let mut rest = 0.0;
    for term in sum {
        let waves = || term.factors.iter().zip(piece);
        let cosines: Vec<f64> = waves().map(|((h, p), (c, _))| (h * c + p).cos()).collect();
        value += term.coefficient * cosines.iter().product::<f64>();
        let mut turn = 0.0;
        for (k, ((h, p), (c, r))) in waves().enumerate().filter(|(_, ((h, _), _))| *h > 0.0) {
            let others: f64 = (cosines.iter().enumerate().filter(|(i, _)| *i != k))
                .map(|(_, c)| c)
                .product();
            slopes[k] -= term.coefficient * h * (h * c + p).sin() * others;
            spreads[k] += term.coefficient.abs() * h * r;
            turn += h * r;
        }
        rest += 0.5 * term.coefficient.abs() * turn * turn;
    }
    let first: f64 = slopes
        .iter()
        .zip(piece)
        .map(|(g, (_, r))| g.abs() * r)
        .sum();
    let steepest = (0..piece.len()).fold(
        0,
        |best, k| if spreads[k] > spreads[best] { k } else { best },
    );
    (value - first - rest, steepest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn bound(terms: &[(&[u8], f64)]) -> Option<f64> {
        let functions = [Functions::Waves, Functions::Polynomials];
        lower_bound(terms, &functions, &[-PI, 0.0], &[PI, 0.2])
    }

    #[test]
    fn positive_sums_are_proven_and_others_are_not() {
        // 2.1 + (cos θ + sin θ) T₂: at least 2.1 − √2, while the sum of all sizes is 2.
        let low = bound(&[(&[0, 0], 1.9), (&[1, 2], 1.0), (&[2, 2], 1.0)]).expect("positive");
        assert!(low > 0.0 && low <= 1.9 - 2f64.sqrt() + 1e-12);
        assert_eq!(
            bound(&[(&[0, 0], 1.4), (&[1, 2], 1.0), (&[2, 2], 1.0)]),
            None
        );
        let simple = bound(&[(&[0, 0], 3.0), (&[4, 1], -1.0)]).expect("positive");
        assert!((simple - 2.0).abs() < 1e-12);
    }
}
