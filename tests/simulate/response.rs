//! The full model's own frequency response: against closed algebra, and as the check of reduced models.

use crate::support::{load_loop, reduce_mechanism};
use reducer::dynamics::full::{Initial, Start, frequency_response};
use reducer::dynamics::reduced::linearise;
use reducer::reduced_model::{Evaluator, Workspace};
use reducer::reduction::LocalReducer;

/// Largest difference of entries in parts of the full model's, over frequencies, entry by entry.
fn largest_difference(text: &str, theta: &[f64], entries: &[(&str, &str)], band: [f64; 2]) -> f64 {
    let scenario = load_loop(text);
    let at = Initial {
        theta: theta.to_vec(),
        rate: vec![0.0; theta.len()],
        start: Start::Equilibrium,
    };
    let model = reduce_mechanism(&scenario.mechanism);
    let evaluator = Evaluator::new(&model).unwrap();
    let linear = linearise(&evaluator, &scenario.drives, &at, &scenario.reduced).unwrap();
    let high = if band[1] > 0.0 {
        band[1]
    } else {
        let document = evaluator.document(theta, &mut Workspace::default());
        0.5 * document.unwrap().frequencies_hz.last().unwrap()
    };
    let count = 120;
    let frequencies: Vec<f64> = (0..count)
        .map(|k| band[0] * (high / band[0]).powf(f64::from(k) / f64::from(count - 1)))
        .collect();
    let reducer = LocalReducer::new(&scenario.mechanism).unwrap();
    let full = frequency_response(
        &reducer,
        &scenario.drives,
        &at,
        &scenario.full,
        &frequencies,
    )
    .unwrap();
    let place = |names: &[String], name: &str| names.iter().position(|n| n == name).unwrap();
    let mut most = 0.0_f64;
    for (f, full) in frequencies.iter().zip(&full) {
        let full = full.as_ref().unwrap();
        let reduced = linear.response(*f).unwrap();
        assert_eq!(full.shape(), reduced.shape());
        for (input, output) in entries {
            let at = (place(&linear.outputs, output), place(&linear.inputs, input));
            let apart = (full[at] - reduced[at]).norm() / full[at].norm();
            if apart > most {
                println!(
                    "{input} to {output} at {f:.3} Hz: {apart:.2e} of {:.3e}",
                    full[at].norm()
                );
            }
            most = most.max(apart);
        }
    }
    most
}

/// Without flexible bodies both are the same equations, loops of all kinds of blocks included.
#[test]
fn rigid_masses_under_control_respond_alike() {
    let text = r#"
format = 1
mechanism = "FIXTURES/two_mass.toml"
duration = 1
[[sensor]]
name = "x"
coordinate = "motor"
[[sensor]]
name = "v"
output = "load"
quantity = "velocity"
axis = "x"
[[sensor]]
name = "a"
output = "load"
quantity = "acceleration"
axis = "x"
axes = "body"
[[block]]
name = "felt"
butterworth = { low_pass = "8 Hz", order = 2 }
input = "a"
[[block]]
name = "pid"
pid = { kp = 200, ki = 300, kd = 20, filter = 0.002 }
input = "-x"
[[block]]
name = "push"
gains = [[-0.3, 0.2]]
input = ["v", "felt"]
[[drive]]
coordinate = "motor"
force = ["pid", "felt"]
[[point_force]]
output = "load"
direction = [1, 0, 0]
force = "push"
"#;
    let entries = [
        ("force.motor", "coordinate.load"),
        ("force.load", "load.x"),
        ("control.pid", "control.felt"),
        ("control.push", "control.pid"),
        ("force.motor", "control.a"),
    ];
    let most = largest_difference(text, &[0.05, 0.02], &entries, [0.1, 50.0]);
    assert!(most < 1e-8, "{most:.1e}");
}

/// Weight that swings on closed joints: loads and reactions are part of the full model's stiffness.
#[test]
fn the_rigid_four_bar_under_gravity_responds_alike() {
    let text = "format = 1\nmechanism = \"DATA/four_bar_rigid.toml\"\nduration = 1\n\
        [override.approximation]\ntolerance = 1e-7\n";
    let entries = [("force.theta", "coordinate.theta")];
    let most = largest_difference(text, &[-0.4], &entries, [0.05, 40.0]);
    assert!(most < 1e-5, "{most:.1e}");
}

/// Forces on the crank up to 110 Hz, half the highest frequency of five modes: what is left there is
/// the place of a sharp zero, and it goes with more modes.
#[test]
fn the_reduced_four_bar_comes_to_respond_as_the_full_one() {
    let difference = |modes: usize| {
        let text = format!(
            "format = 1\nmechanism = \"DATA/four_bar.toml\"\nduration = 1\n\
             [override]\ngravity = [0, 0, 0]\n[override.damping]\nratio = 0.01\n\
             [override.reduction]\ninternal_modes = {modes}\ngauge = \"filtered\"\n\
             [override.approximation]\ntolerance = 0.01\n"
        );
        let entries = [("force.theta", "coordinate.theta")];
        largest_difference(&text, &[-0.4], &entries, [0.05, 110.0])
    };
    let (few, many) = (difference(5), difference(12));
    assert!(many < 0.015 && few > 5.0 * many, "{few:.1e} {many:.1e}");
}

/// The Ralf-like manipulator under its slow loop.
#[test]
fn the_reduced_manipulator_responds_as_the_full_one() {
    let text = std::fs::read_to_string("data/scenarios/ralf_slow_loop.toml").unwrap();
    let text = text.replace("\"../ralf.toml\"", "\"DATA/ralf.toml\"");
    let entries = [
        ("control.error1", "coordinate.cylinder1"),
        ("force.cylinder2", "coordinate.cylinder2"),
        ("control.error1", "tip.z"),
    ];
    let most = largest_difference(&text, &[0.0, 0.0], &entries, [0.05, 0.0]);
    assert!(most < 0.01, "{most:.1e}");
}
