//! Observers as written become settings.

use super::fault::ScenarioFaultKind;
use super::format::ScenarioFile;
use super::format_observer::{DisturbanceTable, ObserverTable};
use super::resolve::Reader;
use crate::description::FaultKind;
use crate::description::format::{Located, Scalar};
use crate::description::mechanism::Mechanism;
use crate::description::quantity::Dimension;
use crate::dynamics::control::{
    Block, Diagram, Feedback, Law, ObserverLaw, Place, Sampling, Sensed, Term,
};
use crate::dynamics::drives::Actuator;
use crate::dynamics::observer::{DisturbanceSettings, ObserverSettings};
use std::ops::Range;

/// Name of the block unless the scenario says otherwise.
const NAME: &str = "observer";
/// Most steps in a period.
const MOST_SUBSTEPS: i64 = 64;
/// Most coordinates of a model.
const MOST_COORDINATES: usize = 200;
/// Smallest pivot of a covariance, in parts of its diagonal.
const DEFINITE: f64 = 1e-12;

/// What is known of a sensor: name, what it measures, deviation of its noise.
pub(super) type Known = (String, Sensed, Option<f64>);

impl Reader<'_> {
    /// An observer; its forces are connected when drives are known.
    pub(super) fn observer(
        &mut self,
        table: &Located<ObserverTable>,
        known: &[Known],
        mechanism: &Mechanism,
    ) -> Option<ObserverSettings> {
        if let Some(name) = &table.name {
            self.name(name);
        }
        let name = table.name.as_ref();
        let name = name.map_or(NAME.to_owned(), |name| name.value.clone());
        let period = self.positive(&table.period, Dimension::TIME, "the period");
        let substeps = match &table.substeps {
            None => Some(None),
            Some(count) if (1..=MOST_SUBSTEPS).contains(&count.value) => {
                Some(usize::try_from(count.value).ok())
            }
            Some(count) => {
                let kind = FaultKind::OutOfRange {
                    what: "the number of steps in a period".to_owned(),
                    value: count.value as f64,
                    allowed: "between 1 and 64",
                };
                self.fault(&count.span, kind);
                None
            }
        };
        let sensors: Vec<Option<Known>> = table
            .sensors
            .value
            .iter()
            .map(|written| self.known_sensor(written, known))
            .collect();
        if sensors.is_empty() {
            self.own_fault(
                &table.sensors.span,
                ScenarioFaultKind::ObserverWithoutSensor,
            );
        }
        let initial = self.deviations(&table.initial, "initial", false);
        let estimate = match &table.estimate {
            None => Some(None),
            Some(list) => {
                let values: Vec<_> = list.value.iter().map(|v| self.value(v, None)).collect();
                values.into_iter().collect::<Option<Vec<f64>>>().map(Some)
            }
        };
        let process = self.process(table);
        let disturbances: Vec<_> = table
            .disturbance
            .iter()
            .map(|d| self.disturbance(d, mechanism))
            .collect();
        let sensors: Vec<Known> = sensors.into_iter().collect::<Option<_>>()?;
        let measurement = self.measurement(table, &sensors);
        let initial = initial?;
        let pairs = initial.len() / 2;
        if initial.len() % 2 == 1 || pairs < mechanism.coordinates.len() || pairs > MOST_COORDINATES
        {
            let kind = ScenarioFaultKind::ObserverStates {
                found: initial.len(),
                coordinates: mechanism.coordinates.len(),
            };
            self.own_fault(&table.initial.span, kind);
            return None;
        }
        Some(ObserverSettings {
            name,
            origin: self.origin(&table.span),
            period: period?,
            substeps: substeps?,
            sensors: sensors
                .into_iter()
                .map(|(name, what, _)| (name, what))
                .collect(),
            measurement: measurement?,
            process: process?,
            initial,
            estimate: estimate?,
            disturbances: disturbances.into_iter().collect::<Option<_>>()?,
            viscous: vec![0.0; mechanism.coordinates.len()],
            coulomb: (
                mechanism.coordinates.iter().map(|c| c.coulomb).collect(),
                0.0,
            ),
            gravity: mechanism.gravity.into(),
            theta: Vec::new(),
        })
    }

    fn known_sensor(&mut self, written: &Located<String>, known: &[Known]) -> Option<Known> {
        let found = known.iter().find(|k| k.0 == written.value).cloned();
        if found.is_none() {
            let names = known.iter().map(|k| k.0.clone()).collect();
            self.unknown(written, "sensor", names);
        }
        found
    }

    /// Standard deviations, none of them negative.
    fn deviations(
        &mut self,
        list: &Located<Vec<Scalar>>,
        what: &'static str,
        definite: bool,
    ) -> Option<Vec<f64>> {
        let values: Vec<_> = list.value.iter().map(|v| self.value(v, None)).collect();
        let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
        let bad = |v: f64| !(v > 0.0 || (v == 0.0 && !definite)) || !v.is_finite();
        if let Some(place) = values.iter().position(|v| bad(*v)) {
            let kind = ScenarioFaultKind::NotDefinite {
                what,
                fact: format!("number {} is {}", place + 1, values[place]),
                zero: !definite,
            };
            self.own_fault(&list.span, kind);
            return None;
        }
        Some(values)
    }

    fn process(&mut self, table: &Located<ObserverTable>) -> Option<Vec<f64>> {
        match (&table.process, &table.process_covariance) {
            (Some(list), None) => self
                .deviations(list, "process", false)
                .map(|d| diagonal(&d)),
            (None, Some(rows)) => self.factor(rows, "process_covariance", false),
            (given, _) => {
                let kind = FaultKind::ExactlyOne {
                    what: "an observer".to_owned(),
                    options: "`process`, `process_covariance`",
                    found: given.iter().map(|_| "process").collect(),
                };
                self.fault(&table.span, kind);
                None
            }
        }
    }

    fn measurement(
        &mut self,
        table: &Located<ObserverTable>,
        sensors: &[Known],
    ) -> Option<Vec<f64>> {
        let (factor, span) = match (&table.measurement, &table.measurement_covariance) {
            (Some(list), None) => {
                let found = self.deviations(list, "measurement", true)?;
                (diagonal(&found), &list.span)
            }
            (None, Some(rows)) => (
                self.factor(rows, "measurement_covariance", true)?,
                &rows.span,
            ),
            (None, None) => {
                let unsaid = sensors.iter().find(|s| !s.2.is_some_and(|d| d > 0.0));
                if let Some((name, _, _)) = unsaid {
                    let sensor = name.clone();
                    self.own_fault(
                        &table.sensors.span,
                        ScenarioFaultKind::SensorWithoutNoise { sensor },
                    );
                    return None;
                }
                let own: Vec<f64> = sensors.iter().filter_map(|s| s.2).collect();
                (diagonal(&own), &table.sensors.span)
            }
            (Some(list), Some(_)) => {
                let kind = FaultKind::ExactlyOne {
                    what: "an observer".to_owned(),
                    options: "`measurement`, `measurement_covariance`",
                    found: vec!["measurement", "measurement_covariance"],
                };
                self.fault(&list.span, kind);
                return None;
            }
        };
        if factor.len() != sensors.len() * sensors.len() {
            let kind = FaultKind::WrongCount {
                what: "the readings with declared noise",
                expected: sensors.len(),
                found: factor.len().isqrt(),
            };
            self.fault(span, kind);
            return None;
        }
        Some(factor)
    }

    /// Lower factor of a covariance; a row that vanishes is allowed unless it must be definite.
    fn factor(
        &mut self,
        rows: &Located<Vec<Vec<Scalar>>>,
        what: &'static str,
        definite: bool,
    ) -> Option<Vec<f64>> {
        let n = rows.value.len();
        let values: Vec<Option<f64>> = rows
            .value
            .iter()
            .flatten()
            .map(|v| self.value(v, None))
            .collect();
        let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
        let whole = rows.value.iter().all(|row| row.len() == n);
        let fact = if whole {
            match lower_factor(&values, n, definite) {
                Ok(factor) => return Some(factor),
                Err(fact) => fact,
            }
        } else {
            format!("it has {n} rows that are not all of {n} numbers")
        };
        let kind = ScenarioFaultKind::NotDefinite {
            what,
            fact,
            zero: !definite,
        };
        self.own_fault(&rows.span, kind);
        None
    }

    fn disturbance(
        &mut self,
        table: &Located<DisturbanceTable>,
        mechanism: &Mechanism,
    ) -> Option<DisturbanceSettings> {
        let initial = match &table.initial {
            None => Some(0.0),
            Some(written) => self.value(written, None),
        };
        let drift = self.value(&table.drift, None);
        let (name, place) = match (&table.coordinate, &table.output, &table.direction) {
            (Some(written), None, None) => {
                let names = mechanism.coordinates.iter().map(|c| &c.name);
                let Some(k) = names.clone().position(|n| *n == written.value) else {
                    let known = names.cloned().collect();
                    self.unknown(written, "coordinate", known);
                    return None;
                };
                (written.value.clone(), Place::Coordinate(k))
            }
            (None, Some(written), Some(direction)) => {
                let output = self.output(written, mechanism);
                let along = self.direction(direction, "the direction of a disturbance");
                (written.value.clone(), Place::Output(output?, along?))
            }
            _ => {
                let kind = FaultKind::ExactlyOne {
                    what: "a disturbance".to_owned(),
                    options: "`coordinate`, `output` with `direction`",
                    found: Vec::new(),
                };
                self.fault(&table.span, kind);
                return None;
            }
        };
        let (initial, drift) = (initial?, drift?);
        for (what, value) in [("initial", initial), ("drift", drift)] {
            if !(value >= 0.0 && value.is_finite()) {
                let kind = ScenarioFaultKind::NotDefinite {
                    what,
                    fact: format!("it is {value}"),
                    zero: true,
                };
                self.own_fault(&table.span, kind);
                return None;
            }
        }
        Some(DisturbanceSettings {
            name,
            place,
            initial,
            drift,
        })
    }

    /// The block of an observer, with its sensors connected.
    pub(super) fn observer_block(
        &mut self,
        table: &Located<ObserverTable>,
        settings: ObserverSettings,
    ) -> Option<Block> {
        let written = table.inputs.as_ref().unwrap_or(&table.sensors);
        if written.value.len() != settings.sensors.len() {
            let kind = FaultKind::WrongCount {
                what: "the inputs of the observer",
                expected: settings.sensors.len(),
                found: written.value.len(),
            };
            self.fault(&written.span, kind);
            return None;
        }
        let terms: Vec<Option<Term>> = written
            .value
            .iter()
            .map(|name| {
                let found = self.term(&name.value);
                if found.is_none() {
                    let known = self.signals.clone();
                    self.unknown(name, "sensor or block", known);
                }
                found
            })
            .collect();
        let terms: Vec<Term> = terms.into_iter().collect::<Option<_>>()?;
        let mut inputs: Vec<Vec<Term>> = terms.into_iter().map(|t| vec![t]).collect();
        inputs.resize(inputs.len() + settings.viscous.len(), Vec::new());
        Some(Block {
            name: settings.name.clone(),
            sampled: Some(Sampling {
                period: settings.period,
                offset: 0.0,
            }),
            law: Law::Observer(Box::new(ObserverLaw::new(settings))),
            inputs,
        })
    }

    /// Connects an observer with what drives the mechanism.
    pub(super) fn connect_observer(
        &mut self,
        file: &ScenarioFile,
        diagram: &mut Diagram,
        actuators: &[Actuator],
        feedback: &[Feedback],
        names: &[String],
    ) {
        for block in &mut diagram.blocks {
            let Law::Observer(observer) = &mut block.law else {
                continue;
            };
            let first = observer.settings.sensors.len();
            for (k, actuator) in actuators.iter().enumerate() {
                let (factor, signal) = match actuator {
                    Actuator::Force(signal) => (1.0, signal),
                    Actuator::VelocityFeedback {
                        gain,
                        input_gain,
                        input,
                    } => {
                        observer.settings.viscous[k] = *gain;
                        (gain * input_gain, input)
                    }
                    Actuator::Motion(_) | Actuator::Velocity { .. } => {
                        let coordinate = names[k].clone();
                        let span = file.observer.as_ref().map_or(0..0, |o| o.span.clone());
                        self.own_fault(&span, ScenarioFaultKind::ObservedMotion { coordinate });
                        return;
                    }
                };
                observer.forces.push((factor, signal.clone()));
                let own = feedback.iter().filter(|f| f.place == Place::Coordinate(k));
                block.inputs[first + k] = own.map(|f| f.term).collect();
            }
        }
    }

    /// The place of an observer among the names of signals.
    pub(super) fn check_observer_name(&mut self, file: &ScenarioFile) {
        let Some(table) = &file.observer else { return };
        let (name, span): (&str, &Range<usize>) = match &table.name {
            Some(name) => (&name.value, &name.span),
            None => (NAME, &table.span),
        };
        let sensors = file.sensor.iter().map(|s| &s.name.value);
        let mut taken = sensors.chain(file.block.iter().map(|b| &b.name.value));
        if taken.any(|other| other == name) {
            let kind = FaultKind::DuplicateName {
                what: "sensor or block",
                name: name.to_owned(),
            };
            self.fault(span, kind);
        }
    }
}

