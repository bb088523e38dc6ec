//! The equations of motion [M 13.1]: balance of forces, constraints and their derivatives.
//!
//! Vectors of motions and forces have six values per node in node axes, then the deflections of
//! flexible actuators, then θ. Constraint rows: joints, θ's relation to the bodies, prescribed θ.

use super::structure::Structure;
use crate::dynamics::control::{ControlRun, Running};
use crate::dynamics::excitation::{Drive, Excitation};
use crate::kinematics::Configuration;
use crate::lie::{Frame, Vector6, coadjoint, join};
use crate::model::rows::{ConstraintRows, mount_frame, mount_velocity};
use crate::model::{FullModel, PlacedElement, SpringState};
use crate::reduction::LocalReducer;
use faer::Mat;
use nalgebra::{DVector, Vector3};

/// The six values of a node.
pub(super) fn of_node(values: &[f64], node: usize) -> Vector6 {
    Vector6::from_column_slice(&values[6 * node..6 * node + 6])
}

/// Adds to the six values of a node.
pub(super) fn add_to_node(values: &mut [f64], node: usize, change: &Vector6) {
    for (value, change) in values[6 * node..6 * node + 6].iter_mut().zip(change) {
        *value += change;
    }
}

/// The full model at one instant.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub time: f64,
    pub frames: Vec<Frame>,
    /// Deflections of flexible actuators, then θ.
    pub scalars: Vec<f64>,
    pub velocity: Vec<f64>,
    pub acceleration: Vec<f64>,
    /// The auxiliary accelerations of the generalised-α method.
    pub algorithmic: Vec<f64>,
    pub multipliers: Vec<f64>,
    /// Angle of every joint that carries a spring, full turns counted.
    pub hinge_angles: Vec<f64>,
    /// The blocks.
    pub control: Running,
    /// The auxiliary rates of their states.
    pub control_algorithmic: Vec<f64>,
}

/// Left-hand side of the balance of forces, and what of it dissipates.
pub(super) struct Balance {
    pub forces: Vec<f64>,
    pub dissipation: f64,
}

/// What does not change during a run.
pub(super) struct Equations<'a> {
    pub reducer: &'a LocalReducer,
    pub model: &'a FullModel,
    pub excitation: &'a dyn Excitation,
    /// The blocks of this run.
    pub blocks: Option<&'a ControlRun<'a>>,
    /// Coordinates of θ with prescribed motion.
    pub prescribed: Vec<usize>,
    /// θ less the joint's displacement or the distance.
    offsets: Vec<f64>,
    coulomb_rate: f64,
}

impl<'a> Equations<'a> {
    pub fn new(
        reducer: &'a LocalReducer,
        excitation: &'a dyn Excitation,
        blocks: Option<&'a ControlRun<'a>>,
        prescribed: Vec<usize>,
        undeformed: &Configuration,
        coulomb_rate: f64,
    ) -> Self {
        let model = reducer.model();
        let frames = model.node_frames(&undeformed.frames);
        let home = reducer.kinematics().home();
        let offsets = (model.drives.iter().zip(&undeformed.theta).zip(home))
            .map(|((drive, theta), home)| {
                theta - model.coordinate_value(drive, &frames, theta - home)
            })
            .collect();
        Self {
            reducer,
            model,
            excitation,
            blocks,
            prescribed,
            offsets,
            coulomb_rate,
        }
    }

    pub fn n_theta(&self) -> usize {
        self.model.drives.len()
    }

    pub fn first_scalar(&self) -> usize {
        6 * self.model.nodes.len()
    }

    pub fn first_theta(&self) -> usize {
        self.model.n_motion()
    }

    /// Length of a vector of motions or forces.
    pub fn len(&self) -> usize {
        self.model.n_motion() + self.n_theta()
    }

    /// First row that ties θ to the bodies.
    pub fn first_drive_row(&self) -> usize {
        self.model.n_joint_rows()
    }

    /// First row of prescribed coordinates.
    pub fn first_prescribed_row(&self) -> usize {
        self.model.n_joint_rows() + self.n_theta()
    }

