//! Everything whose largest error is searched for: blocks, and outputs and forces in their units.

use super::errors::{Measure, Part, Scales, difference, force};
use super::motions::{Forces, Motion, Motions};
use super::sample::Sample;
use crate::reduced_model::{
    Block, LargestError, ModelCoefficients, ModelLayout, OutputMotion, Quantity,
};
use crate::reduction::OutputCoefficients;

/// Errors of all quantities at one point.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub theta: Vec<f64>,
    /// Of the point's own motion.
    pub own: Vec<f64>,
    /// Of the worst motion.
    pub worst: Vec<f64>,
    /// The worst motion of each quantity; empty where motions do not matter.
    motions: Vec<Motion>,
}

/// Measures errors of all quantities at a point.
pub(super) struct Quantities<'a> {
    pub list: Vec<Quantity>,
    scales: &'a Scales,
    motions: Motions,
    n_rigid: usize,
}

impl<'a> Quantities<'a> {
    pub fn new(layout: &ModelLayout, scales: &'a Scales) -> Self {
        let blocks = Block::ALL.into_iter().filter(|b| scales.is_present(*b));
        let list = blocks.map(|block| Quantity::Block { block });
        Self {
            list: list.chain(absolute(layout)).collect(),
            scales,
            motions: Motions::new(layout),
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
        let own_forces = force(model, &test.rate, &test.accel, self.n_rigid);
        let mut forces = Forces::new(&self.motions, sample, model);
        let count = self.list.len();
        let mut found = Found {
            theta: sample.theta().to_vec(),
            own: Vec::with_capacity(count),
            worst: Vec::with_capacity(count),
            motions: Vec::with_capacity(count),
        };
        let output = |o: usize| (&exact.outputs[o], &model.outputs[o]);
        for quantity in &self.list {
            let own = match *quantity {
                Quantity::Block { block } => blocks[block as usize],
                Quantity::Position { output: o } => position_error(output(o)),
                Quantity::Orientation { output: o } => orientation_error(output(o)),
                Quantity::Force { coordinate: k } => (own_forces[k] - test.force[k]).abs(),
                Quantity::Derived { entry } => self.scales.derived_error(entry, exact, model),
            };
            let (worst, motion) = match self.worst(*quantity, &mut forces, test.typical) {
                Some((error, motion)) if error > own => (error, motion),
                Some(_) => (
                    own,
                    Motion {
                        rate: test.rate.clone(),
                        accel: test.accel.clone(),
                    },
                ),
                None => (own, Motion::default()),
            };
            found.own.push(own.min(f64::MAX));
            found.worst.push(worst.min(f64::MAX));
            found.motions.push(motion);
        }
        found
    }

    /// Error of the worst motion, where motions matter.
    fn worst(
        &self,
        quantity: Quantity,
        forces: &mut Forces,
        typical: f64,
    ) -> Option<(f64, Motion)> {
        match quantity {
            Quantity::Block {
                block: Block::Force,
            } => Some(relative_of_worst(
                &self.motions,
                forces,
                self.scales,
                typical,
            )),
            Quantity::Force { coordinate } => {
                Some(self.motions.worst(|parts| forces.on(coordinate, parts)))
            }
            _ => None,
        }
    }

    /// Absolute quantities of a difference between two models, in the order of `absolute`: errors of
    /// the worst motion, and which it is.
    pub fn between(
        &self,
        one: &ModelCoefficients,
        other: &ModelCoefficients,
    ) -> Vec<(f64, Motion)> {
        let mut forces = Forces::between(&self.motions, one, other);
        let apart = |quantity: &Quantity| match *quantity {
            Quantity::Block { .. } => None,
            Quantity::Position { output: o } => {
                let [a, b] = [one, other].map(|c| c.outputs[o].position);
                Some(((a - b).norm(), Motion::default()))
            }
            Quantity::Orientation { output: o } => {
                let [a, b] = [one, other].map(|c| c.outputs[o].rotation);
                Some((angle((a - b).norm()), Motion::default()))
            }
            Quantity::Force { .. } => self.worst(*quantity, &mut forces, 0.0),
            Quantity::Derived { entry } => {
                let apart = self.scales.derived_difference(entry, [one, other]);
                Some((apart, Motion::default()))
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
            let motion = &worst.motions[j];
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

    /// One entry of a list of largest errors, with its motion where motions matter.
    pub fn entry(
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

/// Relative error of forces, of the worst motion, and which it is.
pub(super) fn relative_of_worst(
    motions: &Motions,
    forces: &mut Forces,
    scales: &Scales,
    typical: f64,
) -> (f64, Motion) {
    motions.worst(|parts| {
        let [error, size] = forces.norms(parts);
        scales.relative_force(error, size, typical)
    })
}

/// Outputs, forces and derived quantities of a model.
pub(super) fn absolute(layout: &ModelLayout) -> impl Iterator<Item = Quantity> {
    let outputs = (0..layout.outputs.len()).flat_map(|output| {
        [
            Quantity::Position { output },
            Quantity::Orientation { output },
        ]
    });
    let forces = (0..layout.n_rigid).map(|coordinate| Quantity::Force { coordinate });
    let derived = (0..layout.derived.len()).map(|entry| Quantity::Derived { entry });
    outputs.chain(forces).chain(derived)
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
