//! Sensors and blocks as written become a diagram.

use super::fault::ScenarioFaultKind;
use super::format::ScenarioFile;
use super::format_control::{AxisName, BlockTable, Names, SensedName, SensorTable};
use super::observer::Known;
use super::resolve::Reader;
use crate::description::FaultKind;
use crate::description::format::Located;
use crate::description::mechanism::Mechanism;
use crate::description::quantity::Dimension;
use crate::dynamics::control::{
    Block, Diagram, Law, ModelFunction, Sampling, Sensed, Sensor, Term,
};
use nalgebra::Vector3;
use std::ops::Range;

/// Most instants at which blocks act in a run.
const MAX_SAMPLES: f64 = 1e7;
/// Most sensors and blocks.
const MAX_BLOCKS: usize = 1000;

impl Reader<'_> {
    /// All sensors and blocks; the inner option is none where there are none.
    pub(super) fn diagram(
        &mut self,
        file: &ScenarioFile,
        mechanism: &Mechanism,
    ) -> Option<Option<Diagram>> {
        let (sensors, blocks) = (&file.sensor, &file.block);
        if sensors.is_empty() && blocks.is_empty() && file.observer.is_none() {
            return Some(None);
        }
        if mechanism.approximation.trajectory.is_some() {
            let span = sensors
                .first()
                .map(|s| &s.span)
                .or(blocks.first().map(|b| &b.span));
            self.own_fault(
                &span.cloned().unwrap_or_default(),
                ScenarioFaultKind::BlocksOnPath,
            );
            return None;
        }
        let count = sensors.len() + blocks.len();
        if count > MAX_BLOCKS {
            let kind = ScenarioFaultKind::TooManyBlocks {
                count,
                limit: MAX_BLOCKS,
            };
            self.own_fault(&file.duration.span, kind);
            return None;
        }
        self.check_names(file);
        self.check_observer_name(file);
        let read: Vec<_> = sensors.iter().map(|s| self.sensor(s, mechanism)).collect();
        let laws: Vec<_> = blocks.iter().map(|b| self.law(b, mechanism)).collect();
        let known = known(sensors, &read);
        let observer = match &file.observer {
            Some(table) => Some((table, self.observer(table, &known, mechanism)?)),
            None => None,
        };
        // A noisy sensor is three things: what is measured, the noise, and their sum.
        let mut own = Vec::new();
        let mut extra = Vec::new();
        for (table, sensed) in sensors.iter().zip(read) {
            let (sensed, noise) = sensed?;
            let name = table.name.value.clone();
            let clean = if noise.is_some() {
                format!("{name}.true")
            } else {
                name.clone()
            };
            if let Some((law, sampling)) = noise {
                extra.push((name, clean.clone(), law, sampling));
            }
            own.push(Sensor {
                name: clean,
                sensed,
            });
        }
        let laws: Vec<(Law, Option<Sampling>)> = laws.into_iter().collect::<Option<_>>()?;
        self.name_signals(&own, &extra, blocks, &laws);
        if let Some((_, settings)) = &observer {
            let outputs = 1..=settings.states() + 1;
            let names = outputs.map(|k| format!("{}.{k}", settings.name));
            self.signals.extend(names);
        }
        let mut all = Vec::new();
        for (name, clean, law, sampling) in extra {
            all.extend(noisy(&self.signals, &name, &clean, law, sampling));
        }
        let inputs: Vec<_> = blocks
            .iter()
            .zip(&laws)
            .map(|(b, (law, _))| self.inputs(b, law))
            .collect();
        for ((table, (law, sampled)), inputs) in blocks.iter().zip(laws).zip(inputs) {
            all.push(Block {
                name: table.name.value.clone(),
                inputs: inputs?,
                law,
                sampled,
            });
        }
        if let Some((table, settings)) = observer {
            all.push(self.observer_block(table, settings)?);
        }
        self.connect(
            own,
            all,
            &blocks.first().or(None).map_or(0..0, |b| b.span.clone()),
        )
    }

    fn connect(
        &mut self,
        sensors: Vec<Sensor>,
        blocks: Vec<Block>,
        span: &Range<usize>,
    ) -> Option<Option<Diagram>> {
        match Diagram::new(sensors, blocks) {
            Ok(diagram) => {
                let count = diagram.sample_count(self.duration);
                if count > MAX_SAMPLES {
                    let kind = ScenarioFaultKind::TooManyActs {
                        count,
                        limit: MAX_SAMPLES,
                    };
                    self.own_fault(span, kind);
                    return None;
                }
                Some(Some(diagram))
            }
            Err(fault) => {
                self.own_fault(span, ScenarioFaultKind::Blocks(fault));
                None
            }
        }
    }

    fn check_names(&mut self, file: &ScenarioFile) {
        let names = file.sensor.iter().map(|s| &s.name);
        let names: Vec<_> = names.chain(file.block.iter().map(|b| &b.name)).collect();
        for (i, name) in names.iter().enumerate() {
            self.name(name);
            if names[..i].iter().any(|other| other.value == name.value) {
                let kind = FaultKind::DuplicateName {
                    what: "sensor or block",
                    name: name.value.clone(),
                };
                self.fault(&name.span, kind);
            }
        }
    }

    /// Names of all signals in the order of the diagram.
    fn name_signals(
        &mut self,
        sensors: &[Sensor],
        noisy: &[(String, String, Law, Sampling)],
        blocks: &[Located<BlockTable>],
        laws: &[(Law, Option<Sampling>)],
    ) {
        self.signals = sensors.iter().map(|s| s.name.clone()).collect();
        for (name, ..) in noisy {
            self.signals.extend([format!("{name}.noise"), name.clone()]);
        }
        for (block, (law, _)) in blocks.iter().zip(laws) {
            let name = &block.name.value;
            match law.n_outputs() {
                1 => self.signals.push(name.clone()),
                n => self.signals.extend((1..=n).map(|k| format!("{name}.{k}"))),
            }
        }
    }

    fn sensor(&mut self, table: &Located<SensorTable>, mechanism: &Mechanism) -> Option<Reading> {
        let found: Vec<&'static str> = [
            ("coordinate", table.coordinate.is_some()),
            ("modal", table.modal.is_some()),
            ("output", table.output.is_some()),
        ]
        .iter()
        .filter(|g| g.1)
        .map(|g| g.0)
        .collect();
        if found.len() != 1 {
            let kind = FaultKind::ExactlyOne {
                what: "a sensor".to_owned(),
                options: "`coordinate`, `modal`, `output`",
                found,
            };
            self.fault(&table.span, kind);
            return None;
        }
        let sensed = self.sensed(table, mechanism);
        let noise = match &table.noise {
            None => Some(None),
            Some(noise) => {
                let deviation = self.value(&noise.deviation, None);
                let period = self.positive(&noise.period, Dimension::TIME, "the period");
                let seed = noise.seed;
                (|| {
                    let deviation = deviation?;
                    let period = period?;
                    let sampling = Sampling {
                        period,
                        offset: 0.0,
                    };
                    Some(Some((Law::Noise { deviation, seed }, sampling)))
                })()
            }
        };
        Some((sensed?, noise?))
    }

    fn sensed(&mut self, table: &Located<SensorTable>, mechanism: &Mechanism) -> Option<Sensed> {
        let quantity = table.quantity;
        if let Some(written) = &table.coordinate {
            let names = mechanism.coordinates.iter().map(|c| &c.name);
            let Some(k) = names.clone().position(|n| *n == written.value) else {
                let known = names.cloned().collect();
                self.unknown(written, "coordinate", known);
                return None;
            };
            return match quantity {
                SensedName::Position => Some(Sensed::Coordinate(k)),
                SensedName::Velocity => Some(Sensed::Rate(k)),
                SensedName::Acceleration => Some(Sensed::CoordinateAcceleration(k)),
                SensedName::AngularVelocity => self.no_such_quantity(table),
            };
        }
        if let Some(number) = &table.modal {
            let Some(k) = usize::try_from(number.value)
                .ok()
                .and_then(|k| k.checked_sub(1))
            else {
                let kind = FaultKind::OutOfRange {
                    what: "the number of a modal coordinate".to_owned(),
                    value: number.value as f64,
                    allowed: "at least 1",
                };
                self.fault(&number.span, kind);
                return None;
            };
            return match quantity {
                SensedName::Position => Some(Sensed::Modal(k)),
                SensedName::Velocity => Some(Sensed::ModalRate(k)),
                _ => self.no_such_quantity(table),
            };
        }
        let output = self.output(table.output.as_ref()?, mechanism)?;
        let Some(axis) = table.axis else {
            self.own_fault(&table.span, ScenarioFaultKind::SensorWithoutAxis);
            return None;
        };
        let axis = match axis {
            AxisName::X => Vector3::x(),
            AxisName::Y => Vector3::y(),
            AxisName::Z => Vector3::z(),
        };
        let body = table.axes == super::format::AxesName::Body;
        Some(match quantity {
            SensedName::Position => Sensed::Position { output, axis },
            SensedName::Velocity => Sensed::Velocity { output, axis, body },
            SensedName::AngularVelocity => Sensed::AngularVelocity { output, axis, body },
            SensedName::Acceleration => Sensed::Acceleration {
                output,
                axis,
                body,
                gravity: table.gravity,
            },
        })
    }

    fn no_such_quantity(&mut self, table: &Located<SensorTable>) -> Option<Sensed> {
        self.own_fault(&table.span, ScenarioFaultKind::NoSuchQuantity);
        None
    }

    /// The inputs of a block, each a sum of signals.
    fn inputs(&mut self, block: &Located<BlockTable>, law: &Law) -> Option<Vec<Vec<Term>>> {
        let expected = law.n_inputs();
        let terms = match &block.input {
            Some(names) => self.terms(names)?,
            None => Vec::new(),
        };
        let apart = matches!(law, Law::Expression(_))
            || matches!(law, Law::External(_) | Law::Model(_))
            || block.gains.is_some()
            || block.state_space.is_some();
        let mut inputs: Vec<Vec<Term>> = if apart {
            terms.into_iter().map(|term| vec![term]).collect()
        } else if terms.is_empty() {
            Vec::new()
        } else {
            vec![terms]
        };
        if let Some(names) = block.pid.as_ref().and_then(|pid| pid.rate_input.as_ref()) {
            inputs.push(self.terms(names)?);
        }
        if expected != inputs.len() {
            let span = block
                .input
                .as_ref()
                .map_or(&block.span, |names| &names.span);
            let kind = FaultKind::WrongCount {
                what: inputs_of(law),
                expected,
                found: inputs.len(),
            };
            self.fault(span, kind);
            return None;
        }
        Some(inputs)
    }

    /// Signals that names stand for.
    pub(super) fn terms(&mut self, names: &Located<Names>) -> Option<Vec<Term>> {
        let list: Vec<(String, Range<usize>)> = match &names.value {
            Names::One(name) => vec![(name.clone(), names.span.clone())],
            Names::Many(list) => list
                .iter()
                .map(|n| (n.value.clone(), n.span.clone()))
                .collect(),
        };
        let terms: Vec<Option<Term>> = list
            .iter()
            .map(|(text, span)| {
                let found = self.term(text);
                if found.is_none() {
                    let bare = text.trim_start_matches(['+', '-']).trim().to_owned();
                    let written = Located {
                        value: bare,
                        span: span.clone(),
                    };
                    let known = self.signals.clone();
                    self.unknown(&written, "sensor or block", known);
                }
                found
            })
            .collect();
        terms.into_iter().collect()
    }

    /// The signal that a text such as `-x1` names, if any.
    pub(super) fn term(&self, text: &str) -> Option<Term> {
        let (weight, bare) = match text.trim().split_at_checked(1) {
            Some(("-", rest)) => (-1.0, rest),
            Some(("+", rest)) => (1.0, rest),
            _ => (1.0, text),
        };
        let bare = bare.trim();
        let signal = self.signals.iter().position(|name| name == bare)?;
        Some(Term { signal, weight })
    }
}

