//! Linear models in `.mat` files.

use super::tools::{H5PY, OCTAVE, SCIPY, run};
use super::{CASES, reduce};
use serde_json::Value;
use std::process::Command;

/// python-control finds the poles of the document in the matrices of the file, Octave its shapes; the grid holds what single commands give,
/// and forces at rest are those of the feedforward.
#[test]
fn linear_models_over_the_domain_are_those_of_single_configurations() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    CASES[0].model(folder);
    let words = "linear model.json --at 0.3 --grid 5 -o linear --json";
    let document = reduce(folder, &words.split(' ').collect::<Vec<_>>());
    let document: Value = serde_json::from_str(&document).unwrap();
    let points = document["grid"].as_array().unwrap();
    assert_eq!(points.len(), 5);
    for point in points {
        let theta = point["theta"][0].as_f64().unwrap();
        let at = format!("--at={theta:?}");
        let single = reduce(folder, &["linear", "model.json", &at, "--json"]);
        let single: Value = serde_json::from_str(&single).unwrap();
        for name in ["a", "b", "c", "d", "poles"] {
            assert_eq!(point[name], single[name], "{name} at {theta}");
        }
        let still = reduce(
            folder,
            &["eval", "model.json", &at, "--feedforward", "--json"],
        );
        let still: Value = serde_json::from_str(&still).unwrap();
        assert_eq!(point["u"], still["feedforward"]["force"], "{still}");
    }
    if SCIPY.is_done() {
        let program = std::fs::canonicalize("tests/interfaces/linear.py").unwrap();
        let mut python = Command::new("python3");
        println!("{}", run(python.arg(program).current_dir(folder)));
    }
    if OCTAVE.is_done() {
        let program = "load linear/linear.mat; assert(size(linear.a), [14, 14, 5]); \
            assert(size(linear.grid.theta), [5, 1]); assert(linear.inputs{1}, 'force.theta'); \
            assert(size(linear.x), [14, 1, 5]);";
        let words = ["--no-init-file", "--quiet", "--eval", program];
        run(Command::new("octave-cli").args(words).current_dir(folder));
    }
}

/// h5py finds the matrices and names of the documents in the HDF5 files, with units; files of earlier runs are replaced, others are not.
#[test]
fn linear_models_are_written_as_hdf5() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    CASES[0].model(folder);
    let data = std::fs::canonicalize("data/scenarios").unwrap();
    let spin = data.join("one_link_spin_up.toml");
    let spin = spin.to_str().unwrap();
    let words = "linear model.json --at 0.3 --grid 5 -o linear --quiet";
    let grid: Vec<&str> = words.split(' ').collect();
    let motion = [
        "linear",
        spin,
        "--trajectory",
        spin,
        "--instants",
        "7",
        "-o",
        "motion",
        "--quiet",
    ];
    let others = [
        "linear/linear.json",
        "motion/trajectory.json",
        "motion/nominal.csv",
    ];
    for words in [&grid[..], &motion] {
        reduce(folder, words);
    }
    let kept: Vec<Vec<u8>> = others
        .iter()
        .map(|name| std::fs::read(folder.join(name)).unwrap())
        .collect();
    for name in others {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    for words in [&grid[..], &motion] {
        reduce(folder, words);
    }
    for (name, before) in others.iter().zip(kept) {
        assert_eq!(std::fs::read(folder.join(name)).unwrap(), before, "{name}");
    }
    if H5PY.is_done() {
        let program = std::fs::canonicalize("tests/interfaces/linear_hdf5.py").unwrap();
        let mut python = Command::new("python3");
        println!("{}", run(python.arg(program).current_dir(folder)));
        std::fs::remove_file(folder.join("linear/linear.json")).unwrap();
        let other = "import h5py; h5py.File('linear/linear.h5', 'w').attrs['description'] = 'mine'";
        run(Command::new("python3")
            .args(["-c", other])
            .current_dir(folder));
        let output = Command::new(env!("CARGO_BIN_EXE_reduce"))
            .args(&grid)
            .current_dir(folder)
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("linear.h5"), "{told}");
    }
}

/// Too large or too small a grid is refused, with one thing to try.
#[test]
fn grids_have_a_size() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    CASES[1].model(folder);
    for count in ["1", "22"] {
        let output = Command::new(env!("CARGO_BIN_EXE_reduce"))
            .args(["linear", "model.json", "--grid", count])
            .current_dir(folder)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("give another --grid"), "{text}");
    }
}
