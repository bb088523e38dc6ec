//! One file per verb.

mod check;
mod eval;
mod export;
mod local;
mod modes;
mod reduce;
mod simulate;
mod tables;
mod validate;

use crate::args::{Args, Command};
use crate::diagnostics::{CommandError, Failure};
use reducer::approximation::LocalModel;
use reducer::reduced_model::ReducedModel;
use reducer::sampling::MechanismModel;
use std::path::Path;

/// How a command ended when it could run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done.
    Done,
    /// Done, but a tolerance was not reached or a check failed.
    FellShort,
}

/// Runs what was asked for.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.command {
        None => reduce::run(&args.reduce),
        Some(Command::Validate(args)) => validate::run(args),
        Some(Command::Local(args)) => local::run(args),
        Some(Command::Modes(args)) => modes::run(args),
        Some(Command::Eval(args)) => eval::run(args),
        Some(Command::Check(args)) => check::run(args),
        Some(Command::Simulate(args)) => simulate::run(args),
        Some(Command::Export(args)) => export::run(args),
    }
}

/// Reads a model file.
fn read_model(path: &Path) -> Result<ReducedModel, Failure> {
    exporters::read_model(path).map_err(|error| {
        Failure::one(CommandError::Read {
            path: path.to_owned(),
            error,
        })
    })
}

/// Sets the number of threads of all parallel work.
fn use_threads(jobs: Option<usize>) -> Result<(), Failure> {
    let Some(jobs) = jobs else { return Ok(()) };
    if jobs == 0 {
        return Err(Failure::one(CommandError::NoThreads));
    }
    // The pool exists already only if this was called before, with the same number.
    let _ = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build_global();
    Ok(())
}

/// Refuses to compare a model with another mechanism.
fn same_coordinates(model: &ReducedModel, local: &MechanismModel) -> Result<(), Failure> {
    let layout = local.layout();
    if layout.coordinates == model.layout.coordinates && layout.outputs == model.layout.outputs {
        return Ok(());
    }
    Err(Failure::one(CommandError::OtherMechanism {
        model: model.layout.name.clone(),
        mechanism: layout.name,
    }))
}
