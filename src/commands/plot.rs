//! `reduce plot`: figures of a model for papers.

use super::Outcome;
use crate::args::{FigureName, PlotArgs};
use crate::diagnostics::{CommandError, Failure};
use exporters::plot::{Chart, Figure, LoadedPoint, Over, figure, loaded_figure, write_svg};
use reducer::description::mechanism::Mechanism;
use reducer::model::ActuatorMotion;
use reducer::reduced_model::ReducedModel;
use reducer::reduction::LocalReducer;

/// Runs the command.
pub fn run(args: &PlotArgs) -> Result<Outcome, Failure> {
    let model = super::read_model(&args.model)?;
    super::use_threads(args.jobs)?;
    let mechanism = super::report::mechanism_of(args.mechanism.as_deref())?;
    let guard = super::guard(&[&args.model], mechanism.as_ref(), args.force);
    super::allow(&guard, &args.output)?;
    let chart = match args.what {
        FigureName::Frequencies => at_rest(&model, Figure::Frequencies, args, mechanism.as_ref()),
        FigureName::Errors => at_rest(&model, Figure::Errors, args, mechanism.as_ref()),
        FigureName::Boxes => at_rest(&model, Figure::Boxes, args, mechanism.as_ref()),
        FigureName::Coefficients => at_rest(&model, Figure::Coefficients, args, mechanism.as_ref()),
        FigureName::Spin => loaded(&model, Over::Rate, args, mechanism.as_ref()),
        FigureName::Weight => loaded(&model, Over::Weight, args, mechanism.as_ref()),
    }?;
    write_svg(&chart, &args.output, &guard).map_err(|e| Failure::one(CommandError::from(e)))?;
    super::tell_written(&model, &args.output, args.json)
}

/// A figure of the model at rest, with the full model where its file is given.
fn at_rest(
    model: &ReducedModel,
    what: Figure,
    args: &PlotArgs,
    mechanism: Option<&Mechanism>,
) -> Result<Chart, Failure> {
    let survey = match mechanism {
        Some(mechanism) => Some(super::report::survey_of(model, mechanism)?),
        None => None,
    };
    figure(model, survey.as_ref(), what, args.along.as_deref())
        .map_err(|e| Failure::one(CommandError::from(e)))
}

/// Frequencies about states of motion or under gravity, with those of the full model where its file is given.
fn loaded(
    model: &ReducedModel,
    over: Over,
    args: &PlotArgs,
    mechanism: Option<&Mechanism>,
) -> Result<Chart, Failure> {
    if let Some(mechanism) = mechanism {
        super::same_coordinates(model, &super::source_of(mechanism)?)?;
    }
    let count = model.layout.n() - model.layout.n_rigid;
    let full = |at: &LoadedPoint| {
        let mut mechanism = mechanism?.clone();
        mechanism.gravity *= at.weight;
        let reducer = LocalReducer::new(&mechanism).ok()?;
        let motion = ActuatorMotion {
            rate: &at.rate,
            acceleration: &vec![0.0; at.rate.len()],
        };
        let found = reducer.loaded_frequencies(&at.theta, motion, count).ok()?;
        Some(found.frequencies_hz)
    };
    loaded_figure(model, over, args.along.as_deref(), &full)
        .map_err(|e| Failure::one(CommandError::from(e)))
}
