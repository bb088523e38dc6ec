//! Blocks in the full model: what their sensors read, where their outputs act.
//!
//! The states of blocks are eliminated from every residual: for given sensors they follow from their
//! own small equations, and Newton's matrix gets what outputs change with the motion as a correction
//! of low rank [M 13.4].

use super::FullError;
use super::equations::{Equations, State, add_to_node, of_node};
use super::iteration::Weights;
use super::structure::LowRank;
use crate::dynamics::control::{Feedback, Place, Running, Sensed};
use crate::lie::{Vector6, angular, join, linear};
use crate::model::Mount;
use crate::model::rows::mount_frame;
use nalgebra::{DMatrix, Vector3};

/// Forces of low rank U·C·Vᵀ on motions.
pub(super) struct Couplings {
    /// Columns of U.
    pub left: Vec<Vec<f64>>,
    /// Columns of V.
    pub right: Vec<Vec<f64>>,
    /// C.
    pub core: DMatrix<f64>,
}

impl Couplings {
    /// Adds damping, which is symmetric.
    pub fn add_damping(&mut self, damping: LowRank, weight: f64) {
        let (n, more) = (self.left.len(), damping.columns.len());
        self.core.resize_mut(n + more, n + more, 0.0);
        let mut place = self.core.view_mut((n, n), (more, more));
        place.copy_from(&(damping.core * weight));
        self.left.extend(damping.columns.iter().cloned());
        self.right.extend(damping.columns);
    }
}

/// Refuses sensors that only a reduced model has.
pub(super) fn check_sensors(equations: &Equations<'_>) -> Result<(), FullError> {
    let sensors = equations.blocks.map_or(&[][..], |run| &run.diagram.sensors);
    for sensor in sensors {
        if matches!(sensor.sensed, Sensed::Modal(_) | Sensed::ModalRate(_)) {
            return Err(FullError::ModalSensor {
                sensor: sensor.name.clone(),
            });
        }
    }
    Ok(())
}

