//! The published JSON Schema is the one of the types that read the format.

use reducer::description::schema;
use serde_json::Value;
use std::path::Path;

const PUBLISHED: &str = "docs/mechanism.schema.json";

/// `UPDATE_SCHEMA=1 cargo test --release --test description schema` writes it anew.
#[test]
fn the_published_schema_is_current() {
    let current = format!("{:#}\n", schema());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(Path::new(PUBLISHED), &current).unwrap();
    }
    let published = std::fs::read_to_string(PUBLISHED).unwrap();
    assert!(
        published == current,
        "docs/mechanism.schema.json is not current"
    );
}

#[test]
fn every_table_is_closed_and_described() {
    let schema = schema();
    let tables = schema["$defs"].as_object().unwrap().iter();
    let tables = tables.filter(|(_, table)| table.get("properties").is_some());
    let mut count = 0;
    for (name, table) in tables {
        assert_eq!(table["additionalProperties"], Value::Bool(false), "{name}");
        for (key, property) in table["properties"].as_object().unwrap() {
            assert!(property.get("description").is_some(), "{name}.{key}");
            count += 1;
        }
    }
    assert!(count > 100);
    assert_eq!(schema["required"], serde_json::json!(["format"]));
}

#[test]
fn the_worked_example_of_the_reference_is_valid() {
    let reference = std::fs::read_to_string("docs/mechanism-format.md").unwrap();
    let example = reference
        .split("```toml\n")
        .filter_map(|rest| rest.split("```").next())
        .find(|block| block.lines().any(|line| line == "format = 1"))
        .unwrap();
    let resolver = |_: &Path| Err(reducer::description::FaultKind::MissingFormat);
    let mechanism = reducer::description::parse(example, "example.toml", &resolver)
        .unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(mechanism.bodies.len(), 3);
    assert_eq!(mechanism.coordinates.len(), 1);
}
