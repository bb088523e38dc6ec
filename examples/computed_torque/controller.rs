// SPDX-License-Identifier: 0BSD
//! Computed torque on the generated model of the Orthoglide: the same controller as `controller.c`.
//!
//! `control` is what a real-time loop would call every millisecond. `main` lets the full model
//! stand in for the machine: each line of standard input is one sample (time, positions, rates),
//! each line of standard output the three forces and the position asked for.

use orthoglide::{N, Status, inverse_dynamics};
use std::io::{BufRead, Write};

/// One pair of gains for all axes, chosen for 30 rad/s on about 2 kg.
const STIFFNESS: f64 = 1800.0;
const DAMPING: f64 = 120.0;

struct Reference {
    position: [f64; N],
    rate: [f64; N],
    accel: [f64; N],
}

/// The path: each axis swings about the middle of its range, the axes out of step. It fades in over
/// half a second so that the machine can start at rest.
fn reference(time: f64) -> Reference {
    let (frequency, fade) = (9.0, 0.5);
    let u = (time / fade).min(1.0);
    let moving = if time < fade { 1.0 } else { 0.0 };
    let a = u * u * u * (10.0 - 15.0 * u + 6.0 * u * u);
    let a1 = moving * 30.0 * u * u * (1.0 - u) * (1.0 - u) / fade;
    let a2 = moving * 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / (fade * fade);
    let mut out = Reference { position: [0.0; N], rate: [0.0; N], accel: [0.0; N] };
    for k in 0..N {
        let phase = frequency * time + 2.1 * k as f64;
        let s = 0.12 * phase.sin();
        let s1 = 0.12 * frequency * phase.cos();
        let s2 = -frequency * frequency * s;
        out.position[k] = 0.09 + a * s;
        out.rate[k] = a1 * s + a * s1;
        out.accel[k] = a2 * s + 2.0 * a1 * s1 + a * s2;
    }
    out
}

fn control(use_model: bool, wanted: &Reference, theta: &[f64; N], rate: &[f64; N]) -> (Status, [f64; N]) {
    let mut force = [0.0; N];
    let mut status = Status::Ok;
    if use_model {
        status = inverse_dynamics(theta, rate, &wanted.accel, &mut force);
    }
    for k in 0..N {
        force[k] += STIFFNESS * (wanted.position[k] - theta[k]) + DAMPING * (wanted.rate[k] - rate[k]);
    }
    (status, force)
}

fn main() {
    let use_model = std::env::args().nth(1).as_deref() == Some("model");
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let x: Vec<f64> = line.split_whitespace().map(|v| v.parse().expect("a number")).collect();
        let wanted = reference(x[0]);
        let theta = [x[1], x[2], x[3]];
        let rate = [x[4], x[5], x[6]];
        let (status, force) = control(use_model, &wanted, &theta, &rate);
        if status != Status::Ok {
            std::process::exit(1);
        }
        let all = force.iter().chain(&wanted.position);
        let text: Vec<String> = all.map(|v| format!("{v:e}")).collect();
        writeln!(out, "{}", text.join(" ")).expect("a reader");
        out.flush().expect("a reader");
    }
}
