//! Internal modes for a mechanism whose file asks for none in particular.
//!
//! A cut between nearly equal frequencies keeps one of two modes that belong together: it is not the
//! same one everywhere, and what is kept changes its nature over the domain. So the cut is made where
//! the frequencies leave a gap at every configuration that is tried, as low as possible, because the
//! size of a model grows with the cube of the number of modes.

use super::ReductionError;
use super::local::LocalReducer;
use crate::description::mechanism::{InternalModes, Mechanism, Plane};
use crate::kinematics::Configuration;
use crate::lie::{angular, linear};
use crate::model::plane_normal;
use crate::modes::{Linearised, in_plane_energy, internal_modes, separated};
use nalgebra::Vector3;
use std::fmt;

/// Modes that are kept at least, where there are so many.
const LEAST: usize = 3;
/// Modes beyond the least among which a gap is looked for.
const MORE: usize = 5;
/// The next frequency over the last kept one that makes a gap.
const GAP: f64 = 1.25;
/// Part of a mode's kinetic energy that may lie outside of its class.
const IMPURE: f64 = 1e-3;
/// Size, relative to the whole, of what counts as none.
const NONE: f64 = 1e-9;

/// What was chosen where the file leaves it open, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeChoice {
    /// Number of internal modes.
    pub count: usize,
    /// Only modes in this plane are kept: all motions, gravity and loads stay in it.
    pub plane: Option<Plane>,
    /// The next frequency over the last kept one, smallest over the configurations that were tried;
    /// none where all modes are kept.
    pub gap: Option<f64>,
}

impl ModeChoice {
    pub(super) fn selection(&self) -> InternalModes {
        match self.plane {
            Some(plane) => InternalModes::InPlane(plane, self.count),
            None => InternalModes::Lowest(self.count),
        }
    }
}

impl fmt::Display for ModeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.plane {
            Some(plane) => write!(
                f,
                "{} by default, in the plane {} that motions and loads stay in",
                self.count,
                plane.name()
            )?,
            None => write!(f, "{} by default", self.count)?,
        }
        match self.gap {
            None => write!(f, "; there are no more"),
            Some(gap) if gap >= GAP => {
                write!(f, "; the next frequency is at least {gap:.2} times as high")
            }
            Some(gap) => write!(
                f,
                "; the next frequency comes as close as {gap:.2} times the last, the widest gap among the lowest"
            ),
        }
    }
}

impl LocalReducer {
    /// Modes for a mechanism that does not say which; `at` is the reference configuration.
    pub(super) fn default_modes(
        &self,
        mechanism: &Mechanism,
        at: &Configuration,
    ) -> Result<ModeChoice, ReductionError> {
        let compliant = mechanism
            .coordinates
            .iter()
            .filter(|c| c.stiffness.is_some());
        let least = compliant.count().max(LEAST);
        let elsewhere = self.kinematics().probes();
        // What cannot be reached or linearised is for the samples to report.
        let elsewhere = elsewhere
            .iter()
            .filter_map(|theta| self.kinematics().solve(theta).ok());
        let mut places = vec![self.linearise(at)?];
        let elsewhere: Vec<Configuration> = elsewhere.collect();
        places.extend(elsewhere.iter().filter_map(|at| self.linearise(at).ok()));
        let plane = self.plane_of_motion(mechanism, &places)?;
        let mut lists = Vec::with_capacity(places.len());
        for place in &places {
            lists.push(self.frequencies(place, plane, least + MORE + 1)?);
        }
        let (count, gap) = cut(&lists, least);
        Ok(ModeChoice { count, plane, gap })
    }

