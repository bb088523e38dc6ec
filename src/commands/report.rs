//! `reduce report`: what a model is and how good it is, as one HTML file.

use super::Outcome;
use crate::args::ReportArgs;
use crate::diagnostics::{CommandError, Failure};
use reducer::description::mechanism::Mechanism;
use reducer::reduced_model::ReducedModel;
use reducer::survey::{Survey, survey};
use std::path::Path;

/// Runs the command.
pub fn run(args: &ReportArgs) -> Result<Outcome, Failure> {
    let model = super::read_model(&args.model)?;
    super::use_threads(args.jobs)?;
    let path = match &args.output {
        Some(path) => path.clone(),
        None => args.model.with_file_name("report.html"),
    };
    let mechanism = mechanism_of(args.mechanism.as_deref())?;
    let guard = super::guard(&[&args.model], mechanism.as_ref(), args.force);
    super::allow(&guard, &path)?;
    let survey = match &mechanism {
        Some(mechanism) => Some(Survey {
            scan: super::scan::of(mechanism, &super::source_of(mechanism)?),
            history: exporters::read_history(&model, &args.model).map_err(|error| {
                let path = args.model.clone();
                Failure::one(CommandError::Read { path, error })
            })?,
            ..survey_of(&model, mechanism)?
        }),
        None => None,
    };
    exporters::write_report(&model, survey.as_ref(), &path, &guard)
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    super::tell_written(&model, &path, args.json)
}

/// The mechanism, where its file is given.
pub(super) fn mechanism_of(file: Option<&Path>) -> Result<Option<Mechanism>, Failure> {
    file.map(super::read_mechanism).transpose()
}

/// Looks at the full model of a mechanism beside a reduced one.
pub(super) fn survey_of(model: &ReducedModel, mechanism: &Mechanism) -> Result<Survey, Failure> {
    let source = super::source_of(mechanism)?;
    super::same_coordinates(model, &source)?;
    survey(model, &source).map_err(|e| Failure::one(CommandError::from(e)))
}