/// What a block takes, in words.
fn inputs_of(law: &Law) -> &'static str {
    let Law::Model(model) = law else {
        return "the inputs of the block";
    };
    match model.function {
        ModelFunction::Feedforward => {
            "the inputs of `feedforward` (θ, θ̇ and θ̈ of every coordinate)"
        }
        ModelFunction::Gravity => "the inputs of `gravity` (θ of every coordinate)",
        ModelFunction::Mass => "the inputs of `mass` (θ and an acceleration of every coordinate)",
    }
}

/// What a sensor sees, and the law of its noise where it has any.
type Reading = (Sensed, Option<(Law, Sampling)>);

/// Sensors that were read without a fault.
fn known(tables: &[Located<SensorTable>], read: &[Option<Reading>]) -> Vec<Known> {
    let both = tables.iter().zip(read);
    both.filter_map(|(table, read)| {
        let (sensed, noise) = read.as_ref()?;
        let deviation = match noise {
            Some((Law::Noise { deviation, .. }, _)) => Some(*deviation),
            _ => None,
        };
        Some((table.name.value.clone(), *sensed, deviation))
    })
    .collect()
}

/// The noise of a sensor, and what it reads with it.
fn noisy(signals: &[String], name: &str, clean: &str, law: Law, sampling: Sampling) -> [Block; 2] {
    let noise = format!("{name}.noise");
    let find = |wanted: &str| signals.iter().position(|s| s == wanted).unwrap_or(0);
    let term = |signal| Term {
        signal,
        weight: 1.0,
    };
    [
        Block {
            name: noise.clone(),
            law,
            inputs: Vec::new(),
            sampled: Some(sampling),
        },
        Block {
            name: name.to_owned(),
            law: Law::Gain(1.0),
            inputs: vec![vec![term(find(clean)), term(find(&noise))]],
            sampled: None,
        },
    ]
}
