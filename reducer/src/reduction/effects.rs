//! How much loads and motion change the stiffness of a mechanism, and which of it a model must hold.

use super::second_order::{SecondOrder, SecondOrderTerms, pair_index};
use super::{LocalReducer, ReductionError};
use crate::description::mechanism::{Basis, Form, Mechanism, Stiffening};
use crate::linalg::{cholesky, solve_lower, symmetric_eigen};
use crate::modes::Linearised;
use faer::Mat;
use rayon::prelude::*;
use std::sync::OnceLock;

/// Coordinates whose rates are tried with both signs; with more of them the others keep theirs.
const MOST_SIGNS: usize = 8;

/// What a mechanism file says of stiffening.
pub(super) struct Asked {
    stiffening: Stiffening,
    /// Tolerance of the stiffness.
    tolerance: f64,
    /// Largest declared rates and accelerations, zero where none is declared.
    rate: Vec<f64>,
    acceleration: Vec<f64>,
    /// Configurations spread over the domain.
    probes: Vec<Vec<f64>>,
    found: OnceLock<Effects>,
}

impl Asked {
    pub fn new(mechanism: &Mechanism, probes: Vec<Vec<f64>>) -> Self {
        let settings = &mechanism.approximation;
        let own = settings.block_tolerances.iter();
        let thesis = settings.form == Some(Form::Direct)
            && !matches!(settings.basis, Basis::Chebyshev { .. });
        let admits = |theta: &Vec<f64>| {
            mechanism.inequalities.iter().all(|i| {
                let terms = i.coefficients.iter().zip(theta);
                terms.map(|(c, t)| c * t).sum::<f64>() <= i.bound
            })
        };
        Self {
            stiffening: match mechanism.reduction.stiffening {
                // The method of the thesis has no terms of second order.
                Stiffening::Auto if thesis => Stiffening::None,
                asked => asked,
            },
            tolerance: own
                .filter(|(block, _)| block == "stiffness")
                .map(|(_, tolerance)| *tolerance)
                .next_back()
                .unwrap_or(settings.tolerance),
            rate: declared(mechanism, |c| c.rate),
            acceleration: declared(mechanism, |c| c.acceleration),
            probes: probes.into_iter().filter(admits).collect(),
            found: OnceLock::new(),
        }
    }
}

fn declared(
    mechanism: &Mechanism,
    of: impl Fn(&crate::description::mechanism::Coordinate) -> Option<f64>,
) -> Vec<f64> {
    let coordinates = mechanism.coordinates.iter();
    coordinates.map(|c| of(c).unwrap_or(0.0)).collect()
}

/// Largest relative changes of the stiffness over configurations spread over the domain: absolute eigenvalues of
/// L⁻¹ΔL⁻ᵀ with K̄ = LLᵀ [M 14.13], which are relative changes of squared frequencies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effects {
    /// By gravity, constant loads and tensioned springs.
    pub loads: f64,
    /// By the declared rates, whatever their signs.
    pub rate: f64,
    /// By the declared accelerations, whatever their signs.
    pub acceleration: f64,
    /// By each θ alone, per square of its rate.
    pub of_rate: Vec<f64>,
    /// By each θ alone, per acceleration.
    pub of_acceleration: Vec<f64>,
}

impl Effects {
    fn larger(mut self, other: Self) -> Self {
        let larger = |a: &mut f64, b: f64| *a = a.max(b);
        larger(&mut self.loads, other.loads);
        larger(&mut self.rate, other.rate);
        larger(&mut self.acceleration, other.acceleration);
        for (a, b) in self.of_rate.iter_mut().zip(other.of_rate) {
            larger(a, b);
        }
        for (a, b) in self.of_acceleration.iter_mut().zip(other.of_acceleration) {
            larger(a, b);
        }
        self
    }
}

impl LocalReducer {
    /// What changes the stiffness of the reduced model: what the file asks for, or what exceeds the tolerance.
    pub fn stiffening(&self) -> Stiffening {
        match self.asked.stiffening {
            Stiffening::Auto => {
                let found = self.effects();
                let tolerance = self.asked.tolerance;
                if found.rate > tolerance || found.acceleration > tolerance {
                    Stiffening::All
                } else if found.loads > tolerance {
                    Stiffening::Loads
                } else {
                    Stiffening::None
                }
            }
            asked => asked,
        }
    }

