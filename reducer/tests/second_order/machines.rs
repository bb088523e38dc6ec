//! Stored second-order terms on spatial arms, and of a payload that is given at run time.

use crate::support::{read, reducer};
use reducer::approximation::{SampleDatabase, Silent};
use reducer::description;
use reducer::model::ActuatorMotion;
use reducer::pipeline;
use reducer::reduced_model::{Evaluator, Parameters, ReducedModel, Workspace};
use reducer::sampling::MechanismModel;

fn stored(text: &str) -> ReducedModel {
    let mechanism = description::parse(text, "test.toml", &|path| description::read(path))
        .unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    let local = MechanismModel::new(&mechanism).expect("a mechanism");
    let mut database = SampleDatabase::in_memory();
    pipeline::reduce(&local, &mechanism.approximation, &Silent, &mut database)
        .expect("a model")
        .0
}

/// A link whose shapes are those of unit displacements of its tip, which no mass changes.
fn loaded_link(load: &str) -> String {
    let changes = [
        (
            "internal_modes = { in_plane = \"xy\", count = 3 }",
            "internal_modes = 0\nstiffening = true",
        ),
        ("gravity = [0, 0, 0]", "gravity = [0.3, -0.5, 0.2]"),
        (
            "drives = \"hub\"",
            "drives = \"hub\"\nrange = [-0.05, 0.05]\nrate = 4\nacceleration = 3",
        ),
        ("[parameters]\n", "[parameters]\nload = "),
    ];
    let mut text = read("data/one_link.toml");
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        let to = if to.ends_with("load = ") {
            format!("{to}{load}\n")
        } else {
            to.to_owned()
        };
        text = text.replace(from, &to);
    }
    text + r#"
[[point_mass]]
name = "payload"
at = "link.to"
mass = "load"
[[loaded]]
name = "side"
at = "link.to"
direction = [0, 1, 0]
[[loaded]]
name = "up"
at = "link.to"
direction = [0, 0, 1]
[approximation]
tolerance = 1e-12
"#
}

/// The linear model about a state of motion holds all terms of second order: those of a payload that is given at
/// run time are those of the same payload in the file.
#[test]
fn a_payload_given_at_run_time_is_the_same_payload_in_the_file() {
    let (free, fixed) = (
        stored(&loaded_link("{ value = 0.1, runtime = true }")),
        stored(&loaded_link("0.7")),
    );
    let parameters = Parameters {
        payload_mass: vec![0.7],
        ..Parameters::nominal(&free.layout)
    };
    let free = Evaluator::new(&free)
        .expect("valid")
        .with_parameters(parameters)
        .expect("sizes");
    let fixed = Evaluator::new(&fixed).expect("valid");
    let mut work = Workspace::default();
    let n = fixed.n();
    for (angle, spin, push) in [(0.01, 3.0, 2.0), (-0.04, -1.0, 5.0), (0.03, 0.0, 0.0)] {
        let (eta, rate, accel) = ([angle, 0.0, 0.0], [spin, 0.0, 0.0], [push, 0.0, 0.0]);
        let forces = [&free, &fixed].map(|e| {
            let (mut force, mut work) = (vec![0.0; n], Workspace::default());
            e.inverse_dynamics(&eta, &rate, &accel, &mut force, &mut work)
                .expect("sizes");
            force
        });
        let linear = [&free, &fixed].map(|e| {
            let (model, _) = e
                .linearize(&eta, &rate, &forces[1], &mut work)
                .expect("sizes");
            model
        });
        let apart = |a: &[f64], b: &[f64]| {
            let size = b.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            let gap = a
                .iter()
                .zip(b)
                .fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            gap / size
        };
        // Derivatives by θ hold second derivatives of what was fitted; all of second order in δ is in the other columns.
        let by_theta = |a: &[f64]| a.iter().step_by(2 * n).copied().collect::<Vec<_>>();
        let others = |a: &[f64]| {
            let columns = a.iter().enumerate();
            let kept = columns.filter(|(i, _)| i % (2 * n) != 0);
            kept.map(|(_, v)| *v).collect::<Vec<_>>()
        };
        let column = apart(&by_theta(&linear[0].a), &by_theta(&linear[1].a));
        assert!(column < 1e-6, "{column:e}");
        let found = [
            apart(&forces[0], &forces[1]),
            apart(&others(&linear[0].a), &others(&linear[1].a)),
            apart(&linear[0].b, &linear[1].b),
            apart(&linear[0].c, &linear[1].c),
        ];
        if std::env::var("SHOW").is_ok() {
            eprintln!("payload at {angle}: {found:?}");
        }
        assert!(found.iter().all(|e| *e < 1e-10), "{found:?}");
    }
}

