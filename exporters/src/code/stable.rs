//! The largest step of the explicit integrator: a search for the fastest eigenvalue over the domain.

use super::samples::{cholesky, pattern, solve};
use reducer::reduced_model::{Evaluator, ModelCoefficients, ReducedModel, Status, Workspace};

/// |λ| dt up to here is inside the stability region of the classical Runge-Kutta method, for any λ that decays.
const REGION: f64 = 2.6;
/// Eigenvalues may be larger between the configurations of the search by this factor.
const MARGIN: f64 = 1.1;
/// Boxes of which ends and centre are tried, at most.
const BOXES: usize = 64;
/// Corners of the domain that are tried, at most.
const CORNERS: usize = 64;
/// Points spread over the domain.
const SPREAD: usize = 64;
/// Configurations from which the search climbs.
const CLIMBS: usize = 4;
/// Part of a range by which a climb first moves, and at which it ends.
const STEPS: [f64; 2] = [0.25, 1.0 / 256.0];

/// The fastest eigenvalue of a model linearised at rest.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fastest {
    /// Bound on it at the worst configuration found [1/s]; 0 without stiffness and damping.
    pub rate: f64,
    /// Configurations that were looked at.
    n_configurations: usize,
}

impl Fastest {
    /// Searches the domain: corners, boxes and points between, then uphill from the worst of them.
    pub fn of(evaluator: &Evaluator, work: &mut Workspace) -> Self {
        let mut found = Self::default();
        let mut at = |theta: &[f64], found: &mut Self| -> f64 {
            found.n_configurations += 1;
            match evaluator.coefficients(theta, work) {
                Ok(c) if c.status == Status::Inside => {
                    let rate = bound(&c, evaluator.n());
                    found.rate = found.rate.max(rate);
                    rate
                }
                _ => 0.0,
            }
        };
        let mut starts: Vec<(f64, Vec<f64>)> = starts(evaluator.model())
            .into_iter()
            .map(|theta| (at(&theta, &mut found), theta))
            .collect();
        starts.sort_by(|a, b| b.0.total_cmp(&a.0));
        let domain = &evaluator.model().layout.domain;
        for (mut best, mut theta) in starts.into_iter().take(CLIMBS) {
            let mut part = STEPS[0];
            while best > 0.0 && part >= STEPS[1] {
                let before = best;
                for k in 0..theta.len() {
                    for direction in [-part, part] {
                        let mut next = theta.clone();
                        next[k] += direction * (domain.upper[k] - domain.lower[k]);
                        next[k] = next[k].clamp(domain.lower[k], domain.upper[k]);
                        let rate = if next == theta {
                            0.0
                        } else {
                            at(&next, &mut found)
                        };
                        if rate > best {
                            (best, theta) = (rate, next);
                        }
                    }
                }
                if best <= before {
                    part /= 2.0;
                }
            }
        }
        found
    }

    /// What the explicit fixed-step integrator tolerates.
    pub fn step(&self) -> String {
        if self.rate > 0.0 {
            format!(
                "{:.3e} s (fastest eigenvalue found {:.4e} 1/s, a search of {} configurations)",
                REGION / (MARGIN * self.rate),
                self.rate,
                self.n_configurations
            )
        } else {
            "not limited by the model: it has neither stiffness nor damping".to_owned()
        }
    }
}

/// Where the search begins.
fn starts(model: &ReducedModel) -> Vec<Vec<f64>> {
    let domain = &model.layout.domain;
    let s = domain.lower.len();
    let between = |lower: &[f64], upper: &[f64], part: &dyn Fn(usize) -> f64| -> Vec<f64> {
        (0..s)
            .map(|k| (lower[k] + part(k) * (upper[k] - lower[k])).clamp(lower[k], upper[k]))
            .collect()
    };
    let corners = (0..CORNERS.min(1_usize.checked_shl(s as u32).unwrap_or(CORNERS)))
        .map(|i| between(&domain.lower, &domain.upper, &|k| ((i >> k) & 1) as f64));
    let step = model.boxes.len().div_ceil(BOXES).max(1);
    let of_boxes = (model.boxes.iter().step_by(step))
        .flat_map(|b| [0.0, 0.5, 1.0].map(|part| between(&b.lower, &b.upper, &|_| part)));
    // Multiples of square roots that are independent fill the domain evenly.
    let spread = (1..=SPREAD).map(|i| {
        let part = |k: usize| (i as f64 * ROOTS[k % ROOTS.len()].sqrt()).fract();
        between(&domain.lower, &domain.upper, &part)
    });
    corners.chain(of_boxes).chain(spread).collect()
}

const ROOTS: [f64; 12] = [
    2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0, 29.0, 31.0, 37.0,
];

/// Bound on |λ| of λ² + μ λ + ω²: μ and ω² are the largest eigenvalues of M⁻¹D and M⁻¹K.
fn bound(c: &ModelCoefficients, n: usize) -> f64 {
    let Some(lower) = cholesky(&c.mass, n) else {
        return 0.0;
    };
    let omega_square = largest_eigenvalue(&lower, &c.stiffness, n);
    let mu = largest_eigenvalue(&lower, &c.damping, n);
    0.5 * (mu + (mu * mu + 4.0 * omega_square).sqrt())
}

/// Power iteration on M⁻¹A, A symmetric and semidefinite.
fn largest_eigenvalue(lower: &[f64], a: &[f64], n: usize) -> f64 {
    let mut x: Vec<f64> = (0..n).map(|i| 1.0 + 0.1 * pattern(i)).collect();
    let mut value = 0.0;
    for _ in 0..100 {
        let scale = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        if !(scale > 0.0 && scale.is_finite()) {
            return 0.0;
        }
        x.iter_mut().for_each(|v| *v /= scale);
        let product = (0..n).map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum());
        x = solve(lower, n, product.collect());
        value = x.iter().map(|v| v * v).sum::<f64>().sqrt();
    }
    value
}
