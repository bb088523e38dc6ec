//! Deterministic local search for the largest errors of a model.
//!
//! Errors of polynomials peak at corners and on faces of boxes, and have many lobes in between. So the
//! search looks at corners first, then climbs from the worst points known: along every coordinate, then
//! along the sum of what helped, with smaller steps where nothing does. All quantities are climbed
//! together, because one sample serves them all.

use super::points::{grid, uniform};
use super::region::Region;
use super::store::key;
use crate::reduced_model::ReducedModel;
use std::collections::BTreeMap;

/// Climbs from so many places per quantity.
const STARTS: usize = 4;
/// First step, of half the width of a box.
const FIRST_STEP: f64 = 0.5;
/// Smallest step: an error near its peak then is right to about its square.
const LAST_STEP: f64 = 1.0 / 64.0;
/// Starts in one box are at least so far apart, in half widths.
const APART: f64 = 0.4;
/// Part of the samples that go to corners of boxes.
const CORNER_SHARE: usize = 3;
/// Corners of one box that are looked at.
const CORNERS: usize = 64;

/// A place with the errors of all quantities there.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub theta: Vec<f64>,
    pub errors: Vec<f64>,
}

/// Samples that a search may take for `s` coordinates: about as many as the check before it.
pub(super) fn budget(s: usize, n_fresh: usize) -> usize {
    (100 + 200 * s).max(n_fresh / 4)
}

/// Climbs from the worst of the known places and returns all new ones, in the order in which they were
/// looked at; `measure` gives the errors at places, none where they cannot be had.
pub(super) fn climb<E>(
    model: &ReducedModel,
    known: &[Place],
    budget: usize,
    mut measure: impl FnMut(&[Vec<f64>]) -> Result<Vec<Option<Vec<f64>>>, E>,
) -> Result<Vec<Place>, E> {
    let mut search = Search::new(model, known, budget);
    let corners = search.corners();
    search.look(corners, &mut measure)?;
    for _ in 0..STARTS {
        let mut climbs = search.starts();
        while climbs.iter().any(Climb::goes_on) && search.left() > 0 {
            let wanted: Vec<(Vec<f64>, usize)> = climbs.iter().flat_map(Climb::proposals).collect();
            search.look(wanted, &mut measure)?;
            climbs.iter_mut().for_each(|c| c.step_on(&search));
        }
    }
    Ok(search.places.split_off(known.len()))
}

struct Search<'m> {
    model: &'m ReducedModel,
    boxes: Vec<Region>,
    places: Vec<Place>,
    /// Index of a place by the bits of θ; none where errors cannot be had.
    index: BTreeMap<Vec<u64>, Option<usize>>,
    limit: usize,
    /// Where climbs began and ended: quantity, box, ξ.
    climbed: Vec<(usize, usize, Vec<f64>)>,
}

impl<'m> Search<'m> {
    fn new(model: &'m ReducedModel, known: &[Place], budget: usize) -> Self {
        let index = |(i, p): (usize, &Place)| (key(&p.theta), Some(i));
        Self {
            model,
            boxes: model.boxes.iter().map(Region::of_box).collect(),
            index: known.iter().enumerate().map(index).collect(),
            places: known.to_vec(),
            limit: known.len() + budget,
            climbed: Vec::new(),
        }
    }

    fn left(&self) -> usize {
        self.limit.saturating_sub(self.places.len())
    }

    /// θ at ξ of a box, moved off faces that belong to a neighbour and into the domain.
    fn theta(&self, xi: &[f64], inside: usize) -> Option<Vec<f64>> {
        let (region, domain) = (&self.boxes[inside], &self.model.layout.domain);
        let mut theta = region.point(xi);
        domain.approach(&mut theta, &region.lower, &region.upper);
        for (k, t) in theta.iter_mut().enumerate() {
            if *t >= region.upper[k] && region.upper[k] < domain.upper[k] {
                *t = region.upper[k].next_down();
            }
        }
        (domain.admits(&theta) && self.model.box_at(&theta) == Some(inside)).then_some(theta)
    }

