//! What a mechanism must satisfy before it can be reduced, seen at home.

use super::rigid::rigid_coefficients;
use super::{Coefficients, LocalReducer, ReductionError};
use crate::description::mechanism::Mechanism;
use crate::kinematics::{Configuration, Rotation};
use crate::linalg::symmetric_eigen;
use crate::model::rows::{mount_frame, point_row};
use crate::modes::Linearised;
use faer::Mat;

/// Kinetic energy of a motion, relative to that of the coordinates it is made of, that counts as none.
const NO_INERTIA: f64 = 1e-13;
/// Compliance relative to the stiffest part of the mechanism that counts as none.
const NO_COMPLIANCE: f64 = 1e-10;

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
