//! Derivatives of inertia forces by all rates and all modal coordinates at once [M 16.4, 16.5].
//!
//! Every stored function is looked at once, instead of twice for every column of a difference.

use super::algebra::add_products;
use super::lagrangian::rates;
use super::model::{Form, Group, Source};
use super::number::Load;
use super::polynomials::Fields;
use super::scaling::is_scaled;
use super::scratch::Scratch;

/// What inertia forces are made of in a state.
pub struct Inertia<'w, R> {
    /// Derivatives of all values in time.
    along: &'w [R],
    /// U and its derivative in time.
    u: &'w [R],
    du: &'w [R],
    /// p = Uᵀ rate and its derivative in time.
    p: &'w [R],
    dp: &'w [R],
    /// Column k is (∂U/∂η_k)ᵀ rate.
    w: &'w [R],
    /// Column k is ∂M/∂η_k rate.
    s: &'w [R],
}

impl<'w, R> Inertia<'w, R> {
    /// Of a state; nothing where energies are not stored, or rates are scaled.
    pub fn new<M: Source>(
        source: &M,
        f: &Fields<'_, R>,
        [eta, rate, accel]: [&[R]; 3],
        scratch: &mut Scratch<'w, R>,
    ) -> Option<Self>
    where
        R: Load<M::Stored>,
    {
        let m = source.model();
        if m.form != Form::Lagrangian || is_scaled(source) {
            return None;
        }
        let (n, value) = (m.n, &f.value[..m.dynamics.values]);
        let along = scratch.take(m.dynamics.values);
        rates(source, f, rate, along);
        let (u, du) = (scratch.zeros(n * n), scratch.zeros(n * n));
        let (p, dp) = (scratch.zeros(n), scratch.zeros(n));
        let (w, s) = (scratch.zeros(n * n), scratch.zeros(n * n));
        for (v, i, j, _) in m.list(Group::MassFactor).iter().map(|e| e.get()) {
            u[i * n + j] = value[v];
            du[i * n + j] = along[v];
        }
        for (v, i, j, d) in m.list(Group::MassSlope).iter().map(|e| e.get()) {
            u[i * n + j] += value[v] * eta[d];
            du[i * n + j] += (along[v] * eta[d]) + (value[v] * rate[d]);
        }
        for (i, end) in m.factor_ends.iter().enumerate() {
            for j in i..*end as usize {
                let at = i * n + j;
                p[j] += u[at] * rate[i];
                dp[j] += (du[at] * rate[i]) + (u[at] * accel[i]);
            }
        }
        for (v, i, j, _) in m.list(Group::MassFactor).iter().map(|e| e.get()) {
            for k in 0..m.n_rigid {
                let x = f.slope(k)[v];
                s[i * n + k] += x * p[j];
                w[j * n + k] += x * rate[i];
            }
        }
        for (v, i, j, d) in m.list(Group::MassSlope).iter().map(|e| e.get()) {
            for k in 0..m.n_rigid {
                let x = f.slope(k)[v] * eta[d];
                s[i * n + k] += x * p[j];
                w[j * n + k] += x * rate[i];
            }
            s[i * n + d] += value[v] * p[j];
            w[j * n + d] += value[v] * rate[i];
        }
        for (i, end) in m.factor_ends.iter().enumerate() {
            for j in i..*end as usize {
                let x = u[i * n + j];
                for k in 0..n {
                    s[i * n + k] += x * w[j * n + k];
                }
            }
        }
        for (v, i, j, _) in m.list(Group::Mass).iter().map(|e| e.get()) {
            for k in 0..m.n_rigid {
                let x = f.slope(k)[v];
                s[i * n + k] += x * rate[j];
                if i != j {
                    s[j * n + k] += x * rate[i];
                }
            }
        }
        Some(Self {
            along,
            u,
            du,
            p,
            dp,
            w,
            s,
        })
    }

    /// Derivatives by all rates, n × n: Ṁ + S − Sᵀ.
    pub fn by_rates<M: Source>(&self, source: &M, out: &mut [R])
    where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let n = m.n;
        out.fill(R::ZERO);
        if m.has_mass_factor() {
            add_products(self.du, self.u, n, out);
        }
        for (v, i, j, _) in m.list(Group::Mass).iter().map(|e| e.get()) {
            out[i * n + j] = self.along[v];
            out[j * n + i] = self.along[v];
        }
        for i in 0..n {
            for k in 0..n {
                out[i * n + k] += self.s[i * n + k] - self.s[k * n + i];
            }
        }
    }

    /// Derivatives by all modal coordinates, n × their number.
    pub fn by_modals<M: Source>(
        &self,
        source: &M,
        f: &Fields<'_, R>,
        [rate, accel]: [&[R]; 2],
        out: &mut [R],
        mut scratch: Scratch<'_, R>,
    ) where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let (n, rigid) = (m.n, m.n_rigid);
        let modal = n - rigid;
        // Column d is the derivative of p′ by η_d.
        let q = scratch.zeros(n * modal);
        out.fill(R::ZERO);
        for (v, i, j, d) in m.list(Group::MassSlope).iter().map(|e| e.get()) {
            let (value, along, c) = (f.value[v], self.along[v], d - rigid);
            out[i * modal + c] += (along * self.p[j]) + (value * self.dp[j]);
            q[j * modal + c] += (value * accel[i]) + (along * rate[i]);
            let product = rate[i] * self.p[j];
            for k in 0..rigid {
                out[k * modal + c] -= f.slope(k)[v] * product;
            }
        }
        for (i, end) in m.factor_ends.iter().enumerate() {
            for j in i..*end as usize {
                let (u, du) = (self.u[i * n + j], self.du[i * n + j]);
                for c in 0..modal {
                    out[i * modal + c] += (du * self.w[j * n + rigid + c]) + (u * q[j * modal + c]);
                }
            }
        }
        for j in 0..n {
            let w = &self.w[j * n..(j + 1) * n];
            for i in 0..n {
                for c in 0..modal {
                    out[i * modal + c] -= w[i] * w[rigid + c];
                }
            }
        }
    }
}
