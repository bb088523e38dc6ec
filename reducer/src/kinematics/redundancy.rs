//! Which of redundant loop equations to keep.
//!
//! A set of equations that is independent at home can become dependent elsewhere although all
//! equations together lose nothing: the third leg of a parallelogram is held by the equation across
//! its direction, not by the one along it. So the choice made at home is tried on the way to
//! configurations spread over the domain, and replaced where it does badly.

use super::Kinematics;
use super::closure::Posture;
use super::path::Leg;
use crate::linalg;
use nalgebra::{DMatrix, LU};

/// Configurations at which a choice is tried.
const PROBES: usize = 12;
/// A better choice opens ways that show more of the domain; this often.
const ROUNDS: usize = 4;
/// Shortest step as a part of the way to a probe.
const SHORTEST_STEP: f64 = 1.0 / 1024.0;

impl Kinematics {
    /// Fixed θ spread evenly over the ranges of the coordinates.
    pub(crate) fn probes(&self) -> Vec<Vec<f64>> {
        // The additive recurrence with the roots of x^(s+1) = x + 1, which generalise the golden
        // ratio.
        let s = self.search_range.len() as i32;
        let root = (0..40).fold(2.0_f64, |x, _| (1.0 + x).powf(1.0 / f64::from(s + 1)));
        let parts = |i: usize| (1..=s).map(move |k| (0.5 + i as f64 * root.powi(-k)).fract());
        (0..PROBES)
            .map(|i| {
                let ranges = self.search_range.iter();
                ranges
                    .zip(parts(i))
                    .map(|((lower, upper), part)| lower + part * (upper - lower))
                    .collect()
            })
            .collect()
    }

    /// Keeps the loop equations chosen at home unless others stay more independent over the domain.
    pub(super) fn settle_rows(&mut self) {
        if self.n_redundant() == 0 {
            return;
        }
        let mut seen = vec![self.closure_rows(&self.home)];
        for _ in 0..ROUNDS {
            for theta in self.probes() {
                let leg = Leg {
                    from: &self.home_theta,
                    to: &theta,
                    shortest_step: SHORTEST_STEP,
                };
                // Where the way ends, the choice is at its worst.
                let posture = match self.walk(&self.home, &self.home_factors, &leg) {
                    Ok(posture) => posture,
                    Err(end) => end.posture,
                };
                seen.push(self.closure_rows(&posture));
            }
            let best = linalg::rows_independent_everywhere(&seen, &self.rows);
            if best == self.rows {
                return;
            }
            self.rows = best;
            self.home_factors = LU::new(self.closure_system(&self.home));
            self.orientation = self.home_factors.determinant().signum();
        }
    }

    /// All loop equations at a posture.
    pub(super) fn closure_rows(&self, posture: &Posture) -> DMatrix<f64> {
        let jacobians = self.skeleton.link_jacobians(posture);
        self.skeleton.cut_rows(posture, &jacobians)
    }
}
