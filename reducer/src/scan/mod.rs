//! A coarse look at the domain before it is reduced: what cannot be assembled, how near singularities are, how low
//! frequencies fall, how well modes keep their meaning and how well the mass is conditioned; and what of the
//! mechanism file to change.

mod suggest;

use crate::approximation::LocalModel;
use crate::description::mechanism::Mechanism;
use crate::linalg::symmetric_eigen;
use crate::reduced_model::Domain;
use crate::reduction::LocalReducer;
use crate::sampling::MechanismModel;
use rayon::prelude::*;
use serde::Serialize;

/// Points per coordinate of the map, by their number; more coordinates have scattered points.
const GRID: [usize; 3] = [65, 13, 5];
/// Scattered points besides corners.
const SCATTERED: u32 = 96;
/// Corners that are tried among scattered points, at most.
const CORNERS: usize = 64;
/// Points at which the mechanism is reduced as well, at most.
const REDUCED: usize = 17;
/// Bisections between a configuration that can be reached and its neighbour that cannot.
const BISECTIONS: usize = 6;
/// Below this regularity a configuration is near a singularity: parts move ten times faster than at home.
pub const NEAR: f64 = 0.1;
/// Condition of the mass beyond which models lose their digits.
pub const ILL_CONDITIONED: f64 = 1e9;

/// One configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// The configuration.
    pub theta: Vec<f64>,
    /// 1 at home, 0 at a singularity; none where it cannot be reached.
    pub regularity: Option<f64>,
    /// Why it cannot be reached or reduced.
    pub failure: Option<String>,
    /// Lowest frequency with actuators locked (Hz), where it was looked for and something deforms.
    pub lowest_hz: Option<f64>,
    /// Overlap of the internal modes with the reference, where it was looked for.
    pub overlap: Option<f64>,
    /// Condition of the reduced mass in units of its diagonal, where it was looked for.
    pub mass_condition: Option<f64>,
}

/// A point between a configuration that can be reached and one that cannot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Edge {
    /// The last configuration that can be reached.
    pub inside: Vec<f64>,
    /// The first that cannot.
    pub outside: Vec<f64>,
    /// Why.
    pub reason: String,
}

/// The map of a domain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scan {
    /// Names of the coordinates.
    pub coordinates: Vec<String>,
    /// Points per coordinate; empty where they are scattered.
    pub grid: Vec<usize>,
    /// All configurations that were tried, the last coordinate fastest on a grid.
    pub places: Vec<Place>,
    /// Where the domain ends before its ranges do.
    pub edges: Vec<Edge>,
    /// What to change in the mechanism file.
    pub suggestions: Vec<Suggestion>,
}

/// What to change in the mechanism file, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// What is the matter.
    pub fact: String,
    /// Text for the file.
    pub paste: String,
}

impl Scan {
    /// Looks at the domain of a mechanism.
    pub fn new(mechanism: &Mechanism, model: &MechanismModel) -> Self {
        let layout = model.layout();
        let domain = &layout.domain;
        let (grid, points) = points(domain);
        let reducer = model.reducer();
        let mut places: Vec<Place> = points.par_iter().map(|p| reach(reducer, p)).collect();
        let reached: Vec<usize> = (0..places.len())
            .filter(|i| places[*i].failure.is_none())
            .collect();
        let step = reached.len().div_ceil(REDUCED).max(1);
        let chosen: Vec<usize> = reached.iter().copied().step_by(step).collect();
        let looked: Vec<Place> = chosen
            .par_iter()
            .map(|i| look(reducer, places[*i].clone()))
            .collect();
        for (i, place) in chosen.into_iter().zip(looked) {
            places[i] = place;
        }
        let edges = edges(reducer, domain, &grid, &places);
        let coordinates: Vec<String> = layout.coordinates[..layout.n_rigid]
            .iter()
            .map(|c| c.name.clone())
            .collect();
        let mut scan = Self {
            coordinates,
            grid,
            places,
            edges,
            suggestions: Vec::new(),
        };
        scan.suggestions = suggest::suggestions(&scan, mechanism, domain, reducer);
        scan
    }

