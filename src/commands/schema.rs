//! `reduce schema`: the JSON Schema of a kind of file, for editors and validators.

use super::Outcome;
use crate::args::{SchemaArgs, SchemaName};
use crate::diagnostics::{self, Failure};

/// Runs the command.
pub fn run(args: &SchemaArgs) -> Result<Outcome, Failure> {
    let text = match args.of {
        SchemaName::Mechanism => format!("{:#}\n", reducer::description::schema()),
        SchemaName::Scenario => format!("{:#}\n", reducer::dynamics::scenario::scenario_schema()),
        SchemaName::Model => exporters::schema::json_schema(),
    };
    diagnostics::print(&text)?;
    Ok(Outcome::Done)
}
