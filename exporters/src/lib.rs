//! Reduced models as files, as source code, and for people to look at.
//!
//! `json` and `hdf5` hold the whole model and read it back bit for bit; `code` prints it as C or
//! Rust that needs nothing but itself; `report` and `plot` show it. Nothing here computes dynamics:
//! numbers that generated code is checked against come from the evaluator of `reducer`.
//!
//! ```
//! use exporters::{ExportOptions, Format, Guard, export, read_model};
//! # use reducer::approximation::{SampleDatabase, Silent};
//! # let path = std::path::Path::new("../data/four_bar_rigid.toml");
//! # let mechanism = reducer::description::load(path)?;
//! # let full = reducer::sampling::MechanismModel::new(&mechanism)?;
//! # let mut samples = SampleDatabase::in_memory();
//! # let settings = &mechanism.approximation;
//! # let (model, _) = reducer::pipeline::reduce(&full, settings, &Silent, &mut samples)?;
//! # let folder = std::env::temp_dir().join(format!("exporters-{}", std::process::id()));
//! // `model` is the reduced model of a four-bar.
//! let (plain, guard) = (ExportOptions::default(), Guard::default());
//! export(&model, Format::Hdf5, &folder.join("model.h5"), &plain, &guard)?;
//! assert_eq!(read_model(&folder.join("model.h5"))?, model);
//!
//! let single = ExportOptions {
//!     single: true,
//!     prefix: Some("arm".into()),
//! };
//! export(&model, Format::C, &folder.join("c"), &single, &guard)?;
//! assert!(folder.join("c/arm.h").exists());
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

/// The program of the page on the library, run with the tests of documentation.
#[cfg(doctest)]
#[doc = include_str!("../../docs/library.md")]
struct LibraryPage;

pub mod casadi;
pub mod code;
mod drafts;
mod error;
mod export;
mod files;
pub mod fmu;
pub mod hdf5;
mod history;
pub mod json;
pub mod mat;
pub mod plot;
mod report;
pub mod results;
pub mod schema;
pub mod vtk;

pub use error::{ReadError, WriteError};
pub use export::{
    ExportOptions, Format, check_all, export, export_with_observer, model_hash, read_model,
    write_all, write_fmu, write_report, write_without_report,
};
pub use files::{Guard, write_set};
pub use history::read_history;
