//! Paths as written become what an inversion follows.

use super::driven::DrivenCoordinate;
use super::fault::ScenarioFaultKind;
use super::format::ScenarioFile;
use super::format_control::AxisName;
use super::format_track::{EndsOfMotion, InvertTable, TrackTable};
use super::resolve::Reader;
use crate::description::FaultKind;
use crate::description::format::Located;
use crate::description::mechanism::Mechanism;
use crate::description::quantity::Dimension;
use crate::dynamics::control::Expression;
use crate::dynamics::inversion::{Ends, InversionSettings, Tracked, TrackedPlace, Wanted};
use crate::dynamics::signal::Signal;

/// Name of the parameter in curves.
const PARAMETER: &str = "s";
/// Intervals unless the scenario says otherwise.
const INSTANTS: usize = 1000;

impl Reader<'_> {
    /// What is tracked, in the order of the file; empty where the scenario tracks nothing.
    pub(super) fn tracked(
        &mut self,
        file: &ScenarioFile,
        mechanism: &Mechanism,
        coordinates: &[DrivenCoordinate],
    ) -> Option<Vec<Tracked>> {
        let Some(first) = file.track.first() else {
            return Some(Vec::new());
        };
        if mechanism.approximation.trajectory.is_some() {
            self.own_fault(&first.span, ScenarioFaultKind::TrackOnPath);
            return None;
        }
        let driven = file.drive.first().map(|drive| &drive.span);
        let forced = file.point_force.first().map(|force| &force.span);
        if let Some(span) = driven.or(forced) {
            self.own_fault(&span.clone(), ScenarioFaultKind::TrackedAndDriven);
        }
        let parameter = match &file.invert.parameter {
            Some(written) => Some(self.signal(written, None)?),
            None => None,
        };
        let each: Vec<Option<Tracked>> = (file.track.iter())
            .map(|table| self.track(table, mechanism, coordinates, parameter.as_ref()))
            .collect();
        each.into_iter().collect()
    }

    fn track(
        &mut self,
        table: &Located<TrackTable>,
        mechanism: &Mechanism,
        coordinates: &[DrivenCoordinate],
        parameter: Option<&Signal>,
    ) -> Option<Tracked> {
        let (name, place, dimension) = match (&table.output, &table.coordinate) {
            (Some(output), None) => {
                let index = self.output(output, mechanism)?;
                let Some(axis) = table.axis else {
                    self.own_fault(&output.span, ScenarioFaultKind::TrackWithoutAxis);
                    return None;
                };
                let (axis, letter) = match axis {
                    AxisName::X => (0, 'x'),
                    AxisName::Y => (1, 'y'),
                    AxisName::Z => (2, 'z'),
                };
                let name = format!("{}.{letter}", output.value);
                let output = index;
                (
                    name,
                    TrackedPlace::Output { output, axis },
                    Dimension::LENGTH,
                )
            }
            (None, Some(written)) => {
                let names = coordinates.iter().map(|c| &c.name);
                let Some(k) = names.clone().position(|n| *n == written.value) else {
                    let known = names.cloned().collect();
                    self.unknown(written, "coordinate", known);
                    return None;
                };
                let (dimension, _) = coordinates[k].kind.dimensions();
                (
                    written.value.clone(),
                    TrackedPlace::Coordinate(k),
                    dimension,
                )
            }
            (output, coordinate) => {
                let found = [
                    output.as_ref().map(|_| "output"),
                    coordinate.as_ref().map(|_| "coordinate"),
                ];
                self.fault(
                    &table.span,
                    FaultKind::ExactlyOne {
                        what: "what is tracked".to_owned(),
                        options: "`output`, `coordinate`",
                        found: found.into_iter().flatten().collect(),
                    },
                );
                return None;
            }
        };
        let wanted = match (&table.position, &table.curve) {
            (Some(position), None) => Wanted::Signal(self.signal(position, Some(dimension))?),
            (None, Some(curve)) => self.curve(curve, parameter)?,
            (position, curve) => {
                let found = [
                    position.as_ref().map(|_| "position"),
                    curve.as_ref().map(|_| "curve"),
                ];
                self.fault(
                    &table.span,
                    FaultKind::ExactlyOne {
                        what: "a path".to_owned(),
                        options: "`position`, `curve`",
                        found: found.into_iter().flatten().collect(),
                    },
                );
                return None;
            }
        };
        Some(Tracked {
            name,
            place,
            wanted,
        })
    }

    fn curve(&mut self, text: &Located<String>, parameter: Option<&Signal>) -> Option<Wanted> {
        let Some(parameter) = parameter else {
            self.own_fault(&text.span, ScenarioFaultKind::CurveWithoutParameter);
            return None;
        };
        let input = |name: &str| (name == PARAMETER).then_some(0);
        match Expression::read(&text.value, 1, &input) {
            Ok(curve) => Some(Wanted::Curve {
                curve,
                parameter: parameter.clone(),
            }),
            Err(reason) => {
                let reason = reason.replace("an input of the block", "the parameter `s`");
                self.own_fault(&text.span, ScenarioFaultKind::BadExpression { reason });
                None
            }
        }
    }

    /// How the paths are inverted; coordinates and friction follow from the rest of the scenario.
    pub(super) fn inversion(
        &mut self,
        table: &InvertTable,
        duration: f64,
    ) -> Option<InversionSettings> {
        let instants = match &table.instants {
            Some(written) => match usize::try_from(written.value) {
                Ok(count) if count > 0 => Some(count),
                _ => {
                    let kind = FaultKind::OutOfRange {
                        what: "the number of instants".to_owned(),
                        value: written.value as f64,
                        allowed: "at least 1",
                    };
                    self.fault(&written.span, kind);
                    None
                }
            },
            None => Some(INSTANTS),
        };
        let mut time = |written: &Option<_>, what| match written {
            Some(written) => {
                let found = self.positive(written, Dimension::TIME, what);
                found.map(Some)
            }
            None => Some(None),
        };
        let before = time(&table.before, "`before`");
        let after = time(&table.after, "`after`");
        Some(InversionSettings {
            duration,
            instants: instants?,
            before: before?,
            after: after?,
            ends: match table.ends {
                EndsOfMotion::Zeros => Ends::Zeros,
                EndsOfMotion::LeastBending => Ends::LeastBending,
            },
            theta: Vec::new(),
            coulomb: Vec::new(),
            coulomb_rate: 1e-3,
        })
    }
}
