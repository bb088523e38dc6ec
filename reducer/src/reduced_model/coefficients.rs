//! All coefficients of the equations of motion at one θ, η^δ = 0.

use super::dynamics::reset;
use super::evaluate::{EvaluationError, Evaluator, Status, Workspace, check_length};
use super::{Component, ModelForm, OutputMotion};
use crate::linalg::christoffel;
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Coefficients at one θ; matrices row-major, n×n. All zero where the status is `undefined` or
/// `not_finite`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelCoefficients {
    /// M̄.
    pub mass: Vec<f64>,
    /// ∂M̄/∂η_i, n matrices; empty in the `direct` form, which does not store them.
    pub mass_gradient: Vec<Vec<f64>>,
    /// h̄_ijk, index (i·n + j)·n + k.
    pub gyroscopic: Vec<f64>,
    /// K̄.
    pub stiffness: Vec<f64>,
    /// D̄.
    pub damping: Vec<f64>,
    /// −∂V/∂η of everything conservative.
    pub force: Vec<f64>,
    /// −∂V/∂η of gravity.
    pub gravity: Vec<f64>,
    /// −∂V/∂η per unit of gravity along each inertial axis, three vectors of n; empty where gravity
    /// is fixed.
    pub gravity_axes: Vec<Vec<f64>>,
    /// Displacement of loaded dofs per generalised coordinate, one row of n values each.
    pub load_map: Vec<Vec<f64>>,
    /// Motion of the outputs; velocities are zero.
    pub outputs: Vec<OutputMotion>,
    /// How it went.
    pub status: Status,
}

/// The document that scripts read; nested arrays, SI units, radians.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelDocument {
    /// Names in the order θ, γ, ι.
    pub coordinates: Vec<String>,
    /// θ as given.
    pub theta: Vec<f64>,
    /// M̄.
    pub mass: Vec<Vec<f64>>,
    /// K̄.
    pub stiffness: Vec<Vec<f64>>,
    /// D̄.
    pub damping: Vec<Vec<f64>>,
    /// h̄_ijk.
    pub gyroscopic: Vec<Vec<Vec<f64>>>,
    /// −∂V_gravity/∂η.
    pub gravity: Vec<f64>,
    /// Displacement of each loaded dof per θ.
    pub psi_g_theta: Vec<Vec<f64>>,
    /// √eig(K̄^ιι, M̄^ιι)/2π, ascending.
    pub frequencies_hz: Vec<f64>,
    /// By name.
    pub outputs: BTreeMap<String, OutputDocument>,
    /// How it went.
    pub status: Status,
}

/// One output in a [`ModelDocument`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputDocument {
    /// Position, inertial axes.
    pub position: [f64; 3],
    /// Body to inertial.
    pub rotation: [[f64; 3]; 3],
    /// Velocity and angular velocity per generalised velocity, inertial axes.
    pub jacobian: Vec<Vec<f64>>,
}

