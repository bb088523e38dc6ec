// SPDX-License-Identifier: 0BSD
//! Compares results with numbers from the generator in every box, and functions with each other.

use crate::{
    coefficients, feedforward, inverse_dynamics, inverse_dynamics_p, outputs, state_derivative, Coefficients,
    Output, Parameters, Real, Status, N, N_MODAL, N_OUTPUTS, N_RIGID,
};

struct Point {
    eta: [Real; N],
    force: [Real; N],
    /// Position and velocity of every output.
    motion: [Real; 6 * N_OUTPUTS],
    status: i32,
}

static RATE: [Real; N] = [0.37, 0.95];
static ACCEL: [Real; N] = [-0.44, -0.73];

static POINTS: [Point; 2] = [
    Point {
        eta: [0.42899999999999994, -8.100000000000001e-4],
        force: [-0.8956233927683196, -2.547708429701875],
        motion: [0.12284775230684392, 0.13028898771130457, 0.4, 0.07808868938309346, 0.14277766252108987, 0.0],
        status: 0,
    },
    Point {
        eta: [1.275, -8.100000000000001e-4],
        force: [-0.11767176658572054, -2.433414329439704],
        motion: [0.082113630259495, 0.13946988110697986, 0.4, -0.010075422775948799, -0.016663766662358054, 0.0],
        status: 1,
    },
];

const TOLERANCE: Real = 1e-12;

fn size(x: &[Real]) -> Real {
    x.iter().fold(0.0, |m, v| if v.abs() > m { v.abs() } else { m })
}

/// Entries differ by more than is allowed.
fn apart(found: &[Real], expected: &[Real], allowed: Real) -> bool {
    found.iter().zip(expected).any(|(a, b)| !((a - b).abs() <= allowed))
}

/// Entries differ by more than the tolerance times the largest entry.
fn differs(found: &[Real], expected: &[Real]) -> bool {
    apart(found, expected, TOLERANCE * size(expected))
}

/// The first values, those of θ.
fn rigid(x: &[Real; N]) -> [Real; N_RIGID] {
    let mut out = [0.0; N_RIGID];
    out.copy_from_slice(&x[..N_RIGID]);
    out
}

/// Values of θ followed by modal ones.
fn joined(first: &[Real; N_RIGID], modal: &[Real; N_MODAL]) -> [Real; N] {
    let mut out = [0.0; N];
    out[..N_RIGID].copy_from_slice(first);
    out[N_RIGID..].copy_from_slice(modal);
    out
}

/// Coefficients against the force of accelerations alone, at η = (θ, 0).
fn test_coefficients(p: &Point, c: &mut Coefficients) -> u32 {
    if coefficients(&rigid(&p.eta), c) as i32 != p.status {
        return 1;
    }
    let eta = joined(&rigid(&p.eta), &[0.0; N_MODAL]);
    let (mut rest, mut force) = ([0.0; N], [0.0; N]);
    if inverse_dynamics(&eta, &[0.0; N], &[0.0; N], &mut rest) as i32 != p.status
        || inverse_dynamics(&eta, &[0.0; N], &ACCEL, &mut force) as i32 != p.status
    {
        return 2;
    }
    let mut inertia = [0.0; N];
    for i in 0..N {
        inertia[i] = (0..N).map(|j| c.mass[i * N + j] * ACCEL[j]).sum::<Real>() - c.force[i];
    }
    let allowed = TOLERANCE * (size(&force) + size(&rest) + size(&c.mass));
    if apart(&inertia, &force, allowed) { 3 } else { 0 }
}

/// Forces against stored ones, and accelerations by the forces that they need.
fn test_dynamics(p: &Point, c: &Coefficients) -> u32 {
    let mut force = [0.0; N];
    let status = inverse_dynamics(&p.eta, &RATE, &ACCEL, &mut force);
    if status as i32 != p.status || differs(&force, &p.force) {
        return 4;
    }
    let nominal = Some(&Parameters::NOMINAL);
    let status = inverse_dynamics_p(nominal, &p.eta, &RATE, &ACCEL, &mut force);
    if status as i32 != p.status || differs(&force, &p.force) {
        return 5;
    }
    let (mut x, mut dx) = ([0.0; 2 * N], [0.0; 2 * N]);
    x[..N].copy_from_slice(&p.eta);
    x[N..].copy_from_slice(&RATE);
    let status = state_derivative(&x, &p.force, &mut dx);
    if status as i32 != p.status {
        return 6;
    }
    if status < Status::Undefined {
        let (mut accel, mut again) = ([0.0; N], [0.0; N]);
        accel.copy_from_slice(&dx[N..]);
        let back = inverse_dynamics(&p.eta, &RATE, &accel, &mut again);
        let allowed = TOLERANCE * (size(&p.force) + N as Real * size(&c.mass) * size(&accel));
        if back != status || dx[..N] != RATE[..] || apart(&again, &p.force, allowed) {
            return 7;
        }
    }
    0
}

/// Feedforward against the force at the modal coordinates that it gives, unless they do not settle.
fn test_feedforward(p: &Point) -> u32 {
    let (theta, rate, accel) = (rigid(&p.eta), rigid(&RATE), rigid(&ACCEL));
    let (mut actuators, mut modal, mut force) = ([0.0; N_RIGID], [0.0; N_MODAL], [0.0; N]);
    let status = feedforward(&theta, &rate, &accel, &mut actuators, &mut modal);
    if status as i32 != p.status && status != Status::Undefined {
        return 8;
    }
    if status < Status::Undefined {
        let eta = joined(&theta, &modal);
        let (rate, accel) = (joined(&rate, &[0.0; N_MODAL]), joined(&accel, &[0.0; N_MODAL]));
        if inverse_dynamics(&eta, &rate, &accel, &mut force) != status || differs(&actuators, &force[..N_RIGID]) {
            return 9;
        }
    }
    0
}

/// Positions and velocities against stored ones.
fn test_outputs(p: &Point) -> u32 {
    let mut found = [Output::ZERO; N_OUTPUTS];
    if outputs(&p.eta, &RATE, &mut found) as i32 != p.status {
        return 10;
    }
    let mut motion = [0.0; 6 * N_OUTPUTS];
    for (to, from) in motion.chunks_mut(6).zip(&found) {
        to[..3].copy_from_slice(&from.position);
        to[3..].copy_from_slice(&from.velocity);
    }
    if differs(&motion, &p.motion) { 11 } else { 0 }
}

/// What is no number is told.
fn test_not_finite(p: &Point) -> u32 {
    let (mut eta, mut force) = (p.eta, [0.0; N]);
    eta[0] = Real::NAN;
    let status = inverse_dynamics(&eta, &RATE, &ACCEL, &mut force);
    if status != Status::NotFinite || size(&force) > 0.0 { 12 } else { 0 }
}

/// 0: all good; otherwise the number of the point (from 1) times 100 plus that of the failed check.
pub fn selftest() -> u32 {
    let mut c = Coefficients::ZERO;
    for (point, p) in (1..).zip(&POINTS) {
        let checks = [
            test_coefficients(p, &mut c),
            test_dynamics(p, &c),
            test_feedforward(p),
            test_outputs(p),
            test_not_finite(p),
        ];
        if let Some(failed) = checks.iter().find(|f| **f != 0) {
            return 100 * point + failed;
        }
    }
    0
}
