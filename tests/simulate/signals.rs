//! Inputs over time by hand: derivatives, integrals, breaks, and which motions are possible.

use reducer::dynamics::drives::{Actuator, Drives, MotionFault};
use reducer::dynamics::excitation::{Drive, Excitation};
use reducer::dynamics::signal::{Jet, Signal};
use reducer::dynamics::spline::{Ends, Spline};

fn examples() -> Vec<Signal> {
    let times: Vec<f64> = (0..=20).map(|i| 0.1 * f64::from(i)).collect();
    let values = times.iter().map(|t| (3.0 * t).sin()).collect();
    let table = Signal::Table(Spline::new(times, values, Ends::Free).unwrap());
    vec![
        Signal::Constant(1.5),
        Signal::Step {
            at: 0.7,
            before: -1.0,
            after: 2.0,
        },
        Signal::Ramp {
            start: 0.3,
            duration: 0.9,
            from: 1.0,
            to: -2.0,
        },
        Signal::Sine {
            amplitude: 2.0,
            frequency_hz: 1.3,
            phase: 0.4,
            offset: 0.5,
            start: 0.2,
        },
        Signal::Chirp {
            amplitude: 0.7,
            from_hz: 0.5,
            to_hz: 3.0,
            start: 0.1,
            duration: 1.2,
        },
        Signal::PointToPoint {
            start: 0.2,
            duration: 1.1,
            from: -1.0,
            to: 0.5,
        },
        Signal::BangBang {
            amplitude: 3.0,
            start: 0.2,
            duration: 1.0,
        },
        Signal::SpinUp {
            rate: 4.0,
            start: 0.1,
            duration: 1.3,
            from: 0.2,
        },
        table.clone(),
        Signal::Sum(vec![table, Signal::Constant(1.0)]),
    ]
}

fn is_near_break(signal: &Signal, t: f64) -> bool {
    let mut breaks = Vec::new();
    signal.add_breaks(&mut breaks);
    breaks.iter().any(|b| (b - t).abs() < 2e-3)
}

#[test]
fn derivatives_and_integrals_are_exact() {
    let step = 1e-5;
    for signal in examples() {
        for i in 1..200 {
            let t = 0.01 * f64::from(i) + 1e-3;
            if is_near_break(&signal, t) {
                continue;
            }
            let (low, jet, high) = (signal.at(t - step), signal.at(t), signal.at(t + step));
            let rate = (high.value - low.value) / (2.0 * step);
            let acceleration = (high.rate - low.rate) / (2.0 * step);
            assert!((rate - jet.rate).abs() < 1e-6, "{signal:?} at {t}");
            assert!(
                (acceleration - jet.acceleration).abs() < 3e-5,
                "{signal:?} at {t}: {acceleration} {jet:?}"
            );
            let slope = |t| signal.integral(t);
            if let (Some(low), Some(high)) = (slope(t - step), slope(t + step)) {
                let value = (high - low) / (2.0 * step);
                assert!((value - jet.value).abs() < 1e-8, "{signal:?} at {t}");
            }
        }
        assert_eq!(signal.integral(0.0).unwrap_or(0.0), 0.0, "{signal:?}");
    }
}

#[test]
fn the_integral_is_continuous_at_breaks() {
    for signal in examples() {
        let mut breaks = Vec::new();
        signal.add_breaks(&mut breaks);
        for b in breaks {
            if let (Some(low), Some(high)) = (signal.integral(b - 1e-12), signal.integral(b)) {
                assert!((low - high).abs() < 1e-10, "{signal:?} at {b}");
            }
        }
    }
}

#[test]
fn point_to_point_begins_and_ends_at_rest() {
    let motion = Signal::PointToPoint {
        start: 0.0,
        duration: 0.5,
        from: -1.0,
        to: 0.5,
    };
    assert_eq!(motion.at(0.0), Jet::still(-1.0));
    assert_eq!(motion.at(0.5), Jet::still(0.5));
    let middle = motion.at(0.25);
    assert!((middle.value + 0.25).abs() < 1e-15);
    assert!((middle.rate - 2.0 * 1.5 / 0.5).abs() < 1e-14);
}

fn of(function: impl Fn(f64) -> f64, n: u32, ends: Ends) -> Spline {
    let times: Vec<f64> = (0..=n).map(|i| f64::from(i) / f64::from(n)).collect();
    let values = times.iter().map(|&t| function(t)).collect();
    Spline::new(times, values, ends).unwrap()
}

#[test]
fn converges_with_the_fourth_order_when_the_ends_fit() {
    let motion = |t: f64| t - (std::f64::consts::TAU * t).sin() / std::f64::consts::TAU;
    let error = |n: u32| {
        let spline = of(motion, n, Ends::Rest);
        (0..=1000)
            .map(|i| f64::from(i) / 1000.0)
            .map(|t| (spline.at(t).value - motion(t)).abs())
            .fold(0.0, f64::max)
    };
    let (coarse, fine) = (error(20), error(40));
    assert!((coarse / fine).log2() > 3.8, "{coarse} {fine}");
}

#[test]
fn the_second_derivative_is_continuous() {
    let spline = of(|t| (7.0 * t).cos(), 13, Ends::Free);
    for i in 1..13 {
        let t = f64::from(i) / 13.0;
        let (low, high) = (spline.at(t - 1e-9), spline.at(t + 1e-9));
        assert!((low.acceleration - high.acceleration).abs() < 1e-5);
        assert!((low.rate - high.rate).abs() < 1e-6);
    }
    assert!(spline.at(0.0).acceleration.abs() < 1e-12);
}

#[test]
fn points_out_of_order_make_no_spline() {
    assert!(Spline::new(vec![0.0, 0.0], vec![1.0, 2.0], Ends::Free).is_none());
    assert!(Spline::new(vec![0.0], vec![1.0], Ends::Free).is_none());
    assert!(Spline::new(vec![0.0, f64::NAN], vec![1.0, 2.0], Ends::Free).is_none());
}

#[test]
fn a_motion_with_a_kink_is_refused() {
    let ramp = Signal::Ramp {
        start: 0.2,
        duration: 0.5,
        from: 0.0,
        to: 1.0,
    };
    let fault = Actuator::Motion(ramp.clone()).check(1.0);
    assert_eq!(fault, Err(MotionFault::Kink { time: 0.2, by: 2.0 }));
    assert_eq!(
        Actuator::Velocity {
            start: 0.0,
            rate: ramp.clone()
        }
        .check(1.0),
        Ok(())
    );
    assert_eq!(Actuator::Force(ramp).check(1.0), Ok(()));
}

#[test]
fn a_velocity_source_moves_by_the_integral() {
    let rate = Signal::PointToPoint {
        start: 0.0,
        duration: 1.0,
        from: 0.0,
        to: 2.0,
    };
    let drives = Drives::new(vec![Actuator::Velocity { start: 0.5, rate }], vec![], 2.0);
    let Drive::Motion {
        position,
        rate,
        acceleration,
    } = drives.unwrap().drive(0, 2.0, 0.0, 0.0)
    else {
        panic!("a velocity source moves");
    };
    assert!((position - (0.5 + 1.0 + 2.0)).abs() < 1e-14);
    assert_eq!((rate, acceleration), (2.0, 0.0));
}
