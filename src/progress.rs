//! Progress of long work: one line that is rewritten on a terminal, or every step with `--verbose`.

use crate::limits::Limits;
use crate::talk;
use reducer::approximation::{Observer, Progress as State};
use reducer::pipeline::CHECK_POINTS;
use reducer::reduced_model::{Block, CutShort};
use std::cell::Cell;
use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Time between two lines.
const PAUSE: Duration = Duration::from_millis(100);
/// Least share of the work that must be done before the rest is estimated.
const LEAST_SHARE: f64 = 0.02;
/// Columns where the terminal does not tell.
const COLUMNS: usize = 80;

/// Work that takes longer than this is told also where nothing shows progress, then at ever longer
/// intervals.
const PATIENCE: Duration = Duration::from_secs(20);

/// Rewrites one line of standard error, and clears it when dropped.
pub struct Progress {
    shown: bool,
    phase: Cell<&'static str>,
    last: Cell<Option<Instant>>,
    largest_error: Cell<f64>,
    /// The state before the wave.
    state: Cell<Option<State>>,
    start: Instant,
    limits: Limits,
    /// What is being done.
    now: Arc<Mutex<String>>,
    /// Ends the reminders when dropped.
    _reminders: Option<Sender<()>>,
}

impl Progress {
    /// Where standard error is not a terminal, silent but for reminders of long work.
    pub fn new() -> Self {
        let now = Arc::new(Mutex::new(String::new()));
        let reminders = talk::reminds().then(|| {
            let (sender, ended) = channel();
            let now = Arc::clone(&now);
            std::thread::spawn(move || remind(&now, &ended));
            sender
        });
        Self {
            now,
            _reminders: reminders,
            shown: talk::shows_progress(),
            phase: Cell::new(""),
            last: Cell::new(None),
            largest_error: Cell::new(0.0),
            state: Cell::new(None),
            start: Instant::now(),
            limits: Limits::default(),
        }
    }

    /// The same for a run that these limits end.
    pub fn within(limits: Limits) -> Self {
        let mut progress = Self::new();
        progress.limits = limits;
        progress
    }

    /// Shows what the wave does now, at most every so often.
    fn step(&self, doing: &str, done: usize) {
        let now = Instant::now();
        let Some(state) = self.state.get() else {
            return;
        };
        if self.last.get().is_some_and(|last| now - last < PAUSE) {
            return;
        }
        self.last.set(Some(now));
        let state = State {
            samples: state.samples + done,
            ..state
        };
        self.write(&self.line(doing, &state));
    }

    fn line(&self, phase: &str, state: &State) -> String {
        let elapsed = self.start.elapsed().as_secs_f64();
        let left = seconds_left(state, self.largest_error.get(), elapsed);
        line(phase, state, elapsed, left)
    }

    /// The full model has reached a time of a run.
    pub fn simulating(&self, time: f64, duration: f64) {
        let now = Instant::now();
        if self.last.get().is_some_and(|last| now - last < PAUSE) {
            return;
        }
        self.last.set(Some(now));
        self.write(&format!(
            "full model: {time:.4} of {duration:.4} s simulated, {:.0} s",
            self.start.elapsed().as_secs_f64(),
        ));
    }

    fn write(&self, text: &str) {
        if let Ok(mut now) = self.now.lock() {
            now.clear();
            now.push_str(text);
        }
        if self.shown {
            let columns = terminal_size::terminal_size_of(std::io::stderr())
                .map_or(COLUMNS, |(width, _)| usize::from(width.0));
            let line: String = text.chars().take(columns.saturating_sub(1)).collect();
            // Progress that cannot be shown is not worth an error.
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{line}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.write("");
    }
}

impl Observer for Progress {
    fn phase(&self, name: &str) {
        self.phase.set(match name {
            "assembling" => "assembling the full model",
            "probing" => "probing",
            "refining" => "refining",
            "joining" => "joining",
            "auditing" => "auditing",
            "checking" => "checking at fresh points",
            "surveying" => "surveying the full model for the report",
            "inverting" => "inverting the path",
            "writing" => "writing",
            _ => "working",
        });
        talk::step(self.phase.get());
        self.write(self.phase.get());
    }

    fn progress(&self, state: &State) {
        let error = state.worst_error_over_tolerance;
        self.largest_error.set(self.largest_error.get().max(error));
        self.state.set(Some(*state));
        let line = self.line(self.phase.get(), state);
        talk::step(&line);
        let now = Instant::now();
        if self.last.get().is_none_or(|last| now - last >= PAUSE) {
            self.last.set(Some(now));
            self.write(&line);
        }
    }

