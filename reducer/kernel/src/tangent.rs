//! Derivative of the inertia forces of models whose rates are scaled.
//!
//! Such forces are of sixth degree in modal coordinates and of fourth degree in stored functions, so that
//! every product is differentiated: `x_rate` is the derivative of x in time, `x_by` that along a direction in
//! which modal coordinates move by `eta_by` and stored functions by `df`, `x_rate_by` both.

use super::lagrangian::add_gradient;
use super::model::{Group, Source};
use super::number::{Load, Number};
use super::polynomials::Fields;
use super::scaling::share;
use super::scratch::Scratch;

/// A quantity with its derivatives.
struct Jet<'w, R> {
    value: &'w mut [R],
    rate: &'w mut [R],
    by: &'w mut [R],
    rate_by: &'w mut [R],
}

impl<'w, R: Number> Jet<'w, R> {
    fn zeros(count: usize, scratch: &mut Scratch<'w, R>) -> Self {
        Self {
            value: scratch.zeros(count),
            rate: scratch.zeros(count),
            by: scratch.zeros(count),
            rate_by: scratch.zeros(count),
        }
    }

    /// Adds a product of two quantities at `at`.
    #[inline(always)]
    fn add(&mut self, at: usize, [x, x_rate, x_by, x_both]: [R; 4], y: [R; 4]) {
        let [y, y_rate, y_by, y_both] = y;
        self.value[at] += x * y;
        self.rate[at] += (x_rate * y) + (x * y_rate);
        self.by[at] += (x_by * y) + (x * y_by);
        self.rate_by[at] += ((x_both * y) + (x_rate * y_by)) + ((x_by * y_rate) + (x * y_both));
    }

    #[inline(always)]
    fn at(&self, at: usize) -> [R; 4] {
        [self.value[at], self.rate[at], self.by[at], self.rate_by[at]]
    }
}

/// η, its direction, rates and accelerations.
pub struct Direction<'a, R> {
    pub eta: &'a [R],
    pub eta_by: &'a [R],
    pub rate: &'a [R],
    pub accel: &'a [R],
}

impl<R: Number> Direction<'_, R> {
    fn modal(&self, d: usize) -> [R; 4] {
        [self.eta[d], self.rate[d], self.eta_by[d], R::ZERO]
    }

    fn rate(&self, i: usize) -> [R; 4] {
        [self.rate[i], self.accel[i], R::ZERO, R::ZERO]
    }
}

