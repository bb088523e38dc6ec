//! The largest stable step that headers state: a small deviation grows no more in 2048 steps than it does over the
//! same time in steps of a quarter, at every corner and at random configurations; twice the step is too much
//! somewhere.

use crate::models;
use crate::support::Numbers;
use exporters::{ExportOptions, code};
use nalgebra::DMatrix;
use reducer::reduced_model::{Evaluator, ReducedModel, Status, Workspace};

/// Random configurations.
const CONFIGURATIONS: usize = 1000;
/// How much more a deviation may grow: what is unstable grows by many powers of ten.
const MORE: f64 = 100.0;

/// The step that the header states; none where nothing limits it.
fn stated(model: &ReducedModel) -> Option<f64> {
    let files = code::c_files(model, &ExportOptions::default()).expect("source");
    let header = files
        .iter()
        .find(|(name, _)| name.ends_with(".h") && !name.ends_with("_tables.h"));
    let text = String::from_utf8_lossy(&header.expect("a header").1).into_owned();
    let line = text
        .lines()
        .find(|l| l.contains("Largest stable step"))
        .expect("the line");
    line.split_whitespace().find_map(|word| word.parse().ok())
}

/// What 2^doublings steps of the classical Runge-Kutta method make of a deviation.
fn growth(a: &DMatrix<f64>, dt: f64, doublings: u32) -> f64 {
    let x = a * dt;
    let unit = DMatrix::identity(x.nrows(), x.nrows());
    // 1 + x (1 + x/2 (1 + x/3 (1 + x/4)))
    let mut step = unit.clone();
    for k in [4.0, 3.0, 2.0, 1.0] {
        step = &unit + &x * step / k;
    }
    for _ in 0..doublings {
        step = &step * &step;
        if !step.iter().all(|v| v.is_finite()) {
            return f64::INFINITY;
        }
    }
    step.norm()
}

/// The equations linearised at rest under the force that holds the mechanism there, rates in units of the fastest frequency; none where the model is not
/// defined.
fn linear(
    evaluator: &Evaluator,
    theta: &[f64],
    rate: f64,
    work: &mut Workspace,
) -> Option<DMatrix<f64>> {
    let n = evaluator.n();
    let mut eta = theta.to_vec();
    eta.resize(n, 0.0);
    let rest = vec![0.0; n];
    let mut force = vec![0.0; n];
    let status = evaluator
        .inverse_dynamics(&eta, &rest, &rest, &mut force, work)
        .ok()?;
    let (linear, _) = evaluator.linearize(&eta, &rest, &force, work).ok()?;
    let mut a = DMatrix::from_row_slice(2 * n, 2 * n, &linear.a);
    a.view_mut((0, n), (n, n)).scale_mut(rate);
    a.view_mut((n, 0), (n, n)).scale_mut(1.0 / rate);
    (status == Status::Inside).then_some(a)
}

fn stable(name: &str) {
    let model = models::model(name);
    let Some(dt) = stated(model) else {
        let stiff = model.layout.n() > model.layout.n_rigid;
        assert!(!stiff, "{name} has modes, and no largest step");
        return;
    };
    let evaluator = Evaluator::new(model).expect("a valid model");
    let mut work = Workspace::default();
    let domain = &model.layout.domain;
    let s = model.layout.n_rigid;
    let place = |part: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let at = |k: usize| domain.lower[k] + part(k) * (domain.upper[k] - domain.lower[k]);
        (0..s)
            .map(|k| at(k).clamp(domain.lower[k], domain.upper[k]))
            .collect()
    };
    let mut numbers = Numbers::new(71);
    let mut all: Vec<Vec<f64>> = (0..1_usize << s)
        .map(|i| place(&|k| ((i >> k) & 1) as f64))
        .collect();
    for _ in 0..CONFIGURATIONS {
        let parts: Vec<f64> = (0..s).map(|_| 0.5 + 0.5 * numbers.next()).collect();
        all.push(place(&|k| parts[k]));
    }
    let mut twice = 0.0_f64;
    let mut looked_at = 0;
    for theta in &all {
        let Some(a) = linear(&evaluator, theta, 1.0 / dt, &mut work) else {
            continue;
        };
        looked_at += 1;
        let (stated, fine) = (growth(&a, dt, 11), growth(&a, dt / 4.0, 13));
        assert!(
            stated <= MORE * fine,
            "{name} at {theta:?}: {stated:e}, in finer steps {fine:e}"
        );
        twice = twice.max(growth(&a, 2.0 * dt, 10) / fine);
    }
    assert!(looked_at > CONFIGURATIONS / 2, "{name}: {looked_at}");
    assert!(
        twice > 1e6,
        "{name}: twice the stated step would do: {twice:e}"
    );
}

models::for_every_mechanism!(stable);