    fn sampling(&self, left: usize) {
        let new = self.state.get().map_or(0, |state| state.new_samples);
        let doing = format!("{left} samples to take");
        self.step(&doing, new.saturating_sub(left));
    }

    fn fitting(&self, boxes: usize) {
        self.step(&format!("fitting {boxes} box(es)"), 0);
    }

    fn cut_short(&self) -> Option<CutShort> {
        self.limits.reached()
    }
}

/// Says what is being done while it lasts.
fn remind(now: &Mutex<String>, ended: &Receiver<()>) {
    let start = Instant::now();
    let mut pause = PATIENCE;
    while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        if let Ok(now) = now.lock() {
            let elapsed = rounded(start.elapsed().as_secs_f64());
            // What cannot be told is not worth an error.
            let _ = writeln!(std::io::stderr().lock(), "after {elapsed}: {now}");
        }
        pause *= 2;
    }
}

/// A guess: at least what the samples of this wave and of the final check take at the pace so far,
/// and what the share of boxes that are done leaves to do, an open one counting by how far its error
/// has come down on a logarithmic scale. None while there is nothing to guess from.
fn seconds_left(state: &State, largest_error: f64, elapsed: f64) -> Option<f64> {
    let error = state.worst_error_over_tolerance;
    let come_down = if error > 1.0 && largest_error > error {
        1.0 - error.ln() / largest_error.ln()
    } else {
        0.0
    };
    let (done, open) = (state.finished_boxes as f64, state.open_boxes as f64);
    let share = (done + open * come_down) / (done + open).max(1.0);
    if share < LEAST_SHARE || state.samples == 0 {
        return None;
    }
    let known = (state.new_samples + CHECK_POINTS) as f64 / state.samples as f64;
    Some(elapsed * known.max((1.0 - share) / share))
}

fn line(phase: &str, state: &State, elapsed: f64, left: Option<f64>) -> String {
    let block = state.lagging.map_or("error", Block::name);
    let error = match state.worst_error_over_tolerance {
        0.0 => String::new(),
        error if error < 100.0 => format!(", {block} {error:.2} x tolerance"),
        error => format!(", {block} {error:.0} x tolerance"),
    };
    let time = match left {
        Some(left) => format!("~{} left", rounded(left)),
        None => rounded(elapsed),
    };
    // Narrow terminals cut the end, so the time stands before the error.
    format!(
        "{phase}: {} open, {} done, {} samples, {time}{error}",
        state.open_boxes, state.finished_boxes, state.samples,
    )
}

/// A time with no more digits than it deserves.
fn rounded(seconds: f64) -> String {
    if seconds < 90.0 {
        format!("{seconds:.0} s")
    } else if seconds < 5400.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(open_boxes: usize, finished_boxes: usize, error: f64) -> State {
        State {
            open_boxes,
            finished_boxes,
            samples: 1000,
            new_samples: 100,
            worst_error_over_tolerance: error,
            lagging: (error > 0.0).then_some(Block::Gravity),
        }
    }

    #[test]
    fn time_left_follows_boxes_and_error() {
        assert_eq!(seconds_left(&state(1, 0, 0.0), 0.0, 3.0), None);
        assert_eq!(seconds_left(&state(1, 0, 50.0), 50.0, 3.0), None);
        // From 100 to 10 tolerances is half of the way on a logarithmic scale.
        let left = seconds_left(&state(1, 0, 10.0), 100.0, 3.0).expect("an estimate");
        assert!((left - 3.0).abs() < 1e-12, "{left}");
        // 1000 samples took 10 s; 100 more and the check are certain to come.
        let left = seconds_left(&state(1, 9, 100.0), 100.0, 10.0).expect("an estimate");
        let certain = (100 + CHECK_POINTS) as f64 / 100.0;
        assert!((left - certain).abs() < 1e-12, "{left}");
    }

    #[test]
    fn a_line_says_phase_boxes_samples_error_and_time() {
        assert_eq!(
            line("refining", &state(3, 12, 1.2345), 12.3, Some(100.0)),
            "refining: 3 open, 12 done, 1000 samples, ~2 min left, gravity 1.23 x tolerance"
        );
        assert_eq!(
            line("refining", &state(1, 0, 0.0), 0.2, None),
            "refining: 1 open, 0 done, 1000 samples, 0 s"
        );
    }
}