impl Evaluator<'_> {
    /// All coefficients at θ (s values).
    pub fn coefficients(
        &self,
        theta: &[f64],
        work: &mut Workspace,
    ) -> Result<ModelCoefficients, EvaluationError> {
        let mut out = ModelCoefficients::default();
        self.coefficients_into(theta, work, &mut out)?;
        Ok(out)
    }

    /// The same into memory that earlier calls left.
    pub(crate) fn coefficients_into(
        &self,
        theta: &[f64],
        work: &mut Workspace,
        out: &mut ModelCoefficients,
    ) -> Result<(), EvaluationError> {
        self.dynamics_into(theta, work, out)?;
        self.fill_outputs(theta, out, work)
    }

    /// Zero coefficients with the status of θ, which is located.
    fn located(
        &self,
        theta: &[f64],
        work: &mut Workspace,
        out: &mut ModelCoefficients,
    ) -> Result<(), EvaluationError> {
        check_length("theta", theta.len(), self.n_rigid())?;
        out.reset(self.n(), self.model.layout.loaded.len());
        out.status = self.locate(theta, work);
        if self.model.form == ModelForm::Direct || out.status >= Status::Undefined {
            out.mass_gradient.clear();
        }
        Ok(())
    }

    /// All coefficients but those of outputs and loads, which are zero.
    pub(crate) fn dynamics_into(
        &self,
        theta: &[f64],
        work: &mut Workspace,
        out: &mut ModelCoefficients,
    ) -> Result<(), EvaluationError> {
        self.located(theta, work, out)?;
        if out.status >= Status::Undefined {
            return Ok(());
        }
        self.evaluate_dynamics(work);
        self.fill_values(out, work);
        if self.model.form == ModelForm::Lagrangian {
            self.fill_derived(out, work);
        }
        if self.model.layout.parameters.gravity_at_runtime {
            self.fill_gravity(out, work);
        } else if !self.stores_gravity() {
            out.gravity.clone_from(&out.force);
        }
        self.add_to_coefficients(out, work);
        Ok(())
    }

    /// The coefficients of outputs and loads; the rest is zero.
    pub(crate) fn outputs_into(
        &self,
        theta: &[f64],
        work: &mut Workspace,
        out: &mut ModelCoefficients,
    ) -> Result<(), EvaluationError> {
        self.located(theta, work, out)?;
        out.mass_gradient.clear();
        self.fill_outputs(theta, out, work)
    }

    fn fill_outputs(
        &self,
        theta: &[f64],
        out: &mut ModelCoefficients,
        work: &mut Workspace,
    ) -> Result<(), EvaluationError> {
        if out.status >= Status::Undefined {
            return Ok(());
        }
        let n = self.n();
        let mut eta = vec![0.0; n];
        eta[..theta.len()].copy_from_slice(theta);
        out.load_map = self.load_map(work);
        out.outputs = self.outputs(&eta, &vec![0.0; n], work)?.0;
        Ok(())
    }

    /// The same as a document.
    pub fn document(
        &self,
        theta: &[f64],
        work: &mut Workspace,
    ) -> Result<ModelDocument, EvaluationError> {
        let (n, s) = (self.n(), self.n_rigid());
        let c = self.coefficients(theta, work)?;
        let nest = |a: &[f64]| a.chunks(n).map(<[f64]>::to_vec).collect::<Vec<_>>();
        let names = &self.model.layout.outputs;
        let document = |m: &OutputMotion| OutputDocument {
            position: m.position.into(),
            rotation: std::array::from_fn(|i| std::array::from_fn(|j| m.rotation[(i, j)])),
            jacobian: nest(&m.jacobian),
        };
        Ok(ModelDocument {
            coordinates: self
                .model
                .layout
                .coordinates
                .iter()
                .map(|c| c.name.clone())
                .collect(),
            theta: theta.to_vec(),
            mass: nest(&c.mass),
            stiffness: nest(&c.stiffness),
            damping: nest(&c.damping),
            gyroscopic: c.gyroscopic.chunks(n * n).map(nest).collect(),
            gravity: c.gravity.clone(),
            psi_g_theta: c.load_map.iter().map(|row| row[..s].to_vec()).collect(),
            frequencies_hz: self.frequencies_hz(&c),
            outputs: names
                .iter()
                .cloned()
                .zip(c.outputs.iter().map(document))
                .collect(),
            status: c.status,
        })
    }

    fn stores_gravity(&self) -> bool {
        let lists = &self.model.components;
        let is_gravity = |c: &Component| matches!(c, Component::Gravity { .. });
        lists.dynamics.iter().any(is_gravity)
            || lists.constants.iter().any(|c| is_gravity(&c.component))
    }

    /// Blocks that are stored or need no derivative; U₀ goes to `work.factor`.
    fn fill_values(&self, out: &mut ModelCoefficients, work: &mut Workspace) {
        let n = self.n();
        let (u, l, d) = (
            &mut work.factor,
            &mut work.stiffness_factor,
            &mut work.damping_factor,
        );
        for factor in [&mut *u, &mut *l, &mut *d] {
            reset(factor, n * n);
        }
        let set = |a: &mut [f64], row: usize, column: usize, v: f64| {
            a[row * n + column] = v;
            a[column * n + row] = v;
        };
        self.visit_dynamics(&work.values, &[], |component, v, _| match component {
            Component::MassFactor { row, column } => u[row * n + column] = v,
            Component::StiffnessFactor { row, column } => l[row * n + column] = v,
            Component::DampingFactor { row, column } => d[row * n + column] = v,
            Component::Mass { row, column } => set(&mut out.mass, row, column, v),
            Component::Stiffness { row, column } => set(&mut out.stiffness, row, column, v),
            Component::Damping { row, column } => set(&mut out.damping, row, column, v),
            Component::Gyroscopic { row, first, second } => {
                out.gyroscopic[(row * n + first) * n + second] = v;
                out.gyroscopic[(row * n + second) * n + first] = v;
            }
            Component::Force { row } => out.force[row] = v,
            Component::Gravity { row } => out.gravity[row] = v,
            _ => {}
        });
        add_product(&mut out.stiffness, l, l, n, 0.5, lower);
        add_product(&mut out.damping, d, d, n, 0.5, lower);
    }

    /// Gravity per axis, and the share of the given vector in the forces.
    fn fill_gravity(&self, out: &mut ModelCoefficients, work: &mut Workspace) {
        let (n, s) = (self.n(), self.n_rigid());
        let mut axes = vec![vec![0.0; n]; 3];
        self.visit_dynamics(&work.values, &[], |component, v, _| {
            if let Component::GravityForce { row, axis } = component {
                axes[axis][row] = v;
            }
        });
        if self.model.form == ModelForm::Lagrangian {
            let mut direction = vec![0.0; s];
            for k in 0..s {
                direction[k] = 1.0;
                self.evaluate_rates(&direction, work);
                direction[k] = 0.0;
                self.visit_dynamics(&work.values, &work.rates, |component, _, dv| {
                    if let Component::GravityPotential { axis } = component {
                        axes[axis][k] = -dv;
                    }
                });
            }
        }
        for (axis, pull) in axes.iter().zip(self.gravity) {
            for (i, per_unit) in axis.iter().enumerate() {
                out.gravity[i] += pull * per_unit;
                out.force[i] += pull * per_unit;
            }
        }
        out.gravity_axes = axes;
    }

    /// `lagrangian`: M̄, its gradient, h̄ and the force on θ from U₀, U_d and U(θ).
    fn fill_derived(&self, out: &mut ModelCoefficients, work: &mut Workspace) {
        let (n, s) = (self.n(), self.n_rigid());
        let mut slopes = std::mem::take(&mut work.factor_slopes);
        reset(&mut slopes, n * n * n);
        let mut direction = vec![0.0; s];
        for k in 0..s {
            direction[k] = 1.0;
            self.evaluate_rates(&direction, work);
            direction[k] = 0.0;
            self.visit_dynamics(
                &work.values,
                &work.rates,
                |component, _, dv| match component {
                    Component::MassFactor { row, column } => {
                        slopes[(k * n + row) * n + column] = dv
                    }
                    Component::Potential => out.force[k] = -dv,
                    _ => {}
                },
            );
        }
        self.visit_dynamics(&work.values, &[], |component, v, _| {
            if let Component::MassFactorSlope {
                coordinate,
                row,
                column,
            } = component
            {
                slopes[(coordinate * n + row) * n + column] = v;
            }
        });
        let u = &work.factor;
        add_product(&mut out.mass, u, u, n, 0.5, upper);
        out.mass_gradient.resize_with(n, Vec::new);
        for (gradient, du) in out.mass_gradient.iter_mut().zip(slopes.chunks_exact(n * n)) {
            reset(gradient, n * n);
            add_product(gradient, du, u, n, 1.0, upper);
        }
        christoffel(&out.mass_gradient, n, &mut out.gyroscopic);
        work.factor_slopes = slopes;
    }

    /// √eig(K̄^ιι, M̄^ιι)/2π, ascending; empty without internal modes.
    pub fn frequencies_hz(&self, c: &ModelCoefficients) -> Vec<f64> {
        let internal: Vec<usize> = (0..self.n())
            .filter(|&i| self.model.layout.coordinates[i].kind == super::CoordinateKind::Internal)
            .collect();
        frequencies_hz(&c.mass, &c.stiffness, self.n(), &internal)
    }
}

