//! A scenario as written and its mechanism become a validated scenario.

use super::driven::{DrivenCoordinate, DrivenKind, driven};
use super::fault::{ScenarioFault, ScenarioFaultKind, ScenarioFaults};
use super::format::{
    AxesName, DriveTable, ImpulseTable, MethodName, OutputTable, QuantityName, ScenarioFile,
    SignalWritten,
};
use super::{Axes, OutputRequest, Quantity, Scenario};
use crate::description::elaborate::context::{Context, Scope};
use crate::description::format::{Located, OverrideTable, Scalar, Vector};
use crate::description::mechanism::{Coordinate, Mechanism, Origin, Source};
use crate::description::parameters::Parameters;
use crate::description::quantity::Dimension;
use crate::description::{FaultKind, Resolver};
use crate::dynamics::control::{Diagram, Feedback, Place, Term};
use crate::dynamics::drives::{Actuator, Drives, PointForce};
use crate::dynamics::excitation::Impulse;
use crate::dynamics::inversion::InversionSettings;
use crate::dynamics::reduced::{Method, ReducedSettings};
use crate::dynamics::signal::Signal;
use crate::lie::Frame;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

/// Tolerance of the reduced model unless the scenario says otherwise.
const TOLERANCE: f64 = 1e-6;
/// Force on a coordinate without a drive.
const FREE: Signal = Signal::Constant(0.0);

/// Reads values of a scenario and collects faults.
pub(super) struct Reader<'a> {
    context: Context,
    scope: Scope,
    pub(super) resolver: &'a Resolver<'a>,
    /// Where the scenario is.
    pub(super) folder: &'a Path,
    pub(super) sources: Vec<Source>,
    pub(super) own: Vec<ScenarioFault>,
    /// How long the scenario lasts (s).
    pub(super) duration: f64,
    /// Names of sensors and outputs of blocks.
    pub(super) signals: Vec<String>,
    /// Forces that blocks give.
    feedback: Vec<Feedback>,
}

impl Reader<'_> {
    pub(super) fn origin(&self, span: &Range<usize>) -> Origin {
        self.scope.origin(span)
    }

    pub(super) fn fault(&mut self, span: &Range<usize>, kind: FaultKind) {
        self.context.fault(&self.scope, span, kind);
    }

    pub(super) fn number(&mut self, scalar: &Scalar, dimension: Dimension) -> Option<f64> {
        self.context.number(&self.scope, scalar, dimension)
    }

    pub(super) fn positive(
        &mut self,
        scalar: &Scalar,
        dimension: Dimension,
        what: &str,
    ) -> Option<f64> {
        self.context.positive(&self.scope, scalar, dimension, what)
    }

    /// A value whose dimension is checked where it is known.
    pub(super) fn value(&mut self, scalar: &Scalar, dimension: Option<Dimension>) -> Option<f64> {
        match dimension {
            Some(dimension) => self.number(scalar, dimension),
            None => Some(self.context.quantity(&self.scope, scalar)?.value),
        }
    }

    pub(super) fn value_or(
        &mut self,
        scalar: &Option<Scalar>,
        dimension: Option<Dimension>,
        default: f64,
    ) -> Option<f64> {
        match scalar {
            Some(scalar) => self.value(scalar, dimension),
            None => Some(default),
        }
    }

    pub(super) fn direction(
        &mut self,
        written: &Vector,
        what: &'static str,
    ) -> Option<nalgebra::Vector3<f64>> {
        self.context.direction(&self.scope, written, what)
    }

    /// Checks the spelling of a name.
    pub(super) fn name(&mut self, name: &Located<String>) -> bool {
        self.context.name(&self.scope, name)
    }

    pub(super) fn unknown(
        &mut self,
        written: &Located<String>,
        what: &'static str,
        known: Vec<String>,
    ) {
        let _: Option<()> =
            self.context
                .unknown(&self.scope, &written.span, what, &written.value, known);
    }
}

