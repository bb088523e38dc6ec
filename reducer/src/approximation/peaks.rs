//! Places of large errors: a mean over points says nothing of them, so they are searched for, and boxes that hold them
//! must keep a bound there.

use super::database::DatabaseError;
use super::errors::{Part, PointErrors};
use super::motions::{Forces, Motions};
use super::quantities::relative_of_worst;
use super::region::Region;
use super::sample::Sample;
use super::search::{Place, budget, climb};
use super::store::{SampleStore, key};
use super::trial::Context;
use crate::reduced_model::{
    Block, Evaluator, ModelCoefficients, ModelLayout, ReducedModel, Workspace,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Part of what is allowed beyond which a place is kept for the boxes to be judged at.
const NOTED: f64 = 0.7;
/// Places in one box are at least so far apart, in half widths.
const APART: f64 = 0.1;

/// Places that searches found.
pub(super) struct Peaks {
    points: Vec<Vec<f64>>,
    index: BTreeSet<Vec<u64>>,
    motions: Motions,
}

impl Peaks {
    pub fn new(layout: &ModelLayout) -> Self {
        Self {
            points: Vec::new(),
            index: BTreeSet::new(),
            motions: Motions::new(layout),
        }
    }

    pub fn inside<'a>(&'a self, region: &Region) -> impl Iterator<Item = &'a Vec<f64>> {
        self.points.iter().filter(|p| region.contains(p))
    }

    pub fn contains(&self, theta: &[f64]) -> bool {
        self.index.contains(&key(theta))
    }

    /// Whether any of these is new.
    pub fn include(&mut self, points: Vec<Vec<f64>>) -> bool {
        let known = self.points.len();
        for point in points {
            if self.index.insert(key(&point)) {
                self.points.push(point);
            }
        }
        self.points.len() > known
    }

    /// Errors of a place, of the motion whose forces are farthest off.
    pub fn of_worst_motion(
        &self,
        context: &Context,
        sample: &Sample,
        model: &ModelCoefficients,
        part: Part,
    ) -> PointErrors {
        let scales = context.scales;
        let mut errors = scales.point_errors(sample, model, context.rules.measure(), part);
        errors.is_peak = true;
        if part == Part::Outputs {
            return errors;
        }
        let mut forces = Forces::new(&self.motions, sample, model);
        let (error, _) = relative_of_worst(&self.motions, &mut forces, scales, sample.test.typical);
        let largest = &mut errors[Block::Force as usize];
        if error > *largest {
            *largest = error;
        }
        errors
    }
}

/// What a search found.
pub(super) struct Search {
    /// The largest error over what is allowed.
    pub excess: f64,
    /// Places that boxes must be judged at.
    pub points: Vec<Vec<f64>>,
    /// The worst place of every block whose error is too large.
    pub worst: Vec<LargePlace>,
}

/// A place where a block's error is too large.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LargePlace {
    /// The block.
    pub block: Block,
    /// Its error over the largest allowed.
    pub excess: f64,
    /// Configuration.
    pub theta: Vec<f64>,
}

/// Climbs from the worst of `known` points to the largest errors of a model. Takes samples, all of which stay in
/// the store.
pub(super) fn search(
    context: &Context,
    store: &mut SampleStore,
    model: &ReducedModel,
    known: &[Vec<f64>],
    factor: f64,
) -> Result<Search, DatabaseError> {
    let Ok(evaluator) = Evaluator::new(model) else {
        return Ok(Search {
            excess: f64::INFINITY,
            points: Vec::new(),
            worst: Vec::new(),
        });
    };
    let mut work = Workspace::default();
    let mut found = ModelCoefficients::default();
    let judged: Vec<Block> = (Block::ALL.into_iter())
        .filter(|b| context.scales.is_present(*b))
        .collect();
    let mut measure = |points: &[Vec<f64>]| -> Result<Vec<Option<Vec<f64>>>, DatabaseError> {
        store.require(points)?;
        let mut over_allowed = |theta: &Vec<f64>| {
            let sample = store.get(theta)?;
            let evaluated = evaluator.coefficients_into(theta, &mut work, &mut found);
            evaluated.ok()?;
            let errors = context
                .peaks
                .of_worst_motion(context, &sample, &found, Part::All);
            let tolerance = |b: Block| factor * context.rules.tolerances[b as usize];
            let ratio = |b: &Block| (errors[*b as usize] / tolerance(*b)).min(f64::MAX);
            Some(judged.iter().map(ratio).collect())
        };
        Ok(points.iter().map(&mut over_allowed).collect())
    };
    let errors = measure(known)?;
    let known: Vec<Place> = (known.iter().zip(errors))
        .filter_map(|(theta, errors)| {
            Some(Place {
                theta: theta.clone(),
                errors: errors?,
            })
        })
        .collect();
    let s = context.layout.n_rigid;
    let climbed = climb(model, &known, budget(s, known.len()), measure)?;
    let places: Vec<Place> = known.into_iter().chain(climbed).collect();
    let worst = (judged.iter().enumerate())
        .filter_map(|(j, &block)| {
            let of = |p: &&Place| p.errors[j];
            let place = places.iter().max_by(|a, b| of(a).total_cmp(&of(b)))?;
            (place.errors[j] > 1.0).then(|| LargePlace {
                block,
                excess: place.errors[j],
                theta: place.theta.clone(),
            })
        })
        .collect();
    let (excess, points) = noted(model, places);
    Ok(Search {
        excess,
        points,
        worst,
    })
}

/// The largest of all errors, and the worst places, not too close to one another.
fn noted(model: &ReducedModel, places: Vec<Place>) -> (f64, Vec<Vec<f64>>) {
    let worst = |p: &Place| p.errors.iter().copied().fold(0.0, f64::max);
    let mut ranked: Vec<(f64, Vec<f64>)> =
        places.into_iter().map(|p| (worst(&p), p.theta)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let excess = ranked.first().map_or(0.0, |p| p.0);
    let mut kept: Vec<(usize, Vec<f64>)> = Vec::new();
    let mut points = Vec::new();
    for (_, theta) in ranked.into_iter().take_while(|p| p.0 > NOTED) {
        let Some(inside) = model.box_at(&theta) else {
            continue;
        };
        let xi = Region::of_box(&model.boxes[inside]).coordinates(&theta);
        let near = |(other, at): &(usize, Vec<f64>)| {
            *other == inside && at.iter().zip(&xi).all(|(a, b)| (a - b).abs() < APART)
        };
        if !kept.iter().any(near) {
            kept.push((inside, xi));
            points.push(theta);
        }
    }
    (excess, points)
}
