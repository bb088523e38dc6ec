//! Bodies from finite-element programs: the same body in every format, and as a link of a mechanism.
//! Data and expected numbers: data/reference/superelements.

mod assembly;
mod blocks;
mod bracket;
mod element;
mod formats;
mod four_bar;
mod points;
mod stored;

use reducer::finite_elements::{FeBody, FeError, Role, SourceFile, Units, read};
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../data/reference/superelements")
}

fn expected() -> serde_json::Value {
    let text = std::fs::read_to_string(folder().join("expected.json")).expect("expected.json");
    serde_json::from_str(&text).expect("JSON")
}

fn numbers(value: &serde_json::Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|v| v.as_f64().expect("a number")).collect()
}

fn body_of(names: &[&str]) -> Result<FeBody, FeError> {
    let contents = names
        .iter()
        .map(|name| {
            let bytes = std::fs::read(folder().join(name)).expect("a file");
            Ok((
                Role::Any,
                read(SourceFile {
                    name,
                    bytes: &bytes,
                })?,
            ))
        })
        .collect::<Result<Vec<_>, FeError>>()?;
    FeBody::new(contents, &[], Units::default())
}

const CALCULIX: [&str; 4] = [
    "b1_coupler.sti",
    "b1_coupler.mas",
    "b1_coupler.dof",
    "b1_coupler.inp",
];

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert!(found.len() >= expected.len(), "{what}: {found:?}");
    for (f, e) in found.iter().zip(expected) {
        assert!(
            (f - e).abs() <= tolerance * e.abs(),
            "{what}: {f} for {e}, relative {:.2e}",
            (f / e - 1.0).abs()
        );
    }
}
