//! Actuator forces along a motion of θ.

use super::algebra::{factor, settle, solve};
use super::dynamics::{begin, dynamics_at};
use super::equations::{Point, stiffness_matrix};
use super::locate::Status;
use super::model::Source;
use super::number::Load;
use super::parameters::Parameters;
use super::scaling::within_range;
use super::scratch::Scratch;

/// Corrections of the modal coordinates, at most; each shrinks the rest by about the square of rate over
/// frequency.
pub const ITERATIONS: usize = 12;

/// Actuator forces along a motion of θ, and the modal coordinates that follow it quasi-statically.
pub fn feedforward<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    motion: [&[R]; 3],
    force: &mut [R],
    modal: &mut [R],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let m = source.model();
    let (n, s) = (m.n, m.n_rigid);
    let [eta, rate, accel] = motion.map(|given| {
        let full = scratch.zeros(n);
        full[..s].copy_from_slice(&given[..s]);
        full
    });
    let out = scratch.zeros(n);
    let (mut status, place) = begin(source, p, [eta, rate, accel], &mut scratch);
    if status < Status::Undefined {
        let f = &dynamics_at(source, &place, &mut scratch);
        let point = Point {
            source,
            p,
            place,
            f,
        };
        let (u, extra) = (scratch.take(n * n), point.extra(&mut scratch));
        if n > s && !bend(&point, [eta, rate, accel], out, [u, extra], scratch.again()) {
            status = Status::Undefined;
        } else if !within_range(source, f, eta) {
            status = Status::Bent;
        }
        point.residual([eta, rate, accel], u, extra, out, scratch);
        if p.is_some() {
            for k in 0..s {
                out[k] += point.coulomb(k, rate[k]);
            }
        }
    }
    status = settle(status, out);
    status = settle(status, eta);
    force[..s].fill(R::ZERO);
    if status < Status::Undefined {
        force[..s].copy_from_slice(&out[..s]);
    }
    modal[..n - s].copy_from_slice(&eta[s..]);
    status
}

/// Modal rows without modal rates, K η = −r(η), by corrections with K alone; false where they do not settle.
/// `first` and `last` are twice the elastic energy of corrections; what is left shrinks by about
/// (rate / lowest natural frequency)² each time.
fn bend<R: Load<M::Stored>, M: Source>(
    point: &Point<'_, R, M>,
    [eta, rate, accel]: [&mut [R]; 3],
    out: &mut [R],
    [u, extra]: [&mut [R]; 2],
    mut scratch: Scratch<'_, R>,
) -> bool {
    let (source, m) = (point.source, point.source.model());
    let (n, s) = (m.n, m.n_rigid);
    let modal = n - s;
    let (full, stiffness) = (scratch.take(n * n), scratch.take(modal * modal));
    let rows = scratch.take(modal);
    stiffness_matrix(source, point.f, full, scratch.again());
    for i in 0..modal {
        for j in 0..modal {
            stiffness[i * modal + j] = full[(s + i) * n + s + j];
        }
    }
    if !factor(stiffness, modal) {
        return false;
    }
    let (mut first, mut last) = (R::ZERO, R::ZERO);
    for iteration in 0..ITERATIONS {
        point.residual([eta, rate, accel], u, extra, out, scratch.again());
        rows.copy_from_slice(&out[s..]);
        solve(stiffness, modal, &mut out[s..]);
        last = R::ZERO;
        for i in 0..modal {
            last += rows[i] * out[s + i];
            eta[s + i] -= out[s + i];
        }
        if iteration == 0 {
            first = last;
        }
        if last <= R::SETTLED * first {
            break;
        }
    }
    last <= R::NEAR * first
}
