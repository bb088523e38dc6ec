//! What single precision costs, measured: the kernel with `f32` numbers against `f64`, at fixed points inside
//! boxes, on faces and at corners. θ that rounding of a cut puts into another box is left out.

use super::samples::{Samples, pattern};
use kernel::{Coefficients, Combining, Load, Number, Output, Scratch, Status};
use reducer::reduced_model::ReducedModel;
use reducer::reduced_model::plan::Plan;

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
    plan: &Plan,
    samples: &Samples,
) -> Vec<SingleError> {
    let view = plan.model();
    let mut worst = [Worst::default(); BLOCKS.len()];
    let tested = samples.points.iter().map(|p| p.eta.clone());
    for eta in tested.chain(points(model)) {
        compare(&view, plan.memory(), &eta, &mut worst);
    }
    let found = BLOCKS.into_iter().zip(worst);
    found
        .filter(|(_, w)| w.size > 0.0)
        .map(|(block, w)| SingleError {
            block,
            error: w.difference / w.size,
        })
        .collect()
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

/// What one kind of number gives at a state: the box, and every block.
struct Results<R> {
    index: usize,
    blocks: [Vec<R>; BLOCKS.len()],
}

/// Functions at a state; forces for `forward_dynamics` are given. Nothing where a status is bad.
fn evaluate<R: Load<f64>>(
    m: &Combining<'_, f64>,
    memory: usize,
    [eta, rate, accel]: [&[R]; 3],
    given: Option<&[R]>,
) -> Option<Results<R>> {
    let (n, s) = (m.n, m.n_rigid);
    let mut memory = vec![R::ZERO; memory];
    let zeros = |len: usize| vec![R::ZERO; len];
    let (_, index) = kernel::locate(m, &eta[..s], &mut memory);
    let mut blocks = [n * n, n * n * n, n * n, n * n, n, n, n, n, 0].map(zeros);
    let [
        mass,
        gyroscopic,
        stiffness,
        damping,
        force,
        gravity,
        inverse,
        forward,
        _,
    ] = &mut blocks;
    let mut into = Coefficients {
        mass,
        gyroscopic,
        stiffness,
        damping,
        force,
        gravity,
        load_map: &mut [],
    };
    let good = |status: Status| (status < Status::Undefined).then_some(());
    let theta = &eta[..s];
    good(kernel::coefficients(
        m,
        None,
        theta,
        &mut into,
        Scratch::new(&mut memory),
    ))?;
    let motion = [eta, rate, accel];
    good(kernel::inverse_dynamics(
        m,
        None,
        motion,
        inverse,
        Scratch::new(&mut memory),
    ))?;
    let given = given.unwrap_or(inverse).to_vec();
    let state = [eta, rate, &given];
    good(kernel::forward_dynamics(
        m,
        None,
        state,
        forward,
        Scratch::new(&mut memory),
    ))?;
    let one = (zeros(18), zeros(6 * n));
    let mut outputs = vec![one; m.n_outputs];
    let state = [eta, rate];
    good(kernel::outputs(
        m,
        None,
        state,
        &mut outputs,
        view,
        Scratch::new(&mut memory),
    ))?;
    blocks[8] = outputs
        .into_iter()
        .flat_map(|(a, b)| [a, b].concat())
        .collect();
    Some(Results { index, blocks })
}

/// Position, rotation, velocities and Jacobian in two lists.
fn view<R: Number>((first, jacobian): &mut (Vec<R>, Vec<R>)) -> Output<'_, R> {
    let (position, rest) = first.split_first_chunk_mut().expect("18 numbers");
    let (rotation, rest) = rest.split_first_chunk_mut().expect("15 numbers");
    let (velocity, rest) = rest.split_first_chunk_mut().expect("6 numbers");
    Output {
        position,
        rotation,
        velocity,
        angular_velocity: rest.first_chunk_mut().expect("3 numbers"),
        jacobian,
    }
}

fn compare(m: &Combining<'_, f64>, memory: usize, eta: &[f64], worst: &mut [Worst]) {
    let n = m.n;
    let single = |v: &[f64]| -> Vec<f32> { v.iter().map(|x| *x as f32).collect() };
    let double = |v: &[f32]| -> Vec<f64> { v.iter().map(|x| f64::from(*x)).collect() };
    let numbers = |first: usize| single(&(0..n).map(|i| pattern(i + first)).collect::<Vec<_>>());
    let (eta, rate, accel) = (single(eta), numbers(2), numbers(4));
    let (eta_d, rate_d, accel_d) = (double(&eta), double(&rate), double(&accel));
    let motion = [&eta_d[..], &rate_d, &accel_d];
    // A force that both precisions hold exactly. It acts on the actuated coordinates alone, so that the
    // modes spring back: a force that balances their stiffness would leave a small difference of large
    // numbers, and its digits would say nothing of what an integrator makes of them.
    let Some(first) = evaluate(m, memory, motion, None) else {
        return;
    };
    let mut given = single(&first.blocks[6]);
    given[m.n_rigid..].fill(0.0);
    let exact = evaluate(m, memory, motion, Some(&double(&given)));
    let found = evaluate(m, memory, [&eta[..], &rate, &accel], Some(&given));
    let (Some(exact), Some(found)) = (exact, found) else {
        return;
    };
    if exact.index == found.index {
        for (worst, (found, exact)) in worst.iter_mut().zip(found.blocks.iter().zip(&exact.blocks))
        {
            worst.add(found, exact);
        }
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
