//! Reduction along a path in θ [T 5.9] [M 9.2]: a local model with one coordinate, the path's parameter.

use super::source::{LocalModel, SampleFailure};
use crate::reduced_model::{
    CoordinateInfo, CoordinateKind, Domain, ModelLayout, NominalParameters, Validity,
};
use crate::reduction::{Coefficients, DerivedCoefficients, GravityAxis, OutputCoefficients};

/// The path cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PathError {
    /// Too few points.
    #[error("the trajectory has {found} points; it needs at least 3")]
    TooShort {
        /// Number of points.
        found: usize,
    },
    /// A point has the wrong number of values, or one that is not finite.
    #[error("point {index} of the trajectory needs {expected} finite values, one per coordinate")]
    BadPoint {
        /// Which point, from 0.
        index: usize,
        /// Number of coordinates.
        expected: usize,
    },
    /// Two consecutive points coincide.
    #[error("points {index} and {} of the trajectory coincide", index + 1)]
    Repeated {
        /// The first of them.
        index: usize,
    },
}

impl PathError {
    /// One thing to try.
    pub fn help(&self) -> String {
        match self {
            Self::TooShort { .. } => "give `trajectory` three points or more".into(),
            Self::BadPoint { expected, .. } => {
                format!("give every point {expected} number(s) in the order of the coordinates")
            }
            Self::Repeated { .. } => "remove one of the two points".into(),
        }
    }
}

/// Name of the coordinate of a model along a path.
pub const PATH: &str = "path";

/// A path in θ: the natural cubic spline θ(σ) through given points, σ from 0 to 1 in proportion to
/// the distance between them (in units of the coordinates' ranges).
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    knots: Vec<f64>,
    points: Vec<Vec<f64>>,
    /// θ'' at the knots.
    curvatures: Vec<Vec<f64>>,
}

impl Path {
    /// Through `points` of a domain.
    pub fn new(domain: &Domain, points: &[Vec<f64>]) -> Result<Self, PathError> {
        let s = domain.lower.len();
        if points.len() < 3 {
            return Err(PathError::TooShort {
                found: points.len(),
            });
        }
        let bad = |p: &Vec<f64>| p.len() != s || p.iter().any(|v| !v.is_finite());
        if let Some(index) = points.iter().position(bad) {
            return Err(PathError::BadPoint { index, expected: s });
        }
        let mut knots = vec![0.0];
        for (index, pair) in points.windows(2).enumerate() {
            let part = |k: usize| (pair[1][k] - pair[0][k]) / (domain.upper[k] - domain.lower[k]);
            let distance = (0..s).map(|k| part(k).powi(2)).sum::<f64>().sqrt();
            if distance.is_nan() || distance <= 0.0 {
                return Err(PathError::Repeated { index });
            }
            knots.push(knots[index] + distance);
        }
        let length = knots[knots.len() - 1];
        knots.iter_mut().for_each(|k| *k /= length);
        let columns: Vec<Vec<f64>> = (0..s)
            .map(|k| natural_curvatures(&knots, &points.iter().map(|p| p[k]).collect::<Vec<_>>()))
            .collect();
        let curvatures = (0..points.len())
            .map(|i| columns.iter().map(|c| c[i]).collect())
            .collect();
        Ok(Self {
            knots,
            points: points.to_vec(),
            curvatures,
        })
    }

    /// θ, θ' and θ'' at σ; beyond the ends the outer pieces go on.
    pub fn configuration(&self, sigma: f64) -> [Vec<f64>; 3] {
        let last = self.knots.len() - 2;
        let i = self
            .knots
            .partition_point(|k| *k <= sigma)
            .saturating_sub(1)
            .min(last);
        let h = self.knots[i + 1] - self.knots[i];
        let b = (sigma - self.knots[i]) / h;
        let a = 1.0 - b;
        let combine = |at: [f64; 4]| -> Vec<f64> {
            (0..self.points[i].len())
                .map(|k| {
                    at[0] * self.points[i][k]
                        + at[1] * self.points[i + 1][k]
                        + at[2] * self.curvatures[i][k]
                        + at[3] * self.curvatures[i + 1][k]
                })
                .collect()
        };
        let cubic = |x: f64| (x * x * x - x) * h * h / 6.0;
        let slope = |x: f64| (3.0 * x * x - 1.0) * h / 6.0;
        [
            combine([a, b, cubic(a), cubic(b)]),
            combine([-1.0 / h, 1.0 / h, -slope(a), slope(b)]),
            combine([0.0, 0.0, a, b]),
        ]
    }
}

