//! `reduce plot`: figures of a model for papers.

use super::Outcome;
use crate::args::{FigureName, PlotArgs};
use crate::diagnostics::{CommandError, Failure};
use exporters::plot::{Figure, figure, write_svg};

/// Runs the command.
pub fn run(args: &PlotArgs) -> Result<Outcome, Failure> {
    let model = super::read_model(&args.model)?;
    super::use_threads(args.jobs)?;
    let survey = match &args.mechanism {
        Some(path) => Some(super::report::survey_of(&model, path)?),
        None => None,
    };
    let what = match args.what {
        FigureName::Frequencies => Figure::Frequencies,
        FigureName::Errors => Figure::Errors,
        FigureName::Boxes => Figure::Boxes,
        FigureName::Coefficients => Figure::Coefficients,
    };
    figure(&model, survey.as_ref(), what, args.along.as_deref())
        .and_then(|chart| write_svg(&chart, &args.output))
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    super::tell_written(&model, &args.output, args.json)
}
