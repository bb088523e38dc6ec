//! Reduced models as files, as source code, and for people to look at.
//!
//! `json` and `hdf5` hold the whole model and read it back bit for bit; `code` prints it as C or
//! Rust that needs nothing but itself; `report` and `plot` show it. Nothing here computes dynamics: numbers that generated code
//! is checked against come from the evaluator of `reducer`.

#![forbid(unsafe_code)]

pub mod code;
mod error;
mod export;
mod files;
pub mod hdf5;
mod history;
pub mod json;
pub mod plot;
pub mod report;
pub mod schema;
pub mod vtk;

pub use error::{ReadError, WriteError};
pub use export::{ExportOptions, Format, export, model_hash, read_model, write_all, write_report};
pub use files::write_set;
pub use history::read_history;
