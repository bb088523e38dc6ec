//! `reduce simulate`: files, exit codes, and what is kept when something goes wrong.

use crate::support::{reduce_in, scenario_file, shown};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The rigid Orthoglide with its x slider moved from 0.1 m to `to` in 0.2 s.
fn orthoglide(to: f64) -> String {
    format!(
        r#"format = 1
mechanism = "DATA/orthoglide.toml"
duration = 0.2

[[drive]]
coordinate = "x.slide"
motion = {{ point_to_point = {{ from = 0.1, to = {to}, duration = 0.2 }} }}

[[drive]]
coordinate = "y.slide"
motion = 0.1

[[drive]]
coordinate = "z.slide"
motion = 0.1

[[output]]
point = "effector"
quantities = ["position", "velocity", "deflection"]
axes = "body"

[sampling]
step = 0.03

[full]
step = 2e-3
"#
    )
}

fn rows(path: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .skip(1)
        .map(|line| line.split(',').map(|c| c.parse().unwrap()).collect())
        .collect()
}

/// Text without what a clock measured and where files are.
fn without_clock(text: &str, folder: &Path) -> String {
    let text = text.replace(folder.to_str().unwrap(), "FOLDER");
    let measured = |line: &&str| !line.starts_with("reduction ") && !line.starts_with("full ");
    let kept: Vec<&str> = text.lines().filter(measured).collect();
    kept.join("\n")
}

/// The chart has the panels asked for and no others; the tables have all columns; a panel that is not there is refused before
/// anything is computed.
#[test]
fn the_chart_shows_what_is_asked_for() {
    let (folder, path) = scenario_file("motion.toml", &orthoglide(0.2));
    let file = path.to_str().unwrap();
    let run = |panels: &str, target: &str| {
        reduce_in(
            folder.path(),
            &["simulate", file, "--show", panels, "-o", target],
        )
    };
    let output = run("force.x.slide,effector", "some");
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    let chart = std::fs::read_to_string(folder.path().join("some/comparison.svg")).unwrap();
    let titles: Vec<&str> = chart
        .lines()
        .filter(|line| line.contains("class=\"panel\""))
        .map(|line| line.split(['>', '<']).nth(2).unwrap())
        .collect();
    assert_eq!(titles, ["effector", "force.x.slide"]);
    assert_eq!(rows(&folder.path().join("some/full.csv"))[0].len(), 23);
    let output = run("force.x.slider", "none");
    assert_eq!(output.status.code(), Some(2));
    let told = shown(&output.stderr);
    assert!(
        told.contains("--show: there is no `force.x.slider`"),
        "{told}"
    );
    assert!(told.contains("did you mean `force.x.slide`"), "{told}");
    assert!(!folder.path().join("none").exists());
}

#[test]
fn tables_have_the_promised_columns_and_equal_bytes_in_every_run() {
    let (folder, path) = scenario_file("motion.toml", &orthoglide(0.2));
    let run = |target: &str| {
        let output = reduce_in(
            folder.path(),
            &["simulate", path.to_str().unwrap(), "-o", target, "--json"],
        );
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let summary = run("first");
    run("second");
    let read = |target: &str, name: &str| std::fs::read(folder.path().join(target).join(name));
    for name in ["full.csv", "reduced.csv", "comparison.svg"] {
        assert_eq!(read("first", name).unwrap(), read("second", name).unwrap());
    }
    let header = shown(&read("first", "full.csv").unwrap());
    assert_eq!(
        header.lines().next().unwrap(),
        "time,effector.x,effector.y,effector.z,effector.vx,effector.vy,effector.vz,\
         deflection_effector.x,deflection_effector.y,deflection_effector.z,\
         force.x.slide,force.y.slide,force.z.slide,\
         coordinate.x.slide,coordinate.y.slide,coordinate.z.slide,\
         rate.x.slide,rate.y.slide,rate.z.slide,\
         energy.kinetic,energy.potential,energy.work,energy.dissipated"
    );
    let times: Vec<f64> = rows(&folder.path().join("first/reduced.csv"))
        .iter()
        .map(|row| row[0])
        .collect();
    assert_eq!(times.len(), 8);
    assert_eq!((times[0], times[7]), (0.0, 0.2));
    let force = summary["differences"]["force.x.slide"]["max"]
        .as_f64()
        .unwrap();
    assert!(force < 0.01, "{force}");
    assert_eq!(summary["differences"]["deflection_effector"]["max"], 0.0);
    assert_eq!(summary["reduced"]["completed"], true);
    assert!(summary["speed_up"].as_f64().unwrap() > 0.0);
}

#[test]
fn leaving_the_domain_keeps_the_full_model_and_says_when_and_where() {
    let (folder, path) = scenario_file("leaving.toml", &orthoglide(0.3));
    let target = folder.path().join("out");
    let arguments = [
        "simulate",
        path.to_str().unwrap(),
        "-o",
        target.to_str().unwrap(),
    ];
    let output = reduce_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output.stderr));
    assert_eq!(rows(&target.join("full.csv")).len(), 8);
    let reduced = rows(&target.join("reduced.csv"));
    assert_eq!(reduced.len(), 5);
    let text = without_clock(&shown(&output.stdout), folder.path());
    let answer = text.split_once("at t = ").unwrap().1;
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("leaving_the_domain", format!("at t = {answer}"));
    });
}

