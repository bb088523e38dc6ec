//! Functions of the kernel on a model: forces, accelerations, energies, linear models, steps.

use super::evaluate::{EvaluationError, Evaluator, Status, Workspace, check_length};

/// ẋ = A x + B force and y = C x + D force around a state x = (η, rate), row-major. y holds position, small
/// rotation and velocity of each output, inertial axes.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    /// 2n × 2n.
    pub a: Vec<f64>,
    /// 2n × n.
    pub b: Vec<f64>,
    /// 9 per output × 2n.
    pub c: Vec<f64>,
    /// 9 per output × n, zero.
    pub d: Vec<f64>,
}

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
        let (m, p) = (self.plan.model(), self.parameters());
        let scratch = work.scratch(&self.plan);
        let status = kernel::inverse_dynamics(&m, p.as_ref(), [eta, rate, accel], force, scratch);
        Ok(status.into())
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
        let (m, p) = (self.plan.model(), self.parameters());
        let scratch = work.scratch(&self.plan);
        let status = kernel::forward_dynamics(&m, p.as_ref(), [eta, rate, force], accel, scratch);
        Ok(status.into())
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
        let (m, p) = (self.plan.model(), self.parameters());
        let scratch = work.scratch(&self.plan);
        let (status, [kinetic, potential]) = kernel::energy(&m, p.as_ref(), [eta, rate], scratch);
        Ok((kinetic, potential, status.into()))
    }

    /// Linear model around a state under a force. θ outside the domain: derivatives of the point used.
    pub fn linearize(
        &self,
        eta: &[f64],
        rate: &[f64],
        force: &[f64],
        work: &mut Workspace,
    ) -> Result<(LinearModel, Status), EvaluationError> {
        let n = self.n();
        check_length("eta", eta.len(), n)?;
        check_length("rate", rate.len(), n)?;
        check_length("force", force.len(), n)?;
        let y = 9 * self.model.layout.outputs.len();
        let mut out = LinearModel {
            a: vec![0.0; 4 * n * n],
            b: vec![0.0; 2 * n * n],
            c: vec![0.0; y * 2 * n],
            d: vec![0.0; y * n],
        };
        let mut into = kernel::LinearModel {
            a: &mut out.a,
            b: &mut out.b,
            c: &mut out.c,
        };
        let (m, p) = (self.plan.model(), self.parameters());
        let scratch = work.scratch(&self.plan);
        let status = kernel::linearize(&m, p.as_ref(), [eta, rate, force], &mut into, scratch);
        Ok((out, status.into()))
    }

    /// Actuator forces along a motion of θ (s values each), and the modal coordinates (n − s) that follow it
    /// quasi-statically.
    pub fn feedforward(
        &self,
        theta: &[f64],
        rate: &[f64],
        accel: &[f64],
        work: &mut Workspace,
    ) -> Result<(Vec<f64>, Vec<f64>, Status), EvaluationError> {
        let (n, s) = (self.n(), self.n_rigid());
        check_length("theta", theta.len(), s)?;
        check_length("rate", rate.len(), s)?;
        check_length("accel", accel.len(), s)?;
        let (mut force, mut modal) = (vec![0.0; s], vec![0.0; n - s]);
        let (m, p) = (self.plan.model(), self.parameters());
        let scratch = work.scratch(&self.plan);
        let motion = [theta, rate, accel];
        let status = kernel::feedforward(&m, p.as_ref(), motion, &mut force, &mut modal, scratch);
        Ok((force, modal, status.into()))
    }

    /// Derivative of the state x = (η, rate) under a force.
    pub fn state_derivative(
        &self,
        x: &[f64],
        force: &[f64],
        dx: &mut [f64],
        work: &mut Workspace,
    ) -> Result<Status, EvaluationError> {
        let n = self.n();
        check_length("x", x.len(), 2 * n)?;
        check_length("force", force.len(), n)?;
        check_length("dx", dx.len(), 2 * n)?;
        let (m, p) = (self.plan.model(), self.parameters());
        let scratch = work.scratch(&self.plan);
        let status = kernel::state_derivative(&m, p.as_ref(), x, force, dx, scratch);
        Ok(status.into())
    }

    /// One step of the classical Runge-Kutta method under a constant force; x = (η, rate) is zero afterwards
    /// where the status is `undefined` or worse.
    pub fn step(
        &self,
        x: &mut [f64],
        force: &[f64],
        dt: f64,
        work: &mut Workspace,
    ) -> Result<Status, EvaluationError> {
        let n = self.n();
        check_length("x", x.len(), 2 * n)?;
        check_length("force", force.len(), n)?;
        let (m, p) = (self.plan.model(), self.parameters());
        let scratch = work.scratch(&self.plan);
        let status = kernel::step(&m, p.as_ref(), x, force, dt, scratch);
        Ok(status.into())
    }
}
