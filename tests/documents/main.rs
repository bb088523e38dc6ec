//! What README and documents tell people to type is typed here, and what they point to must exist.

mod commands;
mod links;
mod markdown;
mod output;
mod reader;
mod runner;
mod sources;
#[path = "../../exporters/tests/support/tools.rs"]
mod tools;
