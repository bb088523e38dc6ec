//! Blocks that evaluate the reduced model: feedforward, computed torque, gravity and mass, in time and linearised.

use crate::support::{
    faults, four_bar, load_loop, reduce_in, reduce_mechanism, run_full, scenario_file, shown,
};
use reducer::description::load;
use reducer::dynamics::control::CalledModelError;
use reducer::dynamics::full::{FullError, Initial, Start};
use reducer::dynamics::reduced::{
    self, ReducedError, ReducedInstant, ReducedSettings, linearise, linearise_sampled,
};
use reducer::dynamics::scenario::Scenario;
use reducer::reduced_model::{Evaluator, ReducedModel, Workspace};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;

/// Rigid, with three hinges; its reduced model is exact to rounding.
fn elbow() -> &'static ReducedModel {
    static MODEL: OnceLock<ReducedModel> = OnceLock::new();
    MODEL.get_or_init(|| reduce_mechanism(&load(Path::new("data/elbow.toml")).unwrap()))
}

fn run_reduced(
    scenario: &Scenario,
    model: &ReducedModel,
) -> Result<Vec<ReducedInstant>, ReducedError> {
    let evaluator = Evaluator::new(model).unwrap();
    let mut seen = Vec::new();
    let (drives, initial) = (&scenario.drives, &scenario.initial);
    let settings = &scenario.reduced;
    reduced::simulate(&evaluator, drives, initial, settings, &mut |instant| {
        seen.push(instant.clone());
        ControlFlow::Continue(())
    })?;
    Ok(seen)
}

/// Wanted motions of the three hinges with their derivatives.
const WANTED: &str = r#"
[[block]]
name = "w1"
signal = { point_to_point = { from = 0.1, to = 0.8, duration = 0.6 } }
derivatives = 2
[[block]]
name = "w2"
signal = [-0.1, { sine = { amplitude = 0.3, frequency = 1.5, phase = 0.4 } }]
derivatives = 2
[[block]]
name = "w3"
signal = { sine = { amplitude = 0.4, frequency = 1 } }
derivatives = 2
"#;

fn elbow_scenario(rest: &str) -> String {
    format!(
        "format = 1\nmechanism = \"DATA/elbow.toml\"\nduration = 0.8\n[sampling]\nstep = 0.02\n[full]\nstep = 1e-3\n\
         [reduced]\ntolerance = 1e-10\n{WANTED}{rest}"
    )
}

/// Along a prescribed motion the block gives the forces that the drives find, in the reduced model to rounding; M a and
/// the forces at rest are what its differences and zeros say.
#[test]
fn feedforward_is_the_force_of_a_prescribed_motion() {
    let drive =
        |k: u32, motion: &str| format!("[[drive]]\ncoordinate = \"theta{k}\"\nmotion = {motion}\n");
    let functions = r#"
[[block]]
name = "zero"
signal = 0
[[block]]
name = "torque"
model = "feedforward"
input = ["w1.1", "w2.1", "w3.1", "w1.2", "w2.2", "w3.2", "w1.3", "w2.3", "w3.3"]
[[block]]
name = "bias"
model = "feedforward"
input = ["w1.1", "w2.1", "w3.1", "w1.2", "w2.2", "w3.2", "zero", "zero", "zero"]
[[block]]
name = "inertia"
model = "mass"
input = ["w1.1", "w2.1", "w3.1", "w1.3", "w2.3", "w3.3"]
[[block]]
name = "weight"
model = "gravity"
input = ["w1.1", "w2.1", "w3.1"]
[[block]]
name = "held"
model = "feedforward"
input = ["w1.1", "w2.1", "w3.1", "zero", "zero", "zero", "zero", "zero", "zero"]
"#;
    let motions = [
        drive(
            1,
            "{ point_to_point = { from = 0.1, to = 0.8, duration = 0.6 } }",
        ),
        drive(
            2,
            "[-0.1, { sine = { amplitude = 0.3, frequency = 1.5, phase = 0.4 } }]",
        ),
        drive(3, "{ sine = { amplitude = 0.4, frequency = 1 } }"),
    ];
    let scenario = load_loop(&elbow_scenario(&format!("{functions}{}", motions.concat())));
    let scenario = scenario.calling(elbow()).unwrap();
    let place = |name: &str| {
        let first = scenario.signal(&format!("{name}.1")).unwrap();
        first..first + 3
    };
    let all = ["torque", "bias", "inertia", "weight", "held"].map(place);
    let reduced = run_reduced(&scenario, elbow()).unwrap();
    let full = run_full(&scenario).unwrap();
    assert_eq!(full.len(), reduced.len());
    let mut peak = 0.0_f64;
    let mut worst = [0.0_f64; 4];
    for (r, f) in reduced.iter().zip(&full) {
        let [torque, bias, inertia, weight, held] = all.clone().map(|range| &r.signals[range]);
        for k in 0..3 {
            peak = peak.max(torque[k].abs());
            let apart = [
                torque[k] - r.actuator_force[k],
                torque[k] - f.actuator_force[k],
                torque[k] - bias[k] - inertia[k],
                weight[k] - held[k],
            ];
            for (worst, apart) in worst.iter_mut().zip(apart) {
                *worst = worst.max(apart.abs());
            }
        }
    }
    println!("{worst:?} of {peak}");
    assert!(peak > 10.0);
    assert!(worst[0] < 1e-13 * peak, "{worst:?} {peak}");
    assert!(worst[1] < 1e-9 * peak, "{worst:?} {peak}");
    assert!(worst[2] < 1e-13 * peak, "{worst:?} {peak}");
    assert_eq!(worst[3], 0.0);
}

