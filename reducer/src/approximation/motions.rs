//! The motion for which forces of a model are farthest off, at one place.
//!
//! At η^δ = 0 forces are A φ with φ = (accelerations, rates, products of two rates, 1). A relative error is largest for
//! motions that hardly need a force, which chance does not meet: so it is climbed from the worst of some fixed motions,
//! rate by rate and acceleration by acceleration.

use super::points::uniform;
use super::sample::Sample;
use crate::reduced_model::{ModelCoefficients, ModelLayout, Validity};
use crate::reduction::Coefficients;

/// Fixed motions.
const FIXED: u64 = 24;
/// Climbs from so many of them.
const STARTS: usize = 2;
/// First step, of what a rate or acceleration may be,
const FIRST_STEP: f64 = 0.5;
/// smallest step,
const LAST_STEP: f64 = 0.02;
/// and how much smaller steps become where none helps.
const SMALLER: f64 = 0.4;
/// Rounds over all rates and accelerations, at most.
const ROUNDS: usize = 24;

/// Rates and accelerations of θ, zero for modes.
#[derive(Debug, Clone, Default)]
pub(super) struct Motion {
    pub rate: Vec<f64>,
    pub accel: Vec<f64>,
}

/// Motions with which forces are compared.
#[derive(Debug, Clone)]
pub(super) struct Motions {
    n: usize,
    /// Largest accelerations of θ, then rates.
    limits: Vec<f64>,
    /// Of some motions, in parts of these.
    fixed: Vec<Vec<f64>>,
}

impl Motions {
    pub fn new(layout: &ModelLayout) -> Self {
        let limits = limits(layout);
        let seed = |i: u64| 0x5eed_0000_0000 + 4096 * i;
        Self {
            n: layout.n(),
            fixed: (0..FIXED).map(|i| parts(seed(i), limits.len())).collect(),
            limits,
        }
    }

    /// The motion that `seed` fixes.
    pub fn chosen(&self, seed: u64) -> Motion {
        self.motion(&parts(seed, self.limits.len()))
    }

    /// Root mean square of the full model's forces of the fixed motions.
    pub fn typical_force(&self, exact: &Coefficients, gyroscopic: &[f64]) -> f64 {
        let rows = rows_of_exact(self, exact, gyroscopic);
        let width = rows.len() / self.n.max(1);
        let mut functions = vec![0.0; width];
        let mut square = |parts: &Vec<f64>| {
            fill(&mut functions, parts);
            let forces = rows.chunks_exact(width);
            forces.map(|row| dot(row, &functions).powi(2)).sum::<f64>()
        };
        let squares: f64 = self.fixed.iter().map(&mut square).sum();
        (squares / self.fixed.len().max(1) as f64).sqrt()
    }

    /// A motion from parts of what is allowed.
    fn motion(&self, parts: &[f64]) -> Motion {
        let s = self.limits.len() / 2;
        let of = |first: usize| {
            let mut values = vec![0.0; self.n];
            for k in 0..s {
                values[k] = self.limits[first + k] * parts[first + k];
            }
            values
        };
        Motion {
            accel: of(0),
            rate: of(s),
        }
    }

    /// The motion of which `error` is largest, as far as climbs from the fixed ones show, and that error.
    pub fn worst(&self, mut error: impl FnMut(&[f64]) -> f64) -> (f64, Motion) {
        let mut known: Vec<(f64, &Vec<f64>)> = self.fixed.iter().map(|x| (error(x), x)).collect();
        known.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut best = (0.0, vec![0.0; self.limits.len()]);
        for (start, parts) in known.into_iter().take(STARTS) {
            let climbed = climb(start, parts.clone(), &mut error);
            if climbed.0 > best.0 {
                best = climbed;
            }
        }
        (best.0, self.motion(&best.1))
    }
}

