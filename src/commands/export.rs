//! `reduce export`: a model in another format.

use super::Outcome;
use crate::args::{ExportArgs, FormatName};
use crate::diagnostics::{CommandError, Failure};
use exporters::{ExportOptions, Format};

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
    super::tell_written(&model, &args.output, args.json)
}
