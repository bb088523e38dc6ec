//! Source code of a model.
//!
//! `plan` says what is evaluated and in which order, in no particular language; `facts` turns a
//! plan into the values that templates name; `c` and `rust` pick the templates. Templates hold
//! structure only.

mod c;
mod common;
mod cost;
mod facts;
mod grid;
mod literal;
mod plan;
mod powers;
mod printer;
mod runs;
mod rust;
mod samples;
mod single;
mod terms;

pub use c::c_files;
pub use rust::rust_files;

use crate::WriteError;
use reducer::reduced_model::ReducedModel;

/// Corrections of the modal coordinates in the quasi-static feedforward, at most; each shrinks the rest
/// by about the square of rate over frequency.
const FEEDFORWARD_ITERATIONS: usize = 12;
/// A correction with this part of the first one's size ends them, in double and in single precision,
const FEEDFORWARD_CONVERGED: [f64; 2] = [1e-13, 3e-7];
/// and the last one must be as small as this.
const FEEDFORWARD_NEAR: [f64; 2] = [1e-6, 1e-4];

/// Files of generated source: relative path and content.
pub type SourceFiles = Vec<(String, Vec<u8>)>;

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
    let plan = plan::Plan::new(model)?;
    Ok(CodeFigures {
        operations: cost::costs(&plan, false)
            .into_iter()
            .map(|(name, c)| (name, c.multiplications, c.additions))
            .collect(),
        constant_bytes: cost::constant_bytes(&plan, false),
        stack_bytes: cost::stack_bytes(&plan, false),
    })
}
