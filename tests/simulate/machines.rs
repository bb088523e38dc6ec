//! Loops of chapter 4 and of a published isolation: motors with limits, a strip under tension, one sampled axis.

use crate::support::{load_loop, reduce_in, reduce_mechanism, shown};
use nalgebra::{Complex, DMatrix, Matrix3, RowVector3, Vector3};
use reducer::description::load;
use reducer::dynamics::full::{Initial, Start};
use reducer::dynamics::reduced::{ReducedSettings, linearise, linearise_sampled};
use reducer::dynamics::scenario;
use reducer::reduced_model::{Evaluator, Workspace};
use std::f64::consts::{PI, TAU};
use std::path::Path;

fn at_rest(theta: Vec<f64>) -> Initial {
    Initial {
        rate: vec![0.0; theta.len()],
        theta,
        start: Start::Equilibrium,
    }
}

/// One axis of Rybak's vibration isolation, sampled with 10 ms: a drive whose velocity follows its input with 13.8 rad/s, and
/// feedback of position, velocity and acceleration. His discrete model is x₊ = A x + b u with a12 = .0093, a22 = .871,
/// a32 = −12.02, b1 = .00066, b2 = .13. Of this plant b3 = ω e^{−ωT} = 12.02 follows as −a32; the printed 2.02 lacks a digit.
#[test]
fn one_sampled_axis_has_the_published_discrete_model() {
    let (omega, period) = (13.8_f64, 0.01);
    let decay = (-omega * period).exp();
    let a12 = (1.0 - decay) / omega;
    let a = Matrix3::new(1.0, a12, 0.0, 0.0, decay, 0.0, 0.0, -omega * decay, 0.0);
    let b = Vector3::new(period - a12, 1.0 - decay, omega * decay);
    let near = |found: f64, printed: f64, unit: f64| (found - printed).abs() <= 0.51 * unit;
    assert!(
        near(a[(0, 1)], 0.0093, 1e-4) && near(a[(1, 1)], 0.871, 1e-3),
        "{a}"
    );
    assert!(
        near(a[(2, 1)], -12.02, 1e-2) && near(b[0], 0.00066, 1e-5),
        "{a} {b}"
    );
    assert!(near(b[1], 0.13, 1e-2) && near(b[2], 12.02, 1e-2), "{b}");
    let gains = RowVector3::new(-0.0038, 0.0850, -0.0839);
    let scenario = load_loop(&format!(
        r#"
format = 1
mechanism = "FIXTURES/one_axis.toml"
duration = 1
[[sensor]]
name = "x"
coordinate = "x"
[[sensor]]
name = "v"
coordinate = "x"
quantity = "velocity"
[[sensor]]
name = "a"
coordinate = "x"
quantity = "acceleration"
[[block]]
name = "law"
gains = [[{}, {}, {}]]
input = ["x", "v", "a"]
sampled = {{ period = "10 ms" }}
[[drive]]
coordinate = "x"
velocity_feedback = {{ gain = {omega}, input_gain = 1, input = "law" }}
"#,
        gains[0], gains[1], gains[2]
    ));
    let model = reduce_mechanism(&scenario.mechanism);
    let evaluator = Evaluator::new(&model).unwrap();
    let settings = ReducedSettings::new(1.0, 1e-6);
    let at = at_rest(vec![0.0]);
    let (_, sampled) = linearise_sampled(&evaluator, &scenario.drives, &at, &settings).unwrap();
    let found = sampled.unwrap();
    assert!((found.period - period).abs() < 1e-15);
    // His state holds the acceleration just before the sample, ours what the law holds: with either the loop has the same
    // multipliers, but for those that are zero.
    let closed = a + b * gains;
    let closed = DMatrix::from_column_slice(3, 3, closed.as_slice());
    let multipliers = found.multipliers();
    for z in closed.complex_eigenvalues().iter() {
        let apart = multipliers.iter().map(|m| (m - z).norm());
        let nearest = apart.fold(f64::INFINITY, f64::min);
        assert!(nearest < 1e-9, "{z}: {multipliers:?}");
    }
    let large = |z: &&Complex<f64>| z.norm() > 1e-9;
    assert_eq!(
        multipliers.iter().filter(large).count(),
        3,
        "{multipliers:?}"
    );
}

