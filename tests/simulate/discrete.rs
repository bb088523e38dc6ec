//! Loops with sampled blocks as exact maps, impulses, and other parameters of the time integration.

use crate::support::{load_loop, reduce_mechanism, run_full, run_reduced};
use nalgebra::DVector;
use reducer::dynamics::full::{Initial, Start, StepControl};
use reducer::dynamics::reduced::linearise_sampled;
use reducer::reduced_model::Evaluator;

/// Two rates, a delay, a filter and a continuous block between them; at rest until the load is hit.
const SAMPLED: &str = r#"
format = 1
mechanism = "FIXTURES/two_mass.toml"
duration = 0.42
[[impulse]]
at = 0.0175
coordinate = "load"
size = 0.05
[[sensor]]
name = "x"
coordinate = "motor"
[[sensor]]
name = "a"
coordinate = "load"
quantity = "acceleration"
[[block]]
name = "smooth"
butterworth = { low_pass = "30 Hz", order = 2 }
input = "x"
[[block]]
name = "pid"
pid = { kp = 60, ki = 100, kd = 4, filter = 0.01, limits = [-100, 100], tracking = 0.1 }
input = "-smooth"
sampled = { period = 0.005 }
[[block]]
name = "late"
delay = { samples = 2 }
input = "pid"
sampled = { period = 0.005 }
[[block]]
name = "felt"
butterworth = { low_pass = "20 Hz", order = 1 }
input = "-a"
sampled = { period = 0.01, offset = 0.005 }
[[block]]
name = "sum"
expression = "late + 0.1*felt"
input = ["late", "felt"]
[[drive]]
coordinate = "motor"
force = "sum"
[sampling]
step = 0.01
[reduced]
tolerance = 1e-12
"#;

#[test]
fn the_map_over_a_period_is_what_the_simulation_does() {
    let scenario = load_loop(SAMPLED);
    let model = reduce_mechanism(&scenario.mechanism);
    let evaluator = Evaluator::new(&model).unwrap();
    let at = Initial {
        theta: vec![0.0; 2],
        rate: vec![0.0; 2],
        start: Start::Equilibrium,
    };
    let (linear, found) =
        linearise_sampled(&evaluator, &scenario.drives, &at, &scenario.reduced).unwrap();
    let found = found.unwrap();
    assert!((found.period - 0.01).abs() < 1e-15);
    let seen = run_reduced(&scenario);
    assert!((seen[2].time - 0.02).abs() < 1e-12);
    // Until 0.02 s no block has remembered anything, and the filter has its own two states.
    let names = &linear.states;
    let filter: Vec<usize> = (0..names.len())
        .filter(|i| names[*i].starts_with("smooth"))
        .collect();
    assert_eq!(filter.len(), 2, "{names:?}");
    // Its states follow from three later values of its output; instead start the map with them unknown:
    // the first period gives them by least squares from two rows of the motion.
    let n = found.map.nrows();
    let motion = |k: usize| {
        let i = &seen[k];
        [i.theta[0], i.theta[1], i.rate[0], i.rate[1]]
    };
    let mut known = DVector::zeros(n);
    for (place, value) in motion(2).into_iter().enumerate() {
        known[place] = value;
    }
    // x(0.02 + kT) = rows of mapᵏ·(known + filter states).
    let mut powers = vec![found.map.clone()];
    for _ in 0..5 {
        let next = &found.map * powers.last().unwrap();
        powers.push(next);
    }
    let rows: Vec<(Vec<f64>, f64)> = (1..=4)
        .flat_map(|k| {
            let map = &powers[k - 1];
            let free = map * &known;
            motion(2 + k)
                .into_iter()
                .enumerate()
                .map(|(i, value)| {
                    let row = filter.iter().map(|f| map[(i, *f)]).collect();
                    (row, value - free[i])
                })
                .collect::<Vec<_>>()
        })
        .collect();
    let a = nalgebra::DMatrix::from_fn(rows.len(), 2, |i, j| rows[i].0[j]);
    let b = DVector::from_fn(rows.len(), |i, _| rows[i].1);
    let states = a.clone().svd(true, true).solve(&b, 1e-14).unwrap();
    let left = (&a * &states - &b).amax();
    assert!(
        left < 1e-9,
        "sixteen equations for two unknowns: {left:.1e}"
    );
    let mut z = known;
    for (place, value) in filter.iter().zip(states.iter()) {
        z[*place] = *value;
    }
    let mut most = 0.0_f64;
    for k in 2..seen.len() - 1 {
        z = &found.map * z;
        for (place, value) in motion(k + 1).into_iter().enumerate() {
            most = most.max((z[place] - value).abs());
        }
    }
    let size = seen.iter().fold(0.0_f64, |m, i| m.max(i.theta[1].abs()));
    assert!(size > 1e-3 && most < 1e-8, "{most:.1e} of {size:.1e}");
    let largest = found.multipliers()[0].norm();
    assert!(largest < 1.0, "{largest}");
    assert!(found.poles().iter().all(|p| p.at.re < 0.0));
}

