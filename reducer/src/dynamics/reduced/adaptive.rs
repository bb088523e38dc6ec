//! Modes of small motions that change along the nominal motion, for adaptive modal integration [M 19.2].

use super::error::ReducedError;
use super::perturbation::{Perturbation, Perturbations};
use crate::dynamics::spline::{Ends, Spline};
use crate::linalg::{cholesky, solve_lower, solve_lower_transposed, symmetric_eigen, to_faer};
use nalgebra::DMatrix;

/// Least part of the kept modes that must be left from one instant to the next.
const RESEMBLANCE: f64 = 0.5;

/// Lowest modes Φ(t) of K₀^S and M₀, as smooth functions of time.
pub(super) struct AdaptiveModes {
    /// Entries by columns.
    entries: Vec<Spline>,
    shape: (usize, usize),
}

/// Φ and its first and second derivative by time.
pub(super) type ModesJet = [DMatrix<f64>; 3];

impl AdaptiveModes {
    /// `count` lowest modes of the free coordinates at instants; each basis is turned towards the one before, so that
    /// modes that cross within the basis leave it smooth.
    pub fn new(
        source: &dyn Perturbations,
        free: &[usize],
        count: usize,
        instants: &[f64],
    ) -> Result<Self, ReducedError> {
        let n = free.len();
        let known = (1..=n).contains(&count);
        if !known {
            return Err(ReducedError::ModeCount { count, most: n });
        }
        let mut columns = vec![Vec::with_capacity(instants.len()); n * count];
        let mut before: Option<DMatrix<f64>> = None;
        for &time in instants {
            let here = source.at(time)?;
            let mut modes = lowest(&here, free, count).ok_or(ReducedError::NoModes { time })?;
            if let Some(before) = &before {
                let mass = picked(&here.mass, free);
                let overlap = modes.transpose() * mass * before;
                let svd = overlap.svd(true, true);
                let (Some(u), Some(vt)) = (svd.u, svd.v_t) else {
                    return Err(ReducedError::NoModes { time });
                };
                if svd.singular_values.min() < RESEMBLANCE {
                    return Err(ReducedError::ModesJump { time, count });
                }
                modes *= u * vt;
            }
            for (column, value) in columns.iter_mut().zip(modes.iter()) {
                column.push(*value);
            }
            before = Some(modes);
        }
        let entries = columns.into_iter();
        let entries = entries.map(|values| Spline::new(instants.to_vec(), values, Ends::Free));
        Ok(Self {
            entries: entries
                .collect::<Option<_>>()
                .ok_or(ReducedError::NoModes { time: 0.0 })?,
            shape: (n, count),
        })
    }

    pub fn at(&self, time: f64) -> ModesJet {
        let jets: Vec<_> = self.entries.iter().map(|e| e.at(time)).collect();
        let (n, m) = self.shape;
        let matrix = |values: Vec<f64>| DMatrix::from_vec(n, m, values);
        [
            matrix(jets.iter().map(|j| j.value).collect()),
            matrix(jets.iter().map(|j| j.rate).collect()),
            matrix(jets.iter().map(|j| j.acceleration).collect()),
        ]
    }
}

/// Rows and columns of a list.
pub(super) fn picked(matrix: &DMatrix<f64>, list: &[usize]) -> DMatrix<f64> {
    DMatrix::from_fn(list.len(), list.len(), |i, j| matrix[(list[i], list[j])])
}

/// Lowest eigenvectors of ½(K₀ + K₀ᵀ) and M₀, of unit modal mass.
fn lowest(at: &Perturbation, free: &[usize], count: usize) -> Option<DMatrix<f64>> {
    let stiffness = picked(&at.stiffness, free);
    let symmetric = to_faer(&(0.5 * (&stiffness + stiffness.transpose())));
    let l = cholesky(&to_faer(&picked(&at.mass, free)))?;
    let half = solve_lower(&l, &symmetric);
    let whitened = solve_lower(&l, &half.transpose().to_owned());
    let (_, vectors) = symmetric_eigen(&whitened)?;
    let shapes = solve_lower_transposed(&l, &vectors);
    let n = free.len();
    Some(DMatrix::from_fn(n, count, |i, j| shapes[(i, j)]))
}