    /// Configurations that cannot be reached or reduced.
    pub fn failures(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|p| p.failure.is_some())
    }

    /// The place with the smallest of a quantity.
    pub fn lowest(&self, of: impl Fn(&Place) -> Option<f64>) -> Option<(&Place, f64)> {
        let all = self.places.iter().filter_map(|p| Some((p, of(p)?)));
        all.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Points of the map: sizes of the grid, or none where they are scattered.
fn points(domain: &Domain) -> (Vec<usize>, Vec<Vec<f64>>) {
    let s = domain.lower.len();
    let at = |parts: &[f64]| -> Vec<f64> {
        let place = |k: usize| domain.lower[k] + parts[k] * (domain.upper[k] - domain.lower[k]);
        (0..s)
            .map(|k| place(k).clamp(domain.lower[k], domain.upper[k]))
            .collect()
    };
    let mut parts: Vec<Vec<f64>> = vec![Vec::new()];
    let mut grid = Vec::new();
    if s <= GRID.len() {
        let n = GRID[s - 1];
        grid = vec![n; s];
        for _ in 0..s {
            let longer = |p: &Vec<f64>, i: usize| [&p[..], &[i as f64 / (n - 1) as f64]].concat();
            parts = (parts.iter())
                .flat_map(|p| (0..n).map(move |i| longer(p, i)))
                .collect();
        }
    } else {
        let corners = CORNERS.min(1_usize.checked_shl(s as u32).unwrap_or(CORNERS));
        let corner = |i: usize| (0..s).map(|k| ((i >> k) & 1) as f64).collect();
        let spread = |i: u32| {
            let root = |k: usize| ROOTS[k % ROOTS.len()].sqrt();
            (0..s).map(|k| (f64::from(i) * root(k)).fract()).collect()
        };
        parts = (0..corners)
            .map(corner)
            .chain((1..=SCATTERED).map(spread))
            .collect();
    }
    let mut all: Vec<Vec<f64>> = parts.iter().map(|p| at(p)).collect();
    if grid.is_empty() {
        all.retain(|p| domain.admits(p));
    }
    (grid, all)
}

/// Their multiples fill an interval evenly, and independently of one another.
const ROOTS: [f64; 12] = [
    2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0, 29.0, 31.0, 37.0,
];

/// What kinematics alone tells of a configuration.
fn reach(reducer: &LocalReducer, theta: &[f64]) -> Place {
    let solved = reducer.kinematics().solve(theta);
    Place {
        theta: theta.to_vec(),
        regularity: solved.as_ref().ok().map(|c| c.regularity),
        failure: solved.err().map(|e| e.to_string()),
        lowest_hz: None,
        overlap: None,
        mass_condition: None,
    }
}

/// The same with what its reduction tells.
fn look(reducer: &LocalReducer, place: Place) -> Place {
    let lowest = reducer.locked_frequencies_hz(&place.theta, 1);
    match reducer.evaluate(&place.theta) {
        Ok(c) => Place {
            lowest_hz: lowest.ok().and_then(|list| list.first().copied()),
            overlap: Some(c.gauge_overlap),
            mass_condition: condition(&c.mass, c.n()),
            ..place
        },
        Err(error) => Place {
            failure: Some(error.to_string()),
            ..place
        },
    }
}

/// Condition of a symmetric matrix whose diagonal is scaled to one: units do not matter. Infinite where it is not definite.
fn condition(mass: &[f64], n: usize) -> Option<f64> {
    let scale: Vec<f64> = (0..n).map(|i| mass[i * n + i].sqrt()).collect();
    let scaled = faer::Mat::from_fn(n, n, |i, j| mass[i * n + j] / (scale[i] * scale[j]));
    let (values, _) = symmetric_eigen(&scaled)?;
    let (low, high) = (values.first()?, values.last()?);
    Some(if *low > 0.0 {
        high / low
    } else {
        f64::INFINITY
    })
}

/// Where neighbours on the grid differ in that one can be reached, the place between them.
fn edges(reducer: &LocalReducer, domain: &Domain, grid: &[usize], places: &[Place]) -> Vec<Edge> {
    let mut pairs = Vec::new();
    let mut stride = 1;
    for k in (0..grid.len()).rev() {
        for i in 0..places.len() {
            let j = i + stride;
            let is_last = (i / stride) % grid[k] + 1 == grid[k];
            let both =
                !is_last && domain.admits(&places[i].theta) && domain.admits(&places[j].theta);
            if both && places[i].failure.is_some() != places[j].failure.is_some() {
                pairs.push(if places[j].failure.is_some() {
                    (i, j)
                } else {
                    (j, i)
                });
            }
        }
        stride *= grid[k];
    }
    pairs
        .par_iter()
        .map(|&(good, bad)| {
            let (mut inside, mut outside) = (places[good].theta.clone(), places[bad].theta.clone());
            let mut reason = places[bad].failure.clone().unwrap_or_default();
            for _ in 0..BISECTIONS {
                let middle: Vec<f64> = inside
                    .iter()
                    .zip(&outside)
                    .map(|(a, b)| 0.5 * (a + b))
                    .collect();
                match reach(reducer, &middle).failure {
                    None => inside = middle,
                    Some(failure) => (outside, reason) = (middle, failure),
                }
            }
            Edge {
                inside,
                outside,
                reason,
            }
        })
        .collect()
}
