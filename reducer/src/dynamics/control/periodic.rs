//! Loops with sampled blocks, linear and exact: what one period makes of all states [M 16.3].

use super::diagram::{Diagram, Sampling};
use super::law::{Law, LocalSlopes};
use super::linear::Slopes;
use super::run::Running;
use nalgebra::DMatrix;
use thiserror::Error;

/// Most samples within the period that all blocks have in common.
const MAX_EVENTS: usize = 10_000;
/// Most states of the loop.
const MAX_STATES: usize = 600;

/// Why a sampled loop has no period to look at.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the messages say what the facts are")]
pub enum PeriodFault {
    #[error("the sampled blocks have no common period of at most {limit} samples")]
    NoCommonPeriod { limit: usize },
    #[error("the sampled loop has {count} states; {limit} are possible")]
    TooLarge { count: usize, limit: usize },
}

/// The continuous part between samples, and all signals.
pub(crate) struct Held<'a> {
    /// A.
    pub a: &'a DMatrix<f64>,
    /// Rates of the states per output of every block.
    pub b: DMatrix<f64>,
    /// Signals per state.
    pub c: DMatrix<f64>,
    /// Signals per output of every block.
    pub d: DMatrix<f64>,
}

/// A sampled block that takes part.
struct Part {
    block: usize,
    sampling: Sampling,
    slopes: LocalSlopes,
    /// Where its memory and its outputs are among the states.
    memory: usize,
    outputs: usize,
    is_delay: bool,
}

impl Diagram {
    /// The common period and the map of states over it, from just before a sample to just before the
    /// same one; states are the continuous ones, what blocks remember, and outputs that they hold.
    /// None where no sampled block takes part.
    pub(crate) fn period_map(
        &self,
        held: &Held<'_>,
        slopes: &Slopes,
        at: &Running,
    ) -> Result<Option<(f64, DMatrix<f64>)>, PeriodFault> {
        let n = held.a.nrows();
        let (parts, size) = self.parts(n, at);
        if parts.is_empty() {
            return Ok(None);
        }
        if size > MAX_STATES {
            return Err(PeriodFault::TooLarge {
                count: size,
                limit: MAX_STATES,
            });
        }
        let period = common(&parts)?;
        let mut map = DMatrix::identity(size, size);
        let events = events(&parts, period);
        for (k, (time, due)) in events.iter().enumerate() {
            let next = events.get(k + 1).map_or(period + events[0].0, |e| e.0);
            map = self.event(held, slopes, &parts, due, size) * map;
            map = self.between(held, &parts, next - time, size) * map;
        }
        Ok(Some((period, map)))
    }

    fn parts(&self, n: usize, at: &Running) -> (Vec<Part>, usize) {
        let mut size = n;
        let mut parts = Vec::new();
        // In the order in which they act.
        for &b in self.groups.iter().flat_map(|g| &g.blocks) {
            let block = &self.blocks[b];
            let Some(sampling) = block.sampled else {
                continue;
            };
            let u = self.inputs(b, &at.signals);
            let Some(slopes) = block.law.discrete_slopes(&u, sampling.period) else {
                continue;
            };
            let (memory, outputs) = (size, size + slopes.a.nrows());
            size = outputs + slopes.c.nrows();
            parts.push(Part {
                block: b,
                sampling,
                slopes,
                memory,
                outputs,
                is_delay: matches!(block.law, Law::Delay(_)),
            });
        }
        (parts, size)
    }