impl ModelCoefficients {
    /// Everything zero but the gradient of the mass, which is left as it is.
    fn reset(&mut self, n: usize, n_loaded: usize) {
        for matrix in [&mut self.mass, &mut self.stiffness, &mut self.damping] {
            reset(matrix, n * n);
        }
        reset(&mut self.gyroscopic, n * n * n);
        for vector in [&mut self.force, &mut self.gravity] {
            reset(vector, n);
        }
        self.gravity_axes.clear();
        self.load_map.resize_with(n_loaded, Vec::new);
        self.load_map.iter_mut().for_each(|row| reset(row, n));
        self.outputs.clear();
    }
}

/// Columns where rows i and j ≤ i of upper triangular factors are both filled.
fn upper(i: usize, _: usize, n: usize) -> std::ops::Range<usize> {
    i..n
}

/// The same of lower triangular factors.
fn lower(_: usize, j: usize, _: usize) -> std::ops::Range<usize> {
    0..j + 1
}

/// out += scale (A Bᵀ + B Aᵀ) for triangular A and B.
fn add_product(
    out: &mut [f64],
    a: &[f64],
    b: &[f64],
    n: usize,
    scale: f64,
    columns: fn(usize, usize, usize) -> std::ops::Range<usize>,
) {
    let row = |i: usize| i * n..(i + 1) * n;
    for i in 0..n {
        let (ai, bi) = (&a[row(i)], &b[row(i)]);
        for j in 0..=i {
            let (aj, bj) = (&a[row(j)], &b[row(j)]);
            let mut sum = 0.0;
            for k in columns(i, j, n) {
                sum += ai[k] * bj[k] + bi[k] * aj[k];
            }
            out[i * n + j] += scale * sum;
            if j < i {
                out[j * n + i] += scale * sum;
            }
        }
    }
}

/// √eig(K, M)/2π of the given rows and columns, ascending; empty where M is not definite there.
pub(crate) fn frequencies_hz(
    mass: &[f64],
    stiffness: &[f64],
    n: usize,
    rows: &[usize],
) -> Vec<f64> {
    let k = rows.len();
    if k == 0 {
        return Vec::new();
    }
    let pick = |a: &[f64]| DMatrix::from_fn(k, k, |i, j| a[rows[i] * n + rows[j]]);
    let Some(factor) = pick(mass).cholesky() else {
        return Vec::new();
    };
    let lower = factor.l();
    let Some(half) = lower.solve_lower_triangular(&pick(stiffness)) else {
        return Vec::new();
    };
    let Some(standard) = lower.solve_lower_triangular(&half.transpose()) else {
        return Vec::new();
    };
    let mut values: Vec<f64> = standard
        .symmetric_eigenvalues()
        .iter()
        .map(|v| v.max(0.0).sqrt() / std::f64::consts::TAU)
        .collect();
    values.sort_by(f64::total_cmp);
    values
}
