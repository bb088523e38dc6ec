//! Parameters that stay free in the reduced model: gravity, payloads, rotor inertia, friction.

use crate::support::{changed, data, pipeline};
use reducer::description;
use reducer::reduced_model::{Evaluator, Parameters, ReducedModel, Workspace};
use reducer::reduction::LocalReducer;
use std::path::Path;

/// The model of a mechanism of `data/` with pieces of its text replaced, and the exact reduction.
fn reduced(file: &str, changes: &[(&str, &str)]) -> (ReducedModel, LocalReducer) {
    let folder = tempfile::tempdir().expect("a folder");
    let mechanism = changed(file, changes, folder.path());
    let out = folder.path().join("out");
    let (summary, code) = pipeline(&mechanism, &out);
    assert_eq!(code, 0, "{summary}");
    let read = |name: &str| exporters::read_model(&out.join(name)).expect("a model");
    let model = read("model.json");
    assert_eq!(model, read("model.h5"));
    (model, exact(&mechanism))
}

fn exact(mechanism: &Path) -> LocalReducer {
    let mechanism = description::load(mechanism).expect("a mechanism");
    LocalReducer::new(&mechanism).expect("a reducer")
}

/// θ spread over the domain, ends included.
fn configurations(model: &ReducedModel) -> Vec<Vec<f64>> {
    let domain = &model.layout.domain;
    let part = |i: usize, k: usize| (0.13 + 0.29 * (i * (k + 1)) as f64).fract();
    let inside = (0..12).map(|i| {
        (0..domain.lower.len())
            .map(|k| domain.lower[k] + part(i, k) * (domain.upper[k] - domain.lower[k]))
            .collect()
    });
    inside
        .chain([domain.lower.clone(), domain.upper.clone()])
        .collect()
}

fn norm(v: impl Iterator<Item = f64>) -> f64 {
    v.map(|x| x * x).sum::<f64>().sqrt()
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    norm(a.iter().zip(b).map(|(x, y)| x - y))
}

/// Largest errors of the force of gravity, relative to the largest force: of the model against the
/// exact reduction, and against another model.
fn gravity_errors(
    at: &Evaluator<'_>,
    other: &Evaluator<'_>,
    exact: &LocalReducer,
    model: &ReducedModel,
) -> (f64, f64) {
    let mut work = Workspace::default();
    let (mut to_exact, mut to_other, mut scale) = (0.0_f64, 0.0_f64, 0.0_f64);
    for theta in configurations(model) {
        let found = at.coefficients(&theta, &mut work).expect("lengths");
        let beside = other.coefficients(&theta, &mut work).expect("lengths");
        let of = exact.evaluate(&theta).expect("a reduction");
        to_exact = to_exact.max(difference(&found.gravity, &of.gravity));
        to_other = to_other.max(difference(&found.force, &beside.force));
        scale = scale.max(norm(of.gravity.iter().copied()));
    }
    (to_exact / scale, to_other / scale)
}

const FIXED: &str = "gravity = [0, 0, -9.81]";
const FREE: &str = "gravity = { value = [0, 0, -9.81], runtime = true }";

/// `elsewhere` is where gravity is turned to; `tolerance` is that of the file.
fn turned_gravity(file: &str, settings: &[(&str, &str)], elsewhere: [f64; 3], tolerance: f64) {
    let text = format!("gravity = {elsewhere:?}");
    let with = |gravity: &str| reduced(file, &[&[(FIXED, gravity)], settings].concat());
    let ((free, exact_nominal), (fixed, _), (other, exact_other)) =
        (with(FREE), with(FIXED), with(&text));
    assert!(free.layout.parameters.gravity_at_runtime);
    let plain = |m| Evaluator::new(m).expect("a model");

    let (to_exact, to_fixed) = gravity_errors(&plain(&free), &plain(&fixed), &exact_nominal, &free);
    assert!(to_exact <= tolerance, "{file} nominal: {to_exact:e}");
    assert!(to_fixed <= 2.0 * tolerance, "{file} nominal: {to_fixed:e}");

    let mut p = Parameters::nominal(&free.layout);
    p.gravity = elsewhere;
    let at = plain(&free).with_parameters(p).expect("lengths");
    let (to_exact, to_other) = gravity_errors(&at, &plain(&other), &exact_other, &free);
    assert!(to_exact <= tolerance, "{file} turned: {to_exact:e}");
    assert!(to_other <= 2.0 * tolerance, "{file} turned: {to_other:e}");
    forces_are_gradients(&at, &free);
}

