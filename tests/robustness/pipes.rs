//! What is not a regular file is refused wherever a file is read: a pipe would be waited for forever.
#![cfg(unix)]

use crate::support::{changed, data};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs the program with no one at the other end of its pipes; gives up on it after a minute.
fn refusal(folder: &Path, arguments: &[&str]) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_reduce"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{arguments:?}: still waiting");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    text
}

#[test]
fn pipes_are_refused_in_every_place() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    for pipe in ["pipe.toml", "pipe.csv", "pipe.json", "pipe.h5"] {
        let made = Command::new("mkfifo")
            .arg(folder.path().join(pipe))
            .status();
        assert!(made.unwrap().success());
    }
    let four_bar = changed("four_bar_rigid.toml", &[]);
    let with_include = changed(
        "four_bar_rigid.toml",
        &[("format = 1", "format = 1\ninclude = [\"pipe.toml\"]")],
    );
    write("with_include.toml", &with_include);
    let trajectory = "[approximation]\ntrajectory = { file = \"pipe.csv\" }\n";
    write("with_trajectory.toml", &format!("{four_bar}\n{trajectory}"));
    let mechanism = data("four_bar_rigid.toml");
    let scenario = |mechanism: &str, motion: &str, model: &str| {
        format!(
            "format = 1\nmechanism = \"{mechanism}\"\n{model}duration = 1.0\n\
             [[drive]]\ncoordinate = \"theta\"\nmotion = {motion}\n\
             [sampling]\nstep = 0.1\n"
        )
    };
    let own = mechanism.to_str().unwrap();
    let table = "{ table = { file = \"pipe.csv\" } }";
    write("mechanism.toml", &scenario("pipe.toml", "0.0", ""));
    write("table.toml", &scenario(own, table, ""));
    let model = "model = \"pipe.json\"\n";
    write("model.toml", &scenario(own, "0.0", model));
    for arguments in [
        &["pipe.toml"][..],
        &["validate", "pipe.toml"],
        &["validate", "with_include.toml"],
        &["validate", "with_trajectory.toml"],
        &["simulate", "pipe.toml"],
        &["simulate", "mechanism.toml"],
        &["simulate", "table.toml"],
        &["simulate", "model.toml"],
        &["eval", "pipe.json", "--at", "0"],
        &["eval", "pipe.h5", "--at", "0"],
    ] {
        let text = refusal(folder.path(), arguments);
        assert!(
            text.contains("is a pipe or a device"),
            "{arguments:?}: {text}"
        );
    }
    assert!(refusal(folder.path(), &["validate", "/dev/null"]).contains("is a pipe or a device"));
}
