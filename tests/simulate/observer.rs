//! Observers: consistent on the model they are made for, right about the full one, and refused where sensors do not suffice.

use crate::support::{reduce_mechanism, scenario_file};
use nalgebra::{DMatrix, DVector};
use reducer::description::load;
use reducer::dynamics::full;
use reducer::dynamics::observer::{ObserverError, ObserverSettings, ObserverStatistics};
use reducer::dynamics::scenario::{self, Scenario};
use reducer::error::Explain;
use reducer::reduced_model::{Evaluator, ReducedModel, Workspace};
use reducer::sampling::MechanismModel;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;

fn ralf() -> &'static ReducedModel {
    static MODEL: OnceLock<ReducedModel> = OnceLock::new();
    MODEL.get_or_init(|| reduce_mechanism(&load(Path::new("data/ralf.toml")).unwrap()))
}

/// Sensors and an observer of the Ralf-like manipulator without drives.
const FREE: &str = r#"
format = 1
mechanism = "MECHANISM"
duration = 1
[initial]
start = "equilibrium"
[[sensor]]
name = "x1"
coordinate = "cylinder1"
noise = { deviation = 1e-4, period = "1 ms", seed = 1 }
[[sensor]]
name = "x2"
coordinate = "cylinder2"
noise = { deviation = 1e-4, period = "1 ms", seed = 2 }
[[sensor]]
name = "az"
output = "tip"
quantity = "acceleration"
axis = "z"
axes = "body"
gravity = true
noise = { deviation = 0.05, period = "1 ms", seed = 3 }
[[sensor]]
name = "w"
output = "tip"
quantity = "angular_velocity"
axis = "y"
[observer]
period = "1 ms"
sensors = ["x1", "x2", "az"]
process = [50, 50, 0.5, 0.5]
initial = [1e-3, 1e-3, 1e-3, 1e-3, 1e-2, 1e-2, 1e-2, 1e-2]
[[drive]]
coordinate = "cylinder1"
velocity_feedback = { gain = 3e3, input = 0 }
[[drive]]
coordinate = "cylinder2"
velocity_feedback = { gain = 3e3, input = 0 }
"#;

fn written(text: &str) -> Result<Scenario, String> {
    let mechanism = std::fs::canonicalize("data/ralf.toml").unwrap();
    let text = text.replace("MECHANISM", mechanism.to_str().unwrap());
    let (_folder, path) = scenario_file("observed.toml", &text);
    scenario::load(&path).map_err(|faults| {
        let each = faults.faults.iter();
        let lines = each.map(|f| format!("{f} ({})", f.help().unwrap_or_default()));
        lines.collect::<Vec<_>>().join("\n")
    })
}

fn settings(text: &str) -> ObserverSettings {
    let scenario = written(text).unwrap();
    scenario.observer().unwrap().settings.clone()
}

/// Normally distributed numbers of a fixed sequence.
struct Normal(u64);

