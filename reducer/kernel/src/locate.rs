//! Where a configuration is.

use super::algebra::all_finite;
use super::model::{Finder, Source};
use super::number::{Load, Number};

/// How a call went; statuses combine by maximum.
#[must_use = "results are zero from `Undefined` on"]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// θ is in the domain.
    Ok = 0,
    /// θ is outside the domain: the nearest point of it was used.
    Clamped = 1,
    /// A region without a model, a singular mass matrix, or no quasi-static deflection.
    Undefined = 2,
    /// An argument or a result is not a finite number.
    NotFinite = 3,
    /// Deflections are beyond those for which second-order terms hold: a rate would be scaled by less than 0.1.
    Bent = 4,
}

/// Periods, at most, by which a periodic coordinate is wrapped: beyond, little is left of its digits.
const MOST_PERIODS: f64 = 1e9;

/// x plus whole periods, between lower and upper; x itself beyond a billion periods.
fn wrap<R: Number>(x: R, lower: R, upper: R) -> R {
    let periods = (x - lower) / (upper - lower);
    if !(periods > R::of(-MOST_PERIODS) && periods < R::of(MOST_PERIODS)) {
        return x;
    }
    let mut whole = periods.whole();
    if whole > periods {
        whole -= R::ONE;
    }
    clamp(x - whole * (upper - lower), lower, upper)
}

#[inline(always)]
fn clamp<R: Number>(x: R, lower: R, upper: R) -> R {
    if x < lower {
        lower
    } else if x > upper {
        upper
    } else {
        x
    }
}

/// Puts θ into the domain, `place`, and finds its box.
#[inline]
pub fn locate<R: Load<M::Stored>, M: Source>(
    source: &M,
    theta: &[R],
    place: &mut [R],
) -> (Status, usize) {
    let m = source.model();
    let (theta, place) = (&theta[..m.n_rigid], &mut place[..m.n_rigid]);
    place.copy_from_slice(theta);
    if !all_finite(theta) {
        return (Status::NotFinite, 0);
    }
    let mut status = Status::Ok;
    for k in 0..m.n_rigid {
        let (lower, upper) = (R::load(m.theta_min[k]), R::load(m.theta_max[k]));
        let outside = theta[k] < lower || theta[k] > upper;
        let x = if m.periodic[k] && outside {
            wrap(theta[k], lower, upper)
        } else {
            theta[k]
        };
        place[k] = clamp(x, lower, upper);
        if place[k] != x {
            status = Status::Clamped;
        }
    }
    if !within(source, place) {
        return (Status::Undefined, 0);
    }
    match find(source, place) {
        Some(index) => (status, index),
        None => (Status::Undefined, 0),
    }
}

/// All inequalities hold, within rounding.
#[inline(always)]
fn within<R: Load<M::Stored>, M: Source>(source: &M, theta: &[R]) -> bool {
    let m = source.model();
    m.inequalities.chunks_exact(m.n_rigid + 1).all(|row| {
        let mut excess = -R::load(row[m.n_rigid]);
        let mut size = excess.magnitude();
        for (c, t) in row.iter().zip(theta) {
            let part = R::load(*c) * *t;
            excess += part;
            size += part.magnitude();
        }
        excess <= R::of(8.0) * R::EPSILON * size
    })
}

/// The box of θ inside the domain; none in a region without a model.
#[inline(always)]
fn find<R: Load<M::Stored>, M: Source>(source: &M, theta: &[R]) -> Option<usize> {
    let m = source.model();
    match m.finder {
        Finder::Nowhere => None,
        Finder::Single => Some(0),
        Finder::Grid {
            per_unit,
            counts,
            ends,
            boxes,
        } => {
            let (mut index, mut first) = (0, 0);
            for (k, &count) in counts.iter().enumerate() {
                let above = theta[k] - R::load(m.theta_min[k]);
                let guess = (above * R::load(per_unit[k])).index();
                let cell = guess.min(count - 1);
                let next = usize::from(theta[k] >= R::load(ends[first + cell]));
                index = index * count + cell + next;
                first += count;
            }
            usize::try_from(boxes[index]).ok()
        }
        Finder::Tree(nodes) => {
            let mut node = &nodes[0];
            while node.axis >= 0 {
                let low = theta[node.axis as usize] < R::load(node.at);
                node = &nodes[if low { node.low } else { node.high } as usize];
            }
            usize::try_from(node.low).ok()
        }
    }
}
