//! Nonlinear static equilibrium of the full model with actuators locked.

use super::FullModel;
use super::dofs::DofMap;
use super::joint;
use super::rows::{ConstraintRows, mount_frame};
use crate::lie::{self, Frame, Vector6, join};
use faer::Mat;
use faer::linalg::solvers::SolveCore;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, sparse::linalg::LuError};
use nalgebra::Vector3;
use thiserror::Error;

/// Why no equilibrium was found.
#[derive(Debug, Clone, Error)]
#[allow(missing_docs)]
pub enum StaticsError {
    #[error("the tangent stiffness is singular at {load:.0} % of the load")]
    Singular { load: f64 },
    #[error(
        "Newton's method stopped at {load:.0} % of the load while updates were still {update:.2e} of the mechanism's size"
    )]
    NotConverged { load: f64, update: f64 },
}

/// A deformed configuration in equilibrium.
#[derive(Debug, Clone)]
pub struct Equilibrium {
    /// Node frames.
    pub frames: Vec<Frame>,
    /// Deflections of flexible actuators.
    pub scalars: Vec<f64>,
    /// Multipliers of the constraint rows.
    pub multipliers: Vec<f64>,
    /// Newton iterations in total.
    pub iterations: usize,
}

/// Smallest part of the load that is tried as one step.
const SHORTEST_STEP: f64 = 1.0 / 4096.0;
/// Newton iterations per load step.
const ITERATIONS: usize = 25;

impl FullModel {
    /// Equilibrium under gravity, springs and constant loads, actuators held as in `start`.
    ///
    /// The load is applied in steps that are halved where Newton's method fails.
    pub fn equilibrium(&self, start: &[Frame]) -> Result<Equilibrium, StaticsError> {
        let held: Vec<f64> = self
            .drives
            .iter()
            .map(|drive| self.coordinate_value(drive, start, 0.0))
            .collect();
        let mut state = Equilibrium {
            frames: start.to_vec(),
            scalars: vec![0.0; self.scalars.len()],
            multipliers: vec![0.0; self.constraint_rows(start, false).n_rows],
            iterations: 0,
        };
        let (mut done, mut step) = (0.0, 1.0);
        while done < 1.0 {
            let load = if done + step >= 1.0 { 1.0 } else { done + step };
            match self.newton(&state, &held, load) {
                Ok(next) => {
                    state = next;
                    done = load;
                    step *= 1.5;
                }
                Err(error) => {
                    step *= 0.5;
                    if step < SHORTEST_STEP {
                        return Err(error);
                    }
                }
            }
        }
        Ok(state)
    }

