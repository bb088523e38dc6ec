//! Mechanisms of kinds that `data/` does not have, each against what is known of it in closed form.

use crate::support::{json, pipeline, reduce};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(format!("{name}.toml"))
}

/// The reduced model at θ; the reduction reaches its tolerances, without a report.
#[track_caller]
fn at(name: &str, places: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (summary, code) = pipeline(&fixture(name), folder.path());
    assert_eq!(code, 0, "{name}: {summary}");
    let model = folder.path().join("model.json");
    let evaluate = |place: &&str| {
        let (document, code) = json(reduce().arg("eval").arg(&model).args(["--at", place]));
        assert_eq!(code, 0, "{name}: {document}");
        document
    };
    places.iter().map(evaluate).collect()
}

#[track_caller]
fn position(document: &Value, output: &str) -> [f64; 3] {
    let found = &document["outputs"][output]["position"];
    std::array::from_fn(|k| found[k].as_f64().expect("a number"))
}

#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() < tolerance, "{found} {expected}");
}

/// The far end moves on a straight line: the bar is twice as long as the crank, which holds its middle.
#[test]
fn a_scott_russell_draws_a_straight_line() {
    let places = ["0.16", "0.25", "0.34"];
    for (document, slider) in at("scott_russell", &places).iter().zip([0.16, 0.25, 0.34]) {
        let [x, _, z] = position(document, "tip");
        let height = f64::sqrt(0.4 * 0.4 - slider * slider);
        assert_near(x, 0.0, 1e-3);
        assert_near(z, height, 2e-3);
    }
}

/// The tool of a five-bar is where circles about its elbows meet.
#[test]
fn a_five_bar_closes_where_its_circles_meet() {
    let (offset, crank, rod, drawn) = (0.1, 0.2, 0.25, 20.0_f64.to_radians());
    let elbow = |side: f64, angle: f64| {
        let (x, y) = (side * crank * drawn.sin(), crank * drawn.cos());
        let (sin, cos) = angle.sin_cos();
        [side * offset + x * cos - y * sin, x * sin + y * cos]
    };
    let document = &at("five_bar", &["0.2,-0.1"])[0];
    let ([ax, ay], [bx, by]) = (elbow(1.0, 0.2), elbow(-1.0, -0.1));
    let apart = f64::hypot(ax - bx, ay - by);
    let height = f64::sqrt(rod * rod - apart * apart / 4.0);
    let [x, y, _] = position(document, "tool");
    assert_near(x, 0.5 * (ax + bx) - height * (ay - by) / apart, 2e-3);
    assert_near(y, 0.5 * (ay + by) + height * (ax - bx) / apart, 2e-3);
}

/// Moved as a whole, a machine has all of its mass: beams 2700 and 7850 kg/m³ by their sections.
#[test]
fn a_gantry_moves_all_of_its_mass() {
    let document = &at("gantry", &["0.1,0.05"])[0];
    let cross = 2700.0 * 1.2 * (0.08 * 0.06 - 0.074 * 0.054);
    let ram = 7850.0 * 0.5 * 0.04 * 0.04;
    let mass = |k: usize| document["mass"][k][k].as_f64().expect("a number");
    assert_near(mass(0), 8.0 + cross + ram, 1e-3);
    assert_near(mass(1), ram, 1e-3);
}

/// The hoist moves the hook alone and along its rope, and the rope's stiffness is a mode.
#[test]
fn a_crane_lifts_its_hook() {
    let document = &at("crane", &["0.3,1.2"])[0];
    let [x, _, z] = position(document, "hook");
    assert_near(x, 0.3, 1e-3);
    assert_near(z, -2.0 - 1.2, 1e-3);
    assert_near(
        document["mass"][1][1].as_f64().expect("a number"),
        40.0,
        1e-2,
    );
    let rope = (2e5_f64 / 40.0).sqrt() / std::f64::consts::TAU;
    let modes = document["frequencies_hz"].as_array().expect("a list");
    let nearest = modes.iter().filter_map(Value::as_f64);
    let gap = nearest.map(|f| (f / rope - 1.0).abs()).fold(1.0, f64::min);
    assert!(gap < 0.01, "{modes:?} {rope}");
}