    /// Blocks that are due act on what was just before.
    fn event(
        &self,
        held: &Held<'_>,
        slopes: &Slopes,
        parts: &[Part],
        due: &[usize],
        size: usize,
    ) -> DMatrix<f64> {
        let n = held.a.nrows();
        let w = self.sensors.len();
        let mut signals = DMatrix::zeros(held.c.nrows(), size);
        signals.view_mut((0, 0), held.c.shape()).copy_from(&held.c);
        for part in parts {
            let range = self.output_range(part.block);
            for (k, signal) in range.enumerate() {
                let column = held.d.column(signal - w).into_owned();
                signals.column_mut(part.outputs + k).copy_from(&column);
            }
        }
        let mut map = DMatrix::identity(size, size);
        debug_assert!(n <= size);
        for &p in due {
            let part = &parts[p];
            let s = &part.slopes;
            let u = self.input_rows(part.block, &signals);
            let memory = rows_of_states(part.memory, s.a.nrows(), size);
            let new = &s.c * &memory + &s.d * &u;
            let range = self.output_range(part.block);
            let change = &new - signals.rows(range.start, range.len());
            // All outputs follow what is added to these, but sensors have been read.
            let reached = slopes.y_y.columns(range.start - w, range.len()) * change;
            let mut below = signals.rows_mut(w, slopes.y_y.nrows());
            below += reached;
            map.rows_mut(part.outputs, range.len()).copy_from(&new);
            if !part.is_delay {
                let next = &s.a * &memory + &s.b * &u;
                map.rows_mut(part.memory, s.a.nrows()).copy_from(&next);
            }
        }
        // What gives now what it got before takes its input when all signals are known.
        for part in due.iter().map(|p| &parts[*p]).filter(|p| p.is_delay) {
            let s = &part.slopes;
            let u = self.input_rows(part.block, &signals);
            let memory = rows_of_states(part.memory, s.a.nrows(), size);
            let next = &s.a * &memory + &s.b * &u;
            map.rows_mut(part.memory, s.a.nrows()).copy_from(&next);
        }
        map
    }

    fn input_rows(&self, block: usize, signals: &DMatrix<f64>) -> DMatrix<f64> {
        let inputs = &self.blocks[block].inputs;
        let mut rows = DMatrix::zeros(inputs.len(), signals.ncols());
        for (i, terms) in inputs.iter().enumerate() {
            for term in terms {
                let mut row = rows.row_mut(i);
                row += signals.row(term.signal) * term.weight;
            }
        }
        rows
    }

    /// The continuous states move, outputs are held.
    fn between(&self, held: &Held<'_>, parts: &[Part], time: f64, size: usize) -> DMatrix<f64> {
        let n = held.a.nrows();
        let w = self.sensors.len();
        let mut rates = DMatrix::zeros(size, size);
        rates.view_mut((0, 0), (n, n)).copy_from(held.a);
        for part in parts {
            for (k, signal) in self.output_range(part.block).enumerate() {
                let column = held.b.column(signal - w).into_owned();
                let mut place = rates.view_mut((0, part.outputs + k), (n, 1));
                place.copy_from(&column);
            }
        }
        (rates * time).exp()
    }
}

fn rows_of_states(first: usize, count: usize, size: usize) -> DMatrix<f64> {
    DMatrix::from_fn(count, size, |i, j| f64::from(u8::from(first + i == j)))
}

/// The smallest multiple of the longest period that is one of all.
fn common(parts: &[Part]) -> Result<f64, PeriodFault> {
    let periods = || parts.iter().map(|p| p.sampling.period);
    let longest = periods().fold(0.0, f64::max);
    for k in 1..=MAX_EVENTS {
        let whole = k as f64 * longest;
        let count: f64 = periods().map(|p| (whole / p).round()).sum();
        if count > MAX_EVENTS as f64 {
            break;
        }
        if periods().all(|p| ((whole / p).round() * p - whole).abs() < 1e-9 * p) {
            return Ok(whole);
        }
    }
    Err(PeriodFault::NoCommonPeriod { limit: MAX_EVENTS })
}

/// Instants within the period and which parts act there, in their order.
fn events(parts: &[Part], period: f64) -> Vec<(f64, Vec<usize>)> {
    let mut all: Vec<(f64, usize)> = Vec::new();
    for (p, part) in parts.iter().enumerate() {
        let Sampling {
            period: own,
            offset,
        } = part.sampling;
        let count = (period / own).round() as usize;
        all.extend((0..count).map(|k| (offset.rem_euclid(own) + k as f64 * own, p)));
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut events: Vec<(f64, Vec<usize>)> = Vec::new();
    for (time, p) in all {
        match events.last_mut() {
            Some((at, due)) if time - *at < 1e-9 * period => due.push(p),
            _ => events.push((time, vec![p])),
        }
    }
    for (_, due) in &mut events {
        due.sort_unstable();
    }
    events
}
