//! One exact sample with everything that is fitted: factors, their derivatives, quaternions.

use super::errors::norm;
use super::factors::{
    lower_factor, lower_factor_slope, make_upper_factor_slope, over_upper, quaternion,
    quaternion_slope, quaternion_turned, upper_factor, whiten_lower, whiten_upper,
};
use super::motions::{Motion, Motions};
use super::source::SampleFailure;
use crate::reduced_model::{Component, ModelForm, ModelLayout};
use crate::reduction::{Coefficients, GravityAxis, OutputCoefficients};
use std::sync::{Arc, OnceLock};

/// A sample made ready for the fit.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub exact: Arc<Coefficients>,
    pub gyroscopic: Vec<f64>,
    /// Norm of `gyroscopic`.
    pub gyroscopic_size: f64,
    pub test: TestMotion,
    /// U₀ and its slopes: ∂U₀/∂θ_k, then U_d.
    mass_factor: Vec<f64>,
    mass_factor_slopes: OnceLock<Vec<f64>>,
    /// B_de for every pair d, e of δ: s×s matrices, row-major; none where rates do not change the stiffness.
    rate_scales: OnceLock<Vec<Vec<f64>>>,
    /// L on δ and ∂L/∂θ_k, (n−s)×(n−s).
    stiffness_factor: Vec<f64>,
    stiffness_factor_slopes: OnceLock<Vec<Vec<f64>>>,
    /// Factor of D̄ on δ where it is definite.
    pub damping_factor: Option<Vec<f64>>,
    /// One per output, sign by continuity.
    quaternions: Vec<[f64; 4]>,
    /// Nominal gravity.
    gravity: [f64; 3],
}

/// A rigid motion at η^δ = 0 that θ fixes.
#[derive(Debug, Clone)]
pub(super) struct TestMotion {
    pub rate: Vec<f64>,
    pub accel: Vec<f64>,
    /// Inverse dynamics of it.
    pub force: Vec<f64>,
    /// Root mean square of the forces of other motions there.
    pub typical: f64,
}

