//! Outputs: x = p(θ) + Σ X_d(θ) η_d + ½ Σ X_de(θ) η_d η_e and R = exp(Σ Y_d(θ) η_d) R₀(θ), where R₀ comes from a quaternion of any
//! length. Velocities are exact derivatives.

use super::algebra::all_finite;
use super::model::{Entry, Group, LARGEST_RIGID, Source};
use super::number::{Load, Number};
use super::polynomials::Fields;
use super::scaling::share;

/// Motion of one output, inertial axes.
pub struct Output<'a, R> {
    /// Position.
    pub position: &'a mut [R; 3],
    /// Body to inertial axes, row-major.
    pub rotation: &'a mut [R; 9],
    /// Velocity.
    pub velocity: &'a mut [R; 3],
    /// Angular velocity.
    pub angular_velocity: &'a mut [R; 3],
    /// Velocity and angular velocity per rate, 6×n row-major.
    pub jacobian: &'a mut [R],
}

impl<R: Number> Output<'_, R> {
    /// Everything zero.
    pub fn clear(&mut self) {
        *self.position = [R::ZERO; 3];
        *self.rotation = [R::ZERO; 9];
        *self.velocity = [R::ZERO; 3];
        *self.angular_velocity = [R::ZERO; 3];
        self.jacobian.fill(R::ZERO);
    }

    /// All are finite numbers.
    pub fn finite(&self) -> bool {
        all_finite(self.position)
            && all_finite(self.rotation)
            && all_finite(self.velocity)
            && all_finite(self.angular_velocity)
            && all_finite(self.jacobian)
    }
}

type Vector<R> = [R; 3];

/// Terms of the series, enough for angles up to π.
const SERIES: usize = 14;

/// b = (1 − cos a)/a² and c = (a − sin a)/a³ from a² by their series, for a up to π.
fn rotation_series<R: Number>(square: R) -> (R, R) {
    let (mut b, mut c) = (R::ZERO, R::ZERO);
    for k in (0..=SERIES).rev() {
        let even = R::of(((2 * k + 3) * (2 * k + 4)) as f64);
        let odd = R::of(((2 * k + 4) * (2 * k + 5)) as f64);
        b = R::ONE - square / even * b;
        c = R::ONE - square / odd * c;
    }
    (R::of(0.5) * b, c / R::of(6.0))
}

/// The same for any angle: whole turns are taken off first.
fn rotation_coefficients<R: Number>(square: R) -> (R, R) {
    let pi = R::of(core::f64::consts::PI);
    if square <= pi * pi {
        return rotation_series(square);
    }
    let angle = square.square_root();
    let rest = if angle < R::of(1e9) {
        let turns = (angle / (R::TWO * pi) + R::of(0.5)).whole();
        angle - turns * R::TWO * pi
    } else {
        R::ZERO
    };
    let (b, c) = rotation_series(rest * rest);
    let sine = rest - rest * rest * rest * c;
    (rest * rest * b / square, (angle - sine) / (square * angle))
}

fn cross<R: Number>(a: &[R], b: &[R]) -> Vector<R> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// x + f v×x + g v×(v×x).
fn turned<R: Number>(v: &Vector<R>, f: R, g: R, x: Vector<R>) -> Vector<R> {
    let once = cross(v, &x);
    let twice = cross(v, &once);
    core::array::from_fn(|i| x[i] + ((f * once[i]) + (g * twice[i])))
}

fn square_of<R: Number>(q: &[R; 4]) -> R {
    (q[0] * q[0]) + (q[1] * q[1]) + (q[2] * q[2]) + (q[3] * q[3])
}

/// Rotation matrix of a quaternion of any length; the unit matrix where it vanishes.
fn rotation_of<R: Number>(q: &[R; 4]) -> [R; 9] {
    let mut r = [R::ZERO; 9];
    for i in 0..3 {
        r[4 * i] = R::ONE;
    }
    let square = square_of(q);
    if square > R::ZERO {
        let scale = R::TWO / square;
        for i in 0..3 {
            for j in 0..3 {
                r[3 * i + j] += scale * q[i + 1] * q[j + 1];
            }
            r[4 * i] -= scale * (square - q[0] * q[0]);
        }
        r[1] -= scale * q[0] * q[3];
        r[2] += scale * q[0] * q[2];
        r[3] += scale * q[0] * q[3];
        r[5] -= scale * q[0] * q[1];
        r[6] -= scale * q[0] * q[2];
        r[7] += scale * q[0] * q[1];
    }
    r
}

/// Angular velocity of R₀ for the rate dq of its quaternion: 2 vec(dq q*)/|q|².
fn spin_of<R: Number>(q: &[R; 4], dq: &[R; 4]) -> Vector<R> {
    let square = square_of(q);
    if square > R::ZERO {
        let scale = R::TWO / square;
        let c = cross(&dq[1..], &q[1..]);
        core::array::from_fn(|i| scale * ((dq[i + 1] * q[0]) - (q[i + 1] * dq[0]) - c[i]))
    } else {
        [R::ZERO; 3]
    }
}

