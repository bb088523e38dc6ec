//! The Ralf-like manipulator, driven through valves: the reduced model against the full one.

use crate::support::{reduce_in, scenario_file, shown};
use nalgebra::{Complex, DMatrix};
use std::path::Path;

/// Rows of time and the three components of the tip's deflection.
fn deflections(folder: &Path, name: &str) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let header = text.lines().next().unwrap();
    assert!(header.starts_with("time,deflection_tip.x,deflection_tip.y,deflection_tip.z"));
    let row = |line: &str| {
        line.split(',')
            .take(4)
            .map(|c| c.parse().unwrap())
            .collect()
    };
    text.lines().skip(1).map(row).collect()
}

/// Largest distance between two deflections, and the largest change of the full model's one since the
/// equilibrium at the start.
fn difference_and_change(full: &[Vec<f64>], reduced: &[Vec<f64>]) -> (f64, f64) {
    let distance = |a: &[f64], b: &[f64]| -> f64 {
        let square = a[1..].iter().zip(&b[1..]).map(|(a, b)| (a - b) * (a - b));
        square.sum::<f64>().sqrt()
    };
    let pairs = full.iter().zip(reduced);
    let largest = pairs.map(|(a, b)| distance(a, b)).fold(0.0, f64::max);
    let changes = full.iter().map(|row| distance(row, &full[0]));
    (largest, changes.fold(0.0, f64::max))
}

/// Ranges along z after the motion: of the full model's deflection, and of the difference.
fn residual_ranges(full: &[Vec<f64>], reduced: &[Vec<f64>]) -> (f64, f64) {
    let range = |values: &[f64]| {
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        largest - values.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let after = full.iter().zip(reduced).filter(|(a, _)| a[0] > 1.5);
    let (shown, difference): (Vec<f64>, Vec<f64>) = after.map(|(a, b)| (a[3], a[3] - b[3])).unzip();
    (range(&shown), range(&difference))
}

#[test]
fn two_internal_modes_follow_the_tip_of_the_manipulator() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = std::fs::canonicalize("data/scenarios/ralf_point_to_point.toml").unwrap();
    let arguments = [
        "simulate",
        scenario.to_str().unwrap(),
        "-o",
        "out",
        "--json",
    ];
    let output = reduce_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    let out = folder.path().join("out");
    let (full, reduced) = (
        deflections(&out, "full.csv"),
        deflections(&out, "reduced.csv"),
    );
    assert_eq!(full.len(), reduced.len());
    let (difference, change) = difference_and_change(&full, &reduced);
    let (vibration, apart) = residual_ranges(&full, &reduced);
    println!(
        "tip differs by {difference:.2e} m, its deflection changes by {change:.2e} m; after the motion {apart:.2e} m of {vibration:.2e} m; {}",
        shown(&output.stdout)
    );
    assert!(difference < 0.02 * change, "{difference} {change}");
    assert!(apart < 0.02 * vibration, "{apart} {vibration}");
}