/// Momentum and energy of a blow on a free pair of masses, in both models.
#[test]
fn impulses_change_velocities_by_their_momentum() {
    let text = r#"
format = 1
mechanism = "FIXTURES/two_mass.toml"
duration = 0.3
[[impulse]]
at = 0
coordinate = "motor"
size = 0.02
[[impulse]]
at = 0.1
output = "load"
direction = [2, 0, 0]
size = 0.05
[sampling]
step = 0.05
[full]
step = 5e-4
[reduced]
tolerance = 1e-11
"#;
    let scenario = load_loop(text);
    let (full, reduced) = (run_full(&scenario).unwrap(), run_reduced(&scenario));
    // A blow at t = 0 is part of the start: balances count from the first row.
    let (before, after) = (&reduced[0].energies, &full[0].energies);
    let starts = [before.imbalance(0.0), after.total() - after.actuator_work];
    for (f, r) in full.iter().zip(&reduced) {
        let expected = if f.time < 0.0999 { 0.02 } else { 0.07 };
        for rate in [&f.rate, &r.rate] {
            let momentum = rate[0] + 0.5 * rate[1];
            assert!((momentum - expected).abs() < 1e-9, "{}: {momentum}", f.time);
        }
        assert!((f.theta[1] - r.theta[1]).abs() < 1e-5, "{f:?} {r:?}");
        let balance = r.energies.imbalance(starts[0]);
        assert!(balance.abs() < 1e-9, "{}: {balance:.1e}", r.time);
        let f = &f.energies;
        let balance = f.total() + f.dissipated - f.actuator_work - f.force_work - starts[1];
        assert!(balance.abs() < 2e-6, "full: {balance:.1e}");
    }
    let bad = text.replace("at = 0.1", "at = 0.3");
    assert!(crate::support::faults(&bad).contains("before the end of the run"));
}

const PENDULUM: &str = r#"
format = 1
mechanism = "DATA/four_bar_rigid.toml"
duration = 0.5
[initial]
theta = [-0.3]
[[drive]]
coordinate = "theta"
force = { sine = { amplitude = 1, frequency = 3 } }
[full]
METHOD
"#;

#[test]
fn other_parameters_of_the_method_keep_its_order() {
    let ends = |method: &str| -> Vec<f64> {
        let mut scenario = load_loop(&PENDULUM.replace("METHOD", method));
        scenario.full.instants = vec![0.0, scenario.duration];
        let steps = [4e-3, 2e-3, 1e-3, 5e-4];
        let ends = steps.map(|step| {
            scenario.full.step = StepControl::Fixed(step);
            run_full(&scenario).unwrap().pop().unwrap().theta[0]
        });
        ends.to_vec()
    };
    let radius = 0.8_f64;
    let (m, f) = (
        (2.0 * radius - 1.0) / (radius + 1.0),
        radius / (radius + 1.0),
    );
    let same = ends(&format!("method = {{ alpha = [{m}, {f}] }}"));
    assert_eq!(same, ends("spectral_radius = 0.8"));
    for method in ["hht = 0.05", "hht = 0", "alpha = [-0.1, 0]"] {
        let found = ends(&format!("method = {{ {method} }}"));
        let apart: Vec<f64> = found.windows(2).map(|e| (e[0] - e[1]).abs()).collect();
        let orders: Vec<f64> = apart.windows(2).map(|e| (e[0] / e[1]).log2()).collect();
        assert!(
            orders.iter().all(|o| (1.9..2.2).contains(o)),
            "{method}: {found:?} {orders:?}"
        );
        assert_ne!(found, same);
    }
    for (method, fact) in [
        ("method = { hht = 0.4 }", "between 0 and 1/3"),
        ("method = { alpha = [0.3, 0.2] }", "α_m ≤ α_f ≤ 1/2"),
        (
            "method = { hht = 0.1 }\nspectral_radius = 0.5",
            "exactly one",
        ),
    ] {
        let text = crate::support::faults(&PENDULUM.replace("METHOD", method));
        assert!(text.contains(fact), "{method}: {text}");
    }
}
