//! Equations of motion from stored energies [M 8.1, 8.3, 8.4].
//!
//! T = ½ |Uᵀ ν|², where ν is the rate unless rates are scaled, with U = U₀(θ) + Σ U_d(θ) η_d, upper triangular; V = P(θ) − f(θ)ᵀη + ½ |L(θ)ᵀη|².
//! With p = Uᵀ rate, Lagrange's equations are force = U̇ p + U (Uᵀ accel + U̇ᵀ rate) − ∂T/∂η + D rate + ∂V/∂η.
//! Where M is stored by its entries, U̇ p + U (Uᵀ accel + U̇ᵀ rate) is M accel + Ṁ rate.
//! The derivative of V − T by θ is one weighted sum of the stored gradients, so the gyroscopic tensor is
//! never formed.

use super::algebra::{add_products, upper_product};
use super::direct;
use super::model::{Group, Source};
use super::number::Load;
use super::parameters::weigh_gravity;
use super::polynomials::Fields;
use super::scaling::{is_scaled, scaled, share};
use super::scratch::Scratch;
use super::values::spread;

/// Derivatives of all values in time.
#[inline(always)]
pub fn rates<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    rate: &[R],
    along: &mut [R],
) {
    if let Some(motion) = &f.motion {
        along.copy_from_slice(motion.along);
        return;
    }
    for (sum, slope) in along.iter_mut().zip(f.slope(0)) {
        *sum = *slope * rate[0];
    }
    for k in 1..source.model().n_rigid {
        for (sum, slope) in along.iter_mut().zip(f.slope(k)) {
            *sum += *slope * rate[k];
        }
    }
}

/// Force for given accelerations; leaves the factor of M in `u`, or M where no factor is stored. Gravity that is
/// stored per axis is a part of it where it is given.
pub fn equations<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    [eta, rate, accel]: [&[R]; 3],
    gravity: Option<[R; 3]>,
    u: &mut [R],
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let n = m.n;
    let (eta, rate, accel) = (&eta[..n], &rate[..n], &accel[..n]);
    let (u, out) = (&mut u[..n * n], &mut out[..n]);
    // Lengths that the compiler of a generated crate knows.
    let values = m.dynamics.values;
    let value = &f.value[..values];
    let along = scratch.take(values);
    rates(source, f, rate, along);
    let du = scratch.zeros(n * n);
    let (p, dp) = (scratch.zeros(n), scratch.zeros(n));
    u.fill(R::ZERO);
    out.fill(R::ZERO);
    let scaled = is_scaled(source)
        .then(|| scaled(source, [value, &*along], [eta, rate, accel], &mut scratch));
    let (nu, nu_rate) = scaled.as_ref().map_or((rate, accel), |x| (x.rate, x.accel));
    let (nu, nu_rate) = (&nu[..n], &nu_rate[..n]);
    // U and its derivative in time.
    for (v, i, j, _) in m.list(Group::MassFactor).iter().map(|e| e.get()) {
        u[i * n + j] = value[v];
        du[i * n + j] = along[v];
    }
    for (v, i, j, k) in m.list(Group::MassSlope).iter().map(|e| e.get()) {
        u[i * n + j] += value[v] * eta[k];
        du[i * n + j] += (along[v] * eta[k]) + (value[v] * rate[k]);
    }
    // p = Uᵀ ν and its derivative in time, then U̇ p + U ṗ.
    for (i, end) in m.factor_ends.iter().enumerate() {
        let row = i * n;
        for j in i..*end as usize {
            p[j] += u[row + j] * nu[i];
            dp[j] += (du[row + j] * nu[i]) + (u[row + j] * nu_rate[i]);
        }
    }
    for (i, end) in m.factor_ends.iter().enumerate() {
        let row = i * n;
        for j in i..*end as usize {
            out[i] += (du[row + j] * p[j]) + (u[row + j] * dp[j]);
        }
    }
    add_mass(source, f, along, [rate, accel], u, out);
    // Nobody needs the rates any more.
    let weight = along;
    weight.fill(R::ZERO);
    if let Some(scaled) = &scaled {
        let momentum = scratch.zeros(m.n_rigid);
        for (i, sum) in momentum.iter_mut().enumerate() {
            for j in i..n {
                *sum += u[i * n + j] * p[j];
            }
        }
        scaled.pull_back(momentum, out, u);
        for (v, [i, j, d, e]) in m.list(Group::RateScale).iter().map(|e| e.all()) {
            let product = share::<R>(d, e) * rate[i] * momentum[j];
            out[d] -= value[v] * eta[e] * product;
            out[e] -= value[v] * eta[d] * product;
            weight[v] = -(eta[d] * eta[e] * product);
        }
    }
    // −∂T/∂η.
    for (v, i, j, _) in m.list(Group::MassFactor).iter().map(|e| e.get()) {
        weight[v] = -(nu[i] * p[j]);
    }
    for (v, i, j, _) in m.list(Group::Mass).iter().map(|e| e.get()) {
        let times = if i == j { R::of(0.5) } else { R::ONE };
        weight[v] = -(times * rate[i] * rate[j]);
    }
    for (v, i, j, k) in m.list(Group::MassSlope).iter().map(|e| e.get()) {
        let product = nu[i] * p[j];
        out[k] -= value[v] * product;
        weight[v] = -(eta[k] * product);
    }
    add_rest(source, f, [eta, rate], gravity, weight, out, scratch);
}

