//! Spin-up of a flexible beam: `data/one_link.toml` against independent nonlinear results.

use crate::support::{Moved, reducer_with, run, undeformed};
use reducer::dynamics::full::{FullInstant, FullSettings, StepControl};
use std::f64::consts::TAU;

const SPEED: f64 = 4.0;
const SPIN_UP: f64 = 15.0;

fn angle(time: f64) -> [f64; 3] {
    let w = TAU / SPIN_UP;
    [
        SPEED / SPIN_UP * (0.5 * time * time + ((w * time).cos() - 1.0) / (w * w)),
        SPEED / SPIN_UP * (time - (w * time).sin() / w),
        SPEED / SPIN_UP * (1.0 - (w * time).cos()),
    ]
}

/// Deflection of the tip across the hub's direction.
fn deflection(instant: &FullInstant) -> f64 {
    let (s, c) = instant.theta[0].sin_cos();
    let p = instant.outputs[0].position;
    c * p.y - s * p.x
}

fn largest_deflection(elements: usize, step: f64) -> (f64, f64) {
    let count = format!("elements = {elements}");
    let model = reducer_with("one_link.toml", &[("elements = 16", &count)]);
    let motion = Moved(|_, t| angle(t), vec![]);
    let mut settings = FullSettings::new(8.0, step);
    settings.step = StepControl::Fixed(step);
    let seen = run(&model, &motion, &undeformed(&[0.0], &[0.0]), &settings);
    seen.iter()
        .map(|i| (deflection(i).abs(), i.time))
        .fold((0.0, 0.0), |m, v| if v.0 > m.0 { v } else { m })
}

#[test]
fn tip_lags_by_the_known_distance() {
    let (size, time) = largest_deflection(16, 0.02);
    assert!((size - 0.5336).abs() < 0.0005, "{size}");
    assert!((time - 6.76).abs() < 0.05, "{time}");
}

#[test]
fn four_elements_are_within_a_percent() {
    let (size, _) = largest_deflection(4, 0.02);
    assert!((size - 0.5336).abs() < 0.01 * 0.5336, "{size}");
}

/// A beam that turns at constant speed is pushed gently and then vibrates freely.
#[test]
fn rotation_stiffens_the_beam() {
    const PUSH: f64 = 1.5;
    let model = reducer_with("one_link.toml", &[]);
    let motion = |_: usize, t: f64| {
        if t >= PUSH {
            return [SPEED * t, SPEED, 0.0];
        }
        let (w, size) = (TAU / PUSH, 1e-3);
        [
            SPEED * t + size * (1.0 - (w * t).cos()).powi(2),
            SPEED + 2.0 * size * w * (1.0 - (w * t).cos()) * (w * t).sin(),
            2.0 * size * w * w * ((w * t).sin().powi(2) + (1.0 - (w * t).cos()) * (w * t).cos()),
        ]
    };
    let settings = FullSettings::new(16.5, 0.015);
    let seen = run(
        &model,
        &Moved(motion, vec![PUSH]),
        &undeformed(&[0.0], &[SPEED]),
        &settings,
    );
    let free: Vec<(f64, f64)> = seen
        .iter()
        .filter(|i| i.time > PUSH)
        .map(|i| (i.time, deflection(i)))
        .collect();
    let found = fitted_frequency(&free, 3.0, 3.7);
    assert!((found - 3.347).abs() < 1e-3 * 3.347, "{found}");
}

/// The frequency whose sine and cosine, with a constant, leave the least of a signal.
fn fitted_frequency(signal: &[(f64, f64)], mut low: f64, mut high: f64) -> f64 {
    let left = |w: f64| {
        let rows = nalgebra::DMatrix::from_fn(signal.len(), 3, |i, j| match j {
            0 => (w * signal[i].0).cos(),
            1 => (w * signal[i].0).sin(),
            _ => 1.0,
        });
        let values = nalgebra::DVector::from_fn(signal.len(), |i, _| signal[i].1);
        let normal = rows.transpose() * &rows;
        let x = normal
            .lu()
            .solve(&(rows.transpose() * &values))
            .expect("regular");
        (values - rows * x).norm_squared()
    };
    for _ in 0..60 {
        let (a, b) = (low + 0.382 * (high - low), low + 0.618 * (high - low));
        if left(a) < left(b) {
            high = b;
        } else {
            low = a;
        }
    }
    0.5 * (low + high)
}