/// θ'' at the knots of a natural cubic spline (Thomas algorithm).
fn natural_curvatures(knots: &[f64], values: &[f64]) -> Vec<f64> {
    let n = knots.len();
    let (mut factor, mut right) = (vec![0.0; n], vec![0.0; n]);
    for i in 1..n - 1 {
        let (h0, h1) = (knots[i] - knots[i - 1], knots[i + 1] - knots[i]);
        let jump = (values[i + 1] - values[i]) / h1 - (values[i] - values[i - 1]) / h0;
        let pivot = 2.0 * (h0 + h1) - h0 * factor[i - 1];
        factor[i] = h1 / pivot;
        right[i] = (6.0 * jump - h0 * right[i - 1]) / pivot;
    }
    for i in (1..n - 1).rev() {
        right[i] -= factor[i] * right[i + 1];
    }
    right
}

/// A mechanism that moves along a path: its one rigid coordinate is σ.
pub struct PathModel<M> {
    inner: M,
    layout: ModelLayout,
    path: Path,
}

impl<M: LocalModel> PathModel<M> {
    /// Lays the path through `points`.
    pub fn new(inner: M, points: &[Vec<f64>]) -> Result<Self, PathError> {
        let layout = inner.layout();
        let path = Path::new(&layout.domain, points)?;
        Ok(Self {
            inner,
            layout,
            path,
        })
    }

    /// What moves along the path.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Motion along the path on which no coordinate exceeds its own; the curvature of the path is not counted.
    fn along(&self, of: &Validity) -> Validity {
        let slopes: Vec<Vec<f64>> = (0..=PATH_POINTS)
            .map(|i| {
                let [_, slope, _] = self.path.configuration(i as f64 / PATH_POINTS as f64);
                slope
            })
            .collect();
        let slowest = |largest: &[Option<f64>]| {
            let of_point = |slope: &Vec<f64>| {
                let parts = largest.iter().zip(slope);
                let bounds = parts.filter_map(|(v, slope)| Some((*v)? / slope.abs()));
                bounds.fold(f64::INFINITY, f64::min)
            };
            let found = slopes.iter().map(of_point).fold(f64::INFINITY, f64::min);
            vec![(found.is_finite() && found > 0.0).then_some(found)]
        };
        Validity {
            rate: slowest(&of.rate),
            acceleration: slowest(&of.acceleration),
            rate_at_tolerance: slowest(&of.rate_at_tolerance),
            acceleration_at_tolerance: slowest(&of.acceleration_at_tolerance),
            ..of.clone()
        }
    }
}

/// Points of a path at which its slope is looked at.
const PATH_POINTS: usize = 256;

impl<M: LocalModel> LocalModel for PathModel<M> {
    fn layout(&self) -> ModelLayout {
        let path = CoordinateInfo {
            name: PATH.to_owned(),
            kind: CoordinateKind::Rigid,
            unit: "1".to_owned(),
        };
        let modal = self.layout.coordinates[self.layout.n_rigid..]
            .iter()
            .cloned();
        ModelLayout {
            coordinates: std::iter::once(path).chain(modal).collect(),
            n_rigid: 1,
            domain: Domain {
                lower: vec![0.0],
                upper: vec![1.0],
                periodic: vec![false],
                inequalities: Vec::new(),
            },
            // Actuators do not act on the path coordinate one by one.
            parameters: NominalParameters {
                rotor_inertia: vec![0.0],
                viscous: vec![0.0],
                coulomb: vec![0.0],
                ..self.layout.parameters.clone()
            },
            validity: self.layout.validity.as_ref().map(|v| self.along(v)),
            ..self.layout.clone()
        }
    }

    fn evaluate(&self, theta: &[f64]) -> Result<Coefficients, SampleFailure> {
        let [at, slope, curvature] = self.path.configuration(theta[0]);
        let exact = self.inner.evaluate(&at)?;
        Ok(Projection {
            exact: &exact,
            slope,
            curvature,
        }
        .coefficients(theta[0]))
    }

    fn fingerprint(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new();
        hash.update(b"path");
        hash.update(&self.inner.fingerprint());
        for v in self.path.points.iter().flatten() {
            hash.update(&v.to_bits().to_le_bytes());
        }
        *hash.finalize().as_bytes()
    }
}

/// Coefficients in the coordinates (σ, δ): η̇ = T (σ̇, δ̇) with T = [θ' 0; 0 I].
struct Projection<'c> {
    exact: &'c Coefficients,
    slope: Vec<f64>,
    curvature: Vec<f64>,
}