/// Both links of a spatial four-bar keep their lengths.
#[test]
fn a_spatial_linkage_keeps_its_lengths() {
    let places = ["-0.9", "0.2", "0.95"];
    for (document, theta) in at("rssr", &places).iter().zip([-0.9_f64, 0.2, 0.95]) {
        let [x, y, z] = position(document, "tip");
        let pin = [0.08 * theta.cos(), 0.08 * theta.sin()];
        let coupler = f64::sqrt((x - pin[0]).powi(2) + (y - pin[1]).powi(2) + z * z);
        let drawn = f64::sqrt(0.17 * 0.17 + 0.1 * 0.1 + 0.2 * 0.2);
        assert_near(coupler, drawn, 1e-3);
        assert_near(f64::hypot(y - 0.1, z), 0.2, 1e-3);
        assert_near(x, 0.25, 1e-3);
    }
}

/// The ram is where the rod of an offset crank reaches the guide, all the way round.
#[test]
fn a_press_goes_all_the_way_round() {
    let places = ["0.5", "3.0", "6.0"];
    let (crank, offset) = (0.06, 0.025);
    for (document, turn) in at("offset_press", &places).iter().zip([0.5_f64, 3.0, 6.0]) {
        let pin = [-crank * turn.sin(), crank * turn.cos()];
        let reach = f64::sqrt(offset * offset + 0.3 * 0.3 - (offset - pin[0]).powi(2));
        let [x, y, _] = position(document, "ram");
        assert_near(x, offset, 1e-3);
        assert_near(y, pin[1] - reach, 1e-3);
    }
}

/// The inertia about the waist with all arms stretched: trunk, four rods by Steiner, payload.
#[test]
fn a_tree_of_bodies_turns_with_all_of_its_inertia() {
    let document = &at("torso", &["0,0,0,0"])[0];
    let rod = |mass: f64, from: f64| {
        let middle = from + 0.2;
        mass * (0.4 * 0.4 / 12.0 + middle * middle + 0.2 * 0.2)
    };
    let expected = 0.4 + 2.0 * (rod(2.0, 0.0) + rod(1.0, 0.4)) + 2.0 * (0.8 * 0.8 + 0.2 * 0.2);
    assert_eq!(document["coordinates"][2], "waist");
    let found = document["mass"][2][2].as_f64().expect("a number");
    assert_near(found, expected, 1e-12 * expected);
}

/// With motors held the head swings on its belt, and motors move their rotors too.
#[test]
fn an_h_bot_swings_on_its_belts() {
    let document = &at("h_bot", &["0.1,0.05"])[0];
    let swing = (2e5_f64 / 1.5).sqrt() / std::f64::consts::TAU;
    let lowest = document["frequencies_hz"][0].as_f64().expect("a number");
    assert_near(lowest, swing, 1e-3 * swing);
    let bridge = 2700.0 * 0.8 * (0.04 * 0.04 - 0.036 * 0.036);
    let rotor = 2e-4 / (0.02 * 0.02);
    let mass = |k: usize| document["mass"][k][k].as_f64().expect("a number");
    assert_near(mass(0), rotor + 1.5, 1e-6);
    assert_near(mass(1), rotor + 1.5 + bridge, 1e-6);
}

#[test]
fn without_a_report_there_is_none_and_an_earlier_one_goes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let report = folder.path().join("report.html");
    let (_, code) = pipeline(&fixture("scott_russell"), folder.path());
    assert!(code == 0 && report.is_file());
    let mut again = reduce();
    again.arg(fixture("scott_russell")).arg("--no-report");
    let (_, code) = json(again.arg("-o").arg(folder.path()));
    assert!(code == 0 && !report.exists());
    assert!(folder.path().join("model.json").is_file());
    assert!(!folder.path().join("history.json").exists());
}