/// Stiffness and damping of the error of each hinge.
const LAWS: [[f64; 2]; 3] = [[100.0, 12.0], [150.0, 10.0], [225.0, 21.0]];

/// θ̈ = ẅ + kd ė + kp e as the wanted acceleration, with the measured position and rate.
fn computed_torque(sampled: &str) -> String {
    let mut text = String::new();
    for (k, [kp, kd]) in LAWS.iter().enumerate() {
        let k = k + 1;
        text += &format!(
            r#"
[[sensor]]
name = "q{k}"
coordinate = "theta{k}"
[[sensor]]
name = "v{k}"
coordinate = "theta{k}"
quantity = "velocity"
[[block]]
name = "a{k}"
gains = [[{kp}, -{kp}, {kd}, -{kd}, 1]]
input = ["w{k}.1", "q{k}", "w{k}.2", "v{k}", "w{k}.3"]
{sampled}
[[drive]]
coordinate = "theta{k}"
force = "torque.{k}"
"#
        );
    }
    text + "[[block]]\nname = \"torque\"\nmodel = \"feedforward\"\ninput = [\"q1\", \"q2\", \"q3\", \"v1\", \"v2\", \"v3\", \"a1\", \"a2\", \"a3\"]\n"
        + sampled
}

/// ë + kd ė + kp e = 0 from e₀ and ė₀.
fn error([kp, kd]: [f64; 2], [e, rate]: [f64; 2], t: f64) -> f64 {
    let decay = 0.5 * kd;
    let square = kp - decay * decay;
    let w = square.abs().sqrt();
    let (c, s) = if square > 0.0 {
        ((w * t).cos(), (w * t).sin())
    } else {
        ((w * t).cosh(), (w * t).sinh())
    };
    (-decay * t).exp() * (e * c + (rate + decay * e) / w * s)
}

/// Started off its path, the arm comes back as the linear law says, whatever it does meanwhile.
#[test]
fn computed_torque_makes_the_error_linear() {
    let text = elbow_scenario(&format!(
        "{}[initial]\ntheta = [0.25, 0.1, -0.15]\nrate = [0.2, 0, 0.5]\n",
        computed_torque("")
    ));
    let mut scenario = load_loop(&text).calling(elbow()).unwrap();
    let wanted = [1, 2, 3].map(|k| scenario.signal(&format!("w{k}.1")).unwrap());
    let check = |rows: &[(f64, Vec<f64>, Vec<f64>)]| {
        let first = &rows[0];
        let start = [0, 1, 2].map(|k| first.1[wanted[k]] - first.2[k]);
        let rates = [0, 1, 2].map(|k| first.1[wanted[k] + 1] - [0.2, 0.0, 0.5][k]);
        let mut worst = 0.0_f64;
        for (time, signals, theta) in rows {
            for k in 0..3 {
                let expected = error(LAWS[k], [start[k], rates[k]], *time);
                worst = worst.max((signals[wanted[k]] - theta[k] - expected).abs());
            }
        }
        worst
    };
    let reduced = run_reduced(&scenario, elbow()).unwrap();
    let rows = reduced
        .iter()
        .map(|i| (i.time, i.signals.clone(), i.theta.clone()));
    let worst = check(&rows.collect::<Vec<_>>());
    println!("reduced: {worst:.1e}");
    assert!(worst < 1e-8, "reduced: {worst:.1e}");
    // The full model converges to the same, with the order of its method.
    let mut errors = Vec::new();
    for step in [2e-3, 1e-3, 5e-4] {
        scenario.full.step = reducer::dynamics::full::StepControl::Fixed(step);
        let full = run_full(&scenario).unwrap();
        let rows = full
            .iter()
            .map(|i| (i.time, i.signals.clone(), i.theta.clone()));
        errors.push(check(&rows.collect::<Vec<_>>()));
    }
    println!("full: {errors:?}");
    assert!(errors[2] < 1e-5, "{errors:?}");
    let orders: Vec<f64> = errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect();
    assert!(orders.iter().all(|o| *o > 1.8), "{errors:?} {orders:?}");
}