/// Entries of one output.
#[inline(always)]
fn of_output(
    list: &[Entry],
    output: usize,
) -> impl Iterator<Item = (usize, usize, usize, usize)> + '_ {
    list.iter().map(|e| e.get()).filter(move |e| e.3 == output)
}

/// One output from the motion fields.
pub fn output<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    number: usize,
    [eta, rate]: [&[R]; 2],
    out: &mut Output<'_, R>,
) {
    let m = source.model();
    let (n, s) = (m.n, m.n_rigid);
    let mut q = [R::ZERO; 4];
    let mut dq = [[R::ZERO; 4]; LARGEST_RIGID];
    let mut turn = [R::ZERO; 3];
    out.clear();
    let jacobian = &mut out.jacobian[..6 * n];
    for (v, i, _, _) in of_output(m.list(Group::Position), number) {
        out.position[i] = f.value[v];
        for k in 0..s {
            jacobian[i * n + k] = f.slope(k)[v];
        }
    }
    for (v, i, _, _) in of_output(m.list(Group::Quaternion), number) {
        q[i] = f.value[v];
        for k in 0..s {
            dq[k][i] = f.slope(k)[v];
        }
    }
    for (v, i, j, _) in of_output(m.list(Group::Amplitude), number) {
        jacobian[i * n + j] = f.value[v];
        for k in 0..s {
            jacobian[i * n + k] += f.slope(k)[v] * eta[j];
        }
        if i < 3 {
            out.position[i] += f.value[v] * eta[j];
        } else {
            turn[i - 3] += f.value[v] * eta[j];
        }
    }
    for (v, i, d, e) in bends(source, number) {
        out.position[i] += f.value[v] * share::<R>(d, e) * eta[d] * eta[e];
    }
    add_bends(source, f, number, eta, jacobian);
    *out.rotation = rotation_of(&q);
    if m.has_turn {
        let square = (turn[0] * turn[0]) + (turn[1] * turn[1]) + (turn[2] * turn[2]);
        let (b, c) = rotation_coefficients(square);
        let r = &mut *out.rotation;
        for j in 0..3 {
            let column = turned(&turn, R::ONE - c * square, b, [r[j], r[3 + j], r[6 + j]]);
            (r[j], r[3 + j], r[6 + j]) = (column[0], column[1], column[2]);
        }
        for k in 0..n {
            let mut about = turned(&turn, b, c, [3, 4, 5].map(|row| jacobian[row * n + k]));
            if k < s {
                let spin = turned(&turn, R::ONE - c * square, b, spin_of(&q, &dq[k]));
                about = core::array::from_fn(|i| spin[i] + about[i]);
            }
            for i in 0..3 {
                jacobian[(i + 3) * n + k] = about[i];
            }
        }
    } else {
        for k in 0..s {
            let spin = spin_of(&q, &dq[k]);
            for i in 0..3 {
                jacobian[(i + 3) * n + k] = spin[i];
            }
        }
    }
    for k in 0..n {
        for i in 0..3 {
            out.velocity[i] += jacobian[i * n + k] * rate[k];
            out.angular_velocity[i] += jacobian[(i + 3) * n + k] * rate[k];
        }
    }
}

/// Entries of the amplitudes of one output's position.
#[inline(always)]
fn shifts<M: Source>(
    source: &M,
    output: usize,
) -> impl Iterator<Item = (usize, usize, usize, usize)> {
    of_output(source.model().list(Group::Amplitude), output).filter(|e| e.1 < 3)
}

/// Entries of the second-order motion of one output's position: value, axis and both modal coordinates.
#[inline(always)]
fn bends<M: Source>(
    source: &M,
    output: usize,
) -> impl Iterator<Item = (usize, usize, usize, usize)> {
    let list = source.model().list(Group::PositionCurvature).iter();
    list.map(|e| e.all())
        .filter(move |(_, e)| e[2] == output)
        .map(|(v, [i, d, _, e])| (v, i, d, e))
}

/// What second-order motion adds to the Jacobian of an output's position.
#[inline(always)]
fn add_bends<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    output: usize,
    eta: &[R],
    jacobian: &mut [R],
) {
    let m = source.model();
    for (v, i, d, e) in bends(source, output) {
        let share = share::<R>(d, e);
        jacobian[i * m.n + d] += share * f.value[v] * eta[e];
        jacobian[i * m.n + e] += share * f.value[v] * eta[d];
        for k in 0..m.n_rigid {
            jacobian[i * m.n + k] += f.slope(k)[v] * share * eta[d] * eta[e];
        }
    }
}

/// Jacobian of an output's position, 3×n; from fields or from their derivatives.
pub fn point_jacobian<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    output: usize,
    eta: &[R],
    jacobian: &mut [R],
) {
    let m = source.model();
    let (n, s) = (m.n, m.n_rigid);
    jacobian.fill(R::ZERO);
    for (v, i, _, _) in of_output(m.list(Group::Position), output) {
        for k in 0..s {
            jacobian[i * n + k] += f.slope(k)[v];
        }
    }
    for (v, i, j, _) in shifts(source, output) {
        jacobian[i * n + j] = f.value[v];
        for k in 0..s {
            jacobian[i * n + k] += f.slope(k)[v] * eta[j];
        }
    }
    add_bends(source, f, output, eta, jacobian);
}

