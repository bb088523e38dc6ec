//! `reduce completions`: lets a shell complete verbs and options.

use super::Outcome;
use crate::args::{Args, CompletionsArgs};
use crate::diagnostics::{self, Failure};
use clap::CommandFactory;

/// Runs the command.
pub fn run(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "reduce", &mut script);
    diagnostics::print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}
