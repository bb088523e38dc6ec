//! Where the energy of a mode sits.

use super::Linearised;
use faer::Mat;

/// Energy of a motion, body by body, and in the flexible actuators.
#[derive(Debug, Clone, PartialEq)]
pub struct EnergyShares {
    /// One share per body.
    pub bodies: Vec<f64>,
    /// One share per flexible actuator.
    pub actuators: Vec<f64>,
}

impl EnergyShares {
    fn normalised(mut self) -> Self {
        let total: f64 = self.bodies.iter().chain(&self.actuators).sum();
        if total > 0.0 {
            self.bodies
                .iter_mut()
                .chain(&mut self.actuators)
                .for_each(|share| *share /= total);
        }
        self
    }
}

/// Shares of the strain energy of column `j`; all zero for a rigid motion.
pub fn strain_shares(at: &Linearised<'_>, shapes: &Mat<f64>, j: usize) -> EnergyShares {
    let model = at.model;
    let column = shapes.col_as_slice(j);
    let mut bodies = vec![0.0; model.bodies.len()];
    for beam in &model.beams {
        let k = &model.elements[beam.element].stiffness;
        bodies[model.nodes[beam.a].body] += element_energy(k, column, beam.a, beam.b);
    }
    let first = 6 * model.nodes.len();
    let actuators = model
        .scalars
        .iter()
        .enumerate()
        .map(|(i, (stiffness, _))| stiffness * column[first + i].powi(2))
        .collect();
    EnergyShares { bodies, actuators }.normalised()
}

/// Shares of the kinetic energy of column `j`.
pub fn kinetic_shares(at: &Linearised<'_>, shapes: &Mat<f64>, j: usize) -> EnergyShares {
    let model = at.model;
    let column = shapes.col_as_slice(j);
    let mut bodies = vec![0.0; model.bodies.len()];
    for (node, mass) in &model.masses {
        let v = crate::lie::Vector6::from_column_slice(&column[6 * node..6 * node + 6]);
        bodies[model.nodes[*node].body] += v.dot(&(mass * v));
    }
    for beam in &model.beams {
        let m = &model.elements[beam.element].mass;
        bodies[model.nodes[beam.a].body] += element_energy(m, column, beam.a, beam.b);
    }
    EnergyShares {
        bodies,
        actuators: vec![0.0; model.scalars.len()],
    }
    .normalised()
}

fn element_energy(m: &crate::model::beam::Matrix12, column: &[f64], a: usize, b: usize) -> f64 {
    let v = crate::model::beam::Vector12::from_fn(|i, _| {
        if i < 6 {
            column[6 * a + i]
        } else {
            column[6 * b + i - 6]
        }
    });
    v.dot(&(m * v))
}
