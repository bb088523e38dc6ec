//! Scenario files beside a valid mechanism.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use tempfile::TempDir;

/// The mechanism where scenarios of the corpus look for it.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("data/scenarios");
    std::fs::create_dir_all(&inner).expect("a folder");
    for name in ["four_bar", "one_link", "orthoglide", "ralf"] {
        let name = format!("data/{name}.toml");
        std::fs::copy(fuzz::repository(&name), folder.path().join(&name)).expect("a copy");
    }
    folder
});

fuzz_target!(|text: &[u8]| {
    let path = FOLDER.path().join("data/scenarios/fuzz.toml");
    std::fs::write(&path, text).expect("a file");
    if let Ok(scenario) = reducer::dynamics::scenario::load(&path) {
        assert!(scenario.duration > 0.0);
        assert!(scenario.instants.len() >= 2);
    }
});
