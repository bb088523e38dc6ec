//! `reduce report`: what a model is and how good it is, as one HTML file.

use super::Outcome;
use crate::args::ReportArgs;
use crate::diagnostics::{CommandError, Failure};
use reducer::reduced_model::ReducedModel;
use reducer::survey::{Survey, survey};
use std::path::Path;

/// Runs the command.
pub fn run(args: &ReportArgs) -> Result<Outcome, Failure> {
    let model = super::read_model(&args.model)?;
    super::use_threads(args.jobs)?;
    let survey = match &args.mechanism {
        Some(path) => Some(Survey {
            history: exporters::read_history(&model, &args.model).map_err(|error| {
                let path = args.model.clone();
                Failure::one(CommandError::Read { path, error })
            })?,
            ..survey_of(&model, path)?
        }),
        None => None,
    };
    let path = match &args.output {
        Some(path) => path.clone(),
        None => args.model.with_file_name("report.html"),
    };
    exporters::write_report(&model, survey.as_ref(), &path)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    super::tell_written(&model, &path, args.json)
}

/// Looks at the full model of a mechanism file beside a reduced one.
pub(super) fn survey_of(model: &ReducedModel, file: &Path) -> Result<Survey, Failure> {
    let mechanism = super::read_mechanism(file)?;
    let source = super::source_of(&mechanism)?;
    super::same_coordinates(model, &source)?;
    survey(model, &source).map_err(|e| Failure::one(CommandError::from(e)))
}
