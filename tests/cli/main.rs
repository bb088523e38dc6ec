//! The command line as people and scripts meet it.

mod diagnostics;
mod eval;
mod overwriting;
mod schema;
mod shortfall;
mod starters;
mod support;
mod talk;
#[path = "../../exporters/tests/support/tools.rs"]
mod tools;
