//! Ways around a region that cannot be assembled in the middle of the domain.
//!
//! A planar five-bar: cranks OA and DB of equal length, coupler links AC and BC of different length.
//! Where A and B are closer than the difference of the couplers, the loop cannot be closed. That
//! region is an island about the configuration where A meets B; on its shore C lies on the line
//! through A and B, an actuator singularity. Around it, C stays on one side of that line.

use crate::support::{assert_close, mechanism_from};
use nalgebra::Vector2;
use rayon::prelude::*;
use reducer::approximation::{SampleDatabase, Silent};
use reducer::pipeline;
use reducer::reduction::{
    Coefficients, KinematicsError, LocalReducer, ReductionError, SingularityKind,
};
use reducer::sampling::MechanismModel;

const BASE: f64 = 0.5;
const CRANK: f64 = 0.5;
const COUPLERS: [f64; 2] = [0.5, 0.35];
/// South-west of the island, whose centre is at 60 and 120 degrees.
const HOME: [f64; 2] = [30.0, 90.0];
/// Beyond the island as seen from home.
const BEYOND: [f64; 2] = [90.0, 150.0];

fn radians(degrees: [f64; 2]) -> [f64; 2] {
    degrees.map(f64::to_radians)
}

/// A, B and C in closed form, C to the left of the line from A to B.
fn points(theta: &[f64]) -> Option<[Vector2<f64>; 3]> {
    let end = |angle: f64| Vector2::new(angle.cos(), angle.sin()) * CRANK;
    let a = end(theta[0]);
    let b = Vector2::new(BASE, 0.0) + end(theta[1]);
    let line = b - a;
    let gap = line.norm();
    let along = (gap * gap + COUPLERS[0].powi(2) - COUPLERS[1].powi(2)) / (2.0 * gap);
    let across = (COUPLERS[0].powi(2) - along * along).sqrt();
    let e = line / gap;
    across
        .is_finite()
        .then(|| [a, b, a + e * along + Vector2::new(-e.y, e.x) * across])
}

/// The five-bar drawn at a home given in degrees.
fn five_bar(home: [f64; 2]) -> String {
    let [a, b, c] = points(&radians(home)).expect("home can be assembled");
    let place = |p: &Vector2<f64>| format!("[{:e}, 0, {:e}]", p.x, p.y);
    let rod = |name: &str, from: &str, to: &str| {
        format!("[[body]]\nname = \"{name}\"\nrod = {{ from = {from}, to = {to}, mass = 0.4 }}\n")
    };
    let hinge = |name: &str, a: &str, b: &str| {
        format!("[[joint]]\nname = \"{name}\"\nhinge = [\"{a}\", \"{b}\"]\naxis = [0, -1, 0]\n")
    };
    let coordinate = |name: &str, home: f64, middle: f64| {
        format!(
            "[[coordinate]]\nname = \"{name}_angle\"\ndrives = \"{name}\"\nhome = \"{home} deg\"\nrange = [\"{} deg\", \"{} deg\"]\n",
            middle - 50.0,
            middle + 50.0
        )
    };
    [
        "format = 1\nname = \"five_bar\"\ngravity = [0, 0, -9.81]\n".to_owned(),
        rod("left", "[0, 0, 0]", &place(&a)),
        rod("right", &format!("[{BASE}, 0, 0]"), &place(&b)),
        rod("long", &place(&a), &place(&c)),
        rod("short", &place(&b), &place(&c)),
        hinge("O", "ground", "left.from"),
        hinge("D", "ground", "right.from"),
        hinge("A", "left.to", "long.from"),
        hinge("B", "right.to", "short.from"),
        hinge("C", "long.to", "short.to"),
        coordinate("O", home[0], 60.0),
        coordinate("D", home[1], 120.0),
        "[[output]]\nname = \"C\"\nat = \"long.to\"\n".to_owned(),
    ]
    .concat()
}

fn reducer(home: [f64; 2]) -> LocalReducer {
    LocalReducer::new(&mechanism_from(&five_bar(home))).expect("a five-bar")
}

/// Configurations all over the domain.
fn spread() -> Vec<[f64; 2]> {
    (0..=24)
        .flat_map(|i| (0..=24).map(move |j| (i, j)))
        .map(|(i, j)| radians([10.3 + 4.1 * f64::from(i), 70.6 + 4.1 * f64::from(j)]))
        .collect()
}

