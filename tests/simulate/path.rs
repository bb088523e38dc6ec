//! Models along a path through the command line: `check`, `local`, `eval` and `simulate` mean the
//! same coordinate, and its force is that of all actuators projected on the path.

use crate::support::{reduce_in, shown};
use reducer::description::parse;
use reducer::dynamics::signal::Signal;
use reducer::dynamics::spline::{Ends, Spline};
use reducer::reduction::LocalReducer;
use serde_json::Value;
use std::path::Path;

/// Points of the path; the ranges of all three coordinates are two radians.
const POINTS: [[f64; 3]; 4] = [
    [-0.5, 0.9, -0.2],
    [0.1, 0.2, 0.4],
    [0.6, -0.3, 0.9],
    [1.1, 0.4, 0.3],
];
const RANGE: f64 = 2.0;

/// Coulomb friction of the three coordinates.
const COULOMB: [f64; 3] = [1.5, 0.0, 0.8];

/// Rate below which Coulomb friction falls to zero.
const COULOMB_RATE: f64 = 1e-3;

/// The elbow arm with friction and a rotor, and these settings.
fn elbow(settings: &str) -> String {
    let text = std::fs::read_to_string("data/elbow.toml").unwrap();
    let first = "name = \"theta1\"\ncoulomb = 1.5\n";
    let third = "name = \"theta3\"\ncoulomb = 0.8\nviscous = 0.3\nrotor_inertia = 0.05\n";
    let text = text.replace("name = \"theta1\"\n", first);
    format!("{}{settings}", text.replace("name = \"theta3\"\n", third))
}

fn trajectory(points: &[[f64; 3]]) -> String {
    format!("\n[approximation]\ntolerance = 1e-3\ntrajectory = {{ points = {points:?} }}\n")
}

/// A folder with the arm on its path, and a scenario that moves it so.
fn folder(drive: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let scenario = format!(
        "format = 1\nmechanism = \"elbow.toml\"\nduration = 0.6\n[[drive]]\ncoordinate = \"path\"\n{drive}\n\
         [[output]]\npoint = \"tool\"\nquantities = [\"position\", \"velocity\"]\n\
         [sampling]\nstep = 0.03\n[full]\nstep = 1e-3\n"
    );
    std::fs::write(folder.path().join("run.toml"), scenario).unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("elbow.toml", elbow(&trajectory(&POINTS)));
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = reduce_in(folder, arguments);
    let document = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {} {}", shown(&output.stdout), shown(&output.stderr)));
    (output.status.code(), document)
}

/// A column of a table of results.
fn column(path: &Path, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let place = header.split(',').position(|n| n == name).unwrap();
    lines
        .map(|line| line.split(',').nth(place).unwrap().parse().unwrap())
        .collect()
}

/// The natural spline through the points, by the spline of tables rather than that of paths.
fn splines() -> Vec<Spline> {
    let mut knots = vec![0.0];
    for pair in POINTS.windows(2) {
        let square: f64 = (0..3)
            .map(|k| ((pair[1][k] - pair[0][k]) / RANGE).powi(2))
            .sum();
        knots.push(knots[knots.len() - 1] + square.sqrt());
    }
    let length = knots[knots.len() - 1];
    let knots: Vec<f64> = knots.iter().map(|k| k / length).collect();
    (0..3)
        .map(|k| {
            let values = POINTS.iter().map(|p| p[k]).collect();
            Spline::new(knots.clone(), values, Ends::Free).unwrap()
        })
        .collect()
}

/// What the actuators must do at a time, from the inverse dynamics of the mechanism in its own
/// coordinates, and their sum projected on the path.
fn exact_forces(reducer: &LocalReducer, motion: &Signal, time: f64) -> (Vec<f64>, f64) {
    let sigma = motion.at(time);
    let jets: Vec<_> = splines().iter().map(|s| s.at(sigma.value)).collect();
    let theta: Vec<f64> = jets.iter().map(|j| j.value).collect();
    let rate: Vec<f64> = jets.iter().map(|j| j.rate * sigma.rate).collect();
    let accel: Vec<f64> = jets
        .iter()
        .map(|j| j.rate * sigma.acceleration + j.acceleration * sigma.rate * sigma.rate)
        .collect();
    let mut forces = reducer
        .evaluate(&theta)
        .unwrap()
        .inverse_dynamics(&rate, &accel);
    for (k, force) in forces.iter_mut().enumerate() {
        *force += COULOMB[k] * (rate[k] / COULOMB_RATE).clamp(-1.0, 1.0);
    }
    let along = jets.iter().zip(&forces).map(|(j, f)| j.rate * f).sum();
    (forces, along)
}

