//! Progress of long work, on a terminal only.

use reducer::approximation::{Observer, Progress as State};
use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Rewrites one line of standard error.
pub struct Progress {
    shown: bool,
    phase: Cell<&'static str>,
    last: Cell<Instant>,
    start: Instant,
}

impl Progress {
    /// Silent where standard error is not a terminal.
    pub fn new() -> Self {
        let now = Instant::now();
        Self {
            shown: std::io::stderr().is_terminal(),
            phase: Cell::new(""),
            last: Cell::new(now),
            start: now,
        }
    }

    /// Clears the line.
    pub fn finish(&self) {
        self.write("");
    }

    /// The full model has reached a time of a run.
    pub fn simulating(&self, time: f64, duration: f64) {
        let now = Instant::now();
        if now - self.last.get() < Duration::from_millis(100) {
            return;
        }
        self.last.set(now);
        self.write(&format!(
            "full model: {time:.4} of {duration:.4} s simulated, {:.0} s",
            self.start.elapsed().as_secs_f64(),
        ));
    }

    fn write(&self, text: &str) {
        if self.shown {
            // Progress that cannot be shown is not worth an error.
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{text}");
        }
    }
}

impl Observer for Progress {
    fn phase(&self, name: &str) {
        self.phase.set(match name {
            "probing" => "probing",
            "refining" => "refining",
            "joining" => "joining",
            "auditing" => "auditing",
            "checking" => "checking",
            _ => "working",
        });
        self.write(self.phase.get());
    }

    fn progress(&self, state: &State) {
        let now = Instant::now();
        if now - self.last.get() < Duration::from_millis(100) {
            return;
        }
        self.last.set(now);
        self.write(&format!(
            "{}: {} boxes open, {} done, {} samples, worst error {:.2} of its tolerance, {:.0} s",
            self.phase.get(),
            state.open_boxes,
            state.finished_boxes,
            state.samples,
            state.worst_error_over_tolerance,
            self.start.elapsed().as_secs_f64(),
        ));
    }
}
