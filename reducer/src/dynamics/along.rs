//! The full model on a path: all its coordinates follow the place on the path, which a drive
//! prescribes.
//!
//! A model along a path knows one force, the power of all actuators over the rate of the place:
//! the actuators' forces projected on the path, Σ θ'ₖ fₖ [M 9.3].

use super::drives::Drives;
use super::excitation::{Drive, Excitation};
use super::full::{FullInstant, Initial};
use crate::approximation::Path;
use nalgebra::Vector3;

/// Drives of the place on a path as drives of the mechanism's own coordinates.
#[derive(Debug, Clone, Copy)]
pub struct AlongPath<'a> {
    path: &'a Path,
    drives: &'a Drives,
}

/// The full model as a model along its path sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnPath {
    /// Forces of the actuators projected on the path (J).
    pub force: f64,
    /// The place on the path.
    pub place: f64,
    /// Its rate (1/s).
    pub rate: f64,
}

impl<'a> AlongPath<'a> {
    /// `drives` has one actuator, that of the place on the path, with prescribed motion.
    pub fn new(path: &'a Path, drives: &'a Drives) -> Self {
        Self { path, drives }
    }

    /// The mechanism's state where the place on the path and its rate are `initial`.
    pub fn initial(&self, initial: &Initial) -> Initial {
        let first = |values: &[f64]| values.first().copied().unwrap_or(f64::NAN);
        let [theta, slope, _] = self.path.configuration(first(&initial.theta));
        let speed = first(&initial.rate);
        Initial {
            theta,
            rate: slope.iter().map(|t| t * speed).collect(),
            start: initial.start,
        }
    }

    /// What an instant of the full model is on the path.
    pub fn project(&self, instant: &FullInstant) -> OnPath {
        let [place, rate, _] = self.place(instant.time);
        let [_, slope, _] = self.path.configuration(place);
        let forces = slope.iter().zip(&instant.actuator_force);
        OnPath {
            force: forces.map(|(t, f)| t * f).sum(),
            place,
            rate,
        }
    }

    /// Place on the path, its rate and acceleration; not a number, which the integrator reports,
    /// where they are not prescribed.
    fn place(&self, time: f64) -> [f64; 3] {
        match self.drives.drive(0, time, 0.0, 0.0) {
            Drive::Motion {
                position,
                rate,
                acceleration,
            } => [position, rate, acceleration],
            Drive::Force { .. } => [f64::NAN; 3],
        }
    }
}

impl Excitation for AlongPath<'_> {
    fn is_prescribed(&self, _k: usize) -> bool {
        true
    }

    fn drive(&self, k: usize, time: f64, _position: f64, _rate: f64) -> Drive {
        let [place, rate, acceleration] = self.place(time);
        let [theta, slope, bend] = self.path.configuration(place);
        Drive::Motion {
            position: theta[k],
            rate: slope[k] * rate,
            acceleration: slope[k] * acceleration + bend[k] * rate * rate,
        }
    }

    fn point_force(&self, output: usize, time: f64) -> Option<Vector3<f64>> {
        self.drives.point_force(output, time)
    }

    fn breaks(&self) -> &[f64] {
        self.drives.breaks()
    }
}
