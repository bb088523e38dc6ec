//! The flexible four-bar in a point-to-point motion: the reduced model against the full one.

use crate::products;
use crate::support::{reduce_mechanism, scenario_file};
use reducer::dynamics::comparison::{Difference, compare};
use reducer::dynamics::deflection::rigid_outputs;
use reducer::dynamics::record::Record;
use reducer::dynamics::scenario::{self, Scenario};
use reducer::dynamics::{full, reduced};
use reducer::reduced_model::{Evaluator, ReducedModel};
use reducer::sampling::MechanismModel;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;

/// The scenario of `data/scenarios`, and its full model in time.
fn full_run() -> &'static (Scenario, Record) {
    static RUN: OnceLock<(Scenario, Record)> = OnceLock::new();
    RUN.get_or_init(|| full_record(Path::new(SCENARIO)))
}

const SCENARIO: &str = "data/scenarios/four_bar_point_to_point.toml";

/// The full model of a scenario in time.
fn full_record(path: &Path) -> (Scenario, Record) {
    let scenario = scenario::load(path).unwrap();
    let local = MechanismModel::new(&scenario.mechanism).unwrap();
    let mut record = Record::full(&scenario);
    full::simulate(
        local.reducer(),
        &scenario.drives,
        &scenario.initial,
        &scenario.full,
        &mut |instant| {
            if instant.sample {
                let rigid = rigid_outputs(local.reducer(), &instant.theta).unwrap();
                record.add_full(instant, &rigid, None);
            }
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    (scenario, record)
}

/// The same coupler from a finite-element program moves like the one of beams.
#[test]
fn a_coupler_of_finite_elements_moves_like_one_of_beams() {
    let text = std::fs::read_to_string(SCENARIO).unwrap().replace(
        "../four_bar.toml",
        "DATA/reference/superelements/four_bar.toml",
    );
    let (_folder, path) = scenario_file("solid.toml", &text);
    let (scenario, solid) = full_record(&path);
    let found = compare(&full_run().1, &solid);
    for group in ["deflection_B", "force.theta"] {
        let difference = found.iter().find(|d| d.name == group).unwrap().max;
        assert!(difference < 1e-3, "{group}: {difference:e}");
        assert!(difference > 0.0, "{group}: two different models");
    }
    // Its reduced model follows it as that of beams does.
    let model = reduce_mechanism(&scenario.mechanism);
    let found = compare(&solid, &reduced_record(&scenario, &model));
    for group in ["deflection_B", "force.theta"] {
        let difference = found.iter().find(|d| d.name == group).unwrap().max;
        println!("solid coupler, {group}: {:.3} %", 100.0 * difference);
        assert!(difference < 0.015, "{group}: {difference:e}");
    }
}

/// The reduced model of a scenario in time.
fn reduced_record(scenario: &Scenario, model: &ReducedModel) -> Record {
    let evaluator = Evaluator::new(model).unwrap();
    let mut record = Record::reduced(scenario, &[]);
    reduced::simulate(
        &evaluator,
        &scenario.drives,
        &scenario.initial,
        &scenario.reduced,
        &mut |instant| {
            record.add_reduced(instant);
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    record
}

fn differences(model: &ReducedModel) -> Vec<Difference> {
    let (scenario, full) = full_run();
    compare(full, &reduced_record(scenario, model))
}

/// Largest differences of the deflection of B and of the torque, in parts of their peaks.
fn deflection_and_torque(name: &str, model: &ReducedModel) -> (f64, f64) {
    let found = differences(model);
    let of = |group: &str| found.iter().find(|d| d.name == group).unwrap().max;
    let (deflection, torque) = (of("deflection_B"), of("force.theta"));
    println!(
        "{name}: deflection of B {:.3} %, torque {:.3} %",
        100.0 * deflection,
        100.0 * torque
    );
    (deflection, torque)
}

fn with_reduction(lines: &str) -> ReducedModel {
    let text = format!(
        "format = 1\nmechanism = \"DATA/four_bar.toml\"\nduration = 1\n[override]\ngravity = [0, 0, 0]\n[override.reduction]\n{lines}\n"
    );
    let (_folder, path) = scenario_file("reduction.toml", &text);
    reduce_mechanism(&scenario::load(&path).unwrap().mechanism)
}

#[test]
fn two_in_plane_internal_modes_follow_the_full_model() {
    let model = with_reduction("internal_modes = { in_plane = \"xz\", count = 2 }");
    assert_eq!(model.layout.n(), 4);
    let (deflection, torque) = deflection_and_torque("1 + 1 + 2 in-plane modes", &model);
    assert!(deflection < 0.015, "{deflection}");
    assert!(torque < 0.012, "{torque}");

    // Without the θ-δ terms of h̄ the model must be visibly worse, or they would be wrong.
    let with = products::errors(&full_run().1, &full_run().0.drives, &model, 1.0);
    assert!(
        (with.0 - deflection).abs() < 1e-4,
        "{} {deflection}",
        with.0
    );
    assert!((with.1 - torque).abs() < 1e-4, "{} {torque}", with.1);
    let without = products::errors(&full_run().1, &full_run().0.drives, &model, 0.0);
    println!(
        "without θ-δ terms: deflection of B {:.3} %, torque {:.3} %",
        100.0 * without.0,
        100.0 * without.1
    );
    assert!(without.0 > 0.03, "{}", without.0);
    assert!(without.1 > 0.07, "{}", without.1);
}

#[test]
fn the_default_modes_follow_the_full_model() {
    let model = reduce_mechanism(&full_run().0.mechanism);
    assert_eq!(model.layout.n(), 7);
    let (deflection, torque) = deflection_and_torque("1 + 1 + 5 modes", &model);
    assert!(deflection < 0.015, "{deflection}");
    assert!(torque < 0.012, "{torque}");
}
