//! All coefficients of the equations of motion at one θ, η^δ = 0.

use super::evaluate::{EvaluationError, Evaluator, Status, Workspace, check_length};
use super::{Component, OutputMotion};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Coefficients at one θ; matrices row-major, n×n. All zero where the status is `undefined` or
/// `not_finite`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelCoefficients {
    /// M̄.
    pub mass: Vec<f64>,
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
    /// What is of second order [M 14.6, 14.8], for pairs d ≤ e of the m modal coordinates: stiffness of gravity
    /// along an axis at (axis·m + d)·m + e, ∂²M̄_ij/∂η_d∂η_e for i ≤ j at ((3 + i·s + j)·m + d)·m + e; empty where
    /// nothing changes the stiffness.
    pub second_order: Vec<f64>,
    /// Motion of the outputs; velocities are zero.
    pub outputs: Vec<OutputMotion>,
    /// Second derivatives of their positions by η_d and η_e, d ≤ e, at ((3·output + axis)·m + d)·m + e; empty
    /// where nothing changes the stiffness.
    pub position_curvature: Vec<f64>,
    /// Derived quantities, each row-major.
    pub derived: Vec<Vec<f64>>,
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
    /// Derived quantities by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub derived: BTreeMap<String, Vec<Vec<f64>>>,
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

