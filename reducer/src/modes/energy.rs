//! Where the energy of a mode sits.

use super::Linearised;
use crate::model::PlacedElement;
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
    for placed in &model.placed {
        let k = model.element(placed).stiffness();
        bodies[model.body_of(placed)] += element_energy(k, column, placed);
    }
    let first = 6 * model.nodes.len();
    let actuators = model
        .scalars
        .iter()
        .take(model.n_flexible_actuators())
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
    for placed in &model.placed {
        let m = model.element(placed).mass();
        bodies[model.body_of(placed)] += element_energy(m, column, placed);
    }
    EnergyShares {
        bodies,
        actuators: vec![0.0; model.n_flexible_actuators()],
    }
    .normalised()
}

fn element_energy(m: &[f64], column: &[f64], placed: &PlacedElement) -> f64 {
    let v = placed.gather(column);
    (m.chunks_exact(v.len()).zip(v.iter()))
        .map(|(column, x)| x * column.iter().zip(v.iter()).map(|(m, y)| m * y).sum::<f64>())
        .sum()
}
