//! A run that is killed goes on from its stored samples to the same model.

use crate::support::{contents, data, pipeline, reduce};
use crate::tools::MANY_KILLS;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn killed_runs_resume_to_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = folder.path().join("whole");
    pipeline(&data("four_bar.toml"), &whole);
    let expected = contents(&whole);
    let resumed = folder.path().join("resumed");
    let mut killed = 0;
    // Moments spread over the run, whatever the speed of the machine.
    let rounds = if MANY_KILLS.is_done() { 20 } else { 1 };
    let moments =
        (0..rounds).flat_map(|round| [5, 20, 50, 90, 140, 200, 280, 370].map(|m| m + round));
    for milliseconds in moments {
        let mut child = reduce()
            .arg(data("four_bar.toml"))
            .arg("-o")
            .arg(&resumed)
            .args(["--jobs", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary");
        std::thread::sleep(Duration::from_millis(milliseconds));
        if child.try_wait().expect("a child").is_none() {
            killed += 1;
        }
        // Already finished is fine: then this was an uninterrupted run.
        let _ = child.kill();
        child.wait().expect("a child");
    }
    assert!(killed >= 2, "only {killed} runs were interrupted");
    pipeline(&data("four_bar.toml"), &resumed);
    let found = contents(&resumed);
    let names = |list: &[(std::path::PathBuf, Vec<u8>)]| {
        list.iter()
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&expected), names(&found));
    assert!(expected == found);
}
