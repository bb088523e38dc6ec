//! What parameters add to the equations of motion.
//!
//! A payload of mass m at an output moves as x(η) = p(θ) + Ψ_x(θ) η_δ. With x_i and x_ij for its
//! derivatives it adds m x_i·x_j to M̄, m x_i·x_jk to h̄_ijk and m g·x_i to the force of gravity.

use super::evaluate::{EvaluationError, Evaluator, Workspace};
use super::{Component, ModelCoefficients, Parameters};
use nalgebra::Vector3;

/// Position of an output at η and its derivatives.
struct PointMotion {
    position: Vector3<f64>,
    /// x_i, n of them.
    first: Vec<Vector3<f64>>,
    /// x_ij, n×n.
    second: Vec<Vector3<f64>>,
}

impl PointMotion {
    /// x_ij η̇_i η̇_j.
    fn bias(&self, rate: &[f64]) -> Vector3<f64> {
        let n = rate.len();
        let mut out = Vector3::zeros();
        for (i, ri) in rate.iter().enumerate() {
            for (j, rj) in rate.iter().enumerate() {
                out += self.second[i * n + j] * (ri * rj);
            }
        }
        out
    }

    fn along(&self, direction: &[f64]) -> Vector3<f64> {
        let parts = self.first.iter().zip(direction);
        parts.fold(Vector3::zeros(), |sum, (x, r)| sum + x * *r)
    }
}

impl Evaluator<'_> {
    /// Adds parameters to `force` and leaves their masses in `work.extra`, row-major; without
    /// accelerations their force is left out.
    pub(super) fn add_parameters(
        &self,
        eta: &[f64],
        rate: &[f64],
        accel: Option<&[f64]>,
        force: &mut [f64],
        work: &mut Workspace,
    ) {
        let Some(added) = &self.added else {
            return;
        };
        let n = self.n();
        super::dynamics::reset(&mut work.extra, n * n);
        for k in 0..self.n_rigid() {
            let inertia = accel.map_or(0.0, |a| added.rotor_inertia[k] * a[k]);
            force[k] += inertia + added.viscous[k] * rate[k] + added.coulomb_force(k, rate[k]);
            work.extra[k * n + k] += added.rotor_inertia[k];
        }
        for (mass, point) in self.payloads(added, eta, work) {
            let moved = accel.map_or(Vector3::zeros(), |a| point.along(a));
            let pull = (moved + point.bias(rate) - Vector3::from(added.gravity)) * mass;
            for (i, xi) in point.first.iter().enumerate() {
                force[i] += xi.dot(&pull);
                for (j, xj) in point.first.iter().enumerate() {
                    work.extra[i * n + j] += mass * xi.dot(xj);
                }
            }
        }
    }

    /// Kinetic and potential energy of what parameters add, at the located θ.
    pub(super) fn added_energy(
        &self,
        eta: &[f64],
        rate: &[f64],
        work: &mut Workspace,
    ) -> Result<(f64, f64), EvaluationError> {
        let Some(added) = &self.added else {
            return Ok((0.0, 0.0));
        };
        let rotors = added.rotor_inertia.iter().zip(rate);
        let mut kinetic: f64 = rotors.map(|(i, r)| 0.5 * i * r * r).sum();
        let mut potential = 0.0;
        for (mass, point) in self.payloads(added, eta, work) {
            kinetic += 0.5 * mass * point.along(rate).norm_squared();
            potential -= mass * point.position.dot(&Vector3::from(added.gravity));
        }
        Ok((kinetic, potential))
    }

    /// Adds parameters to the coefficients at η^δ = 0; Coulomb friction is none of them.
    pub(super) fn add_to_coefficients(&self, out: &mut ModelCoefficients, work: &mut Workspace) {
        let Some(added) = &self.added else {
            return;
        };
        let n = self.n();
        for k in 0..self.n_rigid() {
            out.mass[k * n + k] += added.rotor_inertia[k];
            out.damping[k * n + k] += added.viscous[k];
        }
        for (mass, point) in self.payloads(added, &vec![0.0; n], work) {
            let second = |i: usize, j: usize| &point.second[i * n + j];
            for (i, xi) in point.first.iter().enumerate() {
                let weight = mass * xi.dot(&Vector3::from(added.gravity));
                out.force[i] += weight;
                out.gravity[i] += weight;
                for (axis, per_unit) in out.gravity_axes.iter_mut().enumerate() {
                    per_unit[i] += mass * xi[axis];
                }
                for (j, xj) in point.first.iter().enumerate() {
                    out.mass[i * n + j] += mass * xi.dot(xj);
                    for k in 0..n {
                        out.gyroscopic[(i * n + j) * n + k] += mass * xi.dot(second(j, k));
                    }
                    for (l, gradient) in out.mass_gradient.iter_mut().enumerate() {
                        gradient[i * n + j] += mass * (second(i, l).dot(xj) + xi.dot(second(j, l)));
                    }
                }
            }
        }
    }

    /// Outputs that carry a mass, with their motion at the located θ.
    fn payloads(
        &self,
        added: &Parameters,
        eta: &[f64],
        work: &mut Workspace,
    ) -> Vec<(f64, PointMotion)> {
        if added.payload_mass.iter().all(|m| *m == 0.0) {
            return Vec::new();
        }
        let points = self.point_motions(eta, work);
        let carried = added.payload_mass.iter().copied().zip(points);
        carried.filter(|(mass, _)| *mass != 0.0).collect()
    }

    fn point_motions(&self, eta: &[f64], work: &mut Workspace) -> Vec<PointMotion> {
        let (n, s) = (self.n(), self.n_rigid());
        let mut points: Vec<PointMotion> = Vec::new();
        points.resize_with(self.model.layout.outputs.len(), || PointMotion {
            position: Vector3::zeros(),
            first: vec![Vector3::zeros(); n],
            second: vec![Vector3::zeros(); n * n],
        });
        let b = &self.model.boxes[work.box_index];
        let table = &self.outputs[work.box_index];
        let n_components = self.model.components.outputs.len();
        let curvature = table.hessian(&work.theta, &b.lower, &b.upper);
        let mut index = 0;
        self.visit_outputs(work, |component, value, slope| {
            // Constants come after the stored components and have no second derivative.
            let second = |k: usize, l: usize| match index {
                i if i < n_components => curvature[(k * s + l) * n_components + i],
                _ => 0.0,
            };
            let (output, axis, factor, modal) = match component {
                Component::Position { output, axis } => (output, axis, 1.0, None),
                Component::Amplitude {
                    output,
                    row,
                    coordinate,
                } if row < 3 => (output, row, eta[coordinate], Some(coordinate)),
                _ => {
                    index += 1;
                    return;
                }
            };
            let point = &mut points[output];
            point.position[axis] += factor * value;
            for (k, d) in slope.iter().enumerate() {
                point.first[k][axis] += factor * d;
                for l in 0..s {
                    point.second[k * n + l][axis] += factor * second(k, l);
                }
            }
            if let Some(d) = modal {
                point.first[d][axis] += value;
                for (k, turn) in slope.iter().enumerate() {
                    point.second[k * n + d][axis] += turn;
                    point.second[d * n + k][axis] += turn;
                }
            }
            index += 1;
        });
        points
    }
}
