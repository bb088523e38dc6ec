//! Tables of numbers: a motion of a scenario, and the trajectory of a mechanism.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;

static MECHANISM: LazyLock<String> = LazyLock::new(|| {
    let path = fuzz::repository("data/four_bar_rigid.toml");
    std::fs::read_to_string(path).expect("a mechanism")
});

static ALONG: LazyLock<String> = LazyLock::new(|| {
    let trajectory = "[approximation]\ntrajectory = { file = \"table.csv\" }\n";
    format!("{}\n{trajectory}", *MECHANISM)
});

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mechanism.toml"), &*MECHANISM).expect("a file");
    let scenario = "format = 1\nmechanism = \"mechanism.toml\"\nduration = 1\n[[drive]]\n\
                    coordinate = \"theta\"\nmotion = { table = { file = \"table.csv\" } }\n";
    std::fs::write(folder.path().join("scenario.toml"), scenario).expect("a file");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let table = |_: &Path| Ok(bytes.to_vec());
    let _ = reducer::description::parse(&ALONG, "fuzz.toml", &table);
    std::fs::write(FOLDER.path().join("table.csv"), bytes).expect("a file");
    let _ = reducer::dynamics::scenario::load(&FOLDER.path().join("scenario.toml"));
});
