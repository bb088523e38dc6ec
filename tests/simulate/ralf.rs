//! The Ralf-like manipulator, driven through valves: the reduced model against the full one.

use crate::support::{reduce_in, shown};
use std::path::Path;

/// Largest distance between two deflections, and the largest change of the full model's one since the
/// equilibrium at the start.
fn difference_and_change(folder: &Path) -> (f64, f64) {
    let table = |name: &str| -> Vec<Vec<f64>> {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let header = text.lines().next().unwrap();
        assert!(header.starts_with("time,deflection_tip.x,deflection_tip.y,deflection_tip.z"));
        text.lines()
            .skip(1)
            .map(|line| {
                line.split(',')
                    .take(4)
                    .map(|c| c.parse().unwrap())
                    .collect()
            })
            .collect()
    };
    let (full, reduced) = (table("full.csv"), table("reduced.csv"));
    assert_eq!(full.len(), reduced.len());
    let distance = |a: &[f64], b: &[f64]| -> f64 {
        let square = a[1..].iter().zip(&b[1..]).map(|(a, b)| (a - b) * (a - b));
        square.sum::<f64>().sqrt()
    };
    let pairs = full.iter().zip(&reduced);
    let largest = pairs.map(|(a, b)| distance(a, b)).fold(0.0, f64::max);
    let changes = full.iter().map(|row| distance(row, &full[0]));
    (largest, changes.fold(0.0, f64::max))
}

#[test]
fn two_internal_modes_follow_the_tip_of_the_manipulator() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = std::fs::canonicalize("data/scenarios/ralf_point_to_point.toml").unwrap();
    let arguments = [
        "simulate",
        scenario.to_str().unwrap(),
        "-o",
        "out",
        "--json",
    ];
    let output = reduce_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output.stderr));
    let (difference, change) = difference_and_change(&folder.path().join("out"));
    println!(
        "tip differs by {difference:.2e} m, its deflection changes by {change:.2e} m; {}",
        shown(&output.stdout)
    );
    assert!(difference < 0.02 * change, "{difference} {change}");
}
