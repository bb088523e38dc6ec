//! Dynamics with some coordinates moved and others forced, and the power lost in damping.

use super::evaluate::{
    EvaluationError, Evaluator, Memory, Status, Workspace, check_length, scratch,
};
use kernel::{Group, Load, Number};

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
        Ok(self.hybrid_in([eta, rate], prescribed, accel, force, &mut work.numbers))
    }

    /// The same in other numbers.
    pub(crate) fn hybrid_in<R: Load<f64>>(
        &self,
        [eta, rate]: [&[R]; 2],
        prescribed: &[bool],
        accel: &mut [R],
        force: &mut [R],
        memory: &mut Memory<R>,
    ) -> Status {
        let n = self.n();
        let clear = |accel: &mut [R], force: &mut [R]| {
            for (i, &moved) in prescribed.iter().enumerate() {
                *(if moved { &mut force[i] } else { &mut accel[i] }) = R::ZERO;
            }
        };
        clear(accel, force);
        if force.iter().any(|f| !f.is_finite()) {
            clear(accel, force);
            return Status::NotFinite;
        }
        memory.mass.resize(n * n, R::ZERO);
        memory.bias.resize(n, R::ZERO);
        let (m, p) = (
            self.plan.model(),
            self.parameters_in(&mut memory.parameters),
        );
        let motion = [eta, rate, &*accel];
        let (mass, bias) = (&mut memory.mass, &mut memory.bias);
        let scratch = scratch(&mut memory.scratch, &self.plan);
        let status = kernel::mass_and_bias(&m, p.as_ref(), motion, mass, bias, scratch);
        let mut status = Status::from(status);
        if status < Status::Undefined && !solve_free(n, prescribed, accel, force, memory) {
            status = Status::Undefined;
        }
        if status >= Status::Undefined {
            clear(accel, force);
        }
        status
    }

    /// Whether damping or friction may take energy out of the motion.
    pub(crate) fn dissipates(&self) -> bool {
        let damps = |group| !self.plan.list(group).is_empty();
        self.parameters.is_some() || damps(Group::Damping) || damps(Group::DampingFactor)
    }

    /// Power η̇ᵀD̄η̇ that damping and friction take out of the motion.
    pub(crate) fn dissipated_power<R: Load<f64>>(
        &self,
        eta: &[R],
        rate: &[R],
        memory: &mut Memory<R>,
    ) -> R {
        let (m, p) = (
            self.plan.model(),
            self.parameters_in(&mut memory.parameters),
        );
        let scratch = scratch(&mut memory.scratch, &self.plan);
        kernel::dissipated_power(&m, p.as_ref(), [eta, rate], scratch)
    }
}

/// Accelerations of the free coordinates, then forces of the others; false where the mass of the free ones is
/// singular.
fn solve_free<R: Number>(
    n: usize,
    prescribed: &[bool],
    accel: &mut [R],
    force: &mut [R],
    memory: &mut Memory<R>,
) -> bool {
    let Memory {
        mass,
        bias,
        block,
        free,
        ..
    } = memory;
    free.clear();
    free.extend((0..n).filter(|&i| !prescribed[i]));
    let m = free.len();
    block.resize(m * m + m, R::ZERO);
    let (matrix, solution) = block[..m * m + m].split_at_mut(m * m);
    for (row, &i) in free.iter().enumerate() {
        solution[row] = force[i] - bias[i];
        for (column, &j) in free.iter().enumerate() {
            matrix[row * m + column] = mass[i * n + j];
        }
    }
    if !kernel::factor(matrix, m) {
        return false;
    }
    kernel::solve(matrix, m, solution);
    for (&i, &a) in free.iter().zip(solution.iter()) {
        accel[i] = a;
    }
    for i in (0..n).filter(|&i| prescribed[i]) {
        force[i] = free
            .iter()
            .fold(bias[i], |sum, &j| sum + mass[i * n + j] * accel[j]);
    }
    accel.iter().all(|a| a.is_finite())
}
