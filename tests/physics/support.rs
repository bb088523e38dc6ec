//! Loading mechanisms and reference results.

use reducer::description::{self, mechanism::Mechanism};
use reducer::reduction::LocalReducer;
use serde_json::Value;
use std::path::{Path, PathBuf};

pub fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(file)
}

pub fn mechanism(file: &str) -> Mechanism {
    description::load(&data(file)).unwrap_or_else(|faults| panic!("{file}: {faults}"))
}

pub fn reducer(file: &str) -> LocalReducer {
    LocalReducer::new(&mechanism(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// A mechanism of `tests/fixtures/`, reduced.
pub fn fixture(file: &str) -> LocalReducer {
    fixture_with(file, "")
}

/// A mechanism of `tests/fixtures/` with parts added at its end, reduced.
pub fn fixture_with(file: &str, parts: &str) -> LocalReducer {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}")) + parts;
    LocalReducer::new(&mechanism_from(&text)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Frobenius norm of a third-order tensor.
pub fn tensor_norm(n: usize, f: impl Fn(usize, usize, usize) -> f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                sum += f(i, j, k).powi(2);
            }
        }
    }
    sum.sqrt()
}

/// A mechanism of `data/` with pieces of its text replaced; each must occur.
pub fn mechanism_with(file: &str, changes: &[(&str, &str)]) -> Mechanism {
    let mut text = std::fs::read_to_string(data(file)).expect("readable");
    for (from, to) in changes {
        assert!(text.contains(from), "{file} has no {from}");
        text = text.replace(from, to);
    }
    description::parse(&text, file, &|path| description::read(&data("").join(path)))
        .unwrap_or_else(|faults| panic!("{file}: {faults}"))
}

/// A mechanism from text.
pub fn mechanism_from(text: &str) -> Mechanism {
    description::parse(text, "test.toml", &|path| description::read(path))
        .unwrap_or_else(|faults| panic!("{faults}"))
}

/// The flexible four-bar with pieces of its text replaced.
pub fn four_bar_with(changes: &[(&str, &str)]) -> LocalReducer {
    LocalReducer::new(&mechanism_with("four_bar.toml", changes)).expect("a four-bar")
}

pub fn reference(file: &str) -> Value {
    let path = data("reference").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path:?}: {e}"))
}

/// All numbers of a nested array in order.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().expect("a number")],
    }
}

/// Largest difference over the largest size of the expected values.
pub fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let worst = found
        .iter()
        .zip(expected)
        .fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    if size == 0.0 { worst } else { worst / size }
}

#[track_caller]
pub fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let error = relative_error(found, expected);
    assert!(
        error <= tolerance,
        "{what}: relative error {error:.2e} > {tolerance:.0e}\nfound    {found:?}\nexpected {expected:?}"
    );
}

/// Fixed pseudo-random numbers in [-1, 1] (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
