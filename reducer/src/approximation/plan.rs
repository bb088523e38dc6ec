//! Points of one attempt at one box.

use super::pivoting::choose_points;
use super::points;
use super::region::Region;
use super::sample::Sample;
use super::store::{SampleStore, key};
use super::terms::{total_degree, total_degree_count};
use super::trial::{Context, TrialSamples};
use crate::description::mechanism::{Basis, Criterion};
use crate::reduced_model::PolynomialValues;
use faer::Mat;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Points of one attempt.
pub(super) struct Plan {
    pub fit: Vec<Vec<f64>>,
    pub validation: Vec<Vec<f64>>,
}

/// Points at which an attempt needs samples.
pub(super) fn plan(
    context: &Context,
    store: &SampleStore,
    region: &Region,
    degree: usize,
    round: u64,
) -> Plan {
    let s = context.layout.n_rigid;
    if region.is_outside(&context.layout.domain) {
        return Plan {
            fit: Vec::new(),
            validation: Vec::new(),
        };
    }
    if store.failure_inside(region).is_some() {
        return Plan {
            fit: Vec::new(),
            validation: look(context, store, region, round),
        };
    }
    let fit = match context.rules.basis {
        Basis::Quadratic => points::central_composite(region),
        Basis::Lagrange { order } => points::grid(&points::lobatto(order), s)
            .iter()
            .map(|xi| region.point(xi))
            .collect(),
        Basis::Chebyshev { .. } => adaptive_points(context, store, region, degree),
    };
    let count = match context.rules.criterion {
        _ if context.rules.thesis => 0,
        Criterion::Mean => 8 + 6 * s,
        Criterion::Max => 16 + 16 * s,
    };
    let mut taken: BTreeSet<Vec<u64>> = fit.iter().map(|p| key(p)).collect();
    let mut validation = points::validation(
        region,
        round,
        count,
        context.rules.criterion == Criterion::Max,
    );
    if context.rules.criterion == Criterion::Max && !context.rules.thesis {
        // Whatever was seen before must not be worse than the largest error allowed.
        let known = store.inside(region, usize::MAX);
        validation.extend(known.iter().map(|p| p.to_vec()));
    }
    validation = region.admitted(&context.layout.domain, validation);
    validation.retain(|p| taken.insert(key(p)));
    // Places of large errors come first, and count even where they are fitted: errors around them are not zero.
    let peaks: Vec<Vec<f64>> = context.peaks.inside(region).cloned().collect();
    validation.retain(|p| !context.peaks.contains(p));
    let validation = peaks.into_iter().chain(validation).collect();
    Plan { fit, validation }
}

/// Points of a box that holds a failure, which tell if anything of it can be reduced; none where that is known.
fn look(context: &Context, store: &SampleStore, region: &Region, round: u64) -> Vec<Vec<f64>> {
    if !store.inside(region, 1).is_empty() {
        return Vec::new();
    }
    let mut points = points::validation(region, round, 4 + 2 * region.dimension(), false);
    points.retain(|p| context.layout.domain.admits(p));
    points
}

/// Points for all terms, with some to spare: those that exist first, then candidates in their order.
fn adaptive_points(
    context: &Context,
    store: &SampleStore,
    region: &Region,
    degree: usize,
) -> Vec<Vec<f64>> {
    let s = region.dimension();
    let n_terms = total_degree_count(s, degree);
    let wanted = context.rules.fit_points(n_terms);
    let candidates = wanted.max(2 * n_terms);
    let existing: Vec<Vec<f64>> = store
        .inside(region, candidates)
        .iter()
        .map(|p| p.to_vec())
        .collect();
    let mut seen: BTreeSet<Vec<u64>> = existing.iter().map(|p| key(p)).collect();
    let fresh = points::candidates(region, degree, candidates);
    let mut fresh = region.admitted(&context.layout.domain, fresh);
    fresh.retain(|p| seen.insert(key(p)));
    let preferred = existing.len();
    let all: Vec<Vec<f64>> = existing.into_iter().chain(fresh).collect();
    let vectors = weighted_terms(&all, region, &total_degree(s, degree));
    let mut is_chosen = vec![false; all.len()];
    choose_points(vectors, preferred)
        .into_iter()
        .for_each(|i| is_chosen[i] = true);
    if s == 1 {
        // Box ends carry continuity.
        for (i, p) in all.iter().enumerate() {
            is_chosen[i] |= p[0] == region.lower[0] || p[0] == region.upper[0];
        }
    }
    let mut n_chosen = is_chosen.iter().filter(|c| **c).count();
    for chosen in &mut is_chosen {
        if !*chosen && n_chosen < wanted {
            *chosen = true;
            n_chosen += 1;
        }
    }
    all.into_iter()
        .zip(is_chosen)
        .filter(|(_, c)| *c)
        .map(|(p, _)| p)
        .collect()
}

/// Terms at each point, normalised in the Chebyshev weight; one column per point.
fn weighted_terms(all: &[Vec<f64>], region: &Region, terms: &[Vec<u8>]) -> Mat<f64> {
    let degrees: Vec<u8> = terms.iter().flatten().copied().collect();
    let weights: Vec<f64> = terms
        .iter()
        .map(|t| {
            2f64.powi(t.iter().filter(|d| **d > 0).count() as i32)
                .sqrt()
        })
        .collect();
    let mut at = PolynomialValues::default();
    let mut vectors = Mat::zeros(terms.len(), all.len());
    for (j, point) in all.iter().enumerate() {
        at.fill_values(&degrees, point, &region.lower, &region.upper);
        for (i, (value, weight)) in at.terms().iter().zip(&weights).enumerate() {
            vectors[(i, j)] = value * weight;
        }
    }
    vectors
}

/// The samples of a plan, once they are there: kept as long as they are used.
pub(super) struct Gathered {
    fit: Vec<Arc<Sample>>,
    validation: Vec<Arc<Sample>>,
}

impl Gathered {
    pub fn new(store: &SampleStore, plan: &Plan) -> Self {
        let all = |points: &[Vec<f64>]| points.iter().filter_map(|p| store.get(p)).collect();
        Self {
            fit: all(&plan.fit),
            validation: all(&plan.validation),
        }
    }

    pub fn samples(&self) -> TrialSamples<'_> {
        TrialSamples {
            fit: self.fit.iter().map(Arc::as_ref).collect(),
            validation: self.validation.iter().map(Arc::as_ref).collect(),
        }
    }
}
