//! Loops closed by blocks: against independent results, between both models, and in their order.

use crate::support::{load_loop as load, run_full, run_reduced};
use reducer::dynamics::full::StepControl;
use serde_json::Value;

/// Columns of a case of the reference: time, motor, load, their rates, input.
fn reference(case: &str) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string("data/reference/control.json").unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let rows = &all["linear_plant_with_pid"]["cases"][case]["rows"];
    let numbers = |row: &Value| {
        row.as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap())
            .collect()
    };
    rows.as_array().unwrap().iter().map(numbers).collect()
}

/// Largest difference of positions and rates from the rows of a reference.
fn apart<'i>(rows: &[Vec<f64>], states: impl Iterator<Item = (&'i [f64], &'i [f64])>) -> f64 {
    let mut most = 0.0_f64;
    let mut count = 0;
    for (row, (theta, rate)) in rows.iter().zip(states) {
        let found = [theta[0], theta[1], rate[0], rate[1]];
        for (a, b) in found.iter().zip(&row[1..5]) {
            most = most.max((a - b).abs());
        }
        count += 1;
    }
    assert_eq!(count, rows.len());
    most
}

const ANALOG: &str = r#"
format = 1
mechanism = "FIXTURES/two_mass.toml"
duration = 2
[[sensor]]
name = "x"
coordinate = "motor"
[[block]]
name = "wanted"
signal = { point_to_point = { to = 0.1, duration = 0.4 } }
[[block]]
name = "pid"
pid = { kp = 200, ki = 300, kd = 20, filter = 0.002 }
input = ["wanted", "-x"]
[[drive]]
coordinate = "motor"
force = "pid"
[sampling]
step = 0.04
[reduced]
tolerance = 1e-12
[full]
step = 1e-3
"#;

/// The law by a matrix exponential with the reference as an exosystem.
#[test]
fn linear_plant_with_a_controller_follows_the_matrix_exponential() {
    let rows = reference("P1_continuous_pid");
    let mut scenario = load(ANALOG);
    let seen = run_reduced(&scenario);
    let error = apart(&rows, seen.iter().map(|i| (&i.theta[..], &i.rate[..])));
    assert!(error < 1e-8, "reduced: {error:.1e}");
    let mut errors = Vec::new();
    for step in [2e-3, 1e-3, 5e-4] {
        scenario.full.step = StepControl::Fixed(step);
        let seen = run_full(&scenario).unwrap();
        errors.push(apart(
            &rows,
            seen.iter().map(|i| (&i.theta[..], &i.rate[..])),
        ));
    }
    let orders: Vec<f64> = errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect();
    assert!(
        orders.iter().all(|o| (1.9..2.3).contains(o)),
        "{errors:?} {orders:?}"
    );
    assert!(errors[2] < 2e-5, "{errors:?}");
}

/// The same law written as a transfer function, as matrices, and as single blocks in a loop.
#[test]
fn other_ways_to_write_the_controller_are_the_same() {
    let rows = reference("P1_continuous_pid");
    // kp + ki/s + kd·N s/(s + N), N = 500.
    let transfer = "transfer = { numerator = [10200, 100300, 150000], denominator = [1, 500, 0] }";
    let matrices = "state_space = { a = [[0, 0], [0, -500]], b = [[300], [-5000000]], c = [[1, 1]], d = [[10200]] }\n";
    for law in [transfer, matrices] {
        let text = ANALOG.replace("pid = { kp = 200, ki = 300, kd = 20, filter = 0.002 }", law);
        let text = match law.starts_with("state") {
            true => text
                .replace("input = [\"wanted\", \"-x\"]", "input = \"error\"")
                .replace("[[drive]]", "[[block]]\nname = \"error\"\ngain = 1\ninput = [\"wanted\", \"-x\"]\n[[drive]]"),
            false => text,
        };
        let seen = run_reduced(&load(&text));
        let error = apart(&rows, seen.iter().map(|i| (&i.theta[..], &i.rate[..])));
        assert!(error < 1e-8, "{law}: {error:.1e}");
    }
    // y = u − 3y is u/4, whichever way it is written.
    let looped = ANALOG
        .replace("force = \"pid\"", "force = \"quarter\"")
        .replace(
            "[[drive]]",
            "[[block]]\nname = \"quarter\"\ngain = 1\ninput = [\"times4\", \"-three\"]\n\
         [[block]]\nname = \"times4\"\ngain = 4\ninput = \"pid\"\n\
         [[block]]\nname = \"three\"\nexpression = \"3*quarter\"\ninput = \"quarter\"\n[[drive]]",
        );
    let seen = run_reduced(&load(&looped));
    let error = apart(&rows, seen.iter().map(|i| (&i.theta[..], &i.rate[..])));
    assert!(error < 1e-8, "loop: {error:.1e}");
}

const SAMPLED: &str = r#"
format = 1
mechanism = "FIXTURES/two_mass.toml"
duration = 2
[[sensor]]
name = "x"
coordinate = "motor"
[[block]]
name = "wanted"
signal = { point_to_point = { to = 0.1, duration = 0.3 } }
[[block]]
name = "pid"
pid = { kp = 200, ki = 300, kd = 12, limits = [-8, 8], integral_limits = [-4, 4] }
input = ["wanted", "-x"]
sampled = { period = 0.005 }
[[drive]]
coordinate = "motor"
force = "pid"
[sampling]
step = 0.02
[reduced]
tolerance = 1e-11
"#;

