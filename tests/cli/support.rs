//! Running the binary in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(file)
}

/// The binary, run in `folder`, without colours.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reduce"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS");
    command
}

#[track_caller]
pub fn reduce(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments)
        .output()
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A folder with the rigid four-bar as `four_bar.toml`.
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(
        data("four_bar_rigid.toml"),
        folder.path().join("four_bar.toml"),
    )
    .expect("a copy");
    folder
}

/// A folder with the rigid four-bar and its model in `made/`.
pub fn folder_with_model() -> tempfile::TempDir {
    let folder = folder();
    let output = reduce(folder.path(), &["four_bar.toml", "-o", "made", "--fresh"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    folder
}