#[test]
fn forces_of_both_models_are_inverse_dynamics_projected_on_the_path() {
    let folder = folder("motion = { point_to_point = { from = 0.05, to = 0.9, duration = 0.6 } }");
    let (code, summary) = run(
        folder.path(),
        &["simulate", "run.toml", "-o", "out", "--json"],
    );
    assert_eq!(code, Some(0), "{summary}");
    let mechanism = parse(&elbow(""), "elbow.toml", &|_| unreachable!()).unwrap();
    let reducer = LocalReducer::new(&mechanism).unwrap();
    let motion = Signal::PointToPoint {
        start: 0.0,
        duration: 0.6,
        from: 0.05,
        to: 0.9,
    };
    let table = |model: &str, name: &str| column(&folder.path().join("out").join(model), name);
    let times = table("full.csv", "time");
    assert_eq!(times.len(), 21);
    let exact: Vec<_> = times
        .iter()
        .map(|t| exact_forces(&reducer, &motion, *t))
        .collect();
    let peak = exact.iter().fold(0.0_f64, |m, e| m.max(e.1.abs()));
    assert!(peak > 100.0, "{peak}");
    for (model, tolerance) in [("full.csv", 1e-8), ("reduced.csv", 1e-3)] {
        let along = table(model, "force.path");
        let place = table(model, "coordinate.path");
        for (i, (_, expected)) in exact.iter().enumerate() {
            let error = (along[i] - expected).abs() / peak;
            assert!(error < tolerance, "{model} at {} s: {error}", times[i]);
            assert!((place[i] - motion.at(times[i]).value).abs() < 1e-12);
        }
    }
    for (k, name) in ["theta1", "theta2", "theta3"].iter().enumerate() {
        let force = table("full.csv", &format!("force.{name}"));
        let theta = table("full.csv", &format!("coordinate.{name}"));
        for (i, (forces, _)) in exact.iter().enumerate() {
            let error = (force[i] - forces[k]).abs() / peak;
            assert!(error < 1e-8, "{name} at {} s: {error}", times[i]);
            let place = splines()[k].at(motion.at(times[i]).value).value;
            assert!((theta[i] - place).abs() < 1e-12);
        }
    }
    let differences = &summary["differences"];
    assert_eq!(differences["force.path"]["unit"], "J");
    assert!(differences["tool"]["max"].as_f64().unwrap() < 1e-3);
    assert!(differences["tool.velocity"]["max"].as_f64().unwrap() < 1e-2);
    let energy = &summary["reduced"]["energy"]["relative"];
    assert!(energy.as_f64().unwrap() < 1e-3, "{energy}");
}

#[test]
fn a_velocity_leaves_the_path_at_its_end() {
    let folder =
        folder("velocity = { ramp = { to = 2, duration = 0.2 } }\n[initial]\ntheta = [0.3]");
    let (code, summary) = run(
        folder.path(),
        &["simulate", "run.toml", "-o", "out", "--json"],
    );
    assert_eq!(code, Some(1), "{summary}");
    let reduced = &summary["reduced"];
    // 0.3 + 0.2 after the ramp, then two a second.
    let message = reduced["message"].as_str().unwrap();
    assert!(
        message.starts_with("at t = 0.450000 s coordinate `path`"),
        "{message}"
    );
    assert!(reduced["help"].as_str().unwrap().contains("`trajectory`"));
    let rows = |name: &str| column(&folder.path().join("out").join(name), "time").len();
    assert_eq!((rows("full.csv"), rows("reduced.csv")), (21, 16));
}

#[test]
fn check_compares_along_the_path_that_the_file_asks_for() {
    let folder = folder("motion = 0.5");
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    let mut other = POINTS;
    other[1][1] += 0.1;
    write("other.toml", elbow(&trajectory(&other)));
    write("domain.toml", elbow("\n[approximation]\ntolerance = 0.1\n"));
    let reduce = |file: &str, target: &str| {
        let output = reduce_in(folder.path(), &[file, "-o", target]);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    };
    reduce("elbow.toml", "made");
    reduce("domain.toml", "whole");
    let check = |model: &str, file: &str| {
        let arguments = ["check", model, file, "--samples", "200", "--json"];
        run(folder.path(), &arguments)
    };
    let (code, report) = check("made/model.json", "elbow.toml");
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(
        (&report["compared"], &report["skipped"]),
        (&200.into(), &0.into())
    );
    for (block, error) in report["errors"].as_object().unwrap() {
        assert!(error["mean"].as_f64().unwrap() <= 1e-3, "{block}: {error}");
        let worst = error["worst_theta"].as_array().unwrap();
        assert!(worst.len() == 1 && (0.0..=1.0).contains(&worst[0].as_f64().unwrap()));
    }
    let (code, report) = check("made/model.json", "other.toml");
    assert_eq!(code, Some(1));
    assert!(
        report["errors"]["mass"]["mean"].as_f64().unwrap() > 0.01,
        "{report}"
    );
    for (model, file, expected) in [
        ("made/model.json", "domain.toml", "has no trajectory"),
        ("whole/model.json", "elbow.toml", "is one over a domain"),
    ] {
        let (code, refusal) = check(model, file);
        assert_eq!(code, Some(2));
        assert!(refusal.to_string().contains(expected), "{refusal}");
    }
    local_and_eval_agree(folder.path());
}

/// `local --on-path` is exact where `eval` is within the model's tolerance.
fn local_and_eval_agree(folder: &Path) {
    let motion = ["--at", "0.4", "--rate", "1.5", "--accel", "2", "--json"];
    let (code, exact) = run(
        folder,
        &[&["local", "elbow.toml", "--on-path"], &motion[..]].concat(),
    );
    assert_eq!(code, Some(0), "{exact}");
    let (_, found) = run(
        folder,
        &[&["eval", "made/model.json"], &motion[..]].concat(),
    );
    assert_eq!(exact["coordinates"], found["coordinates"]);
    let first = |document: &Value, key: &str| document[key][0].as_f64().unwrap();
    let (force, near) = (first(&exact, "force"), first(&found, "force"));
    assert!((force - near).abs() < 2e-3 * force.abs(), "{force} {near}");
    for (at, file, expected) in [
        ("1.2", "elbow.toml", "from 0 to 1"),
        ("0.2,0.3", "elbow.toml", "1 coordinate"),
        ("0.2", "domain.toml", "has no trajectory"),
    ] {
        let (code, refusal) = run(folder, &["local", file, "--on-path", "--at", at, "--json"]);
        assert_eq!(code, Some(2));
        assert!(refusal.to_string().contains(expected), "{refusal}");
    }
}
