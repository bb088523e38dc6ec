//! Integration in time by `diffsol`, one segment between breaks after the other.

use super::domain::departure;
use super::error::ReducedError;
use super::system::{State, System};
use super::{Method, ReducedInstant, ReducedReport, ReducedSettings};
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

/// How a segment ended.
enum SegmentEnd {
    /// At its end, with this state.
    Reached(State),
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
    let inner = system.excitation.breaks().iter().copied();
    let ends = inner
        .filter(|t| *t > 0.0 && *t < settings.duration)
        .chain([settings.duration]);
    let mut start = 0.0;
    for end in ends {
        system.until(end);
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
            state,
        };
        let outcome = segment.integrate(settings, &mut reporter, &mut report.steps);
        report.evaluations = system.evaluations();
        match outcome? {
            SegmentEnd::Reached(reached) => state = reached,
            SegmentEnd::Stopped(time) => {
                report.reached = time;
                return Ok(report);
            }
        }
        start = end;
    }
    report.reached = settings.duration;
    Ok(report)
}

/// A piece of the run in which inputs are smooth.
struct Segment<'a> {
    system: &'a System<'a>,
    start: f64,
    end: f64,
    /// Instants after this one belong to the next segment.
    report_end: f64,
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
        let mut problem = OdeBuilder::<Matrix>::new()
            .t0(self.start)
            .h0(1e-4 * (self.end - self.start))
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
        solver
            .set_stop_time(self.end)
            .map_err(|e| diverged(before, &e))?;
        loop {
            let reason = solver.step().map_err(|e| diverged(before, &e))?;
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
            if !reached.iter().all(|x| x.is_finite()) {
                let reason = "a coordinate is not a finite number".to_owned();
                return Err(ReducedError::Diverged { time: now, reason });
            }
            let until = now.min(self.report_end);
            if reporter.report_until(self.system, until, at)?.is_break() {
                return Ok(SegmentEnd::Stopped(now));
            }
            if ended {
                return Ok(SegmentEnd::Reached(reached));
            }
            if *steps >= MAX_STEPS {
                let reason = format!("{MAX_STEPS} steps were not enough");
                return Err(ReducedError::Diverged { time: now, reason });
            }
            before = now;
        }
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
