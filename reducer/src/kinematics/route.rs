//! Ways around what blocks the straight line from home.
//!
//! The domain is cut into equal boxes, a level of its dyadic hierarchy. A roadmap holds the posture
//! at every box centre that can be reached without crossing a singularity: on the straight line
//! from home, or from centre to centre of boxes that share a face. It depends on the mechanism
//! alone, so a route depends on the mechanism and θ, never on which θ was asked for before or by
//! which thread.

use super::Kinematics;
use super::closure::Posture;
use super::path::Leg;
use crate::description::mechanism::Mechanism;
use std::f64::consts::PI;

/// Largest number of boxes.
const MOST_BOXES: usize = 1024;
/// Shortest step as a part of a leg between neighbouring centres, or from home to a centre. A way
/// that needs shorter ones is too close to a singularity to be worth taking.
const SHORTEST_STEP: f64 = 1.0 / 1024.0;

/// Postures at the centres of boxes.
#[derive(Debug, Clone)]
pub(super) struct Roadmap {
    grid: Grid,
    /// One per box; none where no way was found.
    stations: Vec<Option<Station>>,
}

/// A box centre that can be reached.
#[derive(Debug, Clone)]
struct Station {
    posture: Posture,
    /// Number of centres on the way there, with its own.
    waypoints: usize,
}

/// Equal boxes, `per_axis` along each coordinate; the last coordinate runs fastest.
#[derive(Debug, Clone)]
struct Grid {
    range: Vec<(f64, f64)>,
    per_axis: usize,
}

impl Grid {
    /// The finest level of the hierarchy with at most [`MOST_BOXES`] boxes.
    fn new(range: &[(f64, f64)]) -> Self {
        let boxes = |per_axis: usize| {
            let axes = u32::try_from(range.len()).unwrap_or(u32::MAX);
            per_axis.checked_pow(axes).unwrap_or(usize::MAX)
        };
        let mut per_axis = 1;
        while boxes(2 * per_axis) <= MOST_BOXES {
            per_axis *= 2;
        }
        Self {
            range: range.to_vec(),
            per_axis,
        }
    }

    fn len(&self) -> usize {
        self.range.iter().fold(1, |n, _| n * self.per_axis)
    }

    /// Distance in the numbering between neighbours along an axis.
    fn stride(&self, axis: usize) -> usize {
        self.range[axis + 1..]
            .iter()
            .fold(1, |n, _| n * self.per_axis)
    }

    fn place(&self, index: usize, axis: usize) -> usize {
        index / self.stride(axis) % self.per_axis
    }

    fn center(&self, index: usize) -> Vec<f64> {
        (0..self.range.len())
            .map(|axis| {
                let (lower, upper) = self.range[axis];
                let part = (self.place(index, axis) as f64 + 0.5) / self.per_axis as f64;
                lower + part * (upper - lower)
            })
            .collect()
    }

    /// The box that holds θ; the nearest one for θ outside.
    fn index(&self, theta: &[f64]) -> usize {
        let last = self.per_axis - 1;
        (0..self.range.len())
            .map(|axis| {
                let (lower, upper) = self.range[axis];
                let part = (theta[axis] - lower) / (upper - lower) * self.per_axis as f64;
                (part.max(0.0) as usize).min(last) * self.stride(axis)
            })
            .sum()
    }

    /// Boxes that share a face with a box: along the first axis below and above, then the next.
    fn neighbours(&self, index: usize) -> Vec<usize> {
        let mut out = Vec::with_capacity(2 * self.range.len());
        for axis in 0..self.range.len() {
            let (place, stride) = (self.place(index, axis), self.stride(axis));
            if place > 0 {
                out.push(index - stride);
            }
            if place + 1 < self.per_axis {
                out.push(index + stride);
            }
        }
        out
    }
}

impl Kinematics {
    /// The ranges of the coordinates; an open end lies half a turn, or as many characteristic
    /// lengths, from home.
    pub(super) fn find_search_range(&self, mechanism: &Mechanism) -> Vec<(f64, f64)> {
        let coordinates = mechanism.coordinates.iter().zip(&self.skeleton.gauges);
        coordinates
            .map(|(coordinate, gauge)| {
                let far = PI * self.skeleton.gauge_scale(gauge);
                let or = |end: f64, open: f64| if end.is_finite() { end } else { open };
                (
                    or(coordinate.lower, coordinate.home - far),
                    or(coordinate.upper, coordinate.home + far),
                )
            })
            .collect()
    }

    /// The posture at θ by way of box centres, and how many of them; none where no way was found.
    ///
    /// The last leg starts at the centre of the box that holds θ or, where that fails, of a
    /// neighbour. A single coordinate leaves only one way, the straight one.
    pub(super) fn route_to(&self, theta: &[f64]) -> Option<(Posture, usize)> {
        if theta.len() < 2 {
            return None;
        }
        let roadmap = self.roadmap.get_or_init(|| self.explore());
        let own = roadmap.grid.index(theta);
        let mut starts = vec![own];
        starts.extend(roadmap.grid.neighbours(own));
        starts.into_iter().find_map(|start| {
            let station = roadmap.stations[start].as_ref()?;
            let posture = self.walk_on(station, &roadmap.grid.center(start), theta)?;
            Some((posture, station.waypoints))
        })
    }

    fn walk_on(&self, station: &Station, center: &[f64], to: &[f64]) -> Option<Posture> {
        let leg = Leg {
            from: center,
            to,
            shortest_step: SHORTEST_STEP,
        };
        self.walk(&station.posture, &self.factor(&station.posture), &leg)
            .ok()
    }

    /// Centres in sight of home first, then outwards from these, the fewest centres on every way.
    fn explore(&self) -> Roadmap {
        let grid = Grid::new(&self.search_range);
        let mut stations: Vec<Option<Station>> = (0..grid.len())
            .map(|index| {
                let leg = Leg {
                    from: &self.home_theta,
                    to: &grid.center(index),
                    shortest_step: SHORTEST_STEP,
                };
                let posture = self.walk(&self.home, &self.home_factors, &leg).ok()?;
                Some(Station {
                    posture,
                    waypoints: 1,
                })
            })
            .collect();
        let mut front: Vec<usize> = (0..grid.len()).filter(|i| stations[*i].is_some()).collect();
        while !front.is_empty() {
            let mut next = Vec::new();
            for &index in &front {
                let center = grid.center(index);
                for neighbour in grid.neighbours(index) {
                    let (None, Some(station)) = (&stations[neighbour], &stations[index]) else {
                        continue;
                    };
                    let waypoints = station.waypoints + 1;
                    if let Some(posture) = self.walk_on(station, &center, &grid.center(neighbour)) {
                        stations[neighbour] = Some(Station { posture, waypoints });
                        next.push(neighbour);
                    }
                }
            }
            front = next;
        }
        Roadmap { grid, stations }
    }
}
