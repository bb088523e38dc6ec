//! Coefficients f(θ) of the reduced equations of motion at one exact configuration.

use crate::linalg::christoffel;
use serde::{Deserialize, Serialize};

/// Everything the approximation needs to know about one configuration. Matrices are row-major,
/// n = number of generalised coordinates (θ, γ, ι), s = number of θ.
///
/// All values at η^δ = 0. Conservative forces of gravity, springs and constant loads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Coefficients {
    /// The configuration, s values.
    pub theta: Vec<f64>,
    /// Reduced mass M̄, n×n.
    pub mass: Vec<f64>,
    /// ∂M̄/∂η_i for each coordinate i: ∂M̄₀/∂θ_i for i < s, N_d for the others; n matrices n×n.
    pub mass_gradient: Vec<Vec<f64>>,
    /// ∂²M̄_jk/∂η_d∂η_e for k ≤ j in θ (at j(j+1)/2 + k), matrices over δ, row-major; empty where rates do
    /// not change the stiffness.
    pub mass_curvature: Vec<Vec<f64>>,
    /// Reduced stiffness K̄, n×n, zero in the rows and columns of θ.
    pub stiffness: Vec<f64>,
    /// ∂K̄/∂θ_k, s matrices n×n.
    pub stiffness_gradient: Vec<Vec<f64>>,
    /// Reduced damping D̄, n×n.
    pub damping: Vec<f64>,
    /// Potential U(θ) of gravity, springs and constant loads at η^δ = 0; zero at home.
    pub potential: f64,
    /// Generalised force −∂V/∂η at η^δ = 0, n values; its first s are −∂U/∂θ.
    pub force: Vec<f64>,
    /// ∂force/∂θ_k, s vectors of n values.
    pub force_gradient: Vec<Vec<f64>>,
    /// Part of `force` that gravity exerts, n values.
    pub gravity: Vec<f64>,
    /// What unit gravity along each inertial axis does, three of them; empty where gravity is fixed.
    pub gravity_axes: Vec<GravityAxis>,
    /// One per output of the mechanism.
    pub outputs: Vec<OutputCoefficients>,
    /// Displacement of each loaded dof per generalised coordinate, one row of n values each.
    pub load_map: Vec<Vec<f64>>,
    /// Smallest singular value of the gauge's overlap (1 where there are no internal modes).
    pub gauge_overlap: f64,
    /// Box centres through which the configuration was reached; zero: on the straight line from
    /// home.
    pub waypoints: usize,
    /// Derived quantities, in the order of the mechanism file.
    pub derived: Vec<DerivedCoefficients>,
}

/// A derived quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DerivedCoefficients {
    /// Number of columns.
    pub columns: usize,
    /// Row-major.
    pub values: Vec<f64>,
    /// Derivatives by θ_k, s lists like `values`; none where they are not known.
    pub gradient: Vec<Vec<f64>>,
}

/// Potential and force of gravity per unit of its component along one inertial axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GravityAxis {
    /// Potential at η^δ = 0, zero at home.
    pub potential: f64,
    /// Generalised force at η^δ = 0, n values; its first s are minus the gradient of the potential.
    pub force: Vec<f64>,
    /// ∂force/∂θ_k, s vectors of n values.
    pub force_gradient: Vec<Vec<f64>>,
    /// Stiffness on δ, row-major; empty where loads do not change the stiffness.
    pub stiffness: Vec<f64>,
    /// Its derivatives along θ, s matrices or none.
    pub stiffness_gradient: Vec<Vec<f64>>,
}

/// Motion of one output point at η^δ = 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputCoefficients {
    /// Position, inertial axes (m).
    pub position: [f64; 3],
    /// Rotation matrix, body to inertial, row-major.
    pub rotation: [f64; 9],
    /// Velocity (3 rows) and angular velocity (3 rows), inertial axes, per generalised velocity; 6×n row-major.
    pub jacobian: Vec<f64>,
    /// Second derivatives of the position by η^δ, inertial axes: three matrices over δ, row-major; empty
    /// where loads do not change the stiffness.
    pub curvature: Vec<f64>,
}

impl Coefficients {
    /// Number of generalised coordinates.
    pub fn n(&self) -> usize {
        self.force.len()
    }

    /// All arrays have the sizes that follow from the numbers of coordinates.
    pub(crate) fn has_own_sizes(&self) -> bool {
        let (n, s) = (self.n(), self.n_rigid());
        let all = |list: &[Vec<f64>], count: usize, len: usize| {
            list.len() == count && list.iter().all(|v| v.len() == len)
        };
        let square = (n - s) * (n - s);
        let none_or = |v: &[f64], len: usize| v.is_empty() || v.len() == len;
        let axis = |a: &GravityAxis| {
            a.force.len() == n
                && all(&a.force_gradient, s, n)
                && none_or(&a.stiffness, square)
                && all(
                    &a.stiffness_gradient,
                    a.stiffness_gradient.len().min(s),
                    square,
                )
        };
        let pairs = s * (s + 1) / 2;
        self.mass.len() == n * n
            && all(&self.mass_gradient, n, n * n)
            && (self.mass_curvature.is_empty() || all(&self.mass_curvature, pairs, square))
            && self.stiffness.len() == n * n
            && all(&self.stiffness_gradient, s, n * n)
            && self.damping.len() == n * n
            && all(&self.force_gradient, s, n)
            && self.gravity.len() == n
            && self.gravity_axes.iter().all(axis)
            && self
                .outputs
                .iter()
                .all(|o| o.jacobian.len() == 6 * n && none_or(&o.curvature, 3 * square))
            && self.load_map.iter().all(|row| row.len() == n)
            && self
                .derived
                .iter()
                .all(|d| d.gradient.is_empty() || all(&d.gradient, s, d.values.len()))
    }

    /// Number of actuated coordinates.
    pub fn n_rigid(&self) -> usize {
        self.theta.len()
    }

    /// Gyroscopic tensor h_ijk = ½(∂_k M_ij + ∂_j M_ik − ∂_i M_jk) [M 7.7], index (i·n + j)·n + k.
    pub fn gyroscopic(&self) -> Vec<f64> {
        let n = self.n();
        let mut h = vec![0.0; n * n * n];
        christoffel(&self.mass_gradient, n, &mut h);
        h
    }

    /// Force M̄η̈ + h̄[η̇, η̇] + D̄η̇ − force at η^δ = 0 [M 1.1].
    pub fn inverse_dynamics(&self, rate: &[f64], accel: &[f64]) -> Vec<f64> {
        self.inverse_dynamics_with(&self.gyroscopic(), rate, accel)
    }

    /// The same with h̄ at hand.
    pub(crate) fn inverse_dynamics_with(&self, h: &[f64], rate: &[f64], accel: &[f64]) -> Vec<f64> {
        let n = self.n();
        (0..n)
            .map(|i| {
                let mut f = -self.force[i];
                for j in 0..n {
                    f += self.mass[i * n + j] * accel[j] + self.damping[i * n + j] * rate[j];
                    for k in 0..n {
                        f += h[(i * n + j) * n + k] * rate[j] * rate[k];
                    }
                }
                f
            })
            .collect()
    }
}
