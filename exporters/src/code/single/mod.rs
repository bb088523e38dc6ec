//! What single precision costs, measured: the model evaluated with `f32` numbers and operations
//! against the evaluator, at fixed points inside boxes, on faces and at corners.
//!
//! Formulas are those of the generated code; sums over the terms of a polynomial run one by one
//! and not in runs, which changes the order of additions and nothing else. θ that rounding of a
//! cut puts into another box than the evaluator's is left out.

mod equations;
mod fields;
mod motion;

use super::samples::{Samples, pattern};
use crate::WriteError;
use fields::{Fields, Powers};
use reducer::reduced_model::{Evaluator, ReducedModel, Status, TreeNode, Workspace};

/// Boxes that are looked at.
const BOXES: usize = 24;

/// Points inside boxes, at least two in each.
const INSIDE: usize = 64;

/// Multiples of these, modulo one, fill an interval evenly and have no pattern in common.
const SPREAD: [f64; 6] = [
    0.618_034, 0.754_878, 0.819_173, 0.569_840, 0.671_044, 0.856_675,
];

/// Worst error of a function or block, relative to its largest norm among the points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SingleError {
    pub block: &'static str,
    pub error: f64,
}

/// Norm of the worst difference and largest norm.
#[derive(Debug, Clone, Copy, Default)]
struct Worst {
    difference: f64,
    size: f64,
}

const BLOCKS: [&str; 9] = [
    "mass",
    "gyroscopic",
    "stiffness",
    "damping",
    "force",
    "gravity",
    "inverse_dynamics",
    "forward_dynamics",
    "outputs",
];

/// Errors of a valid model, block by block; blocks that are zero everywhere are left out.
pub(super) fn single_errors(
    model: &ReducedModel,
    samples: &Samples,
) -> Result<Vec<SingleError>, WriteError> {
    let evaluator = Evaluator::new(model)?;
    let mut work = Workspace::default();
    let mut worst = [Worst::default(); BLOCKS.len()];
    let powers = Powers::new(model);
    let tested = samples.points.iter().map(|p| p.eta.clone());
    for eta in tested.chain(points(model)) {
        let eta: Vec<f32> = eta.iter().map(|v| *v as f32).collect();
        let s = model.layout.n_rigid;
        if let Some(index) = common_box(model, &eta[..s]) {
            let fields = Fields::new(model, &powers, index, &eta[..s]);
            compare(&evaluator, &fields, &eta, &mut work, &mut worst);
        }
    }
    let found = BLOCKS.into_iter().zip(worst);
    Ok(found
        .filter(|(_, w)| w.size > 0.0)
        .map(|(block, w)| SingleError {
            block,
            error: w.difference / w.size,
        })
        .collect())
}

/// Corners, centres, middles of faces and points inside some boxes.
fn points(model: &ReducedModel) -> Vec<Vec<f64>> {
    let (n, s) = (model.layout.n(), model.layout.n_rigid);
    let mut parts = vec![vec![0.0; s], vec![0.5; s], vec![1.0; s]];
    for k in 0..s {
        for end in [0.0, 1.0] {
            let mut part = vec![0.5; s];
            part[k] = end;
            parts.push(part);
        }
    }
    let inside = (INSIDE / model.boxes.len().max(1)).max(2);
    for i in 1..=inside {
        let spread = |k: usize| (i as f64 * SPREAD[k % SPREAD.len()]).fract();
        parts.push((0..s).map(spread).collect());
    }
    let step = model.boxes.len().div_ceil(BOXES).max(1);
    let mut out = Vec::new();
    for b in model.boxes.iter().step_by(step) {
        for part in &parts {
            let at = |k: usize| b.lower[k] + part[k] * (b.upper[k] - b.lower[k]);
            let mut eta: Vec<f64> = (0..s).map(at).collect();
            eta.extend((s..n).map(|i| 1e-3 * pattern(i + out.len())));
            out.push(eta);
        }
    }
    out
}

/// The box of θ where cuts and their rounded values agree on it.
fn common_box(model: &ReducedModel, theta: &[f32]) -> Option<usize> {
    let domain = &model.layout.domain;
    let inside = |k: usize| {
        let t = f64::from(theta[k]);
        // Beyond an end θ is put to it, or taken from the other end, which rounding must not decide.
        let slack = match domain.periodic[k] {
            true => 0.0,
            false => 1e-6 * (domain.upper[k] - domain.lower[k]),
        };
        (domain.lower[k] - slack..=domain.upper[k] + slack).contains(&t)
    };
    if !(0..theta.len()).all(inside) {
        return None;
    }
    let mut agrees = true;
    let node = model.node_by(|axis, at| {
        let below = f64::from(theta[axis]) < at;
        agrees &= below == (theta[axis] < at as f32);
        below
    });
    match node {
        TreeNode::Leaf { index } if agrees => Some(*index),
        _ => None,
    }
}

fn compare(
    evaluator: &Evaluator,
    fields: &Fields,
    eta: &[f32],
    work: &mut Workspace,
    worst: &mut [Worst],
) {
    let (n, s) = (evaluator.n(), evaluator.n_rigid());
    let double = |v: &[f32]| -> Vec<f64> { v.iter().map(|x| f64::from(*x)).collect() };
    let rate: Vec<f32> = (0..n).map(|i| pattern(i + 2) as f32).collect();
    let accel: Vec<f32> = (0..n).map(|i| pattern(i + 4) as f32).collect();
    let (eta_d, rate_d, accel_d) = (double(eta), double(&rate), double(&accel));
    let mut force = vec![0.0; n];
    let inverse = evaluator.inverse_dynamics(&eta_d, &rate_d, &accel_d, &mut force, work);
    let given: Vec<f32> = force.iter().map(|f| *f as f32).collect();
    let mut back = vec![0.0; n];
    let forward = evaluator.forward_dynamics(&eta_d, &rate_d, &double(&given), &mut back, work);
    let outputs = evaluator.outputs(&eta_d, &rate_d, work);
    let coefficients = evaluator.coefficients(&eta_d[..s], work);
    let (Ok(status), Ok(_), Ok((outputs, _)), Ok(c)) = (inverse, forward, outputs, coefficients)
    else {
        return;
    };
    if status >= Status::Undefined {
        return;
    }
    let blocks = fields.blocks();
    let exact = [
        &c.mass,
        &c.gyroscopic,
        &c.stiffness,
        &c.damping,
        &c.force,
        &c.gravity,
    ];
    for (block, (found, of)) in blocks.iter().zip(exact).enumerate() {
        worst[block].add(found, of);
    }
    worst[6].add(&fields.inverse_dynamics(eta, &rate, &accel), &force);
    if let Some(found) = fields.forward_dynamics(eta, &rate, &given) {
        worst[7].add(&found, &back);
    }
    for (o, of) in outputs.iter().enumerate() {
        let found = fields.output(o, eta, &rate);
        let mut flat = of.position.as_slice().to_vec();
        flat.extend(of.rotation.transpose().as_slice());
        flat.extend(of.velocity.as_slice());
        flat.extend(&of.jacobian);
        worst[8].add(&found, &flat);
    }
}

impl Worst {
    fn add(&mut self, found: &[f32], exact: &[f64]) {
        let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
        let pairs = found.iter().zip(exact);
        let difference = norm(&mut pairs.map(|(a, b)| f64::from(*a) - b));
        self.difference = self.difference.max(difference);
        self.size = self.size.max(norm(&mut exact.iter().copied()));
    }
}