/// What does not come from kinetic energy.
pub fn rest<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    [eta, rate]: [&[R]; 2],
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let weight = scratch.zeros(source.model().dynamics.values);
    out.fill(R::ZERO);
    add_rest(source, f, [eta, rate], None, weight, out, scratch);
}

/// D rate + ∂V/∂η, and the part of −∂T/∂θ that `weight` holds.
#[inline(always)]
fn add_rest<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    [eta, rate]: [&[R]; 2],
    gravity: Option<[R; 3]>,
    weight: &mut [R],
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let value = &f.value[..m.dynamics.values];
    add_elastic(source, f, eta, weight, out, scratch.again());
    add_damping(source, f, rate, out, scratch.again());
    for (v, i, _, _) in m.list(Group::Force).iter().map(|e| e.get()) {
        out[i] -= value[v];
        weight[v] = -eta[i];
    }
    for e in m.list(Group::Potential) {
        weight[e.value as usize] = R::ONE;
    }
    if let Some(gravity) = gravity {
        weigh_gravity(source, gravity, value, eta, weight, out);
    }
    // ∂(V − T)/∂θ.
    match &f.motion {
        Some(motion) => {
            spread(source, weight);
            motion.add_gradient(source, weight, out, scratch);
        }
        None => add_gradient(source, f, weight, out),
    }
}

/// Adds Σ weight · ∂value/∂θ; constants have no gradient.
#[inline(always)]
pub fn add_gradient<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    weight: &[R],
    out: &mut [R],
) {
    let m = source.model();
    let columns = m.dynamics.columns;
    let combined = m.dynamics.values - source.combined().ends.len();
    for (k, sum) in out.iter_mut().enumerate().take(m.n_rigid) {
        for (w, slope) in weight[..columns].iter().zip(f.slope(k)) {
            *sum += *w * *slope;
        }
        for (w, slope) in weight[combined..].iter().zip(&f.slope(k)[combined..]) {
            *sum += *w * *slope;
        }
    }
}

/// M accel + Ṁ rate where M is stored by its entries, and M in `mass`.
#[inline(always)]
fn add_mass<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    along: &[R],
    [rate, accel]: [&[R]; 2],
    mass: &mut [R],
    out: &mut [R],
) {
    let list = source.model().list(Group::Mass);
    if list.is_empty() {
        return;
    }
    for (v, i, j, _) in list.iter().map(|e| e.get()) {
        out[i] += (f.value[v] * accel[j]) + (along[v] * rate[j]);
        if i != j {
            out[j] += (f.value[v] * accel[i]) + (along[v] * rate[i]);
        }
    }
    direct::fill(source, f, Group::Mass, mass);
}

