//! How far two records of one scenario are apart.

use super::record::{Measure, Record};
use serde::Serialize;

/// Difference of one output or force.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Name of the output or force.
    pub name: String,
    /// Unit of `peak`.
    pub unit: &'static str,
    /// Largest size of the full model's value, or of its change for positions.
    pub peak: f64,
    /// Largest difference, in parts of the peak.
    pub max: f64,
    /// Root of the mean square of the difference over time, in parts of the peak.
    pub rms: f64,
}

/// What stays below this (SI) does not move: its values are rounding.
const ROUNDING: f64 = 1e-12;

/// Differences of all outputs, forces and coordinates, at the instants that both records have.
pub fn compare(full: &Record, reduced: &Record) -> Vec<Difference> {
    let common = full.rows.len().min(reduced.rows.len());
    let (full_rows, reduced_rows) = (&full.rows[..common], &reduced.rows[..common]);
    full.groups
        .iter()
        .map(|group| {
            let columns = group.columns.clone();
            let origin = match (group.measure, full_rows.first()) {
                (Measure::Change, Some(first)) => first[columns.clone()].to_vec(),
                _ => vec![0.0; columns.len()],
            };
            let peak = full_rows
                .iter()
                .map(|row| distance(&row[columns.clone()], &origin))
                .fold(0.0, f64::max);
            let differences: Vec<f64> = full_rows
                .iter()
                .zip(reduced_rows)
                .map(|(a, b)| distance(&a[columns.clone()], &b[columns.clone()]))
                .collect();
            let max = differences.iter().copied().fold(0.0, f64::max);
            let square: f64 = differences.iter().map(|d| d * d).sum();
            let rms = (square / common.max(1) as f64).sqrt();
            let still = peak.max(max) < ROUNDING;
            let part = |x: f64| if still { 0.0 } else { x / peak };
            Difference {
                name: group.name.clone(),
                unit: group.unit,
                peak,
                max: part(max),
                rms: part(rms),
            }
        })
        .collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    square.sqrt()
}
