//! Equations of motion whose blocks are stored independently [M 1.1]:
//! force = M accel + h[rate, rate] + D rate + K η − f, and on δ what stiffens and softens with the square of the
//! rates where it is stored [M 14.6].

use super::lagrangian::set_pair;
use super::model::{Group, Source};
use super::number::Load;
use super::polynomials::Fields;
use super::scaling::share;
use super::scratch::Scratch;

/// Force for given accelerations; leaves M in `u`.
pub fn equations<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    [eta, rate, accel]: [&[R]; 3],
    u: &mut [R],
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let n = m.n;
    let (rate, out) = (&rate[..n], &mut out[..n]);
    out.fill(R::ZERO);
    add_symmetric(source, f, Group::Mass, accel, out);
    if !m.list(Group::Gyroscopic).is_empty() {
        // rate_j rate_k, twice where both h_ijk and h_ikj are meant.
        let products = scratch.take(n * n);
        for j in 0..n {
            products[j * n + j] = rate[j] * rate[j];
            for k in j + 1..n {
                products[j * n + k] = R::TWO * rate[j] * rate[k];
            }
        }
        for (v, i, j, k) in m.list(Group::Gyroscopic).iter().map(|e| e.get()) {
            out[i] += f.value[v] * products[j * n + k];
        }
    }
    // −½ ∂²M_jk/∂η_d∂η_e rate_j rate_k η_e on the rows of δ.
    for (v, [j, k, d, e]) in m.list(Group::MassCurvature).iter().map(|e| e.all()) {
        let product = f.value[v] * share::<R>(j, k) * share::<R>(d, e) * rate[j] * rate[k];
        out[d] -= product * eta[e];
        out[e] -= product * eta[d];
    }
    add_symmetric(source, f, Group::Stiffness, eta, out);
    add_symmetric(source, f, Group::Damping, rate, out);
    for (v, i, _, _) in m.list(Group::Force).iter().map(|e| e.get()) {
        out[i] -= f.value[v];
    }
    fill(source, f, Group::Mass, u);
}

/// out += A x for a symmetric matrix.
#[inline(always)]
fn add_symmetric<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    group: Group,
    x: &[R],
    out: &mut [R],
) {
    let m = source.model();
    for (v, i, j, _) in m.list(group).iter().map(|e| e.get()) {
        out[i] += f.value[v] * x[j];
        if i != j {
            out[j] += f.value[v] * x[i];
        }
    }
}

/// A symmetric matrix.
#[inline(always)]
pub fn fill<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    group: Group,
    out: &mut [R],
) {
    let m = source.model();
    let n = m.n;
    out.fill(R::ZERO);
    for (v, i, j, _) in m.list(group).iter().map(|e| e.get()) {
        out[i * n + j] = f.value[v];
        out[j * n + i] = f.value[v];
    }
}

/// Mass matrix and gyroscopic tensor.
pub fn inertia<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    mass: &mut [R],
    h: &mut [R],
) {
    let m = source.model();
    fill(source, f, Group::Mass, mass);
    h.fill(R::ZERO);
    for (v, i, j, k) in m.list(Group::Gyroscopic).iter().map(|e| e.get()) {
        set_pair(h, m.n, [i, j, k], f.value[v]);
    }
}