/// Its derivative in time; `along` holds derivatives of the fields along the rates of θ.
pub fn point_jacobian_rate<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    along: &Fields<'_, R>,
    output: usize,
    [eta, rate]: [&[R]; 2],
    jacobian: &mut [R],
) {
    let m = source.model();
    point_jacobian(source, along, output, eta, jacobian);
    for (v, i, j, _) in shifts(source, output) {
        for k in 0..m.n_rigid {
            jacobian[i * m.n + k] += f.slope(k)[v] * rate[j];
        }
    }
    for (v, i, d, e) in bends(source, output) {
        let share = share::<R>(d, e);
        jacobian[i * m.n + d] += share * f.value[v] * rate[e];
        jacobian[i * m.n + e] += share * f.value[v] * rate[d];
        for k in 0..m.n_rigid {
            let pair_rate = (rate[d] * eta[e]) + (eta[d] * rate[e]);
            jacobian[i * m.n + k] += f.slope(k)[v] * share * pair_rate;
        }
    }
}

/// Derivative of the Jacobian by a modal coordinate.
pub fn point_jacobian_by<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    output: usize,
    eta: &[R],
    column: usize,
    jacobian: &mut [R],
) {
    let m = source.model();
    jacobian.fill(R::ZERO);
    for (v, i, _, _) in shifts(source, output).filter(|e| e.2 == column) {
        for k in 0..m.n_rigid {
            jacobian[i * m.n + k] += f.slope(k)[v];
        }
    }
    for (v, i, d, e) in bends(source, output) {
        for (one, other) in [(d, e), (e, d)] {
            if one == column {
                let share = share::<R>(d, e);
                jacobian[i * m.n + other] += share * f.value[v];
                for k in 0..m.n_rigid {
                    jacobian[i * m.n + k] += f.slope(k)[v] * share * eta[other];
                }
            }
        }
    }
}

/// Derivative by a modal coordinate of the second derivative in time of an output's position without
/// accelerations; `along` as below.
pub fn point_bias_by<R: Load<M::Stored>, M: Source>(
    source: &M,
    along: &Fields<'_, R>,
    output: usize,
    [eta, rate]: [&[R]; 2],
    column: usize,
) -> [R; 3] {
    let mut out = [R::ZERO; 3];
    let twice = |v: usize| {
        let slopes = along.slopes().zip(rate);
        slopes.fold(R::ZERO, |sum, (slope, rate)| sum + slope[v] * *rate)
    };
    for (v, i, _, _) in shifts(source, output).filter(|e| e.2 == column) {
        out[i] += twice(v);
    }
    for (v, i, d, e) in bends(source, output) {
        for (one, other) in [(d, e), (e, d)] {
            if one == column {
                let moved = (twice(v) * eta[other]) + (R::TWO * along.value[v] * rate[other]);
                out[i] += share::<R>(d, e) * moved;
            }
        }
    }
    out
}

/// Derivative by θ_column of the second derivative in time of an output's position without accelerations;
/// `along` holds derivatives of the fields along the rates of θ, `bend` what `bend_slope_at` gives.
pub fn point_bias_slope<R: Load<M::Stored>, M: Source>(
    source: &M,
    [f, along]: [&Fields<'_, R>; 2],
    bend: &[R],
    output: usize,
    column: usize,
    [eta, rate]: [&[R]; 2],
) -> [R; 3] {
    let m = source.model();
    let mut out = [R::ZERO; 3];
    for (v, i, _, _) in of_output(m.list(Group::Position), output) {
        out[i] += bend[v];
    }
    for (v, i, j, _) in shifts(source, output) {
        out[i] += (bend[v] * eta[j]) + (R::TWO * along.slope(column)[v] * rate[j]);
    }
    for (v, i, d, e) in bends(source, output) {
        let pair_rate = (rate[d] * eta[e]) + (eta[d] * rate[e]);
        let moved = (bend[v] * eta[d] * eta[e])
            + (R::TWO * along.slope(column)[v] * pair_rate)
            + (R::TWO * f.slope(column)[v] * rate[d] * rate[e]);
        out[i] += share::<R>(d, e) * moved;
    }
    out
}

/// Position of an output.
pub fn position<R: Load<M::Stored>, M: Source>(
    source: &M,
    f: &Fields<'_, R>,
    output: usize,
    eta: &[R],
) -> [R; 3] {
    let m = source.model();
    let mut out = [R::ZERO; 3];
    for (v, i, _, _) in of_output(m.list(Group::Position), output) {
        out[i] += f.value[v];
    }
    for (v, i, j, _) in shifts(source, output) {
        out[i] += f.value[v] * eta[j];
    }
    for (v, i, d, e) in bends(source, output) {
        out[i] += f.value[v] * share::<R>(d, e) * eta[d] * eta[e];
    }
    out
}
