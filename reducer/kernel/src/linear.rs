//! Linear models around a state.
//!
//! The equations of motion are polynomials of second degree in the rates, in the modal coordinates and in the
//! stored functions taken together, so central differences of any width are exact but for rounding. Derivatives of inertia
//! forces by rates and modal coordinates are written out, because they take less together than one by one; where rates
//! are scaled, which makes inertia forces of a higher degree, those by θ and modal coordinates are.

use super::algebra::{settle, solve};
use super::curvature::{Curvature, along_theta};
use super::dynamics::accelerate;
use super::equations::{Point, damping_matrix};
use super::locate::Status;
use super::model::Source;
use super::motion::{Output, output, point_jacobian_rate};
use super::number::{Load, Number};
use super::parameters::Parameters;
use super::polynomials::{DYNAMICS, Fields, MOTION, at, scaled};
use super::scaling::is_scaled;
use super::scratch::Scratch;
use super::slopes::Inertia;
use super::tangent::{Direction, inertia_tangent};

/// ẋ = A x + B force, y = C x + D force, row-major; x = (η, rate), and y holds position, small rotation and
/// velocity of each output. D is zero and not here.
pub struct LinearModel<'a, R> {
    /// 2n × 2n.
    pub a: &'a mut [R],
    /// 2n × n.
    pub b: &'a mut [R],
    /// 9 per output × 2n.
    pub c: &'a mut [R],
}

impl<R: Number> LinearModel<'_, R> {
    fn clear(&mut self) {
        let all = [&mut *self.a, &mut *self.b, &mut *self.c];
        all.into_iter().for_each(|x| x.fill(R::ZERO));
    }
}

/// How far modal coordinates are moved for a difference.
const MODAL_WIDTH: f64 = 1.0 / 64.0;

/// (high − low)/(2 width), in `high`.
fn half_difference<R: Number>(high: &mut [R], low: &[R], width: R) {
    for (high, low) in high.iter_mut().zip(low) {
        *high = (*high - *low) / (R::TWO * width);
    }
}

