//! What the gauge costs: kept frequencies against the true lowest ones.

use super::{Coefficients, LocalReducer, ReductionError};
use crate::description::mechanism::{Gauge, InternalModes, Stiffening};
use crate::linalg::{cholesky, solve_lower, symmetric_eigen};
use crate::model::Saddle;
use crate::modes::{LocalModes, Reference, class_frequencies_hz};
use faer::Mat;

/// A kept frequency this far (relative) above the true one does not represent that mode.
const REPRESENTED: f64 = 0.05;

/// Kept and true internal frequencies at one configuration.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// The configuration.
    pub theta: Vec<f64>,
    /// Frequencies of the reduced internal modes, ascending (Hz).
    pub kept_hz: Vec<f64>,
    /// The lowest frequencies of the full model, θ and loaded dofs fixed, of the kept class (Hz).
    pub exact_hz: Vec<f64>,
    /// Smallest singular value of the gauge's overlap.
    pub overlap: f64,
}

impl Inspection {
    /// True frequencies among the lowest that no kept mode represents.
    pub fn missing_hz(&self) -> Vec<f64> {
        self.exact_hz
            .iter()
            .filter(|exact| {
                !self
                    .kept_hz
                    .iter()
                    .any(|kept| (kept / **exact - 1.0).abs() < REPRESENTED)
            })
            .copied()
            .collect()
    }

    /// Largest relative difference between the i-th kept and the i-th true frequency.
    pub fn worst_error(&self, count: usize) -> f64 {
        self.kept_hz
            .iter()
            .zip(&self.exact_hz)
            .take(count)
            .fold(0.0, |m, (kept, exact)| m.max((kept / exact - 1.0).abs()))
    }
}

/// √eig(K̄, M̄)/2π of the coordinates from `first` on, ascending.
pub fn frequencies_hz(coefficients: &Coefficients, first: usize) -> Option<Vec<f64>> {
    let n = coefficients.n();
    let block =
        |m: &[f64]| Mat::from_fn(n - first, n - first, |i, j| m[(first + i) * n + first + j]);
    let l = cholesky(&block(&coefficients.mass))?;
    let half = solve_lower(&l, &block(&coefficients.stiffness));
    let (values, _) = symmetric_eigen(&solve_lower(&l, &half.transpose().to_owned()))?;
    Some(
        values
            .iter()
            .map(|v| v.max(0.0).sqrt() / (2.0 * std::f64::consts::PI))
            .collect(),
    )
}

impl LocalReducer {
    /// Number of constraint and attachment modes.
    pub fn n_loaded(&self) -> usize {
        self.model().loaded.len()
    }

    /// Factorisations of the static operator so far: a measure of work that is equal for any number
    /// of threads.
    pub fn n_factorisations(&self) -> usize {
        let operators = [&self.saddle, &self.locked].into_iter().flatten();
        operators.map(Saddle::n_factorisations).sum()
    }

    /// Frequencies of the internal modes alone.
    pub fn internal_frequencies_hz(&self, coefficients: &Coefficients) -> Option<Vec<f64>> {
        frequencies_hz(coefficients, coefficients.n_rigid() + self.n_loaded())
    }

    /// The smallest number of internal modes, up to eight more than now, with which the lowest
    /// ones are represented at θ. None where no such number is found, or where modes are not
    /// simply the lowest ones in the `filtered` gauge.
    pub fn modes_that_would_do(&self, theta: &[f64]) -> Result<Option<usize>, ReductionError> {
        let kept = self.reference().shapes.ncols();
        let simple = matches!(self.gauge(), Gauge::Filtered { .. })
            && matches!(self.reference().selection, InternalModes::Lowest(_));
        if !simple {
            return Ok(None);
        }
        let reference_at = self.linearise(&self.kinematics().solve(&self.reference_theta)?)?;
        let at = self.linearise(&self.kinematics().solve(theta)?)?;
        let exact_hz = class_frequencies_hz(&at, self.reference(), kept)
            .map_err(|fault| self.fault(theta, fault))?;
        for count in kept..=kept + 8 {
            let Ok(reference) = Reference::select(&reference_at, &InternalModes::Lowest(count))
            else {
                return Ok(None);
            };
            let Ok(modes) = LocalModes::new(&at, &reference, self.gauge()) else {
                continue;
            };
            let first = modes.shapes.ncols() - count;
            let shapes = Mat::from_fn(modes.shapes.nrows(), count, |i, j| {
                modes.shapes[(i, first + j)]
            });
            let stiffness = shapes.transpose() * &at.stiffness_times(&shapes);
            let Some((squares, _)) = symmetric_eigen(&stiffness) else {
                continue;
            };
            let trial = Inspection {
                theta: theta.to_vec(),
                kept_hz: squares
                    .iter()
                    .map(|w2| w2.max(0.0).sqrt() / (2.0 * std::f64::consts::PI))
                    .collect(),
                exact_hz: exact_hz.clone(),
                overlap: modes.overlap,
            };
            if trial.missing_hz().is_empty() {
                return Ok(Some(count));
            }
        }
        Ok(None)
    }

    /// Compares kept and true internal frequencies at θ.
    pub fn inspect(&self, theta: &[f64]) -> Result<Inspection, ReductionError> {
        // Natural modes know no loads.
        let coefficients = self.evaluate_with(theta, Stiffening::None)?;
        let kept_hz = self
            .internal_frequencies_hz(&coefficients)
            .unwrap_or_default();
        let configuration = self.kinematics().solve(theta)?;
        let at = self.linearise(&configuration)?;
        let exact_hz = class_frequencies_hz(&at, self.reference(), kept_hz.len())
            .map_err(|fault| self.fault(theta, fault))?;
        Ok(Inspection {
            theta: theta.to_vec(),
            kept_hz,
            exact_hz,
            overlap: coefficients.gauge_overlap,
        })
    }
}
