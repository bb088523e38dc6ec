//! Source code of a model.
//!
//! `plan` says what is evaluated and in which order, in no particular language; `facts` turns a
//! plan into the values that templates name; `c` and `rust` pick the templates. Templates hold
//! structure only.

mod c;
mod cost;
mod facts;
mod grid;
mod literal;
mod plan;
mod rust;
mod samples;

pub use c::c_files;
pub use rust::rust_files;

/// Corrections of the modal coordinates in the quasi-static feedforward; each shrinks the rest by
/// about the square of rate over frequency.
const FEEDFORWARD_ITERATIONS: usize = 3;

/// Files of generated source: relative path and content.
pub type SourceFiles = Vec<(String, Vec<u8>)>;
