//! Running the tool on mechanisms made for the purpose.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(file)
}

/// The text of a mechanism of `data/` with pieces replaced; each must occur.
pub fn changed(file: &str, changes: &[(&str, &str)]) -> String {
    let mut text = std::fs::read_to_string(data(file)).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{file} has no {from}");
        text = text.replace(from, to);
    }
    text
}

pub fn reduce(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reduce"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .output()
        .unwrap()
}