/// Forty-one samples are saturated; between samples the reference is a matrix exponential.
#[test]
fn sampled_controller_with_saturation_follows_an_independent_integration() {
    let rows = reference("P1_sampled_pid_saturated_delay0");
    let mut scenario = load(SAMPLED);
    let seen = run_reduced(&scenario);
    let error = apart(&rows, seen.iter().map(|i| (&i.theta[..], &i.rate[..])));
    assert!(error < 1e-6, "reduced: {error:.1e}");
    let mut errors = Vec::new();
    for step in [1e-3, 5e-4, 2.5e-4] {
        scenario.full.step = StepControl::Fixed(step);
        let seen = run_full(&scenario).unwrap();
        errors.push(apart(
            &rows,
            seen.iter().map(|i| (&i.theta[..], &i.rate[..])),
        ));
    }
    let orders: Vec<f64> = errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect();
    assert!(orders.iter().all(|o| *o > 1.9), "{errors:?} {orders:?}");
}

const FOUR_BAR: &str = r#"
format = 1
mechanism = "DATA/four_bar_rigid.toml"
duration = 0.6
[initial]
theta = [-0.3]
[[sensor]]
name = "angle"
coordinate = "theta"
[[sensor]]
name = "rate"
coordinate = "theta"
quantity = "velocity"
[[block]]
name = "wanted"
signal = { point_to_point = { from = -0.3, to = 0.5, duration = 0.5 } }
[[block]]
name = "pid"
pid = { kp = 30, ki = 40, kd = 3, rate_input = "-rate" }
input = ["wanted", "-angle"]
SAMPLED
[[drive]]
coordinate = "theta"
force = "pid"
[full]
RESTART
"#;

/// Order in which the crank's angle and rate converge at the end.
fn four_bar_order(sampled: &str, restart: &str) -> Vec<f64> {
    let text = FOUR_BAR
        .replace("SAMPLED", sampled)
        .replace("RESTART", restart);
    let mut scenario = load(&text);
    scenario.full.instants = vec![0.0, scenario.duration];
    let ends: Vec<[f64; 2]> = (0..5)
        .map(|p| {
            scenario.full.step = StepControl::Fixed(0.01 / f64::from(1 << p));
            let last = run_full(&scenario).unwrap().pop().unwrap();
            [last.theta[0], last.rate[0]]
        })
        .collect();
    let errors: Vec<f64> = ends
        .windows(2)
        .map(|pair| {
            (pair[0][0] - pair[1][0])
                .abs()
                .max((pair[0][1] - pair[1][1]).abs())
        })
        .collect();
    errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect()
}

/// Thesis 4.3.4: second order also with a sampled controller, first order without the restart.
#[test]
fn rigid_four_bar_with_a_controller_keeps_the_order() {
    let analog = four_bar_order("", "");
    assert!(analog.iter().all(|o| *o > 1.9), "analog: {analog:?}");
    let period = "sampled = { period = 0.02 }";
    let sampled = four_bar_order(period, "");
    assert!(sampled.iter().all(|o| *o > 1.9), "sampled: {sampled:?}");
    let without = four_bar_order(period, "restart = false");
    let last = &without[1..];
    assert!(
        last.iter().all(|o| (o - 1.0).abs() < 0.2),
        "without: {without:?}"
    );
}

/// A limited integral rests at its limit, leaves it at once, and both models agree.
#[test]
fn limits_are_located() {
    let text = r#"
format = 1
mechanism = "FIXTURES/two_mass.toml"
duration = 2
[[block]]
name = "wave"
signal = { sine = { amplitude = 2, frequency = 1 } }
[[block]]
name = "sum"
integrator = { limits = [-0.1, 0.25] }
input = "wave"
[[block]]
name = "clipped"
saturation = [-1, 1.5]
input = "wave"
[[block]]
name = "beyond"
dead_zone = [-1, 1.5]
input = "wave"
[[drive]]
coordinate = "motor"
force = ["sum", { constant = -0.05 }]
[reduced]
tolerance = 1e-11
[full]
step = 2e-4
[sampling]
step = 0.01
"#;
    let scenario = load(text);
    let reduced = run_reduced(&scenario);
    let full = run_full(&scenario).unwrap();
    // The integral of the wave is (1 − cos 2πt)/π, at its upper limit from 0.205 s until the wave
    // turns at 0.5 s, and on its way down stopped 0.35 below.
    let expected = |t: f64| {
        let full = |t: f64| (1.0 - (std::f64::consts::TAU * t).cos()) / std::f64::consts::PI;
        let up = full(t.min(0.5)).min(0.25);
        let fallen = (full(t.max(0.5)) - full(0.5)).max(-0.35);
        if t < 1.0 { up + fallen } else { f64::NAN }
    };
    for (r, f) in reduced.iter().zip(&full) {
        let [wave, sum, clipped, beyond] = r.signals[..] else {
            panic!("{:?}", r.signals)
        };
        assert!((clipped - wave.clamp(-1.0, 1.5)).abs() < 1e-12);
        assert!((clipped + beyond - wave).abs() < 1e-12);
        if r.time < 0.999 {
            assert!(
                (sum - expected(r.time)).abs() < 1e-9,
                "t = {}: {sum}",
                r.time
            );
        }
        assert!(
            (sum - f.signals[1]).abs() < 2e-6,
            "t = {}: {sum} {}",
            r.time,
            f.signals[1]
        );
        assert!((r.theta[0] - f.theta[0]).abs() < 1e-6);
    }
}
