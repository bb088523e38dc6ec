//! Structural damping of the moving model.
//!
//! It acts on w, the velocity of the nodes relative to the undeformed mechanism that moves with
//! the same θ and θ̇. Its virtual work is −(δq − Ψ_θδθ)ᵀD·w, so that rigid motions feel none of it
//! and the reduced model's D̄ of the elastic coordinates is its projection.

use super::equations::{Balance, Equations, State, add_row, add_to_node, apply_row, of_node};
use crate::description::mechanism::Damping;
use crate::lie::{Frame, Vector6};
use crate::reduction::{LocalReducer, ReductionError};
use faer::Mat;
use nalgebra::{DMatrix, DVector};

/// Structural damping with the undeformed configuration near the present one.
pub(super) struct Structure {
    damping: Damping,
    damped_modes: usize,
    refresh: f64,
    rigid: Option<RigidMotion>,
    modes: Option<DampedModes>,
}

/// The undeformed configuration: node frames and their velocities per θ̇_k.
struct RigidMotion {
    frames: Vec<Frame>,
    velocities: Vec<Vec<Vector6>>,
}

impl RigidMotion {
    /// Velocities of the undeformed nodes as the deformed ones would have them, per θ̇_k.
    fn carried(&self, state: &State) -> Vec<Vec<Vector6>> {
        self.velocities
            .iter()
            .map(|column| {
                (column.iter().zip(&self.frames).zip(&state.frames))
                    .map(|((v, from), to)| from.relative(to).pull_back(v))
                    .collect()
            })
            .collect()
    }
}

/// Damping that couples everything, as U·C·Uᵀ on motions.
pub(super) struct LowRank {
    /// Columns of U.
    pub columns: Vec<Vec<f64>>,
    /// C.
    pub core: DMatrix<f64>,
}

/// M·Φ and 2ζω of the modes at some θ.
struct DampedModes {
    theta: Vec<f64>,
    mass_shapes: Mat<f64>,
    coefficients: Vec<f64>,
}

impl Structure {
    pub fn new(damping: Damping, damped_modes: usize, refresh: f64) -> Self {
        Self {
            damping,
            damped_modes,
            refresh,
            rigid: None,
            modes: None,
        }
    }

    /// Dampers parallel to the stiffness, as a factor of it.
    pub fn strain_rate_factor(&self) -> f64 {
        match self.damping {
            Damping::Rayleigh { beta, .. } => beta,
            Damping::None | Damping::Modal { .. } => 0.0,
        }
    }

    /// Moves the undeformed configuration to θ; an error of second order in the step or less keeps
    /// the order of the integration.
    pub fn prepare(&mut self, reducer: &LocalReducer, theta: &[f64]) -> Result<(), ReductionError> {
        let model = reducer.model();
        let needed = match self.damping {
            Damping::None => false,
            Damping::Modal { .. } => model.is_flexible(),
            Damping::Rayleigh { alpha, beta } => {
                alpha > 0.0 || (beta > 0.0 && !model.springs.is_empty())
            }
        };
        if !needed {
            return Ok(());
        }
        let configuration = reducer.kinematics().solve(theta)?;
        if let Damping::Modal { ratio } = self.damping {
            let near = self.modes.as_ref().is_some_and(|modes| {
                (modes.theta.iter().zip(theta).zip(&model.drives)).all(|((old, new), drive)| {
                    let size = if drive.coordinate.is_some_and(|row| row[5] != 0.0) {
                        1.0
                    } else {
                        model.length
                    };
                    (new - old).abs() <= self.refresh * size
                })
            });
            if !near {
                let modes = reducer.locked_modes(&configuration, self.damped_modes)?;
                self.modes = Some(DampedModes {
                    theta: theta.to_vec(),
                    mass_shapes: model.mass_times(&modes.shapes),
                    coefficients: modes.omega.iter().map(|w| 2.0 * ratio * w).collect(),
                });
            }
        }
        let velocities = (0..theta.len())
            .map(|k| {
                model
                    .nodes
                    .iter()
                    .map(|node| {
                        let body = configuration.motion.velocity(node.body, k);
                        node.local.pull_back(body)
                    })
                    .collect()
            })
            .collect();
        self.rigid = Some(RigidMotion {
            frames: model.node_frames(&configuration.frames),
            velocities,
        });
        Ok(())
    }

