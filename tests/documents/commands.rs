//! Every command of every document is run, here or by `.ci/run`.

use crate::markdown::{Document, documents, root};
use crate::runner::{Reader, Step, Typed, steps};
use crate::tools::{CC, Check, H5PY, OCTAVE};

/// Programs that documents use besides `reduce`, and how to see whether they are there.
const TOOLS: [(&str, Check); 3] = [("cc", CC), ("python3", H5PY), ("octave-cli", OCTAVE)];

/// Who runs a command.
enum Runner {
    /// The reader changes the folder.
    Folder(String),
    /// This test, in a shell, with these words.
    Here(String),
    /// `.ci/run`, with these words or more of them.
    Ci,
    /// A program that this machine does not have.
    Skipped,
    Nobody,
}

fn runner(text: &str) -> Runner {
    let first = text.split_whitespace().next().unwrap_or_default();
    // The same program; `.ci/run` shows that cargo builds and finds it.
    if let Some(words) = text.strip_prefix("cargo run --release -- ")
        && is_in_ci(text)
    {
        return Runner::Here(format!("reduce {words}"));
    }
    match first {
        "cd" => Runner::Folder(text["cd".len()..].trim().into()),
        "reduce" => Runner::Here(text.into()),
        "cargo" if is_in_ci(text) => Runner::Ci,
        _ => match TOOLS.iter().find(|(name, _)| *name == first) {
            Some((_, check)) if check.is_done() => Runner::Here(text.into()),
            Some(_) => Runner::Skipped,
            None => Runner::Nobody,
        },
    }
}

/// Whether a line of `.ci/run` is this command, perhaps with more words behind it.
fn is_in_ci(text: &str) -> bool {
    let script = std::fs::read_to_string(root().join(".ci/run")).expect(".ci/run");
    script.lines().any(|line| {
        line.trim()
            .strip_prefix(text)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

fn follow(typed: &Typed, reader: &mut Reader) -> Result<(), String> {
    match runner(&typed.text) {
        Runner::Folder(to) => reader.change_folder(&to),
        Runner::Here(text) => reader.run(&text, typed),
        Runner::Ci | Runner::Skipped => Ok(()),
        Runner::Nobody => Err("nobody runs this: neither this test nor `.ci/run`".into()),
    }
}

/// Does what the document says; one message for each thing that did not go as it says.
fn read(document: &Document) -> Vec<String> {
    let mut reader = Reader::new();
    let mut faults = Vec::new();
    for step in steps(document) {
        match step {
            Step::Write { path, text } => reader.write(&path, &text),
            Step::Type(typed) => {
                if let Err(fault) = follow(&typed, &mut reader) {
                    let (name, line) = (document.name(), typed.line);
                    faults.push(format!("{name}:{line}: {}\n{fault}", typed.text));
                }
            }
        }
    }
    faults
}

#[test]
fn every_command_does_what_its_document_says() {
    let faults: Vec<String> = documents().iter().flat_map(read).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n\n"));
}

#[test]
fn commands_that_nobody_runs_or_that_fail_are_found() {
    let text = "```sh\nreduce --version\nreduce validate data/none.toml  # exit code 2\n```\n\
                ```console\n$ reduce --version\nreduce …\n```\n\
                ```sh\nmake all\ncargo publish\nreduce validate data/none.toml\ncd nowhere\n```\n\
                ```console\n$ reduce --version\nanother …\n```\n";
    let faults = read(&Document::parse(&root().join("t.md"), text));
    let lines: Vec<&str> = faults.iter().filter_map(|f| f.lines().next()).collect();
    assert_eq!(
        lines,
        [
            "t.md:10: make all",
            "t.md:11: cargo publish",
            "t.md:12: reduce validate data/none.toml",
            "t.md:13: cd nowhere",
            "t.md:16: reduce --version",
        ]
    );
}

#[test]
fn commands_stand_in_blocks_that_are_run() {
    let starts = ["reduce ", "cargo ", "cc ", "$ "];
    let faults: Vec<String> = documents()
        .iter()
        .flat_map(|document| {
            let blocks = document.blocks.iter();
            blocks
                .filter(|block| !matches!(block.language.as_str(), "sh" | "console"))
                .flat_map(|block| block.lines.iter().filter(|line| !is_synopsis(line)))
                .filter(|line| starts.iter().any(|start| line.starts_with(start)))
                .map(|line| format!("{}: {line}", document.name()))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(faults.is_empty(), "not run:\n{}", faults.join("\n"));
}

/// Whether a line says how to write commands: it has choices or placeholders in capitals.
fn is_synopsis(line: &str) -> bool {
    line.contains(['[', '|', '…'])
        || line
            .split([' ', '.'])
            .any(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase()))
}
