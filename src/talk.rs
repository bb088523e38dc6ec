//! How much the program says. Set once from what was typed, before anything is said.

use crate::diagnostics::visible;
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use std::time::Instant;

static TALK: OnceLock<Talk> = OnceLock::new();

/// How much is said.
#[derive(Debug, Clone, Copy)]
struct Talk {
    quiet: bool,
    verbose: bool,
    json: bool,
    start: Instant,
}

impl Talk {
    fn now() -> Self {
        *TALK.get_or_init(|| Self {
            quiet: false,
            verbose: false,
            json: false,
            start: Instant::now(),
        })
    }
}

/// Sets what holds for this run; only the first call counts.
pub fn set(quiet: bool, verbose: bool, json: bool) {
    TALK.get_or_init(|| Talk {
        quiet,
        verbose,
        json,
        start: Instant::now(),
    });
}

/// Results are to be printed: always as JSON, as text unless `--quiet`.
pub fn prints_results() -> bool {
    let talk = Talk::now();
    talk.json || !talk.quiet
}

/// Results are one JSON document, for programs.
pub fn prints_json() -> bool {
    Talk::now().json
}

/// A line of progress may be shown and rewritten: standard error is a terminal that understands
/// the escapes, and neither `--quiet` nor `--verbose` wants otherwise.
pub fn shows_progress() -> bool {
    let talk = Talk::now();
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !talk.quiet && !talk.verbose && !dumb && std::io::stderr().is_terminal()
}

/// What takes long may be told now and then in lines of their own: nothing else tells it.
pub fn reminds() -> bool {
    let talk = Talk::now();
    !talk.quiet && !talk.verbose && !shows_progress()
}

/// Warns on standard error; `--quiet` leaves errors alone.
pub fn warn(text: &str) {
    if !Talk::now().quiet {
        // A warning that cannot be told is not worth an error.
        let _ = writeln!(std::io::stderr().lock(), "warning: {text}");
    }
}

/// Tells one step on standard error, with the time since the start.
pub fn step(text: &str) {
    let talk = Talk::now();
    if talk.verbose {
        let seconds = talk.start.elapsed().as_secs_f64();
        // A step that cannot be told is not worth an error.
        let _ = writeln!(
            std::io::stderr().lock(),
            "[{seconds:8.3} s] {}",
            visible(text)
        );
    }
}
