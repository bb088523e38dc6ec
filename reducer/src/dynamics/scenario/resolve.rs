//! A scenario as written and its mechanism become a validated scenario.

use super::fault::{ScenarioFault, ScenarioFaultKind, ScenarioFaults};
use super::format::{
    AxesName, DriveTable, FullTable, MethodName, OutputTable, QuantityName, ScenarioFile, StartName,
};
use super::{Axes, OutputRequest, Quantity, Scenario};
use crate::description::elaborate::context::{Context, Scope};
use crate::description::format::{Located, Scalar};
use crate::description::mechanism::{Coordinate, Drive, JointKind, Mechanism, Origin, Source};
use crate::description::parameters::Parameters;
use crate::description::quantity::Dimension;
use crate::description::{FaultKind, Resolver};
use crate::dynamics::drives::{Actuator, Drives, PointForce};
use crate::dynamics::excitation;
use crate::dynamics::full::{FullSettings, Initial, Start, StepControl};
use crate::dynamics::reduced::{Method, ReducedSettings};
use crate::dynamics::signal::Signal;
use crate::lie::Frame;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

/// Most rows of a table of results.
const MAX_SAMPLES: usize = 10_000_000;
/// Rows of the tables unless the scenario says otherwise.
const SAMPLES: f64 = 500.0;
/// Steps of the full model unless the scenario says otherwise.
const STEPS: f64 = 2000.0;
/// Tolerance of the reduced model unless the scenario says otherwise.
const TOLERANCE: f64 = 1e-6;
/// Force on a coordinate without a drive.
const FREE: Signal = Signal::Constant(0.0);

