//! What parameters add to a call.

use super::{Cost, cost, evaluation, finite, rates};
use crate::code::plan::{Group, Plan, PlanTable};
use crate::code::runs::{n_rows, shape_degree};

/// Costs of payloads, rotor inertia and friction, by where they arise.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Added {
    /// Finite parameters.
    pub check: Cost,
    /// Forces of one motion and the mass matrix; Coulomb friction apart.
    pub residual: Cost,
    /// Coulomb friction.
    pub friction: Cost,
    /// The mass matrix from its factor, and the sum.
    pub mass: Cost,
    /// Gyroscopic tensor and other coefficients.
    pub gyroscopic: Cost,
    /// Derivative of the force by one θ.
    pub by_theta: Cost,
}

impl Added {
    pub fn new(plan: &Plan) -> Self {
        let (n, s, outputs) = (plan.n, plan.n_rigid, plan.n_outputs);
        let motion = plan.motion.as_ref().filter(|_| outputs > 0);
        let fields = motion.map_or(Cost::default(), |t| evaluation(t, s));
        let along = motion.map_or(Cost::default(), |t| rates(t, s));
        // Jacobians of all outputs' positions, and their derivatives in time.
        let amplitudes = plan.list(Group::Amplitude).iter().filter(|e| e.i < 3);
        let of_modes = amplitudes.count() * s * cost(1, 1);
        let jacobians = cost(0, plan.list(Group::Position).len() * s) + of_modes;
        let jacobian_rates = jacobians + of_modes;
        let axes = 3 * outputs;
        let rows = axes * (n * cost(4, 3) + n * n * cost(1, 1));
        // What the model holds of a parameter is taken off it.
        let axis = s * cost(2, 6);
        Self {
            check: finite(4 * s + outputs + 3),
            residual: axis
                + cost(0, 2 * outputs)
                + fields
                + along
                + jacobians
                + jacobian_rates
                + rows,
            friction: s * cost(2, 1) + cost(0, s),
            mass: n * n * cost(n, n + 1),
            gyroscopic: cost(0, n * n + 2 * n + 2 * s)
                + fields
                + s * (along + jacobians + jacobians + outputs * n * n * cost(4, 6)),
            by_theta: fields
                + along
                + along
                + motion.map_or(Cost::default(), |t| bend(t, s))
                + jacobians
                + jacobians
                + jacobian_rates
                + of_modes
                + axes * (n * cost(6, 6) + cost(2, 4))
                + cost(2, 2),
        }
    }
}

/// Derivative by one θ of second derivatives along the rates.
fn bend(table: &PlanTable, s: usize) -> Cost {
    let of_shape = |runs: &Vec<super::Run>| {
        let basis = 4 * s * (cost(3, 1) + shape_degree(runs) * cost(4, 2));
        basis + n_rows(runs) * (s * cost(10, 3) + table.columns * cost(1, 1))
    };
    table.shapes.iter().map(of_shape).max().unwrap_or_default()
}
