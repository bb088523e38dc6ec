//! With `--json` a failure, too, is one document on standard output, and is told on standard error.

use crate::support::{changed, data, reduce};
use serde_json::Value;

#[test]
fn every_verb_reports_its_failure() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::copy(data("four_bar_rigid.toml"), at("good.toml")).unwrap();
    let second =
        "[[coordinate]]\nname = \"second\"\ndrives = \"D\"\n\n[[coordinate]]\nname = \"theta\"";
    let bad = changed(
        "four_bar_rigid.toml",
        &[("[[coordinate]]\nname = \"theta\"", second)],
    );
    let line = 1 + bad
        .lines()
        .position(|line| line.starts_with("name = \"theta\""))
        .unwrap();
    std::fs::write(at("bad.toml"), bad).unwrap();
    std::fs::write(at("model.json"), "{}").unwrap();
    for (arguments, place, message) in [
        (
            &["validate", "bad.toml"][..],
            Some(line),
            "2 actuated coordinate(s)",
        ),
        (
            &["local", "bad.toml", "--at", "0,0"],
            Some(line),
            "2 actuated coordinate(s)",
        ),
        (
            &["local", "good.toml", "--at", "0", "--rate", "nan"],
            None,
            "value 1 of --rate is NaN",
        ),
        (
            &["bad.toml", "-o", "out"],
            Some(line),
            "2 actuated coordinate(s)",
        ),
        (&["eval", "model.json", "--at", "0"], None, "model.json"),
        (&["check", "model.json", "good.toml"], None, "model.json"),
        (&["check", "absent.json", "good.toml"], None, "absent.json"),
    ] {
        let mut words = arguments.to_vec();
        words.push("--json");
        let output = reduce(folder.path(), &words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["valid"], false, "{words:?}");
        let faults = document["faults"].as_array().unwrap();
        assert_eq!(faults.len(), 1, "{words:?} {document:#}");
        let said = faults[0]["message"].as_str().unwrap();
        assert!(said.contains(message), "{words:?} {said}");
        match place {
            Some(line) => {
                assert_eq!(faults[0]["file"], "bad.toml", "{words:?}");
                assert_eq!(faults[0]["line"], line, "{words:?}");
            }
            None => assert!(faults[0]["file"].is_null(), "{words:?}"),
        }
        let told = String::from_utf8(output.stderr).unwrap();
        let words_of = |text: &str| {
            text.split_whitespace()
                .take(3)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert!(told.contains(&words_of(said)), "{words:?} {told}");
    }
    assert!(!at("out").exists());
}
