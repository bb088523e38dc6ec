//! What is written for CasADi, with every kind of stored number, against the evaluator; derivatives against CasADi's own.

#[path = "support/generated.rs"]
mod generated;
mod support;

use exporters::casadi::casadi_files;
use exporters::{ExportOptions, WriteError, write_set};
use generated::{CASADI, run};
use reducer::reduced_model::*;
use serde_json::{Value, json};
use std::process::Command;
use support::{Numbers, configurations, model, recipes};

/// Parameters that all differ from the nominal ones.
fn changed(m: &ReducedModel) -> Parameters {
    let mut p = Parameters::nominal(&m.layout);
    p.gravity = [2.0, -3.5, 4.0];
    for (values, by) in [
        (&mut p.payload_mass, 0.6),
        (&mut p.rotor_inertia, 0.2),
        (&mut p.viscous, 0.3),
        (&mut p.coulomb, 0.7),
        (&mut p.coulomb_rate, 0.4),
    ] {
        values.iter_mut().for_each(|v| *v += by);
    }
    p
}

/// Parameters in the order of the Python file.
fn flat(p: &Parameters) -> Vec<f64> {
    let parts: [&[f64]; 6] = [
        &p.payload_mass,
        &p.gravity,
        &p.rotor_inertia,
        &p.viscous,
        &p.coulomb,
        &p.coulomb_rate,
    ];
    parts.concat()
}

/// What the evaluator says about a state.
fn point(m: &ReducedModel, eta: &[f64], numbers: &mut Numbers) -> Value {
    let n = m.layout.n();
    let mut work = Workspace::default();
    let (rate, accel) = (numbers.vector(n, 2.0), numbers.vector(n, 3.0));
    let evaluator = Evaluator::new(m).unwrap();
    let (mut force, mut force_p) = (vec![0.0; n], vec![0.0; n]);
    let status = evaluator
        .inverse_dynamics(eta, &rate, &accel, &mut force, &mut work)
        .unwrap();
    let (outputs, _) = evaluator.outputs(eta, &rate, &mut work).unwrap();
    let p = changed(m);
    let evaluator = evaluator.with_parameters(p.clone()).unwrap();
    let _ = evaluator
        .inverse_dynamics(eta, &rate, &accel, &mut force_p, &mut work)
        .unwrap();
    // Matrices with a column per output, row by row.
    let matrix = |part: &dyn Fn(&OutputMotion) -> Vec<f64>| -> Vec<Vec<f64>> {
        let columns: Vec<_> = outputs.iter().map(part).collect();
        let rows = columns.first().map_or(0, Vec::len);
        let row = |i: usize| columns.iter().map(|c| c[i]).collect();
        (0..rows).map(row).collect()
    };
    json!({
        "eta": eta, "rate": rate, "accel": accel, "status": status as i32, "force": force,
        "parameters": flat(&p), "force_p": force_p,
        "outputs": [
            matrix(&|o| o.position.as_slice().to_vec()),
            matrix(&|o| o.rotation.transpose().as_slice().to_vec()),
            matrix(&|o| o.velocity.as_slice().to_vec()),
            matrix(&|o| o.angular_velocity.as_slice().to_vec()),
        ],
    })
}

#[test]
fn external_functions_and_expressions_equal_the_evaluator() {
    if !CASADI.is_done() {
        return;
    }
    let program = std::fs::canonicalize("../tests/interfaces/check_casadi.py").unwrap();
    for recipe in recipes() {
        let m = model(&recipe);
        let folder = tempfile::tempdir().unwrap();
        let options = ExportOptions {
            prefix: Some("sample".to_owned()),
            ..ExportOptions::default()
        };
        let files = casadi_files(&m, &options).unwrap();
        write_set(folder.path(), &files, &exporters::Guard::default()).unwrap();
        let mut numbers = Numbers::new(17);
        let states = configurations(&m);
        let points: Vec<Value> = states
            .iter()
            .map(|eta| point(&m, eta, &mut numbers))
            .collect();
        let place = folder.path().join("points.json");
        std::fs::write(&place, Value::from(points).to_string()).unwrap();
        let mut python = Command::new("python3");
        python.arg(&program).args([folder.path()]).arg("sample");
        println!("{}: {}", recipe.name, run(python.arg(&place)));
    }
}

#[test]
fn single_precision_is_refused() {
    let m = model(&recipes()[0]);
    let options = ExportOptions {
        single: true,
        ..ExportOptions::default()
    };
    let refused = casadi_files(&m, &options).unwrap_err();
    assert!(matches!(refused, WriteError::NotSource { .. }), "{refused}");
}
