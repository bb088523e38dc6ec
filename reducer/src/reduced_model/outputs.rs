//! Motion of output points.

use super::evaluate::{
    EvaluationError, Evaluator, Memory, Status, Workspace, check_length, scratch,
};
use kernel::{Load, Number};
use nalgebra::{Matrix3, Vector3};

/// Motion of one output.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputMotion {
    /// Position, inertial axes, in m.
    pub position: Vector3<f64>,
    /// Body to inertial.
    pub rotation: Matrix3<f64>,
    /// Velocity, inertial axes, in m/s.
    pub velocity: Vector3<f64>,
    /// Angular velocity, inertial axes, in rad/s.
    pub angular_velocity: Vector3<f64>,
    /// Velocity and angular velocity per generalised velocity, 6×n, row-major.
    pub jacobian: Vec<f64>,
}

/// The same as plain numbers, for the kernel.
#[derive(Debug, Clone)]
pub(crate) struct OutputNumbers<R> {
    /// Position, velocity, angular velocity.
    pub vectors: [[R; 3]; 3],
    /// Row-major, axes of the output as columns.
    pub rotation: [R; 9],
    /// 6×n.
    pub jacobian: Vec<R>,
}

impl<R: Number> OutputNumbers<R> {
    fn zero(n: usize) -> Self {
        Self {
            vectors: [[R::ZERO; 3]; 3],
            rotation: [R::ZERO; 9],
            jacobian: vec![R::ZERO; 6 * n],
        }
    }

    fn view(&mut self) -> kernel::Output<'_, R> {
        let [position, velocity, angular_velocity] = &mut self.vectors;
        kernel::Output {
            position,
            rotation: &mut self.rotation,
            velocity,
            angular_velocity,
            jacobian: &mut self.jacobian,
        }
    }
}

impl From<OutputNumbers<f64>> for OutputMotion {
    fn from(numbers: OutputNumbers<f64>) -> Self {
        let [position, velocity, angular_velocity] = numbers.vectors.map(Vector3::from);
        Self {
            position,
            rotation: Matrix3::from_row_slice(&numbers.rotation),
            velocity,
            angular_velocity,
            jacobian: numbers.jacobian,
        }
    }
}

impl Evaluator<'_> {
    /// Motion of all outputs; empty where the status is `undefined` or `not_finite`.
    pub fn outputs(
        &self,
        eta: &[f64],
        rate: &[f64],
        work: &mut Workspace,
    ) -> Result<(Vec<OutputMotion>, Status), EvaluationError> {
        let n = self.n();
        check_length("eta", eta.len(), n)?;
        check_length("rate", rate.len(), n)?;
        let (found, status) = self.outputs_in(eta, rate, &mut work.numbers);
        Ok((found.into_iter().map(OutputMotion::from).collect(), status))
    }

    /// The same in other numbers.
    pub(crate) fn outputs_in<R: Load<f64>>(
        &self,
        eta: &[R],
        rate: &[R],
        memory: &mut Memory<R>,
    ) -> (Vec<OutputNumbers<R>>, Status) {
        let n_outputs = self.model.layout.outputs.len();
        let mut found = vec![OutputNumbers::zero(self.n()); n_outputs];
        let (m, p) = (
            self.plan.model(),
            self.parameters_in(&mut memory.parameters),
        );
        let view = OutputNumbers::view;
        let scratch = scratch(&mut memory.scratch, &self.plan);
        let status: Status =
            kernel::outputs(&m, p.as_ref(), [eta, rate], &mut found, view, scratch).into();
        if status >= Status::Undefined {
            found.clear();
        }
        (found, status)
    }
}
