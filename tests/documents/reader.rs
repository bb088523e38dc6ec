//! The program of model-formats.md that reads `model.json`, against the evaluator.

use crate::markdown::{Document, root};
use crate::tools::PYTHON;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "read_model.py";

fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("a program");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output.stdout
}

fn matrix(value: &serde_json::Value) -> Vec<f64> {
    let rows = value.as_array().expect("rows").iter();
    rows.flat_map(|row| row.as_array().expect("a row"))
        .map(|x| x.as_f64().expect("a number"))
        .collect()
}

fn compare(folder: &Path, form: &str, mechanism: &str, places: &[&str]) {
    let text = std::fs::read_to_string(root().join("data").join(mechanism)).expect("a data file");
    let largest = match text.contains("largest = false") {
        true => "",
        false => "\nlargest = false",
    };
    let table = format!("[approximation]\nform = \"{form}\"{largest}");
    let text = match text.contains("[approximation]") {
        true => text.replace("[approximation]", &table),
        false => format!("{text}\n{table}\n"),
    };
    std::fs::write(folder.join(mechanism), text).expect("a file");
    let reduce = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_reduce"));
        command.current_dir(folder);
        command
    };
    run(reduce().args([mechanism, "-o", "made", "--fresh", "-q"]));
    for at in places {
        let read = run(Command::new("python3")
            .current_dir(folder)
            .args([PROGRAM, "made/model.json"])
            .args(at.split(',')));
        let read = matrix(&serde_json::from_slice(&read).expect("JSON"));
        let at = format!("--at={at}");
        let exact = run(reduce().args(["eval", "made/model.json", &at, "--json"]));
        let exact: serde_json::Value = serde_json::from_slice(&exact).expect("JSON");
        let exact = matrix(&exact["mass"]);
        let size = exact.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        assert_eq!(read.len(), exact.len());
        for (a, b) in read.iter().zip(&exact) {
            assert!((a - b).abs() < 1e-13 * size, "{form} {at}: {a} {b}");
        }
    }
}

#[test]
fn the_reader_of_json_models_computes_the_mass_matrix() {
    if !PYTHON.is_done() {
        return;
    }
    let document = Document::read(&root().join("docs/model-formats.md"));
    let first = format!("# {PROGRAM}");
    let block = document.blocks.iter().find(|b| b.lines[0] == first);
    let lines = &block.expect("the program").lines;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(PROGRAM), lines.join("\n")).expect("a file");
    for form in ["lagrangian", "direct"] {
        compare(
            folder.path(),
            form,
            "four_bar.toml",
            &["0.5", "-1.2", "0.81"],
        );
        compare(folder.path(), form, "orthoglide.toml", &["0.1,0.2,-0.05"]);
    }
}