impl ModelCoefficients {
    /// The blocks of the dynamics as the kernel fills them.
    fn view<'a>(&'a mut self, n: usize, load_map: &'a mut [f64]) -> kernel::Coefficients<'a, f64> {
        for matrix in [&mut self.mass, &mut self.stiffness, &mut self.damping] {
            matrix.resize(n * n, 0.0);
        }
        self.gyroscopic.resize(n * n * n, 0.0);
        self.force.resize(n, 0.0);
        self.gravity.resize(n, 0.0);
        kernel::Coefficients {
            mass: &mut self.mass,
            gyroscopic: &mut self.gyroscopic,
            stiffness: &mut self.stiffness,
            damping: &mut self.damping,
            force: &mut self.force,
            gravity: &mut self.gravity,
            load_map,
        }
    }
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
        let mut map = vec![0.0; self.model.layout.loaded.len() * self.n()];
        self.fill(theta, work, &mut map, out)?;
        out.load_map = map.chunks(self.n()).map(<[f64]>::to_vec).collect();
        self.fill_outputs(theta, out, work)
    }

    /// All coefficients but those of outputs and loads, which are zero.
    pub(crate) fn dynamics_into(
        &self,
        theta: &[f64],
        work: &mut Workspace,
        out: &mut ModelCoefficients,
    ) -> Result<(), EvaluationError> {
        self.fill(theta, work, &mut [], out)?;
        out.load_map = vec![vec![0.0; self.n()]; self.model.layout.loaded.len()];
        out.outputs.clear();
        out.derived.clear();
        Ok(())
    }

    /// Blocks of the dynamics, and the load map unless it is empty.
    fn fill(
        &self,
        theta: &[f64],
        work: &mut Workspace,
        load_map: &mut [f64],
        out: &mut ModelCoefficients,
    ) -> Result<(), EvaluationError> {
        let n = self.n();
        check_length("theta", theta.len(), self.n_rigid())?;
        let mut into = out.view(n, load_map);
        let (m, p) = (self.plan.model(), self.parameters());
        let scratch = work.scratch(&self.plan);
        out.status = kernel::coefficients(&m, p.as_ref(), theta, &mut into, scratch).into();
        out.gravity_axes.clear();
        if m.has_gravity_terms() && out.status < Status::Undefined {
            let mut axes = vec![0.0; 3 * n];
            let scratch = work.scratch(&self.plan);
            let status = kernel::gravity_axes(&m, p.as_ref(), theta, &mut axes, scratch);
            out.status = out.status.max(status.into());
            out.gravity_axes = axes.chunks(n).map(<[f64]>::to_vec).collect();
        }
        out.second_order.resize(self.second_order_size(), 0.0);
        if !out.second_order.is_empty() {
            let scratch = work.scratch(&self.plan);
            let status = kernel::second_order(&m, theta, &mut out.second_order, scratch);
            out.status = out.status.max(status.into());
        }
        Ok(())
    }

    fn second_order_size(&self) -> usize {
        let (s, modal) = (self.n_rigid(), self.n() - self.n_rigid());
        if self.model.layout.stiffening.is_none() {
            0
        } else {
            (3 + s * s) * modal * modal
        }
    }

    /// Coefficients of the dynamics with one stored function, or its derivative by a θ, moved.
    pub(crate) fn moved_into(
        &self,
        theta: &[f64],
        moved: kernel::Move<f64>,
        work: &mut Workspace,
        out: &mut ModelCoefficients,
    ) {
        let (n, m) = (self.n(), self.plan.model());
        let mut axes = vec![0.0; if m.has_gravity_terms() { 3 * n } else { 0 }];
        let mut second = std::mem::take(&mut out.second_order);
        second.resize(self.second_order_size(), 0.0);
        let mut into = out.view(n, &mut []);
        let scratch = work.scratch(&self.plan);
        let further = [&mut axes[..], &mut second[..]];
        let status = kernel::moved_coefficients(&m, theta, moved, &mut into, further, scratch);
        out.status = status.into();
        out.second_order = second;
        out.gravity_axes = axes.chunks(n).map(<[f64]>::to_vec).collect();
    }

    /// Where the table of the dynamics has a component.
    pub(crate) fn value_of(&self, component: Component) -> Option<usize> {
        let (group, indices) = component.place();
        let same = |e: &&kernel::Entry| [e.i, e.j, e.k, e.l].map(usize::from) == indices;
        let found = self.plan.list(group).iter().find(same);
        found.map(|e| e.value as usize)
    }

    /// The coefficients of outputs; the rest is zero.
    pub(crate) fn outputs_into(
        &self,
        theta: &[f64],
        work: &mut Workspace,
        out: &mut ModelCoefficients,
    ) -> Result<(), EvaluationError> {
        *out = ModelCoefficients::default();
        let mut map = vec![0.0; self.model.layout.loaded.len() * self.n()];
        let (m, scratch) = (self.plan.model(), work.scratch(&self.plan));
        out.status = kernel::load_map(&m, theta, &mut map, scratch).into();
        out.load_map = map.chunks(self.n()).map(<[f64]>::to_vec).collect();
        self.fill_outputs(theta, out, work)
    }

    fn fill_outputs(
        &self,
        theta: &[f64],
        out: &mut ModelCoefficients,
        work: &mut Workspace,
    ) -> Result<(), EvaluationError> {
        out.outputs.clear();
        let (derived, status) = self.derived(theta, work)?;
        out.derived = derived;
        out.status = out.status.max(status);
        if out.status < Status::Undefined {
            let n = self.n();
            let mut eta = vec![0.0; n];
            eta[..theta.len()].copy_from_slice(theta);
            out.outputs = self.outputs(&eta, &vec![0.0; n], work)?.0;
            let modal = n - theta.len();
            if !self.model.layout.stiffening.is_none() {
                out.position_curvature
                    .resize(3 * out.outputs.len() * modal * modal, 0.0);
                let (m, scratch) = (self.plan.model(), work.scratch(&self.plan));
                let into = &mut out.position_curvature;
                let status = kernel::position_curvature(&m, theta, into, scratch);
                out.status = out.status.max(status.into());
            }
        }
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
            derived: (self.model.layout.derived.iter().zip(&c.derived))
                .map(|(d, values)| {
                    let rows = values.chunks(d.columns).map(<[f64]>::to_vec);
                    (d.name.clone(), rows.collect())
                })
                .collect(),
            status: c.status,
        })
    }

    /// √eig(K̄^ιι, M̄^ιι)/2π, ascending; empty without internal modes.
    pub fn frequencies_hz(&self, c: &ModelCoefficients) -> Vec<f64> {
        let internal: Vec<usize> = (0..self.n())
            .filter(|&i| self.model.layout.coordinates[i].kind == super::CoordinateKind::Internal)
            .collect();
        frequencies_hz(&c.mass, &c.stiffness, self.n(), &internal)
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
