//! The evaluator with the parameters of a point.

use crate::generated::norm;
use crate::points::{Parameters, Point};
use crate::rounding::gyroscopic;
use nalgebra::DMatrix;
use reducer::reduced_model::plan::{Plan, Purpose};
use reducer::reduced_model::{
    Evaluator, LinearModel, ModelCoefficients, OutputMotion, ReducedModel, Status, Workspace,
};
use std::cell::RefCell;

/// A model, its evaluator and the plan of its generated code.
pub struct Reference<'m> {
    pub model: &'m ReducedModel,
    pub plan: Plan,
    evaluator: Evaluator<'m>,
    work: RefCell<Workspace>,
}

impl<'m> Reference<'m> {
    pub fn new(model: &'m ReducedModel) -> Self {
        Self {
            model,
            plan: Plan::new(model, Purpose::Code),
            evaluator: Evaluator::new(model).expect("a valid model"),
            work: RefCell::default(),
        }
    }

    pub fn n(&self) -> usize {
        self.evaluator.n()
    }

    pub fn n_rigid(&self) -> usize {
        self.evaluator.n_rigid()
    }

    /// The same parameters as the library takes them.
    pub fn parameters(&self, p: &Parameters) -> reducer::reduced_model::Parameters {
        let mut out = reducer::reduced_model::Parameters::nominal(&self.model.layout);
        out.payload_mass.clone_from(&p.payload);
        if !p.payload.is_empty() || self.model.layout.parameters.gravity_at_runtime {
            out.gravity = p.gravity;
        }
        out.rotor_inertia.clone_from(&p.rotor);
        out.viscous.clone_from(&p.viscous);
        out.coulomb.clone_from(&p.coulomb);
        out.coulomb_rate.clone_from(&p.coulomb_rate);
        out
    }

    fn call<T>(
        &self,
        p: Option<&Parameters>,
        f: impl FnOnce(&Evaluator, &mut Workspace) -> T,
    ) -> T {
        let work = &mut *self.work.borrow_mut();
        match p {
            None => f(&self.evaluator, work),
            Some(p) => {
                let with = self.evaluator.clone().with_parameters(self.parameters(p));
                f(&with.expect("sizes"), work)
            }
        }
    }

    pub fn coefficients(&self, p: Option<&Parameters>, theta: &[f64]) -> ModelCoefficients {
        self.call(p, |e, work| e.coefficients(theta, work).expect("sizes"))
    }

    /// A bound on the rounding errors of the gyroscopic tensor, in units of half the distance from 1 to the next number.
    pub fn gyroscopic_rounding(&self, p: Option<&Parameters>, theta: &[f64]) -> f64 {
        let parameters = p.map(|p| self.parameters(p));
        norm(&gyroscopic(&self.plan, parameters.as_ref(), theta))
    }

    pub fn outputs(&self, eta: &[f64], rate: &[f64]) -> (Vec<OutputMotion>, Status) {
        self.call(None, |e, work| e.outputs(eta, rate, work).expect("sizes"))
    }

    fn force(&self, p: Option<&Parameters>, motion: [&[f64]; 3]) -> (Vec<f64>, Status) {
        let mut force = vec![0.0; self.n()];
        let [eta, rate, accel] = motion;
        let status = self.call(p, |e, work| {
            e.inverse_dynamics(eta, rate, accel, &mut force, work)
        });
        (force, status.expect("sizes"))
    }

    pub fn inverse_dynamics(&self, p: Option<&Parameters>, x: &Point) -> (Vec<f64>, i32) {
        let (force, status) = self.force(p, [&x.eta, &x.rate, &x.accel]);
        (force, status as i32)
    }

    /// The mass matrix at η, from forces.
    fn mass(&self, p: Option<&Parameters>, eta: &[f64]) -> DMatrix<f64> {
        let n = self.n();
        let zero = vec![0.0; n];
        let rest = self.force(p, [eta, &zero, &zero]).0;
        let mut mass = DMatrix::zeros(n, n);
        for k in 0..n {
            let mut unit = zero.clone();
            unit[k] = 1.0;
            let column = self.force(p, [eta, &zero, &unit]).0;
            for i in 0..n {
                mass[(i, k)] = column[i] - rest[i];
            }
        }
        0.5 * (&mass + mass.transpose())
    }

    /// Largest over smallest eigenvalue of the mass matrix, and the smallest one.
    pub fn condition(&self, p: Option<&Parameters>, eta: &[f64]) -> (f64, f64) {
        let eigenvalues = self.mass(p, eta).symmetric_eigenvalues();
        let smallest = eigenvalues.min();
        (eigenvalues.max() / smallest, smallest)
    }

    /// Accelerations, and the size of the force that is solved for.
    pub fn forward_dynamics(
        &self,
        p: Option<&Parameters>,
        eta: &[f64],
        rate: &[f64],
        force: &[f64],
    ) -> (Vec<f64>, f64, i32) {
        let n = self.n();
        let mut accel = vec![0.0; n];
        let status = self.call(p, |e, work| {
            e.forward_dynamics(eta, rate, force, &mut accel, work)
        });
        let bias = self.force(p, [eta, rate, &vec![0.0; n]]).0;
        let size: f64 = bias.iter().chain(force).map(|x| x * x).sum();
        (accel, size.sqrt(), status.expect("sizes") as i32)
    }

    pub fn linearize(
        &self,
        p: Option<&Parameters>,
        x: &Point,
        force: &[f64],
    ) -> (LinearModel, i32) {
        let found = self.call(p, |e, work| e.linearize(&x.eta, &x.rate, force, work));
        let (linear, status) = found.expect("sizes");
        (linear, status as i32)
    }

    /// Forces and modal coordinates of a motion of θ. In single precision more motions settle.
    pub fn feedforward(&self, p: Option<&Parameters>, x: &Point) -> (Vec<f64>, Vec<f64>, i32) {
        let s = self.n_rigid();
        let motion = [&x.eta[..s], &x.rate[..s], &x.accel[..s]];
        let found = self.call(p, |e, work| {
            e.feedforward(motion[0], motion[1], motion[2], work)
        });
        let (force, modal, status) = found.expect("sizes");
        (force, modal, status as i32)
    }

    /// One classical Runge-Kutta step.
    pub fn step(
        &self,
        p: Option<&Parameters>,
        x: &[f64],
        force: &[f64],
        dt: f64,
    ) -> (Vec<f64>, i32) {
        let mut x = x.to_vec();
        let status = self.call(p, |e, work| e.step(&mut x, force, dt, work));
        (x, status.expect("sizes") as i32)
    }
}