#[test]
fn what_lies_behind_an_island_is_reached_on_the_branch_of_home() {
    let reducer = reducer(HOME);
    let (mut straight, mut routed, mut refused) = (0, 0, 0);
    for theta in spread() {
        let found = reducer.evaluate(&theta);
        let Some([_, _, c]) = points(&theta) else {
            refused += 1;
            let blocked = matches!(
                found,
                Err(ReductionError::Kinematics(KinematicsError::Blocked { .. }))
            );
            assert!(blocked, "{theta:?}: {found:?}");
            continue;
        };
        let found = found.unwrap_or_else(|error| panic!("{theta:?}: {error}"));
        let expected = [c.x, 0.0, c.y];
        assert_close("C", &found.outputs[0].position, &expected, 1e-12);
        if found.waypoints == 0 {
            straight += 1;
        } else {
            routed += 1;
        }
    }
    assert!(
        straight > 300 && routed > 50 && refused > 20,
        "{straight} {routed} {refused}"
    );
}

#[test]
fn a_route_ends_where_a_walk_by_hand_does() {
    // North-west of the island, in sight of home and of the place beyond.
    let corner = [30.0, 150.0];
    let beyond = radians(BEYOND);
    let routed = reducer(HOME)
        .kinematics()
        .solve(&beyond)
        .expect("a way around");
    let first = reducer(HOME)
        .kinematics()
        .solve(&radians(corner))
        .expect("in sight");
    let second = reducer(corner)
        .kinematics()
        .solve(&beyond)
        .expect("in sight");
    assert!(routed.waypoints > 1);
    assert_eq!((first.waypoints, second.waypoints), (0, 0));
    let home_of_second = reducer(corner).kinematics().home_frames();
    for (a, b) in first.frames.iter().zip(&home_of_second) {
        assert!((a.position - b.position).norm() < 1e-13, "{a:?} {b:?}");
    }
    for (a, b) in routed.frames.iter().zip(&second.frames) {
        assert!((a.position - b.position).norm() < 1e-13, "{a:?} {b:?}");
    }
}

#[test]
fn routes_do_not_depend_on_order_or_threads() {
    let bits = |result: Result<Coefficients, ReductionError>| -> Result<Vec<u64>, String> {
        let c = result.map_err(|error| error.to_string())?;
        let numbers = c.mass.iter().chain(&c.force).chain(&c.outputs[0].position);
        Ok(numbers
            .map(|v| v.to_bits())
            .chain([c.waypoints as u64])
            .collect())
    };
    let points = spread();
    let forwards = reducer(HOME);
    let one: Vec<_> = points.iter().map(|p| bits(forwards.evaluate(p))).collect();
    let backwards = reducer(HOME);
    let mut other: Vec<_> = points
        .iter()
        .rev()
        .map(|p| bits(backwards.evaluate(p)))
        .collect();
    other.reverse();
    assert_eq!(one, other);
    let shared = reducer(HOME);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(7)
        .build()
        .expect("threads");
    let parallel: Vec<_> = pool.install(|| {
        points
            .par_iter()
            .map(|p| bits(shared.evaluate(p)))
            .collect()
    });
    assert_eq!(one, parallel);
}

#[test]
fn a_place_that_cannot_be_assembled_is_refused_with_the_place_where_the_line_ends() {
    let theta = radians([60.0, 120.0]);
    match reducer(HOME).kinematics().solve(&theta) {
        Err(KinematicsError::Blocked { kind, reached, .. }) => {
            assert_eq!(kind, SingularityKind::Actuator);
            let [a, b, _] = points(&reached).expect("assembled");
            let gap = (a - b).norm();
            assert_close("gap", &[gap], &[COUPLERS[0] - COUPLERS[1]], 1e-3);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_model_counts_the_samples_that_took_a_route() {
    let text = five_bar(HOME) + "[approximation]\ntolerance = 0.05\nminimal_width = [0.4, 0.4]\n";
    let mechanism = mechanism_from(&text);
    let local = MechanismModel::new(&mechanism).expect("a five-bar");
    let mut database = SampleDatabase::in_memory();
    let (model, summary) =
        pipeline::reduce(&local, &mechanism.approximation, &Silent, &mut database)
            .expect("a model");
    assert!(summary.routed_samples > 0 && summary.routed_samples < summary.samples);
    assert_eq!(model.provenance.routed_samples, summary.routed_samples);
    assert!(!summary.missing.is_empty(), "the island has no model");
}
