//! Integration in time by `diffsol`, one segment between breaks after the other.

use super::domain::departure;
use super::error::ReducedError;
use super::system::{State, System};
use super::{Method, ReducedInstant, ReducedReport, ReducedSettings};
use crate::dynamics::control::ControlRun;
use diffsol::{
    DiffsolError, NalgebraLU, NalgebraMat, NalgebraVec, OdeBuilder, OdeEquations, OdeSolverMethod,
    OdeSolverStopReason, Vector,
};
use std::ops::ControlFlow;

type Matrix = NalgebraMat<f64>;

/// Absolute over relative tolerance.
const ABSOLUTE: f64 = 1e-3;

/// Most steps of a run: far more than any sensible one needs, so that a run ends.
const MAX_STEPS: usize = 100_000_000;

/// Instants closer than this part of the run are one.
const SAME_INSTANT: f64 = 1e-12;

/// Halvings that find the instant at which the domain is left.
const HALVINGS: usize = 60;

/// Calls the observer at the asked instants.
struct Reporter<'a> {
    instants: &'a [f64],
    next: usize,
    observer: &'a mut dyn FnMut(&ReducedInstant) -> ControlFlow<()>,
}

/// Segments of no length that may follow one another where blocks switch.
const MAX_SWITCHES: usize = 1000;

/// How a segment ended.
enum SegmentEnd {
    /// At its end, with this state and the size of a further step.
    Reached(State, Option<f64>),
    /// Where a block switched, with the state there.
    Switched(f64, State),
    /// The observer wanted no more.
    Stopped(f64),
}

/// Integrates from t = 0 to the end of the run.
pub(super) fn run(
    system: &System<'_>,
    mut state: State,
    settings: &ReducedSettings,
    observer: &mut dyn FnMut(&ReducedInstant) -> ControlFlow<()>,
) -> Result<ReducedReport, ReducedError> {
    let mut reporter = Reporter {
        instants: &settings.instants,
        next: 0,
        observer,
    };
    let mut report = ReducedReport::default();
    system.kick(0.0, settings.duration, &mut state);
    check_blocks(system, 0.0, &state)?;
    let mut start = 0.0;
    let (mut first_step, mut switches) = (None, 0);
    for (end, acts) in ends(system, settings.duration) {
        system.until(end);
        while start < end {
            let is_last = end == settings.duration;
            let segment = Segment {
                system,
                start,
                end,
                // At a break inputs have the values that they have after it.
                report_end: if is_last {
                    end
                } else {
                    end - SAME_INSTANT * settings.duration
                },
                first_step,
                state,
            };
            let outcome = segment.integrate(settings, &mut reporter, &mut report.steps);
            report.evaluations = system.evaluations();
            match outcome? {
                SegmentEnd::Reached(reached, step) => {
                    state = reached;
                    start = end;
                    first_step = step;
                }
                SegmentEnd::Switched(time, reached) => {
                    let stuck = time - start <= SAME_INSTANT * settings.duration;
                    switches = if stuck { switches + 1 } else { 0 };
                    if switches > MAX_SWITCHES {
                        let reason = "blocks switch back and forth without end".to_owned();
                        return Err(ReducedError::Diverged { time, reason });
                    }
                    (state, start) = (reached, time);
                    system.switch_blocks(time, &mut state);
                    // A block that asks the model in vain is such a switch.
                    check_blocks(system, time, &state)?;
                }
                SegmentEnd::Stopped(time) => {
                    report.reached = time;
                    return Ok(report);
                }
            }
        }
        if acts {
            system.let_blocks_act(end, &state);
            report.reached = end;
            check_blocks(system, end, &state)?;
        }
        system.kick(end, settings.duration, &mut state);
        // What rests at a limit leaves it where samples or inputs have turned.
        system.switch_blocks(end, &mut state);
    }
    report.reached = settings.duration;
    Ok(report)
}

