//! One file per verb.

mod local;
mod tables;
mod validate;

use crate::args::Command;
use crate::diagnostics::Failure;

/// How a command ended when it could run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done.
    Done,
}

/// Runs what was asked for.
pub fn run(command: Command) -> Result<Outcome, Failure> {
    match command {
        Command::Validate(args) => validate::run(&args),
        Command::Local(args) => local::run(&args),
    }
}
