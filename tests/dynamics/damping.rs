//! Structural damping: its size, and that rigid motions feel none of it.

use crate::support::{Free, Moved, reducer_with, run, undeformed};
use reducer::dynamics::full::FullSettings;

/// Damping ratio from successive extremes of the tip of the clamped beam after gravity sets in.
fn measured_ratio(damping: &str) -> f64 {
    let model = reducer_with(
        "one_link.toml",
        &[
            ("gravity = [0, 0, 0]", "gravity = [0, -0.01, 0]"),
            ("elements = 16", "elements = 6"),
            ("[reduction]", &format!("[damping]\n{damping}\n[reduction]")),
        ],
    );
    let held = Moved(|_, _| [0.0; 3], vec![]);
    let settings = FullSettings::new(10.0, 0.01);
    let seen = run(&model, &held, &undeformed(&[0.0], &[0.0]), &settings);
    let tip: Vec<f64> = seen.iter().map(|i| i.outputs[0].position.y).collect();
    let extremes: Vec<f64> = tip
        .windows(3)
        .filter(|w| (w[1] - w[0]) * (w[2] - w[1]) < 0.0)
        .map(|w| w[1])
        .collect();
    let last = &extremes[extremes.len() - 3..];
    let decrement = ((last[1] - last[0]) / (last[1] - last[2])).abs().ln();
    let ratio = decrement / std::f64::consts::PI;
    ratio / (1.0 + ratio * ratio).sqrt()
}

#[test]
fn modal_ratio_is_what_the_file_says() {
    let found = measured_ratio("ratio = 0.05");
    assert!((found - 0.05).abs() < 5e-4, "{found}");
}

/// ζ = ½(α/ω + βω) at the first frequency, 3.516·√(EI/ρA)/L² = 2.911 rad/s.
#[test]
fn rayleigh_damping_is_what_the_file_says() {
    let found = measured_ratio("alpha = 0.14555\nbeta = 0.017176");
    assert!((found - 0.05).abs() < 5e-4, "{found}");
}

#[test]
fn rigid_motions_are_not_damped() {
    for damping in ["ratio = 0.1", "alpha = 2\nbeta = 1e-3"] {
        let model = reducer_with(
            "one_link.toml",
            &[
                ("elements = 16", "elements = 4"),
                ("[reduction]", &format!("[damping]\n{damping}\n[reduction]")),
            ],
        );
        let settings = FullSettings::new(3.0, 0.02);
        let seen = run(&model, &Free, &undeformed(&[0.0], &[0.5]), &settings);
        let last = seen.last().expect("an instant");
        assert!((last.rate[0] - 0.5).abs() < 1e-6, "{:?}", last.rate);
    }
}
