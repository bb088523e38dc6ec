//! Identities on random mechanisms with loops.

use crate::identities::{christoffel_error, gradient_errors};
use crate::random_mechanisms::{Drawn, hexapod, planar_loop, spatial_loop, strut_platform};
use crate::support::{Random, mechanism_from};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use reducer::reduction::{KinematicsError, LocalReducer, ReductionError};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Differences lose their accuracy close to singularities: joints may run at most this many times
/// faster than at home.
const FASTEST: f64 = 3.0;

/// Errors of all identities against differences, each with the step that suits it best: a wrong
/// derivative is wrong with every step.
fn smallest_errors(reducer: &LocalReducer, theta: &[f64]) -> Vec<(&'static str, f64)> {
    let mut best: Vec<(&str, f64)> = Vec::new();
    for h in [1e-3, 2e-4, 4e-5] {
        let mut errors = gradient_errors(reducer, theta, h);
        errors.push(("gyroscopic", christoffel_error(reducer, theta, h)));
        if best.is_empty() {
            best = errors;
        } else {
            for (own, (_, error)) in best.iter_mut().zip(errors) {
                own.1 = own.1.min(error);
            }
        }
        if best.iter().all(|(_, error)| *error < 1e-7) {
            break;
        }
    }
    best
}

/// Checks all identities at one configuration; false where the mechanism is singular there.
fn holds(drawn: &Drawn, seed: u64) -> bool {
    let mechanism = mechanism_from(&drawn.text);
    let reducer = match LocalReducer::new(&mechanism) {
        Ok(reducer) => reducer,
        Err(ReductionError::Kinematics(
            KinematicsError::Singular { .. } | KinematicsError::Mobility { .. },
        )) => return false,
        Err(other) => panic!("{other}\n{}", drawn.text),
    };
    if let Some(redundant) = drawn.redundant {
        let found = (
            reducer.kinematics().n_redundant(),
            reducer.model().n_redundant(),
        );
        assert_eq!(found, (redundant, redundant), "{}", drawn.text);
    }
    let mut random = Random(seed);
    let theta: Vec<f64> = (mechanism.coordinates.iter())
        .map(|c| 0.5 * (c.lower + c.upper) + 0.45 * (c.upper - c.lower) * random.next())
        .collect();
    match reducer.kinematics().solve(&theta) {
        Ok(configuration) if configuration.regularity > 1.0 / FASTEST => {}
        Ok(_) | Err(KinematicsError::Singular { .. } | KinematicsError::Blocked { .. }) => {
            return false;
        }
        Err(other) => panic!("{other}\n{}", drawn.text),
    }
    // Differences look a little further.
    for k in 0..theta.len() {
        for step in [-2e-3, 2e-3] {
            let mut beside = theta.clone();
            beside[k] += step;
            if reducer.kinematics().solve(&beside).is_err() {
                return false;
            }
        }
    }
    let c = reducer.evaluate(&theta).expect("regular");
    let n = c.n();
    let mass = nalgebra::DMatrix::from_row_slice(n, n, &c.mass);
    assert!(
        mass.cholesky().is_some(),
        "mass {:?}\n{}",
        c.mass,
        drawn.text
    );
    for (what, error) in smallest_errors(&reducer, &theta) {
        assert!(
            error < 1e-6,
            "{what} {error:.1e} at {theta:?}\n{}",
            drawn.text
        );
    }
    true
}

/// Runs a family with fixed seeds; returns how often each kind of joint was in a checked loop.
fn check_family(cases: u32, family: fn(u64) -> Drawn) -> BTreeMap<&'static str, usize> {
    let seen = RefCell::new((BTreeMap::new(), 0_u32));
    let config = Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        max_shrink_iters: 0,
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&any::<u64>(), |seed| {
        let drawn = family(seed);
        let mut seen = seen.borrow_mut();
        if holds(&drawn, seed) {
            for kind in drawn.kinds {
                *seen.0.entry(kind).or_insert(0) += 1;
            }
        } else {
            seen.1 += 1;
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let (kinds, skipped) = seen.into_inner();
    assert!(3 * skipped <= cases, "{skipped} of {cases} were singular");
    kinds
}

#[test]
fn planar_loops() {
    check_family(100, planar_loop);
}

#[test]
fn spatial_loops_with_every_kind_of_joint() {
    let kinds = check_family(400, spatial_loop);
    assert_eq!(kinds.len(), 8, "{kinds:?}");
    assert!(kinds.values().all(|count| *count >= 5), "{kinds:?}");
}

#[test]
fn platforms_on_struts() {
    let kinds = check_family(100, strut_platform);
    assert_eq!(kinds.len(), 6, "{kinds:?}");
}

#[test]
fn hexapods() {
    check_family(20, hexapod);
}
