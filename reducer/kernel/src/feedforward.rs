//! Actuator forces along a motion of θ.

use super::algebra::{eliminate, factor, settle, substitute};
use super::dynamics::{begin, dynamics_at};
use super::equations::Point;
use super::locate::Status;
use super::model::Source;
use super::number::Load;
use super::parameters::Parameters;
use super::scaling::within_range;
use super::scratch::Scratch;
use super::slopes::Inertia;

/// Corrections of the modal coordinates, at most.
pub const ITERATIONS: usize = 12;
/// The correction before which the stiffness is found once more, about a deflection that is nearly right.
pub const RENEWED: usize = 2;

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

/// Modal rows without modal rates by corrections with their derivative, the stiffness that loads, rates and accelerations
/// leave; false where it is not definite or corrections do not settle. `first` and `last` are twice the energy of
/// corrections; each shrinks the rest by about what the deflection changes the stiffness.
fn bend<R: Load<M::Stored>, M: Source>(
    point: &Point<'_, R, M>,
    [eta, rate, accel]: [&mut [R]; 3],
    out: &mut [R],
    [u, extra]: [&mut [R]; 2],
    mut scratch: Scratch<'_, R>,
) -> bool {
    let m = point.source.model();
    let (n, s) = (m.n, m.n_rigid);
    let modal = n - s;
    let stiffness = scratch.take(modal * modal);
    let rows = scratch.take(modal);
    let (mut first, mut last) = (R::ZERO, R::ZERO);
    for iteration in 0..ITERATIONS {
        let renewed = iteration == 0 || iteration == RENEWED;
        if renewed && !factored_stiffness(point, [eta, rate, accel], stiffness, scratch.again()) {
            return false;
        }
        point.residual([eta, rate, accel], u, extra, out, scratch.again());
        rows.copy_from_slice(&out[s..]);
        substitute(stiffness, modal, &mut out[s..]);
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

/// Factors of the derivative of modal rows by modal coordinates; false where its symmetric part is not definite, so that
/// no deflection follows the motion. It is not symmetric where θ is accelerated.
fn factored_stiffness<R: Load<M::Stored>, M: Source>(
    point: &Point<'_, R, M>,
    motion: [&[R]; 3],
    stiffness: &mut [R],
    mut scratch: Scratch<'_, R>,
) -> bool {
    let m = point.source.model();
    let (n, s) = (m.n, m.n_rigid);
    let modal = n - s;
    let (by, half) = (scratch.take(n * modal), scratch.take(modal * modal));
    let inertia = Inertia::new(point.source, point.f, motion, &mut scratch);
    point.by_modals(inertia.as_ref(), motion, by, scratch.again());
    stiffness.copy_from_slice(&by[s * modal..]);
    for i in 0..modal {
        for j in 0..modal {
            let both = stiffness[i * modal + j] + stiffness[j * modal + i];
            half[i * modal + j] = R::of(0.5) * both;
        }
    }
    factor(half, modal) && eliminate(stiffness, modal)
}
