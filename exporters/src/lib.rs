//! Reduced models as files and as source code.
//!
//! `json` and `hdf5` hold the whole model and read it back bit for bit; `code` prints it as C or
//! Rust that needs nothing but itself. Nothing here computes dynamics: numbers that generated code
//! is checked against come from the evaluator of `reducer`.

#![forbid(unsafe_code)]

pub mod code;
mod error;
mod export;
mod files;
pub mod hdf5;
pub mod json;
pub mod plot;
pub mod schema;
pub mod vtk;

pub use error::{ReadError, WriteError};
pub use export::{ExportOptions, Format, export, model_hash, read_model, write_all};
pub use files::write_set;
