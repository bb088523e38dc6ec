//! Frequencies of the full model about loaded states, against independent results.

use crate::support::{read, reducer, root};
use reducer::model::ActuatorMotion;
use reducer::reduction::{LoadedFrequencies, LocalReducer};
use serde_json::Value;
use std::f64::consts::TAU;

/// `origin` of the file names what these numbers are.
fn reference(key: &str) -> Value {
    let text = std::fs::read_to_string(root("data/reference/second_order.json")).expect("a file");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    all[key].clone()
}

fn loaded(reducer: &LocalReducer, rate: f64, acceleration: f64) -> LoadedFrequencies {
    let theta = reducer.kinematics().home().to_vec();
    let motion = ActuatorMotion {
        rate: &[rate],
        acceleration: &[acceleration],
    };
    reducer
        .loaded_frequencies(&theta, motion, 12)
        .expect("an equilibrium")
}

fn link(changes: &[(&str, &str)]) -> LocalReducer {
    let mut text = read("data/one_link.toml");
    for (from, to) in changes {
        assert!(text.contains(from), "no {from}");
        text = text.replace(from, to);
    }
    reducer(&text)
}

/// Smallest relative distance of a frequency (rad/s) from those found.
fn nearest(found: &LoadedFrequencies, omega: f64) -> f64 {
    (found.frequencies_hz.iter())
        .map(|f| (f * TAU / omega - 1.0).abs())
        .fold(f64::INFINITY, f64::min)
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|v| v.as_f64().expect("a number")).collect()
}

#[test]
fn a_rotating_cantilever_stiffens_in_both_planes() {
    let reducer = link(&[("elements = 16", "elements = 24")]);
    for row in reference("rotating_cantilever")["rows"]
        .as_array()
        .expect("rows")
    {
        let rate = row["Omega_rad_s"].as_f64().expect("a number");
        let found = loaded(&reducer, rate, 0.0);
        assert!(found.steady, "{rate}");
        for plane in ["extensible_flap_rad_s", "extensible_lag_rad_s"] {
            for omega in numbers(&row[plane]) {
                let error = nearest(&found, omega);
                assert!(error < 5e-4, "{plane} {omega} at {rate}: {error:.1e}");
            }
        }
    }
}

#[test]
fn a_column_softens_under_its_weight_and_on_a_base_that_pushes_it() {
    let reference = reference("column_under_its_own_weight");
    let mut weights = 0;
    for row in reference["rows"].as_array().expect("rows") {
        let Some(pull) = row["gravity_towards_base_m_s2"].as_f64() else {
            continue;
        };
        let field = format!("gravity = [{:e}, 0, 0]", -pull);
        let reducer = link(&[("gravity = [0, 0, 0]", &field)]);
        let found = loaded(&reducer, 0.0, 0.0);
        assert!(found.steady);
        weights += 1;
        for omega in numbers(&row["frequencies_rad_s"]) {
            let error = nearest(&found, omega);
            assert!(error < 2e-3, "{omega} under {pull}: {error:.1e}");
        }
        // A base that accelerates along the column does the same as its weight.
        let slide = link(&[
            ("hinge = [", "prismatic = ["),
            ("axis = [0, 0, 1]", "axis = [1, 0, 0]"),
        ]);
        let pushed = loaded(&slide, 0.0, pull);
        assert!(pushed.steady);
        for (a, b) in pushed.frequencies_hz.iter().zip(&found.frequencies_hz) {
            assert!((a - b).abs() < 1e-7 * b, "{a} Hz pushed, {b} Hz weighed");
        }
    }
    assert!(weights > 5, "{weights} rows");
}

/// A strip of 50 m between pins, pulled with 23.7 kN: 0.55, 1.10, 1.66, 2.21 Hz, those of a string, whose
/// bending hardly counts.
#[test]
fn a_strip_under_tension_vibrates_as_a_string() {
    let block = "rigid = { mass = 1, center_of_mass = [0, 0, 0], inertia = [0.1, 0.1, 0.1] }";
    let text = format!(
        r#"
format = 1
gravity = [0, 0, 0]
[section.strip]
area = 1e-3
inertia_y = 1e-10
inertia_z = 1e-10
torsion = 2e-10
shear_factor = 0.83
[[body]]
name = "strip"
beam = {{ from = [0, 0, 0], to = [50, 0, 0], elements = 40, section = "strip", material = {{ density = 7800, young = 2e11, poisson = 0.3 }} }}
[[body]]
name = "near"
{block}
[[body]]
name = "far"
at = [50, 0, 0]
{block}
[[joint]]
name = "base"
prismatic = ["ground", "near"]
at = [0, 0, 0]
axis = [1, 0, 0]
[[joint]]
name = "ball"
spherical = ["near", "strip.from"]
[[joint]]
name = "cross"
universal = ["strip.to", "far"]
axes = [[0, 1, 0], [0, 0, 1]]
[[joint]]
name = "guide"
prismatic = ["ground", "far"]
at = [50, 0, 0]
axis = [1, 0, 0]
[[coordinate]]
name = "place"
drives = "base"
range = [-1, 1]
[[load]]
at = "strip.to"
force = [23.7e3, 0, 0]
"#
    );
    let found = loaded(&reducer(&text), 0.0, 0.0);
    for k in 1..=4 {
        let omega = TAU * f64::from(k) * (23.7e3_f64 / 7.8).sqrt() / (2.0 * 50.0);
        let error = nearest(&found, omega);
        assert!(error < 5e-3, "{k}: {error:.1e} {:?}", found.frequencies_hz);
    }
}

/// The same configuration at rest, without loads, is that of the locked frequencies.
#[test]
fn without_loads_they_are_the_locked_frequencies() {
    let reducer = link(&[]);
    let found = loaded(&reducer, 0.0, 0.0);
    let locked = reducer.locked_frequencies_hz(&[0.0], 12).expect("regular");
    for (a, b) in found.frequencies_hz.iter().zip(&locked) {
        assert!((a - b).abs() < 1e-8 * b, "{a} {b}");
    }
    assert_eq!(found.frequencies_hz.len(), 12);
}

/// Frozen where the configuration changes with θ, steady where it only turns.
#[test]
fn states_that_change_with_time_are_told_apart() {
    let text = read("data/one_link.toml");
    let falling = text.replace("gravity = [0, 0, 0]", "gravity = [0, -9.81, 0]");
    assert!(!loaded(&reducer(&falling), 0.5, 0.0).steady);
    assert!(loaded(&reducer(&falling), 0.0, 0.0).steady);
    let hanging = text.replace("gravity = [0, 0, 0]", "gravity = [0, 0, -9.81]");
    assert!(loaded(&reducer(&hanging), 0.5, 0.0).steady);
    assert!(!loaded(&reducer(&text), 0.5, 0.3).steady);
    let four_bar = reducer(&read("data/four_bar.toml"));
    assert!(!loaded(&four_bar, 1.0, 0.0).steady);
}
