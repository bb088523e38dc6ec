//! What loads and motion do to the stiffness of the reduced model, and to its mass about a bent equilibrium.

use super::local::row_major;
use super::second_order::{SecondOrder, SecondOrderTerms};
use super::{Coefficients, LocalReducer, ReductionError};
use crate::kinematics::Configuration;
use crate::linalg::{cholesky, solve_lower, symmetric_eigen};
use crate::modes::{Linearised, LocalModes, ModesError};
use faer::Mat;

impl LocalReducer {
    /// Adds the stiffness of loads [M 14.8], what second-order displacements add to N_d [M 14.7], without
    /// which frequencies about a bent equilibrium are no better than without loads, second-order motion of
    /// outputs and, for a mechanism that moves fast, second derivatives of the mass on θ [M 14.6].
    pub(super) fn stiffen(
        &self,
        configuration: &Configuration,
        at: &Linearised<'_>,
        modes: &LocalModes,
        with_motion: bool,
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
        let terms = SecondOrderTerms::new(at, modes);
        let axes = self.gravity_is_free();
        let second = if with_motion {
            terms.all(axes)
        } else {
            terms.of_loads(axes)
        };
        let second = second.map_err(|fault| self.fault(&configuration.theta, fault))?;
        self.refuse_buckling(found, &second.load_stiffness)?;
        add_second_order(found, second);
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

fn add_second_order(found: &mut Coefficients, second: SecondOrder) {
    let (n, s) = (found.n(), found.n_rigid());
    let add = |to: &mut [f64], from: &Mat<f64>| {
        for i in 0..n - s {
            for j in 0..n - s {
                to[(s + i) * n + s + j] += from[(i, j)];
            }
        }
    };
    add(&mut found.stiffness, &second.load_stiffness);
    let changes = found.stiffness_gradient.iter_mut();
    for (gradient, change) in changes.zip(&second.load_stiffness_gradient) {
        add(gradient, change);
    }
    for (d, gradient) in found.mass_gradient[s..].iter_mut().enumerate() {
        let change = Mat::from_fn(n - s, n - s, |e, f| {
            second.elastic[e][(d, f)] + second.elastic[f][(d, e)]
        });
        add(gradient, &change);
        for (j, coupling) in second.coupling.iter().enumerate() {
            for e in 0..n - s {
                gradient[j * n + s + e] += coupling[(d, e)];
                gradient[(s + e) * n + j] += coupling[(d, e)];
            }
        }
    }
    found.mass_curvature = second.mass_curvature.iter().map(row_major).collect();
    for (axis, (value, gradient)) in found.gravity_axes.iter_mut().zip(&second.gravity_stiffness) {
        axis.stiffness = row_major(value);
        axis.stiffness_gradient = gradient.iter().map(row_major).collect();
    }
    for (output, axes) in found.outputs.iter_mut().zip(&second.positions) {
        output.curvature = axes.iter().flat_map(row_major).collect();
    }
}
