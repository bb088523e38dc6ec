//! `reduce export`: a model in another format.

use super::Outcome;
use crate::args::{ExportArgs, FormatName};
use crate::diagnostics::{CommandError, Failure};
use crate::talk;
use exporters::code::single_errors;
use exporters::{ExportOptions, Format};
use reducer::reduced_model::ReducedModel;

/// Error of a function in single precision, relative to its largest value, that is worth a warning.
const NOTABLE: f64 = 1e-3;

/// What a caller computes with; errors of the blocks are inside these.
const FUNCTIONS: [&str; 3] = ["inverse_dynamics", "forward_dynamics", "outputs"];

/// Runs the command.
pub fn run(args: &ExportArgs) -> Result<Outcome, Failure> {
    let model = super::read_model(&args.model)?;
    let format = match args.format {
        FormatName::Json => Format::Json,
        FormatName::Hdf5 => Format::Hdf5,
        FormatName::C => Format::C,
        FormatName::Rust => Format::Rust,
    };
    let options = ExportOptions {
        single: args.single,
        prefix: args.prefix.clone(),
    };
    let guard = super::guard(&[&args.model], None, args.force);
    exporters::export(&model, format, &args.output, &options, &guard)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    if args.single {
        warn_of_rounding(&model)?;
    }
    super::tell_written(&model, &args.output, args.json)
}

/// Names the functions that single precision leaves with few digits.
fn warn_of_rounding(model: &ReducedModel) -> Result<(), Failure> {
    let errors = single_errors(model).map_err(|e| Failure::one(CommandError::from(e)))?;
    let notable: Vec<String> = errors
        .iter()
        .filter(|(block, error)| FUNCTIONS.contains(block) && *error > NOTABLE)
        .map(|(block, error)| format!("{block} by {error:.1e}"))
        .collect();
    if !notable.is_empty() {
        talk::warn(&format!(
            "rounding to single precision changes {} of the largest value; use single precision for forces and outputs only, or export without --single",
            notable.join(", ")
        ));
    }
    Ok(())
}