    /// Measures what was not measured before, as long as there are samples left.
    fn look<E>(
        &mut self,
        wanted: Vec<(Vec<f64>, usize)>,
        measure: &mut impl FnMut(&[Vec<f64>]) -> Result<Vec<Option<Vec<f64>>>, E>,
    ) -> Result<(), E> {
        let mut fresh: Vec<Vec<f64>> = Vec::new();
        for (xi, inside) in wanted {
            let Some(theta) = self.theta(&xi, inside) else {
                continue;
            };
            if fresh.len() < self.left() && !self.index.contains_key(&key(&theta)) {
                self.index.insert(key(&theta), None);
                fresh.push(theta);
            }
        }
        for (theta, errors) in fresh.iter().zip(measure(&fresh)?) {
            // A place that failed is paid for as well: searches end.
            match errors {
                Some(errors) => {
                    self.index.insert(key(theta), Some(self.places.len()));
                    let theta = theta.clone();
                    self.places.push(Place { theta, errors });
                }
                None => self.limit -= 1,
            }
        }
        Ok(())
    }

    fn error(&self, quantity: usize, xi: &[f64], inside: usize) -> Option<f64> {
        let theta = self.theta(xi, inside)?;
        let place = self.index.get(&key(&theta)).copied().flatten()?;
        Some(self.places[place].errors[quantity])
    }

    fn n_quantities(&self) -> usize {
        self.places.first().map_or(0, |p| p.errors.len())
    }

    /// Places of one quantity, the worst first.
    fn ranked(&self, quantity: usize) -> Vec<usize> {
        let of = |i: usize| self.places[i].errors[quantity];
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_by(|a, b| of(*b).total_cmp(&of(*a)));
        order
    }

    /// Corners of the boxes that hold the worst places, then of the others.
    fn corners(&self) -> Vec<(Vec<f64>, usize)> {
        let Some(s) = self.boxes.first().map(Region::dimension) else {
            return Vec::new();
        };
        let ranked: Vec<Vec<usize>> = (0..self.n_quantities()).map(|q| self.ranked(q)).collect();
        let worst = (0..8).flat_map(|rank| ranked.iter().filter_map(move |r| r.get(rank)));
        let holders = worst.filter_map(|&i| self.model.box_at(&self.places[i].theta));
        let mut order: Vec<usize> = Vec::new();
        let mut is_listed = vec![false; self.boxes.len()];
        for inside in holders.chain(0..self.boxes.len()) {
            if !std::mem::replace(&mut is_listed[inside], true) {
                order.push(inside);
            }
        }
        let of_box = signs(s);
        let affordable = (self.left() / CORNER_SHARE / of_box.len()).max(1);
        let corner = |inside: usize| of_box.iter().map(move |xi| (xi.clone(), inside));
        order
            .into_iter()
            .take(affordable)
            .flat_map(corner)
            .collect()
    }

    /// For each quantity a climb from its worst place that is not near an earlier climb.
    fn starts(&mut self) -> Vec<Climb> {
        let mut climbs = Vec::new();
        for quantity in 0..self.n_quantities() {
            let start = self.ranked(quantity).into_iter().find_map(|i| {
                let place = &self.places[i];
                let error = place.errors[quantity];
                let inside = self.model.box_at(&place.theta).filter(|_| error > 0.0)?;
                let xi = self.boxes[inside].coordinates(&place.theta);
                let near = |(q, b, at): &(usize, usize, Vec<f64>)| {
                    let far = at.iter().zip(&xi).any(|(a, b)| (a - b).abs() > APART);
                    *q == quantity && *b == inside && !far
                };
                let free = !self.climbed.iter().any(near);
                free.then_some(Climb {
                    quantity,
                    inside,
                    xi,
                    error,
                    step: FIRST_STEP,
                    leap: None,
                })
            });
            climbs.extend(start);
        }
        let begun = climbs.iter().map(|c| (c.quantity, c.inside, c.xi.clone()));
        self.climbed.extend(begun);
        climbs
    }
}