/// A fault of the blocks where they have just acted ends the run.
fn check_blocks(system: &System<'_>, time: f64, state: &State) -> Result<(), ReducedError> {
    let (Some(run), Some(at)) = (&system.blocks, system.running(time, state)) else {
        return Ok(());
    };
    match run.check(&at) {
        Some(fault) => Err(ReducedError::Control { time, fault }),
        None => Ok(()),
    }
}

/// Ends of segments in order, and whether sampled blocks act there.
fn ends(system: &System<'_>, duration: f64) -> Vec<(f64, bool)> {
    let breaks = system.excitation.breaks().iter().map(|t| (*t, false));
    let samples = system.blocks.as_ref();
    let samples = samples.map_or(Vec::new(), |run| run.diagram.samples(duration));
    let mut ends: Vec<(f64, bool)> = breaks
        .chain(samples.iter().map(|t| (*t, true)))
        .filter(|(t, _)| *t > 0.0 && *t < duration)
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    ends.dedup_by(|later, earlier| {
        let same = later.0 - earlier.0 <= SAME_INSTANT * duration;
        earlier.1 |= same && later.1;
        same
    });
    ends.push((duration, false));
    ends
}

/// A piece of the run in which inputs are smooth.
struct Segment<'a> {
    system: &'a System<'a>,
    start: f64,
    end: f64,
    /// Instants after this one belong to the next segment.
    report_end: f64,
    /// Size of the first step, where one is known.
    first_step: Option<f64>,
    state: State,
}

