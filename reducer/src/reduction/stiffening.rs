//! What loads at rest do to the reduced model: stiffness, and the mass about a bent equilibrium.

use super::second_order::SecondOrderTerms;
use super::{Coefficients, LocalReducer, ReductionError};
use crate::description::mechanism::{Mechanism, Stiffening};
use crate::kinematics::Configuration;
use crate::linalg::{cholesky, solve_lower, symmetric_eigen};
use crate::modes::{Linearised, LocalModes, ModesError};
use faer::Mat;

/// Loads that are given at run time would need a stiffness of their own.
pub(super) fn refuse_free_loads(mechanism: &Mechanism) -> Result<(), ReductionError> {
    if mechanism.reduction.stiffening == Stiffening::None {
        return Ok(());
    }
    let refuse = |what: String| {
        Err(ReductionError::StiffeningAtRuntime {
            what,
            origin: mechanism.reduction.origin.clone(),
        })
    };
    if mechanism.gravity_at_runtime {
        return refuse("gravity given at run time".into());
    }
    match mechanism.point_masses.iter().find(|m| m.at_runtime) {
        Some(mass) => refuse(format!("the mass `{}` given at run time", mass.name)),
        None => Ok(()),
    }
}

impl LocalReducer {
    /// Adds the stiffness of loads [M 14.8] and what second-order displacements add to N_d on δ
    /// [M 14.7], without which frequencies about a bent equilibrium are no better than without loads.
    pub(super) fn stiffen(
        &self,
        configuration: &Configuration,
        at: &Linearised<'_>,
        modes: &LocalModes,
        found: &mut Coefficients,
    ) -> Result<(), ReductionError> {
        let (n, s) = (found.n(), found.n_rigid());
        let (Some(locked), true) = (self.locked.as_ref(), n > s) else {
            return Ok(());
        };
        let free;
        let holds = self.model().loaded.iter().any(|l| l.fixed);
        let at = if holds {
            free = Linearised::new(self.model(), configuration, Some(locked), false)
                .map_err(|fault| self.fault(&configuration.theta, fault))?;
            &free
        } else {
            at
        };
        let terms = SecondOrderTerms::new(at, modes)
            .of_loads()
            .map_err(|fault| self.fault(&configuration.theta, fault))?;
        self.refuse_buckling(found, &terms.stiffness)?;
        let add = |to: &mut [f64], from: &Mat<f64>| {
            for i in 0..n - s {
                for j in 0..n - s {
                    to[(s + i) * n + s + j] += from[(i, j)];
                }
            }
        };
        add(&mut found.stiffness, &terms.stiffness);
        for (gradient, change) in found.stiffness_gradient.iter_mut().zip(&terms.gradient) {
            add(gradient, change);
        }
        for (d, gradient) in found.mass_gradient[s..].iter_mut().enumerate() {
            let change = Mat::from_fn(n - s, n - s, |e, f| {
                terms.elastic[e][(d, f)] + terms.elastic[f][(d, e)]
            });
            add(gradient, &change);
        }
        Ok(())
    }

    /// Refuses a configuration whose stiffness the loads exhaust.
    fn refuse_buckling(
        &self,
        found: &Coefficients,
        load_stiffness: &Mat<f64>,
    ) -> Result<(), ReductionError> {
        let (n, s) = (found.n(), found.n_rigid());
        let own = Mat::from_fn(n - s, n - s, |i, j| found.stiffness[(s + i) * n + s + j]);
        let failed = || self.fault(&found.theta, ModesError::EigenproblemFailed);
        let l = cholesky(&own).ok_or_else(failed)?;
        let half = solve_lower(&l, load_stiffness);
        let whitened = solve_lower(&l, &half.transpose().to_owned());
        let (values, _) = symmetric_eigen(&whitened).ok_or_else(failed)?;
        match values.first() {
            Some(&lowest) if lowest <= -1.0 => Err(ReductionError::Buckles {
                theta: found.theta.clone(),
                factor: -1.0 / lowest,
                origin: self.origin.clone(),
            }),
            _ => Ok(()),
        }
    }
}
