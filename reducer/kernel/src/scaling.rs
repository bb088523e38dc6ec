//! How rates of θ are scaled where the mass has second-order terms [M 14.9].
//!
//! T = ½ |Uᵀ ν|² with ν = (Bᵀ rate, rate) on (θ, δ) and B = 1 + ½ Σ B_de(θ) η_d η_e, upper triangular: the mass
//! stays definite wherever B is regular, and its factor diag(B, 1) U is triangular.

use super::model::{Group, LARGEST_RIGID, Source};
use super::number::{Load, Number};
use super::polynomials::Fields;
use super::scratch::Scratch;

/// The smallest diagonal of B with which a model is evaluated.
pub const SMALLEST_SCALE: f64 = 0.1;

/// B and its derivative in time (s×s), and ν with its derivative in time.
pub struct Scaled<'w, R> {
    pub b: &'w [R],
    pub b_rate: &'w [R],
    pub rate: &'w [R],
    pub accel: &'w [R],
}

/// Rates of θ are scaled.
#[inline(always)]
pub fn is_scaled<M: Source>(source: &M) -> bool {
    !source.model().list(Group::RateScale).is_empty()
}

/// A pair d ≤ e stands for both orders: ½ where they are one, 1 otherwise.
#[inline(always)]
pub fn share<R: Number>(d: usize, e: usize) -> R {
    if d == e { R::of(0.5) } else { R::ONE }
}

/// B and what it makes of rates and accelerations; `along` holds the derivatives of all values in time.
#[inline(always)]
pub fn scaled<'w, R: Load<M::Stored>, M: Source>(
    source: &M,
    [value, along]: [&[R]; 2],
    [eta, rate, accel]: [&[R]; 3],
    scratch: &mut Scratch<'w, R>,
) -> Scaled<'w, R> {
    let m = source.model();
    let (n, s) = (m.n, m.n_rigid);
    let (b, b_rate) = (scratch.zeros(s * s), scratch.zeros(s * s));
    let (nu, nu_rate) = (scratch.zeros(n), scratch.zeros(n));
    for i in 0..s {
        b[i * s + i] = R::ONE;
    }
    for (v, [i, j, d, e]) in m.list(Group::RateScale).iter().map(|e| e.all()) {
        let share = share::<R>(d, e);
        let pair = share * eta[d] * eta[e];
        let pair_rate = share * ((rate[d] * eta[e]) + (eta[d] * rate[e]));
        b[i * s + j] += value[v] * pair;
        b_rate[i * s + j] += (along[v] * pair) + (value[v] * pair_rate);
    }
    for i in 0..s {
        for j in i..s {
            nu[j] += b[i * s + j] * rate[i];
            nu_rate[j] += (b[i * s + j] * accel[i]) + (b_rate[i * s + j] * rate[i]);
        }
    }
    nu[s..].copy_from_slice(&rate[s..]);
    nu_rate[s..].copy_from_slice(&accel[s..]);
    Scaled {
        b,
        b_rate,
        rate: nu,
        accel: nu_rate,
    }
}

impl<R: Number> Scaled<'_, R> {
    /// From d(U Uᵀ ν)/dt in `out` and the momentum U Uᵀ ν on θ to d(∂T/∂rate)/dt, and from U to the factor of
    /// the mass.
    #[inline(always)]
    pub fn pull_back(&self, momentum: &[R], out: &mut [R], u: &mut [R]) {
        let (s, n) = (momentum.len(), out.len());
        for i in 0..s {
            let mut sum = R::ZERO;
            for j in i..s {
                sum += (self.b_rate[i * s + j] * momentum[j]) + (self.b[i * s + j] * out[j]);
            }
            out[i] = sum;
            // Row i needs the rows from i on.
            for k in i..n {
                let mut sum = self.b[i * s + i] * u[i * n + k];
                for j in i + 1..s {
                    sum += self.b[i * s + j] * u[j * n + k];
                }
                u[i * n + k] = sum;
            }
        }
    }
}

/// ν alone, in place of the rates.
pub fn scale_rates<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    [eta, rate]: [&[R]; 2],
    out: &mut [R],
) {
    out.copy_from_slice(rate);
    for (v, [i, j, d, e]) in source
        .model()
        .list(Group::RateScale)
        .iter()
        .map(|e| e.all())
    {
        out[j] += f.value[v] * share::<R>(d, e) * eta[d] * eta[e] * rate[i];
    }
}

/// Every diagonal of B is at least [`SMALLEST_SCALE`].
#[inline(always)]
pub fn within_range<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    eta: &[R],
) -> bool {
    if !is_scaled(source) {
        return true;
    }
    let m = source.model();
    let mut diagonal = [R::ONE; LARGEST_RIGID];
    for (v, [i, j, d, e]) in m.list(Group::RateScale).iter().map(|e| e.all()) {
        if i == j {
            diagonal[i] += f.value[v] * share::<R>(d, e) * eta[d] * eta[e];
        }
    }
    diagonal[..m.n_rigid]
        .iter()
        .all(|b| *b >= R::of(SMALLEST_SCALE))
}