    /// Adds the forces that act on w.
    pub fn add_forces(&self, equations: &Equations<'_>, state: &State, out: &mut Balance) {
        let model = equations.model;
        if let Damping::Rayleigh { beta, .. } = self.damping {
            for (i, (stiffness, _)) in model.scalars.iter().enumerate() {
                let dof = equations.first_scalar() + i;
                let force = beta * stiffness * state.velocity[dof];
                out.forces[dof] += force;
                out.dissipation += force * state.velocity[dof];
            }
        }
        let Some(rigid) = &self.rigid else {
            return;
        };
        let carried = rigid.carried(state);
        let mut w = state.velocity[..model.n_motion()].to_vec();
        for (column, rate) in carried.iter().zip(equations.rate(state)) {
            for (node, v) in column.iter().enumerate() {
                add_to_node(&mut w, node, &(v * -rate));
            }
        }
        let force = self.force(equations, state, &w);
        out.dissipation += force.iter().zip(&w).map(|(f, w)| f * w).sum::<f64>();
        for (total, f) in out.forces.iter_mut().zip(&force) {
            *total += f;
        }
        for (k, column) in carried.iter().enumerate() {
            let power: f64 = (column.iter().enumerate())
                .map(|(node, v)| v.dot(&of_node(&force, node)))
                .sum();
            out.forces[equations.first_theta() + k] -= power;
        }
    }

    /// Mass-proportional damping as a factor of the mass.
    pub fn mass_factor(&self) -> f64 {
        match self.damping {
            Damping::Rayleigh { alpha, .. } => alpha,
            Damping::None | Damping::Modal { .. } => 0.0,
        }
    }

    /// What of the damping is not sparse: all of the modal one, and how mass-proportional damping
    /// acts on θ.
    pub fn low_rank(&self, equations: &Equations<'_>, state: &State) -> Option<LowRank> {
        let rigid = self.rigid.as_ref()?;
        let carried = rigid.carried(state);
        let (n, first_theta) = (equations.len(), equations.first_theta());
        let on_theta = |force: &[f64], k: usize| -> f64 {
            (carried[k].iter().enumerate())
                .map(|(node, v)| v.dot(&of_node(force, node)))
                .sum()
        };
        let s = carried.len();
        if let Some(modes) = &self.modes {
            let columns = (0..modes.coefficients.len())
                .map(|j| {
                    let shape = modes.mass_shapes.col_as_slice(j);
                    let mut column = shape.to_vec();
                    column.extend((0..s).map(|k| -on_theta(shape, k)));
                    column
                })
                .collect();
            let core = DVector::from_column_slice(&modes.coefficients);
            return Some(LowRank {
                columns,
                core: DMatrix::from_diagonal(&core),
            });
        }
        let alpha = self.mass_factor();
        let mut columns = Vec::new();
        let mut core = DMatrix::zeros(2 * s, 2 * s);
        for (k, motion) in carried.iter().enumerate() {
            let mut column = Mat::zeros(n, 1);
            for (node, v) in motion.iter().enumerate() {
                add_to_node(column.col_as_slice_mut(0), node, v);
            }
            let momentum = equations.model.mass_times(&column).col_as_slice(0).to_vec();
            for l in 0..s {
                core[(s + l, s + k)] = alpha * on_theta(&momentum, l);
            }
            core[(k, s + k)] = -alpha;
            core[(s + k, k)] = -alpha;
            columns.push(momentum);
        }
        for k in 0..s {
            let mut unit = vec![0.0; n];
            unit[first_theta + k] = 1.0;
            columns.push(unit);
        }
        Some(LowRank { columns, core })
    }

    /// D·w.
    fn force(&self, equations: &Equations<'_>, state: &State, w: &[f64]) -> Vec<f64> {
        let model = equations.model;
        match (self.damping, &self.modes) {
            (Damping::Rayleigh { alpha, beta }, _) => {
                let column = Mat::from_fn(w.len(), 1, |i, _| alpha * w[i]);
                let mut force = model.mass_times(&column).col_as_slice(0).to_vec();
                for spring in equations.springs(state) {
                    let rate = apply_row(&spring.row, w);
                    add_row(&spring.row, beta * spring.stiffness * rate, &mut force);
                }
                force
            }
            (Damping::Modal { .. }, Some(modes)) => {
                let mut force = vec![0.0; w.len()];
                for (j, coefficient) in modes.coefficients.iter().enumerate() {
                    let shape = modes.mass_shapes.col_as_slice(j);
                    let rate: f64 = shape.iter().zip(w).map(|(s, w)| s * w).sum();
                    for (f, s) in force.iter_mut().zip(shape) {
                        *f += coefficient * rate * s;
                    }
                }
                force
            }
            (Damping::None | Damping::Modal { .. }, _) => vec![0.0; w.len()],
        }
    }
}