#[test]
fn a_step_too_large_is_told_and_what_was_computed_is_kept() {
    let text = r#"format = 1
mechanism = "DATA/four_bar.toml"
duration = 0.6

[[drive]]
coordinate = "theta"
motion = { point_to_point = { from = -1.0, to = 1.0, start = 0.2, duration = 0.2 } }

[sampling]
step = 0.05

[full]
step = 0.05

[override]
gravity = [0, 0, 0]

[override.approximation]
tolerance = 0.1
"#;
    let (folder, path) = scenario_file("large_step.toml", text);
    let target = folder.path().join("out");
    let arguments = [
        "simulate",
        path.to_str().unwrap(),
        "-o",
        target.to_str().unwrap(),
    ];
    let output = reduce_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(2));
    let kept = rows(&target.join("full.csv"));
    assert_eq!(kept.len(), 7, "until the step that fails");
    let data = std::fs::canonicalize("data").unwrap();
    let text = shown(&output.stderr).replace(data.to_str().unwrap(), "DATA");
    // How far a diverging iteration got is rounding; that it is told is not.
    let (before, rest) = text.split_once("satisfied, by ").expect("the residual");
    let (residual, after) = rest.split_once(" of its size").expect("the residual");
    assert!(
        residual.parse::<f64>().is_ok_and(|r| r > 1e-3),
        "{residual}"
    );
    let text = format!("{before}satisfied, by RESIDUAL of its size{after}");
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("step_too_large", text);
    });
}

#[test]
fn a_model_file_is_used_as_it_is_and_another_mechanism_is_refused() {
    let data = std::fs::canonicalize("data").unwrap();
    let mut text = orthoglide(0.2);
    text.insert_str(0, "model = \"made/model.json\"\n");
    let (folder, path) = scenario_file("with_model.toml", &text);
    let reduce = |mechanism: &str| {
        let mechanism = data.join(mechanism);
        let output = reduce_in(folder.path(), &[mechanism.to_str().unwrap(), "-o", "made"]);
        assert_eq!(output.status.code(), Some(0));
    };
    let simulate = || {
        let arguments = ["simulate", path.to_str().unwrap(), "-o", "out", "--json"];
        let output = reduce_in(folder.path(), &arguments);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), document)
    };
    reduce("orthoglide.toml");
    let (code, summary) = simulate();
    assert_eq!(code, Some(0));
    assert_eq!(summary["reduction_seconds"], Value::Null);
    reduce("elbow.toml");
    let (code, refusal) = simulate();
    assert_eq!(code, Some(2));
    assert_eq!(refusal["valid"], false);
}

/// A run that tells its steps.
#[cfg(unix)]
fn simulation(path: &Path, target: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_reduce"))
        .args(["simulate", path.to_str().unwrap(), "--json", "-v", "-o"])
        .arg(target)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Reads steps until one of them says `step`.
#[cfg(unix)]
fn wait_for(child: &mut Child, step: &str) {
    let told = BufReader::new(child.stderr.as_mut().unwrap());
    let found = told.lines().any(|line| line.unwrap().contains(step));
    assert!(found, "ended before `{step}`");
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.unwrap().success());
}

