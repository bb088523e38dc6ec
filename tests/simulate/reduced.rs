//! The reduced model by itself.

use crate::support::{four_bar, times};
use reducer::dynamics::drives::{Actuator, Drives, PointForce};
use reducer::dynamics::full::{Initial, Start};
use reducer::dynamics::reduced::{
    Method, ReducedError, ReducedInstant, ReducedReport, ReducedSettings, simulate,
};
use reducer::dynamics::signal::Signal;
use reducer::dynamics::spline::{Ends, Spline};
use reducer::reduced_model::{Evaluator, Workspace};
use std::ops::ControlFlow;

fn initial(theta: f64, start: Start) -> Initial {
    Initial {
        theta: vec![theta],
        rate: vec![0.0],
        start,
    }
}

fn run(
    drives: &Drives,
    initial: &Initial,
    settings: &ReducedSettings,
) -> (Vec<ReducedInstant>, Result<ReducedReport, ReducedError>) {
    let evaluator = Evaluator::new(four_bar()).unwrap();
    let mut instants = Vec::new();
    let report = simulate(&evaluator, drives, initial, settings, &mut |instant| {
        instants.push(instant.clone());
        ControlFlow::Continue(())
    });
    (instants, report)
}

fn force(signal: Signal, duration: f64) -> Drives {
    Drives::new(vec![Actuator::Force(signal)], vec![], duration).unwrap()
}

fn point_to_point() -> Drives {
    let motion = Signal::PointToPoint {
        start: 0.0,
        duration: 0.5,
        from: -1.0,
        to: 0.5,
    };
    Drives::new(vec![Actuator::Motion(motion)], vec![], 0.8).unwrap()
}

#[test]
fn moved_and_forced_coordinates_satisfy_the_same_equations() {
    let evaluator = Evaluator::new(four_bar()).unwrap();
    let n = evaluator.n();
    let mut work = Workspace::default();
    let number = |i: usize| ((i * 37 + 11) % 17) as f64 / 17.0 - 0.5;
    let eta: Vec<f64> = (0..n)
        .map(|i| if i == 0 { 0.3 } else { 1e-3 * number(i) })
        .collect();
    let rate: Vec<f64> = (0..n).map(|i| number(i + 20)).collect();
    for moved in [0b1, 0b10, 0b101, 0b0, 0b1111111] {
        let prescribed: Vec<bool> = (0..n).map(|i| moved >> i & 1 == 1).collect();
        let mut accel: Vec<f64> = (0..n).map(|i| number(i + 40)).collect();
        let mut force: Vec<f64> = (0..n).map(|i| number(i + 60)).collect();
        evaluator
            .hybrid_dynamics(&eta, &rate, &prescribed, &mut accel, &mut force, &mut work)
            .unwrap();
        let mut expected = vec![0.0; n];
        evaluator
            .inverse_dynamics(&eta, &rate, &accel, &mut expected, &mut work)
            .unwrap();
        let scale = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        for (found, expected) in force.iter().zip(&expected) {
            assert!(
                (found - expected).abs() < 1e-10 * scale,
                "{force:?} {expected:?}"
            );
        }
    }
}

#[test]
fn work_becomes_energy() {
    let duration = 0.3;
    let mut settings = ReducedSettings::new(duration, 1e-10);
    settings.instants = times(duration, 30);
    let tip = PointForce {
        output: 1,
        direction: nalgebra::Vector3::new(0.6, 0.0, 0.8),
        force: Signal::Step {
            at: 0.1,
            before: 0.0,
            after: 20.0,
        },
    };
    let torque = Signal::BangBang {
        amplitude: 6.0,
        start: 0.02,
        duration: 0.2,
    };
    let drives = Drives::new(vec![Actuator::Force(torque)], vec![tip], duration).unwrap();
    for method in [Method::Explicit, Method::Implicit] {
        settings.method = method;
        settings.tolerance = if method == Method::Explicit {
            1e-10
        } else {
            1e-8
        };
        let (instants, report) = run(&drives, &initial(-0.5, Start::Equilibrium), &settings);
        report.unwrap();
        assert_eq!(instants.len(), 31);
        let first = &instants[0].energies;
        let start = first.kinetic + first.potential;
        let peak = instants
            .iter()
            .map(|i| i.energies.kinetic)
            .fold(0.0, f64::max);
        let worst = instants
            .iter()
            .map(|i| i.energies.imbalance(start).abs())
            .fold(0.0, f64::max);
        println!("{method:?}: imbalance {worst:.2e} J of {peak:.2e} J");
        let allowed = if method == Method::Explicit {
            1e-9
        } else {
            1e-5
        };
        assert!(worst < allowed * peak, "{method:?}: {worst} of {peak}");
    }
}

