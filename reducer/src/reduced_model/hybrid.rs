//! Dynamics with some coordinates moved and others forced, and the power lost in damping.

use super::dynamics::{factor_upper, reset, solve_upper_factor, symmetric_weight, upper_product};
use super::evaluate::{EvaluationError, Evaluator, Status, Workspace, check_length};
use super::{Component, ModelForm};

impl Evaluator<'_> {
    /// Where `prescribed`, the acceleration is given and the force found; elsewhere the force is
    /// given and the acceleration found.
    ///
    /// With indices p and f for the two sets: M_ff a_f = τ_f − (h + M_fp a_p), then
    /// τ_p = (h + M a)_p, h being all terms without acceleration.
    pub fn hybrid_dynamics(
        &self,
        eta: &[f64],
        rate: &[f64],
        prescribed: &[bool],
        accel: &mut [f64],
        force: &mut [f64],
        work: &mut Workspace,
    ) -> Result<Status, EvaluationError> {
        let n = self.n();
        check_length("eta", eta.len(), n)?;
        check_length("rate", rate.len(), n)?;
        check_length("prescribed", prescribed.len(), n)?;
        check_length("accel", accel.len(), n)?;
        check_length("force", force.len(), n)?;
        for (i, &moved) in prescribed.iter().enumerate() {
            if moved {
                force[i] = 0.0;
            } else {
                accel[i] = 0.0;
            }
        }
        let mut status = self.locate_state(eta, &[rate, accel, force], work);
        if status < Status::Undefined {
            self.evaluate_dynamics(work);
            if !self.solve_hybrid(eta, rate, prescribed, accel, force, work) {
                status = Status::Undefined;
            }
        }
        if status >= Status::Undefined {
            for (i, &moved) in prescribed.iter().enumerate() {
                if moved {
                    force[i] = 0.0;
                } else {
                    accel[i] = 0.0;
                }
            }
        }
        Ok(status)
    }

    /// False where the mass of the free coordinates is singular.
    fn solve_hybrid(
        &self,
        eta: &[f64],
        rate: &[f64],
        prescribed: &[bool],
        accel: &mut [f64],
        force: &mut [f64],
        work: &mut Workspace,
    ) -> bool {
        let n = self.n();
        let mut bias = std::mem::take(&mut work.bias);
        reset(&mut bias, n);
        self.add_inertia_and_potential(eta, rate, Some(accel), &mut bias, work);
        self.add_parameters(eta, rate, Some(accel), &mut bias, work);
        match self.model.form {
            ModelForm::Direct => self.fill_mass(work),
            ModelForm::Lagrangian => upper_product(&mut work.factor, n),
        }
        if self.added.is_some() {
            for (m, e) in work.factor.iter_mut().zip(&work.extra) {
                *m += e;
            }
        }
        let mass = |i: usize, j: usize| work.factor[i * n + j];
        let free = &mut work.free;
        free.clear();
        free.extend((0..n).filter(|&i| !prescribed[i]));
        let m = free.len();
        let block = &mut work.block;
        reset(block, m * m + m);
        let (matrix, solution) = block.split_at_mut(m * m);
        for (row, &i) in free.iter().enumerate() {
            solution[row] = force[i] - bias[i];
            for (column, &j) in free.iter().enumerate() {
                matrix[row * m + column] = mass(i, j);
            }
        }
        if !factor_upper(matrix, m) {
            work.bias = bias;
            return false;
        }
        solve_upper_factor(matrix, m, solution);
        for (&i, &a) in free.iter().zip(solution.iter()) {
            accel[i] = a;
        }
        for i in (0..n).filter(|&i| prescribed[i]) {
            let coupled: f64 = free.iter().map(|&j| mass(i, j) * accel[j]).sum();
            force[i] = bias[i] + coupled;
        }
        work.bias = bias;
        accel.iter().all(|a| a.is_finite())
    }

    /// Whether damping or friction may take energy out of the motion.
    pub(crate) fn dissipates(&self) -> bool {
        let lists = &self.model.components;
        let constants = lists.constants.iter().map(|c| &c.component);
        let damps = |c: &Component| {
            matches!(
                c,
                Component::Damping { .. } | Component::DampingFactor { .. }
            )
        };
        self.added.is_some() || lists.dynamics.iter().chain(constants).any(damps)
    }

    /// Power η̇ᵀD̄η̇ that damping and friction take out of the motion, at the configuration evaluated last.
    pub(crate) fn dissipated_power(&self, rate: &[f64], work: &mut Workspace) -> f64 {
        let z = &mut work.bias;
        reset(z, self.n());
        let mut power = 0.0;
        self.visit_dynamics(&work.values, &[], |component, v, _| match component {
            Component::DampingFactor { row, column } => z[column] += v * rate[row],
            Component::Damping { row, column } => {
                power += 2.0 * symmetric_weight(row, column) * v * rate[row] * rate[column];
            }
            _ => {}
        });
        if let Some(added) = &self.added {
            for (k, r) in rate.iter().take(self.n_rigid()).enumerate() {
                power += added.viscous[k] * r * r + added.coulomb_force(k, *r) * r;
            }
        }
        power + z.iter().map(|x| x * x).sum::<f64>()
    }
}
