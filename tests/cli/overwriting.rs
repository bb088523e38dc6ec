//! Files that are not ours to replace: those the command reads, and those of others.

use crate::support::{folder_with_model, reduce, text};
use std::path::Path;

const MODEL: &str = "made/model.json";

/// Runs a command that must be refused and must leave `file` as it is.
#[track_caller]
fn keeps(folder: &Path, file: &str, arguments: &[&str], why: &str) {
    let before = std::fs::read(folder.join(file)).expect("the file");
    let output = reduce(folder, arguments);
    let said = text(&output.stderr);
    // Lines are broken to the width of a terminal.
    let said = said.replace("\n  │ ", " ");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(said.contains(why), "{arguments:?}: {said}");
    let after = std::fs::read(folder.join(file)).expect("the file");
    assert!(before == after, "{arguments:?} replaced {file}");
}

#[track_caller]
fn works(folder: &Path, arguments: &[&str]) {
    let output = reduce(folder, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
}

#[test]
fn a_command_never_replaces_what_it_reads() {
    let folder = folder_with_model();
    let folder = folder.path();
    let mechanism = "four_bar.toml";
    let path = "[approximation]\ntrajectory = { file = \"path.csv\" }\n";
    let own = std::fs::read_to_string(folder.join(mechanism)).expect("the file");
    std::fs::write(folder.join("along.toml"), format!("{own}\n{path}")).expect("a file");
    std::fs::write(folder.join("path.csv"), "0\n0.5\n1\n").expect("a file");
    let include = "format = 1\ninclude = [\"four_bar.toml\"]\n";
    std::fs::write(folder.join("outer.toml"), include).expect("a file");
    for (file, arguments) in [
        (
            mechanism,
            &["modes", mechanism, "--at", "0", "-o", mechanism][..],
        ),
        (
            mechanism,
            &["modes", "outer.toml", "--at", "0", "-o", mechanism],
        ),
        (
            mechanism,
            &["report", MODEL, mechanism, "-o", "./four_bar.toml"],
        ),
        (
            "path.csv",
            &["modes", "along.toml", "--at", "0", "-o", "path.csv"],
        ),
        (MODEL, &["report", MODEL, "-o", "made/../made/model.json"]),
        (MODEL, &["plot", MODEL, "--what", "errors", "-o", MODEL]),
        (
            mechanism,
            &[
                "plot", MODEL, mechanism, "--what", "errors", "-o", mechanism,
            ],
        ),
        (MODEL, &["export", MODEL, "--format", "hdf5", "-o", MODEL]),
    ] {
        keeps(folder, file, arguments, "is read by the same command");
        let forced = [arguments, &["--force"]].concat();
        keeps(folder, file, &forced, "is read by the same command");
    }
}

#[test]
fn files_of_others_are_replaced_only_by_force() {
    let folder = folder_with_model();
    let folder = folder.path();
    std::fs::create_dir_all(folder.join("mine/src")).expect("a folder");
    std::fs::create_dir_all(folder.join("run/c")).expect("a folder");
    for file in [
        "mine/Cargo.toml",
        "mine/src/lib.rs",
        "mine/README.md",
        "mine/CMakeLists.txt",
        "mine/notes.txt",
        "run/c/README.md",
        "page.html",
    ] {
        std::fs::write(folder.join(file), "of mine\n").expect("a file");
    }
    let foreign = "was not written by this program";
    for (file, arguments) in [
        (
            "mine/Cargo.toml",
            &["export", MODEL, "--format", "rust", "-o", "mine"][..],
        ),
        (
            "mine/CMakeLists.txt",
            &["export", MODEL, "--format", "c", "-o", "mine"],
        ),
        ("page.html", &["report", MODEL, "-o", "page.html"]),
        (
            "page.html",
            &["plot", MODEL, "--what", "errors", "-o", "page.html"],
        ),
        (
            "page.html",
            &["export", MODEL, "--format", "json", "-o", "page.html"],
        ),
        (
            "page.html",
            &["modes", "four_bar.toml", "--at", "0", "-o", "page.html"],
        ),
        (
            "run/c/README.md",
            &["four_bar.toml", "-o", "run", "--fresh"],
        ),
    ] {
        keeps(folder, file, arguments, foreign);
        assert!(!folder.join("mine/src/tables.rs").exists());
        assert!(!folder.join("run/model.json").exists());
    }
    works(
        folder,
        &["export", MODEL, "--format", "rust", "-o", "mine", "--force"],
    );
    works(folder, &["report", MODEL, "-o", "page.html", "--force"]);
    let notes = std::fs::read_to_string(folder.join("mine/notes.txt")).expect("the file");
    assert_eq!(notes, "of mine\n");
}

#[test]
fn files_of_ours_and_empty_ones_are_replaced() {
    let folder = folder_with_model();
    let folder = folder.path();
    std::fs::write(folder.join("empty.svg"), "").expect("a file");
    let source = folder.join("made/c/four_bar_rigid.h");
    std::fs::write(folder.join("made/c/notes.txt"), "of mine\n").expect("a file");
    let header = std::fs::read(&source).expect("a header");
    for arguments in [
        &["four_bar.toml", "-o", "made", "--fresh"][..],
        &["export", MODEL, "--format", "c", "-o", "made/c", "--single"],
        &["export", MODEL, "--format", "rust", "-o", "made/rust"],
        &["export", MODEL, "--format", "hdf5", "-o", "made/model.h5"],
        &["export", "made/model.h5", "--format", "json", "-o", MODEL],
        &["report", MODEL],
        &["plot", MODEL, "--what", "errors", "-o", "empty.svg"],
        &["plot", MODEL, "--what", "boxes", "-o", "empty.svg"],
        &["modes", "four_bar.toml", "--at", "0", "-o", "shapes.vtu"],
        &["modes", "four_bar.toml", "--at", "1", "-o", "shapes.vtu"],
    ] {
        works(folder, arguments);
    }
    assert!(header != std::fs::read(&source).expect("a header"));
    let notes = std::fs::read_to_string(folder.join("made/c/notes.txt")).expect("the file");
    assert_eq!(notes, "of mine\n");
}
