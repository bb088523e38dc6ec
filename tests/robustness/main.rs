//! What the tool says when a mechanism or a request makes no sense, and that it never panics.

mod fuzz;
#[path = "../support/hdf5.rs"]
mod hdf5;
mod json;
mod pipes;
mod readers;
mod refusals;
mod support;