impl Projection<'_> {
    fn coefficients(&self, sigma: f64) -> Coefficients {
        let c = self.exact;
        let (n, s) = (c.n(), c.n_rigid());
        let (t, dt) = (&self.slope, &self.curvature);
        let along = |slopes: &[Vec<f64>]| -> Vec<f64> {
            (0..slopes[0].len())
                .map(|i| (0..s).map(|k| slopes[k][i] * t[k]).sum())
                .collect()
        };
        // d(TᵀMT)/dσ; T' = [θ'' 0; 0 0] adds to the first row and column only.
        let m = n - s + 1;
        let mut mass_rate = self.matrix(&along(&c.mass_gradient[..s]), t, t);
        let turned = self.matrix(&c.mass, dt, t);
        mass_rate[0] += 2.0 * turned[0];
        for j in 1..m {
            mass_rate[j] += turned[j];
            mass_rate[j * m] += turned[j];
        }
        // d(Tᵀf)/dσ of a force with its gradient in θ.
        let force_rate = |force: &[f64], gradient: &[Vec<f64>]| {
            let mut rate = self.vector(&along(gradient), t);
            rate[0] += (0..s).map(|k| force[k] * dt[k]).sum::<f64>();
            rate
        };
        let gravity_axis = |a: &GravityAxis| GravityAxis {
            potential: a.potential,
            force: self.vector(&a.force, t),
            force_gradient: vec![force_rate(&a.force, &a.force_gradient)],
            stiffness: a.stiffness.clone(),
            stiffness_gradient: if a.stiffness_gradient.is_empty() {
                Vec::new()
            } else {
                vec![along(&a.stiffness_gradient)]
            },
        };
        let mut mass_gradient = vec![mass_rate];
        mass_gradient.extend(c.mass_gradient[s..].iter().map(|d| self.matrix(d, t, t)));
        Coefficients {
            theta: vec![sigma],
            mass: self.matrix(&c.mass, t, t),
            mass_gradient,
            mass_curvature: self.mass_curvature(),
            stiffness: self.matrix(&c.stiffness, t, t),
            stiffness_gradient: vec![self.matrix(&along(&c.stiffness_gradient), t, t)],
            damping: self.matrix(&c.damping, t, t),
            potential: c.potential,
            force: self.vector(&c.force, t),
            force_gradient: vec![force_rate(&c.force, &c.force_gradient)],
            gravity: self.vector(&c.gravity, t),
            gravity_axes: c.gravity_axes.iter().map(gravity_axis).collect(),
            outputs: c.outputs.iter().map(|o| self.output(o)).collect(),
            load_map: c.load_map.iter().map(|row| self.vector(row, t)).collect(),
            gauge_overlap: c.gauge_overlap,
            waypoints: c.waypoints,
            derived: c.derived.iter().map(|d| self.derived(d)).collect(),
        }
    }

    /// Second derivatives of the mass on σ.
    fn mass_curvature(&self) -> Vec<Vec<f64>> {
        let matrices = &self.exact.mass_curvature;
        let Some(first) = matrices.first() else {
            return Vec::new();
        };
        let mut out = vec![0.0; first.len()];
        let t = &self.slope;
        for j in 0..t.len() {
            for k in 0..=j {
                let times = if j == k { 1.0 } else { 2.0 } * t[j] * t[k];
                for (sum, value) in out.iter_mut().zip(&matrices[j * (j + 1) / 2 + k]) {
                    *sum += times * value;
                }
            }
        }
        vec![out]
    }

    /// Row i of T's column block: weights of the full coordinates in coordinate `i`.
    fn weight(&self, i: usize, full: usize, column: &[f64]) -> f64 {
        let s = self.exact.n_rigid();
        match i {
            0 if full < s => column[full],
            0 => 0.0,
            i => f64::from(u8::from(full == i + s - 1)),
        }
    }

    /// Aᵀ M B with A = [a 0; 0 I], B = [b 0; 0 I].
    fn matrix(&self, full: &[f64], a: &[f64], b: &[f64]) -> Vec<f64> {
        let n = self.exact.n();
        let m = n - self.exact.n_rigid() + 1;
        let mut out = vec![0.0; m * m];
        for i in 0..m {
            for j in 0..m {
                for p in 0..n {
                    let left = self.weight(i, p, a);
                    if left != 0.0 {
                        let row: f64 = (0..n).map(|q| full[p * n + q] * self.weight(j, q, b)).sum();
                        out[i * m + j] += left * row;
                    }
                }
            }
        }
        out
    }

    fn vector(&self, full: &[f64], a: &[f64]) -> Vec<f64> {
        let n = self.exact.n();
        let m = n - self.exact.n_rigid() + 1;
        (0..m)
            .map(|i| (0..n).map(|p| full[p] * self.weight(i, p, a)).sum())
            .collect()
    }

    /// A derived quantity stays one of the mechanism's own coordinates; only its place moves along the path.
    fn derived(&self, derived: &DerivedCoefficients) -> DerivedCoefficients {
        let entry = |i: usize| -> f64 {
            let slopes = derived.gradient.iter().zip(&self.slope);
            slopes.map(|(slope, t)| slope[i] * t).sum()
        };
        let along = || (0..derived.values.len()).map(entry).collect();
        DerivedCoefficients {
            gradient: match derived.gradient.is_empty() {
                true => Vec::new(),
                false => vec![along()],
            },
            ..derived.clone()
        }
    }

    fn output(&self, output: &OutputCoefficients) -> OutputCoefficients {
        let n = self.exact.n();
        let rows = output
            .jacobian
            .chunks_exact(n)
            .flat_map(|row| self.vector(row, &self.slope));
        OutputCoefficients {
            jacobian: rows.collect(),
            ..output.clone()
        }
    }
}