/// Overridden keys on which the machine itself depends, unlike those on how it is reduced.
fn changes(overrides: &OverrideTable) -> Vec<&'static str> {
    let keys = [
        ("gravity", overrides.gravity.is_some()),
        ("elements", overrides.elements.is_some()),
        ("parameters", !overrides.parameters.0.is_empty()),
        ("damping", overrides.damping.is_some()),
    ];
    let written = keys.into_iter().filter(|(_, is_written)| *is_written);
    written.map(|(key, _)| key).collect()
}

/// Resolves names and values; `source` is the scenario's number among the mechanism's sources.
pub(super) fn resolve(
    file: &ScenarioFile,
    name: String,
    mechanism: Mechanism,
    source: usize,
    folder: &Path,
    resolver: &Resolver<'_>,
) -> Result<Scenario, ScenarioFaults> {
    let mut reader = Reader {
        context: Context::default(),
        scope: Scope {
            prefix: String::new(),
            frame: Frame::identity(),
            source,
            parameters: Rc::new(Parameters::default()),
        },
        resolver,
        folder,
        sources: mechanism.sources.clone(),
        own: Vec::new(),
        duration: 1.0,
        signals: Vec::new(),
        feedback: Vec::new(),
    };
    let duration = reader.positive(&file.duration, Dimension::TIME, "`duration`");
    // Faults of everything else do not depend on how long it lasts.
    let span = duration.unwrap_or(1.0);
    reader.duration = span;
    let coordinates = driven(&mechanism);
    let mut diagram = reader.diagram(file, &mechanism);
    let actuators = reader.actuators(file, &mechanism, &coordinates, span);
    let forces = reader.point_forces(file, &mechanism);
    let impulses = reader.impulses(file, &mechanism);
    let tracked = reader.tracked(file, &mechanism, &coordinates);
    let inversion = reader.inversion(&file.invert, span);
    let outputs = reader.outputs(&file.output, &mechanism);
    let instants = reader.instants(file, span);
    let full = reader.full(&file.full, span);
    let tolerance = match &file.reduced.tolerance {
        Some(tolerance) => reader.tolerance(tolerance),
        None => Some(TOLERANCE),
    };
    let initial = actuators
        .as_ref()
        .and_then(|actuators| reader.initial(file, &coordinates, actuators, span));
    reader.check_feedback(file, &diagram);
    if let (Some(Some(diagram)), Some(actuators)) = (&mut diagram, &actuators) {
        let names: Vec<String> = coordinates.iter().map(|c| c.name.clone()).collect();
        let feedback = reader.feedback.clone();
        reader.connect_observer(file, diagram, actuators, &feedback, &names);
    }
    let Reader {
        context,
        sources,
        own,
        feedback,
        ..
    } = reader;
    let mut faults: Vec<ScenarioFault> = context.faults.into_iter().map(Into::into).collect();
    faults.extend(own);
    let scenario = (|| {
        let (duration, instants) = (duration?, instants?);
        let initial = initial?;
        let mut actuators = actuators?;
        for (actuator, theta) in actuators.iter_mut().zip(&initial.theta) {
            if let Actuator::Velocity { start, .. } = actuator {
                *start = *theta;
            }
        }
        let coulomb_rate = full.as_ref()?.coulomb_rate;
        let mut drives = Drives::new(actuators, forces?, duration).ok()?;
        if let Some(diagram) = diagram? {
            drives = drives.with_control(diagram, feedback, duration);
        }
        for observer in drives.observers() {
            observer.settings.theta.clone_from(&initial.theta);
            observer.settings.coulomb.1 = coulomb_rate;
        }
        let impulses = impulses?;
        if !impulses.is_empty() {
            drives = drives.with_impulses(impulses, duration);
        }
        let mut reduced = ReducedSettings::new(duration, tolerance?);
        reduced.method = match file.reduced.method {
            MethodName::Explicit => Method::Explicit,
            MethodName::Implicit => Method::Implicit,
        };
        reduced.instants.clone_from(&instants);
        reduced.gravity = mechanism.gravity;
        reduced.coulomb = mechanism.coordinates.iter().map(|c| c.coulomb).collect();
        let mut full = full?;
        full.instants.clone_from(&instants);
        reduced.coulomb_rate = full.coulomb_rate;
        let inversion = InversionSettings {
            theta: initial.theta.clone(),
            coulomb: reduced.coulomb.clone(),
            coulomb_rate: full.coulomb_rate,
            ..inversion?
        };
        Some(Scenario {
            tracked: tracked?,
            inversion,
            name,
            model: file.model.as_ref().map(|model| folder.join(&model.value)),
            changes: changes(&file.overrides),
            coordinates,
            initial,
            outputs: outputs?,
            drives,
            duration,
            instants,
            full,
            reduced,
            sources: sources.clone(),
            mechanism,
        })
    })();
    match scenario {
        Some(scenario) if faults.is_empty() => Ok(scenario),
        _ => {
            faults.sort_by_key(|fault| {
                let origin = fault.origin.as_ref();
                origin.map(|origin| (origin.source, origin.span.start))
            });
            Err(ScenarioFaults { faults, sources })
        }
    }
}

