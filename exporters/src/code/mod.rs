//! Source code of a model.
//!
//! `reducer::reduced_model::plan` says what is evaluated and in which order, in no particular language. C is
//! printed from templates, which `facts` gives the values they name; a Rust crate is the kernel's own source
//! with tables.

mod c;
mod cost;
mod facts;
mod groups;
mod literal;
mod observer;
mod printer;
mod reserved;
mod rust;
mod samples;
mod single;
mod stable;

pub(crate) use c::{ALONG, c_names, c_values};
pub use c::{c_files, c_files_with};
pub(crate) use facts::{prefix, render};
pub(crate) use literal::{identifier, plain};
pub(crate) use rust::rust_names;
pub use rust::{rust_files, rust_files_with};

use crate::{ExportOptions, WriteError};
use reducer::reduced_model::ReducedModel;

/// Refuses a model's name that generated source cannot start with.
pub fn check_name(name: &str) -> Result<(), WriteError> {
    facts::prefix(name, &ExportOptions::default()).map(|_| ())
}

/// Files of generated source: relative path and content.
pub type SourceFiles = Vec<(String, Vec<u8>)>;

/// Errors of functions and blocks in single precision against double, relative to the largest norm of
/// each: the figures that headers of single-precision source state.
pub fn single_errors(model: &ReducedModel) -> Result<Vec<(&'static str, f64)>, WriteError> {
    let plan = groups::code_plan(model)?;
    let errors = single::single_errors(model, &plan, &samples::sample(model)?);
    Ok(errors.iter().map(|e| (e.block, e.error)).collect())
}

/// What generated code in double precision costs; upper bounds, as its header states them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeFigures {
    /// Function, multiplications and additions of one call.
    pub operations: Vec<(&'static str, usize, usize)>,
    /// Bytes of constant tables.
    pub constant_bytes: usize,
    /// Bytes of stack of the deepest call.
    pub stack_bytes: usize,
}

/// Counts operations and memory of the model's generated code.
pub fn code_figures(model: &ReducedModel) -> Result<CodeFigures, WriteError> {
    let plan = groups::code_plan(model)?;
    let costs = cost::Costs::new(&plan);
    let counted = costs.without.iter().map(|c| {
        let count = c.operations;
        (c.function, count.multiplications, count.additions)
    });
    Ok(CodeFigures {
        operations: counted.collect(),
        constant_bytes: cost::constant_bytes(&plan, false),
        stack_bytes: costs.stack_bytes(false),
    })
}
