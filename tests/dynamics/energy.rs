//! Energy: conserved where nothing dissipates, accounted for where something does.

use crate::support::{
    Forced, Free, HEAVY_TOP, Moved, arm_with, point_to_point, reducer_from, reducer_with, run,
    undeformed,
};
use nalgebra::Vector3;
use reducer::dynamics::excitation::Excitation;
use reducer::dynamics::full::{FullInstant, FullSettings, Initial, Start, StepControl};
use reducer::reduction::LocalReducer;

/// How far energy less work plus dissipation, which should be constant, strays.
struct Stray {
    gain: f64,
    loss: f64,
}

impl Stray {
    fn of(
        model: &LocalReducer,
        excitation: &dyn Excitation,
        initial: &Initial,
        settings: &FullSettings,
    ) -> Self {
        let seen = run(model, excitation, initial, settings);
        let balance = |i: &FullInstant| {
            let e = &i.energies;
            e.total() - e.actuator_work - e.force_work + e.dissipated
        };
        let start = balance(&seen[0]);
        seen.iter().map(balance).fold(
            Self {
                gain: 0.0,
                loss: 0.0,
            },
            |m, e| Self {
                gain: m.gain.max(e - start),
                loss: m.loss.max(start - e),
            },
        )
    }

    fn size(&self) -> f64 {
        self.gain.max(self.loss)
    }
}

/// Half the step leaves at most this part of the error: a quarter but for higher orders.
const QUARTER: f64 = 0.3;

/// The balance of energy strays less, by the square of the step; tells how far with the given one.
#[track_caller]
fn assert_second_order(
    model: &LocalReducer,
    excitation: &dyn Excitation,
    initial: &Initial,
    settings: FullSettings,
    step: f64,
) -> Stray {
    let with = |step: f64| {
        let settings = FullSettings {
            step: StepControl::Fixed(step),
            ..settings.clone()
        };
        Stray::of(model, excitation, initial, &settings)
    };
    let (coarse, fine) = (with(step), with(0.5 * step));
    assert!(
        fine.size() < QUARTER * coarse.size(),
        "{:.3e} J with {step} s, {:.3e} J with half of it",
        coarse.size(),
        fine.size()
    );
    coarse
}

fn lasting(duration: f64, radius: f64) -> FullSettings {
    FullSettings {
        spectral_radius: radius,
        ..FullSettings::new(duration, duration)
    }
}

#[test]
fn rigid_motion_conserves_energy_to_second_order() {
    let bar = reducer_with("four_bar_rigid.toml", &[]);
    let top = reducer_from(HEAVY_TOP);
    let cases = [
        (&bar, undeformed(&[0.3], &[2.0]), 0.4),
        (&top, undeformed(&[0.2, 0.4, 0.0], &[0.5, 0.0, 12.0]), 1.0),
    ];
    for (model, initial, duration) in &cases {
        for radius in [0.5, 1.0] {
            assert_second_order(model, &Free, initial, lasting(*duration, radius), 4e-3);
        }
    }
}

/// Gravity acts suddenly on the undeformed links, so that everything vibrates.
#[test]
fn vibration_conserves_energy_but_for_numerical_damping() {
    let model = reducer_with("four_bar.toml", &[]);
    let initial = undeformed(&[0.3], &[2.0]);
    for radius in [1.0, 0.8] {
        let stray = assert_second_order(&model, &Free, &initial, lasting(0.1, radius), 1e-3);
        assert!(stray.loss < 1e-5 && stray.gain < 1e-9, "{}", stray.size());
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
    let initial = Initial {
        theta: vec![0.1, -0.2, 0.3],
        rate: vec![0.0; 3],
        start: Start::Equilibrium,
    };
    // A sudden release would excite more than steps resolve: the forces first hold the arm.
    let held = Moved(|k, _| [initial.theta[k], 0.0, 0.0], vec![]);
    let hold = run(&arm, &held, &initial, &FullSettings::new(1e-3, 1e-3))
        .swap_remove(0)
        .actuator_force;
    let push = |k: usize, t: f64| hold[k] + [2.0, -20.0, 3.0][k] * (1.0 - (15.0 * t).cos());
    let forced = Forced(push, Vector3::new(3.0, -5.0, 4.0));
    assert_second_order(&arm, &forced, &initial, lasting(0.2, 0.9), 1e-3);
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
    assert_second_order(&model, &motion, &initial, lasting(0.15, 0.9), 1e-3);
}

/// Behind a flexible actuator a motor without inertia turns as its spring lets it.
#[test]
fn motors_need_no_inertia() {
    let arm = arm_with(&[], "");
    let push = |k: usize, t: f64| [2.0, -20.0, 3.0][k] * (1.0 - (10.0 * t).cos());
    let initial = undeformed(&[0.1, -0.2, 0.3], &[0.0; 3]);
    let seen = run(
        &arm,
        &Forced(push, Vector3::zeros()),
        &initial,
        &FullSettings::new(0.2, 1e-3),
    );
    for instant in &seen[1..] {
        // The multiplier of the shoulder's coordinate is what its spring and its motor carry.
        let carried = instant.multipliers[instant.multipliers.len() - 2];
        let force = instant.actuator_force[1];
        assert!((carried + force).abs() < 1e-9, "{carried} {force}");
    }
}