impl Reader<'_> {
    /// One actuator per coordinate; none where one is at fault.
    fn actuators(
        &mut self,
        file: &ScenarioFile,
        mechanism: &Mechanism,
        coordinates: &[DrivenCoordinate],
        duration: f64,
    ) -> Option<Vec<Actuator>> {
        let mut actuators: Vec<Option<Actuator>> = vec![None; coordinates.len()];
        let mut complete = true;
        for drive in &file.drive {
            let Some(k) = self.driven(&drive.coordinate, mechanism, coordinates) else {
                complete = false;
                continue;
            };
            let coordinate = &coordinates[k];
            if actuators[k].is_some() {
                let coordinate = coordinate.name.clone();
                let kind = ScenarioFaultKind::DrivenTwice { coordinate };
                self.own_fault(&drive.coordinate.span, kind);
                complete = false;
                continue;
            }
            let Some(actuator) = self.actuator(drive, coordinate, k) else {
                complete = false;
                continue;
            };
            if coordinate.kind == DrivenKind::Path && !actuator.is_prescribed() {
                self.own_fault(&drive.span, ScenarioFaultKind::PathForced);
                complete = false;
            }
            if let Err(fault) = actuator.check(duration) {
                let coordinate = coordinate.name.clone();
                let span = drive.motion.as_ref().or(drive.velocity.as_ref());
                let span = span.map_or(&drive.span, |written| &written.span);
                self.own_fault(span, ScenarioFaultKind::Motion { coordinate, fault });
                complete = false;
            }
            actuators[k] = Some(actuator);
        }
        let on_path = coordinates.iter().any(|c| c.kind == DrivenKind::Path);
        if on_path && complete && actuators.contains(&None) {
            self.own_fault(&file.mechanism.span, ScenarioFaultKind::PathNotDriven);
            complete = false;
        }
        let actuators = actuators
            .into_iter()
            .map(|actuator| actuator.unwrap_or(Actuator::Force(FREE)));
        complete.then(|| actuators.collect())
    }

    /// Which coordinate a drive names; none where it is at fault.
    fn driven(
        &mut self,
        written: &Located<String>,
        mechanism: &Mechanism,
        coordinates: &[DrivenCoordinate],
    ) -> Option<usize> {
        let names = coordinates.iter().map(|c| &c.name);
        let found = names.clone().position(|n| *n == written.value);
        let own = |c: &Coordinate| c.name == written.value;
        if found.is_none() && mechanism.coordinates.iter().any(own) {
            let coordinate = written.value.clone();
            self.own_fault(&written.span, ScenarioFaultKind::OnPath { coordinate });
        } else if found.is_none() {
            let known = names.cloned().collect();
            self.unknown(written, "coordinate", known);
        }
        found
    }

    fn actuator(
        &mut self,
        drive: &Located<DriveTable>,
        coordinate: &DrivenCoordinate,
        place: usize,
    ) -> Option<Actuator> {
        let (position, force) = coordinate.kind.dimensions();
        let rate = position.over(Dimension::TIME);
        let given = [
            ("force", drive.force.is_some()),
            ("motion", drive.motion.is_some()),
            ("velocity", drive.velocity.is_some()),
            ("velocity_feedback", drive.velocity_feedback.is_some()),
        ];
        let found: Vec<&'static str> = given.iter().filter(|g| g.1).map(|g| g.0).collect();
        match drive.value {
            DriveTable {
                force: Some(ref signal),
                motion: None,
                velocity: None,
                velocity_feedback: None,
                ..
            } => self
                .fed_force(signal, Some(force), Place::Coordinate(place), 1.0)
                .map(Actuator::Force),
            DriveTable {
                motion: Some(ref signal),
                force: None,
                velocity: None,
                velocity_feedback: None,
                ..
            } => self.signal(signal, Some(position)).map(Actuator::Motion),
            DriveTable {
                velocity: Some(ref signal),
                force: None,
                motion: None,
                velocity_feedback: None,
                ..
            } => Some(Actuator::Velocity {
                // Where the coordinate starts is said by `[initial]`.
                start: coordinate.home,
                rate: self.signal(signal, rate)?,
            }),
            DriveTable {
                velocity_feedback: Some(ref table),
                force: None,
                motion: None,
                velocity: None,
                ..
            } => {
                let gain = self.value(&table.gain, None);
                let input_gain = self.value_or(&table.input_gain, None, 1.0);
                let (gain, input_gain) = (gain?, input_gain?);
                let factor = gain * input_gain;
                let at = Place::Coordinate(place);
                let input = self.fed_force(&table.input, None, at, factor);
                Some(Actuator::VelocityFeedback {
                    gain,
                    input_gain,
                    input: input?,
                })
            }
            _ => {
                let kind = FaultKind::ExactlyOne {
                    what: "a drive".to_owned(),
                    options: "`force`, `motion`, `velocity`, `velocity_feedback`",
                    found,
                };
                self.fault(&drive.span, kind);
                None
            }
        }
    }

    fn point_forces(
        &mut self,
        file: &ScenarioFile,
        mechanism: &Mechanism,
    ) -> Option<Vec<PointForce>> {
        let mut forces = Vec::new();
        for written in &file.point_force {
            let output = self.output(&written.output, mechanism);
            let direction =
                self.context
                    .direction(&self.scope, &written.direction, "the direction");
            let at = Place::Output(output.unwrap_or(0), direction.unwrap_or_default());
            let force = self.fed_force(&written.force, Some(Dimension::FORCE), at, 1.0);
            forces.push((|| {
                Some(PointForce {
                    output: output?,
                    direction: direction?,
                    force: force?,
                })
            })());
        }
        forces.into_iter().collect()
    }

    fn impulses(&mut self, file: &ScenarioFile, mechanism: &Mechanism) -> Option<Vec<Impulse>> {
        let all: Vec<Option<Impulse>> = file
            .impulse
            .iter()
            .map(|written| self.impulse(written, mechanism))
            .collect();
        all.into_iter().collect()
    }

    fn impulse(
        &mut self,
        written: &Located<ImpulseTable>,
        mechanism: &Mechanism,
    ) -> Option<Impulse> {
        let time = self.number(&written.at, Dimension::TIME);
        let size = self.value(&written.size, None);
        if mechanism.approximation.trajectory.is_some() {
            self.own_fault(&written.span, ScenarioFaultKind::PathForced);
            return None;
        }
        let place = match (&written.coordinate, &written.output, &written.direction) {
            (Some(name), None, None) => {
                let names = mechanism.coordinates.iter().map(|c| &c.name);
                let found = names.clone().position(|n| *n == name.value);
                if found.is_none() {
                    self.unknown(name, "coordinate", names.cloned().collect());
                }
                found.map(Place::Coordinate)
            }
            (None, Some(output), Some(direction)) => {
                let output = self.output(output, mechanism);
                let along = (self.context).direction(&self.scope, direction, "the direction");
                (|| Some(Place::Output(output?, along?)))()
            }
            _ => {
                let kind = FaultKind::ExactlyOne {
                    what: "an impulse".to_owned(),
                    options: "`coordinate`, `output` with `direction`",
                    found: Vec::new(),
                };
                self.fault(&written.span, kind);
                None
            }
        };
        let (time, size, place) = (time?, size?, place?);
        if !(0.0..self.duration).contains(&time) {
            let kind = FaultKind::OutOfRange {
                what: "the time of an impulse".to_owned(),
                value: time,
                allowed: "from 0 to before the end of the run",
            };
            self.fault(&written.span, kind);
            return None;
        }
        Some(Impulse { time, place, size })
    }

    /// A function of time; sensors and blocks that are added to it become forces at a place.
    fn fed_force(
        &mut self,
        written: &Located<SignalWritten>,
        dimension: Option<Dimension>,
        place: Place,
        factor: f64,
    ) -> Option<Signal> {
        let (signal, terms) = self.fed_signal(written, dimension)?;
        let feedback = terms.into_iter().map(|term| Feedback {
            place,
            term: Term {
                weight: factor * term.weight,
                ..term
            },
        });
        self.feedback.extend(feedback);
        Some(signal)
    }

    /// Forces must not depend on accelerations of the same instant.
    fn check_feedback(&mut self, file: &ScenarioFile, diagram: &Option<Option<Diagram>>) {
        if let Some(Some(diagram)) = diagram
            && let Err(fault) = diagram.check_feedback(&self.feedback)
        {
            let span = file.drive.first().map_or(0..0, |drive| drive.span.clone());
            self.own_fault(&span, ScenarioFaultKind::Blocks(fault));
        }
    }

    pub(super) fn output(
        &mut self,
        written: &Located<String>,
        mechanism: &Mechanism,
    ) -> Option<usize> {
        let names = mechanism.outputs.iter().map(|o| &o.name);
        let found = names.clone().position(|n| *n == written.value);
        if found.is_none() {
            let known = names.cloned().collect();
            self.unknown(written, "output", known);
        }
        found
    }

    fn outputs(
        &mut self,
        written: &[Located<OutputTable>],
        mechanism: &Mechanism,
    ) -> Option<Vec<OutputRequest>> {
        let usual = vec![Quantity::Position, Quantity::Deflection];
        if written.is_empty() {
            let request = |output| OutputRequest {
                output,
                quantities: usual.clone(),
                axes: Axes::Inertial,
            };
            return Some((0..mechanism.outputs.len()).map(request).collect());
        }
        for (i, table) in written.iter().enumerate() {
            let name = &table.point.value;
            if written[..i].iter().any(|other| other.point.value == *name) {
                let (what, name) = ("output of the scenario", name.clone());
                self.fault(&table.point.span, FaultKind::DuplicateName { what, name });
            }
        }
        let requests: Vec<Option<OutputRequest>> = written
            .iter()
            .map(|table| {
                let mut quantities: Vec<Quantity> = Vec::new();
                for quantity in table.quantities.iter().copied().map(Quantity::from) {
                    if !quantities.contains(&quantity) {
                        quantities.push(quantity);
                    }
                }
                Some(OutputRequest {
                    output: self.output(&table.point, mechanism)?,
                    quantities: if quantities.is_empty() {
                        usual.clone()
                    } else {
                        quantities
                    },
                    axes: match table.axes {
                        AxesName::Inertial => Axes::Inertial,
                        AxesName::Body => Axes::Body,
                    },
                })
            })
            .collect();
        requests.into_iter().collect()
    }
}

impl From<QuantityName> for Quantity {
    fn from(name: QuantityName) -> Self {
        match name {
            QuantityName::Position => Self::Position,
            QuantityName::Deflection => Self::Deflection,
            QuantityName::Velocity => Self::Velocity,
            QuantityName::Acceleration => Self::Acceleration,
            QuantityName::Rotation => Self::Rotation,
            QuantityName::AngularVelocity => Self::AngularVelocity,
        }
    }
}
