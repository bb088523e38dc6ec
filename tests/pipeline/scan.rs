//! `reduce scan` against singularities that are known in closed form.

use crate::support::{changed, data, json, reduce, run};
use serde_json::Value;
use std::path::Path;

fn scan(file: &Path) -> (Value, i32) {
    json(reduce().arg("scan").arg(file))
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|v| v.as_f64().expect("a number")).collect()
}

/// Actuator singularities of the four-bar at ±1.798997 (crank, coupler and rocker of mechanisms.md in closed form: coupler and rocker are in line). What the scan suggests has no more of them.
#[test]
fn singularities_of_the_four_bar_are_found_and_avoided() {
    let folder = tempfile::tempdir().expect("a folder");
    let wide = "range = [-2.2, 2.2]";
    let file = changed(
        "four_bar_rigid.toml",
        &[("range = [-1.75, 1.75]", wide)],
        folder.path(),
    );
    let (map, code) = scan(&file);
    assert_eq!(code, 1, "{map}");
    let known = 1.798997;
    let ends: Vec<f64> = (map["edges"].as_array().expect("a list").iter())
        .map(|edge| numbers(&edge["outside"])[0])
        .collect();
    for side in [-known, known] {
        assert!(
            ends.iter().any(|end| (end - side).abs() < 4.4 / 64.0),
            "{ends:?}"
        );
    }
    for place in map["places"].as_array().expect("a list") {
        let theta = numbers(&place["theta"])[0];
        if (theta.abs() - known).abs() > 0.02 {
            assert_eq!(place["failure"].is_null(), theta.abs() < known, "{place}");
        }
    }
    let paste = map["suggestions"][0]["paste"].as_str().expect("text");
    let range = paste.split("  #").next().expect("a line");
    let narrow = changed(
        "four_bar_rigid.toml",
        &[("range = [-1.75, 1.75]", range)],
        folder.path(),
    );
    let (map, code) = scan(&narrow);
    assert_eq!(code, 0, "{range}: {}", map["suggestions"]);
    let ends: Vec<f64> = numbers(&map["places"][0]["theta"]);
    assert!(ends[0] < -1.6, "{range} gives up too much");
}

/// The diagonal of the Orthoglide ends at θ = −0.101135; nothing else of [−0.15, 0.26]³ does.
#[test]
fn the_singularity_of_the_orthoglide_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let change = [("range = [-0.08, 0.26]", "range = [-0.15, 0.26]")];
    let (map, code) = scan(&changed("orthoglide.toml", &change, folder.path()));
    assert_eq!(code, 1, "{map}");
    for place in map["places"].as_array().expect("a list") {
        let theta = numbers(&place["theta"]);
        if theta.iter().all(|t| *t < -0.11) {
            assert!(!place["failure"].is_null(), "{place}");
        }
        if theta.iter().all(|t| *t > -0.08) {
            assert!(place["failure"].is_null(), "{place}");
        }
    }
    let (map, code) = scan(&data("orthoglide.toml"));
    assert_eq!(code, 0, "{}", map["suggestions"]);
}

/// A symmetric five-bar: motors 0.3 m apart, links of 0.2 and 0.25 m. Its distal links are in line where the elbows are 0.5 m
/// apart, or meet where they are at one place.
const FIVE_BAR: &str = r#"
format = 1
name = "five_bar"
plane = "xy"
[parameters]
h = "sqrt(0.25^2 - 0.15^2)"
[[body]]
name = "left"
rod = { from = [0, 0, 0], to = [0, 0.2, 0], mass = 0.2 }
[[body]]
name = "right"
rod = { from = [0.3, 0, 0], to = [0.3, 0.2, 0], mass = 0.2 }
[[body]]
name = "upper_left"
rod = { from = [0, 0.2, 0], to = [0.15, "0.2 + h", 0], mass = 0.2 }
[[body]]
name = "upper_right"
rod = { from = [0.3, 0.2, 0], to = [0.15, "0.2 + h", 0], mass = 0.2 }
[[joint]]
name = "motor_left"
hinge = ["ground", "left.from"]
axis = [0, 0, 1]
[[joint]]
name = "motor_right"
hinge = ["ground", "right.from"]
axis = [0, 0, 1]
[[joint]]
name = "elbow_left"
hinge = ["left.to", "upper_left.from"]
axis = [0, 0, 1]
[[joint]]
name = "elbow_right"
hinge = ["right.to", "upper_right.from"]
axis = [0, 0, 1]
[[joint]]
name = "tip"
hinge = ["upper_left.to", "upper_right.to"]
axis = [0, 0, 1]
[[coordinate]]
name = "a"
drives = "motor_left"
range = [-0.6, 1.2]
[[coordinate]]
name = "b"
drives = "motor_right"
range = [-1.2, 0.6]
"#;

#[test]
fn singularities_of_a_five_bar_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("five_bar.toml");
    std::fs::write(&file, FIVE_BAR).expect("a file");
    let (map, code) = scan(&file);
    assert_eq!(code, 1, "{map}");
    let mut seen = [0, 0];
    for place in map["places"].as_array().expect("a list") {
        let theta = numbers(&place["theta"]);
        // Both motors are at zero where their links point along y.
        let elbow = |x: f64, t: f64| (x - 0.2 * t.sin(), 0.2 * t.cos());
        let (left, right) = (elbow(0.0, theta[0]), elbow(0.3, theta[1]));
        let apart = (right.0 - left.0).hypot(right.1 - left.1) / 0.5;
        if (apart - 1.0).abs() > 0.03 && apart > 0.05 {
            assert_eq!(place["failure"].is_null(), apart < 1.0, "{apart}: {place}");
            seen[usize::from(apart > 1.0)] += 1;
        }
    }
    assert!(seen.iter().all(|n| *n > 5), "{seen:?}");
    let text = run(reduce().arg("scan").arg(&file));
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains('#') && text.contains("range = ["), "{text}");
}

/// Its links are as long together as the ground is wide: it moves to first order only.
#[test]
fn an_immobile_mechanism_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let lengths = [
        ("coupler = 0.45 ", "coupler = 0.25 "),
        ("rocker = 0.765 ", "rocker = 0.25 "),
        ("Bz = \"sqrt(coupler^2 - (Bx - crank)^2)\"", "Bz = 0"),
    ];
    let file = changed("four_bar_rigid.toml", &lengths, folder.path());
    let (document, code) = json(reduce().arg("validate").arg(&file));
    assert_eq!((code, &document["valid"]), (2, &false.into()), "{document}");
}

/// A spring between motor and link, and no inertia on the side of the motor.
#[test]
fn a_motor_side_without_inertia_is_warned_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let soft = "range = [-1.75, 1.75]\nstiffness = \"1e4 N*m/rad\"";
    let file = changed(
        "four_bar_rigid.toml",
        &[("range = [-1.75, 1.75]", soft)],
        folder.path(),
    );
    let (map, code) = scan(&file);
    assert_eq!(code, 1, "{map}");
    let told = map["suggestions"].to_string();
    assert!(told.contains("rotor_inertia = "), "{told}");
    let heavy = "range = [-1.75, 1.75]\nstiffness = \"1e4 N*m/rad\"\nrotor_inertia = 0.05";
    let file = changed(
        "four_bar_rigid.toml",
        &[("range = [-1.75, 1.75]", heavy)],
        folder.path(),
    );
    let (map, _) = scan(&file);
    assert!(
        !map["suggestions"].to_string().contains("rotor_inertia"),
        "{map}"
    );
}
