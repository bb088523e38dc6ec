//! Internal modes that mean the same everywhere: crossings and veerings of the four-bar.

use crate::support::{Random, fixture, four_bar_with, reducer};
use reducer::reduction::{Coefficients, LocalReducer, ModesError, ReductionError};

/// Blocks of coefficients, coordinates in units of unit mass at θ = 0.
fn blocks(c: &Coefficients, unit: &[f64]) -> Vec<Vec<f64>> {
    let n = c.n();
    let matrix = |m: &[f64]| -> Vec<f64> {
        (0..n * n)
            .map(|ij| m[ij] * unit[ij / n] * unit[ij % n])
            .collect()
    };
    let mut out = vec![matrix(&c.mass), matrix(&c.stiffness)];
    out.extend(c.mass_gradient.iter().map(|m| matrix(m)));
    out.push(c.force.iter().zip(unit).map(|(f, u)| f * u).collect());
    out
}

/// Largest difference of the given order over the largest value of its block.
fn differences(samples: &[Vec<Vec<f64>>], stride: usize, order: usize) -> f64 {
    let weights: &[f64] = if order == 2 {
        &[1.0, -2.0, 1.0]
    } else {
        &[1.0, -4.0, 6.0, -4.0, 1.0]
    };
    let mut worst = 0.0_f64;
    for block in 0..samples[0].len() {
        let values = || samples.iter().flat_map(|s| &s[block]);
        let size = values().fold(0.0_f64, |m, v| m.max(v.abs()));
        for c in 0..samples[0][block].len() {
            for i in 0..samples.len() - order * stride {
                let d: f64 = weights
                    .iter()
                    .enumerate()
                    .map(|(k, w)| w * samples[i + k * stride][block][c])
                    .sum();
                worst = worst.max(d.abs() / size);
            }
        }
    }
    worst
}

#[test]
fn filtered_modes_are_smooth_through_crossings_and_veerings() {
    let reducer = reducer("four_bar.toml");
    let unit = {
        let c = reducer.evaluate(&[0.0]).expect("home");
        let n = c.n();
        (0..n)
            .map(|i| 1.0 / c.mass[i * n + i].sqrt())
            .collect::<Vec<_>>()
    };
    // Everywhere at 2 mrad, and finely where the constraint mode changes fastest.
    for (from, to, steps) in [(-1.75, 1.75, 1750), (0.72, 0.9, 240)] {
        let samples: Vec<Vec<Vec<f64>>> = (0..=steps)
            .map(|i| from + (to - from) * i as f64 / steps as f64)
            .map(|t| blocks(&reducer.evaluate(&[t]).expect("regular"), &unit))
            .collect();
        // An analytic function's differences shrink by 2² and 2⁴ when the grid is halved; a kink
        // or a swap of modes keeps them as they are.
        let second = differences(&samples, 2, 2) / differences(&samples, 1, 2);
        let fourth = differences(&samples, 2, 4) / differences(&samples, 1, 4);
        assert!(second > 3.5 && second < 4.5, "second differences: {second}");
        assert!(
            fourth > 10.0 && fourth < 20.0,
            "fourth differences: {fourth}"
        );
    }
}

#[test]
fn filtered_modes_keep_the_low_frequencies() {
    let reducer = reducer("four_bar.toml");
    let (mut overlap, mut lowest, mut all) = (1.0_f64, 0.0_f64, 0.0_f64);
    for i in 0..=350 {
        let inspection = reducer
            .inspect(&[-1.75 + 0.01 * i as f64])
            .expect("regular");
        overlap = overlap.min(inspection.overlap);
        lowest = lowest.max(inspection.worst_error(3));
        all = all.max(inspection.worst_error(5));
        assert!(inspection.missing_hz().is_empty());
    }
    assert!(overlap >= 0.5, "overlap {overlap}");
    assert!(lowest <= 3e-3, "lowest three {lowest:.2e}");
    assert!(all <= 0.02, "all five {all:.2e}");
}

