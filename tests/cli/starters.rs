//! `reduce new` writes files that run as they are.

use crate::support::{reduce, text};
use serde_json::Value;
use std::path::Path;

const KINDS: [&str; 4] = ["serial", "four-bar", "parallel", "hexapod"];

/// Files and folders directly in a folder, sorted.
fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    names.sort();
    names
}

#[test]
fn every_starter_validates_and_reduces() {
    let folder = tempfile::tempdir().expect("a folder");
    for kind in KINDS {
        let name = format!("my_{}", kind.replace('-', "_"));
        let file = format!("{name}.toml");
        let output = reduce(folder.path(), &["new", &name, "--from", kind]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(
            text(&output.stdout),
            format!("{file} written; look at it, then run `reduce {file}`\n")
        );
        let written = std::fs::read_to_string(folder.path().join(&file)).expect("the file");
        assert!(!written.contains("starter"), "{kind} keeps the placeholder");
        assert!(written.contains(&format!("name = \"{name}\"")), "{kind}");

        let output = reduce(folder.path(), &["validate", &file, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(document["name"], name);

        let output = reduce(folder.path(), &[&file, "--fresh", "--json"]);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{kind}: {}",
            text(&output.stderr)
        );
        let summary: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(summary["reached"], true, "{kind}");
        assert_eq!(
            summary["unrepresented_modes"],
            Value::Array(Vec::new()),
            "{kind}"
        );
        let source = folder.path().join(format!("{name}-reduced/c/{name}.c"));
        assert!(source.is_file(), "{kind}");
    }
}

/// The commands in the comments of a starter work on it.
#[test]
fn the_commands_in_the_comments_work() {
    let folder = tempfile::tempdir().expect("a folder");
    for kind in KINDS {
        let name = kind.replace('-', "_");
        reduce(folder.path(), &["new", &name, "--from", kind]);
        let file = folder.path().join(format!("{name}.toml"));
        let written = std::fs::read_to_string(file).expect("the file");
        let commands: Vec<&str> = written
            .lines()
            .filter_map(|line| line.strip_prefix("#   reduce "))
            .filter_map(|line| line.split("  ").next())
            .collect();
        assert_eq!(commands.len(), 3, "{kind}");
        for command in &commands[..2] {
            let words: Vec<&str> = command.split_whitespace().take(4).collect();
            let output = reduce(folder.path(), &words);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{command}: {}",
                text(&output.stderr)
            );
        }
    }
}

#[test]
fn an_existing_file_is_never_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("arm.toml"), "mine").expect("a file");
    for typed in ["arm", "arm.toml", "./arm"] {
        let output = reduce(folder.path(), &["new", typed, "--from", "serial"]);
        assert_eq!(output.status.code(), Some(2), "{typed}");
        assert!(output.stdout.is_empty(), "{typed}");
    }
    let kept = std::fs::read_to_string(folder.path().join("arm.toml")).expect("the file");
    assert_eq!(kept, "mine");
    assert_eq!(entries(folder.path()), ["arm.toml"]);
}

#[test]
fn folders_are_made_and_bad_names_leave_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["new", "machines/press", "--from", "four-bar", "--json"];
    let output = reduce(folder.path(), &words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["file"], "machines/press.toml");
    assert_eq!(document["name"], "press");
    for name in ["my-arm", "6r", "", "ground", "x.y", "bad/my-arm"] {
        let output = reduce(folder.path(), &["new", name, "--from", "serial"]);
        assert_eq!(output.status.code(), Some(2), "{name}");
    }
    assert_eq!(entries(folder.path()), ["machines"]);
}
