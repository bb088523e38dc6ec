//! Inverse and forward dynamics, and energy.
//!
//! `lagrangian`: with p = Uᵀη̇, T = ½ pᵀp and Lagrange's equations read
//! τ = U̇p + U(Uᵀη̈ + U̇ᵀη̇) − ∂T/∂η + D̄η̇ + ∂V/∂η. U̇ is one directional derivative of the stored
//! polynomials, ∂(V − T)/∂θ one adjoint derivative; the gyroscopic tensor is never formed.

use super::evaluate::{EvaluationError, Evaluator, Status, Workspace, check_length};
use super::{Component, ModelForm};

impl Evaluator<'_> {
    /// Generalised force τ = M̄η̈ + h + D̄η̇ + ∂V/∂η that produces the acceleration `accel`.
    pub fn inverse_dynamics(
        &self,
        eta: &[f64],
        rate: &[f64],
        accel: &[f64],
        force: &mut [f64],
        work: &mut Workspace,
    ) -> Result<Status, EvaluationError> {
        let n = self.n();
        check_length("eta", eta.len(), n)?;
        check_length("rate", rate.len(), n)?;
        check_length("accel", accel.len(), n)?;
        check_length("force", force.len(), n)?;
        force.fill(0.0);
        let status = self.locate_state(eta, &[rate, accel], work);
        if status < Status::Undefined {
            self.evaluate_dynamics(work);
            self.add_inertia_and_potential(eta, rate, Some(accel), force, work);
            self.add_parameters(eta, rate, Some(accel), force, work);
        }
        Ok(settled(status, force))
    }

    /// Acceleration under the generalised force `force`: two triangular solves.
    pub fn forward_dynamics(
        &self,
        eta: &[f64],
        rate: &[f64],
        force: &[f64],
        accel: &mut [f64],
        work: &mut Workspace,
    ) -> Result<Status, EvaluationError> {
        let n = self.n();
        check_length("eta", eta.len(), n)?;
        check_length("rate", rate.len(), n)?;
        check_length("force", force.len(), n)?;
        check_length("accel", accel.len(), n)?;
        accel.fill(0.0);
        let mut status = self.locate_state(eta, &[rate, force], work);
        if status < Status::Undefined {
            self.evaluate_dynamics(work);
            self.add_inertia_and_potential(eta, rate, None, accel, work);
            self.add_parameters(eta, rate, None, accel, work);
            for (a, f) in accel.iter_mut().zip(force) {
                *a = f - *a;
            }
            if self.factor_mass(work) {
                solve_upper_factor(&work.factor, n, accel);
            } else {
                accel.fill(0.0);
                status = Status::Undefined;
            }
        }
        Ok(settled(status, accel))
    }

    /// Kinetic and potential energy.
    pub fn energy(
        &self,
        eta: &[f64],
        rate: &[f64],
        work: &mut Workspace,
    ) -> Result<(f64, f64, Status), EvaluationError> {
        let n = self.n();
        check_length("eta", eta.len(), n)?;
        check_length("rate", rate.len(), n)?;
        let status = self.locate_state(eta, &[rate], work);
        if status >= Status::Undefined {
            return Ok((0.0, 0.0, status));
        }
        self.evaluate_dynamics(work);
        let s = self.n_rigid();
        let [p, y, ..] = &mut work.vectors;
        reset(p, n);
        reset(y, n);
        let (mut kinetic, mut potential) = (0.0, 0.0);
        self.visit_dynamics(&work.values, &[], |component, v, _| match component {
            Component::MassFactor { row, column } => p[column] += v * rate[row],
            Component::MassFactorSlope {
                coordinate,
                row,
                column,
            } => p[column] += v * eta[coordinate] * rate[row],
            Component::Mass { row, column } => {
                kinetic += symmetric_weight(row, column) * v * rate[row] * rate[column]
            }
            Component::StiffnessFactor { row, column } => y[column] += v * eta[row],
            Component::Stiffness { row, column } => {
                potential += symmetric_weight(row, column) * v * eta[row] * eta[column]
            }
            Component::Potential => potential += v,
            Component::Force { row } if row >= s => potential -= v * eta[row],
            Component::GravityPotential { axis } => potential += self.gravity[axis] * v,
            Component::GravityForce { row, axis } if row >= s => {
                potential -= self.gravity[axis] * v * eta[row]
            }
            _ => {}
        });
        let half_square = |v: &[f64]| 0.5 * v.iter().map(|x| x * x).sum::<f64>();
        let own = (kinetic + half_square(p), potential + half_square(y));
        let (kinetic, potential) = self.added_energy(eta, rate, work)?;
        Ok((own.0 + kinetic, own.1 + potential, status))
    }

    pub(super) fn locate_state(
        &self,
        eta: &[f64],
        others: &[&[f64]],
        work: &mut Workspace,
    ) -> Status {
        let finite = |v: &[f64]| v.iter().all(|x| x.is_finite());
        if !finite(eta) || !others.iter().all(|v| finite(v)) {
            return Status::NotFinite;
        }
        self.locate(&eta[..self.n_rigid()], work)
    }

    /// Everything of the equations of motion but the applied force, at the evaluated θ; leaves
    /// U (η) in `work.factor` in the `lagrangian` form.
    pub(super) fn add_inertia_and_potential(
        &self,
        eta: &[f64],
        rate: &[f64],
        accel: Option<&[f64]>,
        out: &mut [f64],
        work: &mut Workspace,
    ) {
        match self.model.form {
            ModelForm::Lagrangian => self.add_lagrangian(eta, rate, accel, out, work),
            ModelForm::Direct => self.add_direct(eta, rate, accel, out, work),
        }
    }

    fn add_lagrangian(
        &self,
        eta: &[f64],
        rate: &[f64],
        accel: Option<&[f64]>,
        out: &mut [f64],
        work: &mut Workspace,
    ) {
        let (n, s) = (self.n(), self.n_rigid());
        self.evaluate_rates(&rate[..s], work);
        let (u, du) = (&mut work.factor, &mut work.factor_rate);
        reset(u, n * n);
        reset(du, n * n);
        let [p, dp, y, z, _] = &mut work.vectors;
        for v in [&mut *p, dp, y, z] {
            reset(v, n);
        }
        self.visit_dynamics(
            &work.values,
            &work.rates,
            |component, v, dv| match component {
                Component::MassFactor { row, column } => {
                    u[row * n + column] += v;
                    du[row * n + column] += dv;
                }
                Component::MassFactorSlope {
                    coordinate,
                    row,
                    column,
                } => {
                    u[row * n + column] += v * eta[coordinate];
                    du[row * n + column] += dv * eta[coordinate] + v * rate[coordinate];
                }
                Component::StiffnessFactor { row, column } => y[column] += v * eta[row],
                Component::DampingFactor { row, column } => z[column] += v * rate[row],
                Component::Damping { row, column } => add_symmetric(out, row, column, v, rate),
                Component::Force { row } => out[row] -= v,
                Component::GravityForce { row, axis } => out[row] -= self.gravity[axis] * v,
                _ => {}
            },
        );
        for r in 0..n {
            for c in r..n {
                p[c] += u[r * n + c] * rate[r];
                dp[c] += du[r * n + c] * rate[r] + accel.map_or(0.0, |a| u[r * n + c] * a[r]);
            }
        }
        for r in 0..n {
            for c in r..n {
                out[r] += du[r * n + c] * p[c] + u[r * n + c] * dp[c];
            }
        }
        work.weights.clear();
        let weights = &mut work.weights;
        self.visit_dynamics(&work.values, &[], |component, v, _| {
            let weight = match component {
                Component::MassFactor { row, column } => -rate[row] * p[column],
                Component::MassFactorSlope {
                    coordinate,
                    row,
                    column,
                } => {
                    out[coordinate] -= v * rate[row] * p[column];
                    -eta[coordinate] * rate[row] * p[column]
                }
                Component::StiffnessFactor { row, column } => {
                    out[row] += v * y[column];
                    eta[row] * y[column]
                }
                Component::DampingFactor { row, column } => {
                    out[row] += v * z[column];
                    0.0
                }
                Component::Potential => 1.0,
                Component::Force { row } => -eta[row],
                Component::GravityPotential { axis } => self.gravity[axis],
                Component::GravityForce { row, axis } => -self.gravity[axis] * eta[row],
                _ => 0.0,
            };
            weights.push(weight);
        });
        self.dynamics[work.box_index].adjoint(&work.dynamics_at, weights, &mut out[..s]);
    }

    fn add_direct(
        &self,
        eta: &[f64],
        rate: &[f64],
        accel: Option<&[f64]>,
        out: &mut [f64],
        work: &mut Workspace,
    ) {
        self.visit_dynamics(&work.values, &[], |component, v, _| match component {
            Component::Mass { row, column } => {
                if let Some(accel) = accel {
                    add_symmetric(out, row, column, v, accel);
                }
            }
            Component::Gyroscopic { row, first, second } => {
                out[row] += 2.0 * symmetric_weight(first, second) * v * rate[first] * rate[second];
            }
            Component::Stiffness { row, column } => add_symmetric(out, row, column, v, eta),
            Component::Damping { row, column } => add_symmetric(out, row, column, v, rate),
            Component::Force { row } => out[row] -= v,
            Component::GravityForce { row, axis } => out[row] -= self.gravity[axis] * v,
            _ => {}
        });
    }

    /// Leaves the factor of M̄ with all parameters in `work.factor`; false where M̄ is not definite.
    fn factor_mass(&self, work: &mut Workspace) -> bool {
        let n = self.n();
        if self.model.form == ModelForm::Lagrangian && self.added.is_none() {
            return (0..n).all(|i| work.factor[i * n + i] != 0.0);
        }
        match self.model.form {
            ModelForm::Direct => self.fill_mass(work),
            ModelForm::Lagrangian => upper_product(&mut work.factor, n),
        }
        if self.added.is_some() {
            for (m, e) in work.factor.iter_mut().zip(&work.extra) {
                *m += e;
            }
        }
        factor_upper(&mut work.factor, n)
    }

    /// M̄ of the `direct` form in `work.factor`, row-major.
    pub(super) fn fill_mass(&self, work: &mut Workspace) {
        let n = self.n();
        let mass = &mut work.factor;
        reset(mass, n * n);
        self.visit_dynamics(&work.values, &[], |component, v, _| {
            if let Component::Mass { row, column } = component {
                mass[row * n + column] = v;
                mass[column * n + row] = v;
            }
        });
    }
}