/// A matrix with deviations on its diagonal.
fn diagonal(deviations: &[f64]) -> Vec<f64> {
    let n = deviations.len();
    let mut factor = vec![0.0; n * n];
    for (i, deviation) in deviations.iter().enumerate() {
        factor[i * n + i] = *deviation;
    }
    factor
}

/// Lower factor of a covariance, or why it is none.
fn lower_factor(a: &[f64], n: usize, definite: bool) -> Result<Vec<f64>, String> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let size = (a[i * n + i] * a[j * n + j]).abs().sqrt();
            let symmetric = (a[i * n + j] - a[j * n + i]).abs() <= DEFINITE * size;
            if !symmetric {
                let (row, column) = (i + 1, j + 1);
                return Err(format!(
                    "entries ({row}, {column}) and ({column}, {row}) differ"
                ));
            }
            let known: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let rest = a[i * n + j] - known;
            let small = DEFINITE * a[i * n + i].abs();
            if i == j {
                let positive = if definite {
                    rest > small
                } else {
                    rest >= -small
                };
                if !(rest.is_finite() && positive) {
                    return Err(format!("its minor of {} rows is not positive", i + 1));
                }
                l[i * n + i] = rest.max(0.0).sqrt();
            } else if l[j * n + j] > 0.0 {
                l[i * n + j] = rest / l[j * n + j];
            } else if rest.abs() > small.sqrt() * a[j * n + j].abs().sqrt() {
                return Err(format!("its minor of {} rows is not positive", i + 1));
            }
        }
    }
    Ok(l)
}
