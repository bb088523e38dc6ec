//! The generated observer against an independent one.

use super::tools::{SCIPY, run};
use super::{CASES, reduce};
use std::process::Command;

/// Sensors of all kinds that `observer.py` knows, a covariance that is not diagonal and a force at the tip.
const SCENARIO: &str = r#"
format = 1
mechanism = "MECHANISM"
duration = 1
[[sensor]]
name = "x1"
coordinate = "cylinder1"
[[sensor]]
name = "x2"
coordinate = "cylinder2"
[[sensor]]
name = "ax"
output = "tip"
quantity = "acceleration"
axis = "x"
axes = "body"
gravity = true
[[sensor]]
name = "az"
output = "tip"
quantity = "acceleration"
axis = "z"
axes = "body"
gravity = true
[[sensor]]
name = "vx"
output = "tip"
quantity = "velocity"
axis = "x"
axes = "body"
[[sensor]]
name = "z"
output = "tip"
axis = "z"
[observer]
period = "1 ms"
substeps = 3
sensors = ["x1", "x2", "ax", "az", "vx", "z"]
measurement_covariance = [
    [1e-10, 0, 0, 0, 0, 0],
    [0, 1e-10, 0, 0, 0, 0],
    [0, 0, 2.5e-3, 5e-4, 0, 0],
    [0, 0, 5e-4, 2.5e-3, 0, 0],
    [0, 0, 0, 0, 1e-6, 0],
    [0, 0, 0, 0, 0, 1e-8],
]
process = [200, 200, 1, 1]
initial = [1e-3, 1e-3, 1e-2, 1e-2, 1e-2, 1e-2, 0.1, 0.1]
[[observer.disturbance]]
output = "tip"
direction = [0, 0, 1]
initial = 50
drift = 20
"#;

#[test]
fn the_generated_observer_is_the_filter_that_numpy_computes() {
    if !SCIPY.is_done() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    CASES[2].model(folder);
    let mechanism = std::fs::canonicalize("data/ralf.toml").unwrap();
    let text = SCENARIO.replace("MECHANISM", mechanism.to_str().unwrap());
    std::fs::write(folder.join("observer.toml"), text).unwrap();
    let words = "export model.json --format c --observer observer.toml -o c";
    reduce(folder, &words.split(' ').collect::<Vec<_>>());
    run(Command::new("cc").current_dir(folder).args([
        "-O1", "-std=c99", "-shared", "-fPIC", "-o", "ralf.so", "c/ralf.c", "-lm",
    ]));
    let program = std::fs::canonicalize("tests/interfaces/observer.py").unwrap();
    let mut python = Command::new("python3");
    let said = run(python
        .arg(program)
        .args(["./ralf.so", "3"])
        .current_dir(folder));
    println!("{said}");
}
