//! The same path with less insight, for comparison: without bending, and with quasi-static bending.

use super::error::InversionError;
use super::grid::Grid;
use super::plant::{Motion, Plant, Work};
use crate::reduced_model::{Status, Workspace};

/// The undeformed mechanism on the path.
pub(super) fn rigid(
    plant: &Plant<'_>,
    grid: &Grid,
    theta: &[f64],
    work: &mut Work,
) -> Result<Vec<Motion>, InversionError> {
    let still = vec![0.0; plant.m()];
    let modal = [&still[..], &still, &still];
    let mut theta = theta.to_vec();
    let each = grid.times().zip(grid.wanted(plant.tracked));
    each.map(|(time, wanted)| {
        let motion = plant.complete(time, &theta, modal, &wanted, work)?;
        theta.copy_from_slice(&motion.eta[..plant.s]);
        Ok(motion)
    })
    .collect()
}

/// Modes that follow the rigid motion without inertia of their own, and θ moved so that the outputs are on the
/// path with them. Rates stay those of the rigid motion: bending follows the path's acceleration, whose own
/// derivatives need not exist.
pub(super) fn quasi_static(
    plant: &Plant<'_>,
    grid: &Grid,
    rigid: &[Motion],
    work: &mut Work,
) -> Result<Vec<Motion>, InversionError> {
    let s = plant.s;
    let space = &mut Workspace::default();
    let each = rigid
        .iter()
        .zip(grid.times())
        .zip(grid.wanted(plant.tracked));
    each.map(|((motion, time), wanted)| {
        let [theta, rate, accel] = [&motion.eta, &motion.rate, &motion.accel].map(|x| &x[..s]);
        let (_, modal, status) = plant.evaluator.feedforward(theta, rate, accel, space)?;
        if status >= Status::Undefined {
            return Err(InversionError::NoModel {
                time,
                theta: theta.to_vec(),
            });
        }
        let mut eta = [theta, &modal].concat();
        plant.place(time, &mut eta, &wanted, work)?;
        Ok(Motion {
            eta,
            ..motion.clone()
        })
    })
    .collect()
}
