//! `reduce eval` offers what generated code computes.

use crate::support::{folder_with_model, reduce, text};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|v| v.as_f64().expect("a number")).collect()
}

/// One coordinate: A and B follow from the mass, and feedforward is inverse dynamics.
#[test]
fn linear_models_and_feedforward() {
    let folder = folder_with_model();
    let words = [
        "eval",
        "made/model.json",
        "--at",
        "0.4",
        "--rate",
        "2",
        "--accel",
        "3",
        "--linearize",
        "--feedforward",
        "--json",
    ];
    let output = reduce(folder.path(), &words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let linear = &found["linear"];
    let mass = found["mass"][0][0].as_f64().expect("a mass");
    assert_eq!(numbers(&linear["A"][0]), [0.0, 1.0]);
    assert_eq!(numbers(&linear["B"][0]), [0.0]);
    let inverse = numbers(&linear["B"][1])[0];
    assert!((inverse * mass - 1.0).abs() < 1e-12, "{inverse} {mass}");
    // accel = (force − h θ̇² + …)/M: its derivative by the rate is −2 h θ̇/M.
    let h = found["gyroscopic"][0][0][0].as_f64().expect("a number");
    let by_rate = numbers(&linear["A"][1])[1];
    assert!((by_rate + 2.0 * h * 2.0 / mass).abs() < 1e-9 * by_rate.abs());
    let rows = linear["C"].as_array().expect("rows of outputs").len();
    assert_eq!(linear["D"].as_array().expect("rows").len(), rows);
    assert_eq!(found["feedforward"]["force"], found["force"]);
    assert!(numbers(&found["feedforward"]["modal"]).is_empty());
}
