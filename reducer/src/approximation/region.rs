//! Axis-parallel boxes in θ.

use crate::reduced_model::{BoxModel, Domain};

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

    pub fn of_box(b: &BoxModel) -> Self {
        Self {
            lower: b.lower.clone(),
            upper: b.upper.clone(),
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

    /// ξ ∈ [−1, 1] of θ; what is beyond the ends is at them.
    pub fn coordinates(&self, theta: &[f64]) -> Vec<f64> {
        let along = |(k, t): (usize, &f64)| 2.0 * (t - self.lower[k]) / self.width(k) - 1.0;
        let xi = theta.iter().enumerate().map(along);
        xi.map(|x| x.clamp(-1.0, 1.0)).collect()
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

    /// The face (a box without extent in one direction) that two boxes share, if they share one.
    pub fn common_face(&self, other: &Self) -> Option<Self> {
        let s = self.dimension();
        let lower: Vec<f64> = (0..s).map(|k| self.lower[k].max(other.lower[k])).collect();
        let upper: Vec<f64> = (0..s).map(|k| self.upper[k].min(other.upper[k])).collect();
        let flat = (0..s).filter(|&k| lower[k] == upper[k]).count();
        let apart = (0..s).any(|k| lower[k] > upper[k]);
        (flat == 1 && !apart).then_some(Self { lower, upper })
    }

    /// For two boxes whose common face is nested in neither: an axis along which this one must be
    /// bisected so that faces become nested.
    pub fn axis_to_nest(&self, other: &Self) -> Option<usize> {
        let face = self.common_face(other)?;
        let spans = |k: &usize| face.width(*k) > 0.0;
        let wider = |k: usize| self.width(k) > other.width(k);
        let narrower = |k: usize| self.width(k) < other.width(k);
        let mixed = (0..self.dimension()).filter(spans).any(narrower);
        (0..self.dimension())
            .filter(spans)
            .find(|&k| wider(k))
            .filter(|_| mixed)
    }

    /// Points of the box with those that the inequalities of the domain exclude drawn in until they hold: what
    /// they leave of a box has as many points as a whole one, however thin it is. None where they leave
    /// nothing.
    pub fn admitted(&self, domain: &Domain, mut points: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        if points.iter().all(|p| domain.admits(p)) {
            return points;
        }
        let Some(center) = domain.center(&self.lower, &self.upper) else {
            return Vec::new();
        };
        for p in points.iter_mut().filter(|p| !domain.admits(p)) {
            *p = domain.drawn_in(p, &center);
        }
        points.retain(|p| domain.admits(p) && self.contains(p));
        points
    }

    /// The inequalities of the domain leave nothing of the box but points of its boundary.
    pub fn is_outside(&self, domain: &Domain) -> bool {
        domain.excludes(&self.lower, &self.upper)
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