fn at_rest(theta: Vec<f64>) -> Initial {
    Initial {
        rate: vec![0.0; theta.len()],
        theta,
        start: Start::Equilibrium,
    }
}

/// References that stay where they are.
fn still(theta: [f64; 3]) -> String {
    let one =
        |(k, value)| format!("[[block]]\nname = \"w{k}\"\nsignal = {value}\nderivatives = 2\n");
    (1..).zip(theta).map(one).collect()
}

/// Poles of the loop are those of the error's law, in spite of weight and coupling.
#[test]
fn poles_of_computed_torque_are_those_of_its_law() {
    let theta = [0.3, -0.2, 0.5];
    let text = elbow_scenario(&computed_torque("")).replace(WANTED, &still(theta));
    let scenario = load_loop(&text).calling(elbow()).unwrap();
    let evaluator = Evaluator::new(elbow()).unwrap();
    let settings = ReducedSettings::new(1.0, 1e-6);
    let at = at_rest(theta.to_vec());
    let found = linearise(&evaluator, &scenario.drives, &at, &settings).unwrap();
    let poles = found.poles();
    assert_eq!(poles.len(), 6);
    for [kp, kd] in LAWS {
        let count = poles.iter().filter(|p| {
            let s = p.at;
            (s * s + s * kd + kp).norm() < 1e-8 * kp
        });
        assert_eq!(count.count(), 2, "{kp} {kd}: {poles:?}");
    }
}

/// Sampled, without weight and about rest, each hinge is a double integrator under held accelerations.
#[test]
fn sampled_computed_torque_has_the_poles_of_a_held_double_integrator() {
    let period = 0.02;
    let text = elbow_scenario(&computed_torque(&format!(
        "sampled = {{ period = {period} }}"
    )))
    .replace(
        WANTED,
        &format!("[override]\ngravity = [0, 0, 0]\n{}", still([0.0; 3])),
    );
    let scenario = load_loop(&text);
    let model = reduce_mechanism(&scenario.mechanism);
    let scenario = scenario.calling(&model).unwrap();
    let evaluator = Evaluator::new(&model).unwrap();
    let settings = ReducedSettings {
        gravity: scenario.mechanism.gravity,
        ..ReducedSettings::new(1.0, 1e-6)
    };
    let at = at_rest(vec![0.0; 3]);
    let (_, found) = linearise_sampled(&evaluator, &scenario.drives, &at, &settings).unwrap();
    let found = found.unwrap();
    assert_eq!(found.period, period);
    let multipliers = found.multipliers();
    let t = period;
    for [kp, kd] in LAWS {
        // det(zI − A + B k) of A = [1 T; 0 1], B = [T²/2; T].
        let sum = 2.0 - 0.5 * kp * t * t - kd * t;
        let product = 1.0 + 0.5 * kp * t * t - kd * t;
        let near = multipliers
            .iter()
            .filter(|z| (*z * *z - *z * sum + product).norm() < 1e-9 && z.norm() > 1e-3);
        assert_eq!(near.count(), 2, "{kp} {kd}: {multipliers:?}");
    }
}

