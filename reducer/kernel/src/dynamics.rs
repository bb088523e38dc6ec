//! Inverse and forward dynamics, outputs, the derivative of a state and a step in time.

use super::algebra::{all_finite, settle, solve};
use super::equations::Point;
use super::locate::{Status, locate};
use super::model::Source;
use super::motion::{Output, output};
use super::moving::moving_at;
use super::number::Load;
use super::parameters::Parameters;
use super::polynomials::{DYNAMICS, Fields, MOTION, Place, at};
use super::scaling::within_range;
use super::scratch::Scratch;

/// Finite arguments and a configuration with a model, or a reason why not.
#[inline]
pub fn begin<'w, R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    [eta, rate, third]: [&[R]; 3],
    scratch: &mut Scratch<'w, R>,
) -> (Status, Place<'w, R>) {
    let m = source.model();
    let theta = scratch.take(m.n_rigid);
    let (mut status, index) = locate(source, eta, theta);
    // A sum that NaN and infinities spoil.
    let mut sum = R::ZERO;
    for x in &eta[m.n_rigid..m.n] {
        sum += R::ZERO * *x;
    }
    for (x, y) in rate[..m.n].iter().zip(&third[..m.n]) {
        sum += (R::ZERO * *x) + (R::ZERO * *y);
    }
    if sum != R::ZERO || !p.is_none_or(Parameters::finite) {
        status = Status::NotFinite;
    }
    (status, Place { theta, index })
}

/// The polynomials of the dynamics at a place.
#[inline]
pub fn dynamics_at<'w, R: Load<M::Stored>, M: Source>(
    source: &M,
    place: &Place<'_, R>,
    scratch: &mut Scratch<'w, R>,
) -> Fields<'w, R> {
    let mut f = Fields::of::<M, DYNAMICS>(source, scratch);
    at::<R, M, DYNAMICS>(source, place, &mut f, scratch.again());
    f
}

/// The same for one rate of θ, by what costs less: whole gradients, or derivatives in time.
#[inline]
pub fn dynamics_along<'w, R: Load<M::Stored>, M: Source>(
    source: &M,
    place: &Place<'_, R>,
    rate: &[R],
    scratch: &mut Scratch<'w, R>,
) -> Fields<'w, R> {
    if source.model().dynamics.moves() {
        moving_at(source, place, rate, scratch)
    } else {
        dynamics_at(source, place, scratch)
    }
}

/// Force that produces the accelerations.
pub fn inverse_dynamics<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    motion: [&[R]; 3],
    force: &mut [R],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let m = source.model();
    let force = &mut force[..m.n];
    let (status, place) = begin(source, p, motion, &mut scratch);
    if status >= Status::Undefined {
        force.fill(R::ZERO);
        return status;
    }
    let f = &dynamics_along(source, &place, motion[1], &mut scratch);
    if !within_range(source, f, motion[0]) {
        force.fill(R::ZERO);
        return Status::Bent;
    }
    let point = Point {
        source,
        p,
        place,
        f,
    };
    let (u, extra) = (scratch.take(m.n * m.n), point.extra(&mut scratch));
    point.residual(motion, u, extra, force, scratch);
    if p.is_some() {
        for k in 0..m.n_rigid {
            force[k] += point.coulomb(k, motion[1][k]);
        }
    }
    settle(status, force)
}

/// Accelerations under a force (`motion[2]`), and what callers need again: the place, the polynomials, with whole
/// gradients where these are asked for, and the factor of M in `u`.
pub fn accelerate<'w, R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    [eta, rate, force]: [&[R]; 3],
    gradients: bool,
    [u, accel]: [&mut [R]; 2],
    scratch: &mut Scratch<'w, R>,
) -> (Status, Place<'w, R>, Option<Fields<'w, R>>) {
    let m = source.model();
    let accel = &mut accel[..m.n];
    accel.fill(R::ZERO);
    let (mut status, place) = begin(source, p, [eta, rate, force], scratch);
    if status >= Status::Undefined {
        return (status, place, None);
    }
    let f = if gradients {
        dynamics_at(source, &place, scratch)
    } else {
        dynamics_along(source, &place, rate, scratch)
    };
    if !within_range(source, &f, eta) {
        return (Status::Bent, place, None);
    }
    let mut inner = scratch.again();
    let zero = inner.zeros(m.n);
    let point = Point {
        source,
        p,
        place,
        f: &f,
    };
    let extra = point.extra(&mut inner);
    point.residual([eta, rate, zero], u, extra, accel, inner);
    for (a, g) in accel.iter_mut().zip(force) {
        *a = *g - *a;
    }
    if p.is_some() {
        for k in 0..m.n_rigid {
            accel[k] -= point.coulomb(k, rate[k]);
        }
    }
    if point.mass_factor(u, extra) {
        solve(u, m.n, accel);
    } else {
        status = Status::Undefined;
    }
    (settle(status, accel), place, Some(f))
}

