//! Serial arms and other trees of rigid bodies: their functions end, so that models are exact on any range.

use crate::energy_drift::energy_drift;
use crate::support::{changed, data, json, pipeline, reduce};
use reducer::reduced_model::{Component, Evaluator, Functions, ReducedModel, Workspace};
use std::path::{Path, PathBuf};

/// Three hinges whose axes are neither parallel nor orthogonal and do not meet.
const OFFSET_ARM: &str = r#"
format = 1
name = "offset_arm"
gravity = [1.2, -0.4, -9.5]
[[body]]
name = "base"
at = [0, 0, 0]
rigid = { mass = 3.1, center_of_mass = [0.02, -0.05, 0.11], inertia = [0.05, 0.06, 0.04, 0.002, -0.003, 0.001] }
[[body]]
name = "upper"
at = [0.1, 0.05, 0.3]
rigid = { mass = 2.2, center_of_mass = [0.2, 0.03, -0.02], inertia = [0.008, 0.05, 0.055, 0.001, 0.0007, -0.002] }
[[body]]
name = "fore"
at = [0.55, -0.08, 0.37]
rigid = { mass = 1.3, center_of_mass = [0.13, -0.06, 0.04], inertia = [0.006, 0.02, 0.019, -0.0004, 0.0003, 0.0011] }
[[joint]]
name = "one"
hinge = ["ground", "base.origin"]
axis = [0.1, 0.2, 1]
[[joint]]
name = "two"
hinge = ["base", "upper.origin"]
axis = [0.3, 1, -0.2]
[[joint]]
name = "three"
hinge = ["upper", "fore.origin"]
axis = [-0.5, 0.6, 0.4]
[[coordinate]]
name = "a"
drives = "one"
range = [-2.5, 2]
rotor_inertia = 0.01
[[coordinate]]
name = "b"
drives = "two"
range = [-1.5, 1.9]
viscous = 0.3
[[coordinate]]
name = "c"
drives = "three"
range = [-2.9, 2.9]
[[output]]
name = "tool"
at = "fore"
"#;

/// A turntable with a slide on it, a hinge on the slide, and another hinge on the turntable itself.
const TREE: &str = r#"
format = 1
name = "tree"
gravity = [0, -9.81, 0]
[[body]]
name = "table"
at = [0, 0, 0]
rigid = { mass = 8, center_of_mass = [0.01, 0, 0.05], inertia = [0.2, 0.2, 0.3] }
[[body]]
name = "carriage"
at = [0.2, 0, 0.1]
rigid = { mass = 2, center_of_mass = [0, 0.02, 0.03], inertia = [0.01, 0.012, 0.014] }
[[body]]
name = "hand"
at = [0.2, 0, 0.3]
rigid = { mass = 0.7, center_of_mass = [0.05, 0, 0.04], inertia = [0.001, 0.0015, 0.0012] }
[[body]]
name = "flap"
at = [-0.3, 0.1, 0.1]
rigid = { mass = 1.1, center_of_mass = [0, 0.1, 0.02], inertia = [0.004, 0.001, 0.0042] }
[[joint]]
name = "turn"
hinge = ["ground", "table.origin"]
axis = [0, 0, 1]
[[joint]]
name = "slide"
prismatic = ["table", "carriage.origin"]
axis = [1, 0.2, 0]
[[joint]]
name = "wrist"
hinge = ["carriage", "hand.origin"]
axis = [0, 1, 0.3]
[[joint]]
name = "flap"
hinge = ["table", "flap.origin"]
axis = [1, 0, 0]
[[coordinate]]
name = "turn"
drives = "turn"
range = ["-pi", "pi"]
periodic = true
[[coordinate]]
name = "x"
drives = "slide"
range = [-0.1, 0.3]
[[coordinate]]
name = "wrist"
drives = "wrist"
range = [-2, 2]
[[coordinate]]
name = "flap"
drives = "flap"
range = [-1, 2.2]
[[output]]
name = "hand"
at = "hand"
[[output]]
name = "flap"
at = "flap"
"#;

fn written(name: &str, text: &str, folder: &Path) -> PathBuf {
    let path = folder.join(name).with_extension("toml");
    std::fs::write(&path, text).expect("a temporary folder");
    path
}

/// The model of a mechanism, exact at 300 points of its domain.
#[track_caller]
fn exact(mechanism: &Path, folder: &Path) -> ReducedModel {
    let made = folder.join("made");
    let (summary, code) = pipeline(mechanism, &made);
    assert_eq!(code, 0, "{summary}");
    let model_file = made.join("model.json");
    let (check, code) = json(reduce().arg("check").arg(&model_file).arg(mechanism).args([
        "--samples",
        "300",
        "--seed",
        "7",
    ]));
    assert_eq!(code, 0);
    for (block, error) in check["errors"].as_object().expect("blocks") {
        let largest = error["max"].as_f64().expect("a number");
        assert!(largest < 1e-12, "{block}: {largest:e}");
    }
    exporters::read_model(&model_file).expect("a model")
}

/// Sum of the absolute coefficients of a diagonal entry of the mass, which it cannot exceed.
fn largest_diagonal(model: &ReducedModel, k: usize) -> f64 {
    let of = |c: &Component| *c == Component::Mass { row: k, column: k };
    let components = &model.components;
    let constants = components.constants.iter().filter(|c| of(&c.component));
    let columns = (0..components.dynamics.len()).filter(|&c| of(&components.dynamics[c]));
    let table = &model.boxes[0].dynamics;
    let width = components.dynamics.len();
    let stored = columns.flat_map(|c| table.coefficients.iter().skip(c).step_by(width));
    constants.map(|c| c.value).sum::<f64>() + stored.map(|c| c.abs()).sum::<f64>()
}