    pub fn n_rows(&self) -> usize {
        self.first_prescribed_row() + self.prescribed.len()
    }

    pub fn theta<'s>(&self, state: &'s State) -> &'s [f64] {
        &state.scalars[self.model.scalars.len()..]
    }

    pub fn rate<'s>(&self, state: &'s State) -> &'s [f64] {
        &state.velocity[self.first_theta()..]
    }

    pub fn node_velocities(&self, values: &[f64]) -> Vec<Vector6> {
        (0..self.model.nodes.len())
            .map(|node| of_node(values, node))
            .collect()
    }

    /// What drives coordinate `k` at an instant.
    pub fn drive(&self, k: usize, time: f64, state: &State) -> Drive {
        let mut drive = self
            .excitation
            .drive(k, time, self.theta(state)[k], self.rate(state)[k]);
        if let Drive::Force { force, .. } = &mut drive {
            *force += self.fed_back_to_coordinate(k, state);
        }
        drive
    }

    /// Deformation of an element.
    pub fn deformation(&self, placed: &PlacedElement, state: &State) -> DVector<f64> {
        self.model
            .deformation(placed, &state.frames, &state.scalars)
    }

    pub fn springs(&self, state: &State) -> Vec<SpringState> {
        self.model.spring_states(&state.frames, &state.hinge_angles)
    }

    /// Everything that must sum to zero on every motion. `time` tells the excitation's time, which
    /// is the state's or just before a jump.
    pub fn balance(&self, state: &State, time: f64, structure: &Structure) -> Balance {
        let mut out = Balance {
            forces: vec![0.0; self.len()],
            dissipation: 0.0,
        };
        self.add_masses(state, &mut out);
        self.add_elements(state, structure.strain_rate_factor(), &mut out);
        self.add_springs(state, &mut out);
        self.add_loads(state, time, &mut out);
        self.add_actuators(state, time, &mut out);
        structure.add_forces(self, state, &mut out);
        let rows = self.model.constraint_rows(&state.frames, false);
        self.add_reactions(&rows, &state.multipliers, &mut out.forces);
        out
    }

    /// Power that dampers, friction and the structure take.
    pub fn dissipation(&self, state: &State, structure: &Structure) -> f64 {
        let mut out = Balance {
            forces: vec![0.0; self.len()],
            dissipation: 0.0,
        };
        let factor = structure.strain_rate_factor();
        if factor > 0.0 {
            for placed in &self.model.placed {
                let d = self.deformation(placed, state);
                let v = placed.gather(&state.velocity);
                let element = self.model.element(placed);
                out.dissipation += v.dot(&element.strain_rate_forces(&d, &v, factor));
            }
        }
        self.add_springs(state, &mut out);
        structure.add_forces(self, state, &mut out);
        let friction = (0..self.n_theta()).map(|k| {
            let rate = self.rate(state)[k];
            (self.reducer.viscous()[k] * rate + self.coulomb(k, rate).1) * rate
        });
        out.dissipation + friction.sum::<f64>()
    }

    fn gravity(&self, frame: &Frame) -> Vector6 {
        join(
            &frame.rotation.tr_mul(&self.model.gravity),
            &Vector3::zeros(),
        )
    }

    fn add_masses(&self, state: &State, out: &mut Balance) {
        for (node, mass) in &self.model.masses {
            let v = of_node(&state.velocity, *node);
            let a = of_node(&state.acceleration, *node) - self.gravity(&state.frames[*node]);
            let force = mass * a - coadjoint(&v, &(mass * v));
            add_to_node(&mut out.forces, *node, &force);
        }
    }

    fn add_elements(&self, state: &State, strain_rate_factor: f64, out: &mut Balance) {
        for placed in &self.model.placed {
            let element = self.model.element(placed);
            let d = self.deformation(placed, state);
            let v = placed.gather(&state.velocity);
            let mut rates = placed.gather(&state.acceleration);
            for (k, node) in placed.nodes.iter().enumerate() {
                let mut part = rates.fixed_rows_mut::<6>(6 * k);
                part -= self.gravity(&state.frames[*node]);
            }
            let mut force = element.inertia_forces(&d, &v, &rates) + element.stress_forces(&d);
            if strain_rate_factor > 0.0 {
                let damping = element.strain_rate_forces(&d, &v, strain_rate_factor);
                out.dissipation += v.dot(&damping);
                force += damping;
            }
            placed.scatter(&force, &mut out.forces);
        }
    }

    fn add_springs(&self, state: &State, out: &mut Balance) {
        for spring in self.springs(state) {
            let rate = apply_row(&spring.row, &state.velocity);
            out.dissipation += spring.damping * rate * rate;
            add_row(
                &spring.row,
                spring.tension + spring.damping * rate,
                &mut out.forces,
            );
        }
        for (i, (stiffness, damping)) in self.model.scalars.iter().enumerate() {
            let dof = self.first_scalar() + i;
            let rate = state.velocity[dof];
            out.forces[dof] += stiffness * state.scalars[i] + damping * rate;
            out.dissipation += damping * rate * rate;
        }
    }

    fn add_loads(&self, state: &State, time: f64, out: &mut Balance) {
        if !self.model.loads.is_empty() {
            let mut loads = Mat::zeros(self.model.n_motion(), 1);
            self.model.add_loads(&state.frames, &mut loads);
            for (force, load) in out.forces.iter_mut().zip(loads.col_as_slice(0)) {
                *force -= load;
            }
        }
        for (i, mount) in self.model.outputs.iter().enumerate() {
            let (Some(node), Some(force)) = (mount.node, self.point_force(i, time, state)) else {
                continue;
            };
            let frame = mount_frame(mount, &state.frames);
            let local = join(&frame.rotation.tr_mul(&force), &Vector3::zeros());
            add_to_node(&mut out.forces, node, &-mount.frame.carry_force(&local));
        }
    }

    /// Slope of Coulomb friction by the rate, and its value.
    pub fn coulomb(&self, k: usize, rate: f64) -> (f64, f64) {
        let size = self.reducer.coulomb()[k];
        let part = rate / self.coulomb_rate;
        if part.abs() < 1.0 {
            (size / self.coulomb_rate, size * part)
        } else {
            (0.0, size * part.signum())
        }
    }

    fn add_actuators(&self, state: &State, time: f64, out: &mut Balance) {
        for k in 0..self.n_theta() {
            let dof = self.first_theta() + k;
            let rate = state.velocity[dof];
            let friction = self.reducer.viscous()[k] * rate + self.coulomb(k, rate).1;
            out.dissipation += friction * rate;
            out.forces[dof] += self.reducer.rotor_inertia()[k] * state.acceleration[dof] + friction;
            if !self.prescribed.contains(&k)
                && let Drive::Force { force, .. } = self.drive(k, time, state)
            {
                out.forces[dof] -= force;
            }
        }
    }

    fn add_reactions(&self, rows: &ConstraintRows, multipliers: &[f64], forces: &mut [f64]) {
        for entry in &rows.entries {
            add_to_node(forces, entry.node, &(entry.values * multipliers[entry.row]));
        }
        for &(row, scalar, value) in &rows.scalars {
            forces[self.first_scalar() + scalar] += value * multipliers[row];
        }
        for k in 0..self.n_theta() {
            forces[self.first_theta() + k] -= multipliers[self.first_drive_row() + k];
        }
        for (p, k) in self.prescribed.iter().enumerate() {
            forces[self.first_theta() + k] += multipliers[self.first_prescribed_row() + p];
        }
    }

    /// Constraints at position level.
    pub fn position_residuals(&self, state: &State, time: f64) -> Vec<f64> {
        let mut out = self.model.joint_residuals(&state.frames);
        let theta = self.theta(state);
        for (k, drive) in self.model.drives.iter().enumerate() {
            let deflection = drive.scalar.map_or(0.0, |i| state.scalars[i]);
            let near = theta[k] + deflection - self.offsets[k];
            out.push(self.model.coordinate_value(drive, &state.frames, near) - near);
        }
        for &k in &self.prescribed {
            let position = match self.drive(k, time, state) {
                Drive::Motion { position, .. } => position,
                Drive::Force { .. } => theta[k],
            };
            out.push(theta[k] - position);
        }
        out
    }

    /// Constraints at velocity level, for given rates of the prescribed coordinates.
    pub fn velocity_residuals(&self, rows: &ConstraintRows, v: &[f64], rates: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.n_rows()];
        for entry in &rows.entries {
            out[entry.row] += entry.values.dot(&of_node(v, entry.node));
        }
        for &(row, scalar, value) in &rows.scalars {
            out[row] += value * v[self.first_scalar() + scalar];
        }
        for k in 0..self.n_theta() {
            out[self.first_drive_row() + k] -= v[self.first_theta() + k];
        }
        for (p, (k, rate)) in self.prescribed.iter().zip(rates).enumerate() {
            out[self.first_prescribed_row() + p] += v[self.first_theta() + k] - rate;
        }
        out
    }

    /// Constraints at acceleration level where accelerations vanish.
    pub fn acceleration_residuals(&self, state: &State, time: f64) -> Vec<f64> {
        let velocities = self.node_velocities(&state.velocity);
        let rates = self
            .model
            .constraint_rates(&state.frames, &velocities, false);
        let mut out = vec![0.0; self.n_rows()];
        for entry in &rates.entries {
            out[entry.row] += entry.values.dot(&velocities[entry.node]);
        }
        for (p, &k) in self.prescribed.iter().enumerate() {
            if let Drive::Motion { acceleration, .. } = self.drive(k, time, state) {
                out[self.first_prescribed_row() + p] -= acceleration;
            }
        }
        out
    }

    /// Rates of the prescribed coordinates.
    pub fn prescribed_rates(&self, state: &State, time: f64) -> Vec<f64> {
        self.prescribed
            .iter()
            .map(|&k| match self.drive(k, time, state) {
                Drive::Motion { rate, .. } => rate,
                Drive::Force { .. } => self.rate(state)[k],
            })
            .collect()
    }

    /// Power of the actuators, of point forces and of the constant loads' moments.
    pub fn powers(&self, state: &State, time: f64) -> (f64, f64, f64) {
        let actuators = self
            .actuator_forces(state, time)
            .iter()
            .zip(self.rate(state))
            .map(|(force, rate)| force * rate)
            .sum();
        let velocities = self.node_velocities(&state.velocity);
        let mut forces = 0.0;
        for (i, mount) in self.model.outputs.iter().enumerate() {
            if let Some(force) = self.point_force(i, time, state) {
                let frame = mount_frame(mount, &state.frames);
                let v = mount_velocity(mount, &velocities);
                forces += force.dot(&(frame.rotation * crate::lie::linear(&v)));
            }
        }
        let moments = (self.model.loads.iter())
            .map(|load| {
                let frame = mount_frame(&load.at, &state.frames);
                let v = mount_velocity(&load.at, &velocities);
                load.moment.dot(&(frame.rotation * crate::lie::angular(&v)))
            })
            .sum();
        (actuators, forces, moments)
    }

    /// Forces of the actuators along +θ.
    pub fn actuator_forces(&self, state: &State, time: f64) -> Vec<f64> {
        (0..self.n_theta())
            .map(|k| match self.prescribed.iter().position(|p| *p == k) {
                Some(p) => -state.multipliers[self.first_prescribed_row() + p],
                None => match self.drive(k, time, state) {
                    Drive::Force { force, .. } => force,
                    Drive::Motion { .. } => 0.0,
                },
            })
            .collect()
    }
}

/// Product of one row with a vector of motions.
pub(super) fn apply_row(row: &ConstraintRows, motion: &[f64]) -> f64 {
    row.entries
        .iter()
        .map(|entry| entry.values.dot(&of_node(motion, entry.node)))
        .sum()
}

/// Adds a multiple of one row to forces.
pub(super) fn add_row(row: &ConstraintRows, factor: f64, forces: &mut [f64]) {
    for entry in &row.entries {
        add_to_node(forces, entry.node, &(entry.values * factor));
    }
}