/// Reads values of a scenario and collects faults.
pub(super) struct Reader<'a> {
    context: Context,
    scope: Scope,
    pub(super) resolver: &'a Resolver<'a>,
    pub(super) sources: Vec<Source>,
    pub(super) own: Vec<ScenarioFault>,
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

    fn unknown(&mut self, written: &Located<String>, what: &'static str, known: Vec<String>) {
        let _: Option<()> =
            self.context
                .unknown(&self.scope, &written.span, what, &written.value, known);
    }
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
        sources: mechanism.sources.clone(),
        own: Vec::new(),
    };
    let duration = reader.positive(&file.duration, Dimension::TIME, "`duration`");
    // Faults of everything else do not depend on how long it lasts.
    let span = duration.unwrap_or(1.0);
    let actuators = reader.actuators(file, &mechanism, span);
    let forces = reader.point_forces(file, &mechanism);
    let outputs = reader.outputs(&file.output, &mechanism);
    let instants = reader.instants(file, span);
    let full = reader.full(&file.full, span);
    let tolerance = match &file.reduced.tolerance {
        Some(tolerance) => reader.positive(tolerance, Dimension::NONE, "the tolerance"),
        None => Some(TOLERANCE),
    };
    let initial = actuators
        .as_ref()
        .and_then(|actuators| reader.initial(file, &mechanism, actuators));
    let Reader {
        context,
        sources,
        own,
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
        let drives = Drives::new(actuators, forces?, duration).ok()?;
        let mut reduced = ReducedSettings::new(duration, tolerance?);
        reduced.method = match file.reduced.method {
            MethodName::Explicit => Method::Explicit,
            MethodName::Implicit => Method::Implicit,
        };
        reduced.instants.clone_from(&instants);
        reduced.coulomb = mechanism.coordinates.iter().map(|c| c.coulomb).collect();
        let mut full = full?;
        full.instants.clone_from(&instants);
        reduced.coulomb_rate = full.coulomb_rate;
        Some(Scenario {
            name,
            model: file.model.as_ref().map(|model| folder.join(&model.value)),
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

/// Dimension of a coordinate, and of a force along it.
fn dimensions(mechanism: &Mechanism, coordinate: &Coordinate) -> (Dimension, Dimension) {
    let is_angle = match coordinate.drive {
        Drive::Joint(joint) => mechanism.joints[joint.0].kind == JointKind::Hinge,
        Drive::Distance(..) => false,
    };
    if is_angle {
        (Dimension::ANGLE, Dimension::MOMENT)
    } else {
        (Dimension::LENGTH, Dimension::FORCE)
    }
}

impl Reader<'_> {
    /// One actuator per coordinate; none where one is at fault.
    fn actuators(
        &mut self,
        file: &ScenarioFile,
        mechanism: &Mechanism,
        duration: f64,
    ) -> Option<Vec<Actuator>> {
        let mut actuators: Vec<Option<Actuator>> = vec![None; mechanism.coordinates.len()];
        let mut complete = true;
        for drive in &file.drive {
            let names = mechanism.coordinates.iter().map(|c| &c.name);
            let found = names.clone().position(|n| *n == drive.coordinate.value);
            let Some(k) = found else {
                let known = names.cloned().collect();
                self.unknown(&drive.coordinate, "coordinate", known);
                complete = false;
                continue;
            };
            let coordinate = &mechanism.coordinates[k];
            if actuators[k].is_some() {
                let coordinate = coordinate.name.clone();
                let kind = ScenarioFaultKind::DrivenTwice { coordinate };
                self.own_fault(&drive.coordinate.span, kind);
                complete = false;
                continue;
            }
            let Some(actuator) = self.actuator(drive, mechanism, coordinate) else {
                complete = false;
                continue;
            };
            if let Err(fault) = actuator.check(duration) {
                let coordinate = coordinate.name.clone();
                let span = drive.motion.as_ref().or(drive.velocity.as_ref());
                let span = span.map_or(&drive.span, |written| &written.span);
                self.own_fault(span, ScenarioFaultKind::Motion { coordinate, fault });
                complete = false;
            }
            actuators[k] = Some(actuator);
        }
        let actuators = actuators
            .into_iter()
            .map(|actuator| actuator.unwrap_or(Actuator::Force(FREE)));
        complete.then(|| actuators.collect())
    }

    fn actuator(
        &mut self,
        drive: &Located<DriveTable>,
        mechanism: &Mechanism,
        coordinate: &Coordinate,
    ) -> Option<Actuator> {
        let (position, force) = dimensions(mechanism, coordinate);
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
            } => self.signal(signal, Some(force)).map(Actuator::Force),
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
                let input = self.signal(&table.input, None);
                Some(Actuator::VelocityFeedback {
                    gain: gain?,
                    input_gain: input_gain?,
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
            let force = self.signal(&written.force, Some(Dimension::FORCE));
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

    fn output(&mut self, written: &Located<String>, mechanism: &Mechanism) -> Option<usize> {
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

    /// Times of the rows: equal steps, and the end.
    fn instants(&mut self, file: &ScenarioFile, duration: f64) -> Option<Vec<f64>> {
        let (step, span) = match &file.sampling.step {
            Some(step) => (
                self.positive(step, Dimension::TIME, "the sampling step")?,
                step.span.clone(),
            ),
            None => (duration / SAMPLES, file.duration.span.clone()),
        };
        // A last step shorter than a billionth is rounding.
        let count = (duration / step - 1e-9).ceil().max(1.0);
        if count > MAX_SAMPLES as f64 {
            let limit = MAX_SAMPLES;
            self.own_fault(&span, ScenarioFaultKind::TooManySamples { count, limit });
            return None;
        }
        let inner = (0..count as usize).map(|i| i as f64 * step);
        Some(inner.chain([duration]).collect())
    }

    fn full(&mut self, table: &FullTable, duration: f64) -> Option<FullSettings> {
        let step = match &table.step {
            Some(step) => self.positive(step, Dimension::TIME, "the step"),
            None => Some(duration / STEPS),
        };
        let tolerance = match &table.tolerance {
            Some(scalar) => self
                .positive(scalar, Dimension::NONE, "the tolerance")
                .map(Some),
            None => Some(None),
        };
        let radius = match &table.spectral_radius {
            Some(scalar) => self.radius(scalar).map(Some),
            None => Some(None),
        };
        let mut settings = FullSettings::new(duration, step?);
        if let Some(tolerance) = tolerance? {
            settings.step = StepControl::Adaptive {
                first: step?,
                tolerance,
                largest: duration,
            };
        }
        if let Some(radius) = radius? {
            settings.spectral_radius = radius;
        }
        Some(settings)
    }

    fn radius(&mut self, scalar: &Scalar) -> Option<f64> {
        let value = self.number(scalar, Dimension::NONE)?;
        if (0.0..=1.0).contains(&value) {
            return Some(value);
        }
        let kind = FaultKind::OutOfRange {
            what: "the spectral radius".to_owned(),
            value,
            allowed: "between 0 and 1",
        };
        self.fault(&scalar.span, kind);
        None
    }

    /// The state at t = 0: what is written, and what follows from prescribed motions.
    fn initial(
        &mut self,
        file: &ScenarioFile,
        mechanism: &Mechanism,
        actuators: &[Actuator],
    ) -> Option<Initial> {
        let theta = self.list(&file.initial.theta, mechanism, "the initial coordinates");
        let rate = self.list(&file.initial.rate, mechanism, "the initial rates");
        let (theta, rate) = (theta?, rate?);
        let drives = Drives::new(actuators.to_vec(), Vec::new(), 1.0).ok();
        let mut initial = Initial {
            theta: Vec::new(),
            rate: Vec::new(),
            start: match file.initial.start {
                StartName::Undeformed => Start::Undeformed,
                StartName::Equilibrium => Start::Equilibrium,
            },
        };
        for (k, coordinate) in mechanism.coordinates.iter().enumerate() {
            let motion = drives.as_ref().and_then(|drives| {
                match excitation::Excitation::drive(drives, k, 0.0, 0.0, 0.0) {
                    excitation::Drive::Motion { position, rate, .. } => Some((position, rate)),
                    excitation::Drive::Force { .. } => None,
                }
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
        given: &(f64, Range<usize>),
        prescribed: f64,
        coordinate: &Coordinate,
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
    #[allow(clippy::type_complexity)]
    fn list(
        &mut self,
        written: &Option<Located<Vec<Scalar>>>,
        mechanism: &Mechanism,
        what: &'static str,
    ) -> Option<Option<Vec<(f64, Range<usize>)>>> {
        let Some(written) = written else {
            return Some(None);
        };
        let (expected, found) = (mechanism.coordinates.len(), written.value.len());
        if expected != found {
            let kind = FaultKind::WrongCount {
                what,
                expected,
                found,
            };
            self.fault(&written.span, kind);
            return None;
        }
        let values: Vec<Option<(f64, Range<usize>)>> = written
            .value
            .iter()
            .map(|scalar| Some((self.value(scalar, None)?, scalar.span.clone())))
            .collect();
        values.into_iter().collect::<Option<_>>().map(Some)
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
