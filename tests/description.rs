//! Promises of the mechanism format.

#[path = "description/bad_input.rs"]
mod bad_input;
#[path = "description/command_line.rs"]
mod command_line;
#[path = "description/data_files.rs"]
mod data_files;
#[path = "description/format_rules.rs"]
mod format_rules;
#[path = "description/fuzz.rs"]
mod fuzz;
#[path = "description/schema.rs"]
mod schema;
