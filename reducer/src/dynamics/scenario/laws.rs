//! Laws of blocks as written become laws.

use super::fault::ScenarioFaultKind;
use super::format_control::{
    BlockTable, ButterworthTable, DelayTable, ModelFunctionName, Names, PidTable, StateSpaceTable,
};
use super::resolve::Reader;
use crate::description::FaultKind;
use crate::description::format::{Located, Scalar};
use crate::description::mechanism::Mechanism;
use crate::description::quantity::Dimension;
use crate::dynamics::control::{
    Band, Expression, Law, Limits, ModelFunction, ModelLaw, Pid, Sampling, StateSpace,
};
use nalgebra::DMatrix;
use std::f64::consts::TAU;
use std::ops::Range;

/// Most rows and columns of a matrix, and coefficients of a polynomial.
const MAX_SIZE: usize = 200;

impl Reader<'_> {
    /// Law and sampling of a block.
    pub(super) fn law(
        &mut self,
        block: &Located<BlockTable>,
        mechanism: &Mechanism,
    ) -> Option<(Law, Option<Sampling>)> {
        let given = [
            ("signal", block.signal.is_some()),
            ("gain", block.gain.is_some()),
            ("gains", block.gains.is_some()),
            ("integrator", block.integrator.is_some()),
            ("saturation", block.saturation.is_some()),
            ("dead_zone", block.dead_zone.is_some()),
            ("quantiser", block.quantiser.is_some()),
            ("lookup", block.lookup.is_some()),
            ("expression", block.expression.is_some()),
            ("pid", block.pid.is_some()),
            ("transfer", block.transfer.is_some()),
            ("state_space", block.state_space.is_some()),
            ("butterworth", block.butterworth.is_some()),
            ("delay", block.delay.is_some()),
            ("model", block.model.is_some()),
            ("program", block.program.is_some()),
            ("library", block.library.is_some()),
        ];
        let found: Vec<&'static str> = given.iter().filter(|g| g.1).map(|g| g.0).collect();
        if found.len() != 1 {
            let kind = FaultKind::ExactlyOne {
                what: "a block".to_owned(),
                options: "`signal`, `gain`, `gains`, `integrator`, `saturation`, `dead_zone`, `quantiser`, `lookup`, `expression`, `pid`, `transfer`, `state_space`, `butterworth`, `delay`, `model`, `program`, `library`",
                found,
            };
            self.fault(&block.span, kind);
            return None;
        }
        let sampling = match &block.sampled {
            None => Some(None),
            Some(table) => {
                let period = self.positive(&table.period, Dimension::TIME, "the period");
                let offset = self.value_or(&table.offset, Some(Dimension::TIME), 0.0);
                (|| {
                    Some(Some(Sampling {
                        period: period?,
                        offset: offset?,
                    }))
                })()
            }
        };
        let law = self.one_law(block, mechanism);
        let (law, sampling) = (law?, sampling?);
        if let Some(sampling) = sampling
            && sampling.offset < 0.0
        {
            let kind = FaultKind::OutOfRange {
                what: "the offset".to_owned(),
                value: sampling.offset,
                allowed: "zero or more",
            };
            self.fault(&block.span, kind);
            return None;
        }
        if sampling.is_none() && !law.may_be_continuous() {
            let block_name = block.name.value.clone();
            self.own_fault(
                &block.span,
                ScenarioFaultKind::OnlySampled { block: block_name },
            );
            return None;
        }
        Some((law, sampling))
    }

    fn one_law(&mut self, block: &Located<BlockTable>, mechanism: &Mechanism) -> Option<Law> {
        let table = &block.value;
        let derivatives = self.derivatives(table);
        if let Some(signal) = &table.signal {
            let signal = self.signal(signal, None)?;
            return Some(Law::Source(signal, derivatives?));
        }
        if let Some(gain) = &table.gain {
            return self.value(gain, None).map(Law::Gain);
        }
        if let Some(rows) = &table.gains {
            let matrix = self.matrix(&rows.value, &rows.span)?;
            return Some(Law::Linear(StateSpace::gains(matrix)));
        }
        if let Some(t) = &table.integrator {
            let gain = self.value_or(&t.gain, None, 1.0);
            let initial = self.value_or(&t.initial, None, 0.0);
            let limits = self.limits_or(&t.limits);
            return Some(Law::Integrator {
                gain: gain?,
                initial: initial?,
                limits: limits?,
            });
        }
        if let Some(limits) = &table.saturation {
            return self.limits(limits).map(Law::Saturation);
        }
        if let Some(limits) = &table.dead_zone {
            return self.limits(limits).map(Law::DeadZone);
        }
        if let Some(step) = &table.quantiser {
            let step = self.value(step, None)?;
            if step <= 0.0 {
                let what = "the step of a quantiser".to_owned();
                self.fault(&block.span, FaultKind::NotPositive { what, value: step });
                return None;
            }
            return Some(Law::Quantiser(step));
        }
        if let Some(points) = &table.lookup {
            return self.lookup(points);
        }
        if let Some(text) = &table.expression {
            return self.expression(text, table.input.as_ref());
        }
        if let Some(pid) = &table.pid {
            return self.pid(pid, table.sampled.is_some());
        }
        if let Some(t) = &table.transfer {
            let numerator = self.coefficients(&t.numerator, &t.span)?;
            let denominator = self.coefficients(&t.denominator, &t.span)?;
            let system = StateSpace::of_transfer(&numerator, &denominator);
            return self.fitting(system, &t.span);
        }
        if let Some(t) = &table.state_space {
            return self.state_space(t);
        }
        if let Some(t) = &table.butterworth {
            return self.butterworth(t);
        }
        if let Some(function) = &table.model {
            let function = match function.value {
                ModelFunctionName::Feedforward => ModelFunction::Feedforward,
                ModelFunctionName::Gravity => ModelFunction::Gravity,
                ModelFunctionName::Mass => ModelFunction::Mass,
            };
            let law = ModelLaw::new(function, mechanism.coordinates.len());
            return Some(Law::Model(law));
        }
        if let Some(t) = &table.program {
            return self.program(t, table.input.as_ref());
        }
        if let Some(t) = &table.library {
            return self.library(t, table.input.as_ref());
        }
        self.delay(table.delay.as_ref()?)
    }

    /// How many derivatives of its signal a block gives.
    fn derivatives(&mut self, table: &BlockTable) -> Option<usize> {
        let Some(count) = &table.derivatives else {
            return Some(0);
        };
        if table.signal.is_none() {
            self.own_fault(&count.span, ScenarioFaultKind::DerivativesWithoutSignal);
            return None;
        }
        let found = usize::try_from(count.value).ok().filter(|n| *n <= 2);
        if found.is_none() {
            let kind = FaultKind::OutOfRange {
                what: "the number of derivatives".to_owned(),
                value: count.value as f64,
                allowed: "0, 1 or 2",
            };
            self.fault(&count.span, kind);
        }
        found
    }

    /// A system whose sizes fit.
    fn fitting(&mut self, system: Option<StateSpace>, span: &Range<usize>) -> Option<Law> {
        let finite = |s: &StateSpace| {
            let parts = s.a.iter().chain(&s.b).chain(&s.c).chain(&s.d);
            parts.into_iter().all(|v| v.is_finite())
        };
        match system.filter(finite) {
            Some(system) => Some(Law::Linear(system)),
            None => {
                self.own_fault(span, ScenarioFaultKind::BadSystem);
                None
            }
        }
    }

    fn coefficients(&mut self, list: &[Scalar], span: &Range<usize>) -> Option<Vec<f64>> {
        if list.is_empty() || list.len() > MAX_SIZE {
            self.own_fault(span, ScenarioFaultKind::BadSystem);
            return None;
        }
        let values: Vec<Option<f64>> = list.iter().map(|v| self.value(v, None)).collect();
        values.into_iter().collect()
    }

    /// A matrix of equally long rows; no rows make an empty one.
    fn matrix(&mut self, rows: &[Vec<Scalar>], span: &Range<usize>) -> Option<DMatrix<f64>> {
        let columns = rows.first().map_or(0, Vec::len);
        let uneven = rows.iter().any(|row| row.len() != columns);
        if uneven || rows.len() > MAX_SIZE || columns > MAX_SIZE || columns == 0 {
            self.own_fault(span, ScenarioFaultKind::BadSystem);
            return None;
        }
        let values: Vec<Option<f64>> = rows.iter().flatten().map(|v| self.value(v, None)).collect();
        let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
        Some(DMatrix::from_row_slice(rows.len(), columns, &values))
    }

    fn limits_or(&mut self, written: &Option<Located<Vec<Scalar>>>) -> Option<Option<Limits>> {
        match written {
            Some(written) => self.limits(written).map(Some),
            None => Some(None),
        }
    }

    fn limits(&mut self, written: &Located<Vec<Scalar>>) -> Option<Limits> {
        let [lower, upper] = written.value.as_slice() else {
            let kind = FaultKind::WrongCount {
                what: "the limits",
                expected: 2,
                found: written.value.len(),
            };
            self.fault(&written.span, kind);
            return None;
        };
        let (lower, upper) = (self.value(lower, None)?, self.value(upper, None)?);
        if lower < upper {
            return Some([lower, upper]);
        }
        self.own_fault(
            &written.span,
            ScenarioFaultKind::LimitsOutOfOrder { lower, upper },
        );
        None
    }

    fn lookup(&mut self, written: &Located<Vec<Vec<Scalar>>>) -> Option<Law> {
        let matrix = self.matrix(&written.value, &written.span)?;
        let rising = (1..matrix.nrows()).all(|i| matrix[(i, 0)] > matrix[(i - 1, 0)]);
        if matrix.ncols() != 2 || matrix.nrows() < 2 || !rising {
            self.own_fault(&written.span, ScenarioFaultKind::BadLookup);
            return None;
        }
        let points = matrix.row_iter().map(|row| [row[0], row[1]]);
        Some(Law::Lookup(points.collect()))
    }

    fn expression(
        &mut self,
        text: &Located<String>,
        input: Option<&Located<Names>>,
    ) -> Option<Law> {
        let names: Vec<String> = match input.map(|names| &names.value) {
            None => Vec::new(),
            Some(Names::One(name)) => vec![name.clone()],
            Some(Names::Many(list)) => list.iter().map(|n| n.value.clone()).collect(),
        };
        let place = |name: &str| names.iter().position(|n| n == name);
        match Expression::read(&text.value, names.len(), &place) {
            Ok(expression) => Some(Law::Expression(expression)),
            Err(reason) => {
                self.own_fault(&text.span, ScenarioFaultKind::BadExpression { reason });
                None
            }
        }
    }

    fn pid(&mut self, table: &Located<PidTable>, sampled: bool) -> Option<Law> {
        let kp = self.value_or(&table.kp, None, 0.0);
        let ki = self.value_or(&table.ki, None, 0.0);
        let kd = self.value_or(&table.kd, None, 0.0);
        let filter = self.value_or(&table.filter, Some(Dimension::TIME), 0.0);
        let limits = self.limits_or(&table.limits);
        let integral_limits = self.limits_or(&table.integral_limits);
        let tracking = match &table.tracking {
            Some(time) => self.positive(time, Dimension::TIME, "`tracking`").map(Some),
            None => Some(None),
        };
        let (kd, filter) = (kd?, filter?);
        let has_rate = table.rate_input.is_some();
        if filter < 0.0 || (kd != 0.0 && filter == 0.0 && !has_rate && !sampled) {
            self.own_fault(&table.span, ScenarioFaultKind::DerivativeWithoutFilter);
            return None;
        }
        Some(Law::Pid(Pid {
            kp: kp?,
            ki: ki?,
            kd,
            filter,
            has_rate,
            limits: limits?,
            integral_limits: integral_limits?,
            tracking: tracking?,
        }))
    }

    fn state_space(&mut self, table: &Located<StateSpaceTable>) -> Option<Law> {
        let span = &table.span;
        let a = self.matrix(&table.a, span)?;
        let b = self.matrix(&table.b, span)?;
        let c = self.matrix(&table.c, span)?;
        let d = match &table.d {
            Some(rows) => self.matrix(rows, span)?,
            None => DMatrix::zeros(c.nrows(), b.ncols()),
        };
        let mut system = StateSpace::new(a, b, c, d);
        if let (Some(system), Some(initial)) = (&mut system, &table.initial) {
            let initial = self.coefficients(initial, span)?;
            if initial.len() != system.initial.len() {
                let kind = FaultKind::WrongCount {
                    what: "the initial state",
                    expected: system.initial.len(),
                    found: initial.len(),
                };
                self.fault(span, kind);
                return None;
            }
            system.initial = initial;
        }
        self.fitting(system, span)
    }

    fn order(&mut self, written: &Located<i64>) -> Option<usize> {
        if (1..=10).contains(&written.value) {
            return usize::try_from(written.value).ok();
        }
        let kind = FaultKind::OutOfRange {
            what: "the order".to_owned(),
            value: written.value as f64,
            allowed: "between 1 and 10",
        };
        self.fault(&written.span, kind);
        None
    }

    fn butterworth(&mut self, table: &Located<ButterworthTable>) -> Option<Law> {
        let order = self.order(&table.order)?;
        let corner = |reader: &mut Self, scalar: &Scalar| {
            let hz = reader.positive(scalar, Dimension::RATE, "the corner frequency")?;
            Some(TAU * hz)
        };
        let band = match (&table.low_pass, &table.high_pass, &table.band_pass) {
            (Some(low), None, None) => Band::LowPass(corner(self, low)?),
            (None, Some(high), None) => Band::HighPass(corner(self, high)?),
            (None, None, Some(both)) => {
                let [lower, upper] = self.limits(both)?;
                if lower <= 0.0 {
                    let what = "the corner frequency".to_owned();
                    self.fault(&both.span, FaultKind::NotPositive { what, value: lower });
                    return None;
                }
                Band::BandPass([TAU * lower, TAU * upper])
            }
            _ => {
                let kind = FaultKind::ExactlyOne {
                    what: "a filter".to_owned(),
                    options: "`low_pass`, `high_pass`, `band_pass`",
                    found: Vec::new(),
                };
                self.fault(&table.span, kind);
                return None;
            }
        };
        let system = StateSpace::butterworth(band, order);
        self.fitting(system, &table.span)
    }

    fn delay(&mut self, table: &Located<DelayTable>) -> Option<Law> {
        match (&table.samples, &table.time) {
            (Some(samples), None) => {
                let count = usize::try_from(samples.value).ok();
                let count = count.filter(|n| (1..=1_000_000).contains(n));
                if count.is_none() {
                    let kind = FaultKind::OutOfRange {
                        what: "the number of samples".to_owned(),
                        value: samples.value as f64,
                        allowed: "between 1 and 1000000",
                    };
                    self.fault(&samples.span, kind);
                }
                count.map(Law::Delay)
            }
            (None, Some(time)) => {
                let time = self.positive(time, Dimension::TIME, "the delay")?;
                let order = match &table.order {
                    Some(order) => self.order(order)?,
                    None => 4,
                };
                self.fitting(StateSpace::delay(time, order), &table.span)
            }
            _ => {
                let kind = FaultKind::ExactlyOne {
                    what: "a delay".to_owned(),
                    options: "`samples`, `time`",
                    found: Vec::new(),
                };
                self.fault(&table.span, kind);
                None
            }
        }
    }
}
