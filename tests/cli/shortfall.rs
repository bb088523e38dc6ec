//! What a run says of a tolerance that it does not reach.

use crate::support::{folder, reduce, text};

/// The same text with `#` for every number: figures at the edge of what a fit can do vary.
fn without_numbers(text: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | 'e');
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let before = rest[..start].trim_end_matches('-');
        out.push_str(before);
        out.push('#');
        rest = rest[start..].trim_start_matches(is_number);
    }
    out + rest
}

#[test]
fn boxes_that_fall_short_are_listed_and_the_exit_code_tells() {
    let folder = folder();
    let path = folder.path().join("four_bar.toml");
    let mut mechanism = std::fs::read_to_string(&path).expect("the mechanism");
    mechanism.push_str("\n[approximation]\ntolerance = 1e-9\nminimal_width = 10\nmax_degree = 3\n");
    std::fs::write(&path, mechanism).expect("a file");
    let output = reduce(
        folder.path(),
        &["four_bar.toml", "-o", "made", "--fresh", "--jobs", "1"],
    );
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(folder.path().join("made/model.json").exists());
    let shown: String = without_numbers(&text(&output.stdout))
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n")
        .collect();
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("tolerance_not_reached", shown);
    });
}
