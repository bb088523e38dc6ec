//! Motion of output points.
//!
//! At η: x = p(θ) + Ψ_x(θ) η_δ and R = exp(Ψ_ψ(θ) η_δ) R₀(θ), amplitudes in inertial axes, no
//! further term. Velocities are exact derivatives of these.

use super::Component;
use super::evaluate::{EvaluationError, Evaluator, Status, Workspace, check_length};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

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

/// Polynomials of one output at one θ, with their derivatives.
struct OutputFields {
    position: Vector3<f64>,
    position_slope: Vec<Vector3<f64>>,
    quaternion: [f64; 4],
    quaternion_slope: Vec<[f64; 4]>,
    /// `[row][coordinate]`.
    amplitude: Vec<f64>,
    /// ∂(Ψη)/∂θ_k.
    amplitude_slope: Vec<[f64; 6]>,
}

impl Evaluator<'_> {
    /// Motion of all outputs; empty where the status is `undefined` or `not_finite`.
    pub fn outputs(
        &self,
        eta: &[f64],
        rate: &[f64],
        work: &mut Workspace,
    ) -> Result<(Vec<OutputMotion>, Status), EvaluationError> {
        let (n, s) = (self.n(), self.n_rigid());
        check_length("eta", eta.len(), n)?;
        check_length("rate", rate.len(), n)?;
        if eta.iter().chain(rate).any(|x| !x.is_finite()) {
            return Ok((Vec::new(), Status::NotFinite));
        }
        let status = self.locate(&eta[..s], work);
        if status >= Status::Undefined {
            return Ok((Vec::new(), status));
        }
        let fields = self.output_fields(eta, work);
        Ok((
            fields.iter().map(|f| f.motion(eta, rate, s)).collect(),
            status,
        ))
    }

    /// Rows of the load map at the located θ, n values each.
    pub(super) fn load_map(&self, work: &mut Workspace) -> Vec<Vec<f64>> {
        let mut map = vec![vec![0.0; self.n()]; self.model.layout.loaded.len()];
        if map.is_empty() {
            return map;
        }
        self.visit_outputs(work, |component, value, _| {
            if let Component::LoadMap { loaded, coordinate } = component {
                map[loaded][coordinate] = value;
            }
        });
        map
    }

    /// Calls `visit` with every output component, its value and its gradient in θ.
    pub(super) fn visit_outputs(
        &self,
        work: &mut Workspace,
        mut visit: impl FnMut(Component, f64, &[f64]),
    ) {
        let (s, n_components) = (self.n_rigid(), self.model.components.outputs.len());
        let b = &self.model.boxes[work.box_index];
        let table = &self.outputs[work.box_index];
        table.locate(&work.theta, &b.lower, &b.upper, &mut work.outputs_at);
        let mut values = vec![0.0; n_components];
        table.values(&work.outputs_at, &mut values);
        let mut slopes = vec![0.0; n_components * s];
        let mut direction = vec![0.0; s];
        let mut slope = vec![0.0; n_components];
        for k in 0..s {
            direction[k] = 1.0;
            table.directional(&work.outputs_at, &direction, &mut work.scratch, &mut slope);
            direction[k] = 0.0;
            for (c, v) in slope.iter().enumerate() {
                slopes[c * s + k] = *v;
            }
        }
        for (c, &component) in self.model.components.outputs.iter().enumerate() {
            visit(component, values[c], &slopes[c * s..(c + 1) * s]);
        }
        direction.fill(0.0);
        for constant in &self.output_constants {
            visit(constant.component, constant.value, &direction);
        }
    }

    fn output_fields(&self, eta: &[f64], work: &mut Workspace) -> Vec<OutputFields> {
        let (n, s) = (self.n(), self.n_rigid());
        let mut fields: Vec<OutputFields> = self
            .model
            .layout
            .outputs
            .iter()
            .map(|_| OutputFields::new(n, s))
            .collect();
        self.visit_outputs(work, |component, value, slope| match component {
            Component::Position { output, axis } => {
                fields[output].position[axis] = value;
                for (column, v) in fields[output].position_slope.iter_mut().zip(slope) {
                    column[axis] = *v;
                }
            }
            Component::Quaternion { output, entry } => {
                fields[output].quaternion[entry] = value;
                for (column, v) in fields[output].quaternion_slope.iter_mut().zip(slope) {
                    column[entry] = *v;
                }
            }
            Component::Amplitude {
                output,
                row,
                coordinate,
            } => {
                fields[output].amplitude[row * n + coordinate] = value;
                for (column, v) in fields[output].amplitude_slope.iter_mut().zip(slope) {
                    column[row] += v * eta[coordinate];
                }
            }
            _ => {}
        });
        fields
    }
}

impl OutputFields {
    fn new(n: usize, s: usize) -> Self {
        Self {
            position: Vector3::zeros(),
            position_slope: vec![Vector3::zeros(); s],
            quaternion: [0.0; 4],
            quaternion_slope: vec![[0.0; 4]; s],
            amplitude: vec![0.0; 6 * n],
            amplitude_slope: vec![[0.0; 6]; s],
        }
    }

