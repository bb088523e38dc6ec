//! MISRA C:2012 by cppcheck: deviations are those that the documentation lists, with reasons.

use crate::generated::{CPPCHECK, write_c};
use crate::models::model;
use exporters::ExportOptions;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Small models, with modal coordinates and scaled rates, with boxes, with several coordinates: cppcheck takes long
/// over large tables.
const CHECKED: [&str; 4] = [
    "one_link",
    "one_link_stiffened",
    "four_bar_rigid",
    "orthoglide",
];

/// Rules in the first column of the table below the heading of the document.
fn listed() -> BTreeSet<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/generated-code.md");
    let text = std::fs::read_to_string(file).expect("the document");
    let section = text.split("## MISRA C:2012").nth(1).expect("the section");
    let rows = section
        .lines()
        .filter(|l| l.starts_with("| ") && !l.starts_with("| rule"));
    let rules: BTreeSet<String> = rows
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            assert!(cells.len() == 3 && !cells[2].is_empty(), "no reason: {row}");
            cells[0].split(' ').next().unwrap_or_default().to_owned()
        })
        .collect();
    assert!(rules.len() > 3, "no table of deviations");
    rules
}

/// Rules that cppcheck finds a deviation from.
fn found(name: &str) -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a folder");
    write_c(model(name), &ExportOptions::default(), folder.path());
    let output = Command::new("cppcheck")
        .current_dir(folder.path())
        .args(["--addon=misra", "--std=c99", "--enable=style", "--quiet"])
        .args([
            "--suppress=missingIncludeSystem",
            "--template={file}:{line}: {id}",
        ])
        .args([format!("{name}.c"), format!("{name}_selftest.c")])
        .output()
        .expect("cppcheck");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let rule = |line: &str| line.split("misra-c2012-").nth(1).map(str::to_owned);
    let rules: BTreeSet<String> = said.lines().filter_map(rule).collect();
    assert!(!rules.is_empty(), "the addon said nothing: {said}");
    for rule in &rules {
        let place = said.lines().find(|l| l.ends_with(&format!("-{rule}")));
        eprintln!(
            "{name}: rule {rule}, first at {}",
            place.unwrap_or_default()
        );
    }
    rules
}

#[test]
fn deviations_are_those_that_the_documentation_lists() {
    if !CPPCHECK.is_done() {
        return;
    }
    let found: BTreeSet<String> = CHECKED.into_iter().flat_map(found).collect();
    assert_eq!(
        found,
        listed(),
        "found (left) and listed in docs/generated-code.md (right)"
    );
}
