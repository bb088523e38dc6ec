//! What a mechanism must satisfy before it can be reduced, seen at home.

use super::rigid::rigid_coefficients;
use super::{Coefficients, LocalReducer, ReductionError};
use crate::description::mechanism::Mechanism;
use crate::kinematics::{Configuration, Rotation};
use crate::linalg::symmetric_eigen;
use crate::model::FullModel;
use crate::model::rows::{mount_frame, point_row};
use crate::modes::{Linearised, kinetic_shares};
use crate::spectrum::start_block;
use faer::{Mat, Scale};
use nalgebra::Vector3;

/// Kinetic energy of a motion, relative to that of the coordinates it is made of, that counts as none.
const NO_INERTIA: f64 = 1e-13;
/// Compliance relative to the stiffest part of the mechanism that counts as none.
const NO_COMPLIANCE: f64 = 1e-10;
/// Strain energy of a mode, relative to that of the stiffest part moved as far, that is rounding.
const NO_STIFFNESS: f64 = 1e-13;

/// Whether modes that only a flexible mechanism has are asked for.
pub(super) fn wants_elastic_modes(mechanism: &Mechanism) -> bool {
    use crate::description::mechanism::InternalModes;
    let internal = match &mechanism.reduction.internal {
        // Only where there are beams.
        None => true,
        Some(
            InternalModes::Lowest(count)
            | InternalModes::InPlane(_, count)
            | InternalModes::OutOfPlane(_, count),
        ) => *count > 0,
        Some(InternalModes::Select(list)) => !list.is_empty(),
    };
    internal || !mechanism.loaded.is_empty()
}

impl LocalReducer {
    /// The equations of motion can be solved for accelerations only if every motion has inertia.
    pub(super) fn refuse_massless(
        &self,
        mechanism: &Mechanism,
        home: &Configuration,
    ) -> Result<(), ReductionError> {
        let mut mass = rigid_coefficients(self.model(), home).mass;
        for (k, rotor) in self.rotor_inertia.iter().enumerate() {
            mass[(k, k)] += rotor;
        }
        let s = mass.nrows();
        let massless = match (0..s).find(|&k| mass[(k, k)] <= 0.0) {
            Some(k) => Some(k),
            None => {
                let scaled = Mat::from_fn(s, s, |i, j| {
                    mass[(i, j)] / mass[(i, i)].sqrt() / mass[(j, j)].sqrt()
                });
                symmetric_eigen(&scaled).and_then(|(values, vectors)| {
                    values.first().filter(|v| **v < NO_INERTIA)?;
                    let size = |k: &usize| vectors[(*k, 0)].abs();
                    (0..s).max_by(|a, b| size(a).total_cmp(&size(b)))
                })
            }
        };
        match massless.and_then(|k| mechanism.coordinates.get(k)) {
            Some(coordinate) => Err(ReductionError::NoInertia {
                coordinate: coordinate.name.clone(),
                origin: coordinate.origin.clone(),
            }),
            None => Ok(()),
        }
    }

    /// A constant moment has a potential only on a body that turns about a fixed direction.
    pub(super) fn refuse_moments(&self, mechanism: &Mechanism) -> Result<(), ReductionError> {
        for (load, described) in self.model().loads.iter().zip(&mechanism.loads) {
            let Some(node) = load.at.node else { continue };
            let body = self.model().nodes[node].body;
            let free = self.kinematics().rotation(body) == Rotation::Free;
            if free && load.moment.norm() > 0.0 {
                return Err(ReductionError::MomentWithoutPotential {
                    load: described.name.clone(),
                    body: self.model().bodies[body].name.clone(),
                    origin: described.origin.clone(),
                });
            }
        }
        Ok(())
    }

    /// A loaded dof that is infinitely stiff, or that others determine, has no mode of its own.
    pub(super) fn refuse_held_loads(
        &self,
        mechanism: &Mechanism,
        home: &Configuration,
    ) -> Result<(), ReductionError> {
        let (Some(saddle), false) = (&self.locked, mechanism.loaded.is_empty()) else {
            return Ok(());
        };
        let at = Linearised::new(self.model(), home, Some(saddle), false)
            .map_err(|fault| self.fault(&home.theta, fault))?;
        let loaded = &self.model().loaded;
        let mut f = Mat::zeros(self.model().n_motion(), loaded.len());
        for (j, dof) in loaded.iter().enumerate() {
            let row = point_row(&dof.at, &mount_frame(&dof.at, &at.frames), &dof.direction);
            if let Some(node) = dof.at.node {
                for i in 0..6 {
                    f[(6 * node + i, j)] = row[i];
                }
            }
        }
        let (q, _) = at
            .static_response(&f, None)
            .map_err(|fault| self.fault(&home.theta, fault))?;
        let mut rest = f.transpose() * &q;
        for (j, described) in mechanism.loaded.iter().enumerate() {
            let own = (0..f.nrows()).map(|i| f[(i, j)] * q[(i, j)]).sum::<f64>();
            let (name, origin) = (described.name.clone(), described.origin.clone());
            if own * saddle.stiffness_scale() < NO_COMPLIANCE {
                return Err(ReductionError::LoadedDofHeld { name, origin });
            }
            // What is left of its compliance while the loaded dofs before it are held.
            if rest[(j, j)] < NO_COMPLIANCE * own {
                return Err(ReductionError::LoadedDofRepeated { name, origin });
            }
            eliminate(&mut rest, j);
        }
        Ok(())
    }