/// Both loops of chapter 6 with either filter, and a force at the tip.
#[test]
fn both_models_agree_under_the_fast_loop() {
    for name in [
        "ralf_fast_loop_a",
        "ralf_fast_loop_b",
        "ralf_fast_tip_force",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let scenario = std::fs::canonicalize(format!("data/scenarios/{name}.toml")).unwrap();
        let arguments = ["simulate", scenario.to_str().unwrap(), "-o", "out"];
        let output = reduce_in(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
        let out = folder.path().join("out");
        let (full, reduced) = (
            deflections(&out, "full.csv"),
            deflections(&out, "reduced.csv"),
        );
        let (difference, change) = difference_and_change(&full, &reduced);
        println!("{name}: {difference:.2e} m of {change:.2e} m");
        assert!(difference < 0.02 * change, "{name}: {difference} {change}");
    }
}

/// The static observer in place of η^δ itself moves the poles by little.
#[test]
fn poles_with_the_static_observer_are_those_of_the_ideal_law() {
    for (name, wanted) in [
        ("ralf_fast_loop_a", [[3.89, 0.232], [6.45, 0.171]]),
        ("ralf_fast_loop_b", [[3.86, 0.226], [6.49, 0.173]]),
    ] {
        let path = format!("data/scenarios/{name}.toml");
        let output = reduce_in(Path::new("."), &["linear", &path, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        for [frequency, damping] in wanted {
            let poles = found["poles"].as_array().unwrap().iter();
            let near = |p: &&serde_json::Value| {
                let (f, d) = (&p["frequency_hz"], &p["damping"]);
                (f.as_f64().unwrap() / frequency - 1.0).abs() < 0.01
                    && (d.as_f64().unwrap() - damping).abs() < 0.01
            };
            assert_eq!({ poles }.filter(near).count(), 2, "{name}: {frequency} Hz");
        }
    }
}

/// Zeros of a loop for which shifts of a QR algorithm go round in a circle: they are found, and are those of the response.
#[test]
fn zeros_of_the_fast_loop_are_found() {
    let arguments = [
        "linear",
        "data/scenarios/ralf_fast_loop_b.toml",
        "--from",
        "control.wanted1",
        "--to",
        "tip.z",
        "--json",
    ];
    let output = reduce_in(Path::new("."), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let matrix = |name: &str| {
        let rows: Vec<Vec<f64>> = serde_json::from_value(found[name].clone()).unwrap();
        DMatrix::from_fn(rows.len(), rows[0].len(), |i, j| {
            Complex::new(rows[i][j], 0.0)
        })
    };
    let [a, b, c] = ["a", "b", "c"].map(matrix);
    let place = |list: &str, name: &str| {
        let names = found[list].as_array().unwrap();
        names.iter().position(|n| n == name).unwrap()
    };
    let (j, i) = (
        place("inputs", "control.wanted1"),
        place("outputs", "tip.z"),
    );
    let response = |s: Complex<f64>| {
        let matrix = DMatrix::from_diagonal_element(a.nrows(), a.nrows(), s) - &a;
        let states = matrix.lu().solve(&b.column(j)).unwrap();
        (c.row(i) * states)[0]
    };
    let zeros = found["zeros"].as_array().unwrap().iter();
    let zeros = zeros.map(|z| Complex::new(z["re"].as_f64().unwrap(), z["im"].as_f64().unwrap()));
    let inside: Vec<Complex<f64>> = zeros.filter(|z| (5.0..200.0).contains(&z.norm())).collect();
    assert!(inside.len() >= 4, "{inside:?}");
    for zero in inside {
        // The secant method on the response itself; poles of 3e6 1/s leave zeros four digits.
        let (mut before, mut at) = (zero * 1.0001, zero);
        for _ in 0..20 {
            let (there, here) = (response(before), response(at));
            if here == there {
                break;
            }
            (before, at) = (at, at - here * (at - before) / (here - there));
        }
        let apart = (at - zero).norm() / zero.norm();
        assert!(apart < 2e-4, "{zero}: {at}, {apart:.1e}");
    }
}

/// Round a square of configurations under both loops.
#[test]
fn both_models_go_round_a_square() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = std::fs::canonicalize("data/scenarios/ralf_square.toml").unwrap();
    let arguments = ["simulate", scenario.to_str().unwrap(), "-o", "out"];
    let output = reduce_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    let out = folder.path().join("out");
    let (full, reduced) = (
        deflections(&out, "full.csv"),
        deflections(&out, "reduced.csv"),
    );
    let (difference, change) = difference_and_change(&full, &reduced);
    println!("{difference:.2e} m of {change:.2e} m");
    assert!(difference < 0.02 * change, "{difference} {change}");
}

/// det(M^δθᵀM^δθ) [T 6.19] over the workspace: where it vanishes, no motion of the cylinders damps the modes.
#[test]
fn inertial_damping_is_possible_in_the_whole_workspace() {
    let mechanism = reducer::description::load(Path::new("data/ralf.toml")).unwrap();
    let model = crate::support::reduce_mechanism(&mechanism);
    let evaluator = reducer::reduced_model::Evaluator::new(&model).unwrap();
    let mut work = reducer::reduced_model::Workspace::default();
    let mut index = |a: f64, b: f64| {
        let mass = evaluator.document(&[a, b], &mut work).unwrap().mass;
        (mass[2][0] * mass[3][1] - mass[2][1] * mass[3][0]).powi(2)
    };
    let home = index(0.0, 0.0);
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for i in 0..=20 {
        for j in 0..=20 {
            let here = index(
                -0.15 + 0.3 * f64::from(i) / 20.0,
                -0.15 + 0.24 * f64::from(j) / 20.0,
            );
            (least, most) = (least.min(here), most.max(here));
        }
    }
    println!("home {home:.4e}, {least:.4e} to {most:.4e}");
    assert!(least > 0.2 * home, "{least} {home}");
}

/// Frequency and damping of the two modes in what `reduce linear` finds.
fn modes(path: &Path) -> [[f64; 2]; 2] {
    let output = reduce_in(
        Path::new("."),
        &["linear", path.to_str().unwrap(), "--json"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let pairs = found["poles"].as_array().unwrap().iter().filter_map(|p| {
        let pair = [&p["frequency_hz"], &p["damping"]].map(|v| v.as_f64().unwrap());
        let upper = p["im"].as_f64().unwrap() > 0.0;
        (upper && (3.0..10.0).contains(&pair[0])).then_some(pair)
    });
    let pairs: Vec<[f64; 2]> = pairs.collect();
    let [first, second] = pairs[..] else {
        panic!("{pairs:?}")
    };
    if first[0] < second[0] {
        [first, second]
    } else {
        [second, first]
    }
}

/// The length of a cylinder without mass is its extension less g/k: another way to the same loop, with other sensors.
const LENGTHS_BY_FORCE: &str = r#"
[[sensor]]
name = "t#"
coordinate = "cylinder#"
[[sensor]]
name = "r#"
coordinate = "cylinder#"
quantity = "velocity"
[[block]]
name = "g#"
gains = [[GAIN, -RATE]]
input = ["slow#", "r#"]
[[block]]
name = "x#"
gains = [[1, -SOFT]]
input = ["t#", "g#"]
[[block]]
name = "p#"
gain = -400
input = "x#"
[[block]]
name = "slow#"
butterworth = { low_pass = "100 Hz", order = 2 }
input = "p#"
[[drive]]
coordinate = "cylinder#"
force = "g#"
"#;

/// Thesis 6.4.3: sensors that measure the lengths of the cylinders, lumped flexibility included, feel the modes and take away the
/// damping that valves and slow loop give; below that of the structure for the second mode.
#[test]
fn lengths_as_sensors_take_damping_away() {
    let scenarios = Path::new("data/scenarios");
    let slow = modes(&scenarios.join("ralf_lengths_slow.toml"));
    let fast = modes(&scenarios.join("ralf_lengths_fast.toml"));
    let collocated = modes(&scenarios.join("ralf_slow_loop.toml"));
    let mut text = "format = 1\nmechanism = \"DATA/ralf.toml\"\nduration = 1\n".to_owned();
    for (k, rate, hydraulic, stiffness) in
        [("1", 3.5e5, 0.0236, 3.5e6), ("2", 3.0e5, 0.0265, 3.0e6)]
    {
        text += &LENGTHS_BY_FORCE
            .replace('#', k)
            .replace("GAIN", &(rate * hydraulic).to_string())
            .replace("RATE", &rate.to_string())
            .replace("SOFT", &(1.0 / stiffness).to_string());
    }
    let (_folder, path) = scenario_file("by_force.toml", &text);
    let by_force = modes(&path);
    println!("{slow:?} {fast:?} {collocated:?} {by_force:?}");
    for k in 0..2 {
        assert!(
            (slow[k][0] / by_force[k][0] - 1.0).abs() < 5e-3,
            "{slow:?} {by_force:?}"
        );
        assert!(
            (slow[k][1] - by_force[k][1]).abs() < 5e-4,
            "{slow:?} {by_force:?}"
        );
        assert!(
            collocated[k][1] > 8.0 * slow[k][1],
            "{collocated:?} {slow:?}"
        );
        assert!(fast[k][1] > 2.0 * slow[k][1], "{fast:?} {slow:?}");
    }
    assert!(slow[1][1] < 0.01, "{slow:?}");
    for name in ["ralf_lengths_slow", "ralf_lengths_fast"] {
        let folder = tempfile::tempdir().unwrap();
        let scenario = std::fs::canonicalize(scenarios.join(format!("{name}.toml"))).unwrap();
        let arguments = ["simulate", scenario.to_str().unwrap(), "-o", "out"];
        let output = reduce_in(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
        let out = folder.path().join("out");
        let (full, reduced) = (
            deflections(&out, "full.csv"),
            deflections(&out, "reduced.csv"),
        );
        let (difference, change) = difference_and_change(&full, &reduced);
        println!("{name}: {difference:.2e} m of {change:.2e} m");
        assert!(difference < 0.02 * change, "{name}: {difference} {change}");
    }
}
