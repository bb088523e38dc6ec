//! Files made to exhaust a reader are refused, or read, within 10 s of processor time and 1 GB.
#![cfg(unix)]

use crate::hdf5::{links_to_itself, repair};
use crate::support::{data, reduce};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Seconds of processor time that the process may have; the system ends it then.
const SECONDS: u64 = 10;
/// Seconds in which a process that does nothing is given up.
const PATIENCE: u64 = 100;
/// Memory that the process may use, in KiB,
const MEMORY: u64 = 1_000_000;
/// and addresses, of which the linear algebra sets half a GB aside for every thread on processors with large caches.
const ADDRESSES: u64 = 4_000_000;

/// Runs the program within the bounds and returns its exit code and what it said.
#[track_caller]
pub fn bounded(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let script = format!("ulimit -v {ADDRESSES} && ulimit -t {SECONDS} && exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_reduce")])
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if let Some(used) = most_used(child.id()) {
            assert!(used <= MEMORY, "{arguments:?}: {used} KiB of memory");
        }
        if start.elapsed() > Duration::from_secs(PATIENCE) {
            child.kill().unwrap();
            panic!("{arguments:?}: still waiting");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    // Lines are broken to the width of a terminal.
    let said = String::from_utf8_lossy(&output.stderr).replace("\n  │ ", " ");
    let code = output.status.code();
    (
        code.unwrap_or_else(|| panic!("{arguments:?}: {}: {said}", output.status)),
        said,
    )
}

/// The most memory that a process has used so far, in KiB; unknown where the system does not tell.
fn most_used(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A folder with the rigid four-bar, its model in `made` and stored samples.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mechanism = data("four_bar_rigid.toml");
    std::fs::copy(mechanism, folder.path().join("four_bar.toml")).unwrap();
    let made = reduce(folder.path(), &["four_bar.toml", "-o", "made"]);
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    folder
}

#[test]
fn hdf5_that_refers_to_itself_is_refused() {
    let folder = folder();
    for (count, name) in [(9_000, "small.h5"), (5_000_000, "large.h5")] {
        std::fs::write(folder.path().join(name), links_to_itself(count)).unwrap();
        let (code, said) = bounded(folder.path(), &["eval", name, "--at", "0"]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("more metadata than a model has"), "{said}");
    }
}

#[test]
fn checksums_put_together_here_are_those_of_hdf5() {
    let folder = folder();
    let path = folder.path().join("made/model.h5");
    let bytes = std::fs::read(&path).unwrap();
    let mut repaired = bytes.clone();
    repair(&mut repaired);
    assert!(bytes == repaired);
}

#[test]
fn json_that_grows_in_memory_is_refused() {
    let folder = folder();
    let model = std::fs::read_to_string(folder.path().join("made/model.json")).unwrap();
    let (lists, numbers) = ("\"terms\":[", "\"coefficients\":[");
    for (place, item, count, refused) in [
        (lists, "[],", 40_000_000, true),
        (numbers, "0,", 60_000_000, true),
        // Just within the bounds: read whole, and then refused as no model.
        (lists, "[],", 3_900_000, false),
        (numbers, "0,", 15_000_000, false),
    ] {
        assert!(model.contains(place));
        let grown = model.replacen(place, &(place.to_owned() + &item.repeat(count)), 1);
        std::fs::write(folder.path().join("grown.json"), grown).unwrap();
        let (code, said) = bounded(folder.path(), &["eval", "grown.json", "--at", "0"]);
        assert_eq!(code, 2, "{said}");
        assert_eq!(said.contains("models have at"), refused, "{count}: {said}");
    }
}

#[test]
fn sample_logs_without_end_are_read_in_part() {
    let folder = folder();
    let samples = folder.path().join("made/.samples");
    let log = std::fs::read(samples.join("000000.samples")).unwrap();
    let before = std::fs::read(folder.path().join("made/model.json")).unwrap();
    // A whole log and 6 GB of nothing, which take no room on the disk.
    let file = std::fs::OpenOptions::new()
        .append(true)
        .open(samples.join("000000.samples"))
        .unwrap();
    file.set_len(6 << 30).unwrap();
    // Sixty-four times the records of the log, under so many names that there are 6 GB.
    let (header, records) = log.split_at(40);
    let repeats = (64 << 20) / records.len();
    let long = [header, &records.repeat(repeats)].concat();
    std::fs::write(samples.join("000001.samples"), &long).unwrap();
    for number in 2..100 {
        let name = samples.join(format!("{number:06}.samples"));
        std::fs::hard_link(samples.join("000001.samples"), name).unwrap();
    }
    let (code, said) = bounded(folder.path(), &["four_bar.toml", "-o", "made"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("beyond 512 MB are not read"), "{said}");
    assert!(std::fs::read(folder.path().join("made/model.json")).unwrap() == before);
}
