//! Everything whose largest error is searched for: blocks, and outputs and forces in their units.

use super::errors::{Measure, Part, Scales, difference, force, norm};
use super::points::uniform;
use super::sample::Sample;
use crate::reduced_model::{
    Block, LargestError, ModelCoefficients, ModelLayout, OutputMotion, Quantity, Validity,
};
use crate::reduction::OutputCoefficients;

/// Motions with which forces are compared at every point, besides the point's own.
const MOTIONS: u64 = 24;

/// Rates and accelerations of θ, zero for modes.
#[derive(Debug, Clone, Default)]
pub(super) struct Motion {
    pub rate: Vec<f64>,
    pub accel: Vec<f64>,
}

impl Motion {
    /// The motion that `seed` fixes: up to what was declared, or three ranges per second and thirty per second
    /// squared.
    pub fn new(layout: &ModelLayout, seed: u64) -> Self {
        let (n, domain) = (layout.n(), &layout.domain);
        let (mut rate, mut accel) = (vec![0.0; n], vec![0.0; n]);
        let declared = |of: fn(&Validity) -> &Vec<Option<f64>>, k: usize| {
            let values = layout.validity.as_ref().map(of)?;
            values.get(k).copied().flatten()
        };
        for (k, (lower, upper)) in domain.lower.iter().zip(&domain.upper).enumerate() {
            let part = |i: usize| 2.0 * uniform(seed.wrapping_add(i as u64)) - 1.0;
            let range = upper - lower;
            rate[k] = declared(|v| &v.rate, k).unwrap_or(3.0 * range) * part(2 * k);
            let push = declared(|v| &v.acceleration, k).unwrap_or(30.0 * range);
            accel[k] = push * part(2 * k + 1);
        }
        Self { rate, accel }
    }
}

/// The motions with which forces are compared at every point.
pub(super) fn motions(layout: &ModelLayout) -> Vec<Motion> {
    let seed = |i: u64| 0x5eed_0000_0000 + 4096 * i;
    (0..MOTIONS).map(|i| Motion::new(layout, seed(i))).collect()
}

/// Errors of all quantities at one point.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub theta: Vec<f64>,
    /// Of the point's own motion.
    pub own: Vec<f64>,
    /// Of the worst motion.
    pub worst: Vec<f64>,
    /// The worst motion of each quantity; beyond the last: the point's own.
    motions: Vec<usize>,
    own_motion: Motion,
}

/// Measures errors of all quantities at a point.
pub(super) struct Quantities<'a> {
    pub list: Vec<Quantity>,
    scales: &'a Scales,
    motions: Vec<Motion>,
    n_rigid: usize,
}

impl<'a> Quantities<'a> {
    pub fn new(layout: &ModelLayout, scales: &'a Scales) -> Self {
        let blocks = Block::ALL.into_iter().filter(|b| scales.is_present(*b));
        let list = blocks.map(|block| Quantity::Block { block });
        Self {
            list: list.chain(absolute(layout)).collect(),
            scales,
            motions: motions(layout),
            n_rigid: layout.n_rigid,
        }
    }

    /// Errors of a model at the place of a sample.
    pub fn at(&self, sample: &Sample, model: &ModelCoefficients) -> Found {
        let exact = &sample.exact;
        let blocks = self
            .scales
            .point_errors(sample, model, Measure::Frobenius, Part::All);
        let test = &sample.test;
        let own_motion = Motion {
            rate: test.rate.clone(),
            accel: test.accel.clone(),
        };
        let own_forces = force(model, &test.rate, &test.accel, self.n_rigid);
        let forces: Vec<(Vec<f64>, Vec<f64>)> = self
            .motions
            .iter()
            .map(|m| {
                let of = exact.inverse_dynamics_with(&sample.gyroscopic, &m.rate, &m.accel);
                (force(model, &m.rate, &m.accel, self.n_rigid), of)
            })
            .chain([(own_forces, test.force.clone())])
            .collect();
        let mut found = Found {
            theta: sample.theta().to_vec(),
            own: Vec::with_capacity(self.list.len()),
            worst: Vec::with_capacity(self.list.len()),
            motions: Vec::with_capacity(self.list.len()),
            own_motion,
        };
        for quantity in &self.list {
            let of_motion = |(i, (model, exact)): (usize, &(Vec<f64>, Vec<f64>))| match *quantity {
                Quantity::Force { coordinate } => (model[coordinate] - exact[coordinate]).abs(),
                // The point's own motion, and what holds at rest, are in the block's error.
                _ if i == self.motions.len() => blocks[Block::Force as usize],
                _ => self
                    .scales
                    .relative_force(difference(model, exact), norm(exact)),
            };
            let output = |o: usize| (&exact.outputs[o], &model.outputs[o]);
            let still = |error: f64| (error, error, self.motions.len());
            let (own, worst, motion) = match *quantity {
                _ if quantity.has_motion() => {
                    let errors: Vec<f64> = forces.iter().enumerate().map(of_motion).collect();
                    let largest =
                        (0..errors.len()).max_by(|a, b| errors[*a].total_cmp(&errors[*b]));
                    let motion = largest.unwrap_or(0);
                    (errors[errors.len() - 1], errors[motion], motion)
                }
                Quantity::Block { block } => still(blocks[block as usize]),
                Quantity::Position { output: o } => still(position_error(output(o))),
                Quantity::Orientation { output: o } => still(orientation_error(output(o))),
                Quantity::Force { .. } => unreachable!("forces depend on motions"),
            };
            found.own.push(own.min(f64::MAX));
            found.worst.push(worst.min(f64::MAX));
            found.motions.push(motion);
        }
        found
    }

