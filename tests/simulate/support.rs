//! Models that several tests share.

use reducer::approximation::{SampleDatabase, Silent};
use reducer::description::load;
use reducer::description::mechanism::Mechanism;
use reducer::dynamics::full::{self, FullError, FullInstant};
use reducer::dynamics::reduced::{self, ReducedError, ReducedInstant};
use reducer::dynamics::scenario::{self, Scenario, ScenarioFaults};
use reducer::error::Explain;
use reducer::pipeline;
use reducer::reduced_model::{Evaluator, ReducedModel};
use reducer::reduction::LocalReducer;
use reducer::sampling::MechanismModel;
use std::ops::ControlFlow;
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

fn read_loop(text: &str) -> Result<Scenario, ScenarioFaults> {
    let fixtures = std::fs::canonicalize("tests/fixtures").unwrap();
    let text = text.replace("FIXTURES", fixtures.to_str().unwrap());
    let (_folder, path) = scenario_file("loop.toml", &text);
    scenario::load(&path)
}

/// A scenario whose mechanism is in DATA or FIXTURES.
pub fn load_loop(text: &str) -> Scenario {
    read_loop(text).unwrap_or_else(|faults| panic!("{:?}", faults.faults))
}

/// What is wrong with a scenario.
pub fn faults(text: &str) -> String {
    let faults = read_loop(text).unwrap_err().faults;
    let told = faults.iter().map(|f| format!("{f} {:?}", f.help()));
    told.collect::<Vec<_>>().join("\n")
}

/// Rows of the full model.
pub fn run_full(scenario: &Scenario) -> Result<Vec<FullInstant>, FullError> {
    let reducer = LocalReducer::new(&scenario.mechanism).unwrap();
    let mut seen = Vec::new();
    let (drives, initial) = (&scenario.drives, &scenario.initial);
    full::simulate(&reducer, drives, initial, &scenario.full, &mut |instant| {
        if instant.sample {
            seen.push(instant.clone());
        }
        ControlFlow::Continue(())
    })?;
    Ok(seen)
}

/// Rows of the reduced model.
pub fn try_reduced(scenario: &Scenario) -> Result<Vec<ReducedInstant>, ReducedError> {
    let model = reduce_mechanism(&scenario.mechanism);
    let evaluator = Evaluator::new(&model).unwrap();
    let mut seen = Vec::new();
    let (drives, initial) = (&scenario.drives, &scenario.initial);
    reduced::simulate(
        &evaluator,
        drives,
        initial,
        &scenario.reduced,
        &mut |instant| {
            seen.push(instant.clone());
            ControlFlow::Continue(())
        },
    )?;
    Ok(seen)
}

/// Rows of the reduced model.
pub fn run_reduced(scenario: &Scenario) -> Vec<ReducedInstant> {
    try_reduced(scenario).unwrap_or_else(|error| panic!("{error}"))
}
