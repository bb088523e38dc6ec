//! Tools that compile and check generated code, with their flags, and what happens where one is
//! missing.
#![allow(dead_code)]

use std::process::Command;

/// C99 with the warnings that generated code is free of.
pub const WARNINGS: &[&str] = &[
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wshadow",
    "-Wcast-qual",
    "-Werror",
];

/// Without it compilers may contract a product and a sum into one rounding.
pub const NO_CONTRACTION: &str = "-ffp-contract=off";

/// Whether a tool is there.
pub fn is_installed(tool: &str, without: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok() || missing(tool, without)
}

/// Whether Python is there with these modules.
pub fn has_python(modules: &str, without: &str) -> bool {
    let import = format!("import {modules}");
    let found = Command::new("python3").args(["-c", &import]).output();
    found.is_ok_and(|o| o.status.success()) || missing(&format!("python3 with {modules}"), without)
}

/// A missing tool fails the test where `REDUCE_REQUIRE_TOOLS` is set and is reported otherwise.
pub fn missing(tool: &str, without: &str) -> bool {
    assert!(
        std::env::var_os("REDUCE_REQUIRE_TOOLS").is_none(),
        "missing and required here: {tool}; without, {without}"
    );
    eprintln!("SKIPPED: missing: {tool}; {without}");
    false
}

/// C compilers of this machine.
pub fn compilers() -> Vec<&'static str> {
    ["gcc", "clang"]
        .into_iter()
        .filter(|c| is_installed(c, "generated C is not compiled with it"))
        .collect()
}

/// Checks that take long run in `.ci/slow` only.
pub fn slow() -> bool {
    std::env::var_os("REDUCE_SLOW").is_some()
}

/// Runs a program that must succeed and returns what it printed.
#[track_caller]
pub fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
