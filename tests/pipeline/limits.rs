//! Runs that end: budgets, time, memory and a disk that is full.

use crate::support::{changed, contents, data, json, pipeline, reduce, run};
use crate::tools::SMALL_DISK;
use std::path::Path;
use std::process::Command;

const GRAVITY: &str = "gravity = [0, 0, -9.81]";

/// The rigid four-bar with more lines in `[approximation]`.
fn four_bar(settings: &str, folder: &Path) -> std::path::PathBuf {
    let text = std::fs::read_to_string(data("four_bar_rigid.toml")).expect("a data file");
    let file = folder.join("four_bar.toml");
    std::fs::write(&file, format!("{text}\n[approximation]\n{settings}\n")).expect("a file");
    file
}

#[test]
fn a_budget_leaves_a_model_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    for (settings, budget) in [
        ("tolerance = 1e-6\nmax_samples = 200", "samples"),
        ("tolerance = 1e-6\nmax_boxes = 2\nmax_degree = 6", "boxes"),
        ("tolerance = 1e-6\nmax_numbers = 300", "numbers"),
    ] {
        let file = four_bar(settings, folder.path());
        let made = folder.path().join(budget);
        let (summary, code) = pipeline(&file, &made);
        assert_eq!(code, 1, "{summary}");
        assert_eq!(summary["cut_short"], budget);
        assert_eq!(summary["reached"], false);
        assert!(summary["boxes"].as_u64() > Some(0), "{summary}");
        for written in ["model.json", "model.h5", "report.html", "c", "rust"] {
            assert!(made.join(written).exists(), "{written}");
        }
        let text = std::fs::read_to_string(made.join("model.json")).expect("a model");
        assert!(text.contains(&format!("\"cut_short\":\"{budget}\"")));
        let model = made.join("model.h5");
        let (value, code) = json(reduce().arg("eval").arg(&model).args(["--at", "0.2"]));
        assert_eq!((code, &value["status"]), (0, &"inside".into()));
        let told = run(reduce().arg(&file).arg("-o").arg(&made));
        let text = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(
            text.contains("ended early: ") && text.contains(&format!("max_{budget}")),
            "{text}"
        );
    }
}

#[test]
fn a_run_without_time_is_continued_by_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = four_bar("tolerance = 1e-5", folder.path());
    let made = folder.path().join("made");
    let (summary, code) = json(
        reduce()
            .arg(&file)
            .args(["--time", "0s"])
            .arg("-o")
            .arg(&made),
    );
    assert_eq!((code, &summary["cut_short"]), (1, &"time".into()));
    let (summary, code) = pipeline(&file, &made);
    assert_eq!((code, &summary["cut_short"]), (0, &serde_json::Value::Null));
    assert!(summary["evaluated"].as_u64() < summary["samples"].as_u64());
    let whole = folder.path().join("whole");
    let (_, code) = json(
        reduce()
            .arg(&file)
            .args(["--memory", "2G", "--fresh"])
            .arg("-o")
            .arg(&whole),
    );
    assert_eq!(code, 0);
    assert!(
        contents(&made) == contents(&whole),
        "a run that went on gives the same bytes"
    );
}

#[test]
fn sizes_and_times_that_are_none_are_refused() {
    let file = data("four_bar_rigid.toml");
    for words in [
        ["--memory", "4X"],
        ["--memory", "1K"],
        ["--time", "soon"],
        ["--time", "-1"],
    ] {
        let (document, code) = json(reduce().arg(&file).args(words));
        assert_eq!((code, &document["valid"]), (2, &false.into()), "{words:?}");
    }
}

/// Removes the file system in the end.
struct Mounted<'a>(&'a Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

/// Neither samples nor files that a full disk cuts off are taken for whole.
#[test]
fn a_full_disk_leaves_nothing_half_written() {
    if !SMALL_DISK.is_done() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).expect("a folder");
    let mount = |options: &str| {
        let words = ["-t", "tmpfs", "-o", options, "tmpfs"];
        let mounted = Command::new("mount").args(words).arg(&disk).status();
        assert!(mounted.is_ok_and(|status| status.success()), "{options}");
    };
    mount("size=128k");
    let _mounted = Mounted(&disk);
    let file = changed("four_bar_rigid.toml", &[(GRAVITY, GRAVITY)], folder.path());
    let made = disk.join("made");
    let full = |command: &mut Command| {
        let output = run(command);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("No space left"), "{said}");
        let files = if made.exists() {
            contents(&made)
        } else {
            Vec::new()
        };
        assert!(files.is_empty(), "{files:?}");
    };
    // First the samples have no place, then the files.
    full(reduce().arg(&file).arg("-o").arg(&made));
    let elsewhere = folder.path().join("samples");
    full(
        reduce()
            .arg(&file)
            .arg("--samples-dir")
            .arg(&elsewhere)
            .arg("-o")
            .arg(&made),
    );
    mount("remount,size=64m");
    let (summary, code) = pipeline(&file, &made);
    assert_eq!(code, 0, "{summary}");
    let whole = folder.path().join("whole");
    pipeline(&file, &whole);
    assert!(
        contents(&made) == contents(&whole),
        "a run after a full disk gives the same bytes"
    );
}
