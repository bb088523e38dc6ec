//! Energy of a reduced model along a free motion, by an integrator whose own error is rounding.

use reducer::reduced_model::{Evaluator, ReducedModel, Workspace};

/// One step of the modified midpoint rule extrapolated to order 12.
fn extrapolated_step(
    derivative: &mut dyn FnMut(&[f64]) -> Vec<f64>,
    x: &[f64],
    step: f64,
) -> Vec<f64> {
    let add = |a: &[f64], b: &[f64], h: f64| {
        a.iter()
            .zip(b)
            .map(|(x, y)| x + h * y)
            .collect::<Vec<f64>>()
    };
    let counts = [2, 4, 6, 8, 10, 12];
    let mut table: Vec<Vec<f64>> = Vec::new();
    for (j, &count) in counts.iter().enumerate() {
        let h = step / f64::from(count);
        let mut before = x.to_vec();
        let mut now = add(x, &derivative(x), h);
        for _ in 1..count {
            let next = add(&before, &derivative(&now), 2.0 * h);
            (before, now) = (now, next);
        }
        let mut row = now;
        let mut previous = std::mem::take(&mut table);
        let mut next = vec![row.clone()];
        for (k, old) in previous.drain(..).enumerate() {
            let ratio = f64::from(count) / f64::from(counts[j - 1 - k]);
            let factor = 1.0 / (ratio * ratio - 1.0);
            row = row
                .iter()
                .zip(&old)
                .map(|(new, old)| new + (new - old) * factor)
                .collect();
            next.push(row.clone());
        }
        table = next;
    }
    table.pop().unwrap_or_default()
}

/// Where the cubic through two states, each value and rate, turns between them.
fn turning_point(from: [f64; 2], to: [f64; 2], step: f64) -> Option<f64> {
    // θ(u) = a + b·u + c·u² + d·u³ on 0 ≤ u ≤ 1; θ' has opposite signs at the ends.
    let (a, b, e) = (from[0], from[1] * step, to[1] * step);
    if b * e >= 0.0 {
        return None;
    }
    let rise = to[0] - a;
    let (c, d) = (3.0 * rise - 2.0 * b - e, b + e - 2.0 * rise);
    // The root of the quadratic θ' that lies between: opposite signs make it the only one.
    let root = (c * c - 3.0 * b * d).sqrt();
    let u = -b / (c + if e > 0.0 { root } else { -root });
    Some(a + u * (b + u * (c + u * d)))
}

/// One step that, for one coordinate, is divided where θ passes from one box to the next: there
/// the model is continuous, but its derivatives are not.
fn step_to_faces(
    model: &ReducedModel,
    derivative: &mut dyn FnMut(&[f64]) -> Vec<f64>,
    mut x: Vec<f64>,
    step: f64,
) -> Vec<f64> {
    let boxes = &model.boxes;
    let box_of = |theta: f64| {
        boxes
            .iter()
            .position(|b| b.lower[0] <= theta && theta < b.upper[0])
    };
    let n = x.len() / 2;
    let mut rest = step;
    while rest > 0.0 {
        let start = box_of(x[0]);
        let mut part = rest;
        let mut end = extrapolated_step(derivative, &x, part);
        // A motion that leaves the box and returns within the step is cut before it returns.
        while boxes.len() > 1 && box_of(end[0]) == start && part > 1e-3 * step {
            let turn = turning_point([x[0], x[n]], [end[0], end[n]], part);
            if turn.is_none_or(|theta| box_of(theta) == start) {
                break;
            }
            part *= 0.5;
            end = extrapolated_step(derivative, &x, part);
        }
        if boxes.len() == 1 || box_of(end[0]) == start {
            x = end;
            rest -= part;
            continue;
        }
        let (mut inside, mut outside) = (0.0, part);
        for _ in 0..60 {
            let middle = 0.5 * (inside + outside);
            let there = box_of(extrapolated_step(derivative, &x, middle)[0]) == start;
            if there {
                inside = middle
            } else {
                outside = middle
            }
        }
        let leaving = &boxes[start.expect("inside the domain")];
        let upwards = end[0] > x[0];
        x = extrapolated_step(derivative, &x, inside);
        x[0] = if upwards {
            leaving.upper[0]
        } else {
            leaving.lower[0].next_down()
        };
        rest -= inside;
    }
    x
}

/// Largest relative change of energy in a free motion between springs on θ.
pub fn energy_drift(model: &ReducedModel, stiffness: f64, seconds: f64, step: f64) -> f64 {
    let evaluator = Evaluator::new(model).expect("valid");
    let (n, s) = (model.layout.n(), model.layout.n_rigid);
    let domain = &model.layout.domain;
    let center: Vec<f64> = (0..s)
        .map(|k| 0.5 * (domain.lower[k] + domain.upper[k]))
        .collect();
    let mut work = Workspace::default();
    let mut derivative = |x: &[f64]| {
        let mut force = vec![0.0; n];
        (0..s).for_each(|k| force[k] = -stiffness * (x[k] - center[k]));
        let mut accel = vec![0.0; n];
        evaluator
            .forward_dynamics(&x[..n], &x[n..], &force, &mut accel, &mut work)
            .expect("sizes");
        [&x[n..], &accel].concat()
    };
    let mut other = Workspace::default();
    let mut energy = |x: &[f64]| {
        let (kinetic, potential, _) = evaluator
            .energy(&x[..n], &x[n..], &mut other)
            .expect("sizes");
        let springs: f64 = (0..s)
            .map(|k| 0.5 * stiffness * (x[k] - center[k]).powi(2))
            .sum();
        (kinetic, potential + springs)
    };
    let mut x = vec![0.0; 2 * n];
    for k in 0..s {
        let width = domain.upper[k] - domain.lower[k];
        x[k] = center[k] + 0.15 * width;
        x[n + k] = width * (0.5 + 0.2 * k as f64);
    }
    let start = energy(&x);
    let (mut drift, mut size) = (0.0_f64, start.0);
    for _ in 0..(seconds / step) as usize {
        x = step_to_faces(model, &mut derivative, x, step);
        let now = energy(&x);
        size = size.max(now.0);
        drift = drift.max((now.0 + now.1 - start.0 - start.1).abs());
        assert!(
            (0..s).all(|k| (domain.lower[k]..=domain.upper[k]).contains(&x[k])),
            "left the domain"
        );
    }
    drift / size
}
