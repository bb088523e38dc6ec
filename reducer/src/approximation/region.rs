//! Axis-parallel boxes in θ.

use crate::reduced_model::{Domain, LinearInequality};

/// A closed box.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Region {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
}

impl Region {
    pub fn of_domain(domain: &Domain) -> Self {
        Self {
            lower: domain.lower.clone(),
            upper: domain.upper.clone(),
        }
    }

    pub fn dimension(&self) -> usize {
        self.lower.len()
    }

    pub fn width(&self, axis: usize) -> f64 {
        self.upper[axis] - self.lower[axis]
    }

    pub fn contains(&self, theta: &[f64]) -> bool {
        theta
            .iter()
            .enumerate()
            .all(|(k, t)| (self.lower[k]..=self.upper[k]).contains(t))
    }

    /// θ at box coordinates ξ ∈ [−1, 1]; ends are hit exactly.
    pub fn point(&self, xi: &[f64]) -> Vec<f64> {
        let place = |k: usize| match xi[k] {
            -1.0 => self.lower[k],
            1.0 => self.upper[k],
            x => (self.lower[k] + 0.5 * (1.0 + x) * self.width(k))
                .clamp(self.lower[k], self.upper[k]),
        };
        (0..self.dimension()).map(place).collect()
    }

    /// Where a bisection cuts.
    pub fn middle(&self, axis: usize) -> f64 {
        self.lower[axis] + 0.5 * self.width(axis)
    }

    pub fn bisected(&self, axis: usize) -> (Self, Self) {
        let (mut low, mut high) = (self.clone(), self.clone());
        low.upper[axis] = self.middle(axis);
        high.lower[axis] = self.middle(axis);
        (low, high)
    }

    /// Every point of the box violates this inequality.
    pub fn is_outside(&self, inequality: &LinearInequality) -> bool {
        let corner = |k: usize| {
            if inequality.coefficients[k] > 0.0 {
                self.lower[k]
            } else {
                self.upper[k]
            }
        };
        let nearest: Vec<f64> = (0..self.dimension()).map(corner).collect();
        !inequality.holds(&nearest)
    }

    /// A number that is the box's own, for point sequences.
    pub fn key(&self) -> u64 {
        let mut hash = blake3::Hasher::new();
        for v in self.lower.iter().chain(&self.upper) {
            hash.update(&v.to_bits().to_le_bytes());
        }
        u64::from_le_bytes(hash.finalize().as_bytes()[..8].try_into().unwrap_or([0; 8]))
    }
}
