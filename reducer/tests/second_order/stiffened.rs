//! `stiffening = "loads"`: reduced models under loads at rest, against the full model and
//! independent results.

use crate::support::{read, reducer, root};
use faer::Mat;
use reducer::approximation::{SampleDatabase, Silent};
use reducer::linalg::{cholesky, solve_lower, solve_lower_transposed, symmetric_eigen};
use reducer::model::ActuatorMotion;
use reducer::pipeline;
use reducer::reduced_model::{Evaluator, Workspace};
use reducer::reduction::{Coefficients, LocalReducer, ReductionError};
use reducer::sampling::MechanismModel;
use serde_json::Value;
use std::f64::consts::TAU;

/// A link upright in the plane, with a weight given by its acceleration.
fn column(pull: f64, modes: usize) -> String {
    read("data/one_link.toml")
        .replace(
            "gravity = [0, 0, 0]",
            &format!("gravity = [{:e}, 0, 0]", -pull),
        )
        .replace(
            "internal_modes = { in_plane = \"xy\", count = 3 }",
            &format!(
                "internal_modes = {{ in_plane = \"xy\", count = {modes} }}\nstiffening = \"loads\""
            ),
        )
}

/// Frequencies (rad/s) with θ locked, about the deflection under the loads: M̄(η) to first order in η.
fn frequencies(c: &Coefficients, bend: bool) -> Vec<f64> {
    let (n, s) = (c.n(), c.n_rigid());
    let block = |m: &[f64]| Mat::from_fn(n - s, n - s, |i, j| m[(s + i) * n + s + j]);
    let stiffness = block(&c.stiffness);
    let force = Mat::from_fn(n - s, 1, |i, _| c.force[s + i]);
    let factor = cholesky(&stiffness).expect("definite");
    let eta = solve_lower_transposed(&factor, &solve_lower(&factor, &force));
    let mut mass = block(&c.mass);
    if bend {
        for d in 0..n - s {
            let change = block(&c.mass_gradient[s + d]);
            mass += change * faer::Scale(eta[(d, 0)]);
        }
    }
    let l = cholesky(&mass).expect("definite");
    let half = solve_lower(&l, &stiffness);
    let (values, _) =
        symmetric_eigen(&solve_lower(&l, &half.transpose().to_owned())).expect("values");
    values.iter().map(|v| v.max(0.0).sqrt()).collect()
}

fn reference() -> Value {
    let text = std::fs::read_to_string(root("data/reference/second_order.json")).expect("a file");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    all["column_under_its_own_weight"].clone()
}

#[test]
fn a_column_has_the_frequencies_of_a_ritz_model_under_its_weight() {
    let reference = reference();
    for row in reference["rows"].as_array().expect("rows") {
        let Some(pull) = row["gravity_towards_base_m_s2"].as_f64() else {
            continue;
        };
        let c = reducer(&column(pull, 3)).evaluate(&[0.0]).expect("stable");
        let found = frequencies(&c, true);
        let ratio = row["mu_g_L3_over_EI"].as_f64().expect("a number");
        let tolerance = if ratio > 7.0 { 5e-3 } else { 2e-3 };
        let expected = row["frequencies_rad_s"].as_array().expect("a list");
        for (found, expected) in found.iter().zip(expected) {
            let expected = expected.as_f64().expect("a number");
            let error = found / expected - 1.0;
            if std::env::var("SHOW").is_ok() {
                eprintln!("column at {ratio}: {error:.1e}");
            }
            assert!(error.abs() < tolerance, "{ratio}: {error:.1e}");
        }
    }
}

#[test]
fn a_column_that_buckles_is_refused_with_the_load_factor() {
    let unit = reference()["parameters"]["gravity_unit_EI_over_mu_L3"].as_f64();
    let unit = unit.expect("a number");
    assert!(reducer(&column(7.82 * unit, 3)).evaluate(&[0.0]).is_ok());
    let error = reducer(&column(10.0 * unit, 3))
        .evaluate(&[0.0])
        .expect_err("buckled");
    match error {
        ReductionError::Buckles { factor, .. } => {
            assert!((7.82..7.86).contains(&(factor * 10.0)), "{factor}");
        }
        other => panic!("{other}"),
    }
}

