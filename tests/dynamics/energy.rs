//! Energy: conserved where nothing dissipates, accounted for where something does.

use crate::support::{
    Forced, Free, HEAVY_TOP, Moved, arm_with, point_to_point, reducer_from, reducer_with, run,
    undeformed,
};
use nalgebra::Vector3;
use reducer::dynamics::excitation::Excitation;
use reducer::dynamics::full::{FullSettings, Initial, Start};
use reducer::reduction::LocalReducer;

/// Largest gain and largest loss of what should be constant: energy less work plus dissipation.
fn imbalance(
    model: &LocalReducer,
    excitation: &dyn Excitation,
    initial: &Initial,
    radius: f64,
    duration: f64,
    step: f64,
) -> (f64, f64) {
    let mut settings = FullSettings::new(duration, step);
    settings.spectral_radius = radius;
    let (seen, report) = run(model, excitation, initial, &settings);
    let balance = |i: &reducer::dynamics::full::FullInstant| {
        let e = &i.energies;
        e.total() - e.actuator_work - e.force_work + e.dissipated
    };
    let start = balance(&seen[0]);
    let out = seen
        .iter()
        .map(balance)
        .fold((0.0_f64, 0.0_f64), |(gain, loss), e| {
            (gain.max(e - start), loss.max(start - e))
        });
    eprintln!(
        "{radius} {step}: {out:?} {report:?} {:?}",
        seen.last().map(|i| i.energies)
    );
    out
}

#[test]
fn rigid_motion_conserves_energy_to_second_order() {
    let bar = reducer_with("four_bar_rigid.toml", &[]);
    let top = reducer_from(HEAVY_TOP);
    let cases = [
        (&bar, undeformed(&[0.3], &[2.0]), 0.4),
        (&top, undeformed(&[0.2, 0.4, 0.0], &[0.5, 0.0, 40.0]), 1.0),
    ];
    for (model, initial, duration) in &cases {
        for radius in [0.5, 1.0] {
            let coarse = imbalance(model, &Free, initial, radius, *duration, 4e-3);
            let fine = imbalance(model, &Free, initial, radius, *duration, 2e-3);
            assert!(coarse.0.max(coarse.1) > 3.5 * fine.0.max(fine.1));
        }
    }
}

/// Gravity acts suddenly on the undeformed links, so that everything vibrates.
#[test]
fn vibration_conserves_energy_but_for_numerical_damping() {
    let model = reducer_with("four_bar.toml", &[]);
    let initial = undeformed(&[0.3], &[2.0]);
    for radius in [1.0, 0.8] {
        let coarse = imbalance(&model, &Free, &initial, radius, 0.1, 1e-3);
        let fine = imbalance(&model, &Free, &initial, radius, 0.1, 5e-4);
        assert!(coarse.0.max(coarse.1) > 2.5 * fine.0.max(fine.1));
        assert!(coarse.0.max(coarse.1) < 1e-5);
    }
}

/// Forces, a point force, friction, rotors, a flexible actuator, springs and dampers.
#[test]
fn work_and_dissipation_account_for_the_energy() {
    let arm = arm_with(
        &[
            (
                "stiffness = 4e3",
                "stiffness = 4e3\nstiffness_damping = 2\nrotor_inertia = 0.3\nviscous = 0.8",
            ),
            ("rest = 0.3", "rest = 0.3\ndamping = 0.5"),
            (
                "reduction]",
                "damping]\nalpha = 0.4\nbeta = 2e-4\n[reduction]",
            ),
        ],
        "",
    );
    let push = |k: usize, t: f64| [2.0, -20.0, 3.0][k] * (4.0 * t).sin();
    let forced = Forced(push, Vector3::new(3.0, -5.0, 4.0));
    let initial = Initial {
        theta: vec![0.1, -0.2, 0.3],
        rate: vec![0.5, 0.0, -0.4],
        start: Start::Equilibrium,
    };
    let coarse = imbalance(&arm, &forced, &initial, 0.9, 0.2, 1e-3);
    let fine = imbalance(&arm, &forced, &initial, 0.9, 0.2, 5e-4);
    assert!(coarse.0.max(coarse.1) > 3.0 * fine.0.max(fine.1));
}

/// A prescribed motion puts in what the links and the modal damping take.
#[test]
fn prescribed_motion_does_work() {
    let model = reducer_with(
        "four_bar.toml",
        &[("[reduction]", "[damping]\nratio = 0.02\n[reduction]")],
    );
    let motion = Moved(|_, t| point_to_point(-0.4, 0.4, 0.1, t), vec![0.1]);
    let initial = Initial {
        theta: vec![-0.4],
        rate: vec![0.0],
        start: Start::Equilibrium,
    };
    let coarse = imbalance(&model, &motion, &initial, 0.9, 0.15, 1e-3);
    let fine = imbalance(&model, &motion, &initial, 0.9, 0.15, 5e-4);
    assert!(coarse.0.max(coarse.1) > 3.0 * fine.0.max(fine.1));
}
