//! A synthetic flexible mechanism with smooth coefficients that satisfy every identity of the
//! method: M̄^ιι = I, N_{d,ef} = 0, N_{d,θe} + N_{e,θd} = ∂_θM̄_de, force = −∂U/∂θ.

use reducer::approximation::{LocalModel, SampleFailure};
use reducer::reduced_model::{
    CoordinateInfo, CoordinateKind, Domain, LinearInequality, ModelLayout, NominalParameters,
    Stiffening,
};
use reducer::reduction::{Coefficients, OutputCoefficients};

/// Options of the mechanism.
#[derive(Clone)]
pub struct Flexible {
    pub n_rigid: usize,
    pub n_internal: usize,
    /// Springs on θ: gravity is not all of the force.
    pub springs: bool,
    /// θ_0 above this is singular.
    pub singular_above: f64,
    pub inequalities: Vec<LinearInequality>,
    /// Factor of how fast coefficients change.
    pub wildness: f64,
}

impl Flexible {
    pub fn new(n_rigid: usize, n_internal: usize) -> Self {
        Self {
            n_rigid,
            n_internal,
            springs: false,
            singular_above: f64::INFINITY,
            inequalities: Vec::new(),
            wildness: 1.0,
        }
    }

    fn n(&self) -> usize {
        self.n_rigid + 1 + self.n_internal
    }

    /// A smooth function of θ with its gradient; `id` chooses which.
    fn wave(&self, id: usize, mean: f64, amplitude: f64, theta: &[f64]) -> (f64, Vec<f64>) {
        let frequency = |k: usize| self.wildness * (0.7 + 0.13 * ((id * 7 + k * 3) % 5) as f64);
        let phase = 0.37 * id as f64
            + theta
                .iter()
                .enumerate()
                .map(|(k, t)| frequency(k) * t)
                .sum::<f64>();
        let slope = |k: usize| amplitude * frequency(k) * phase.cos();
        (
            mean + amplitude * phase.sin(),
            (0..theta.len()).map(slope).collect(),
        )
    }

    /// A symmetric matrix of waves, with its gradient matrices.
    fn symmetric(
        &self,
        theta: &[f64],
        entry: impl Fn(usize, usize) -> Option<(usize, f64, f64)>,
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let n = self.n();
        let mut value = vec![0.0; n * n];
        let mut gradient = vec![vec![0.0; n * n]; self.n_rigid];
        for i in 0..n {
            for j in i..n {
                let Some((id, mean, amplitude)) = entry(i, j) else {
                    continue;
                };
                let (v, g) = self.wave(id, mean, amplitude, theta);
                for place in [i * n + j, j * n + i] {
                    value[place] = v;
                    gradient.iter_mut().zip(&g).for_each(|(m, s)| m[place] = *s);
                }
            }
        }
        (value, gradient)
    }

    /// N_d from the identities; the antisymmetric part and the θθ block are free.
    fn mass_slope(&self, d: usize, gradient: &[Vec<f64>], theta: &[f64]) -> Vec<f64> {
        let (n, s) = (self.n(), self.n_rigid);
        let mut slope = vec![0.0; n * n];
        for k in 0..s {
            for e in s..n {
                let sign = match d.cmp(&e) {
                    std::cmp::Ordering::Less => 1.0,
                    std::cmp::Ordering::Equal => 0.0,
                    std::cmp::Ordering::Greater => -1.0,
                };
                let free = self
                    .wave(200 + d.min(e) * 10 + d.max(e) + k, 0.1, 0.2, theta)
                    .0;
                let value = 0.5 * gradient[k][d * n + e] + sign * free;
                slope[k * n + e] = value;
                slope[e * n + k] = value;
            }
            for j in k..s {
                let value = self.wave(300 + d * 10 + k + j, 0.2, 0.3, theta).0;
                slope[k * n + j] = value;
                slope[j * n + k] = value;
            }
        }
        slope
    }

    fn output(&self, theta: &[f64]) -> OutputCoefficients {
        let (n, s) = (self.n(), self.n_rigid);
        let mut jacobian = vec![0.0; 6 * n];
        let mut position = [0.0; 3];
        for axis in 0..3 {
            let (value, slope) = self.wave(400 + axis, 0.5, 0.4, theta);
            position[axis] = value;
            jacobian[axis * n..axis * n + s].copy_from_slice(&slope);
        }
        let angle: f64 = theta
            .iter()
            .enumerate()
            .map(|(k, t)| t * (1.0 - 0.4 * k as f64))
            .sum();
        (0..s).for_each(|k| jacobian[5 * n + k] = 1.0 - 0.4 * k as f64);
        for row in 0..6 {
            for c in s..n {
                jacobian[row * n + c] = self.wave(420 + row * 10 + c, 0.1, 0.2, theta).0;
            }
        }
        let (sin, cos) = angle.sin_cos();
        OutputCoefficients {
            position,
            rotation: [cos, -sin, 0.0, sin, cos, 0.0, 0.0, 0.0, 1.0],
            jacobian,
            curvature: Vec::new(),
        }
    }
}

