//! Bad scenarios are refused with the text in `snapshots/`: the place, the fact, what to try.

use crate::support::{reduce_in, shown};
use std::path::Path;

#[test]
fn every_bad_scenario_is_explained() {
    let folder = Path::new("tests/simulate/bad");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    assert!(names.len() >= 9);
    for name in names {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("out");
        let output = reduce_in(folder, &["simulate", &name, "-o", target.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(output.stdout.is_empty(), "{name}");
        assert!(!target.exists(), "{name}: nothing is written");
        let text = shown(&output.stderr);
        assert!(text.contains("help: "), "{name}: {text}");
        insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name.trim_end_matches(".toml").to_owned(), text);
        });
    }
}
