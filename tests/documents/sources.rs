//! What the sources of the libraries say: equations that exist, no options of the command line.

use crate::markdown::root;
use std::collections::BTreeSet;
use std::path::Path;

/// Texts of all Rust sources below a folder, with their names.
fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            found.push((path.display().to_string(), text));
        }
    }
}

fn libraries() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for library in ["reducer/src", "reducer/kernel/src", "exporters/src"] {
        sources(&root().join(library), &mut found);
    }
    found
}

/// What stands between `open` and the next `close`, wherever that is in a text.
fn between<'a>(text: &'a str, open: &'a str, close: char) -> impl Iterator<Item = &'a str> {
    let parts = text.split(open).skip(1);
    parts.filter_map(move |part| part.split(close).next())
}

/// A number of an equation: section and place in it.
fn is_number(text: &str) -> bool {
    let is_count = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let parts = text.split_once('.');
    parts.is_some_and(|(section, place)| is_count(section) && is_count(place))
}

/// Numbers of the displayed equations, in order; every display has one, of its own section.
fn numbered(text: &str) -> Vec<String> {
    let mut numbers = Vec::new();
    for section in text.split("\n## ").skip(1) {
        let own = section.split('.').next().unwrap_or_default();
        for display in section.split("\n\n").filter(|p| p.starts_with("    ")) {
            let found = between(display, "(", ')').filter(|part| is_number(part));
            let before = numbers.len();
            numbers.extend(found.map(str::to_owned));
            assert!(numbers.len() > before, "without a number:\n{display}");
            for number in &numbers[before..] {
                assert!(number.starts_with(&format!("{own}.")), "{number} in {own}");
            }
        }
    }
    numbers
}

#[test]
fn equations_are_numbered_once_and_cited_by_the_code() {
    let text = std::fs::read_to_string(root().join("docs/method.md")).expect("the method");
    let list = numbered(&text);
    let numbers: BTreeSet<&str> = list.iter().map(String::as_str).collect();
    assert_eq!(numbers.len(), list.len(), "a number twice: {list:?}");
    let libraries = libraries();
    let mut cited = BTreeSet::new();
    for (name, source) in &libraries {
        for number in between(source, "[M ", ']').flat_map(|list| list.split(", ")) {
            assert!(numbers.contains(number), "{name}: no equation `{number}`");
            cited.insert(number);
        }
    }
    let unused: Vec<_> = numbers.difference(&cited).collect();
    assert!(unused.is_empty(), "not cited: {unused:?}");
}

#[test]
fn libraries_know_no_options_of_the_command_line() {
    let mut found = Vec::new();
    for (name, source) in libraries() {
        for line in source.lines().filter(|l| !l.trim().starts_with("//")) {
            if between(line, "--", ' ').any(|word| word.starts_with(|c: char| c.is_lowercase())) {
                found.push(format!("{name}: {line}"));
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn the_citation_names_this_version() {
    let text = std::fs::read_to_string(root().join("CITATION.cff")).expect("the citation");
    let line = concat!("\nversion: ", env!("CARGO_PKG_VERSION"), "\n");
    assert!(text.contains(line), "no{line}in\n{text}");
}