impl LocalModel for Flexible {
    fn layout(&self) -> ModelLayout {
        let (n, s) = (self.n(), self.n_rigid);
        let info = |i: usize| {
            let (name, kind, unit) = match i {
                i if i < s => (format!("theta{i}"), CoordinateKind::Rigid, "rad"),
                i if i == s => ("load".to_owned(), CoordinateKind::Constraint, "m"),
                i => (
                    format!("internal{}", i - s - 1),
                    CoordinateKind::Internal,
                    "kg^0.5 m",
                ),
            };
            CoordinateInfo {
                name,
                kind,
                unit: unit.to_owned(),
            }
        };
        ModelLayout {
            name: "synthetic".to_owned(),
            coordinates: (0..n).map(info).collect(),
            n_rigid: s,
            outputs: vec!["tip".to_owned()],
            loaded: vec!["load".to_owned()],
            domain: Domain {
                lower: vec![-1.75; s],
                upper: vec![1.75; s],
                periodic: vec![false; s],
                inequalities: self.inequalities.clone(),
            },
            full_dofs: 91,
            parameters: NominalParameters::fixed(s, 1),
            stiffening: Stiffening::None,
            validity: None,
            derived: Vec::new(),
        }
    }

    fn evaluate(&self, theta: &[f64]) -> Result<Coefficients, SampleFailure> {
        let (n, s) = (self.n(), self.n_rigid);
        if theta[0] > self.singular_above {
            return Err(SampleFailure::Singular {
                theta: theta.to_vec(),
                reason: "the mechanism locks".to_owned(),
            });
        }
        let (mass, mut mass_gradient) =
            self.symmetric(theta, |i, j| match (i < s, j < s, i == j) {
                (true, true, true) => Some((i, 3.0, 0.8)),
                (true, true, false) => Some((10 + i + j, 0.2, 0.3)),
                (true, false, _) => Some((20 + 8 * i + j, 0.1, 0.25)),
                (_, _, same) if i == s => Some((60 + j, if same { 1.5 } else { 0.0 }, 0.2)),
                (_, _, true) => Some((99, 1.0, 0.0)),
                _ => None,
            });
        let slopes: Vec<Vec<f64>> = (s..n)
            .map(|d| self.mass_slope(d, &mass_gradient, theta))
            .collect();
        mass_gradient.extend(slopes);
        let (stiffness, stiffness_gradient) =
            self.symmetric(theta, |i, j| match (i >= s, i == j) {
                (true, true) => Some((100 + i, 2e4 * (1 + i) as f64, 6e3)),
                (true, false) => Some((120 + i * 3 + j, 500.0, 900.0)),
                _ => None,
            });
        let (damping, _) = self.symmetric(theta, |i, j| match (i < s, j < s, i == j) {
            (true, true, true) => Some((140, 0.3, 0.0)),
            (false, false, true) => Some((141 + i, 4.0, 1.0)),
            (false, false, false) => Some((150 + i + j, 0.2, 0.3)),
            _ => None,
        });
        let (potential, slope) = self.wave(160, 0.0, 12.0, theta);
        let mut force: Vec<f64> = slope.iter().map(|g| -g).collect();
        let curvature = |k: usize, j: usize| {
            let frequency =
                |k: usize| self.wildness * (0.7 + 0.13 * ((160 * 7 + k * 3) % 5) as f64);
            -potential * frequency(k) * frequency(j)
        };
        let mut force_gradient: Vec<Vec<f64>> = (0..s)
            .map(|k| (0..s).map(|j| -curvature(k, j)).collect())
            .collect();
        for d in s..n {
            let (value, slope) = self.wave(170 + d, 2.0, 3.0, theta);
            force.push(value);
            force_gradient
                .iter_mut()
                .zip(slope)
                .for_each(|(f, g)| f.push(g));
        }
        let gravity = force
            .iter()
            .map(|f| if self.springs { 0.6 * f } else { *f })
            .collect();
        let mut load_row = vec![0.0; n];
        (0..s).for_each(|k| load_row[k] = self.wave(180 + k, 0.4, 0.3, theta).0);
        load_row[s] = 1.0;
        Ok(Coefficients {
            theta: theta.to_vec(),
            mass,
            mass_gradient,
            stiffness,
            stiffness_gradient,
            damping,
            potential,
            force,
            force_gradient,
            gravity,
            gravity_axes: Vec::new(),
            mass_curvature: Vec::new(),
            outputs: vec![self.output(theta)],
            load_map: vec![load_row],
            gauge_overlap: 1.0,
            waypoints: 0,
            derived: Vec::new(),
        })
    }

    fn fingerprint(&self) -> [u8; 32] {
        let mut hash = [3; 32];
        hash[0] = self.n_rigid as u8;
        hash[1] = self.n_internal as u8;
        hash
    }
}
