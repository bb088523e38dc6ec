//! Elastic arms: sums of waves over the whole domain.

use crate::energy_drift::energy_drift;
use crate::support::{changed, data, pipeline};
use reducer::reduced_model::{Component, Evaluator, Functions, ReducedModel, Workspace};
use std::path::Path;

fn reduced(mechanism: &Path, folder: &Path) -> ReducedModel {
    let made = folder.join("made");
    let (summary, code) = pipeline(mechanism, &made);
    assert_eq!(code, 0, "{summary}");
    exporters::read_model(&made.join("model.json")).expect("a model")
}

/// Both ends of a turn of the first axis are one configuration, and no function of the dynamics knows it.
fn assert_turns(model: &ReducedModel, other: &[f64]) {
    assert_eq!(model.functions[0], Functions::Waves);
    assert!(model.boxes[0].dynamics.terms.iter().all(|t| t[0] == 0));
    let evaluator = Evaluator::new(model).expect("a valid model");
    let mut work = Workspace::default();
    let pi = std::f64::consts::PI;
    let [low, high] = [-pi, pi].map(|turn| {
        let theta = [&[turn], other].concat();
        evaluator.coefficients(&theta, &mut work).expect("sizes")
    });
    for (a, b) in low.outputs.iter().zip(&high.outputs) {
        let all = || a.jacobian.iter().zip(&b.jacobian);
        assert!(all().all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + a.abs())));
        assert!((a.rotation - b.rotation).norm() < 1e-12);
    }
}

/// Every diagonal of U₀ and L, at many configurations, is at least what is proven.
fn assert_proven(model: &ReducedModel) {
    let bound = model.boxes[0].definite.expect("a proof");
    assert!(bound > 0.0);
    let (components, domain) = (&model.components, &model.layout.domain);
    let table = &model.boxes[0].dynamics;
    let waves: Vec<bool> = (model.functions.iter())
        .map(|f| *f == Functions::Waves)
        .collect();
    for (column, component) in components.dynamics.iter().enumerate() {
        let is_diagonal = match component {
            Component::MassFactor { row, column } => row == column,
            Component::StiffnessFactor { row, column } => row == column,
            _ => false,
        };
        if !is_diagonal {
            continue;
        }
        for i in 0..400_u32 {
            let place = |k: usize| (f64::from(i + 1) * (2.0 + k as f64).sqrt()).fract();
            let factor = |k: usize, number: u8| {
                let (low, high) = (domain.lower[k], domain.upper[k]);
                let theta = low + place(k) * (high - low);
                let harmonic = f64::from(number.div_ceil(2)) * theta;
                match (waves[k], number % 2) {
                    (true, 1) => harmonic.cos(),
                    (true, _) if number > 0 => harmonic.sin(),
                    (true, _) => 1.0,
                    (false, _) => (f64::from(number) * (2.0 * place(k) - 1.0).acos()).cos(),
                }
            };
            let rows = table.coefficients.chunks_exact(components.dynamics.len());
            let value: f64 = (table.terms.iter().zip(rows))
                .map(|(term, row)| {
                    let factors = term.iter().enumerate().map(|(k, n)| factor(k, *n));
                    row[column] * factors.product::<f64>()
                })
                .sum();
            assert!(value >= bound, "{component:?}: {value} below {bound}");
        }
    }
}

#[test]
fn an_elastic_arm_takes_few_numbers_on_any_range_and_conserves_energy() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = reduced(&data("elastic_arm.toml"), folder.path());
    assert_eq!(model.boxes.len(), 1);
    // On boxes of polynomials 7300 and 18 200.
    assert!(model.stored_numbers() <= 400, "{}", model.stored_numbers());
    assert!(model.boxes[0].outputs.stored() <= 1500);
    assert_turns(&model, &[0.3, -0.7]);
    assert_proven(&model);
    let drift = energy_drift(&model, 400.0, 0.1, 1e-4);
    assert!(drift < 1e-9, "{drift:e}");
}

/// The mean alone bounded and nothing of second order, as sizes of other mechanisms are compared.
#[test]
fn a_scara_takes_few_numbers_although_two_axes_turn_endlessly() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = "[approximation]\nlargest = false\n[reduction]\nstiffening = false\n[damping]";
    let mechanism = changed("scara.toml", &[("[damping]", settings)], folder.path());
    let model = reduced(&mechanism, folder.path());
    assert_eq!(model.boxes.len(), 1);
    assert!(
        model.stored_numbers() <= 20_000,
        "{}",
        model.stored_numbers()
    );
    assert_turns(&model, &[0.8, 0.1, -1.3]);
    assert_proven(&model);
}

/// Another machine of the kind, with its default settings: where the bound of the largest error asks for more functions than
/// lines first told apart, 783 608 numbers on boxes did not reach it.
#[test]
fn a_smaller_scara_reaches_its_tolerances_with_few_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let changes = [
        ("upper = 0.45", "upper = 0.30"),
        ("fore = 0.35", "fore = 0.25"),
        ("mass = 5,", "mass = 2,"),
        ("[\"-145 deg\", \"145 deg\"]", "[\"-120 deg\", \"120 deg\"]"),
        (
            "\"55 mm\", width = \"80 mm\"",
            "\"40 mm\", width = \"60 mm\"",
        ),
    ];
    let mechanism = changed("scara.toml", &changes, folder.path());
    let model = reduced(&mechanism, folder.path());
    assert_eq!(model.boxes.len(), 1);
    assert!(
        model.stored_numbers() <= 25_000,
        "{}",
        model.stored_numbers()
    );
    assert_turns(&model, &[0.8, 0.1, -1.3]);
}
