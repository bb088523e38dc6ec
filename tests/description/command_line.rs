//! `reduce validate` as scripts see it.

use super::bad_input::reduce;
use serde_json::Value;
use std::path::Path;

#[test]
fn counts_of_a_valid_mechanism() {
    let output = reduce(Path::new("data"), &["validate", "four_bar.toml"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    let shown = String::from_utf8(output.stdout).unwrap();
    let expected = "four_bar is valid\n  bodies       3\n  elements     12\n  joints       4\n  \
                    coordinates  1\n  springs      0\n  point masses 0\n  loads        0\n  \
                    outputs      2\n  loaded       1\n  full dofs    90\n  reduced dofs 7\n  redundant    3\n  \
                    mass         1.3891 kg\n  centre       0.4916 0.0000 0.1523 m\n  \
                    size         1.0000 0.0000 0.4300 m\n  lowest mode  19.1455 Hz, actuators locked\n";
    assert_eq!(shown, expected);
}

/// A modulus in MPa where Pa are meant shows in the lowest frequency, by the root of the factor.
#[test]
fn a_mistake_of_units_shows() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string("data/four_bar.toml").unwrap();
    let wrong = text.replacen("young = \"70 GPa\"", "young = 70e3", 1);
    assert_ne!(text, wrong, "the modulus of the alloy");
    std::fs::write(folder.path().join("wrong.toml"), wrong).unwrap();
    let document = |place: &Path, file: &str| -> Value {
        let output = reduce(place, &["validate", file, "--json"]);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let right = document(Path::new("data"), "four_bar.toml");
    let wrong = document(folder.path(), "wrong.toml");
    assert_eq!(right["mass"], wrong["mass"]);
    assert_eq!(right["size"], wrong["size"]);
    let hz = |of: &Value| of["lowest_locked_hz"].as_f64().unwrap();
    let ratio = hz(&right) / hz(&wrong);
    assert!((ratio - 1e3).abs() < 1.0, "{ratio}");
    let rigid = document(Path::new("data"), "four_bar_rigid.toml");
    assert_eq!(rigid["lowest_locked_hz"], Value::Null);
}

#[test]
fn json_is_one_document_whatever_happens() {
    let output = reduce(Path::new("data"), &["validate", "arm6.toml", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["valid"], true);
    assert_eq!(document["coordinates"].as_array().unwrap().len(), 6);

    let bad = Path::new("tests/description/bad");
    let output = reduce(bad, &["validate", "--json", "unknown_key.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["valid"], false);
    let faults = document["faults"].as_array().unwrap();
    assert_eq!(faults.len(), 4);
    assert_eq!(faults[3]["file"], "unknown_key.toml");
    assert_eq!(
        (faults[3]["line"].as_u64(), faults[3]["column"].as_u64()),
        (Some(13), Some(1))
    );
    assert_eq!(faults[3]["help"], "did you mean `range`?");
}

#[test]
fn configurations_are_checked_against_the_domain() {
    let data = Path::new("data");
    let code = |at: &[&str]| {
        let mut words = vec!["validate", "orthoglide.toml"];
        words.extend(at);
        reduce(data, &words).status.code()
    };
    assert_eq!(code(&["--at=-0.08,0.26,0"]), Some(0));
    assert_eq!(code(&["--at", "-0.08,0.26,0"]), Some(0));
    assert_eq!(code(&["--at", "-0.0800001,0.26,0"]), Some(2));
    assert_eq!(code(&["--at", "0,0"]), Some(2));
    assert_eq!(code(&["--at", "0,0,nan"]), Some(2));
    assert_eq!(code(&["--at", "0,0,x"]), Some(2));
}

#[test]
fn a_verb_is_needed_and_unknown_options_are_refused() {
    assert_eq!(reduce(Path::new("data"), &[]).status.code(), Some(2));
    let output = reduce(Path::new("data"), &["validate", "elbow.toml", "--jsno"]);
    assert_eq!(output.status.code(), Some(2));
}
