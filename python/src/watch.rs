//! Long work beside Python: the work has a thread of its own, the calling thread listens to Ctrl-C and tells
//! progress. Python code runs on the calling thread alone.

use crate::errors::raise;
use mechreduce::commands::check_threads;
use mechreduce::commands::simulate::Watch;
use mechreduce::diagnostics::Failure;
use mechreduce::limits::Limits;
use pyo3::prelude::*;
use reducer::approximation::{Observer, Progress};
use reducer::reduced_model::CutShort;
use serde_json::{Value, json};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How often Ctrl-C is looked for.
const PAUSE: Duration = Duration::from_millis(50);

/// What the work tells.
pub enum Event {
    /// How far it is.
    Progress(Value),
    /// Something to look at.
    Warning(String),
}

/// Observes work for the calling thread.
pub struct Watcher<'a> {
    events: Sender<Event>,
    stop: &'a AtomicBool,
    limits: Limits,
}

impl Watcher<'_> {
    /// The same within limits of time and memory.
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sends what nobody may be left to hear.
    pub fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

impl Observer for Watcher<'_> {
    fn phase(&self, name: &str) {
        self.tell(Event::Progress(json!({ "phase": name })));
    }

    fn progress(&self, state: &Progress) {
        self.tell(Event::Progress(json!({
            "open_boxes": state.open_boxes,
            "finished_boxes": state.finished_boxes,
            "samples": state.samples,
            "new_samples": state.new_samples,
            "worst_error_over_tolerance": state.worst_error_over_tolerance,
        })));
    }

    fn cut_short(&self) -> Option<CutShort> {
        // No model comes of it; the reason is never seen.
        let stopped = self.is_stopped().then_some(CutShort::Time);
        stopped.or_else(|| self.limits.reached())
    }

    fn is_given_up(&self) -> bool {
        self.is_stopped()
    }
}

impl Watch for Watcher<'_> {
    fn begin(&self) -> Result<(), Failure> {
        self.phase("simulating");
        Ok(())
    }

    fn simulating(&self, time: f64, duration: f64) {
        self.tell(Event::Progress(
            json!({ "time": time, "duration": duration }),
        ));
    }

    fn ends(&self) -> bool {
        self.is_stopped()
    }
}

/// Does work in threads of its own, `jobs` of them or one per core: a pool that outlives the call would not be
/// there in a forked process. `hear` is called with progress as JSON, and with warnings.
pub fn watched<R: Send>(
    py: Python<'_>,
    jobs: Option<usize>,
    hear: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Watcher<'_>) -> Result<R, Failure> + Send,
) -> PyResult<R> {
    if let Some(jobs) = jobs {
        check_threads(jobs).map_err(|error| raise(py, &error))?;
    }
    let stop = AtomicBool::new(false);
    let (events, mut heard) = channel();
    let watcher = Watcher {
        events,
        stop: &stop,
        limits: Limits::default(),
    };
    let run = || -> Result<R, Failure> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0));
        match pool.build() {
            Ok(pool) => pool.install(|| work(watcher)),
            // A machine that gives no threads still has this one.
            Err(_) => work(watcher),
        }
    };
    let mut raised = None;
    let result = std::thread::scope(|scope| {
        let worker = scope.spawn(run);
        loop {
            let heard = &mut heard;
            let event = py.detach(move || heard.recv_timeout(PAUSE));
            let told = match event {
                Ok(Event::Progress(state)) => tell(hear, "progress", &state.to_string()),
                Ok(Event::Warning(text)) => tell(hear, "warning", &text),
                Err(RecvTimeoutError::Timeout) => Ok(()),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if let Err(error) = told.and_then(|()| py.check_signals()) {
                // The first is raised when the work has ended; what is asked for is then under way.
                raised.get_or_insert(error);
                stop.store(true, Ordering::SeqCst);
            }
        }
        py.detach(|| worker.join())
    });
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Ok(result)) => result.map_err(|error| raise(py, &error)),
        (None, Err(panic)) => resume_unwind(panic),
    }
}

fn tell(hear: Option<&Bound<'_, PyAny>>, kind: &str, text: &str) -> PyResult<()> {
    match hear {
        Some(hear) => hear.call1((kind, text)).map(|_| ()),
        None => Ok(()),
    }
}

/// The same for work that tells nothing and cannot be stopped halfway.
pub fn away<R: Send>(
    py: Python<'_>,
    jobs: Option<usize>,
    work: impl FnOnce() -> Result<R, Failure> + Send,
) -> PyResult<R> {
    watched(py, jobs, None, |_| work())
}