impl Normal {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        let (a, b) = (self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// The model itself with forces and readings disturbed as declared.
#[test]
fn innovations_are_as_large_as_declared() {
    let settings = settings(FREE);
    let evaluator = settings.evaluator(ralf()).unwrap();
    let plan = settings.plan(&evaluator).unwrap();
    let (n, work) = (evaluator.n(), &mut Workspace::default());
    let mut random = Normal(7);
    let [eta, rate] = settings.start(&evaluator, &[0.0; 2], true);
    let mut held = vec![0.0; n];
    evaluator
        .inverse_dynamics(&eta, &rate, &vec![0.0; n], &mut held, work)
        .unwrap();
    held[2..].fill(0.0);
    let mut state = plan.state();
    evaluator
        .observer_init(&plan, &mut state, [&eta, &rate, &held])
        .unwrap();
    let mut x = [eta, rate].concat();
    for (x, deviation) in x.iter_mut().zip(&plan.initial) {
        *x += deviation * random.next();
    }
    let mut seen = ObserverStatistics {
        sensors: 3,
        states: 2 * n,
        ..Default::default()
    };
    for _ in 0..4000 {
        let force: Vec<f64> = (0..n)
            .map(|i| held[i] + plan.process[i * n + i] * random.next())
            .collect();
        for _ in 0..plan.substeps {
            let step = plan.period / plan.substeps as f64;
            evaluator.step(&mut x, &force, step, work).unwrap();
        }
        evaluator
            .observer_predict(&plan, &mut state, &held, work)
            .unwrap();
        // The accelerometer feels what acts now.
        let (mut readings, _, _) = evaluator.observer_readings(&plan, &x, &held, work).unwrap();
        for (i, reading) in readings.iter_mut().enumerate() {
            *reading += plan.measurement[i * 3 + i] * random.next();
        }
        evaluator
            .observer_update(&plan, &mut state, &readings, work)
            .unwrap();
        seen.updates += 1;
        seen.innovations += state.nis;
        let error = DVector::from_fn(2 * n, |i, _| x[i] - state.x[i]);
        let covariance = DMatrix::from_row_slice(2 * n, 2 * n, &state.covariance());
        seen.judged += 1;
        seen.errors += error.dot(&covariance.cholesky().unwrap().solve(&error));
    }
    let ([low, high], nis, nees) = (
        seen.nis_band().unwrap(),
        seen.nis().unwrap(),
        seen.nees().unwrap(),
    );
    println!(
        "NIS {nis:.4} of 3, band {low:.4} to {high:.4}; NEES {nees:.3} of {}",
        2 * n
    );
    assert!((low..=high).contains(&nis), "{nis} not in {low} to {high}");
    assert!((nees / (2 * n) as f64 - 1.0).abs() < 0.25, "{nees}");
}

/// Slopes of readings against differences of them, in motion.
#[test]
fn slopes_of_readings_are_their_derivatives() {
    let settings = settings(FREE);
    let evaluator = settings.evaluator(ralf()).unwrap();
    let plan = settings.plan(&evaluator).unwrap();
    let work = &mut Workspace::default();
    let x = vec![0.03, -0.04, 2e-3, -1e-3, 0.2, -0.1, 0.05, 0.07];
    let force = vec![3000.0, 2000.0, 0.0, 0.0];
    let mut read = |x: &[f64]| evaluator.observer_readings(&plan, x, &force, work).unwrap();
    let (_, slope, _) = read(&x);
    for k in 0..8 {
        let mut difference = |width: f64| {
            let [high, low] = [width, -width].map(|shift| {
                let mut moved = x.clone();
                moved[k] += shift;
                read(&moved).0
            });
            let pairs = high.into_iter().zip(low);
            pairs
                .map(|(h, l)| (h - l) / (2.0 * width))
                .collect::<Vec<f64>>()
        };
        let (coarse, fine) = (difference(1e-3), difference(5e-4));
        for i in 0..3 {
            let expected = (4.0 * fine[i] - coarse[i]) / 3.0;
            let found = slope[i * 8 + k];
            let allowed = 1e-6 * (1.0 + expected.abs());
            assert!(
                (found - expected).abs() < allowed,
                "{i} {k}: {found} {expected}"
            );
        }
    }
}

/// Rates of the modes that the full model's tip shows: two modes, two components of a velocity.
#[test]
fn modal_rates_of_the_full_model_are_found() {
    let scenario = scenario::load(Path::new("data/scenarios/ralf_observer.toml")).unwrap();
    let scenario = scenario.observed(ralf()).unwrap();
    let evaluator = Evaluator::new(ralf()).unwrap();
    let source = MechanismModel::new(&scenario.mechanism).unwrap();
    let first = scenario.signal("observer.1").unwrap();
    let work = &mut Workspace::default();
    let (mut errors, mut sizes) = ([0.0; 2], [0.0; 2]);
    let mut force = 0.0;
    full::simulate(
        source.reducer(),
        &scenario.drives,
        &scenario.initial,
        &scenario.full,
        &mut |instant| {
            if instant.time > 0.05 {
                let found = &instant.signals[first..first + 9];
                let eta = [&instant.theta[..], &found[2..4]].concat();
                let rate = [&instant.rate[..], &[0.0; 2]].concat();
                let (outputs, _) = evaluator.outputs(&eta, &rate, work).unwrap();
                let tip = &outputs[0];
                let by_modes = DMatrix::from_fn(2, 2, |i, j| tip.jacobian[2 * i * 4 + 2 + j]);
                let left = DVector::from_fn(2, |i, _| {
                    instant.outputs[0].velocity[2 * i] - tip.velocity[2 * i]
                });
                let truth = by_modes.lu().solve(&left).unwrap();
                for k in 0..2 {
                    errors[k] += (found[6 + k] - truth[k]).powi(2);
                    sizes[k] += truth[k].powi(2);
                }
                force = found[8];
            }
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    let parts = [0, 1].map(|k| f64::sqrt(errors[k] / sizes[k]));
    println!(
        "modal rates within {:.4} and {:.4} rms; force {force:.2} N of 89",
        parts[0], parts[1]
    );
    assert!(parts.iter().all(|p| *p < 0.1), "{parts:?}");
    assert!((force - 89.0).abs() < 9.0, "{force}");
}

#[test]
fn what_does_not_fit_is_named() {
    let refused = |from: &str, to: &str| written(&FREE.replace(from, to)).unwrap_err();
    let process = "process = [50, 50, 0.5, 0.5]";
    let said = refused(process, "process = [50, -50, 0.5, 0.5]");
    assert!(
        said.contains("`process` is not positive: number 2 is -50"),
        "{said}"
    );
    let said = refused(
        process,
        "process = [50, 50, 0.5, 0.5]\nmeasurement_covariance = [[1, 2, 0], [2, 1, 0], [0, 0, 1]]",
    );
    assert!(
        said.contains("its minor of 2 rows is not positive"),
        "{said}"
    );
    let said = refused(
        process,
        "process = [50, 50, 0.5, 0.5]\nmeasurement = [1e-4, 0, 0.1]",
    );
    assert!(said.contains("number 2 is 0"), "{said}");
    let said = refused("sensors = [\"x1\",", "sensors = [\"x3\",");
    assert!(said.contains("x3"), "{said}");
    let said = refused(
        "velocity_feedback = { gain = 3e3, input = 0 }",
        "motion = 0",
    );
    assert!(said.contains("prescribed"), "{said}");

    let plan = |from: &str, to: &str| {
        let settings = settings(&FREE.replace(from, to));
        let evaluator = settings.evaluator(ralf()).unwrap();
        settings.plan(&evaluator).unwrap_err()
    };
    let said = plan(process, "process = [50, 50]");
    assert!(
        matches!(
            said,
            ObserverError::Count {
                expected: 4,
                found: 2,
                ..
            }
        ),
        "{said}"
    );
    let said = plan("\"az\"]", "\"w\"]\nmeasurement = [1, 1, 1]");
    assert!(
        said.to_string().contains("`w` reads an angular velocity"),
        "{said}"
    );
}

/// Across its plane a planar arm does not move: an accelerometer there sees no mode.
#[test]
fn modes_that_no_sensor_sees_are_named() {
    let text = FREE
        .replace("axis = \"z\"", "axis = \"y\"")
        .replace("sensors = [\"x1\", \"x2\", \"az\"]", "sensors = [\"az\"]");
    let settings = settings(&text);
    let evaluator = settings.evaluator(ralf()).unwrap();
    let error = settings.plan(&evaluator).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("mode `internal_1` (about 4.4"), "{said}");
    assert!(said.contains("coordinate `cylinder1`"), "{said}");
    assert!(error.origin().is_some() && error.help().is_some());
}
