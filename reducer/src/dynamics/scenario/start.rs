//! The state at t = 0.

use super::driven::DrivenCoordinate;
use super::fault::ScenarioFaultKind;
use super::format::{ScenarioFile, StartName};
use super::resolve::Reader;
use crate::description::FaultKind;
use crate::description::format::{Located, Scalar};
use crate::dynamics::drives::{Actuator, Drives};
use crate::dynamics::excitation::{Drive, Excitation};
use crate::dynamics::full::{Initial, Start};
use std::ops::Range;

/// A value and where it is written.
type Placed = (f64, Range<usize>);

impl Reader<'_> {
    /// The state at t = 0: what is written, and what follows from prescribed motions.
    pub(super) fn initial(
        &mut self,
        file: &ScenarioFile,
        coordinates: &[DrivenCoordinate],
        actuators: &[Actuator],
        duration: f64,
    ) -> Option<Initial> {
        let n = coordinates.len();
        let theta = self.list(&file.initial.theta, n, "the initial coordinates");
        let rate = self.list(&file.initial.rate, n, "the initial rates");
        let (theta, rate) = (theta?, rate?);
        let drives = Drives::new(actuators.to_vec(), Vec::new(), duration).ok();
        let mut initial = Initial {
            theta: Vec::new(),
            rate: Vec::new(),
            start: match file.initial.start {
                StartName::Undeformed => Start::Undeformed,
                StartName::Equilibrium => Start::Equilibrium,
            },
        };
        for (k, coordinate) in coordinates.iter().enumerate() {
            let motion = drives
                .as_ref()
                .and_then(|drives| match drives.drive(k, 0.0, 0.0, 0.0) {
                    Drive::Motion { position, rate, .. } => Some((position, rate)),
                    Drive::Force { .. } => None,
                });
            let free_start = matches!(actuators[k], Actuator::Velocity { .. });
            let place = match (motion, &theta) {
                (Some((position, _)), Some(given)) if !free_start => {
                    let written = &given[k];
                    self.agree(written, position, coordinate, "start at")
                }
                (Some((position, _)), None) => position,
                (_, Some(given)) => given[k].0,
                (None, None) => coordinate.home,
            };
            let speed = match (motion, &rate) {
                (Some((_, prescribed)), Some(given)) => {
                    self.agree(&given[k], prescribed, coordinate, "have the rate")
                }
                (Some((_, prescribed)), None) => prescribed,
                (None, Some(given)) => given[k].0,
                (None, None) => 0.0,
            };
            initial.theta.push(place);
            initial.rate.push(speed);
        }
        Some(initial)
    }

    /// The prescribed value, with a fault where another one is given.
    fn agree(
        &mut self,
        given: &Placed,
        prescribed: f64,
        coordinate: &DrivenCoordinate,
        what: &'static str,
    ) -> f64 {
        let scale = 1.0_f64.max(prescribed.abs());
        if (given.0 - prescribed).abs() > 1e-9 * scale {
            let kind = ScenarioFaultKind::StartsElsewhere {
                coordinate: coordinate.name.clone(),
                what,
                prescribed,
                given: given.0,
            };
            self.own_fault(&given.1, kind);
        }
        prescribed
    }

    /// One value per coordinate with its place; the inner option is none where nothing is written.
    fn list(
        &mut self,
        written: &Option<Located<Vec<Scalar>>>,
        expected: usize,
        what: &'static str,
    ) -> Option<Option<Vec<Placed>>> {
        let Some(written) = written else {
            return Some(None);
        };
        let found = written.value.len();
        if expected != found {
            let kind = FaultKind::WrongCount {
                what,
                expected,
                found,
            };
            self.fault(&written.span, kind);
            return None;
        }
        let values: Vec<Option<Placed>> = written
            .value
            .iter()
            .map(|scalar| Some((self.value(scalar, None)?, scalar.span.clone())))
            .collect();
        values.into_iter().collect::<Option<_>>().map(Some)
    }
}
