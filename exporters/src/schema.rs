//! The published JSON Schema of `model.json`, derived from the types that are read.

use reducer::reduced_model::ReducedModel;

/// The schema as indented JSON with a final newline; `docs/reduced-model.schema.json`.
pub fn json_schema() -> String {
    let schema = schemars::schema_for!(ReducedModel);
    format!("{:#}\n", schema.as_value())
}