impl TestMotion {
    fn new(exact: &Coefficients, gyroscopic: &[f64], layout: &ModelLayout) -> Self {
        let seed = exact.theta.iter().fold(17_u64, |seed, t| {
            seed.rotate_left(13) ^ t.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        let motions = Motions::new(layout);
        let Motion { rate, accel } = motions.chosen(seed);
        let force = exact.inverse_dynamics_with(gyroscopic, &rate, &accel);
        let typical = motions.typical_force(exact, gyroscopic);
        Self {
            rate,
            accel,
            force,
            typical,
        }
    }
}

impl Sample {
    /// Checks sizes and definiteness and factorises.
    pub fn new(
        exact: Arc<Coefficients>,
        layout: &ModelLayout,
        form: ModelForm,
    ) -> Result<Self, SampleFailure> {
        let (n, s) = (layout.n(), layout.n_rigid);
        if !is_consistent(&exact, layout) {
            return Err(SampleFailure::Inadmissible {
                theta: exact.theta.clone(),
                reason: "the coefficients have wrong sizes or are not finite".to_owned(),
            });
        }
        let gyroscopic = exact.gyroscopic();
        let mut sample = Self {
            test: TestMotion::new(&exact, &gyroscopic, layout),
            gyroscopic_size: norm(&gyroscopic),
            gyroscopic,
            mass_factor: Vec::new(),
            mass_factor_slopes: OnceLock::new(),
            rate_scales: OnceLock::new(),
            stiffness_factor: Vec::new(),
            stiffness_factor_slopes: OnceLock::new(),
            damping_factor: None,
            gravity: layout.parameters.gravity,
            quaternions: exact
                .outputs
                .iter()
                .map(|o| quaternion(&o.rotation))
                .collect(),
            exact,
        };
        if form == ModelForm::Lagrangian {
            let exact = &sample.exact;
            let refuse = |reason: &str| SampleFailure::Inadmissible {
                theta: exact.theta.clone(),
                reason: reason.to_owned(),
            };
            let modal = n - s;
            let u = upper_factor(&exact.mass, n)
                .ok_or_else(|| refuse("the reduced mass is not positive definite"))?;
            let l = lower_factor(&sample.own_stiffness(), modal)
                .ok_or_else(|| refuse("the reduced stiffness is not positive definite"))?;
            sample.damping_factor = lower_factor(&modal_block(&exact.damping, n, s), modal);
            (sample.mass_factor, sample.stiffness_factor) = (u, l);
        }
        Ok(sample)
    }

    /// Found at the first need: most samples serve to measure only.
    fn mass_factor_slopes(&self) -> &[f64] {
        self.mass_factor_slopes.get_or_init(|| {
            let n = self.exact.n();
            let mut slopes = self.exact.mass_gradient.concat();
            for slope in slopes.chunks_exact_mut(n * n) {
                make_upper_factor_slope(&self.mass_factor, slope, n);
            }
            slopes
        })
    }

    fn stiffness_factor_slopes(&self) -> &[Vec<f64>] {
        self.stiffness_factor_slopes.get_or_init(|| {
            let (n, s) = (self.exact.n(), self.exact.n_rigid());
            let l = &self.stiffness_factor;
            let slope = |k: usize| {
                let mut d = modal_block(&self.exact.stiffness_gradient[k], n, s);
                self.take_pull(&mut d, |a| a.stiffness_gradient.get(k));
                lower_factor_slope(l, &d, n - s)
            };
            (0..s).map(slope).collect()
        })
    }

    /// K̄ on δ without what is stored per axis of gravity.
    fn own_stiffness(&self) -> Vec<f64> {
        let (n, s) = (self.exact.n(), self.exact.n_rigid());
        let mut own = modal_block(&self.exact.stiffness, n, s);
        self.take_pull(&mut own, |a| {
            (!a.stiffness.is_empty()).then_some(&a.stiffness)
        });
        own
    }

    /// Takes gravity's share off a matrix on δ where it is stored per axis.
    fn take_pull<'s>(
        &'s self,
        matrix: &mut [f64],
        of_axis: impl Fn(&'s GravityAxis) -> Option<&'s Vec<f64>>,
    ) {
        for (axis, g) in self.exact.gravity_axes.iter().zip(self.gravity) {
            for (own, pull) in matrix.iter_mut().zip(of_axis(axis).into_iter().flatten()) {
                *own -= g * pull;
            }
        }
    }

    /// B_de [M 14.10].
    fn rate_scales(&self) -> &[Vec<f64>] {
        self.rate_scales.get_or_init(|| {
            let (c, n, s) = (&self.exact, self.exact.n(), self.exact.n_rigid());
            let modal = n - s;
            let rigid: Vec<f64> = (0..s * s).map(|i| c.mass[i / s * n + i % s]).collect();
            let Some(f) = upper_factor(&rigid, s).filter(|_| !c.mass_curvature.is_empty()) else {
                return Vec::new();
            };
            let slopes = self.mass_factor_slopes();
            let row =
                |d: usize, i: usize| &slopes[((s + d) * n + i) * n..((s + d) * n + i + 1) * n];
            let product =
                |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
            (0..modal * modal)
                .map(|pair| {
                    let (d, e) = (pair / modal, pair % modal);
                    let mut rest: Vec<f64> = (0..s * s)
                        .map(|i| {
                            let (i, j) = (i / s, i % s);
                            self.mass_curvature(i, j, d, e)
                                - product(row(d, i), row(e, j))
                                - product(row(e, i), row(d, j))
                        })
                        .collect();
                    make_upper_factor_slope(&f, &mut rest, s);
                    over_upper(&f, &mut rest, s);
                    rest
                })
                .collect()
        })
    }

    /// ∂²M̄_ij/∂η_d∂η_e, both pairs counted from 0.
    pub fn mass_curvature(&self, i: usize, j: usize, d: usize, e: usize) -> f64 {
        let (low, high) = (i.min(j), i.max(j));
        let modal = self.exact.n() - self.exact.n_rigid();
        let matrices = &self.exact.mass_curvature;
        matrices
            .get(high * (high + 1) / 2 + low)
            .map_or(0.0, |m| m[d * modal + e])
    }

    /// ‖U⁻¹(M̂−M̄)U⁻ᵀ‖, M̄ = UUᵀ [M 10.1].
    pub fn whitened_mass(&self, model: &[f64]) -> f64 {
        let n = self.exact.n();
        let found = || upper_factor(&self.exact.mass, n);
        let delta = modal_difference(model, &self.exact.mass, n, 0);
        whitened(&self.mass_factor, found, delta, whiten_upper, n)
    }

    /// ‖L⁻¹(K̂−K̄)L⁻ᵀ‖ on δ, K̄ = LLᵀ [M 10.1].
    pub fn whitened_stiffness(&self, model: &[f64]) -> f64 {
        let (n, s) = (self.exact.n(), self.exact.n_rigid());
        let exact = &self.exact.stiffness;
        let found = || lower_factor(&modal_block(exact, n, s), n - s);
        let delta = modal_difference(model, exact, n, s);
        whitened(&self.stiffness_factor, found, delta, whiten_lower, n - s)
    }

    /// Memory that it takes, slopes included.
    pub fn bytes(&self) -> usize {
        let (n, s, outputs) = (
            self.exact.n(),
            self.exact.n_rigid(),
            self.exact.outputs.len(),
        );
        // Gradient of the mass, gyroscopic tensor and slopes of the factor; matrices and slopes of the stiffness; outputs.
        let derived: usize = self
            .exact
            .derived
            .iter()
            .map(|d| (1 + s) * d.values.len())
            .sum();
        let numbers = 3 * n.pow(3) + (2 * s + 6) * n.pow(2) + outputs * (6 * n + 20) + derived;
        numbers * size_of::<f64>()
    }

    /// One per output.
    pub fn quaternions(&self) -> &[[f64; 4]] {
        &self.quaternions
    }

    /// Quaternions with the signs that they had before.
    pub fn set_quaternions(&mut self, quaternions: &[[f64; 4]]) {
        self.quaternions = quaternions.to_vec();
    }

    /// θ.
    pub fn theta(&self) -> &[f64] {
        &self.exact.theta
    }

    /// Gives quaternions the sign that continues those of a neighbour along the straight path.
    pub fn continue_from(&mut self, neighbour: &Sample) {
        let n_outputs = self.quaternions.len().min(neighbour.quaternions.len());
        for o in 0..n_outputs {
            if self.is_turned_from(neighbour, o) {
                self.quaternions[o].iter_mut().for_each(|v| *v = -*v);
            }
        }
    }

    /// An output's quaternion has the other sign than that of a neighbour continued along the straight path.
    pub fn is_turned_from(&self, neighbour: &Sample, o: usize) -> bool {
        let (n, output) = (self.exact.n(), &neighbour.exact.outputs[o]);
        let turn = std::array::from_fn(|axis| {
            let row = &output.jacobian[(axis + 3) * n..(axis + 4) * n];
            row.iter()
                .zip(self.exact.theta.iter().zip(neighbour.theta()))
                .map(|(j, (a, b))| j * (a - b))
                .sum()
        });
        let expected = quaternion_turned(&neighbour.quaternions[o], turn);
        let pairs = self.quaternions[o].iter().zip(&expected);
        pairs.map(|(a, b)| a * b).sum::<f64>() < 0.0
    }

    /// The sample with the signs of some quaternions turned.
    pub fn with_signs(&self, turned: &[bool]) -> Self {
        let mut sample = self.clone();
        for (q, turned) in sample.quaternions.iter_mut().zip(turned) {
            if *turned {
                q.iter_mut().for_each(|v| *v = -*v);
            }
        }
        sample
    }

    /// Share of gravity in a conservative quantity where it is stored per axis; 0 elsewhere.
    fn pull(&self, of_axis: impl Fn(&GravityAxis) -> f64) -> f64 {
        let axes = self.exact.gravity_axes.iter().zip(self.gravity);
        axes.map(|(axis, g)| g * of_axis(axis)).sum()
    }

    /// Value of a component.
    pub fn value(&self, component: Component) -> f64 {
        let (c, n, s) = (&self.exact, self.exact.n(), self.exact.n_rigid());
        let modal = n - s;
        match component {
            Component::MassFactor { row, column } => self.mass_factor[row * n + column],
            Component::MassFactorSlope {
                coordinate,
                row,
                column,
            } => self.mass_factor_slopes()[(coordinate * n + row) * n + column],
            Component::RateScale {
                row,
                column,
                first,
                second,
            } => {
                let pair = (first - s) * modal + second - s;
                (self.rate_scales().get(pair)).map_or(0.0, |b| b[row * s + column])
            }
            Component::MassCurvature {
                row,
                column,
                first,
                second,
            } => self.mass_curvature(row, column, first - s, second - s),
            Component::GravityStiffness { row, column, axis } => {
                let stiffness = &c.gravity_axes[axis].stiffness;
                let at = (row - s) * modal + column - s;
                stiffness.get(at).copied().unwrap_or(0.0)
            }
            Component::PositionCurvature {
                output,
                axis,
                first,
                second,
            } => {
                let at = (axis * modal + first - s) * modal + second - s;
                c.outputs[output].curvature.get(at).copied().unwrap_or(0.0)
            }
            Component::Potential => c.potential - self.pull(|a| a.potential),
            Component::Force { row } => c.force[row] - self.pull(|a| a.force[row]),
            Component::Gravity { row } => c.gravity[row],
            Component::GravityPotential { axis } => c.gravity_axes[axis].potential,
            Component::GravityForce { row, axis } => c.gravity_axes[axis].force[row],
            Component::StiffnessFactor { row, column } => {
                self.stiffness_factor[(row - s) * modal + column - s]
            }
            Component::DampingFactor { row, column } => self
                .damping_factor
                .as_ref()
                .map_or(0.0, |f| f[(row - s) * modal + column - s]),
            Component::Damping { row, column } => c.damping[row * n + column],
            Component::Mass { row, column } => c.mass[row * n + column],
            Component::Gyroscopic { row, first, second } => {
                self.gyroscopic[(row * n + first) * n + second]
            }
            Component::Stiffness { row, column } => {
                let at = (row - s) * modal + column - s;
                let of_axis = |a: &GravityAxis| a.stiffness.get(at).copied().unwrap_or(0.0);
                c.stiffness[row * n + column] - self.pull(of_axis)
            }
            Component::Position { output, axis } => c.outputs[output].position[axis],
            Component::Quaternion { output, entry } => self.quaternions[output][entry],
            Component::Amplitude {
                output,
                row,
                coordinate,
            } => c.outputs[output].jacobian[row * n + coordinate],
            Component::LoadMap { loaded, coordinate } => c.load_map[loaded][coordinate],
            Component::Derived { entry, row, column } => {
                let d = &c.derived[entry];
                d.values[row * d.columns + column]
            }
        }
    }

    /// ∂/∂θ_k of a component whose gradient samples carry.
    pub fn slope(&self, component: Component, k: usize) -> Option<f64> {
        let (c, n, s) = (&self.exact, self.exact.n(), self.exact.n_rigid());
        let modal = n - s;
        Some(match component {
            Component::MassFactor { row, column } => {
                self.mass_factor_slopes()[(k * n + row) * n + column]
            }
            Component::Potential => self.pull(|a| a.force[k]) - c.force[k],
            Component::Force { row } => {
                c.force_gradient[k][row] - self.pull(|a| a.force_gradient[k][row])
            }
            Component::GravityPotential { axis } => -c.gravity_axes[axis].force[k],
            Component::GravityForce { row, axis } => c.gravity_axes[axis].force_gradient[k][row],
            Component::GravityStiffness { row, column, axis } => {
                let gradient = &c.gravity_axes[axis].stiffness_gradient;
                let at = (row - s) * modal + column - s;
                gradient.get(k).map_or(0.0, |g| g[at])
            }
            Component::StiffnessFactor { row, column } => {
                self.stiffness_factor_slopes()[k][(row - s) * modal + column - s]
            }
            Component::Mass { row, column } => c.mass_gradient[k][row * n + column],
            Component::Stiffness { row, column } => {
                let at = (row - s) * modal + column - s;
                let of_axis = |a: &GravityAxis| a.stiffness_gradient.get(k).map_or(0.0, |g| g[at]);
                c.stiffness_gradient[k][row * n + column] - self.pull(of_axis)
            }
            Component::Position { output, axis } => c.outputs[output].jacobian[axis * n + k],
            Component::Quaternion { output, entry } => {
                let spin =
                    std::array::from_fn(|axis| c.outputs[output].jacobian[(axis + 3) * n + k]);
                quaternion_slope(&self.quaternions[output], spin)[entry]
            }
            Component::Derived { entry, row, column } => {
                let d = &c.derived[entry];
                d.gradient.get(k)?[row * d.columns + column]
            }
            Component::MassFactorSlope { .. }
            | Component::RateScale { .. }
            | Component::MassCurvature { .. }
            | Component::PositionCurvature { .. }
            | Component::Gravity { .. }
            | Component::DampingFactor { .. }
            | Component::Damping { .. }
            | Component::Gyroscopic { .. }
            | Component::Amplitude { .. }
            | Component::LoadMap { .. } => return None,
        })
    }
}

/// ‖F⁻¹ΔF⁻ᵀ‖ for a triangular factor F; without it, it is `found` first.
fn whitened(
    factor: &[f64],
    found: impl FnOnce() -> Option<Vec<f64>>,
    mut delta: Vec<f64>,
    whiten: fn(&[f64], &mut [f64], usize),
    n: usize,
) -> f64 {
    if delta.iter().all(|d| *d == 0.0) {
        return 0.0;
    }
    if !factor.is_empty() {
        whiten(factor, &mut delta, n);
    } else if let Some(factor) = found() {
        whiten(&factor, &mut delta, n);
    } else {
        return f64::MAX;
    }
    norm(&delta)
}

/// A − B without the first s rows and columns.
fn modal_difference(a: &[f64], b: &[f64], n: usize, s: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity((n - s) * (n - s));
    for i in s..n {
        let row = i * n + s..(i + 1) * n;
        out.extend(a[row.clone()].iter().zip(&b[row]).map(|(a, b)| a - b));
    }
    out
}

/// Rows and columns of δ.
pub(super) fn modal_block(a: &[f64], n: usize, s: usize) -> Vec<f64> {
    (s..n)
        .flat_map(|i| a[i * n + s..(i + 1) * n].iter().copied())
        .collect()
}

/// All sizes agree with the layout and all numbers are finite.
fn is_consistent(c: &Coefficients, layout: &ModelLayout) -> bool {
    let (n, s) = (layout.n(), layout.n_rigid);
    let finite = |v: &[f64], len: usize| v.len() == len && v.iter().all(|x| x.is_finite());
    let all = |v: &[Vec<f64>], count: usize, len: usize| {
        v.len() == count && v.iter().all(|x| finite(x, len))
    };
    let output = |o: &OutputCoefficients| {
        finite(&o.position, 3)
            && finite(&o.rotation, 9)
            && finite(&o.jacobian, 6 * n)
            && o.curvature.iter().all(|x| x.is_finite())
    };
    let axis = |a: &GravityAxis| {
        a.potential.is_finite()
            && finite(&a.force, n)
            && all(&a.force_gradient, s, n)
            && a.stiffness.iter().all(|x| x.is_finite())
    };
    let n_axes = if layout.parameters.gravity_at_runtime {
        3
    } else {
        0
    };
    c.has_own_sizes()
        && finite(&c.theta, s)
        && finite(&c.mass, n * n)
        && all(&c.mass_gradient, n, n * n)
        && all(&c.mass_curvature, c.mass_curvature.len(), (n - s) * (n - s))
        && finite(&c.stiffness, n * n)
        && all(&c.stiffness_gradient, s, n * n)
        && finite(&c.damping, n * n)
        && c.potential.is_finite()
        && finite(&c.force, n)
        && all(&c.force_gradient, s, n)
        && finite(&c.gravity, n)
        && c.gravity_axes.len() == n_axes
        && c.gravity_axes.iter().all(axis)
        && c.outputs.len() == layout.outputs.len()
        && c.outputs.iter().all(output)
        && all(&c.load_map, layout.loaded.len(), n)
        && c.derived.len() == layout.derived.len()
        && c.derived.iter().zip(&layout.derived).all(|(d, info)| {
            let len = info.rows * info.columns;
            d.columns == info.columns
                && finite(&d.values, len)
                && all(&d.gradient, d.gradient.len(), len)
        })
}
