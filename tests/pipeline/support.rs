//! Running the binary.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(file)
}

pub fn reduce() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reduce"));
    command.env("NO_COLOR", "1");
    command
}

#[track_caller]
pub fn run(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"))
}

/// Runs with `--json` and returns the document and the exit code.
#[track_caller]
pub fn json(command: &mut Command) -> (Value, i32) {
    let output = run(command.arg("--json"));
    let document = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
        panic!(
            "{command:?}: {e}\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
    });
    (document, output.status.code().expect("an exit code"))
}

/// Reduces a mechanism into `folder`.
#[track_caller]
pub fn pipeline(mechanism: &Path, folder: &Path) -> (Value, i32) {
    json(reduce().arg(mechanism).arg("-o").arg(folder))
}

/// A mechanism of `data/` with pieces of its text replaced, written into `folder`.
pub fn changed(file: &str, changes: &[(&str, &str)], folder: &Path) -> PathBuf {
    let mut text = std::fs::read_to_string(data(file)).expect("a data file");
    for (from, to) in changes {
        assert!(text.contains(from), "{file} has no {from}");
        text = text.replace(from, to);
    }
    let path = folder.join(file);
    std::fs::write(&path, text).expect("a temporary folder");
    path
}

/// A mechanism of `data/` whose mean errors alone are bounded, written into `folder`.
pub fn with_mean_alone(file: &str, folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(data(file)).expect("a data file");
    let table = "[approximation]\n";
    let text = match text.contains("largest = false") {
        true => text,
        false if text.contains(table) => text.replace(table, "[approximation]\nlargest = false\n"),
        false => text + "\n[approximation]\nlargest = false\n",
    };
    let path = folder.join(file);
    std::fs::write(&path, text).expect("a temporary folder");
    path
}

/// All files of a folder with their bytes, sample database left out.
pub fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut out = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.file_name().is_some_and(|n| n == ".samples") {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("inside").to_owned();
                out.push((name, std::fs::read(&path).expect("a file")));
            }
        }
    }
    out.sort();
    out
}
