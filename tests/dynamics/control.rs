//! Steps, stops and refusals.

use crate::support::{Free, Moved, reducer_with, run, undeformed};
use reducer::dynamics::full::{Equation, FullError, FullSettings, StepControl, simulate};
use reducer::error::Explain;
use std::ops::ControlFlow;

#[test]
fn adaptive_steps_meet_the_instants_and_the_tolerance() {
    let model = reducer_with("four_bar_rigid.toml", &[]);
    let initial = undeformed(&[0.3], &[2.0]);
    let fine = run(&model, &Free, &initial, &FullSettings::new(0.4, 2e-4));
    let exact = fine.last().expect("an instant").outputs[1].position;
    let mut errors = Vec::new();
    for tolerance in [1e-6, 1e-8] {
        let mut settings = FullSettings::new(0.4, 1.0);
        settings.step = StepControl::Adaptive {
            first: 1e-2,
            tolerance,
            largest: 0.1,
        };
        settings.instants = vec![0.1, 0.25, 0.3];
        let seen = run(&model, &Free, &initial, &settings);
        let times: Vec<f64> = seen.iter().filter(|i| i.sample).map(|i| i.time).collect();
        assert_eq!(times, [0.0, 0.1, 0.25, 0.3]);
        let last = seen.last().expect("an instant");
        assert_eq!(last.time, 0.4);
        errors.push((last.outputs[1].position - exact).norm());
    }
    assert!(
        errors[0] < 1e-3 && errors[1] < 0.1 * errors[0],
        "{errors:?}"
    );
}

#[test]
fn the_observer_can_stop() {
    let model = reducer_with("four_bar_rigid.toml", &[]);
    let mut count = 0;
    let report = simulate(
        &model,
        &Free,
        &undeformed(&[0.3], &[0.0]),
        &FullSettings::new(1.0, 0.01),
        &mut |_| {
            count += 1;
            if count == 4 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        },
    )
    .expect("a run");
    assert_eq!((count, report.steps), (4, 3));
    assert!((report.reached - 0.03).abs() < 1e-12);
}

/// The crank cannot turn beyond 1.799: the last step before is kept, the next one is named.
#[test]
fn an_impossible_motion_tells_where_it_ends() {
    let model = reducer_with("four_bar_rigid.toml", &[]);
    let motion = Moved(|_, t| [1.0 + t, 1.0, 0.0], vec![]);
    let mut reached = 0.0;
    let error = simulate(
        &model,
        &motion,
        &undeformed(&[1.0], &[1.0]),
        &FullSettings::new(2.0, 0.05),
        &mut |instant| {
            reached = instant.theta[0];
            ControlFlow::Continue(())
        },
    )
    .expect_err("no such motion");
    assert!((1.7..1.8).contains(&reached), "{reached}");
    let FullError::NewtonFailed {
        step,
        time,
        size,
        equation,
        ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(*step, ((time / size).round() as usize) + 1);
    assert!(!matches!(equation, Equation::Coordinate(_)));
    assert!(error.help().is_some_and(|help| help.contains("step")));
}

#[test]
fn impossible_settings_and_starts_are_refused() {
    let model = reducer_with("four_bar_rigid.toml", &[]);
    let try_with = |theta: &[f64], settings: &FullSettings| {
        let motion = Moved(|_, _| [0.5, 0.0, 0.0], vec![]);
        simulate(
            &model,
            &motion,
            &undeformed(theta, &[0.0]),
            settings,
            &mut |_| ControlFlow::Continue(()),
        )
        .expect_err("refused")
    };
    let good = FullSettings::new(1.0, 0.01);
    let elsewhere = try_with(&[0.4], &good);
    assert!(
        matches!(&elsewhere, FullError::StartsElsewhere { coordinate, .. } if coordinate == "theta")
    );
    assert!(matches!(
        try_with(&[0.1, 0.2], &good),
        FullError::BadInitial { expected: 1, .. }
    ));
    assert!(matches!(try_with(&[1.9], &good), FullError::Reduction(_)));
    let settings = FullSettings {
        spectral_radius: 1.5,
        ..good.clone()
    };
    assert!(matches!(
        try_with(&[0.5], &settings),
        FullError::BadSetting { .. }
    ));
    let settings = FullSettings {
        step: StepControl::Fixed(f64::NAN),
        ..good
    };
    assert!(matches!(
        try_with(&[0.5], &settings),
        FullError::BadSetting { .. }
    ));
}