    fn motion(&self, eta: &[f64], rate: &[f64], s: usize) -> OutputMotion {
        let n = eta.len();
        let amplitude = |row: usize| {
            (s..n)
                .map(|c| self.amplitude[row * n + c] * eta[c])
                .sum::<f64>()
        };
        let shift = Vector3::new(amplitude(0), amplitude(1), amplitude(2));
        let turn = Vector3::new(amplitude(3), amplitude(4), amplitude(5));
        let elastic = Rotation3::new(turn);
        let (rigid, spins) = self.rigid_rotation();
        let left = left_jacobian(&turn);
        let mut jacobian = vec![0.0; 6 * n];
        for c in 0..n {
            let (linear, angular) = if c < s {
                let slope = &self.amplitude_slope[c];
                let along = Vector3::new(slope[0], slope[1], slope[2]);
                let about = Vector3::new(slope[3], slope[4], slope[5]);
                (
                    self.position_slope[c] + along,
                    left * about + elastic * spins[c],
                )
            } else {
                let column = |row: usize| self.amplitude[row * n + c];
                (
                    Vector3::new(column(0), column(1), column(2)),
                    left * Vector3::new(column(3), column(4), column(5)),
                )
            };
            for axis in 0..3 {
                jacobian[axis * n + c] = linear[axis];
                jacobian[(axis + 3) * n + c] = angular[axis];
            }
        }
        let along = |row: usize| (0..n).map(|c| jacobian[row * n + c] * rate[c]).sum::<f64>();
        OutputMotion {
            position: self.position + shift,
            rotation: elastic.matrix() * rigid,
            velocity: Vector3::new(along(0), along(1), along(2)),
            angular_velocity: Vector3::new(along(3), along(4), along(5)),
            jacobian,
        }
    }

    /// R₀ and the angular velocity per θ̇_k from the normalised quaternion: ω = 2 vec(q̇ q*)/|q|².
    fn rigid_rotation(&self) -> (Matrix3<f64>, Vec<Vector3<f64>>) {
        let [w, x, y, z] = self.quaternion;
        let square = w * w + x * x + y * y + z * z;
        if square <= 0.0 {
            return (
                Matrix3::identity(),
                vec![Vector3::zeros(); self.quaternion_slope.len()],
            );
        }
        let rotation = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(w, x, y, z));
        let v = Vector3::new(x, y, z);
        let spin = |d: &[f64; 4]| {
            let dv = Vector3::new(d[1], d[2], d[3]);
            (dv * w - v * d[0] - dv.cross(&v)) * (2.0 / square)
        };
        (
            *rotation.to_rotation_matrix().matrix(),
            self.quaternion_slope.iter().map(spin).collect(),
        )
    }
}

/// Maps the rate of a rotation vector to the angular velocity in the outer axes.
fn left_jacobian(turn: &Vector3<f64>) -> Matrix3<f64> {
    let cross = turn.cross_matrix();
    let (a, b) = turn_factors(turn.norm());
    Matrix3::identity() + cross * a + cross * cross * b
}

/// (1 − cos x)/x² and (x − sin x)/x³ to rounding: power series up to one radian, where the
/// differences would cancel.
fn turn_factors(x: f64) -> (f64, f64) {
    let square = x * x;
    if x > 1.0 {
        return ((1.0 - x.cos()) / square, (x - x.sin()) / (square * x));
    }
    // Σ (−1)^k x^2k / (2k + 2)! and / (2k + 3)!; the first term left out is below 1e-20.
    let series = |first: f64| {
        (0..10).rev().fold(0.0, |rest, k| {
            let n = first + 2.0 * f64::from(k);
            1.0 - square / ((n + 1.0) * (n + 2.0)) * rest
        })
    };
    (series(2.0) / 2.0, series(3.0) / 6.0)
}

#[cfg(test)]
mod tests {
    use super::turn_factors;

    /// (1 − cos x)/x² = ½ (sin(x/2)/(x/2))², which loses no digits, and both sides of one radian.
    #[test]
    fn factors_of_a_turn_keep_their_digits() {
        for i in 1..200 {
            let x = 1e-6 * 1.08_f64.powi(i);
            let half = 0.5 * x;
            let exact = 0.5 * (half.sin() / half).powi(2);
            assert!((turn_factors(x).0 - exact).abs() < 4e-16, "{x}");
        }
        // To second order: the next term is x⁴/5040.
        let (x, b) = (2e-4, turn_factors(2e-4).1);
        assert!((b - (1.0 / 6.0 - x * x / 120.0)).abs() < 1e-16);
        let (below, above) = (turn_factors(1.0), turn_factors(1.0 + 1e-15));
        assert!((below.0 - above.0).abs() < 1e-15 && (below.1 - above.1).abs() < 1e-15);
        assert_eq!(turn_factors(0.0), (0.5, 1.0 / 6.0));
    }
}