/// Euler's load of a cantilever, π²EI/4L².
#[test]
fn a_column_under_a_tip_load_is_refused_with_the_load_factor() {
    let euler = reference()["parameters"]["Pcr"].as_f64().expect("a number");
    let push = |force: f64| {
        let load = format!(
            "\n[[load]]\nat = \"link.to\"\nforce = [{:e}, 0, 0]\n",
            -force
        );
        reducer(&(column(0.0, 3) + &load)).evaluate(&[0.0])
    };
    assert!(push(0.99 * euler).is_ok());
    match push(1.25 * euler).expect_err("buckled") {
        ReductionError::Buckles { factor, .. } => {
            assert!((factor * 1.25 - 1.0).abs() < 1e-2, "{factor}");
        }
        other => panic!("{other}"),
    }
}

/// Two links that droop by some per cent of their length.
const ARM: &str = r#"
format = 1
gravity = [0, 0, -9.81]
[[body]]
name = "upper"
beam = { from = [0, 0, 0], to = [1, 0, 0], elements = 8, section = { rectangle = { height = 0.008, width = 0.012 } }, material = "aluminium", side = [0, 1, 0] }
[[body]]
name = "fore"
beam = { from = [1, 0, 0], to = [1.8, 0, 0], elements = 8, section = { rectangle = { height = 0.008, width = 0.012 } }, material = "aluminium", side = [0, 1, 0] }
[[joint]]
name = "shoulder"
hinge = ["ground", "upper.from"]
axis = [0, 1, 0]
[[joint]]
name = "elbow"
hinge = ["upper.to", "fore.from"]
axis = [0, 1, 0]
[[coordinate]]
name = "shoulder"
drives = "shoulder"
range = [-1, 1]
[[coordinate]]
name = "elbow"
drives = "elbow"
range = [-1.5, 1.5]
[reduction]
internal_modes = { in_plane = "xz", count = 6 }
"#;

fn worst(found: &[f64], expected_hz: &[f64], count: usize) -> f64 {
    // Of the full model those in the plane: every second is across it.
    (found.iter().take(count))
        .map(|w| {
            (expected_hz.iter())
                .map(|f| (w / TAU / f - 1.0).abs())
                .fold(f64::INFINITY, f64::min)
        })
        .fold(0.0, f64::max)
}

#[test]
fn a_drooping_arm_has_the_frequencies_of_the_full_model() {
    let theta = [0.3, -0.9];
    let full: LocalReducer = reducer(ARM);
    let rest = ActuatorMotion {
        rate: &[0.0; 2],
        acceleration: &[0.0; 2],
    };
    let expected = full
        .loaded_frequencies(&theta, rest, 10)
        .expect("an equilibrium");
    let plain = frequencies(&full.evaluate(&theta).expect("regular"), false);
    let stiffened = reducer(&(ARM.to_string() + "stiffening = \"loads\"\n"));
    let c = stiffened.evaluate(&theta).expect("regular");
    let found = frequencies(&c, true);
    let errors = [
        worst(&plain, &expected.frequencies_hz, 2),
        worst(&frequencies(&c, false), &expected.frequencies_hz, 2),
        worst(&found, &expected.frequencies_hz, 2),
    ];
    if std::env::var("SHOW").is_ok() {
        eprintln!(
            "arm: without loads, K^f alone, complete {errors:?} {:?}",
            expected.frequencies_hz
        );
    }
    assert!(errors[2] < 5e-3, "{errors:?}");
    assert!(errors[2] < 0.5 * errors[0], "{errors:?}");
}