/// K η and the weights of what K depends on.
#[inline(always)]
fn add_elastic<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    eta: &[R],
    weight: &mut [R],
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let list = m.list(Group::StiffnessFactor);
    let (value, weight) = (
        &f.value[..m.dynamics.values],
        &mut weight[..m.dynamics.values],
    );
    let (eta, out) = (&eta[..m.n], &mut out[..m.n]);
    let strain = scratch.zeros(m.n);
    for (v, i, j, _) in list.iter().map(|e| e.get()) {
        strain[j] += value[v] * eta[i];
    }
    for (v, i, j, _) in list.iter().map(|e| e.get()) {
        out[i] += value[v] * strain[j];
        weight[v] = eta[i] * strain[j];
    }
}

/// D rate.
#[inline(always)]
fn add_damping<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    rate: &[R],
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let list = m.list(Group::DampingFactor);
    let value = &f.value[..m.dynamics.values];
    let (rate, out) = (&rate[..m.n], &mut out[..m.n]);
    let damper = scratch.zeros(m.n);
    for (v, i, j, _) in list.iter().map(|e| e.get()) {
        damper[j] += value[v] * rate[i];
    }
    for (v, i, j, _) in list.iter().map(|e| e.get()) {
        out[i] += value[v] * damper[j];
    }
    for (v, i, j, _) in m.list(Group::Damping).iter().map(|e| e.get()) {
        out[i] += value[v] * rate[j];
        if i != j {
            out[j] += value[v] * rate[i];
        }
    }
}

/// U₀, or M where no factor is stored, in `u` and ∂M/∂η_k at η = (θ, 0) in `gradient`, one matrix after the other.
pub fn mass_gradient<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    u: &mut [R],
    gradient: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let n = m.n;
    let u = &mut u[..n * n];
    let du = scratch.take(n * n);
    u.fill(R::ZERO);
    for (v, i, j, _) in m.list(Group::MassFactor).iter().map(|e| e.get()) {
        u[i * n + j] = f.value[v];
    }
    gradient.fill(R::ZERO);
    for (k, gradient) in gradient.chunks_exact_mut(n * n).enumerate() {
        du.fill(R::ZERO);
        if k < m.n_rigid {
            for (v, i, j, _) in m.list(Group::MassFactor).iter().map(|e| e.get()) {
                du[i * n + j] = f.slope(k)[v];
            }
        }
        if k < m.n_rigid {
            for (v, i, j, _) in m.list(Group::Mass).iter().map(|e| e.get()) {
                gradient[i * n + j] = f.slope(k)[v];
                gradient[j * n + i] = f.slope(k)[v];
            }
        }
        let of_k = |e: &(usize, usize, usize, usize)| e.3 == k;
        let slopes = m.list(Group::MassSlope).iter().map(|e| e.get());
        for (v, i, j, _) in slopes.filter(of_k) {
            du[i * n + j] = f.value[v];
        }
        if m.has_mass_factor() {
            add_products(du, u, n, gradient);
        }
    }
    if !m.has_mass_factor() {
        direct::fill(source, f, Group::Mass, u);
    }
}

/// Mass matrix and gyroscopic tensor at η = (θ, 0).
pub fn inertia<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    mass: &mut [R],
    h: &mut [R],
    scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let n = m.n;
    // First the gradients in place of h, index k i j.
    mass_gradient(source, f, mass, h, scratch);
    // Then h_ijk = ½(∂_k M_ij + ∂_j M_ik − ∂_i M_jk), all permutations of i, j, k at once.
    let half = R::of(0.5);
    for i in 0..n {
        for j in i..n {
            for k in j..n {
                let a = h[(i * n + j) * n + k];
                let b = h[(j * n + i) * n + k];
                let c = h[(k * n + i) * n + j];
                set_pair(h, n, [i, j, k], half * (b + c - a));
                set_pair(h, n, [j, i, k], half * (a + c - b));
                set_pair(h, n, [k, i, j], half * (a + b - c));
            }
        }
    }
    if m.has_mass_factor() {
        upper_product(mass, n);
    }
}

/// h_ijk and h_ikj.
#[inline(always)]
pub fn set_pair<R: Copy>(h: &mut [R], n: usize, [i, j, k]: [usize; 3], value: R) {
    h[(i * n + j) * n + k] = value;
    h[(i * n + k) * n + j] = value;
}
