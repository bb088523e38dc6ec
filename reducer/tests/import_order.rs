//! Imports of the library point backwards in the order in which `lib.rs` lists its modules.

use std::fs;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Modules in the order of `lib.rs`.
fn modules() -> Vec<String> {
    let text = fs::read_to_string(source().join("lib.rs")).expect("lib.rs");
    let lines = text.lines().map(str::trim);
    let named = lines.filter_map(|line| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    named.map(str::to_owned).collect()
}

/// Every Rust file below a folder or file.
fn files(place: &Path, found: &mut Vec<PathBuf>) {
    if place.is_dir() {
        for entry in fs::read_dir(place).expect("a folder") {
            files(&entry.expect("an entry").path(), found);
        }
    } else if place.is_file() && place.extension().is_some_and(|ending| ending == "rs") {
        found.push(place.to_owned());
    }
}

/// The top modules that a text names as `crate::…`, braces after `crate::` included.
fn named(text: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        let of_name = |c: &char| c.is_alphanumeric() || *c == '_';
        text.trim_start().chars().take_while(of_name).collect()
    };
    let mut out = Vec::new();
    for rest in text.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(list) => {
                let mut depth = 1;
                let mut start = 0;
                for (i, c) in list.char_indices() {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    if depth == 0 || (depth == 1 && c == ',') {
                        out.push(word(&list[start..i]));
                        start = i + 1;
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            None => out.push(word(rest)),
        }
    }
    out
}

#[test]
fn modules_are_read_from_all_ways_to_name_them() {
    let text =
        "use crate::lie::Frame; use crate::{model::{a, b}, modes}; let x = crate::error::y();";
    assert_eq!(named(text), ["lie", "model", "modes", "error"]);
}

#[test]
fn imports_point_backwards() {
    let order = modules();
    assert!(order.len() > 10, "{order:?}");
    let mut forward = Vec::new();
    for (place, module) in order.iter().enumerate() {
        let mut own = Vec::new();
        files(&source().join(module), &mut own);
        files(&source().join(format!("{module}.rs")), &mut own);
        assert!(!own.is_empty(), "{module} has no file");
        for file in own {
            let text = fs::read_to_string(&file).expect("a source file");
            for used in named(&text) {
                match order.iter().position(|other| *other == used) {
                    Some(other) if other > place => {
                        let file = file.strip_prefix(source()).expect("below src");
                        forward.push(format!("{} uses {used}", file.display()));
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(forward.is_empty(), "{forward:#?}");
}
