//! The largest errors that are reported are the largest there are.

use crate::flexible::Flexible;
use crate::orthoglide::Orthoglide;
use crate::{Numbers, reduced, settings};
use reducer::approximation::{LocalModel, check};
use reducer::description::mechanism::ApproximationSettings;
use reducer::reduced_model::{Block, Evaluator, LargestError, Quantity, Workspace};

fn norm(v: impl Iterator<Item = f64>) -> f64 {
    v.map(|x| x * x).sum::<f64>().sqrt()
}

/// Error of a quantity at θ, from the two models alone; none where it is relative to more than the exact
/// value there.
fn error_at(
    evaluator: &Evaluator,
    local: &dyn LocalModel,
    e: &LargestError,
    theta: &[f64],
) -> Option<f64> {
    let mut work = Workspace::default();
    let found = evaluator.coefficients(theta, &mut work).expect("a value");
    let exact = local.evaluate(theta).expect("a sample");
    match e.quantity {
        Quantity::Block { block: Block::Mass } => {
            let apart = norm(found.mass.iter().zip(&exact.mass).map(|(a, b)| a - b));
            Some(apart / norm(exact.mass.iter().copied()))
        }
        Quantity::Position { output } => {
            let (a, b) = (
                found.outputs[output].position,
                exact.outputs[output].position,
            );
            Some(norm((0..3).map(|k| a[k] - b[k])))
        }
        Quantity::Force { coordinate } => {
            let n = evaluator.model().layout.n();
            let pad = |v: &[f64]| [v, &vec![0.0; n - v.len()]].concat();
            let eta = pad(theta);
            let mut force = vec![0.0; n];
            let (rate, accel) = (pad(&e.rate), pad(&e.accel));
            let done = evaluator.inverse_dynamics(&eta, &rate, &accel, &mut force, &mut work);
            done.expect("a force");
            let of = exact.inverse_dynamics(&rate, &accel);
            Some((force[coordinate] - of[coordinate]).abs())
        }
        _ => None,
    }
}

#[track_caller]
fn largest_is_found(local: &dyn LocalModel, minimal_width: &[f64], n_fresh: usize) {
    let (model, summary) = reduced(local, &settings(minimal_width));
    let evaluator = Evaluator::new(&model).expect("a valid model");
    let mut recomputed = 0;
    for e in &summary.largest {
        if let Some(again) = error_at(&evaluator, local, e, &e.theta) {
            let apart = (again - e.largest).abs();
            assert!(apart <= 1e-9 * e.largest.max(1e-6), "{e:?}: {again}");
            recomputed += 1;
        }
    }
    assert!(recomputed > 1 + model.layout.n_rigid, "{recomputed}");
    let fresh = check(&model, local, n_fresh, 77).expect("a valid model");
    for e in &fresh.errors {
        let found = summary.largest.iter().find(|l| l.block() == Some(e.block));
        let found = found.expect("all blocks are searched").largest;
        println!("{:?}: {:.3e} at points, {found:.3e} found", e.block, e.max);
        assert!(e.max <= 1.2 * found, "{:?}: {} but {found}", e.block, e.max);
    }
    let domain = &model.layout.domain;
    let mut numbers = Numbers::new(5);
    for e in summary.largest.iter().filter(|e| e.block().is_none()) {
        for _ in 0..n_fresh / 10 {
            let place = |(l, u): (&f64, &f64)| l + 0.5 * (1.0 + numbers.number()) * (u - l);
            let theta: Vec<f64> = domain.lower.iter().zip(&domain.upper).map(place).collect();
            if let Some(error) = error_at(&evaluator, local, e, &theta) {
                assert!(error <= 1.2 * e.largest, "{e:?}: {error} at {theta:?}");
            }
        }
    }
}

#[test]
fn no_point_of_the_orthoglide_is_much_worse_than_the_worst_that_was_found() {
    largest_is_found(&Orthoglide::default(), &[0.05; 3], 20_000);
}

#[test]
fn no_point_of_a_flexible_mechanism_is_much_worse_than_the_worst_that_was_found() {
    largest_is_found(&Flexible::new(1, 2), &[0.05], 20_000);
    largest_is_found(&Flexible::new(2, 1), &[0.05; 2], 20_000);
}

/// Errors of blocks over ten times their tolerance, the largest first: those that were found, and those of 20 000 points.
fn beyond_ten(local: &dyn LocalModel, largest: Option<f64>) -> (bool, f64, f64) {
    let settings = ApproximationSettings {
        largest,
        ..settings(&[0.05; 3])
    };
    let (model, summary) = reduced(local, &settings);
    let found = summary.largest.iter().filter(|e| e.block().is_some());
    let worst = |errors: &mut dyn Iterator<Item = f64>| errors.fold(0.0, f64::max) / 0.05;
    let fresh = check(&model, local, 20_000, 3).expect("a valid model");
    (
        summary.reached,
        worst(&mut found.map(|e| e.largest)),
        worst(&mut fresh.errors.iter().map(|e| e.max)),
    )
}

/// The mean alone lets the corner next to the singularity go; with a bound on the largest error no point of many
/// exceeds it.
#[test]
fn the_largest_error_keeps_its_bound() {
    let local = Orthoglide::default();
    let (reached, found, _) = beyond_ten(&local, None);
    assert!(reached && found > 2.0, "{found}");
    let (reached, found, at_points) = beyond_ten(&local, Some(10.0));
    assert!(reached && found <= 1.0, "{found}");
    assert!(at_points <= 1.0, "{at_points}");
}
