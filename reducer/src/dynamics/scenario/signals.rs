//! Signals as written become functions of time.

use super::fault::{ScenarioFault, ScenarioFaultKind};
use super::format::{
    BangBangTable, ChirpTable, EndsName, SignalPart, SignalTable, SignalWritten, SineTable,
    SpinUpTable, StepTable, TableTable, WayTable,
};
use super::resolve::Reader;
use super::table;
use crate::description::FaultKind;
use crate::description::format::{Located, Number, Scalar};
use crate::description::mechanism::{Origin, Source};
use crate::description::quantity::Dimension;
use crate::dynamics::control::Term;
use crate::dynamics::signal::Signal;
use crate::dynamics::spline::Ends;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

impl Reader<'_> {
    /// A function of time whose values have a dimension; none where it is at fault.
    pub(super) fn signal(
        &mut self,
        written: &Located<SignalWritten>,
        dimension: Option<Dimension>,
    ) -> Option<Signal> {
        let (signal, terms) = self.fed_signal(written, dimension)?;
        if let Some(term) = terms.first() {
            let signal = self.signals[term.signal].clone();
            self.own_fault(&written.span, ScenarioFaultKind::NotOfTime { signal });
            return None;
        }
        Some(signal)
    }

    /// A function of time and multiples of sensors and blocks, which are added.
    pub(super) fn fed_signal(
        &mut self,
        written: &Located<SignalWritten>,
        dimension: Option<Dimension>,
    ) -> Option<(Signal, Vec<Term>)> {
        let mut terms = Vec::new();
        let signal = match &written.value {
            SignalWritten::Number(number) => {
                self.number_or_name(number, &written.span, dimension, &mut terms)
            }
            SignalWritten::Table(table) => self.one(table, &written.span, dimension),
            SignalWritten::List(parts) => {
                let parts: Vec<_> = parts
                    .iter()
                    .map(|part| match &part.value {
                        SignalPart::Number(number) => {
                            self.number_or_name(number, &part.span, dimension, &mut terms)
                        }
                        SignalPart::Table(table) => self.one(table, &part.span, dimension),
                    })
                    .collect();
                parts.into_iter().collect::<Option<_>>().map(Signal::Sum)
            }
        };
        Some((signal?, terms))
    }

    /// A constant; or the name of a sensor or block, which goes to the terms.
    fn number_or_name(
        &mut self,
        number: &Number,
        span: &Range<usize>,
        dimension: Option<Dimension>,
        terms: &mut Vec<Term>,
    ) -> Option<Signal> {
        if let Number::Expression(text) = number
            && let Some(term) = self.term(text)
        {
            terms.push(term);
            return Some(Signal::Constant(0.0));
        }
        let scalar = Located {
            span: span.clone(),
            value: number.clone(),
        };
        self.value(&scalar, dimension).map(Signal::Constant)
    }

    fn one(
        &mut self,
        table: &SignalTable,
        span: &Range<usize>,
        dimension: Option<Dimension>,
    ) -> Option<Signal> {
        let given = [
            ("constant", table.constant.is_some()),
            ("step", table.step.is_some()),
            ("ramp", table.ramp.is_some()),
            ("sine", table.sine.is_some()),
            ("chirp", table.chirp.is_some()),
            ("point_to_point", table.point_to_point.is_some()),
            ("bang_bang", table.bang_bang.is_some()),
            ("spin_up", table.spin_up.is_some()),
            ("table", table.table.is_some()),
        ];
        let found: Vec<&'static str> = given.iter().filter(|g| g.1).map(|g| g.0).collect();
        if found.len() != 1 {
            let kind = FaultKind::ExactlyOne {
                what: "a signal".to_owned(),
                options: "`constant`, `step`, `ramp`, `sine`, `chirp`, `point_to_point`, `bang_bang`, `spin_up`, `table`",
                found,
            };
            self.fault(span, kind);
            return None;
        }
        match table {
            SignalTable {
                constant: Some(value),
                ..
            } => self.value(value, dimension).map(Signal::Constant),
            SignalTable { step: Some(t), .. } => self.step(t, dimension),
            SignalTable { ramp: Some(t), .. } => {
                let (start, duration, from, to) = self.way(t, dimension)?;
                Some(Signal::Ramp {
                    start,
                    duration,
                    from,
                    to,
                })
            }
            SignalTable {
                point_to_point: Some(t),
                ..
            } => {
                let (start, duration, from, to) = self.way(t, dimension)?;
                Some(Signal::PointToPoint {
                    start,
                    duration,
                    from,
                    to,
                })
            }
            SignalTable { sine: Some(t), .. } => self.sine(t, dimension),
            SignalTable { chirp: Some(t), .. } => self.chirp(t, dimension),
            SignalTable {
                bang_bang: Some(t), ..
            } => self.bang_bang(t, dimension),
            SignalTable {
                spin_up: Some(t), ..
            } => self.spin_up(t, dimension),
            SignalTable { table: Some(t), .. } => self.table(t),
            _ => None,
        }
    }

    fn step(&mut self, table: &StepTable, dimension: Option<Dimension>) -> Option<Signal> {
        let at = self.number(&table.at, Dimension::TIME);
        let before = self.value_or(&table.before, dimension, 0.0);
        let after = self.value(&table.value, dimension);
        Some(Signal::Step {
            at: at?,
            before: before?,
            after: after?,
        })
    }

    fn way(
        &mut self,
        table: &WayTable,
        dimension: Option<Dimension>,
    ) -> Option<(f64, f64, f64, f64)> {
        let start = self.start(&table.start);
        let duration = self.positive(&table.duration, Dimension::TIME, "the duration");
        let from = self.value_or(&table.from, dimension, 0.0);
        let to = self.value(&table.to, dimension);
        Some((start?, duration?, from?, to?))
    }

    fn sine(&mut self, table: &SineTable, dimension: Option<Dimension>) -> Option<Signal> {
        let amplitude = self.value(&table.amplitude, dimension);
        let frequency = self.affordable_frequency(&table.frequency);
        let phase = self.value_or(&table.phase, Some(Dimension::ANGLE), 0.0);
        let offset = self.value_or(&table.offset, dimension, 0.0);
        let start = self.start(&table.start);
        Some(Signal::Sine {
            amplitude: amplitude?,
            frequency_hz: frequency?,
            phase: phase?,
            offset: offset?,
            start: start?,
        })
    }

    fn chirp(&mut self, table: &ChirpTable, dimension: Option<Dimension>) -> Option<Signal> {
        let amplitude = self.value(&table.amplitude, dimension);
        let from = self.affordable_frequency(&table.from);
        let to = self.affordable_frequency(&table.to);
        let start = self.start(&table.start);
        let duration = self.positive(&table.duration, Dimension::TIME, "the duration");
        Some(Signal::Chirp {
            amplitude: amplitude?,
            from_hz: from?,
            to_hz: to?,
            start: start?,
            duration: duration?,
        })
    }

    fn bang_bang(&mut self, table: &BangBangTable, dimension: Option<Dimension>) -> Option<Signal> {
        let amplitude = self.value(&table.amplitude, dimension);
        let start = self.start(&table.start);
        let duration = self.positive(&table.duration, Dimension::TIME, "the duration");
        Some(Signal::BangBang {
            amplitude: amplitude?,
            start: start?,
            duration: duration?,
        })
    }

    fn spin_up(&mut self, table: &SpinUpTable, dimension: Option<Dimension>) -> Option<Signal> {
        let rate = self.value(&table.rate, dimension.and_then(|d| d.over(Dimension::TIME)));
        let start = self.start(&table.start);
        let duration = self.positive(&table.duration, Dimension::TIME, "the duration");
        let from = self.value_or(&table.from, dimension, 0.0);
        Some(Signal::SpinUp {
            rate: rate?,
            start: start?,
            duration: duration?,
            from: from?,
        })
    }

    fn table(&mut self, written: &TableTable) -> Option<Signal> {
        let origin = self.origin(&written.file.span);
        let bytes = match (self.resolver)(Path::new(&written.file.value)) {
            Ok(bytes) => bytes,
            Err(FaultKind::TooLarge { path, limit }) => {
                let kind = ScenarioFaultKind::LargeTable { path, limit };
                self.own_fault(&written.file.span, kind);
                return None;
            }
            Err(kind) => {
                self.fault(&written.file.span, kind);
                return None;
            }
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let kind = FaultKind::NotText {
                    path: written.file.value.clone(),
                    offset: error.utf8_error().valid_up_to(),
                };
                self.fault(&written.file.span, kind);
                return None;
            }
        };
        let source = self.sources.len();
        self.sources.push(Source {
            path: written.file.value.clone(),
            text: Arc::from(text.as_str()),
        });
        let place: Option<(String, Origin)> = written
            .column
            .as_ref()
            .map(|c| (c.value.clone(), self.origin(&c.span)));
        let column = place.as_ref().map(|(name, origin)| (name.as_str(), origin));
        let ends = match written.ends {
            EndsName::Free => Ends::Free,
            EndsName::Rest => Ends::Rest,
        };
        match table::curve(&text, source, column, ends, &origin) {
            Ok(spline) => Some(Signal::Table(spline)),
            Err(fault) => {
                self.own.push(fault);
                None
            }
        }
    }

    fn start(&mut self, written: &Option<Scalar>) -> Option<f64> {
        self.value_or(written, Some(Dimension::TIME), 0.0)
    }

    /// Records a fault that only a scenario can have.
    pub(super) fn own_fault(&mut self, span: &Range<usize>, kind: ScenarioFaultKind) {
        let origin = Some(self.origin(span));
        self.own.push(ScenarioFault { origin, kind });
    }
}