/// Derivative of the force that comes from kinetic energy, accelerations fixed, along a direction.
pub fn inertia_tangent<R: Load<M::Stored>, M: Source>(
    source: &M,
    [f, df]: [&Fields<'_, R>; 2],
    x: &Direction<'_, R>,
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let (n, s) = (m.n, m.n_rigid);
    let stored = stored_jet(source, [f, df], x.rate, &mut scratch);
    let (mut u, mut b) = (
        Jet::zeros(n * n, &mut scratch),
        Jet::zeros(s * s, &mut scratch),
    );
    let one = [R::ONE, R::ZERO, R::ZERO, R::ZERO];
    for i in 0..s {
        b.add(i * s + i, one, one);
    }
    for (v, i, j, _) in m.list(Group::MassFactor).iter().map(|e| e.get()) {
        u.add(i * n + j, stored.at(v), one);
    }
    for (v, i, j, k) in m.list(Group::MassSlope).iter().map(|e| e.get()) {
        u.add(i * n + j, stored.at(v), x.modal(k));
    }
    for (v, [i, j, d, e]) in m.list(Group::RateScale).iter().map(|e| e.all()) {
        b.add(i * s + j, stored.at(v), pair(x, d, e));
    }
    // ν = (Bᵀ rate, rate), p = Uᵀ ν, momentum U p.
    let mut nu = Jet::zeros(n, &mut scratch);
    for j in 0..s {
        for i in 0..=j {
            nu.add(j, b.at(i * s + j), x.rate(i));
        }
    }
    for i in s..n {
        nu.add(i, x.rate(i), one);
    }
    let (mut p, mut momentum) = (Jet::zeros(n, &mut scratch), Jet::zeros(n, &mut scratch));
    for i in 0..n {
        for j in i..n {
            p.add(j, u.at(i * n + j), nu.at(i));
        }
    }
    for i in 0..n {
        for j in i..n {
            momentum.add(i, u.at(i * n + j), p.at(j));
        }
    }
    let mut total = Jet::zeros(n, &mut scratch);
    for i in 0..n {
        if i >= s {
            total.add(i, momentum.at(i), one);
        }
        for j in i..s {
            total.add(i, b.at(i * s + j), momentum.at(j));
        }
    }
    out.copy_from_slice(total.rate_by);
    take_energy(source, [f, df], x, [&nu, &p, &momentum], out, scratch);
}

/// Takes off the derivative of ∂T/∂η.
fn take_energy<R: Load<M::Stored>, M: Source>(
    source: &M,
    [f, df]: [&Fields<'_, R>; 2],
    x: &Direction<'_, R>,
    [nu, p, momentum]: [&Jet<'_, R>; 3],
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let values = m.dynamics.values;
    let (weight, weight_by) = (scratch.zeros(values), scratch.zeros(values));
    for (v, i, j, _) in m.list(Group::MassFactor).iter().map(|e| e.get()) {
        weight[v] = -(nu.value[i] * p.value[j]);
        weight_by[v] = -((nu.by[i] * p.value[j]) + (nu.value[i] * p.by[j]));
    }
    for (v, i, j, k) in m.list(Group::MassSlope).iter().map(|e| e.get()) {
        let product = nu.value[i] * p.value[j];
        let by = (nu.by[i] * p.value[j]) + (nu.value[i] * p.by[j]);
        out[k] -= (df.value[v] * product) + (f.value[v] * by);
        weight[v] = -(x.eta[k] * product);
        weight_by[v] = -((x.eta_by[k] * product) + (x.eta[k] * by));
    }
    for (v, [i, j, d, e]) in m.list(Group::RateScale).iter().map(|e| e.all()) {
        let rate = share::<R>(d, e) * x.rate[i];
        let (product, by) = (rate * momentum.value[j], rate * momentum.by[j]);
        for (one, other) in [(d, e), (e, d)] {
            let moved = (df.value[v] * x.eta[other]) + (f.value[v] * x.eta_by[other]);
            out[one] -= (moved * product) + (f.value[v] * x.eta[other] * by);
        }
        let turned = (x.eta_by[d] * x.eta[e]) + (x.eta[d] * x.eta_by[e]);
        weight[v] = -(x.eta[d] * x.eta[e] * product);
        weight_by[v] = -((turned * product) + (x.eta[d] * x.eta[e] * by));
    }
    add_gradient(source, f, weight_by, out);
    add_gradient(source, df, weight, out);
}

/// η_d η_e, half of it where they are one.
fn pair<R: Number>(x: &Direction<'_, R>, d: usize, e: usize) -> [R; 4] {
    let share = share::<R>(d, e);
    let [a, a_rate, a_by, _] = x.modal(d);
    let [b, b_rate, b_by, _] = x.modal(e);
    [
        share * a * b,
        share * ((a_rate * b) + (a * b_rate)),
        share * ((a_by * b) + (a * b_by)),
        share * ((a_rate * b_by) + (a_by * b_rate)),
    ]
}

/// All stored values with their derivatives, in time for those that kinetic energy is made of.
fn stored_jet<'w, R: Load<M::Stored>, M: Source>(
    source: &M,
    [f, df]: [&Fields<'_, R>; 2],
    rate: &[R],
    scratch: &mut Scratch<'w, R>,
) -> Jet<'w, R> {
    let m = source.model();
    let jet = Jet::zeros(m.dynamics.values, scratch);
    jet.value.copy_from_slice(f.value);
    jet.by.copy_from_slice(df.value);
    let groups = [Group::MassFactor, Group::MassSlope, Group::RateScale];
    for (v, ..) in groups.iter().flat_map(|g| m.list(*g)).map(|e| e.all()) {
        for k in 0..m.n_rigid {
            jet.rate[v] += f.slope(k)[v] * rate[k];
            jet.rate_by[v] += df.slope(k)[v] * rate[k];
        }
    }
    jet
}