/// M − bound · D is definite at many configurations: the stated bound is one.
#[track_caller]
fn assert_definite(model: &ReducedModel) {
    let bound = model.boxes[0].definite.expect("a proof");
    let (s, domain) = (model.layout.n_rigid, &model.layout.domain);
    let evaluator = Evaluator::new(model).expect("a valid model");
    let mut work = Workspace::default();
    for i in 0..400_u32 {
        let place = |k: usize| (f64::from(i + 1) * (2.0 + k as f64).sqrt()).fract();
        let theta: Vec<f64> = (0..s)
            .map(|k| domain.lower[k] + place(k) * (domain.upper[k] - domain.lower[k]))
            .collect();
        let mut mass = evaluator
            .coefficients(&theta, &mut work)
            .expect("sizes")
            .mass;
        for k in 0..s {
            mass[k * s + k] -= bound * largest_diagonal(model, k);
        }
        assert!(factorises(&mut mass, s), "{theta:?}");
    }
}

/// Cholesky's method gets to its end.
fn factorises(a: &mut [f64], n: usize) -> bool {
    for j in 0..n {
        if a[j * n + j] <= 0.0 {
            return false;
        }
        for i in j + 1..n {
            let factor = a[i * n + j] / a[j * n + j];
            for k in j..n {
                a[i * n + k] -= factor * a[j * n + k];
            }
        }
    }
    true
}

#[test]
fn serial_arms_take_few_numbers_and_are_exact_on_any_range() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let range = "range = [-0.7, 1.3]";
    let turned = changed("elbow.toml", &[(range, "range = [\"-pi\", \"pi\"]")], path);
    let [whole, endless] = [path.join("whole.toml"), path.join("endless.toml")];
    std::fs::rename(&turned, &whole).expect("a file");
    let turned = changed(
        "elbow.toml",
        &[(range, "range = [\"-pi\", \"pi\"]\nperiodic = true")],
        path,
    );
    std::fs::rename(&turned, &endless).expect("a file");
    for (mechanism, most) in [
        (data("elbow.toml"), 60),
        (whole, 60),
        (endless, 60),
        (data("arm6.toml"), 800),
        (data("arm6_wide.toml"), 800),
    ] {
        let model = exact(&mechanism, path);
        let numbers = model.stored_numbers();
        assert!(numbers <= most, "{mechanism:?}: {numbers}");
        assert!(model.functions.iter().all(|f| *f == Functions::Waves));
        assert_definite(&model);
    }
}

#[test]
fn other_trees_are_exact_and_conserve_energy() {
    for (name, text) in [("offset_arm", OFFSET_ARM), ("tree", TREE)] {
        let folder = tempfile::tempdir().expect("a folder");
        let model = exact(&written(name, text, folder.path()), folder.path());
        assert_eq!(model.boxes.len(), 1);
        assert_definite(&model);
        let free = text.replace("viscous = 0.3", "");
        let model = exact(&written(name, &free, folder.path()), folder.path());
        let drift = energy_drift(&model, 40.0, 0.3, 1e-3);
        assert!(drift < 1e-11, "{name}: {drift:e}");
    }
}

/// Both ends of a turn are one configuration, for dynamics and for quaternions of either sign.
#[test]
fn the_seam_of_an_endless_axis_does_not_show() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = exact(&written("tree", TREE, folder.path()), folder.path());
    let evaluator = Evaluator::new(&model).expect("a valid model");
    let mut work = Workspace::default();
    let pi = std::f64::consts::PI;
    let [low, high] = [-pi, pi].map(|turn| {
        let theta = [turn, 0.1, 0.7, -0.4];
        evaluator.coefficients(&theta, &mut work).expect("sizes")
    });
    let close = |a: &[f64], b: &[f64]| {
        let pairs = a.iter().zip(b);
        pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-13 * (1.0 + a.abs()), "{a} {b}"));
    };
    close(&low.mass, &high.mass);
    close(&low.gyroscopic, &high.gyroscopic);
    close(&low.force, &high.force);
    for (a, b) in low.outputs.iter().zip(&high.outputs) {
        close(a.rotation.as_slice(), b.rotation.as_slice());
        close(&a.jacobian, &b.jacobian);
    }
}

/// A spring makes an arm's potential a function of the angle itself, which no waves end: this angle has polynomials.
#[test]
fn a_spring_leaves_its_hinge_to_polynomials() {
    let folder = tempfile::tempdir().expect("a folder");
    let spring = "[[spring]]\nname = \"s\"\njoint = \"three\"\nstiffness = 5\n[[output]]";
    let text = OFFSET_ARM
        .replace("[[output]]", spring)
        .replace("[-2.5, 2]", "[-0.3, 0.2]")
        .replace("[-1.5, 1.9]", "[-0.2, 0.3]")
        .replace("[-2.9, 2.9]", "[-0.2, 0.3]");
    let made = folder.path().join("made");
    let (summary, code) = pipeline(&written("sprung", &text, folder.path()), &made);
    assert_eq!(code, 0, "{summary}");
    let model = exporters::read_model(&made.join("model.json")).expect("a model");
    assert_eq!(model.functions[2], Functions::Polynomials);
}
