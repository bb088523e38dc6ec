//! How generated C names the lists of stored values, and the sizes it can hold.

use crate::WriteError;
use kernel::Group;
use reducer::reduced_model::ReducedModel;
use reducer::reduced_model::plan::{Plan, Purpose};

/// Coefficients of one table, at most.
const COEFFICIENTS: usize = 4_000_000;
/// Values of one table, at most: columns and constants.
const VALUES: usize = 60_000;
/// Terms of a box, at most.
const TERMS: usize = 60_000;
/// Nodes of the tree, at most.
const NODES: usize = 2_000_000;

/// The plan of a model's source; the model is validated first.
pub(super) fn code_plan(model: &ReducedModel) -> Result<Plan, WriteError> {
    model.validate()?;
    let plan = Plan::new(model, Purpose::Code);
    within("nodes of the tree", plan.nodes.len(), NODES)?;
    for t in plan.tables() {
        within("values of a table", t.values(), VALUES)?;
        within("terms of a box", t.n_terms, TERMS)?;
        within(
            "coefficients of a table",
            t.coefficients.len(),
            COEFFICIENTS,
        )?;
    }
    Ok(plan)
}

fn within(what: &'static str, found: usize, largest: usize) -> Result<(), WriteError> {
    if found > largest {
        return Err(WriteError::TooLarge {
            what,
            found,
            largest,
        });
    }
    Ok(())
}

/// Name of the list and what its indices mean.
pub(super) fn describe(group: Group) -> (&'static str, &'static str) {
    match group {
        Group::MassFactor => ("mass_factor", "Entries (i, j) of U0."),
        Group::MassSlope => (
            "mass_slope",
            "Entries (i, j) of U_k, which eta_k multiplies.",
        ),
        Group::RateScale => ("rate_scale", "Entries (i, j) of B per eta_k eta_l, l >= k."),
        Group::StiffnessFactor => ("stiffness_factor", "Entries (i, j) of L, K = L L^T."),
        Group::DampingFactor => ("damping_factor", "Entries (i, j) of the factor of D."),
        Group::Mass => ("mass", "Entries (i, j) of M, j >= i."),
        Group::Gyroscopic => ("gyroscopic", "Entries h_ijk, k >= j."),
        Group::MassCurvature => (
            "mass_curvature",
            "Second derivatives of M_ij by eta_k and eta_l, j >= i, l >= k.",
        ),
        Group::Stiffness => ("stiffness", "Entries (i, j) of K, j >= i."),
        Group::Damping => ("damping", "Entries (i, j) of D, j >= i."),
        Group::Force => ("force", "Static force on coordinate i."),
        Group::Potential => ("potential", "Potential energy at eta = (theta, 0)."),
        Group::Gravity => ("gravity", "Gravity's part of the force on coordinate i."),
        Group::GravityPotential => (
            "gravity_potential",
            "Potential per unit of gravity along axis k.",
        ),
        Group::GravityForce => (
            "gravity_force",
            "Force on coordinate i per unit of gravity along axis k.",
        ),
        Group::GravityStiffness => (
            "gravity_stiffness",
            "Entries (i, j) of the stiffness per unit of gravity along axis k, j >= i.",
        ),
        Group::Position => ("position", "Axis i of the position of output k."),
        Group::Quaternion => ("quaternion", "Entry i of the quaternion of output k."),
        Group::Amplitude => ("amplitude", "Row i of output k per modal coordinate j."),
        Group::PositionCurvature => (
            "position_curvature",
            "Axis i of the position of output k per eta_j eta_l, l >= j.",
        ),
        Group::LoadMap => ("load_map", "Displacement of loaded dof i per coordinate j."),
        Group::Derived => ("quantity_entries", "Entries (i, j) of derived quantity k."),
    }
}