/// The rocker's softest mode falls from 75 to 19 Hz where the others stay above 1200 Hz: subspace iteration makes their
/// shapes parallel to 1e-8 in two steps.
#[test]
fn filtered_modes_keep_their_digits_where_one_is_far_softer() {
    let reducer = fixture("rssr.toml");
    let at = |theta: f64| reducer.evaluate(&[theta]).expect("regular");
    for theta in [-1.0, 0.0, 0.5, 0.9, 0.98, 1.04] {
        let c = at(theta);
        let n = c.n();
        for (i, j) in (1..n).flat_map(|i| (1..n).map(move |j| (i, j))) {
            let unit = if i == j { 1.0 } else { 0.0 };
            let off = (c.mass[i * n + j] - unit).abs();
            assert!(off < 1e-10, "{theta}: {i} {j} {off:.1e}");
        }
        let inspection = reducer.inspect(&[theta]).expect("regular");
        assert!((0.3..1.0 + 1e-9).contains(&inspection.overlap));
        assert!(inspection.worst_error(4) < 0.02, "{theta}");
        // The derivatives of the shapes are those of the shapes.
        let (h, stiffness) = (1e-4, |t: f64| at(t).stiffness);
        let [a, b, e, f] = [-2.0, -1.0, 1.0, 2.0].map(|k| stiffness(theta + k * h));
        let size = c.stiffness.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (k, slope) in c.stiffness_gradient[0].iter().enumerate() {
            let difference = (a[k] - 8.0 * b[k] + 8.0 * e[k] - f[k]) / (12.0 * h);
            let off = (slope - difference).abs() / size;
            assert!(off < 1e-6, "{theta}: {k} {off:.1e}");
        }
    }
}

#[test]
fn results_do_not_depend_on_the_order_of_evaluation() {
    let reducer = reducer("four_bar.toml");
    let mut random = Random(3);
    let points: Vec<f64> = (0..20).map(|_| 1.75 * random.next()).collect();
    let forward: Vec<Coefficients> = points
        .iter()
        .map(|t| reducer.evaluate(&[*t]).expect("regular"))
        .collect();
    let again = self::reducer("four_bar.toml");
    for (t, expected) in points.iter().zip(&forward).rev() {
        assert_eq!(&again.evaluate(&[*t]).expect("regular"), expected);
    }
}

#[test]
fn a_mode_that_dips_below_is_reported_as_missing() {
    let reducer = four_bar_with(&[("internal_modes = 5", "internal_modes = 3")]);
    let missing = |t: f64| reducer.inspect(&[t]).expect("regular").missing_hz();
    for t in [-1.5, 0.0, 0.6, 0.7, 0.9, 1.2] {
        assert!(missing(t).is_empty(), "{t}: {:?}", missing(t));
    }
    for t in [0.78, 0.80, 0.8047, 0.82, 0.83] {
        assert_eq!(missing(t).len(), 1, "{t}");
    }
}

fn fault(reducer: &LocalReducer, theta: f64) -> Option<ModesError> {
    match reducer.evaluate(&[theta]) {
        Ok(_) => None,
        Err(ReductionError::Modes { fault, .. }) => Some(fault),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn subspace_works_while_its_gap_holds() {
    let two = four_bar_with(&[(
        "internal_modes = 5\ngauge = \"filtered\"",
        "internal_modes = { in_plane = \"xz\", count = 2 }\ngauge = \"subspace\"",
    )]);
    for i in 0..=70 {
        let t = -1.75 + 0.05 * i as f64;
        assert!(fault(&two, t).is_none(), "{t}: {:?}", fault(&two, t));
    }
    // The second of them dips below the first near the alignment: alone, the first has no gap.
    let one = four_bar_with(&[(
        "internal_modes = 5\ngauge = \"filtered\"",
        "internal_modes = { in_plane = \"xz\", count = 1 }\ngauge = \"subspace\"",
    )]);
    assert!(fault(&one, 0.5).is_none());
    for veering in [0.772, 0.841] {
        assert!(
            matches!(fault(&one, veering), Some(ModesError::GapTooSmall { .. })),
            "{:?}",
            fault(&one, veering)
        );
    }
}

#[test]
fn track_follows_crossings_and_refuses_veerings() {
    let reducer = four_bar_with(&[(
        "internal_modes = 5\ngauge = \"filtered\"",
        "internal_modes = 3\ngauge = \"track\"",
    )]);
    for t in [-1.7, -0.5, 0.7, 0.81, 0.9] {
        assert!(
            fault(&reducer, t).is_none(),
            "{t}: {:?}",
            fault(&reducer, t)
        );
    }
    for veering in [0.772, 0.841] {
        let refused = fault(&reducer, veering);
        assert!(
            matches!(refused, Some(ModesError::TrackLost { .. })),
            "{veering}: {refused:?}"
        );
    }
}
