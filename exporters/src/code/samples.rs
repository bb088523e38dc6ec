//! Numbers that the self-test and the header take from the evaluator.

use super::stable::Fastest;
use crate::WriteError;
use reducer::reduced_model::{Evaluator, ReducedModel, Status, Workspace};

/// One point of the self-test.
#[derive(Debug, Clone)]
pub(super) struct SamplePoint {
    pub eta: Vec<f64>,
    pub force: Vec<f64>,
    /// Position and velocity of every output.
    pub motion: Vec<f64>,
    pub status: Status,
}

/// What sampling a model tells.
#[derive(Debug, Clone)]
pub(super) struct Samples {
    pub points: Vec<SamplePoint>,
    /// Rates and accelerations of all points.
    pub rate: Vec<f64>,
    pub accel: Vec<f64>,
    /// The fastest eigenvalue of the linearised model over the domain.
    pub fastest: Fastest,
}

/// Boxes with a point of the self-test, at most.
const SELF_TEST_BOXES: usize = 256;

/// Samples a valid model.
pub(super) fn sample(model: &ReducedModel) -> Result<Samples, WriteError> {
    let evaluator = Evaluator::new(model)?;
    let mut work = Workspace::default();
    let numbers = |first: usize| (0..model.layout.n()).map(|i| pattern(i + first)).collect();
    let mut samples = Samples {
        points: Vec::new(),
        rate: numbers(2),
        accel: numbers(4),
        fastest: Fastest::default(),
    };
    for eta in test_configurations(model) {
        samples.add_point(&evaluator, eta, &mut work);
    }
    samples.fastest = Fastest::of(&evaluator, &mut work);
    Ok(samples)
}

/// How many boxes have a point of the self-test: all, or one of so many.
pub(super) fn tested_boxes(n_boxes: usize) -> String {
    match n_boxes.div_ceil(SELF_TEST_BOXES) {
        0 | 1 => "every box".to_owned(),
        step => format!("one of {step} boxes"),
    }
}

/// Inside boxes, and beyond the upper corner of the domain.
fn test_configurations(model: &ReducedModel) -> Vec<Vec<f64>> {
    let (n, s) = (model.layout.n(), model.layout.n_rigid);
    let extend = |theta: Vec<f64>| {
        let mut eta = theta;
        eta.extend((s..n).map(|i| 1e-3 * pattern(i)));
        eta
    };
    let step = model.boxes.len().div_ceil(SELF_TEST_BOXES).max(1);
    let inside = model.boxes.iter().step_by(step).map(|b| {
        let part = |k: usize| 0.5 + 0.3 * pattern(k);
        extend(
            (0..s)
                .map(|k| b.lower[k] + part(k) * (b.upper[k] - b.lower[k]))
                .collect(),
        )
    });
    let domain = &model.layout.domain;
    let beyond = (0..s).map(|k| domain.upper[k] + 0.25 * (domain.upper[k] - domain.lower[k]));
    let beyond = extend(beyond.collect());
    inside.chain([beyond]).collect()
}

/// Fixed numbers between -1 and 1 without a pattern that hides an exchange of coordinates.
pub(super) fn pattern(i: usize) -> f64 {
    const VALUES: [f64; 7] = [0.62, -0.81, 0.37, 0.95, -0.44, -0.73, 0.18];
    VALUES[i % VALUES.len()] / (1.0 + (i / VALUES.len()) as f64)
}

impl Samples {
    fn add_point(&mut self, evaluator: &Evaluator, eta: Vec<f64>, work: &mut Workspace) {
        let n = evaluator.n();
        let (rate, accel) = (&self.rate, &self.accel);
        let mut force = vec![0.0; n];
        let status = evaluator.inverse_dynamics(&eta, rate, accel, &mut force, work);
        let outputs = evaluator.outputs(&eta, rate, work);
        let (Ok(status), Ok((outputs, _))) = (status, outputs) else {
            return;
        };
        let mut motion: Vec<f64> = outputs
            .iter()
            .flat_map(|o| o.position.iter().chain(&o.velocity).copied())
            .collect();
        motion.resize(6 * evaluator.model().layout.outputs.len(), 0.0);
        self.points.push(SamplePoint {
            eta,
            force,
            motion,
            status,
        });
    }
}

/// Lower factor of a definite matrix.
pub(super) fn cholesky(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let rest = a[i * n + j] - sum;
            if i == j {
                if !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                l[i * n + i] = rest.sqrt();
            } else {
                l[i * n + j] = rest / l[j * n + j];
            }
        }
    }
    Some(l)
}

/// x of L Lᵀ x = b.
pub(super) fn solve(l: &[f64], n: usize, mut x: Vec<f64>) -> Vec<f64> {
    for i in 0..n {
        let sum: f64 = (0..i).map(|k| l[i * n + k] * x[k]).sum();
        x[i] = (x[i] - sum) / l[i * n + i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| l[k * n + i] * x[k]).sum();
        x[i] = (x[i] - sum) / l[i * n + i];
    }
    x
}