#[test]
fn gradients_of_load_stiffness_match_differences() {
    let loaded = |file: &str| read(file).replace("stiffening = false", "stiffening = \"loads\"");
    let parts = "[[load]]\nat = \"fore.to\"\nforce = [3, -8, 5]\n[ground.points]\nhook = [0.3, 0.4, 1.2]\n[[spring]]\nbetween = [\"ground.hook\", \"fore.to\"]\nlength = 0.5\nstiffness = 60\n";
    for text in [
        loaded("tests/fixtures/flexible_arm.toml") + parts,
        loaded("tests/fixtures/flexible_orthoglide.toml"),
    ] {
        let reducer = reducer(&text);
        let theta = [0.1, -0.05, 0.15];
        let c = reducer.evaluate(&theta).expect("regular");
        for k in 0..3 {
            let at = |step: f64| {
                let mut moved = theta;
                moved[k] += step;
                reducer.evaluate(&moved).expect("regular").stiffness
            };
            let h = 1e-3;
            let (a, b, p, q) = (at(h), at(-h), at(2.0 * h), at(-2.0 * h));
            let size = c.stiffness_gradient[k]
                .iter()
                .fold(0.0_f64, |m, v| m.max(v.abs()));
            for i in 0..a.len() {
                let slope = (8.0 * (a[i] - b[i]) - (p[i] - q[i])) / (12.0 * h);
                let error = (slope - c.stiffness_gradient[k][i]).abs();
                assert!(error < 1e-6 * size, "{k} {i}: {error:.1e} of {size:.1e}");
            }
        }
    }
}

/// Gravity given at run time keeps its stiffness per axis: that of a fixed one is their sum.
#[test]
fn gravity_given_at_run_time_has_the_stiffness_of_a_fixed_one() {
    let fixed = column(20.0, 2).replace("[-2e1, 0, 0]", "[-20, 3, 0]");
    let free = fixed.replace(
        "gravity = [-20, 3, 0]",
        "gravity = { value = [-20, 3, 0], runtime = true }",
    );
    assert!(free.contains("runtime"));
    let (fixed, free) = (reducer(&fixed), reducer(&free));
    for theta in [0.0, 0.7] {
        let expected = fixed.evaluate(&[theta]).expect("stable");
        let found = free.evaluate(&[theta]).expect("stable");
        let own = free
            .second_order(&free.kinematics().solve(&[theta]).expect("regular"))
            .expect("regular")
            .expect("flexible");
        let (n, s) = (found.n(), found.n_rigid());
        let size = expected
            .stiffness
            .iter()
            .fold(0.0_f64, |m, v| m.max(v.abs()));
        for i in 0..n - s {
            for j in 0..n - s {
                let at = (s + i) * n + s + j;
                assert!((found.stiffness[at] - expected.stiffness[at]).abs() < 1e-12 * size);
                let parts: f64 = (found.gravity_axes.iter().zip([-20.0, 3.0, 0.0]))
                    .map(|(axis, g)| g * axis.stiffness[i * (n - s) + j])
                    .sum();
                assert!((parts - own.load_stiffness[(i, j)]).abs() < 1e-9 * size);
            }
        }
    }
}

/// A stored model of the column has the same frequencies at every inclination.
#[test]
fn a_stored_model_has_the_frequencies_of_the_full_model_under_its_weight() {
    let text = column(20.0, 3).replace("drives = \"hub\"", "drives = \"hub\"\nrange = [-1, 1]")
        + "\n[approximation]\ntolerance = 1e-4\n";
    let mechanism =
        reducer::description::parse(&text, "test.toml", &|path| reducer::description::read(path))
            .unwrap_or_else(|faults| panic!("{faults}"));
    let local = MechanismModel::new(&mechanism).expect("a mechanism");
    let mut database = SampleDatabase::in_memory();
    let (model, _) = pipeline::reduce(&local, &mechanism.approximation, &Silent, &mut database)
        .expect("a model");
    let evaluator = Evaluator::new(&model).expect("valid");
    let full = reducer(&text);
    for theta in [-0.9, -0.2, 0.0, 0.7] {
        let found = evaluator
            .loaded_frequencies_hz(&[theta], &[0.0], &[0.0], &mut Workspace::default())
            .expect("finite")
            .expect("a deflection");
        let c = full.evaluate(&[theta]).expect("stable");
        for (a, b) in found.iter().zip(frequencies(&c, true)) {
            assert!(
                (a * TAU / b - 1.0).abs() < 2e-3,
                "{theta}: {a} Hz, {} Hz",
                b / TAU
            );
        }
        // Along gravity nothing bends, so that the full model says the same.
        if theta == 0.0 {
            let rest = ActuatorMotion {
                rate: &[0.0],
                acceleration: &[0.0],
            };
            let expected = full
                .loaded_frequencies(&[theta], rest, 6)
                .expect("an equilibrium");
            assert!(worst(&[found[0] * TAU], &expected.frequencies_hz, 1) < 2e-3);
        }
    }
}