/// On the rigid four-bar, whose model is fitted, feedforward leaves a PID little to do.
#[test]
fn feedforward_beside_a_pid_tracks_far_better() {
    let text = r#"
format = 1
mechanism = "DATA/four_bar_rigid.toml"
duration = 0.6
[initial]
theta = [-0.3]
[[sensor]]
name = "angle"
coordinate = "theta"
[[block]]
name = "wanted"
signal = { point_to_point = { from = -0.3, to = 0.5, duration = 0.5 } }
derivatives = 2
[[block]]
name = "ahead"
model = "feedforward"
input = ["wanted.1", "wanted.2", "wanted.3"]
[[block]]
name = "pid"
pid = { kp = 40, ki = 60, kd = 4, filter = "2 ms" }
input = ["wanted.1", "-angle"]
[[drive]]
coordinate = "theta"
force = FORCE
[full]
step = 5e-4
"#;
    let tracked = |force: &str| {
        let scenario = load_loop(&text.replace("FORCE", force));
        let model = reduce_mechanism(&scenario.mechanism);
        let scenario = scenario.calling(&model).unwrap();
        let wanted = scenario.signal("wanted.1").unwrap();
        let error = |signals: &[f64], theta: f64| (signals[wanted] - theta).abs();
        let full = run_full(&scenario).unwrap();
        let reduced = run_reduced(&scenario, &model).unwrap();
        let full = full.iter().map(|i| error(&i.signals, i.theta[0]));
        let reduced = reduced.iter().map(|i| error(&i.signals, i.theta[0]));
        [full.fold(0.0, f64::max), reduced.fold(0.0, f64::max)]
    };
    let alone = tracked("\"pid\"");
    let both = tracked("[\"pid\", \"ahead\"]");
    println!("PID alone {alone:?} rad, with feedforward {both:?} rad");
    assert!(alone[0] > 100.0 * both[0], "{alone:?} {both:?}");
    assert!(alone[1] > 1000.0 * both[1], "{alone:?} {both:?}");
}

/// Slopes of the block on a flexible mechanism in motion, modes following, against differences.
#[test]
fn slopes_of_the_block_are_those_of_its_value() {
    let text = r#"
format = 1
mechanism = "DATA/four_bar.toml"
duration = 1
[[block]]
name = "place"
signal = 0.3
[[block]]
name = "rate"
signal = 4
[[block]]
name = "acceleration"
signal = -60
[[block]]
name = "ahead"
model = "feedforward"
input = ["place", "rate", "acceleration"]
[[block]]
name = "held"
model = "gravity"
input = "place"
[[block]]
name = "inertia"
model = "mass"
input = ["place", "acceleration"]
"#;
    let scenario = load_loop(text).calling(four_bar()).unwrap();
    let evaluator = Evaluator::new(four_bar()).unwrap();
    let settings = ReducedSettings::new(1.0, 1e-6);
    let at = at_rest(vec![0.1]);
    let linear = linearise(&evaluator, &scenario.drives, &at, &settings).unwrap();
    let entry = |output: &str, input: &str| {
        let find = |names: &[String], name: &str| {
            let name = format!("control.{name}");
            names.iter().position(|n| *n == name).unwrap()
        };
        linear.d[(find(&linear.outputs, output), find(&linear.inputs, input))]
    };
    let mut work = Workspace::default();
    let mut force = |motion: [f64; 3]| {
        let [q, v, a] = motion;
        let (force, modal, _) = evaluator.feedforward(&[q], &[v], &[a], &mut work).unwrap();
        assert!(modal.iter().any(|m| m.abs() > 1e-5), "nothing bends");
        force[0]
    };
    let inputs = ["place", "rate", "acceleration"];
    for (k, step) in [1e-4, 1e-2, 1e-1].into_iter().enumerate() {
        let moved = |by: f64| {
            let mut motion = [0.3, 4.0, -60.0];
            motion[k] += by;
            motion
        };
        // Of fourth order.
        let near = (force(moved(step)) - force(moved(-step))) / (2.0 * step);
        let far = (force(moved(2.0 * step)) - force(moved(-2.0 * step))) / (4.0 * step);
        let expected = (4.0 * near - far) / 3.0;
        let found = entry("ahead", inputs[k]);
        println!("{}: {found} {expected}", inputs[k]);
        assert!(
            (found - expected).abs() < 1e-6 * expected.abs(),
            "{found} {expected}"
        );
    }
    let mut still = |q: f64| {
        let (force, ..) = evaluator
            .feedforward(&[q], &[0.0], &[0.0], &mut work)
            .unwrap();
        force[0]
    };
    let expected = (still(0.3 + 1e-4) - still(0.3 - 1e-4)) / 2e-4;
    let found = entry("held", "place");
    assert!(
        (found - expected).abs() < 1e-6 * expected.abs(),
        "{found} {expected}"
    );
    let mut mass = |q: f64| evaluator.document(&[q], &mut work).unwrap().mass[0][0];
    let found = entry("inertia", "acceleration");
    assert!((found - mass(0.3)).abs() < 1e-13 * found, "{found}");
    let expected = -60.0 * (mass(0.3 + 1e-4) - mass(0.3 - 1e-4)) / 2e-4;
    let found = entry("inertia", "place");
    assert!(
        (found - expected).abs() < 1e-6 * expected.abs(),
        "{found} {expected}"
    );
}