#[test]
fn nothing_moves_in_equilibrium() {
    let duration = 0.2;
    let mut settings = ReducedSettings::new(duration, 1e-9);
    settings.instants = times(duration, 20);
    let hold = Drives::new(
        vec![Actuator::Motion(Signal::Constant(0.2))],
        vec![],
        duration,
    );
    let (instants, report) = run(&hold.unwrap(), &initial(0.2, Start::Equilibrium), &settings);
    report.unwrap();
    let rest = &instants[0].modal;
    assert!(
        rest.iter().any(|x| x.abs() > 1e-6),
        "gravity deforms: {rest:?}"
    );
    for instant in &instants {
        for (now, rest) in instant.modal.iter().zip(rest) {
            assert!((now - rest).abs() < 1e-11, "{:?}", instant.modal);
        }
    }
}

#[test]
fn explicit_and_implicit_integration_converge_to_one_motion() {
    let mut settings = ReducedSettings::new(0.8, 1e-11);
    settings.instants = times(0.8, 80);
    let start = initial(-1.0, Start::Undeformed);
    let (reference, report) = run(&point_to_point(), &start, &settings);
    report.unwrap();
    let peak = reference
        .iter()
        .map(|i| i.outputs[1].deflection.norm())
        .fold(0.0, f64::max);
    for (method, tolerance, allowed) in [
        (Method::Explicit, 1e-5, 3e-4),
        (Method::Explicit, 1e-7, 1e-6),
        (Method::Implicit, 1e-7, 1e-5),
    ] {
        settings.method = method;
        settings.tolerance = tolerance;
        let (found, report) = run(&point_to_point(), &start, &settings);
        let report = report.unwrap();
        let worst = found
            .iter()
            .zip(&reference)
            .map(|(a, b)| (a.outputs[1].deflection - b.outputs[1].deflection).norm())
            .fold(0.0, f64::max);
        println!(
            "{method:?} {tolerance:e}: {:.2e} of the peak, {report:?}",
            worst / peak
        );
        assert!(
            worst < allowed * peak,
            "{method:?} {tolerance:e}: {}",
            worst / peak
        );
    }
}

#[test]
fn the_force_of_a_prescribed_motion_produces_it() {
    let mut settings = ReducedSettings::new(0.5, 1e-10);
    settings.instants = times(0.5, 20_000);
    let start = initial(-1.0, Start::Undeformed);
    let motion = Signal::PointToPoint {
        start: 0.0,
        duration: 0.5,
        from: -1.0,
        to: 0.5,
    };
    let moved = Drives::new(vec![Actuator::Motion(motion)], vec![], 0.5).unwrap();
    let (instants, report) = run(&moved, &start, &settings);
    report.unwrap();
    let torques = instants.iter().map(|i| i.actuator_force[0]).collect();
    let table = Spline::new(settings.instants.clone(), torques, Ends::Free).unwrap();
    let (forced, report) = run(&force(Signal::Table(table), 0.5), &start, &settings);
    report.unwrap();
    let worst = instants
        .iter()
        .zip(&forced)
        .map(|(a, b)| (a.theta[0] - b.theta[0]).abs())
        .fold(0.0, f64::max);
    println!("θ differs by {worst:.2e} rad");
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn the_acceleration_of_a_point_is_the_derivative_of_its_velocity() {
    let mut settings = ReducedSettings::new(0.8, 1e-10);
    let step = 1e-6;
    settings.instants = vec![0.2 - step, 0.2, 0.2 + step];
    let (instants, report) = run(
        &point_to_point(),
        &initial(-1.0, Start::Undeformed),
        &settings,
    );
    report.unwrap();
    for output in 0..2 {
        let motion = |i: usize| instants[i].outputs[output].motion;
        let expected = (motion(2).velocity - motion(0).velocity) / (2.0 * step);
        let found = motion(1).acceleration;
        assert!(
            (expected - found).norm() < 1e-4 * found.norm(),
            "{expected} {found}"
        );
    }
}

#[test]
fn leaving_the_domain_keeps_what_was_computed() {
    let motion = Signal::PointToPoint {
        start: 0.0,
        duration: 1.0,
        from: 1.0,
        to: 2.0,
    };
    let drives = Drives::new(vec![Actuator::Motion(motion.clone())], vec![], 1.0).unwrap();
    let mut settings = ReducedSettings::new(1.0, 1e-7);
    settings.instants = times(1.0, 100);
    let (instants, report) = run(&drives, &initial(1.0, Start::Undeformed), &settings);
    let Err(ReducedError::LeftDomain {
        time,
        coordinate,
        upper,
        ..
    }) = report
    else {
        panic!("{report:?}");
    };
    assert_eq!((coordinate.as_str(), upper), ("theta", 1.75));
    assert!((motion.at(time).value - 1.75).abs() < 1e-9, "{time}");
    let expected = settings.instants.iter().filter(|t| **t < time).count();
    assert_eq!(instants.len(), expected);
}