/// Static forces are the gradient of the potential that the model tells.
fn forces_are_gradients(at: &Evaluator<'_>, model: &ReducedModel) {
    if model.form != reducer::reduced_model::ModelForm::Lagrangian {
        return;
    }
    let (n, s) = (at.n(), at.n_rigid());
    let mut work = Workspace::default();
    let zero = vec![0.0; n];
    let domain = &model.layout.domain;
    let mut eta: Vec<f64> = (0..s)
        .map(|k| 0.6 * domain.lower[k] + 0.4 * domain.upper[k])
        .collect();
    eta.extend((s..n).map(|i| 1e-3 * (i - s + 1) as f64));
    let mut force = vec![0.0; n];
    at.inverse_dynamics(&eta, &zero, &zero, &mut force, &mut work)
        .expect("lengths");
    for (i, f) in force.iter().enumerate() {
        let mut potential = |h: f64| {
            let mut moved = eta.clone();
            moved[i] += h;
            at.energy(&moved, &zero, &mut work).expect("lengths").1
        };
        let mut central = |h: f64| (potential(h) - potential(-h)) / (2.0 * h);
        let slope = (4.0 * central(5e-4) - central(1e-3)) / 3.0;
        let scale = norm(force.iter().copied());
        assert!((f - slope).abs() <= 1e-8 * scale, "{i}: {f} {slope}");
    }
}

const DIRECT: (&str, &str) = (
    "[[output]]\nname = \"tool\"",
    "[approximation]\nform = \"direct\"\ntolerance = 0.002\ncriterion = \"max\"\n[[output]]\nname = \"tool\"",
);
const STRICT: (&str, &str) = (
    "[[output]]\nname = \"tool\"",
    "[approximation]\ntolerance = 0.002\ncriterion = \"max\"\n[[output]]\nname = \"tool\"",
);

#[test]
fn gravity_turns_at_run_time_with_stored_energies() {
    turned_gravity("elbow.toml", &[STRICT], [4.0, -3.0, 6.5], 0.002);
}

#[test]
fn gravity_turns_at_run_time_with_stored_blocks() {
    turned_gravity("elbow.toml", &[DIRECT], [4.0, -3.0, 6.5], 0.002);
}

/// Modal rows too: gravity bends the links.
#[test]
fn gravity_turns_at_run_time_on_flexible_links() {
    turned_gravity("four_bar.toml", &[], [6.0, 0.0, 5.0], 0.01);
}

/// A model made with a payload, rotor inertia and friction that stay free, given other values, is
/// the model made with these values: the arm is rigid, so both are approximations of the same.
#[test]
fn marked_parameters_are_the_values_themselves() {
    let marks = |payload: f64, rotor: f64, viscous: f64, runtime: bool| {
        let text = format!(
            "[parameters]\nm = {{ value = {payload}, runtime = {runtime} }}\nj = {{ value = {rotor}, runtime = {runtime} }}\nd = {{ value = {viscous}, runtime = {runtime} }}\n[[point_mass]]\nat = \"link3\"\nmass = \"m\"\n[[coordinate]]\nname = \"theta1\"\nrotor_inertia = \"j\"\nviscous = \"d\"\ncoulomb = 1.5"
        );
        let change = ("[[coordinate]]\nname = \"theta1\"", text.as_str());
        reduced("elbow.toml", &[change, STRICT]).0
    };
    let free = marks(0.5, 0.2, 0.3, true);
    let nominal = &free.layout.parameters;
    assert_eq!(nominal.payload_mass, [0.5]);
    assert_eq!(nominal.rotor_inertia, [0.2, 0.0, 0.0]);
    assert_eq!(nominal.viscous, [0.3, 0.0, 0.0]);
    assert_eq!(nominal.coulomb, [1.5, 0.0, 0.0]);
    let other = marks(2.0, 0.7, 0.1, false);
    assert_eq!(other.layout.parameters.payload_mass, [0.0]);
    let mut p = Parameters::nominal(&free.layout);
    p.payload_mass = vec![2.0];
    p.rotor_inertia[0] = 0.7;
    p.viscous[0] = 0.1;
    let at = Evaluator::new(&free).expect("a model");
    let at = at.with_parameters(p).expect("lengths");
    let beside = Evaluator::new(&other).expect("a model");
    let mut work = Workspace::default();
    let (rate, accel) = ([0.4, -0.7, 0.9], [1.5, 2.0, -3.0]);
    for theta in configurations(&free) {
        let (mut found, mut expected) = (vec![0.0; 3], vec![0.0; 3]);
        at.inverse_dynamics(&theta, &rate, &accel, &mut found, &mut work)
            .expect("lengths");
        beside
            .inverse_dynamics(&theta, &rate, &accel, &mut expected, &mut work)
            .expect("lengths");
        let error = difference(&found, &expected) / norm(expected.iter().copied());
        assert!(error <= 0.004, "{theta:?}: {error:e}");
    }
}

#[test]
fn a_free_mass_without_an_output_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(data("elbow.toml")).expect("a data file");
    let text = text.replace("[[output]]\nname = \"tool\"\nat = \"link3\"\n", "")
        + "\n[parameters]\nm = { value = 1, runtime = true }\n[[point_mass]]\nat = \"link3\"\nmass = \"m\"\n";
    let path = folder.path().join("elbow.toml");
    std::fs::write(&path, text).expect("a file");
    let output = crate::support::run(
        crate::support::reduce()
            .arg(&path)
            .arg("-o")
            .arg(folder.path().join("out")),
    );
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // Lines are wrapped at the width of the terminal.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("stays free") && said.contains("[[output]]"),
        "{said}"
    );
}