/// Two slender links on a turning column, the second raised by an elbow.
const ARM: &str = r#"
format = 1
name = "arm"
gravity = [0, 0, -9.81]
[material.m]
density = 2700
young = "70 GPa"
poisson = 0.3
[section.s]
rectangle = { height = 0.012, width = 0.008 }
[[body]]
name = "column"
rigid = { mass = 3, center_of_mass = [0, 0, 0], inertia = [0.02, 0.02, 0.02] }
[[body]]
name = "upper"
beam = { from = [0, 0, 0.3], to = ["0.6*cos(0.4)", 0, "0.3 + 0.6*sin(0.4)"], elements = 6, section = "s", material = "m", up = [0, 0, 1] }
[[body]]
name = "lower"
beam = { from = ["0.6*cos(0.4)", 0, "0.3 + 0.6*sin(0.4)"], to = ["1.1*cos(0.4)", 0, "0.3 + 0.1*sin(0.4)"], elements = 6, section = "s", material = "m", up = [0, 0, 1] }
[[joint]]
name = "turn"
hinge = ["ground", "column"]
at = [0, 0, 0]
axis = [0, 0, 1]
[[joint]]
name = "shoulder"
hinge = ["column", "upper.from"]
axis = [0, -1, 0]
[[joint]]
name = "elbow"
hinge = ["upper.to", "lower.from"]
axis = [0, -1, 0]
[[point_mass]]
at = "lower.to"
mass = 0.1
[[coordinate]]
name = "yaw"
drives = "turn"
range = [-0.1, 0.1]
rate = 12
[[coordinate]]
name = "lift"
drives = "shoulder"
range = [0.35, 0.45]
home = 0.4
rate = 2
[[coordinate]]
name = "bend"
drives = "elbow"
range = [-0.85, -0.75]
home = -0.8
rate = 2
[reduction]
internal_modes = 6
"#;

/// While the column turns at a constant rate the state is steady, and the full model's frequencies about it are exact:
/// droop, centrifugal forces and Coriolis terms in space.
#[test]
fn a_spatial_arm_that_turns_has_the_frequencies_of_the_full_model() {
    let model = stored(ARM);
    assert!(model.layout.stiffening == reducer::reduced_model::Stiffening::All);
    let evaluator = Evaluator::new(&model).expect("valid");
    let exact = reducer(ARM);
    let theta = [0.03, 0.42, -0.79];
    let still = reducer(&ARM.replace(
        "internal_modes = 6",
        "internal_modes = 6\nstiffening = false",
    ));
    assert!(still.effects().rate > 0.05);
    for (spin, limit) in [(0.0, 1e-3), (6.0, 1e-3), (12.0, 5e-3)] {
        let rate = [spin, 0.0, 0.0];
        let motion = ActuatorMotion {
            rate: &rate,
            acceleration: &[0.0; 3],
        };
        let full = exact
            .loaded_frequencies(&theta, motion, 3)
            .expect("regular");
        assert!(full.steady);
        let found = evaluator
            .loaded_frequencies_hz(&theta, &rate, &[0.0; 3], &mut Workspace::default())
            .expect("sizes")
            .expect("an equilibrium");
        for (i, (found, full)) in found.iter().zip(&full.frequencies_hz).enumerate() {
            let error = found / full - 1.0;
            if std::env::var("SHOW").is_ok() {
                eprintln!("spatial arm at {spin} rad/s: {full:.3} Hz, {error:.1e}");
            }
            assert!(error.abs() < limit, "{spin} rad/s, mode {i}: {error:.1e}");
        }
    }
}
