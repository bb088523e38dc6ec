//! Equations of motion of both forms, with parameters.

use super::algebra::{factor, lower_product, upper_product};
use super::model::{Form, Group, Source};
use super::number::Load;
use super::parameters::{self, Parameters};
use super::polynomials::{Fields, Place};
use super::scratch::Scratch;
use super::{direct, lagrangian};

/// Force of the nominal model without gravity per axis; leaves the factor of M, or M where no factor is stored, in `u`.
#[inline(always)]
pub fn equations<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    motion: [&[R]; 3],
    u: &mut [R],
    out: &mut [R],
    scratch: Scratch<'_, R>,
) {
    let m = source.model();
    match m.form {
        Form::Lagrangian => lagrangian::equations(source, f, motion, None, u, out, scratch),
        Form::Direct => direct::equations(source, f, motion, u, out, scratch),
    }
}

/// A model at a place, with parameters.
pub struct Point<'a, R, M> {
    /// The model.
    pub source: &'a M,
    /// Parameters; without any the model is the nominal one.
    pub p: Option<&'a Parameters<'a, R>>,
    /// Where.
    pub place: Place<'a, R>,
    /// The dynamics' polynomials there.
    pub f: &'a Fields<'a, R>,
}

impl<R: Load<M::Stored>, M: Source> Point<'_, R, M> {
    /// Force for (η, rate, accel), Coulomb friction apart; leaves what [`equations`] leaves in `u`, and the
    /// masses that parameters add in `extra`.
    pub fn residual(
        &self,
        motion: [&[R]; 3],
        u: &mut [R],
        extra: &mut [R],
        out: &mut [R],
        mut scratch: Scratch<'_, R>,
    ) {
        self.nominal(motion, true, u, out, scratch.again());
        if let Some(p) = self.p {
            extra.fill(R::ZERO);
            p.add(self.source, &self.place, motion, out, extra, scratch);
        }
    }

    /// The same of the mechanism alone; its inertia forces may be left out in the form `Lagrangian`.
    #[inline(always)]
    pub fn nominal(
        &self,
        motion: [&[R]; 3],
        with_inertia: bool,
        u: &mut [R],
        out: &mut [R],
        scratch: Scratch<'_, R>,
    ) {
        let [eta, rate, _] = motion;
        if self.f.motion.is_some() {
            // One sum of gradients holds gravity too.
            let gravity = parameters::stored_gravity(self.source, self.p);
            lagrangian::equations(self.source, self.f, motion, gravity, u, out, scratch);
            return;
        }
        if with_inertia {
            equations(self.source, self.f, motion, u, out, scratch);
        } else {
            lagrangian::rest(self.source, self.f, [eta, rate], out, scratch);
        }
        if self.source.model().has_gravity_terms() {
            parameters::take_gravity(self.source, self.p, self.f, eta, out);
        }
    }

    /// Memory for the masses that parameters add; none without parameters.
    #[inline(always)]
    pub fn extra<'w>(&self, scratch: &mut Scratch<'w, R>) -> &'w mut [R] {
        let n = self.source.model().n;
        scratch.take(if self.p.is_some() { n * n } else { 0 })
    }

    /// The mass matrix from what [`Self::residual`] left.
    pub fn mass(&self, u: &mut [R], extra: &[R]) {
        if self.source.model().has_mass_factor() {
            upper_product(u, self.source.model().n);
        }
        self.add_extra(u, extra);
    }

    fn add_extra(&self, u: &mut [R], extra: &[R]) {
        if self.p.is_some() {
            for (m, e) in u.iter_mut().zip(extra) {
                *m += *e;
            }
        }
    }

    /// Its factor, in `u`; false where it is not definite.
    pub fn mass_factor(&self, u: &mut [R], extra: &[R]) -> bool {
        let n = self.source.model().n;
        if self.source.model().has_mass_factor() && self.p.is_none() {
            return (0..n).all(|i| u[i * n + i] != R::ZERO);
        }
        self.mass(u, extra);
        factor(u, n)
    }

    /// Coulomb friction on θ_k.
    #[inline(always)]
    pub fn coulomb(&self, k: usize, rate: R) -> R {
        self.p.map_or(R::ZERO, |p| p.coulomb_force(k, rate))
    }
}

/// Stiffness.
pub fn stiffness_matrix<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    out: &mut [R],
    scratch: Scratch<'_, R>,
) {
    let m = source.model();
    if m.list(Group::StiffnessFactor).is_empty() {
        direct::fill(source, f, Group::Stiffness, out);
    } else {
        square(source, f, Group::StiffnessFactor, out, scratch);
    }
}

/// Damping.
pub fn damping_matrix<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    out: &mut [R],
    scratch: Scratch<'_, R>,
) {
    let m = source.model();
    if m.list(Group::DampingFactor).is_empty() {
        out.fill(R::ZERO);
    } else {
        square(source, f, Group::DampingFactor, out, scratch);
    }
    for (v, i, j, _) in m.list(Group::Damping).iter().map(|e| e.get()) {
        out[i * m.n + j] += f.value[v];
        if i != j {
            out[j * m.n + i] += f.value[v];
        }
    }
}

/// L Lᵀ of a stored lower triangular factor.
fn square<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    group: Group,
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let l = scratch.zeros(m.n * m.n);
    for (v, i, j, _) in m.list(group).iter().map(|e| e.get()) {
        l[i * m.n + j] = f.value[v];
    }
    lower_product(l, m.n, out);
}
