//! The report in a real browser: it runs, it moves, it asks nothing of the network.

mod browser;
mod driver;
mod plots;
mod survey;
#[path = "../../exporters/tests/support/tools.rs"]
mod tools;

use browser::{Browser, Findings};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Phone and desk.
const WIDTHS: [usize; 2] = [390, 1400];
/// Largest report of any mechanism of `data/`.
const LARGEST_BYTES: usize = 3_000_000;

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(file)
}

fn reduce() -> Command {
    Command::new(env!("CARGO_BIN_EXE_reduce"))
}

/// Runs the pipeline and returns the folder with the report.
#[track_caller]
fn reduced(name: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = reduce()
        .arg(data(&format!("{name}.toml")))
        .arg("-o")
        .arg(folder.path())
        .output()
        .expect("the binary runs");
    let code = output.status.code();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(code.is_some_and(|c| c < 2), "{name}: {code:?} {said}");
    folder
}

#[track_caller]
fn page(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("report.html")).expect("a report");
    assert!(text.len() < LARGEST_BYTES, "{} bytes", text.len());
    text
}

/// What every report promises, at both widths; returns the findings for what differs.
#[track_caller]
fn visit(browser: &Browser, name: &str, html: &str) -> Vec<Findings> {
    WIDTHS
        .into_iter()
        .map(|width| {
            let found = browser.visit(&format!("{name}-{width}"), html, width);
            assert_eq!(found.problems, Vec::<String>::new(), "{name} at {width} px");
            assert_eq!(found.trouble, "", "{name} at {width} px");
            assert_eq!(found.width, width);
            assert!(found.content_width <= width, "{name}: {found:?}");
            assert_eq!(found.requests, 0, "{name}: {found:?}");
            assert!(found.charts > 0, "{name}: {found:?}");
            assert_eq!(
                found.empty_charts,
                Vec::<String>::new(),
                "{name} at {width} px"
            );
            assert!(
                found.sliders.iter().all(|moved| *moved),
                "{name}: {found:?}"
            );
            assert!(found.modes.iter().all(|moved| *moved), "{name}: {found:?}");
            assert!(found.turned_by_key, "{name}: {found:?}");
            assert_eq!(found.without_name, Vec::<String>::new(), "{name}");
            found
        })
        .collect()
}

fn check(name: &str, n_sliders: usize, n_modes: usize, n_marks: usize, blocks: &[&str]) {
    let Some(browser) = Browser::find() else {
        return;
    };
    let folder = reduced(name);
    for found in visit(&browser, name, &page(folder.path())) {
        assert_eq!(found.sliders.len(), n_sliders, "{name}");
        assert_eq!(found.modes.len(), n_modes, "{name}");
        // A plane of its grid, all of a line, or all scattered places.
        match n_sliders == 1 && found.width < 1000 {
            // Too many to be told apart on a narrow page.
            true => assert!(found.domain_marks > n_marks / 3, "{name}: {found:?}"),
            false => assert_eq!(found.domain_marks, n_marks, "{name}"),
        }
        assert_eq!(found.blocks_with_errors, blocks, "{name}");
        // The page closes the loops itself; positions to compare with are in single precision.
        let gap = found.closure_error.expect("a full model");
        assert!(gap < 2e-7, "{name}: {gap}");
    }
}

#[test]
fn the_orthoglide_moves_on_its_three_rails() {
    check(
        "orthoglide",
        3,
        3,
        25,
        &["mass", "gyroscopic", "gravity", "outputs"],
    );
}

#[test]
fn the_four_bar_swings_and_vibrates() {
    let blocks = ["mass", "stiffness", "gyroscopic", "gravity", "outputs"];
    check("four_bar", 1, 7, 65, &blocks);
}

#[test]
fn the_hexapod_has_six_sliders_and_twelve_modes() {
    let blocks = [
        "mass",
        "stiffness",
        "gyroscopic",
        "gravity",
        "damping",
        "outputs",
    ];
    check("hexapod", 6, 12, 160, &blocks);
}

#[test]
fn a_model_alone_shows_what_it_holds_and_says_what_is_missing() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let folder = reduced("four_bar");
    let file = folder.path().join("alone/report.html");
    let status = reduce()
        .arg("report")
        .arg(folder.path().join("model.json"))
        .arg("-o")
        .arg(&file)
        .status()
        .expect("the binary runs");
    assert!(status.success());
    let html = page(&folder.path().join("alone"));
    for found in visit(&browser, "four_bar_alone", &html) {
        assert!(found.says_what_is_missing, "{found:?}");
        assert_eq!(found.blocks_with_errors, Vec::<String>::new());
    }
}

#[test]
fn the_pipeline_and_the_verb_write_the_same_report() {
    let folder = reduced("four_bar");
    let file = folder.path().join("again.html");
    let status = reduce()
        .arg("report")
        .arg(folder.path().join("model.json"))
        .arg(data("four_bar.toml"))
        .arg("-o")
        .arg(&file)
        .args(["--jobs", "1"])
        .status()
        .expect("the binary runs");
    assert!(status.success());
    let again = std::fs::read_to_string(&file).expect("a report");
    assert!(again == page(folder.path()), "the two reports differ");
}

#[test]
fn a_joint_that_the_drawing_does_not_know_is_told_on_the_page() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let folder = reduced("orthoglide");
    let html = page(folder.path());
    let known = r#""kind":"spherical""#;
    assert!(html.contains(known));
    let strange = html.replace(known, r#""kind":"sledge""#);
    let found = browser.visit("strange", &strange, 1400);
    assert!(found.trouble.contains("sledge"), "{found:?}");
    assert!(
        found.problems.iter().any(|p| p.contains("sledge")),
        "{found:?}"
    );
}

#[test]
fn a_page_with_an_error_or_a_request_is_found_out() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let broken = browser.visit("broken", "<!doctype html><script>lost()</script>", 1400);
    assert!(
        broken.problems.iter().any(|p| p.contains("lost")),
        "{broken:?}"
    );
    let asking = "<!doctype html><img src=\"http://localhost:9/picture.png\">";
    let asking = browser.visit("asking", asking, 1400);
    assert!(
        asking.requests > 0 || !asking.problems.is_empty(),
        "{asking:?}"
    );
}