/// A reference that leaves the domain ends both runs where it does, with block and place named, sampled or not.
#[test]
fn a_block_outside_the_domain_is_named() {
    let text = |sampled: &str| {
        format!(
            r#"
format = 1
mechanism = "DATA/four_bar_rigid.toml"
duration = 0.5
[[block]]
name = "wanted"
signal = {{ ramp = {{ from = 1.5, to = 2, duration = 0.5 }} }}
[[block]]
name = "weight"
model = "gravity"
input = "wanted"
{sampled}
[[drive]]
coordinate = "theta"
force = "weight"
[full]
step = 1e-3
"#
        )
    };
    for (sampled, tolerance) in [("", 1e-6), ("sampled = { period = 0.01 }", 0.0101)] {
        let scenario = load_loop(&text(sampled));
        let model = reduce_mechanism(&scenario.mechanism);
        let none = run_reduced(&scenario, &model).unwrap_err();
        assert!(none.to_string().contains("was given none"), "{none}");
        let scenario = scenario.calling(&model).unwrap();
        // The domain ends at 1.75.
        let found = run_reduced(&scenario, &model).unwrap_err();
        let ReducedError::Control { time, fault } = &found else {
            panic!("{found}")
        };
        assert!((time - 0.25).abs() < tolerance, "{time}");
        let told = fault.to_string();
        assert!(
            told.starts_with("block `weight` evaluates the reduced model at θ = [1.7"),
            "{told}"
        );
        assert!(told.ends_with("outside its domain"), "{told}");
        let found = run_full(&scenario).unwrap_err();
        let FullError::Control { time, fault } = &found else {
            panic!("{found}")
        };
        assert!((time - 0.25).abs() < 0.0101, "{time}");
        assert!(fault.to_string().contains("`weight`"), "{fault}");
    }
    // Linear analysis asks the block too.
    let scenario = text("").replace("from = 1.5", "from = 1.9");
    let (folder, _path) = scenario_file("outside.toml", &scenario);
    let output = reduce_in(folder.path(), &["linear", "outside.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let told = shown(&output.stderr);
    assert!(
        told.contains("block `weight` evaluates the reduced model at θ = [1.9]"),
        "{told}"
    );
    assert!(
        told.contains("help: keep its inputs inside the model's domain"),
        "{told}"
    );
}

/// What is wrong in a file is told with its place, and a model of another mechanism is refused.
#[test]
fn blocks_with_wrong_inputs_are_refused() {
    let with = |block: &str| elbow_scenario(&format!("[[block]]\nname = \"m\"\n{block}"));
    for (block, told) in [
        (
            "model = \"feedforward\"\ninput = [\"w1.1\", \"w2.1\", \"w3.1\"]",
            "the inputs of `feedforward` (θ, θ̇ and θ̈ of every coordinate)",
        ),
        ("model = \"gravity\"", "the inputs of `gravity`"),
        (
            "model = \"mass\"\ninput = \"w1.1\"",
            "the inputs of `mass` (θ and an acceleration of every coordinate)",
        ),
        ("model = \"inverse\"\ninput = \"w1.1\"", "feedforward"),
        ("model = \"gravity\"\ngain = 1\ninput = \"w1.1\"", "`model`"),
        (
            "gain = 1\nderivatives = 1\ninput = \"w1.1\"",
            "`derivatives` are those of a `signal`",
        ),
        ("signal = 1\nderivatives = 3", "the number of derivatives"),
        ("signal = 1\nderivatives = -1", "the number of derivatives"),
    ] {
        let found = faults(&with(block));
        assert!(found.contains(told), "{block}: {found}");
    }
    let scenario = load_loop(&elbow_scenario(&computed_torque("")));
    let refused = scenario.calling(four_bar()).unwrap_err();
    assert!(
        matches!(&refused, CalledModelError::Coordinates { block, expected: 3, found: 1 } if block == "torque"),
        "{refused}"
    );
}