    /// A mode whose strain energy drowns in rounding has no frequency: something moves freely.
    pub(super) fn refuse_free_modes(
        &self,
        mechanism: &Mechanism,
        home: &Configuration,
    ) -> Result<(), ReductionError> {
        let model = self.model();
        let Some(saddle) = &self.locked else {
            return Ok(());
        };
        let at = &Linearised::new(model, home, Some(saddle), false)
            .map_err(|fault| self.fault(&home.theta, fault))?;
        // Two steps of inverse iteration: a free motion outgrows all others at once, whatever the
        // sign that rounding gives to its stiffness.
        let mut shape = start_block(model.n_motion(), 1);
        let mut stiffness = f64::INFINITY;
        for _ in 0..2 {
            let force = model.mass_times(&shape);
            let (response, _) = at
                .static_response(&force, None)
                .map_err(|fault| self.fault(&home.theta, fault))?;
            let size = length_squared(model, response.col_as_slice(0)).sqrt();
            if size == 0.0 || !size.is_finite() {
                return Ok(());
            }
            let work = (0..force.nrows()).map(|i| force[(i, 0)] * response[(i, 0)]);
            stiffness = work.sum::<f64>().abs() / size.powi(2);
            shape = response * Scale(1.0 / size);
        }
        if stiffness > NO_STIFFNESS * saddle.stiffness_scale() {
            return Ok(());
        }
        let most = |shares: &[f64]| {
            (0..shares.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b]).then(b.cmp(a)))
        };
        let body = most(&kinetic_shares(at, &shape, 0).bodies).unwrap_or_default();
        let limit = NO_STIFFNESS * saddle.stiffness_scale() * model.length.powi(2).max(1.0);
        let loose = |k: &usize| {
            let scalar = model.drives[*k].scalar.and_then(|i| model.scalars.get(i));
            scalar.is_some_and(|(stiffness, _)| *stiffness <= limit)
        };
        let driven = (0..model.drives.len())
            .find(loose)
            .map(|k| &mechanism.coordinates[k]);
        Err(ReductionError::FreeMode {
            theta: at.theta.clone(),
            body: model.bodies[body].name.clone(),
            motion: match driven {
                Some(coordinate) => {
                    format!("with the flexibility of coordinate `{}`", coordinate.name)
                }
                None => largest_motion(at, shape.col_as_slice(0), body),
            },
            origin: driven
                .map_or(&mechanism.bodies[body].origin, |c| &c.origin)
                .clone(),
        })
    }

    /// Refuses coefficients that overflowed.
    pub(super) fn finite(&self, c: Coefficients) -> Result<Coefficients, ReductionError> {
        let lists = [&c.mass, &c.stiffness, &c.damping, &c.force, &c.gravity];
        let tables = [&c.mass_gradient, &c.stiffness_gradient, &c.force_gradient];
        let outputs = c
            .outputs
            .iter()
            .flat_map(|o| o.position.iter().chain(&o.jacobian));
        let all = lists
            .into_iter()
            .chain(tables.into_iter().flatten())
            .chain(&c.load_map)
            .flatten()
            .chain(outputs)
            .chain([&c.potential]);
        if all.fold(0.0, |sum, v| sum + v * 0.0) == 0.0 {
            return Ok(c);
        }
        Err(ReductionError::NotFinite {
            theta: c.theta,
            origin: self.origin.clone(),
        })
    }
}

/// Squared length of a motion, turns counted by the mechanism's length.
fn length_squared(model: &FullModel, motion: &[f64]) -> f64 {
    let (nodes, scalars) = motion.split_at(6 * model.nodes.len());
    let of_nodes = nodes.iter().enumerate().map(|(i, v)| match i % 6 {
        0..3 => *v,
        _ => v * model.length,
    });
    of_nodes.chain(scalars.iter().copied()).map(|v| v * v).sum()
}

/// The inertial direction along or about which the nodes of a body move most, in words.
fn largest_motion(at: &Linearised<'_>, column: &[f64], body: usize) -> String {
    let model = at.model;
    let mut sizes = [0.0_f64; 6];
    for (node, frame) in at.frames.iter().enumerate() {
        if model.nodes[node].body != body {
            continue;
        }
        let v = &column[6 * node..6 * node + 6];
        let shift = frame.rotation * Vector3::from_column_slice(&v[..3]);
        let turn = frame.rotation * Vector3::from_column_slice(&v[3..]) * model.length;
        for i in 0..3 {
            sizes[i] = sizes[i].max(shift[i].abs());
            sizes[3 + i] = sizes[3 + i].max(turn[i].abs());
        }
    }
    // Of equal sizes the first; a translation counts before the rotation that comes with it.
    let most = (0..6)
        .max_by(|a, b| sizes[*a].total_cmp(&sizes[*b]).then(b.cmp(a)))
        .unwrap_or_default();
    let axis = ["x", "y", "z"][most % 3];
    match most {
        0..3 => format!("along {axis}"),
        _ => format!("about {axis}"),
    }
}

/// One step of symmetric elimination.
fn eliminate(a: &mut Mat<f64>, pivot: usize) {
    let n = a.nrows();
    for i in pivot + 1..n {
        let factor = a[(i, pivot)] / a[(pivot, pivot)];
        for j in pivot + 1..n {
            a[(i, j)] -= factor * a[(pivot, j)];
        }
    }
}