impl Equations<'_> {
    pub(super) fn feedback(&self) -> &[Feedback] {
        self.excitation
            .control()
            .map_or(&[], |(_, feedback)| feedback)
    }

    /// Force of blocks along a coordinate.
    pub fn fed_back_to_coordinate(&self, k: usize, state: &State) -> f64 {
        self.feedback()
            .iter()
            .filter(|f| f.place == Place::Coordinate(k))
            .filter_map(|f| Some(f.term.weight * state.control.signals.get(f.term.signal)?))
            .sum()
    }

    /// Force at an output, that of blocks included.
    pub fn point_force(&self, output: usize, time: f64, state: &State) -> Option<Vector3<f64>> {
        let mut force = self.excitation.point_force(output, time);
        for feedback in self.feedback() {
            if let Place::Output(at, direction) = feedback.place
                && at == output
                && let Some(value) = state.control.signals.get(feedback.term.signal)
            {
                let part = direction * (feedback.term.weight * value);
                force = Some(force.unwrap_or_default() + part);
            }
        }
        force
    }

    /// What the sensors read.
    pub fn sensors(&self, state: &State) -> Vec<f64> {
        let sensors = self.blocks.map_or(&[][..], |run| &run.diagram.sensors);
        sensors
            .iter()
            .map(|s| self.read(&s.sensed, state))
            .collect()
    }

    fn read(&self, sensed: &Sensed, state: &State) -> f64 {
        let first = self.first_theta();
        let mount = |output: usize| &self.model.outputs[output];
        match *sensed {
            Sensed::Coordinate(k) => self.theta(state)[k],
            Sensed::Rate(k) => state.velocity[first + k],
            Sensed::CoordinateAcceleration(k) => state.acceleration[first + k],
            Sensed::Modal(_) | Sensed::ModalRate(_) => f64::NAN,
            Sensed::Position { output, axis } => {
                axis.dot(&mount_frame(mount(output), &state.frames).position)
            }
            Sensed::Velocity { output, axis, body } => {
                let v = linear(&of_mount(mount(output), &state.velocity));
                self.along(mount(output), state, &axis, body).dot(&v)
            }
            Sensed::AngularVelocity { output, axis, body } => {
                let v = angular(&of_mount(mount(output), &state.velocity));
                self.along(mount(output), state, &axis, body).dot(&v)
            }
            Sensed::Acceleration {
                output,
                axis,
                body,
                gravity,
            } => {
                let v = of_mount(mount(output), &state.velocity);
                let rate = of_mount(mount(output), &state.acceleration);
                let mut a = linear(&rate) + angular(&v).cross(&linear(&v));
                if gravity {
                    let frame = mount_frame(mount(output), &state.frames);
                    a -= frame.rotation.tr_mul(&self.model.gravity);
                }
                self.along(mount(output), state, &axis, body).dot(&a)
            }
        }
    }

    /// A direction in the axes of an output.
    fn along(&self, mount: &Mount, state: &State, axis: &Vector3<f64>, body: bool) -> Vector3<f64> {
        if body {
            *axis
        } else {
            mount_frame(mount, &state.frames).rotation.tr_mul(axis)
        }
    }

    /// Outputs and rates of the blocks for the present states.
    pub fn read_blocks(&self, state: &mut State, time: f64) {
        if let Some(run) = self.blocks {
            let sensors = self.sensors(state);
            state.control = run.evaluate(time, &state.control.x, &sensors);
        }
    }

    /// Outputs, states and rates of the blocks at the end of a step.
    pub fn step_blocks(&self, state: &mut State, time: f64, known: &[f64], factor: f64) {
        if let Some(run) = self.blocks {
            let sensors = self.sensors(state);
            state.control = run.step(time, known, factor, &state.control.x, &sensors);
        }
    }

    /// How forces of blocks change with the motion; none where the blocks cannot tell.
    pub fn couplings(&self, state: &State, weights: Weights) -> Option<Couplings> {
        let feedback = self.feedback();
        let mut couplings = Couplings {
            left: Vec::new(),
            right: Vec::new(),
            core: DMatrix::zeros(0, 0),
        };
        let (Some(run), false) = (self.blocks, feedback.is_empty()) else {
            return Some(couplings);
        };
        if state.control.signals.is_empty() {
            return Some(couplings);
        }
        let outputs = run
            .slopes(&state.control)?
            .outputs_in_step(weights.control)?;
        let sensors = &run.diagram.sensors;
        let rows: Vec<Vec<f64>> = (sensors.iter())
            .map(|sensor| self.sensor_row(&sensor.sensed, state, weights))
            .collect();
        for feedback in feedback {
            let signal = feedback.term.signal;
            let weight = |w: usize| match signal.checked_sub(sensors.len()) {
                Some(output) => outputs[(output, w)],
                None => f64::from(u8::from(signal == w)),
            };
            let mut right = vec![0.0; self.len()];
            for (w, row) in rows.iter().enumerate() {
                let factor = weight(w) * feedback.term.weight;
                for (total, value) in right.iter_mut().zip(row) {
                    *total += factor * value;
                }
            }
            if right.iter().any(|r| *r != 0.0) {
                couplings
                    .left
                    .push(self.force_column(&feedback.place, state));
                couplings.right.push(right);
            }
        }
        let n = couplings.left.len();
        // Forces stand on the other side of the balance.
        couplings.core = -DMatrix::identity(n, n);
        Some(couplings)
    }

    /// What a sensor reads per motion. What the turning of axes adds is small and left out.
    pub(super) fn sensor_row(&self, sensed: &Sensed, state: &State, weights: Weights) -> Vec<f64> {
        let mut row = vec![0.0; self.len()];
        let first = self.first_theta();
        let (output, axis, body, weight, turns) = match *sensed {
            Sensed::Coordinate(k) => {
                row[first + k] = weights.stiffness;
                return row;
            }
            Sensed::Rate(k) => {
                row[first + k] = weights.damping;
                return row;
            }
            Sensed::CoordinateAcceleration(k) => {
                row[first + k] = weights.mass;
                return row;
            }
            Sensed::Modal(_) | Sensed::ModalRate(_) => return row,
            Sensed::Position { output, axis } => (output, axis, false, weights.stiffness, false),
            Sensed::Velocity { output, axis, body } => (output, axis, body, weights.damping, false),
            Sensed::AngularVelocity { output, axis, body } => {
                (output, axis, body, weights.damping, true)
            }
            Sensed::Acceleration {
                output, axis, body, ..
            } => (output, axis, body, weights.mass, false),
        };
        let mount = &self.model.outputs[output];
        if let Some(node) = mount.node {
            let along = self.along(mount, state, &axis, body) * weight;
            let zero = Vector3::zeros();
            let local = if turns {
                join(&zero, &along)
            } else {
                join(&along, &zero)
            };
            // Force and velocity transform by transposed matrices.
            add_to_node(&mut row, node, &mount.frame.carry_force(&local));
        }
        row
    }

    pub(super) fn force_column(&self, place: &Place, state: &State) -> Vec<f64> {
        let mut column = vec![0.0; self.len()];
        match *place {
            Place::Coordinate(k) => column[self.first_theta() + k] = 1.0,
            Place::Output(output, direction) => {
                let mount = &self.model.outputs[output];
                if let Some(node) = mount.node {
                    let frame = mount_frame(mount, &state.frames);
                    let local = join(&frame.rotation.tr_mul(&direction), &Vector3::zeros());
                    add_to_node(&mut column, node, &mount.frame.carry_force(&local));
                }
            }
        }
        column
    }

    /// Ends a step of the blocks: limited integrals rest at their limits or leave them.
    pub fn switch_blocks(&self, state: &mut State, time: f64) {
        let Some(run) = self.blocks else { return };
        let mut at: Running = state.control.clone();
        if run.switch(&mut at) {
            state.control = run.evaluate(time, &at.x, &self.sensors(state));
            state.control_algorithmic.clone_from(&state.control.rates);
        }
    }
}

/// Where a force of blocks acts.
pub(super) fn place_of(feedback: &Feedback) -> Place {
    feedback.place
}

/// Velocity or acceleration of a mount, from those of the nodes.
fn of_mount(mount: &Mount, values: &[f64]) -> Vector6 {
    match mount.node {
        Some(node) => mount.frame.pull_back(&of_node(values, node)),
        None => Vector6::zeros(),
    }
}