impl<R: Load<M::Stored>, M: Source> Point<'_, R, M> {
    /// Derivatives of the force by all rates, n × n; Coulomb friction apart.
    fn by_rates(
        &self,
        inertia: Option<&Inertia<'_, R>>,
        motion: [&[R]; 3],
        out: &mut [R],
        mut scratch: Scratch<'_, R>,
    ) {
        let (source, n) = (self.source, self.source.model().n);
        let [eta, rate, accel] = motion;
        let square = scratch.take(n * n);
        if let Some(inertia) = inertia {
            inertia.by_rates(source, out);
            damping_matrix(source, self.f, square, scratch.again());
            for (sum, d) in out.iter_mut().zip(&*square) {
                *sum += *d;
            }
        } else {
            out.fill(R::ZERO);
        }
        if inertia.is_some() && self.p.is_none() {
            return;
        }
        let (moved, high, low) = (scratch.take(n), scratch.take(n), scratch.take(n));
        let extra = self.extra(&mut scratch);
        moved.copy_from_slice(rate);
        for k in 0..n {
            for (shift, out) in [(R::ONE, &mut *high), (-R::ONE, &mut *low)] {
                moved[k] = rate[k] + shift;
                let motion = [eta, &*moved, accel];
                if let (Some(_), Some(p)) = (inertia, self.p) {
                    out.fill(R::ZERO);
                    extra.fill(R::ZERO);
                    p.add(source, &self.place, motion, out, extra, scratch.again());
                } else {
                    self.residual(motion, square, extra, out, scratch.again());
                }
            }
            moved[k] = rate[k];
            half_difference(high, low, R::ONE);
            for (i, by) in high.iter().enumerate() {
                out[i * n + k] += *by;
            }
        }
    }

    /// Derivatives of the force by all modal coordinates, n × their number.
    pub fn by_modals(
        &self,
        inertia: Option<&Inertia<'_, R>>,
        motion: [&[R]; 3],
        out: &mut [R],
        mut scratch: Scratch<'_, R>,
    ) {
        let (source, m) = (self.source, self.source.model());
        let [eta, rate, accel] = motion;
        let (n, modal) = (m.n, m.n - m.n_rigid);
        let width = R::of(MODAL_WIDTH);
        match inertia {
            Some(inertia) => {
                inertia.by_modals(source, self.f, [rate, accel], out, scratch.again());
            }
            None => out.fill(R::ZERO),
        }
        let with_inertia = inertia.is_none() && !is_scaled(source);
        let (moved, high, low) = (scratch.take(n), scratch.take(n), scratch.take(n));
        let u = scratch.take(n * n);
        moved.copy_from_slice(eta);
        for c in 0..modal {
            let column = m.n_rigid + c;
            for (shift, out) in [(width, &mut *high), (-width, &mut *low)] {
                moved[column] = eta[column] + shift;
                let motion = [&*moved, rate, accel];
                self.nominal(motion, with_inertia, u, out, scratch.again());
            }
            moved[column] = eta[column];
            half_difference(high, low, width);
            if is_scaled(source) {
                let mut rest = scratch.again();
                let still = Fields::zeros::<M, DYNAMICS>(source, &mut rest);
                self.add_inertia(motion, Some(column), &still, high, rest);
            }
            if let (Some(p), true) = (self.p, m.n_outputs > 0) {
                let rest = scratch.again();
                p.add_payload_by_modal(source, &self.place, motion, column, high, rest);
            }
            for (i, by) in high.iter().enumerate() {
                out[i * modal + c] += *by;
            }
        }
    }

    /// Adds the derivative of inertia forces along a modal coordinate, if any, and a change of the fields.
    fn add_inertia(
        &self,
        [eta, rate, accel]: [&[R]; 3],
        column: Option<usize>,
        df: &Fields<'_, R>,
        out: &mut [R],
        mut scratch: Scratch<'_, R>,
    ) {
        let n = self.source.model().n;
        let (eta_by, by) = (scratch.zeros(n), scratch.take(n));
        if let Some(column) = column {
            eta_by[column] = R::ONE;
        }
        let x = Direction {
            eta,
            eta_by,
            rate,
            accel,
        };
        inertia_tangent(self.source, [self.f, df], &x, by, scratch);
        for (sum, by) in out.iter_mut().zip(&*by) {
            *sum += *by;
        }
    }

    /// Derivative of the force by θ_column.
    fn by_theta(
        &self,
        curvature: Option<&Curvature<'_, R>>,
        motion: [&[R]; 3],
        column: usize,
        out: &mut [R],
        mut scratch: Scratch<'_, R>,
    ) {
        let (source, m) = (self.source, self.source.model());
        let n = m.n;
        let width = R::ONE / scaled(source, &self.place, column).1;
        let mut along = Fields::of::<M, DYNAMICS>(source, &mut scratch);
        let known = (self.f, curvature);
        let rest = scratch.again();
        along_theta::<R, M, DYNAMICS>(source, &self.place, known, column, &mut along, rest);
        let mut moved = Fields::of::<M, DYNAMICS>(source, &mut scratch);
        let (low, u) = (scratch.take(n), scratch.take(n * n));
        for (shift, out) in [(width, &mut *out), (-width, &mut *low)] {
            moved.shifted(self.f, shift, &along);
            let there = Point { f: &moved, ..*self };
            there.nominal(motion, !is_scaled(source), u, out, scratch.again());
        }
        half_difference(out, low, width);
        if is_scaled(source) {
            self.add_inertia(motion, None, &along, out, scratch.again());
        }
        if let (Some(p), true) = (self.p, m.n_outputs > 0) {
            p.add_payload_by_theta(source, &self.place, motion, column, out, scratch);
        }
    }

    /// Rows of C: position, small rotation and velocity of each output.
    fn output_rows(&self, [eta, rate]: [&[R]; 2], c: &mut [R], mut scratch: Scratch<'_, R>) {
        let (source, m) = (self.source, self.source.model());
        let n = m.n;
        let (mut f, mut along) = (
            Fields::of::<M, MOTION>(source, &mut scratch),
            Fields::of::<M, MOTION>(source, &mut scratch),
        );
        at::<R, M, MOTION>(source, &self.place, &mut f, scratch.again());
        let curvature = Curvature::at::<M, MOTION>(source, &self.place, &mut scratch);
        curvature.along(&f, &rate[..m.n_rigid], &mut along);
        let (jacobian, jacobian_rate) = (scratch.take(6 * n), scratch.take(3 * n));
        for (number, rows) in c.chunks_exact_mut(9 * 2 * n).enumerate() {
            let (mut rotation, mut vectors) = ([R::ZERO; 9], [[R::ZERO; 3]; 3]);
            let [position, velocity, angular_velocity] = &mut vectors;
            let mut motion = Output {
                position,
                rotation: &mut rotation,
                velocity,
                angular_velocity,
                jacobian,
            };
            output(source, &f, number, [eta, rate], &mut motion);
            point_jacobian_rate(source, &f, &along, number, [eta, rate], jacobian_rate);
            for k in 0..n {
                for i in 0..6 {
                    rows[i * 2 * n + k] = jacobian[i * n + k];
                }
                for i in 0..3 {
                    rows[(6 + i) * 2 * n + k] = jacobian_rate[i * n + k];
                    rows[(6 + i) * 2 * n + n + k] = jacobian[i * n + k];
                }
            }
        }
    }
}