/// Largest accelerations, then rates: what was declared, or thirty ranges per second squared and three per second.
fn limits(layout: &ModelLayout) -> Vec<f64> {
    let (domain, s) = (&layout.domain, layout.n_rigid);
    let declared = |of: fn(&Validity) -> &Vec<Option<f64>>, k: usize| {
        let values = layout.validity.as_ref().map(of)?;
        values.get(k).copied().flatten()
    };
    let range = |k: usize| domain.upper[k] - domain.lower[k];
    let accel = (0..s).map(|k| declared(|v| &v.acceleration, k).unwrap_or(30.0 * range(k)));
    let rate = (0..s).map(|k| declared(|v| &v.rate, k).unwrap_or(3.0 * range(k)));
    accel.chain(rate).collect()
}

/// Numbers from −1 to 1 that `seed` fixes: accelerations, then rates.
fn parts(seed: u64, count: usize) -> Vec<f64> {
    let s = count / 2;
    let part = |i: usize| 2.0 * uniform(seed.wrapping_add(i as u64)) - 1.0;
    let accel = (0..s).map(|k| part(2 * k + 1));
    accel.chain((0..s).map(|k| part(2 * k))).collect()
}

/// Moves one part after the other as long as that helps, with smaller steps where it does not.
fn climb(
    mut best: f64,
    mut parts: Vec<f64>,
    error: &mut impl FnMut(&[f64]) -> f64,
) -> (f64, Vec<f64>) {
    let mut step = FIRST_STEP;
    for _ in 0..ROUNDS {
        let before = best;
        for k in 0..parts.len() {
            let here = parts[k];
            for moved in [here + step, here - step] {
                let kept = parts[k];
                parts[k] = moved.clamp(-1.0, 1.0);
                let found = error(&parts);
                if found > best {
                    best = found;
                } else {
                    parts[k] = kept;
                }
            }
        }
        if best <= before {
            step *= SMALLER;
        }
        if step < LAST_STEP {
            break;
        }
    }
    (best, parts)
}

/// Forces at one place as functions of the motion: those of the full model and how far off a model is.
pub(super) struct Forces {
    /// Row by row.
    exact: Vec<f64>,
    apart: Vec<f64>,
    /// φ, with limits folded into the rows.
    functions: Vec<f64>,
}

impl Forces {
    /// At the place of a sample.
    pub fn new(motions: &Motions, sample: &Sample, model: &ModelCoefficients) -> Self {
        let c = &sample.exact;
        let exact = rows(motions, [&c.mass, &c.damping, &sample.gyroscopic, &c.force]);
        Self::of(motions, exact, model)
    }

    /// Of two models; the first in the place of the full one.
    pub fn between(motions: &Motions, one: &ModelCoefficients, other: &ModelCoefficients) -> Self {
        Self::of(motions, rows_of_model(motions, one), other)
    }

    fn of(motions: &Motions, exact: Vec<f64>, model: &ModelCoefficients) -> Self {
        let found = rows_of_model(motions, model);
        let apart = found.iter().zip(&exact).map(|(a, b)| a - b).collect();
        Self {
            functions: vec![0.0; exact.len() / motions.n.max(1)],
            exact,
            apart,
        }
    }

    /// Norms of the difference and of the force itself.
    pub fn norms(&mut self, parts: &[f64]) -> [f64; 2] {
        fill(&mut self.functions, parts);
        let width = self.functions.len();
        [&self.apart, &self.exact].map(|rows| {
            let square = |row: &[f64]| dot(row, &self.functions).powi(2);
            rows.chunks_exact(width).map(square).sum::<f64>().sqrt()
        })
    }

    /// Size of the difference on one coordinate.
    pub fn on(&mut self, coordinate: usize, parts: &[f64]) -> f64 {
        fill(&mut self.functions, parts);
        let width = self.functions.len();
        let row = &self.apart[coordinate * width..(coordinate + 1) * width];
        dot(row, &self.functions).abs()
    }
}

/// φ of a motion.
fn fill(functions: &mut [f64], parts: &[f64]) {
    let s = parts.len() / 2;
    functions[..2 * s].copy_from_slice(parts);
    let rate = &parts[s..];
    let mut at = 2 * s;
    for j in 0..s {
        for k in j..s {
            functions[at] = rate[j] * rate[k];
            at += 1;
        }
    }
    functions[at] = 1.0;
}