    /// Absolute quantities of a difference between two models, in the order of `absolute`: errors of
    /// the worst motion, and which it is.
    pub fn between(&self, one: &ModelCoefficients, other: &ModelCoefficients) -> Vec<(f64, usize)> {
        let forces: Vec<[Vec<f64>; 2]> = self
            .motions
            .iter()
            .map(|m| [one, other].map(|c| force(c, &m.rate, &m.accel, self.n_rigid)))
            .collect();
        let apart = |quantity: &Quantity| match *quantity {
            Quantity::Block { .. } => None,
            Quantity::Position { output: o } => {
                let [a, b] = [one, other].map(|c| c.outputs[o].position);
                Some(((a - b).norm(), 0))
            }
            Quantity::Orientation { output: o } => {
                let [a, b] = [one, other].map(|c| c.outputs[o].rotation);
                Some((angle((a - b).norm()), 0))
            }
            Quantity::Force { coordinate: k } => {
                let sizes = forces.iter().map(|[a, b]| (a[k] - b[k]).abs());
                let pairs = sizes.enumerate().map(|(i, size)| (size, i));
                pairs.max_by(|a, b| a.0.total_cmp(&b.0))
            }
        };
        self.list.iter().filter_map(apart).collect()
    }

    /// The mean of the first points and the largest error of all, quantity by quantity.
    pub fn largest(&self, points: &[Found], n_fresh: usize) -> Vec<LargestError> {
        let fresh = &points[..n_fresh.min(points.len())];
        let of = |(j, quantity): (usize, &Quantity)| {
            let worst = points
                .iter()
                .rev()
                .max_by(|a, b| a.worst[j].total_cmp(&b.worst[j]))?;
            let mean = fresh.iter().map(|p| p.own[j]).sum::<f64>() / fresh.len().max(1) as f64;
            let motion = self
                .motions
                .get(worst.motions[j])
                .unwrap_or(&worst.own_motion);
            Some(self.entry(
                *quantity,
                mean.min(f64::MAX),
                worst.worst[j],
                &worst.theta,
                motion,
            ))
        };
        self.list.iter().enumerate().filter_map(of).collect()
    }

    /// One entry of a list of largest errors, with motion `index` where motions matter.
    pub fn with_motion(
        &self,
        quantity: Quantity,
        mean: f64,
        largest: f64,
        theta: &[f64],
        index: usize,
    ) -> LargestError {
        self.entry(quantity, mean, largest, theta, &self.motions[index])
    }

    fn entry(
        &self,
        quantity: Quantity,
        mean: f64,
        largest: f64,
        theta: &[f64],
        motion: &Motion,
    ) -> LargestError {
        let moving = |values: &[f64]| match quantity.has_motion() {
            true => values[..self.n_rigid].to_vec(),
            false => Vec::new(),
        };
        LargestError {
            quantity,
            mean,
            largest,
            theta: theta.to_vec(),
            rate: moving(&motion.rate),
            accel: moving(&motion.accel),
        }
    }
}

/// Outputs and forces of a model.
pub(super) fn absolute(layout: &ModelLayout) -> impl Iterator<Item = Quantity> {
    let outputs = (0..layout.outputs.len()).flat_map(|output| {
        [
            Quantity::Position { output },
            Quantity::Orientation { output },
        ]
    });
    outputs.chain((0..layout.n_rigid).map(|coordinate| Quantity::Force { coordinate }))
}

fn position_error((exact, model): (&OutputCoefficients, &OutputMotion)) -> f64 {
    difference(model.position.as_slice(), &exact.position)
}

fn orientation_error((exact, model): (&OutputCoefficients, &OutputMotion)) -> f64 {
    let squares = (0..9).map(|i| (model.rotation[(i / 3, i % 3)] - exact.rotation[i]).powi(2));
    angle(squares.sum::<f64>().sqrt())
}

/// Angle between two orientations whose matrices differ by this norm, ‖R̂ − R‖ = 2√2 sin(φ/2).
fn angle(norm: f64) -> f64 {
    2.0 * (norm / 8f64.sqrt()).min(1.0).asin()
}
