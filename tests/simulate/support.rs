//! Models that several tests share.

use reducer::approximation::{SampleDatabase, Silent};
use reducer::description::load;
use reducer::description::mechanism::Mechanism;
use reducer::pipeline;
use reducer::reduced_model::ReducedModel;
use reducer::sampling::MechanismModel;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The reduced model of a mechanism.
pub fn reduce_mechanism(mechanism: &Mechanism) -> ReducedModel {
    let local = MechanismModel::new(mechanism).unwrap();
    let mut database = SampleDatabase::in_memory();
    pipeline::reduce(&local, &mechanism.approximation, &Silent, &mut database)
        .unwrap()
        .0
}

/// The four-bar with one constraint mode and five internal modes.
pub fn four_bar() -> &'static ReducedModel {
    static MODEL: OnceLock<ReducedModel> = OnceLock::new();
    MODEL.get_or_init(|| reduce_mechanism(&load(Path::new("data/four_bar.toml")).unwrap()))
}

/// `count` equal intervals from 0 to `duration`.
pub fn times(duration: f64, count: u32) -> Vec<f64> {
    (0..=count)
        .map(|i| duration * f64::from(i) / f64::from(count))
        .collect()
}

/// Runs the program in a folder.
pub fn reduce_in(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reduce"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .output()
        .unwrap()
}

/// Output as text.
pub fn shown(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The file `name` of a fresh folder with this text, and the folder, which lives as long as it is
/// held.
pub fn scenario_file(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let data = std::fs::canonicalize("data").unwrap();
    let text = text.replace("DATA", data.to_str().unwrap());
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path)
}