    fn newton(
        &self,
        from: &Equilibrium,
        held: &[f64],
        load: f64,
    ) -> Result<Equilibrium, StaticsError> {
        let map = self.dof_map();
        let mut state = from.clone();
        let mut last = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let rows = self.constraint_rows(&state.frames, false);
            let (matrix, rhs) = self.tangent_system(&map, &rows, &state, held, load);
            let lu = match matrix.sp_lu() {
                Ok(lu) => lu,
                Err(LuError::Generic(_) | LuError::SymbolicSingular { .. }) => {
                    return Err(StaticsError::Singular { load: 100.0 * load });
                }
            };
            let mut x = rhs.clone();
            lu.solve_in_place_with_conj(Conj::No, x.as_mut());
            let size = (0..map.len()).fold(0.0_f64, |m, i| m.max(x[(i, 0)].abs())) / self.length;
            if !size.is_finite() {
                return Err(StaticsError::Singular { load: 100.0 * load });
            }
            if size > 0.5 {
                return Err(StaticsError::NotConverged {
                    load: 100.0 * load,
                    update: size,
                });
            }
            self.update(&map, &mut state, &x);
            state.iterations += 1;
            // With the exact tangent, updates that rounding stops from shrinking mean equilibrium.
            if size < 1e-14 || (size < 1e-9 && size >= 0.5 * last) {
                return Ok(state);
            }
            last = size;
        }
        Err(StaticsError::NotConverged {
            load: 100.0 * load,
            update: last,
        })
    }

    fn update(&self, map: &DofMap, state: &mut Equilibrium, x: &Mat<f64>) {
        let y = x.col_as_slice(0);
        for (node, frame) in state.frames.iter_mut().enumerate() {
            *frame = frame.compose(&lie::exp(&map.expand(node, y)));
        }
        for (i, scalar) in state.scalars.iter_mut().enumerate() {
            *scalar += y[map.first_scalar() + i];
        }
        for (r, multiplier) in state.multipliers.iter_mut().enumerate() {
            *multiplier += y[map.len() + r];
        }
    }

    /// Tangent matrix and right-hand side.
    fn tangent_system(
        &self,
        map: &DofMap,
        rows: &ConstraintRows,
        state: &Equilibrium,
        held: &[f64],
        load: f64,
    ) -> (SparseColMat<usize, f64>, Mat<f64>) {
        let n = map.len();
        let mut triplets: Vec<Triplet<usize, usize, f64>> = Vec::new();
        let mut forces = Mat::<f64>::zeros(self.n_motion(), 1);
        for placed in &self.placed {
            let d = self.deformation(placed, &state.frames, &state.scalars);
            let (f, k) = self.element(placed).elastic_forces(&d);
            placed.scatter(&-f, forces.col_as_slice_mut(0));
            placed.each_entry(map, k.as_slice(), |i, j, v| {
                triplets.push(Triplet::new(i, j, v))
            });
        }
        for (i, (stiffness, _)) in self.scalars.iter().enumerate() {
            let dof = map.first_scalar() + i;
            triplets.push(Triplet::new(dof, dof, *stiffness));
            forces[(6 * self.nodes.len() + i, 0)] -= stiffness * state.scalars[i];
        }
        forces += &self.applied(state, load);
        self.each_load_stiffness(map, state, load, |i, j, v| {
            triplets.push(Triplet::new(i, j, v))
        });
        self.each_constraint_stiffness(map, state, |i, j, v| triplets.push(Triplet::new(i, j, v)));
        let lambda = Mat::from_fn(rows.n_rows, 1, |r, _| state.multipliers[r]);
        rows.apply_transposed(self.nodes.len(), &lambda, -1.0, &mut forces);
        map.each_row_entry(rows, |r, dof, v| {
            triplets.push(Triplet::new(n + r, dof, v));
            triplets.push(Triplet::new(dof, n + r, v));
        });
        let mut rhs = Mat::zeros(n + rows.n_rows, 1);
        for node in 0..self.nodes.len() {
            let f = Vector6::from_fn(|i, _| forces[(6 * node + i, 0)]);
            for (dof, value) in map.project(node, &f) {
                rhs[(dof, 0)] = value;
            }
        }
        for i in 0..self.scalars.len() {
            rhs[(map.first_scalar() + i, 0)] = forces[(6 * self.nodes.len() + i, 0)];
        }
        for (r, value) in self.constraint_residuals(state, held).iter().enumerate() {
            rhs[(n + r, 0)] = -value;
        }
        let size = n + rows.n_rows;
        let matrix = SparseColMat::try_new_from_triplets(size, size, &triplets)
            .unwrap_or_else(|_| unreachable!("indices come from the dof map"));
        (matrix, rhs)
    }

    /// Gravity, springs and loads, scaled.
    fn applied(&self, state: &Equilibrium, load: f64) -> Mat<f64> {
        let mut out = Mat::zeros(self.n_motion(), 1);
        let gravity = self.gravity_field(&state.frames);
        for (node, mass) in &self.masses {
            let a = Vector6::from_fn(|i, _| gravity[(6 * node + i, 0)]);
            let f = mass * a;
            for i in 0..6 {
                out[(6 * node + i, 0)] += load * f[i];
            }
        }
        for placed in &self.placed {
            let d = self.deformation(placed, &state.frames, &state.scalars);
            let a = placed.gather(gravity.col_as_slice(0));
            let f = self.element(placed).mass_at(&d) * a * load;
            placed.scatter(&f, out.col_as_slice_mut(0));
        }
        let mut loads = Mat::zeros(self.n_motion(), 1);
        self.add_loads(&state.frames, &mut loads);
        for spring in self.spring_states(&state.frames, &[]) {
            let tension = Mat::from_fn(1, 1, |_, _| -spring.tension);
            spring
                .row
                .apply_transposed(self.nodes.len(), &tension, 1.0, &mut loads);
        }
        for i in 0..out.nrows() {
            out[(i, 0)] += load * loads[(i, 0)];
        }
        out
    }

    /// Derivative of dead loads and gravity with respect to the rotation of their nodes (sign: on
    /// the left-hand side), and stiffness of springs.
    fn each_load_stiffness(
        &self,
        map: &DofMap,
        state: &Equilibrium,
        load: f64,
        mut push: impl FnMut(usize, usize, f64),
    ) {
        for point in &self.loads {
            let Some(node) = point.at.node else { continue };
            let frame = mount_frame(&point.at, &state.frames);
            let (f, m) = (
                frame.rotation.tr_mul(&point.force),
                frame.rotation.tr_mul(&point.moment),
            );
            let mut block = lie::Matrix6::zeros();
            for j in 0..6 {
                let spin = lie::angular(&point.at.frame.pull_back(&Vector6::ith(j, 1.0)));
                let rate = join(&f.cross(&spin), &m.cross(&spin));
                block.set_column(j, &(-point.at.frame.carry_force(&rate) * load));
            }
            map.each_entry(node, node, &block, &mut push);
        }
        for (node, mass) in &self.masses {
            let g = state.frames[*node].rotation.tr_mul(&self.gravity);
            let mut block = lie::Matrix6::zeros();
            for j in 0..3 {
                let rate = join(&g.cross(&Vector3::ith(j, 1.0)), &Vector3::zeros());
                block.set_column(3 + j, &(-(mass * rate) * load));
            }
            map.each_entry(*node, *node, &block, &mut push);
        }
        for spring in self.spring_states(&state.frames, &[]) {
            let mut flat = Vec::new();
            map.each_row_entry(&spring.row, |_, dof, value| flat.push((dof, value)));
            for &(i, a) in &flat {
                for &(j, b) in &flat {
                    push(i, j, load * spring.stiffness * a * b);
                }
            }
        }
    }

    /// Derivative of Cᵀλ with respect to the motions of the nodes that joints and drives touch.
    pub(super) fn each_constraint_stiffness(
        &self,
        map: &DofMap,
        state: &Equilibrium,
        mut push: impl FnMut(usize, usize, f64),
    ) {
        let mut touched: Vec<usize> = self
            .joints
            .iter()
            .flat_map(|j| [j.a.node, j.b.node])
            .flatten()
            .collect();
        touched.extend(
            self.drives
                .iter()
                .flat_map(|d| [d.a.node, d.b.node])
                .flatten(),
        );
        touched.sort_unstable();
        touched.dedup();
        let mut velocities = vec![Vector6::zeros(); self.nodes.len()];
        for &node in &touched {
            for dof in map.range(node) {
                velocities[node] = map.unit(node, dof);
                let rates = self.constraint_rates(&state.frames, &velocities, false);
                for entry in &rates.entries {
                    let lambda = state.multipliers[entry.row];
                    if lambda == 0.0 {
                        continue;
                    }
                    for (i, value) in map.project(entry.node, &entry.values) {
                        push(i, dof, value * lambda);
                    }
                }
            }
            velocities[node] = Vector6::zeros();
        }
    }

    /// Residuals of the independent joint constraints.
    pub(crate) fn joint_residuals(&self, frames: &[Frame]) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.n_joint_rows + self.drives.len());
        let mut candidate = 0;
        for model_joint in &self.joints {
            let d =
                mount_frame(&model_joint.a, frames).relative(&mount_frame(&model_joint.b, frames));
            let residual = joint::residual(model_joint.kind, &d);
            for value in residual.iter().take(joint::n_rows(model_joint.kind)) {
                if self.kept_rows[candidate].is_some() {
                    out.push(*value);
                }
                candidate += 1;
            }
        }
        out
    }

    /// Residuals of the independent joint constraints and of the held actuators.
    pub(super) fn constraint_residuals(&self, state: &Equilibrium, held: &[f64]) -> Vec<f64> {
        let mut out = self.joint_residuals(&state.frames);
        for (drive, value) in self.drives.iter().zip(held) {
            let deflection = drive.scalar.map_or(0.0, |i| state.scalars[i]);
            out.push(self.coordinate_value(drive, &state.frames, *value) - value - deflection);
        }
        out
    }
}
