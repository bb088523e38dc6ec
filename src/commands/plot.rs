//! `reduce plot`: figures of a model for papers.

use super::Outcome;
use crate::args::{FigureName, PlotArgs};
use crate::diagnostics::{CommandError, Failure};
use exporters::plot::{Figure, figure, write_svg};

/// Runs the command.
pub fn run(args: &PlotArgs) -> Result<Outcome, Failure> {
    let model = super::read_model(&args.model)?;
    super::use_threads(args.jobs)?;
    let mechanism = super::report::mechanism_of(args.mechanism.as_deref())?;
    let guard = super::guard(&[&args.model], mechanism.as_ref(), args.force);
    super::allow(&guard, &args.output)?;
    let survey = match &mechanism {
        Some(mechanism) => Some(super::report::survey_of(&model, mechanism)?),
        None => None,
    };
    let what = match args.what {
        FigureName::Frequencies => Figure::Frequencies,
        FigureName::Errors => Figure::Errors,
        FigureName::Boxes => Figure::Boxes,
        FigureName::Coefficients => Figure::Coefficients,
    };
    figure(&model, survey.as_ref(), what, args.along.as_deref())
        .and_then(|chart| write_svg(&chart, &args.output, &guard))
        .map_err(|e| Failure::one(CommandError::from(e)))?;
    super::tell_written(&model, &args.output, args.json)
}
