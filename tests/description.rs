//! Promises of the mechanism format.

#[path = "description/data_files.rs"]
mod data_files;
