//! The report: one HTML file that needs nothing but itself and a browser.
//!
//! `curves` evaluates the model along lines, `data` gathers what the page's scripts draw, `page`
//! writes the text and the tables. Numbers for drawing are single precision; tables are exact.

mod curves;
mod data;
mod domain;
mod numbers;
mod page;
mod units;

pub(crate) use curves::{
    Block, LineSpec, ReducedLine, block_curves, coordinate_label, evaluate, lines,
};

use crate::WriteError;
use reducer::reduced_model::ReducedModel;
use reducer::survey::Survey;

/// By which a file is known as one of these.
pub(crate) const MARK: &str = "<meta name=\"generator\" content=\"reduce\">";

/// The report of a model; with a survey of the full model, everything is shown beside it.
pub fn to_html(model: &ReducedModel, survey: Option<&Survey>) -> Result<Vec<u8>, WriteError> {
    model.validate()?;
    let lines = curves::lines(model, survey);
    let reduced = curves::evaluate(model, &lines)?;
    let data = data::gather(model, survey, &lines, &reduced)?;
    page::render(model, survey, &data)
}
