//! Second order in positions, velocities and multipliers.

use crate::support::{
    Free, HEAVY_TOP, Moved, reducer_from, reducer_with, run, smooth_point_to_point, undeformed,
};
use nalgebra::Vector3;
use reducer::dynamics::excitation::{Drive, Excitation};
use reducer::dynamics::full::{FullInstant, FullSettings, Initial, Start, StepControl};
use reducer::reduction::LocalReducer;

/// Last instants of three runs, each with half the step of the one before.
fn refined(
    model: &LocalReducer,
    excitation: &dyn Excitation,
    initial: &Initial,
    duration: f64,
    step: f64,
) -> Vec<FullInstant> {
    [1.0, 0.5, 0.25]
        .iter()
        .map(|part| {
            let mut settings = FullSettings::new(duration, step);
            settings.step = StepControl::Fixed(step * part);
            let mut seen = run(model, excitation, initial, &settings);
            seen.pop().expect("an instant")
        })
        .collect()
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (x, y)| (x - y).abs().max(m))
}

/// Values of an instant.
type Pick = fn(&FullInstant) -> Vec<f64>;

/// Positions, velocities and multipliers converge with order two: errors fall to a quarter.
fn assert_second_order(runs: &[FullInstant]) {
    let kinds: [(&str, Pick); 3] = [
        ("positions", |i| {
            i.outputs
                .iter()
                .flat_map(|o| <[f64; 3]>::from(o.position))
                .collect()
        }),
        ("velocities", |i| {
            i.outputs
                .iter()
                .flat_map(|o| <[f64; 3]>::from(o.velocity))
                .collect()
        }),
        ("multipliers", |i| i.multipliers.clone()),
    ];
    for (what, values) in kinds {
        let errors: Vec<f64> = runs
            .windows(2)
            .map(|pair| difference(&values(&pair[0]), &values(&pair[1])))
            .collect();
        let order = (errors[0] / errors[1]).log2();
        assert!(
            (1.9..2.6).contains(&order),
            "{what} converge with order {order:.2}: {errors:?}"
        );
    }
}

#[test]
fn rigid_four_bar_swings() {
    let model = reducer_with("four_bar_rigid.toml", &[]);
    let runs = refined(&model, &Free, &undeformed(&[0.3], &[2.0]), 0.4, 4e-3);
    assert_second_order(&runs);
}

#[test]
fn heavy_top() {
    let model = reducer_from(HEAVY_TOP);
    let initial = undeformed(&[0.2, 0.4, 0.0], &[0.5, 0.0, 12.0]);
    let runs = refined(&model, &Free, &initial, 1.0, 4e-3);
    assert_second_order(&runs);
}

/// The motion starts smoothly from equilibrium, so that the steps resolve what vibrates.
#[test]
fn flexible_four_bar_moves_from_point_to_point() {
    let model = reducer_with("four_bar.toml", &[("70 GPa", "5 GPa")]);
    let motion = Moved(|_, t| smooth_point_to_point(-0.4, 0.4, 0.4, t), vec![]);
    let initial = Initial {
        theta: vec![-0.4],
        rate: vec![0.0],
        start: Start::Equilibrium,
    };
    let runs = refined(&model, &motion, &initial, 0.2, 1e-3);
    assert_second_order(&runs);
}

/// A torque that sets in at once, at a time that no step would hit by itself.
struct Jump;

const JUMP: [f64; 1] = [0.0537];

impl Excitation for Jump {
    fn is_prescribed(&self, _: usize) -> bool {
        false
    }

    fn drive(&self, _: usize, time: f64, _: f64, _: f64) -> Drive {
        Drive::Force {
            force: if time < JUMP[0] { 0.0 } else { 8.0 },
            by_position: 0.0,
            by_rate: 0.0,
        }
    }

    fn point_force(&self, _: usize, _: f64) -> Option<Vector3<f64>> {
        None
    }

    fn breaks(&self) -> &[f64] {
        &JUMP
    }
}

#[test]
fn jumps_of_the_forces_keep_the_order() {
    let model = reducer_with("four_bar_rigid.toml", &[]);
    let runs = refined(&model, &Jump, &undeformed(&[-0.2], &[0.0]), 0.2, 4e-3);
    assert_second_order(&runs);
}