/// Accelerations under a force.
pub fn forward_dynamics<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    state: [&[R]; 3],
    accel: &mut [R],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let n = source.model().n;
    let u = scratch.take(n * n);
    accelerate(source, p, state, false, [u, accel], &mut scratch).0
}

/// The mass matrix in `mass`, and in `bias` the force for the accelerations `motion[2]`, for callers that
/// prescribe some accelerations and find others.
pub fn mass_and_bias<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    motion: [&[R]; 3],
    mass: &mut [R],
    bias: &mut [R],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let m = source.model();
    let (status, place) = begin(source, p, motion, &mut scratch);
    mass.fill(R::ZERO);
    bias.fill(R::ZERO);
    if status >= Status::Undefined {
        return status;
    }
    let f = &dynamics_along(source, &place, motion[1], &mut scratch);
    if !within_range(source, f, motion[0]) {
        return Status::Bent;
    }
    let point = Point {
        source,
        p,
        place,
        f,
    };
    let extra = point.extra(&mut scratch);
    point.residual(motion, mass, extra, bias, scratch);
    for k in 0..m.n_rigid {
        bias[k] += point.coulomb(k, motion[1][k]);
    }
    point.mass(mass, extra);
    status
}

/// Motion of the outputs, one after the other in `out`.
pub fn outputs<'o, R: Load<M::Stored> + 'o, M: Source, O>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    [eta, rate]: [&[R]; 2],
    out: &'o mut [O],
    of: fn(&mut O) -> Output<'_, R>,
    mut scratch: Scratch<'_, R>,
) -> Status {
    let (mut status, place) = begin(source, p, [eta, rate, rate], &mut scratch);
    if status < Status::Undefined {
        let mut f = Fields::of::<M, MOTION>(source, &mut scratch);
        at::<R, M, MOTION>(source, &place, &mut f, scratch);
        for (number, o) in out.iter_mut().enumerate() {
            let mut o = of(o);
            output(source, &f, number, [eta, rate], &mut o);
            if !o.finite() {
                status = Status::NotFinite;
            }
        }
    }
    if status >= Status::Undefined {
        out.iter_mut().for_each(|o| of(o).clear());
    }
    status
}

/// Derivative of the state x = (η, rate) under a force.
pub fn state_derivative<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    x: &[R],
    force: &[R],
    dx: &mut [R],
    scratch: Scratch<'_, R>,
) -> Status {
    let n = source.model().n;
    let (eta, rate) = x[..2 * n].split_at(n);
    let (by_eta, by_rate) = dx[..2 * n].split_at_mut(n);
    let status = forward_dynamics(source, p, [eta, rate, force], by_rate, scratch);
    by_eta.fill(R::ZERO);
    if status < Status::Undefined {
        by_eta.copy_from_slice(rate);
    }
    status
}

/// One step of the classical Runge-Kutta method under a constant force.
pub fn step<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    x: &mut [R],
    force: &[R],
    dt: R,
    mut scratch: Scratch<'_, R>,
) -> Status {
    let n = source.model().n;
    let x = &mut x[..2 * n];
    let stage = scratch.take(2 * n);
    let (slope, sum) = (scratch.zeros(2 * n), scratch.zeros(2 * n));
    let mut status = if all_finite(&[dt]) {
        Status::Ok
    } else {
        Status::NotFinite
    };
    // Slopes at 0, ½, ½, 1 with weights 1, 2, 2, 1.
    for i in 0..4 {
        let (shift, weight) = match i {
            0 => (R::ZERO, R::ONE),
            3 => (dt, R::ONE),
            _ => (R::of(0.5) * dt, R::TWO),
        };
        if status < Status::Undefined {
            for ((y, x), s) in stage.iter_mut().zip(&*x).zip(&*slope) {
                *y = *x + shift * *s;
            }
            let at_stage = state_derivative(source, p, stage, force, slope, scratch.again());
            status = status.max(at_stage);
            for (y, s) in sum.iter_mut().zip(&*slope) {
                *y += weight * *s;
            }
        }
    }
    for (y, s) in x.iter_mut().zip(&*sum) {
        *y += dt / R::of(6.0) * *s;
    }
    settle(status, x)
}
