//! What the tool says when a mechanism or a request makes no sense, and that it never panics.

mod fuzz;
mod json;
mod pipes;
mod refusals;
mod support;