fn rows_of_exact(motions: &Motions, c: &Coefficients, gyroscopic: &[f64]) -> Vec<f64> {
    rows(motions, [&c.mass, &c.damping, gyroscopic, &c.force])
}

fn rows_of_model(motions: &Motions, c: &ModelCoefficients) -> Vec<f64> {
    rows(motions, [&c.mass, &c.damping, &c.gyroscopic, &c.force])
}

/// A for motions in parts of what is allowed.
fn rows(motions: &Motions, [mass, damping, gyroscopic, force]: [&[f64]; 4]) -> Vec<f64> {
    let (n, s) = (motions.n, motions.limits.len() / 2);
    let (accel, rate) = motions.limits.split_at(s);
    let mut rows = Vec::with_capacity(n * (2 * s + s * (s + 1) / 2 + 1));
    for (i, held) in force.iter().enumerate() {
        let row = i * n;
        rows.extend((0..s).map(|k| mass[row + k] * accel[k]));
        rows.extend((0..s).map(|k| damping[row + k] * rate[k]));
        for j in 0..s {
            let h = |j: usize, k: usize| gyroscopic[(row + j) * n + k] * rate[j] * rate[k];
            rows.push(h(j, j));
            rows.extend((j + 1..s).map(|k| h(j, k) + h(k, j)));
        }
        rows.push(-held);
    }
    rows
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motions(s: usize) -> Motions {
        Motions {
            n: s,
            limits: (0..2 * s).map(|i| 2.0 + i as f64).collect(),
            fixed: (0..FIXED).map(|i| parts(i * 4096, 2 * s)).collect(),
        }
    }

    /// τ = m a − g, off by a share of m: the error over max(|τ|, floor) is largest where the force just passes the floor.
    #[test]
    fn the_worst_motion_hardly_needs_a_force() {
        let all = motions(1);
        let (mass, gravity, share, floor) = (3.0, 1.5, 0.01, 0.5);
        let rows = |m: f64| rows(&all, [&[m], &[0.0], &[0.0], &[gravity]]);
        let exact = rows(mass);
        let apart: Vec<f64> = (rows(mass * (1.0 + share)).iter().zip(&exact))
            .map(|(a, b)| a - b)
            .collect();
        let mut forces = Forces {
            functions: vec![0.0; exact.len()],
            exact,
            apart,
        };
        let (error, motion) = all.worst(|parts| {
            let [error, size] = forces.norms(parts);
            error / size.max(floor)
        });
        // m a = g + floor.
        let expected = share * (gravity + floor) / floor;
        assert!((error - expected).abs() < 0.02 * expected, "{error}");
        let (a, step) = (motion.accel[0], LAST_STEP * all.limits[0]);
        assert!((a - (gravity + floor) / mass).abs() < step, "{a}");
    }

    /// Forces by rows are those of the equations.
    #[test]
    fn rows_are_the_equations() {
        let all = motions(2);
        let mass = [2.0, 0.3, 0.3, 1.0];
        let (damping, force) = ([0.5, 0.1, 0.1, 0.2], [0.7, -0.4]);
        let h: Vec<f64> = (0..8).map(|i| f64::from(i) - 2.5).collect();
        let mut forces = Forces {
            exact: vec![0.0; 2 * 8],
            apart: rows(&all, [&mass, &damping, &h, &force]),
            functions: vec![0.0; 8],
        };
        let parts = [0.3, -0.8, 0.6, 0.9];
        let Motion { rate, accel } = all.motion(&parts);
        for i in 0..2 {
            let mut expected = -force[i];
            for j in 0..2 {
                expected += mass[2 * i + j] * accel[j] + damping[2 * i + j] * rate[j];
                for k in 0..2 {
                    expected += h[(2 * i + j) * 2 + k] * rate[j] * rate[k];
                }
            }
            assert!((forces.on(i, &parts) - expected.abs()).abs() < 1e-12);
        }
    }
}
