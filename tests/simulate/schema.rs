//! The published JSON Schema is the one of the types that read scenarios, and every scenario in
//! `data/` is read.

use reducer::dynamics::scenario::{load, scenario_schema};
use serde_json::Value;

const PUBLISHED: &str = "docs/scenario.schema.json";

/// `UPDATE_SCHEMA=1 cargo test --release --test simulate schema` writes it anew.
#[test]
fn the_published_schema_is_current() {
    let current = format!("{:#}\n", scenario_schema());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(PUBLISHED, &current).unwrap();
    }
    let published = std::fs::read_to_string(PUBLISHED).unwrap();
    assert!(published == current, "{PUBLISHED} is not current");
}

#[test]
fn every_table_of_a_schema_is_closed_and_described() {
    let schema = scenario_schema();
    let tables = schema["$defs"].as_object().unwrap().iter();
    for (name, table) in tables.filter(|(_, table)| table.get("properties").is_some()) {
        assert_eq!(table["additionalProperties"], Value::Bool(false), "{name}");
        for (key, property) in table["properties"].as_object().unwrap() {
            assert!(property.get("description").is_some(), "{name}.{key}");
        }
    }
}

#[test]
fn every_scenario_in_data_is_read() {
    let mut count = 0;
    for entry in std::fs::read_dir("data/scenarios").unwrap() {
        let path = entry.unwrap().path();
        let scenario = load(&path).unwrap_or_else(|e| panic!("{}: {:?}", path.display(), e.faults));
        assert_eq!(*scenario.instants.last().unwrap(), scenario.duration);
        count += 1;
    }
    assert!(count >= 5);
}