    /// Tolerance of the stiffness, with which effects are compared.
    pub fn stiffness_tolerance(&self) -> f64 {
        self.asked.tolerance
    }

    /// How much loads and the declared motion change the stiffness; zero where nothing deforms. Configurations that
    /// cannot be reduced are left out.
    pub fn effects(&self) -> &Effects {
        if let Some(found) = self.asked.found.get() {
            return found;
        }
        // Outside of the lock: a thread that waits for its part may take up work that asks for the same.
        let s = self.n_rigid();
        let none = Effects {
            of_rate: vec![0.0; s],
            of_acceleration: vec![0.0; s],
            ..Effects::default()
        };
        let home = self.kinematics().home().to_vec();
        let mut places = vec![home];
        if self.n() > s {
            places.extend(self.asked.probes.iter().cloned());
        }
        let found: Vec<Option<Effects>> = (places.par_iter())
            .map(|theta| self.effects_at(theta).ok().flatten())
            .collect();
        let all = found.into_iter().flatten().fold(none, Effects::larger);
        self.asked.found.get_or_init(|| all)
    }

    fn effects_at(&self, theta: &[f64]) -> Result<Option<Effects>, ReductionError> {
        let (Some(locked), true) = (self.locked.as_ref(), self.n() > self.n_rigid()) else {
            return Ok(None);
        };
        let s = self.n_rigid();
        let configuration = self.kinematics().solve(theta)?;
        let fault = |fault| self.fault(theta, fault);
        let at = self.linearise(&configuration)?;
        let modes = self.modes(&at)?;
        let (stiffness, _) = self.stiffness(&at, &modes);
        let modal = self.n() - s;
        let own = Mat::from_fn(modal, modal, |i, j| stiffness[(s + i, s + j)]);
        let free;
        let at = if self.model().loaded.iter().any(|l| l.fixed) {
            free = Linearised::new(self.model(), &configuration, Some(locked), false)
                .map_err(fault)?;
            &free
        } else {
            &at
        };
        let second = SecondOrderTerms::new(at, &modes)
            .all(false)
            .map_err(fault)?;
        Ok(cholesky(&own).and_then(|l| self.effects_of(&second, &l)))
    }

    /// None where an eigenproblem fails.
    fn effects_of(&self, second: &SecondOrder, l: &Mat<f64>) -> Option<Effects> {
        let s = self.n_rigid();
        let whitened = |a: &Mat<f64>| {
            let half = solve_lower(l, a);
            solve_lower(l, &half.transpose().to_owned())
        };
        let size = |a: &Mat<f64>| -> Option<f64> {
            let (values, _) = symmetric_eigen(a)?;
            Some(values.iter().fold(0.0, |m, v| v.abs().max(m)))
        };
        let rates: Vec<Mat<f64>> = second.mass_curvature.iter().map(whitened).collect();
        let pushes: Vec<Mat<f64>> = second.coupling.iter().map(whitened).collect();
        let Asked {
            rate, acceleration, ..
        } = &self.asked;
        let (mut of_rate, mut of_acceleration) = (Vec::new(), Vec::new());
        for k in 0..s {
            of_rate.push(0.5 * size(&rates[pair_index(k, k)])?);
            of_acceleration.push(size(&pushes[k])?);
        }
        // One coordinate alone may do more than all together, whose effects can cancel.
        let alone = (0..s).map(|k| of_rate[k] * rate[k] * rate[k]);
        let mut found = Effects {
            loads: size(&whitened(&second.load_stiffness))?,
            rate: alone.fold(0.0, f64::max),
            acceleration: 0.0,
            of_rate,
            of_acceleration,
        };
        let n = l.nrows();
        for signs in 0..1_usize << (s.min(MOST_SIGNS) - 1) {
            let sign = |k: usize| if signs >> k & 1 == 1 { -1.0 } else { 1.0 };
            let (mut by_rate, mut by_push) = (Mat::zeros(n, n), Mat::<f64>::zeros(n, n));
            for j in 0..s {
                for k in 0..s {
                    let weight = 0.5 * sign(j) * rate[j] * sign(k) * rate[k];
                    by_rate += weight * &rates[pair_index(j, k)];
                }
                by_push += sign(j) * acceleration[j] * &pushes[j];
            }
            found.rate = found.rate.max(size(&by_rate)?);
            found.acceleration = found.acceleration.max(size(&by_push)?);
        }
        Some(found)
    }
}