    /// The only plane in which everything moves and pulls, where some modes leave it.
    fn plane_of_motion(
        &self,
        mechanism: &Mechanism,
        places: &[Linearised<'_>],
    ) -> Result<Option<Plane>, ReductionError> {
        if mechanism.plane.is_some() || mechanism.gravity_at_runtime {
            return Ok(None);
        }
        for plane in [Plane::Xy, Plane::Xz, Plane::Yz] {
            let normal = plane_normal(plane);
            if !self.pulls_in(&normal) || !places.iter().all(|at| moves_in(at, &normal)) {
                continue;
            }
            let mut leaves = false;
            let mut pure = true;
            for at in places {
                let modes = internal_modes(at, LEAST + MORE)
                    .and_then(|modes| separated(at, modes, plane))
                    .map_err(|e| self.fault(&at.theta, e))?;
                // The last may be one of two of equal frequency, which the other would be told apart from.
                let whole = match modes.complete {
                    true => modes.omega.len(),
                    false => modes.omega.len().saturating_sub(1),
                };
                for mode in 0..whole {
                    let part = in_plane_energy(at, &modes.shapes, mode, plane);
                    leaves |= part < IMPURE;
                    pure &= !(IMPURE..1.0 - IMPURE).contains(&part);
                }
            }
            return Ok((pure && leaves).then_some(plane));
        }
        Ok(None)
    }

    /// Gravity, constant loads and loaded directions lie in the plane with this normal.
    fn pulls_in(&self, normal: &Vector3<f64>) -> bool {
        let model = self.model();
        let within = |v: &Vector3<f64>| v.dot(normal).abs() <= NONE * v.norm();
        let about = |v: &Vector3<f64>| v.cross(normal).norm() <= NONE * v.norm();
        within(&model.gravity)
            && model
                .loads
                .iter()
                .all(|l| within(&l.force) && about(&l.moment))
            && model.loaded.iter().all(|l| within(&l.direction))
    }

    /// The lowest frequencies of a class, `count` of them or all.
    fn frequencies(
        &self,
        at: &Linearised<'_>,
        plane: Option<Plane>,
        count: usize,
    ) -> Result<Vec<f64>, ReductionError> {
        let mut total = count;
        loop {
            let found = internal_modes(at, total);
            let found = match plane {
                Some(plane) => found.and_then(|modes| separated(at, modes, plane)),
                None => found,
            };
            let modes = found.map_err(|e| self.fault(&at.theta, e))?;
            let in_class = |mode: &usize| {
                plane.is_none_or(|plane| in_plane_energy(at, &modes.shapes, *mode, plane) > 0.5)
            };
            let found = (0..modes.omega.len()).filter(in_class);
            let found: Vec<f64> = found.map(|mode| modes.omega[mode]).take(count).collect();
            if found.len() == count || modes.omega.len() < total {
                return Ok(found);
            }
            total *= 2;
        }
    }
}

/// All nodes move in the plane with this normal, whichever actuator moves.
fn moves_in(at: &Linearised<'_>, normal: &Vector3<f64>) -> bool {
    at.velocities.iter().all(|nodes| {
        let fastest = nodes.iter().map(|v| linear(v).norm()).fold(0.0, f64::max);
        let turning = nodes.iter().map(|v| angular(v).norm()).fold(0.0, f64::max);
        nodes.iter().zip(&at.frames).all(|(v, frame)| {
            let n = frame.rotation.tr_mul(normal);
            linear(v).dot(&n).abs() <= NONE * fastest
                && angular(v).cross(&n).norm() <= NONE * turning
        })
    })
}

/// The first number of modes from `least` on behind which every list has a gap, or the one with the
/// widest, and the width. Lists are ascending.
fn cut(lists: &[Vec<f64>], least: usize) -> (usize, Option<f64>) {
    let available = lists.iter().map(Vec::len).min().unwrap_or(0);
    let shortest_gap = |count: usize| {
        let ratios = lists.iter().map(|list| list[count] / list[count - 1]);
        ratios.fold(f64::INFINITY, f64::min)
    };
    let mut best: Option<(usize, f64)> = None;
    for count in least..available {
        let gap = shortest_gap(count);
        if gap >= GAP {
            return (count, Some(gap));
        }
        if best.is_none_or(|(_, widest)| gap > widest) {
            best = Some((count, gap));
        }
    }
    // Lists shorter than asked for hold all modes of the model: behind the last there is nothing.
    let all = available < least + MORE + 1;
    match best {
        _ if all => (available, None),
        Some((count, gap)) => (count, Some(gap)),
        None => (available, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_is_the_first_gap_that_every_configuration_has() {
        let ten = |f: [f64; 6]| [f.as_slice(), &[100.0, 101.0, 102.0]].concat();
        let (a, b) = (
            ten([1.0, 1.1, 2.0, 9.0, 9.1, 20.0]),
            ten([1.0, 1.2, 8.5, 9.0, 12.0, 20.0]),
        );
        assert_eq!(cut(std::slice::from_ref(&a), 3), (3, Some(4.5)));
        let (count, gap) = cut(&[a, b], 3);
        assert_eq!(count, 5);
        assert!(gap.is_some_and(|gap| (gap - 20.0 / 12.0).abs() < 1e-12));
    }

    #[test]
    fn without_a_gap_the_widest_is_taken_and_few_modes_are_all_kept() {
        let even: Vec<f64> = (0..9)
            .map(|i| 1.1_f64.powi(i) + if i > 5 { 0.1 } else { 0.0 })
            .collect();
        let (count, gap) = cut(&[even], 3);
        assert!(count == 6 && gap.is_some_and(|gap| gap < GAP));
        assert_eq!(cut(&[vec![1.0, 1.1]], 3), (2, None));
        assert_eq!(cut(&[vec![1.0, 1.1, 1.2, 1.3]], 3), (4, None));
        assert_eq!(cut(&[], 3), (0, None));
    }
}