/// Corners in ξ; where there are too many, some of them.
fn signs(s: usize) -> Vec<Vec<f64>> {
    if 1 << s.min(20) <= CORNERS {
        return grid(&[-1.0, 1.0], s);
    }
    let sign = |i: usize, k: usize| match uniform((i * s + k) as u64) < 0.5 {
        true => -1.0,
        false => 1.0,
    };
    (0..CORNERS)
        .map(|i| (0..s).map(|k| sign(i, k)).collect())
        .collect()
}

/// One climb.
struct Climb {
    quantity: usize,
    inside: usize,
    xi: Vec<f64>,
    error: f64,
    step: f64,
    /// A place that is promising for what the last step showed.
    leap: Option<Vec<f64>>,
}

impl Climb {
    fn goes_on(&self) -> bool {
        self.step >= LAST_STEP
    }

    fn moved(&self, axis: usize, by: f64) -> Vec<f64> {
        let mut xi = self.xi.clone();
        xi[axis] = (xi[axis] + by).clamp(-1.0, 1.0);
        xi
    }

    fn proposals(&self) -> Vec<(Vec<f64>, usize)> {
        if !self.goes_on() {
            return Vec::new();
        }
        let sides =
            (0..self.xi.len()).flat_map(|k| [self.moved(k, -self.step), self.moved(k, self.step)]);
        let all = self.leap.iter().cloned().chain(sides);
        all.map(|xi| (xi, self.inside)).collect()
    }

    /// Moves to the best place that was proposed, or makes the step smaller.
    fn step_on(&mut self, search: &Search) {
        if !self.goes_on() {
            return;
        }
        let at = |xi: &[f64]| search.error(self.quantity, xi, self.inside);
        let (mut best, mut best_error) = (None, self.error);
        for (xi, _) in self.proposals() {
            if let Some(error) = at(&xi).filter(|e| *e > best_error) {
                (best, best_error) = (Some(xi), error);
            }
        }
        let mut leap = self.xi.clone();
        for (k, coordinate) in leap.iter_mut().enumerate() {
            let ends = [self.moved(k, -self.step), self.moved(k, self.step)];
            *coordinate += match [at(&ends[0]), at(&ends[1])] {
                [Some(low), Some(high)] => parabola(low, self.error, high) * self.step,
                [Some(low), None] if low > self.error => -self.step,
                [None, Some(high)] if high > self.error => self.step,
                _ => 0.0,
            };
            *coordinate = coordinate.clamp(-1.0, 1.0);
        }
        self.leap = Some(leap);
        match best {
            Some(xi) => (self.xi, self.error) = (xi, best_error),
            None => self.step *= 0.4,
        }
    }
}

/// Where the parabola through values at −1, 0, 1 is largest, at most 2 away.
fn parabola(low: f64, middle: f64, high: f64) -> f64 {
    let (slope, bend) = (0.5 * (high - low), 2.0 * middle - low - high);
    if bend > 0.0 {
        (slope / bend).clamp(-2.0, 2.0)
    } else {
        2.0 * slope.signum() * f64::from(u8::from(slope != 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parabolas_peak_where_they_should() {
        let f = |x: f64| 3.0 - (x - 0.4).powi(2);
        assert!((parabola(f(-1.0), f(0.0), f(1.0)) - 0.4).abs() < 1e-14);
        assert_eq!(parabola(0.0, 1.0, 4.0), 2.0);
        assert_eq!(parabola(1.0, 1.0, 1.0), 0.0);
    }

    #[test]
    fn corners_are_all_or_some() {
        assert_eq!(signs(3).len(), 8);
        assert_eq!(signs(9).len(), CORNERS);
    }
}