/// Linear model around a state (`state`: η, rate, force). θ outside the domain: derivatives of the point used.
pub fn linearize<R: Load<M::Stored>, M: Source>(
    source: &M,
    p: Option<&Parameters<'_, R>>,
    state: [&[R]; 3],
    out: &mut LinearModel<'_, R>,
    mut scratch: Scratch<'_, R>,
) -> Status {
    let m = source.model();
    let n = m.n;
    let (u, accel) = (scratch.take(n * n), scratch.take(n));
    let (mut status, place, f) = accelerate(source, p, state, true, [u, accel], &mut scratch);
    out.clear();
    let (Some(f), true) = (&f, status < Status::Undefined) else {
        return status;
    };
    let [eta, rate] = [&state[0][..n], &state[1][..n]];
    let point = Point {
        source,
        p,
        place,
        f,
    };
    let curvature = m
        .dynamics
        .gradients
        .then(|| Curvature::at::<M, DYNAMICS>(source, &point.place, &mut scratch));
    let (by, modal) = (scratch.take(n), n - m.n_rigid);
    let (by_rates, by_modals) = (scratch.take(n * n), scratch.take(n * modal));
    let motion = [eta, rate, &*accel];
    let inertia = Inertia::new(source, f, motion, &mut scratch);
    point.by_rates(inertia.as_ref(), motion, by_rates, scratch.again());
    point.by_modals(inertia.as_ref(), motion, by_modals, scratch.again());
    for k in 0..n {
        out.a[k * 2 * n + n + k] = R::ONE;
        if k < m.n_rigid {
            point.by_theta(curvature.as_ref(), motion, k, by, scratch.again());
        } else {
            let column = by_modals.iter().skip(k - m.n_rigid).step_by(modal);
            by.iter_mut().zip(column).for_each(|(by, x)| *by = *x);
        }
        set_column(n, u, k, by, out.a);
        let column = by_rates.iter().skip(k).step_by(n);
        by.iter_mut().zip(column).for_each(|(by, x)| *by = *x);
        if let (Some(p), true) = (p, k < m.n_rigid) {
            by[k] += p.coulomb_slope(k, rate[k]);
        }
        set_column(n, u, n + k, by, out.a);
        by.fill(R::ZERO);
        by[k] = R::ONE;
        solve(u, n, by);
        for i in 0..n {
            out.b[(n + i) * n + k] = by[i];
        }
    }
    if m.n_outputs > 0 {
        point.output_rows([eta, rate], out.c, scratch);
        status = settle(status, out.c);
    }
    status = settle(status, out.a);
    status = settle(status, out.b);
    if status >= Status::Undefined {
        out.clear();
    }
    status
}

/// Writes minus the accelerations of a column of forces into a column of A.
fn set_column<R: Number>(n: usize, u: &[R], column: usize, by: &mut [R], a: &mut [R]) {
    solve(u, n, by);
    for i in 0..n {
        a[(n + i) * 2 * n + column] = -by[i];
    }
}
