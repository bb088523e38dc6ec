//! Links that are stiffened and softened by fast motion: with `stiffening = true`, and where declared rates ask for it.

use crate::support::{reduce_in, shown};
use serde_json::Value;
use std::path::{Path, PathBuf};

const ROD: &str = r#"
format = 1
mechanism = "connecting_rod.toml"
duration = 0.1
[[drive]]
coordinate = "phi"
motion = { spin_up = { rate = "150 rad/s", duration = 0.04 } }
[[output]]
point = "a"
quantities = ["position"]
[[output]]
point = "mid"
quantities = ["position"]
[[output]]
point = "b"
quantities = ["position"]
[sampling]
step = 0.001
[full]
step = 1e-4
"#;

const THIN: &str = r#"
format = 1
mechanism = "thin_four_bar.toml"
duration = 0.8
[[drive]]
coordinate = "theta"
motion = { point_to_point = { from = -1.0, to = 0.5, duration = 0.5 } }
[[output]]
point = "B"
quantities = ["deflection"]
[sampling]
step = 1e-3
[full]
step = 5e-4
spectral_radius = 0.9
[override]
gravity = [0, 0, 0]
"#;

/// Runs a scenario and returns its folder.
fn simulate(folder: &Path, scenario: &Path) -> PathBuf {
    let arguments = ["simulate", scenario.to_str().unwrap(), "-o", "out"];
    let output = reduce_in(folder, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    folder.join("out")
}

/// Columns of a table by their names.
fn columns(path: &Path, names: &[&str]) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let place = |name: &&str| header.iter().position(|h| h == name).unwrap();
    let places: Vec<usize> = names.iter().map(place).collect();
    let row = |line: &str| -> Vec<f64> {
        let cells: Vec<f64> = line.split(',').map(|c| c.parse().unwrap()).collect();
        places.iter().map(|p| cells[*p]).collect()
    };
    text.lines().skip(1).map(row).collect()
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().map(f64::abs).fold(0.0, f64::max)
}

#[test]
fn a_beam_that_spins_up_beyond_its_first_frequency_follows_the_full_model() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = std::fs::canonicalize("data/scenarios/one_link_spin_up.toml").unwrap();
    let out = simulate(folder.path(), &scenario);
    let names = ["deflection_tip.x", "deflection_tip.y"];
    let full = columns(&out.join("full.csv"), &names);
    let reduced = columns(&out.join("reduced.csv"), &names);
    let peak = largest(reduced.iter().map(|row| row[1]));
    assert!((peak - 0.5343).abs() <= 5e-4, "{peak}");
    let apart = largest(full.iter().zip(&reduced).map(|(a, b)| a[1] - b[1]));
    assert!(apart <= 0.015 * peak, "{apart}");
    let shortening = |rows: &[Vec<f64>]| largest(rows.iter().map(|row| row[0]));
    let ratio = shortening(&reduced) / shortening(&full);
    assert!((ratio - 1.0).abs() <= 0.02, "{ratio}");
}

/// Puts a mechanism and a scenario into a folder and runs it.
fn simulate_fixture(folder: &Path, mechanism: &str, scenario: &str) -> PathBuf {
    let from = Path::new("tests/fixtures").join(mechanism);
    std::fs::copy(from, folder.join(mechanism)).unwrap();
    let path = folder.join("scenario.toml");
    std::fs::write(&path, scenario).unwrap();
    simulate(folder, &path)
}

/// Without `stiffening` the deflection is 9 % off and the torque 17 %.
#[test]
fn a_thin_four_bar_follows_the_full_model_at_a_tenth_of_its_lowest_frequency() {
    let folder = tempfile::tempdir().unwrap();
    let out = simulate_fixture(folder.path(), "thin_four_bar.toml", THIN);
    for names in [
        &["deflection_B.x", "deflection_B.z"][..],
        &["force.theta"][..],
    ] {
        let full = columns(&out.join("full.csv"), names);
        let reduced = columns(&out.join("reduced.csv"), names);
        let norm = |row: &[f64]| row.iter().map(|v| v * v).sum::<f64>().sqrt();
        let peak = largest(full.iter().map(|row| norm(row)));
        let apart = largest(full.iter().zip(&reduced).map(|(a, b)| {
            let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            norm(&difference)
        }));
        assert!(apart <= 0.015 * peak, "{names:?}: {apart} of {peak}");
    }
}

#[test]
fn a_connecting_rod_bends_as_independent_beam_codes_say() {
    let folder = tempfile::tempdir().unwrap();
    let out = simulate_fixture(folder.path(), "connecting_rod.toml", ROD);
    let names = ["a.x", "a.y", "mid.x", "mid.y", "b.x", "b.y", "force.phi"];
    let rows = columns(&out.join("reduced.csv"), &names);
    let text = std::fs::read_to_string("data/reference/second_order.json").unwrap();
    let reference: Value = serde_json::from_str(&text).unwrap();
    let list = |name: &str| -> Vec<f64> {
        let list = reference["slider_crank_150_rad_s"][name].as_array();
        list.unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let deflection = |row: &Vec<f64>| {
        let (along, up) = (row[4] - row[0], row[5] - row[1]);
        (along * (row[3] - row[1]) - up * (row[2] - row[0])) / along.hypot(up)
    };
    let (bent, torque) = (list("mid_deflection_from_chord"), list("torque"));
    assert_eq!(rows.len(), bent.len());
    let apart = largest(rows.iter().zip(&bent).map(|(row, b)| deflection(row) - b));
    let peak = largest(bent);
    assert!(apart <= 0.01 * peak, "{apart} of {peak}");
    let apart = largest(rows.iter().zip(&torque).map(|(row, t)| row[6] - t));
    let peak = largest(torque);
    assert!(apart <= 0.003 * peak, "{apart} of {peak}");
}
