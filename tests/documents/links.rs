//! Links, paths, verbs and targets that the documents name exist.

use crate::markdown::{Document, documents, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One message for each link of the document that leads nowhere.
fn broken_links(document: &Document) -> Vec<String> {
    let folder = document.path.parent().expect("in a folder");
    let is_broken = |link: &String| {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if file.is_empty() {
            document.path.clone()
        } else {
            folder.join(file)
        };
        !target.exists()
            || !anchor.is_empty() && !Document::read(&target).anchors().contains(&anchor.into())
    };
    document
        .links()
        .into_iter()
        .filter(|link| !link.starts_with("https://"))
        .filter(is_broken)
        .map(|link| format!("{}: {link}", document.name()))
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let broken: Vec<String> = documents().iter().flat_map(broken_links).collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn broken_links_are_found() {
    let text =
        "# Here\n[a](#here) [b](#there) [c](README.md) [d](docs/none.md) [e](README.md#none)";
    let document = Document::parse(&root().join("t.md"), text);
    // A link to the document itself needs it on disk; this one stands in for README.
    let document = Document {
        path: root().join("README.md"),
        ..document
    };
    let broken = broken_links(&document);
    assert!(broken.contains(&"README.md: #there".into()), "{broken:?}");
    assert!(broken.contains(&"README.md: docs/none.md".into()));
    assert!(broken.contains(&"README.md: README.md#none".into()));
    assert!(!broken.contains(&"README.md: README.md".into()));
}

#[test]
fn the_book_has_every_document() {
    let summary = Document::read(&root().join("docs/SUMMARY.md")).links();
    for document in documents() {
        let name = document.name();
        let Some(chapter) = name.strip_prefix("docs/") else {
            continue;
        };
        let listed = summary.iter().any(|link| link == chapter);
        assert!(
            listed || chapter == "SUMMARY.md",
            "{chapter} is in no part of the book"
        );
    }
}

/// Files of the checkout, relative to it.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && name != "target" && name != ".git" {
            files(&path, found);
        } else if path.is_file() {
            found.push(path.strip_prefix(root()).expect("below the root").into());
        }
    }
}

const FOLDERS: [&str; 8] = [
    "src",
    "reducer",
    "exporters",
    "tests",
    "data",
    "docs",
    "benches",
    "examples",
];

/// Whether code in the text names a file or folder of the checkout.
fn is_path(code: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let first = code.split('/').next().unwrap_or_default();
    code.chars().all(is_plain)
        && (code.ends_with(".rs") || code.contains('/') && FOLDERS.contains(&first))
}

#[test]
fn files_that_documents_name_exist() {
    let mut all = Vec::new();
    files(root(), &mut all);
    let mut missing = Vec::new();
    for document in documents() {
        for code in document.code().into_iter().filter(|code| is_path(code)) {
            let exists = root().join(code).exists() || all.iter().any(|path| path.ends_with(code));
            if !exists {
                missing.push(format!("{}: {code}", document.name()));
            }
        }
    }
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}

#[test]
fn verbs_that_documents_name_exist() {
    let mut unknown = Vec::new();
    let mut known = vec!["help".to_string()];
    for document in documents() {
        for code in document.code() {
            let mut words = code.split_whitespace();
            let (Some("reduce"), Some(verb)) = (words.next(), words.next()) else {
                continue;
            };
            if !verb.chars().all(|c| c.is_ascii_lowercase()) || known.iter().any(|k| k == verb) {
                continue;
            }
            let output = Command::new(env!("CARGO_BIN_EXE_reduce"))
                .args([verb, "--help"])
                .output()
                .expect("the binary runs");
            let usage = format!("reduce {verb} ");
            if String::from_utf8_lossy(&output.stdout).contains(&usage) {
                known.push(verb.into());
            } else {
                unknown.push(format!("{}: {code}", document.name()));
            }
        }
    }
    assert!(unknown.is_empty(), "\n{}", unknown.join("\n"));
}

#[test]
fn targets_of_cargo_that_documents_name_exist() {
    let mut missing = Vec::new();
    for document in documents() {
        for code in document
            .code()
            .iter()
            .filter(|code| code.contains("cargo "))
        {
            let words: Vec<&str> = code.split_whitespace().collect();
            for pair in words.windows(2) {
                let folder = match pair[0] {
                    "--test" => "tests",
                    "--bench" => "benches",
                    "--example" => "examples",
                    _ => continue,
                };
                let package = if words.contains(&"mechreduce-exporters") {
                    "exporters"
                } else {
                    ""
                };
                let folder = root().join(package).join(folder).join(pair[1]);
                if !folder.with_extension("rs").exists() && !folder.join("main.rs").exists() {
                    missing.push(format!("{}: {code}", document.name()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}