impl Segment<'_> {
    fn integrate(
        self,
        settings: &ReducedSettings,
        reporter: &mut Reporter<'_>,
        steps: &mut usize,
    ) -> Result<SegmentEnd, ReducedError> {
        let at_start =
            reporter.report_until(self.system, self.start, |_| Ok(self.state.clone()))?;
        if at_start.is_break() {
            return Ok(SegmentEnd::Stopped(self.start));
        }
        let system = self.system;
        let length = self.end - self.start;
        let mut problem = OdeBuilder::<Matrix>::new()
            .t0(self.start)
            .h0(self.first_step.unwrap_or(1e-4 * length).min(length))
            .rtol(settings.tolerance)
            .atol([ABSOLUTE * settings.tolerance])
            .rhs_implicit(
                |x, _p, t, y| system.derivative(t, x, y),
                |x, _p, t, v, y| system.derivative_along(t, x, v, y),
            )
            .init(|_p, _t, y| y.copy_from_slice(&self.state), system.n_state())
            .build()
            .map_err(|e| diverged(self.start, &e))?;
        // The limit counts failures of the whole segment, each of which only shortens a step; a run
        // that cannot go on ends because its steps become too small.
        problem.ode_options.max_nonlinear_solver_failures = usize::MAX;
        let fault = |e| diverged(self.start, &e);
        match settings.method {
            Method::Explicit => {
                let solver = problem.tsit45().map_err(fault)?;
                self.advance(solver, reporter, steps)
            }
            Method::Implicit => {
                let solver = problem.esdirk34::<NalgebraLU<f64>>().map_err(fault)?;
                self.advance(solver, reporter, steps)
            }
        }
    }

    /// Steps to the end of the segment; reports instants and watches the domain on the way.
    fn advance<'s, E, S>(
        &self,
        mut solver: S,
        reporter: &mut Reporter<'_>,
        steps: &mut usize,
    ) -> Result<SegmentEnd, ReducedError>
    where
        E: OdeEquations<T = f64, V = NalgebraVec<f64>> + 's,
        S: OdeSolverMethod<'s, E>,
    {
        let mut before = self.start;
        let pieces = self.system.pieces(self.start, &self.state);
        let mut step = None;
        solver
            .set_stop_time(self.end)
            .map_err(|e| diverged(before, &e))?;
        loop {
            let reason = solver.step().map_err(|e| self.diverged(before, &e))?;
            *steps += 1;
            let ended = matches!(reason, OdeSolverStopReason::TstopReached);
            let now = if ended { self.end } else { solver.state().t };
            let reached = solver.state().y.clone_as_vec();
            let at = |time: f64| {
                let time = time.clamp(before, solver.state().t);
                let state = solver.interpolate(time);
                state
                    .map(|y| y.clone_as_vec())
                    .map_err(|e| diverged(time, &e))
            };
            if let Some(left) = self.departure(before, now, &reached, &at)? {
                let (time, error) = left;
                if reporter.report_until(self.system, time, at)?.is_break() {
                    return Ok(SegmentEnd::Stopped(time));
                }
                return Err(error);
            }
            if let Some((time, state)) = self.switching(&pieces, before, now, &reached, &at)? {
                let until = time.min(self.report_end);
                if reporter.report_until(self.system, until, at)?.is_break() {
                    return Ok(SegmentEnd::Stopped(time));
                }
                return Ok(SegmentEnd::Switched(time, state));
            }
            if !reached.iter().all(|x| x.is_finite()) {
                let reason = "a coordinate is not a finite number".to_owned();
                return Err(ReducedError::Diverged { time: now, reason });
            }
            let until = now.min(self.report_end);
            if reporter.report_until(self.system, until, at)?.is_break() {
                return Ok(SegmentEnd::Stopped(now));
            }
            if ended {
                // The last step is cut short by the end; the one before was chosen.
                let step = step
                    .or(self.first_step)
                    .filter(|_| self.system.blocks.is_some());
                return Ok(SegmentEnd::Reached(reached, step));
            }
            if *steps >= MAX_STEPS {
                let reason = format!("{MAX_STEPS} steps were not enough");
                return Err(ReducedError::Diverged { time: now, reason });
            }
            step = Some(now - before);
            before = now;
        }
    }

    /// A fault of the blocks, or what the integrator says.
    fn diverged(&self, time: f64, error: &DiffsolError) -> ReducedError {
        match self.system.blocks.as_ref().and_then(ControlRun::fault) {
            Some(fault) => ReducedError::Control { time, fault },
            None => diverged(time, error),
        }
    }

    /// When in a step a piecewise law came to another piece, and the state just after.
    fn switching(
        &self,
        pieces: &[i8],
        before: f64,
        now: f64,
        reached: &[f64],
        at: &dyn Fn(f64) -> Result<State, ReducedError>,
    ) -> Result<Option<(f64, State)>, ReducedError> {
        if pieces.is_empty() || self.system.pieces(now, reached) == pieces {
            return Ok(None);
        }
        let (mut old, mut new) = (before, now);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (old + new);
            if middle <= old || middle >= new {
                break;
            }
            if self.system.pieces(middle, &at(middle)?) == pieces {
                old = middle;
            } else {
                new = middle;
            }
        }
        Ok(Some((new, at(new)?)))
    }

    /// When and how the domain is left in a step, if it is outside at its end.
    fn departure(
        &self,
        before: f64,
        now: f64,
        reached: &[f64],
        at: &dyn Fn(f64) -> Result<State, ReducedError>,
    ) -> Result<Option<(f64, ReducedError)>, ReducedError> {
        let theta = self.system.theta(now, reached);
        let Some(mut error) = departure(self.system, now, &theta) else {
            return Ok(None);
        };
        let (mut inside, mut outside) = (before, now);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (inside + outside);
            if middle <= inside || middle >= outside {
                break;
            }
            let theta = self.system.theta(middle, &at(middle)?);
            match departure(self.system, middle, &theta) {
                Some(found) => (outside, error) = (middle, found),
                None => inside = middle,
            }
        }
        Ok(Some((inside, error)))
    }
}

impl Reporter<'_> {
    /// Reports the asked instants up to a time.
    fn report_until(
        &mut self,
        system: &System<'_>,
        time: f64,
        state_at: impl Fn(f64) -> Result<State, ReducedError>,
    ) -> Result<ControlFlow<()>, ReducedError> {
        while let Some(&asked) = self.instants.get(self.next) {
            if asked > time {
                break;
            }
            self.next += 1;
            let instant = system.instant(asked, &state_at(asked)?)?;
            if (self.observer)(&instant).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn diverged(time: f64, error: &DiffsolError) -> ReducedError {
    ReducedError::Diverged {
        time,
        reason: error.to_string().to_lowercase(),
    }
}