pub(super) fn reset(v: &mut Vec<f64>, len: usize) {
    v.clear();
    v.resize(len, 0.0);
}

/// A result beyond the range of numbers is reported and set to zero.
fn settled(status: Status, result: &mut [f64]) -> Status {
    if result.iter().all(|x| x.is_finite()) {
        return status;
    }
    result.fill(0.0);
    Status::NotFinite
}

/// Half the number of times an entry stands in a symmetric matrix.
pub(super) fn symmetric_weight(row: usize, column: usize) -> f64 {
    if row == column { 0.5 } else { 1.0 }
}

fn add_symmetric(out: &mut [f64], row: usize, column: usize, v: f64, x: &[f64]) {
    out[row] += v * x[column];
    if row != column {
        out[column] += v * x[row];
    }
}

/// Replaces the symmetric `a` by the upper triangular U with A = U Uᵀ; false where A is not definite.
pub(crate) fn factor_upper(a: &mut [f64], n: usize) -> bool {
    for j in (0..n).rev() {
        let mut pivot = a[j * n + j];
        for k in j + 1..n {
            pivot -= a[j * n + k] * a[j * n + k];
        }
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        let diagonal = pivot.sqrt();
        a[j * n + j] = diagonal;
        for i in 0..j {
            let mut value = a[i * n + j];
            for k in j + 1..n {
                value -= a[i * n + k] * a[j * n + k];
            }
            a[i * n + j] = value / diagonal;
            a[j * n + i] = 0.0;
        }
    }
    true
}

/// Replaces the upper triangular U by the symmetric U Uᵀ.
pub(super) fn upper_product(u: &mut [f64], n: usize) {
    for i in 0..n {
        for j in i..n {
            // Entries right of the diagonal are read again only in later columns of this row.
            u[i * n + j] = (j..n).map(|k| u[i * n + k] * u[j * n + k]).sum();
        }
    }
    for i in 0..n {
        for j in 0..i {
            u[i * n + j] = u[j * n + i];
        }
    }
}

/// Solves U Uᵀ x = b in place.
pub(crate) fn solve_upper_factor(u: &[f64], n: usize, x: &mut [f64]) {
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
