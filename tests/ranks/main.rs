//! Several processes under `mpirun` on one machine; built with the feature `mpi` alone.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(file)
}

fn reduce() -> Command {
    Command::new(env!("CARGO_BIN_EXE_reduce"))
}

/// The program as so many ranks, one thread each, on however few cores there are.
fn mpirun(ranks: usize) -> Command {
    let mut command = Command::new("mpirun");
    command
        .args([
            "--allow-run-as-root",
            "--oversubscribe",
            "--bind-to",
            "none",
            "-n",
        ])
        .arg(ranks.to_string())
        .arg(env!("CARGO_BIN_EXE_reduce"))
        .args(["--jobs", "1"]);
    command
}

/// All files below a folder but samples, with their bytes.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with(".samples") {
            found.extend(contents(&path));
        } else if path.is_file() {
            found.push((path.clone(), std::fs::read(&path).expect("a file")));
        }
    }
    found.sort();
    found
}

/// The same with names inside the folder.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let inside = |(path, bytes): (PathBuf, Vec<u8>)| {
        let name = path.strip_prefix(folder).expect("inside").to_owned();
        (name, bytes)
    };
    contents(folder).into_iter().map(inside).collect()
}

#[track_caller]
fn done(command: &mut Command) -> serde_json::Value {
    let output = command.arg("--json").output().expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    // One rank speaks.
    serde_json::from_slice(&output.stdout).expect("one document")
}

#[test]
fn three_ranks_write_the_bytes_of_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, three] = ["one", "three"].map(|name| folder.path().join(name));
    let file = data("four_bar.toml");
    let alone = done(reduce().arg(&file).arg("-o").arg(&one));
    let together = done(mpirun(3).arg(&file).arg("-o").arg(&three));
    assert!(files(&one) == files(&three), "ranks change files");
    assert_eq!(alone["samples"], together["samples"]);
    assert_eq!(alone["evaluated"], together["evaluated"]);
}

/// What is wrong with the input is told once, and all ranks end.
#[test]
fn a_refusal_is_told_once() {
    let output = mpirun(3)
        .arg(data("nothing.toml"))
        .output()
        .expect("mpirun runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.matches("nothing.toml").count(), 1, "{said}");
}

/// Processes of a run by their rank, once all are there.
fn ranks_of(run: &Child, count: usize) -> Vec<(usize, u32)> {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        // Any thread of mpirun may have started them.
        let tasks = std::fs::read_dir(format!("/proc/{}/task", run.id()));
        let children = |task: std::fs::DirEntry| {
            std::fs::read_to_string(task.path().join("children")).unwrap_or_default()
        };
        let tasks = tasks.into_iter().flatten().flatten();
        let children: String = tasks.map(|task| children(task) + " ").collect();
        let rank = |pid: u32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
            let text = String::from_utf8_lossy(&environment).into_owned();
            let name = "OMPI_COMM_WORLD_RANK=";
            let found = text.split('\0').find_map(|word| word.strip_prefix(name))?;
            Some((found.parse().ok()?, pid))
        };
        let pids = children.split_whitespace().filter_map(|p| p.parse().ok());
        let found: Vec<(usize, u32)> = pids.filter_map(rank).collect();
        if found.len() == count {
            return found;
        }
        assert!(Instant::now() < end, "the ranks did not start: {found:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A process is no more, or only waits for its parent to notice: `mpirun` may end before it does.
fn has_ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.map_or(true, |text| {
        text.rsplit(')')
            .next()
            .is_some_and(|rest| rest.trim_start().starts_with('Z'))
    })
}

/// Bytes of samples that a folder holds.
fn sampled(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder.join(".samples"));
    let entries = entries.into_iter().flatten().flatten();
    entries.filter_map(|e| Some(e.metadata().ok()?.len())).sum()
}

/// A rank that is killed ends the run. What was sampled is kept, nothing is half written, and the next run makes the bytes
/// of an undisturbed one.
#[test]
fn a_killed_rank_ends_the_run_and_keeps_its_samples() {
    let folder = tempfile::tempdir().expect("a folder");
    let [made, whole] = ["made", "whole"].map(|name| folder.path().join(name));
    let file = folder.path().join("fine.toml");
    let text = std::fs::read_to_string(data("four_bar.toml")).expect("a data file");
    // Samples of many elements take long enough to be interrupted.
    let fine = text.replace("elements = 4", "elements = 24");
    assert_ne!(fine, text);
    std::fs::write(&file, fine).expect("a file");
    let mut run = mpirun(3)
        .arg(&file)
        .arg("-o")
        .arg(&made)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("mpirun runs");
    let ranks = ranks_of(&run, 3);
    let (_, last) = ranks.iter().find(|(rank, _)| *rank == 2).expect("rank 2");
    let end = Instant::now() + Duration::from_secs(120);
    while sampled(&made) < 100_000 {
        assert!(Instant::now() < end, "no samples");
        assert!(run.try_wait().expect("a process").is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill")
        .args(["-9", &last.to_string()])
        .status();
    assert!(killed.is_ok_and(|status| status.success()));
    let status = run.wait().expect("mpirun ends");
    assert!(!status.success());
    let end = Instant::now() + Duration::from_secs(30);
    for (rank, pid) in &ranks {
        while !has_ended(*pid) {
            assert!(Instant::now() < end, "rank {rank} goes on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    assert_eq!(files(&made), Vec::new(), "nothing but samples is left");
    let resumed = done(reduce().arg(&file).arg("-o").arg(&made));
    let fresh = done(reduce().arg(&file).arg("-o").arg(&whole));
    let evaluated = |summary: &serde_json::Value| summary["evaluated"].as_u64().expect("a number");
    assert!(evaluated(&resumed) < evaluated(&fresh), "samples are kept");
    assert!(files(&made) == files(&whole), "a killed rank changes files");
}
