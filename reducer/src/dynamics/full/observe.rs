//! What the observer sees: outputs, energies, work.

use super::equations::{Equations, State};
use super::structure::Structure;
use super::{Energies, FullInstant, OutputMotion};
use crate::lie::{angular, linear};
use crate::model::rows::{mount_frame, mount_velocity};
use nalgebra::Vector3;

/// Powers at one instant.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Powers {
    actuators: f64,
    forces: f64,
    moments: f64,
    dissipation: f64,
}

impl Powers {
    pub fn at(equations: &Equations<'_>, state: &State, time: f64, structure: &Structure) -> Self {
        let (actuators, forces, moments) = equations.powers(state, time);
        Self {
            actuators,
            forces,
            moments,
            dissipation: equations.dissipation(state, structure),
        }
    }
}

/// Work done since the start, by the trapezoidal rule.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    actuators: f64,
    forces: f64,
    moments: f64,
    dissipated: f64,
}

impl Work {
    pub fn add(&mut self, from: &Powers, to: &Powers, h: f64) {
        self.actuators += 0.5 * h * (from.actuators + to.actuators);
        self.forces += 0.5 * h * (from.forces + to.forces);
        self.moments += 0.5 * h * (from.moments + to.moments);
        self.dissipated += 0.5 * h * (from.dissipation + to.dissipation);
    }

    /// Counts what an instantaneous change of velocity took.
    pub fn add_impulse(&mut self, energy: f64) {
        self.actuators += energy;
    }
}

/// Kinetic energy, rotors included.
pub(super) fn kinetic_energy(equations: &Equations<'_>, state: &State) -> f64 {
    let model = equations.model;
    let v = equations.node_velocities(&state.velocity);
    let mut twice = 0.0;
    for (node, mass) in &model.masses {
        twice += v[*node].dot(&(mass * v[*node]));
    }
    for placed in &model.placed {
        let d = equations.deformation(placed, state);
        let local = placed.gather(&state.velocity);
        twice += 2.0 * model.element(placed).kinetic_energy(&d, &local);
    }
    for (rotor, rate) in equations
        .reducer
        .rotor_inertia()
        .iter()
        .zip(equations.rate(state))
    {
        twice += rotor * rate * rate;
    }
    0.5 * twice
}

fn strain_energy(equations: &Equations<'_>, state: &State) -> f64 {
    let model = equations.model;
    let elements: f64 = (model.placed.iter())
        .map(|placed| {
            let d = equations.deformation(placed, state);
            model.element(placed).strain_energy(&d)
        })
        .sum();
    let actuators: f64 = (model.scalars.iter().zip(&state.scalars))
        .map(|((stiffness, _), deflection)| 0.5 * stiffness * deflection * deflection)
        .sum();
    elements + actuators
}

/// Potential of gravity and of constant forces.
fn potential(equations: &Equations<'_>, state: &State) -> f64 {
    let model = equations.model;
    let mut moment = Vector3::zeros();
    for (node, mass) in &model.masses {
        let frame = &state.frames[*node];
        let local = Vector3::new(mass[(5, 1)], mass[(3, 2)], mass[(4, 0)]);
        moment += frame.position * mass[(0, 0)] + frame.rotation * local;
    }
    for placed in &model.placed {
        let d = equations.deformation(placed, state);
        let first = &state.frames[placed.nodes[0]];
        moment += model.element(placed).first_moment(first, &d).1;
    }
    model.load_potential(&state.frames) - model.gravity.dot(&moment)
}

fn outputs(equations: &Equations<'_>, state: &State) -> Vec<OutputMotion> {
    let velocities = equations.node_velocities(&state.velocity);
    let accelerations = equations.node_velocities(&state.acceleration);
    (equations.model.outputs.iter())
        .map(|mount| {
            let frame = mount_frame(mount, &state.frames);
            let v = mount_velocity(mount, &velocities);
            let rate = mount_velocity(mount, &accelerations);
            let r = frame.rotation;
            OutputMotion {
                position: frame.position,
                rotation: r,
                velocity: r * linear(&v),
                angular_velocity: r * angular(&v),
                acceleration: r * (linear(&rate) + angular(&v).cross(&linear(&v))),
            }
        })
        .collect()
}

/// The instant as the observer gets it.
pub(super) fn instant(
    equations: &Equations<'_>,
    state: &State,
    work: &Work,
    sample: bool,
    reading: f64,
) -> FullInstant {
    let residuals = equations.position_residuals(state, reading);
    FullInstant {
        time: state.time,
        sample,
        theta: equations.theta(state).to_vec(),
        rate: equations.rate(state).to_vec(),
        acceleration: state.acceleration[equations.first_theta()..].to_vec(),
        actuator_force: equations.actuator_forces(state, reading),
        outputs: outputs(equations, state),
        energies: Energies {
            kinetic: kinetic_energy(equations, state),
            strain: strain_energy(equations, state),
            potential: potential(equations, state) - work.moments,
            springs: equations.springs(state).iter().map(|s| s.energy).sum(),
            actuator_work: work.actuators,
            force_work: work.forces,
            dissipated: work.dissipated,
        },
        signals: state.control.signals.clone(),
        multipliers: state.multipliers[..equations.first_prescribed_row()].to_vec(),
        constraint_residual: residuals.iter().fold(0.0, |m, r| r.abs().max(m)),
    }
}