/// √(k_em k_t/(J L)) [T 4.135] is the size of the pole pair of a motor and what it turns, the other axes held.
#[test]
fn a_motor_has_its_electromechanical_pole() {
    let text = r#"
format = 1
mechanism = "DATA/scara_rigid.toml"
duration = 1
[[sensor]]
name = "rate"
coordinate = "theta1"
quantity = "velocity"
[[block]]
name = "current"
integrator = { gain = 33.3333333333333, limits = [-20, 20] }
input = ["-motion", "-drop"]
[[block]]
name = "motion"
gain = 4
input = "rate"
[[block]]
name = "drop"
gain = 0.6
input = "current"
[[block]]
name = "torque"
gain = 4
input = "current"
[[drive]]
coordinate = "theta1"
force = "torque"
[[drive]]
coordinate = "theta2"
motion = 0.5
[[drive]]
coordinate = "z"
motion = 0
"#;
    let scenario = load_loop(text);
    let model = reduce_mechanism(&scenario.mechanism);
    let evaluator = Evaluator::new(&model).unwrap();
    let theta = vec![0.0, 0.5, 0.0];
    let document = evaluator
        .document(&theta, &mut Workspace::default())
        .unwrap();
    let omega = (4.0 * 4.0 / (document.mass[0][0] * 0.03)).sqrt();
    let settings = ReducedSettings::new(1.0, 1e-6);
    let system = linearise(&evaluator, &scenario.drives, &at_rest(theta), &settings).unwrap();
    let poles = system.poles();
    let pair: Vec<_> = poles.iter().filter(|p| p.at.im > 0.0).collect();
    assert_eq!(pair.len(), 1, "{poles:?}");
    assert!(
        (pair[0].at.norm() / omega - 1.0).abs() < 1e-6,
        "{omega} {poles:?}"
    );
    assert!(
        (pair[0].at.re + 0.5 * 0.6 / 0.03).abs() < 1e-6 * omega,
        "{poles:?}"
    );
}

/// Steps of all references drive voltages and currents into their limits; both models agree, with either law.
#[test]
fn motors_at_their_limits_move_both_models_alike() {
    for name in ["scara_motors", "scara_motors_sampled"] {
        let folder = tempfile::tempdir().unwrap();
        let path = std::fs::canonicalize(format!("data/scenarios/{name}.toml")).unwrap();
        let output = reduce_in(
            folder.path(),
            &["simulate", path.to_str().unwrap(), "-o", "out", "--json"],
        );
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let part = |group: &str, key: &str| found["differences"][group][key].as_f64().unwrap();
        println!(
            "{name}: tool {:.1e}, current {:.1e}",
            part("tool", "max"),
            part("control.theta1_current", "max")
        );
        assert!(part("tool", "max") < 2e-3, "{name}");
        assert!(
            (part("control.theta1_current", "peak") - 20.0).abs() < 1e-6,
            "{name}"
        );
        assert!(
            (part("control.theta2_current", "peak") - 15.0).abs() < 1e-6,
            "{name}"
        );
        assert!(
            (part("control.z_voltage", "peak") - 24.0).abs() < 1e-6,
            "{name}"
        );
    }
}

/// A strip under tension vibrates as a string, and a force −g·velocity at x damps mode k by gψ²/2ω, ψ² = 2 sin²(kπx/L)/m.
#[test]
fn velocity_feedback_damps_a_strip_under_tension() {
    let path = Path::new("data/scenarios/strip_velocity_feedback.toml");
    let scenario = scenario::load(path).unwrap_or_else(|f| panic!("{:?}", f.faults));
    let model = reduce_mechanism(&load(Path::new("data/strip.toml")).unwrap());
    let evaluator = Evaluator::new(&model).unwrap();
    let settings = ReducedSettings::new(1.0, 1e-6);
    let system = linearise(&evaluator, &scenario.drives, &at_rest(vec![0.0]), &settings).unwrap();
    let poles = system.poles();
    let pairs: Vec<_> = poles.iter().filter(|p| p.at.im > 0.0).collect();
    assert_eq!(pairs.len(), 4, "{poles:?}");
    let (length, density, tension, gain, place): (f64, f64, f64, f64, f64) =
        (50.0, 7.8, 23.7e3, 20.0, 50.0 * 18.0 / 64.0);
    for (k, pair) in pairs.iter().enumerate() {
        let number = (k + 1) as f64;
        let omega = number * PI / length * (tension / density).sqrt();
        let shape = 2.0 / (density * length) * (number * PI * place / length).sin().powi(2);
        let added = gain * shape / (2.0 * omega);
        println!(
            "{:.4} Hz, damping {:.5} ({added:.5})",
            pair.frequency_hz(),
            pair.damping()
        );
        assert!((TAU * pair.frequency_hz() / omega - 1.0).abs() < 3e-3);
        assert!((pair.damping() / added - 1.0).abs() < 0.01);
        // Printed in the thesis.
        assert!((pair.frequency_hz() - [0.55, 1.10, 1.66, 2.21][k]).abs() < 0.006);
    }
}