/// A reduction that takes minutes; Ctrl-C ends it where it is.
#[cfg(unix)]
#[test]
fn an_interrupted_reduction_ends_and_leaves_earlier_files() {
    use std::os::unix::process::ExitStatusExt;
    let text = orthoglide(0.2).replace(
        "[full]",
        "[override.approximation]\ntolerance = 1e-7\n\n[full]",
    );
    let (folder, path) = scenario_file("slow.toml", &text);
    let target = folder.path().join("out");
    std::fs::create_dir(&target).unwrap();
    let earlier = "time,energy.kinetic,energy.potential\n0,0,0\n";
    std::fs::write(target.join("full.csv"), earlier).unwrap();
    let mut child = simulation(&path, &target);
    wait_for(&mut child, "refining");
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(2), "ended by Ctrl-C");
    assert_eq!(
        std::fs::read_to_string(target.join("full.csv")).unwrap(),
        earlier
    );
    assert!(!target.join("reduced.csv").exists());
}

#[test]
fn a_table_that_the_scenario_reads_is_not_replaced() {
    let text = orthoglide(0.2).replace(
        "motion = 0.1\n\n[[drive]]\ncoordinate = \"z",
        "motion = { table = { file = \"out/full.csv\" } }\n\n[[drive]]\ncoordinate = \"z",
    );
    let (folder, path) = scenario_file("again.toml", &text);
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let table = "time,energy.kinetic,energy.potential\n0,0.1,0\n1,0.1,0\n";
    let file = folder.path().join("out/full.csv");
    std::fs::write(&file, table).unwrap();
    let words = ["simulate", path.to_str().unwrap(), "-o", "out", "--force"];
    let output = reduce_in(folder.path(), &words);
    assert_eq!(output.status.code(), Some(2));
    assert!(shown(&output.stderr).contains("is read by the same"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), table);
}

#[test]
fn a_stored_model_without_the_changes_of_the_scenario_is_refused() {
    let text = "model = \"made/model.json\"\nformat = 1\nmechanism = \"DATA/four_bar.toml\"\nduration = 0.01\n\
                [[drive]]\ncoordinate = \"theta\"\nforce = 0\n";
    let (folder, path) = scenario_file("changed.toml", text);
    let four_bar = std::fs::canonicalize("data/four_bar.toml").unwrap();
    let reduced = reduce_in(folder.path(), &[four_bar.to_str().unwrap(), "-o", "made"]);
    assert_eq!(reduced.status.code(), Some(0));
    let simulate = |changes: &str| {
        let unchanged = std::fs::read_to_string(&path).unwrap();
        let changed = folder.path().join("changed_too.toml");
        std::fs::write(&changed, unchanged + changes).unwrap();
        let arguments = ["simulate", "changed_too.toml", "-o", "out"];
        reduce_in(folder.path(), &arguments)
    };
    // What the file says already is no change.
    for same in ["", "[override]\ngravity = [0, 0, -9.81]\n"] {
        let output = simulate(same);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    }
    for (key, other) in [
        ("gravity", "[override]\ngravity = [0, 0, 0]\n"),
        ("elements", "[override]\nelements = 3\n"),
        ("damping", "[override.damping]\nratio = 0.05\n"),
    ] {
        let output = simulate(other);
        assert_eq!(output.status.code(), Some(2), "{other}");
        let said = shown(&output.stderr);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&format!("({key})")), "{said}");
        assert!(said.contains("leave `model` away"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_was_computed() {
    let text = orthoglide(0.2).replace("step = 2e-3", "step = 1e-7");
    let (folder, path) = scenario_file("long.toml", &text);
    let target = folder.path().join("out");
    let mut child = simulation(&path, &target);
    wait_for(&mut child, "running both models");
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["interrupted"], true);
    let (full, reduced) = (
        rows(&target.join("full.csv")),
        rows(&target.join("reduced.csv")),
    );
    assert!(!full.is_empty());
    assert_eq!(full.len(), reduced.len());
}
