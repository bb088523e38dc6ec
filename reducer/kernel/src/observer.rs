//! An extended Kalman filter that finds the state of a model from its sensors [M 18.1].
//!
//! The estimate is x = (η, rate, disturbances), its covariance P = S Sᵀ. S is kept, not P: it cannot lose
//! definiteness, and single precision suffices. A prediction takes the state through one period with the
//! generated step, and S with the same step of the linearised model; an update takes sensors one after the other,
//! after their noise was made independent and of unit size [Potter 1963].

use super::algebra::all_finite;
use super::dynamics::step;
use super::linear::{LinearModel, linearize};
use super::locate::Status;
use super::measurement::{Sensor, directions, measure};
use super::model::Source;
use super::number::{Load, Number};
use super::parameters::Parameters;
use super::scratch::Scratch;

/// An unknown force that the filter finds, constant but for a random walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disturbance<C> {
    /// It acts on a point of an output, not on a coordinate.
    pub at_output: bool,
    /// Coordinate of η, or output.
    pub index: usize,
    /// Unit vector along which it acts on an output, inertial axes.
    pub axis: [C; 3],
}

/// What a filter is made for. Its makers guarantee that sizes agree, indices are in range, and noise of sensors is definite.
#[derive(Debug, Clone, Copy)]
pub struct ObserverModel<'a, C> {
    /// What is measured.
    pub sensors: &'a [Sensor<C>],
    /// Unknown forces.
    pub disturbances: &'a [Disturbance<C>],
    /// Steps of integration in a period.
    pub substeps: usize,
    /// Length of one of them.
    pub step: C,
    /// Lower factor of the covariance of forces on the coordinates that are held for a period, n × n.
    pub process: &'a [C],
    /// Deviation of the change of every disturbance in a period.
    pub drift: &'a [C],
    /// Lower factor of the covariance of the sensors' noise.
    pub measurement: &'a [C],
    /// Deviations of the first state.
    pub initial: &'a [C],
    /// Gravity that sensors feel, inertial axes.
    pub gravity: [C; 3],
}

impl<C> ObserverModel<'_, C> {
    /// Number of states of the filter for n coordinates.
    #[inline(always)]
    pub fn states(&self, n: usize) -> usize {
        2 * n + self.disturbances.len()
    }

    /// Numbers of memory that the functions below need beyond those of the model's own functions.
    pub fn memory(&self, n: usize, n_outputs: usize) -> usize {
        let (states, sensors) = (self.states(n), self.sensors.len());
        let columns = states + n + self.disturbances.len();
        let linear = 6 * n * n + 18 * n * n_outputs;
        let prediction = states + columns * (states + n) + 4 * n;
        let update = 2 * states + states * states + 2 * sensors + sensors * states + 4 * n;
        linear + n * (self.disturbances.len() + 16) + prediction.max(update) + 6 * states
    }
}

/// What a filter knows.
pub struct Estimate<'a, R> {
    /// η, rate, disturbances.
    pub x: &'a mut [R],
    /// S of P = S Sᵀ, row-major.
    pub root: &'a mut [R],
    /// Force of the last prediction.
    pub force: &'a mut [R],
    /// Squared innovation of the last update in units of its covariance, which has as many degrees of freedom as
    /// there are sensors.
    pub nis: &'a mut R,
}

/// Begins with a state under a force; disturbances are zero. Where an argument is not finite the estimate is zero.
pub fn observer_init<R: Load<M::Stored>, M: Source>(
    source: &M,
    o: &ObserverModel<'_, M::Stored>,
    e: &mut Estimate<'_, R>,
    [eta, rate, force]: [&[R]; 3],
) -> Status {
    let n = source.model().n;
    let states = o.states(n);
    let finite = all_finite(&eta[..n]) && all_finite(&rate[..n]) && all_finite(&force[..n]);
    e.x.fill(R::ZERO);
    e.root.fill(R::ZERO);
    e.force.fill(R::ZERO);
    *e.nis = R::ZERO;
    if !finite {
        return Status::NotFinite;
    }
    e.x[..n].copy_from_slice(&eta[..n]);
    e.x[n..2 * n].copy_from_slice(&rate[..n]);
    e.force.copy_from_slice(&force[..n]);
    for (i, deviation) in o.initial.iter().enumerate() {
        e.root[i * states + i] = R::load(*deviation);
    }
    Status::Ok
}

/// The force of a call and of the disturbances.
fn total_force<R: Number>(force: &[R], directions: &[R], disturbances: &[R], out: &mut [R]) {
    let count = disturbances.len();
    for (i, sum) in out.iter_mut().enumerate() {
        *sum = force[i];
        for (d, size) in disturbances.iter().enumerate() {
            *sum += directions[i * count + d] * *size;
        }
    }
}

/// Takes the estimate through one period under a constant force. A status of `Undefined` or worse leaves it as it was.
pub fn observer_predict<R: Load<M::Stored>, M: Source>(
    source: &M,
    o: &ObserverModel<'_, M::Stored>,
    p: Option<&Parameters<'_, R>>,
    e: &mut Estimate<'_, R>,
    force: &[R],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let m = source.model();
    let (n, count, states) = (m.n, o.disturbances.len(), o.states(m.n));
    let columns = states + n + count;
    let (x, g) = (scratch.take(states), scratch.take(n));
    let along = scratch.take(n * count);
    let (a, b) = (scratch.take(4 * n * n), scratch.take(2 * n * n));
    x.copy_from_slice(e.x);
    let mut status = directions(source, o, p, [&x[..n], &x[n..]], along, scratch.again());
    total_force(force, along, &x[2 * n..], g);
    let mut c = scratch.again();
    let mut linear = LinearModel {
        a: &mut *a,
        b: &mut *b,
        c: c.take(18 * n * m.n_outputs),
    };
    status = status.max(linearize(
        source,
        p,
        [&x[..n], &x[n..2 * n], g],
        &mut linear,
        c,
    ));
    let dt = R::load(o.step);
    for _ in 0..o.substeps {
        if status < Status::Undefined {
            status = status.max(step(source, p, &mut x[..2 * n], g, dt, scratch.again()));
        }
    }
    let spread = scratch.take(states * columns);
    let pushed = scratch.take(n * columns);
    if status < Status::Undefined {
        begin_spread(o, e.root, along, spread, pushed);
        propagate(o, [a, b], spread, pushed, scratch);
        triangularise(spread, states, columns);
        if !(all_finite(x) && all_finite(spread) && all_finite(&force[..n])) {
            status = Status::NotFinite;
        }
    }
    if status < Status::Undefined {
        e.x.copy_from_slice(x);
        for (to, from) in e
            .root
            .chunks_exact_mut(states)
            .zip(spread.chunks_exact(columns))
        {
            to.copy_from_slice(&from[..states]);
        }
        e.force.copy_from_slice(&force[..n]);
    }
    status
}

/// Columns whose squares sum up to the covariance, before the period: S, then forces that act in it, then drifts; and
/// the generalised force of each.
fn begin_spread<R: Load<C>, C: Copy>(
    o: &ObserverModel<'_, C>,
    root: &[R],
    along: &[R],
    spread: &mut [R],
    pushed: &mut [R],
) {
    let count = o.disturbances.len();
    let states = o.initial.len();
    let n = (states - count) / 2;
    let columns = states + n + count;
    spread.fill(R::ZERO);
    pushed.fill(R::ZERO);
    for (to, from) in spread
        .chunks_exact_mut(columns)
        .zip(root.chunks_exact(states))
    {
        to[..states].copy_from_slice(from);
    }
    for d in 0..count {
        spread[(2 * n + d) * columns + states + n + d] = R::load(o.drift[d]);
    }
    for i in 0..n {
        for j in 0..states {
            let mut sum = R::ZERO;
            for d in 0..count {
                sum += along[i * count + d] * root[(2 * n + d) * states + j];
            }
            pushed[i * columns + j] = sum;
        }
        for j in 0..n {
            pushed[i * columns + states + j] = R::load(o.process[i * n + j]);
        }
    }
}

/// Takes the columns through a period: x + Σ tₖ with t₁ = h (A x + B u) and tₖ = h/k A tₖ₋₁ up to the fourth, which is
/// what the step does with a linear model [M 18.2].
fn propagate<R: Load<C>, C: Copy>(
    o: &ObserverModel<'_, C>,
    [a, b]: [&[R]; 2],
    spread: &mut [R],
    pushed: &[R],
    mut scratch: Scratch<'_, R>,
) {
    let n = (o.initial.len() - o.disturbances.len()) / 2;
    let columns = pushed.len() / n;
    let h = R::load(o.step);
    let (term, next) = (scratch.take(2 * n), scratch.take(2 * n));
    for j in 0..columns {
        for _ in 0..o.substeps {
            for i in 0..2 * n {
                term[i] = spread[i * columns + j];
            }
            for k in 0..4 {
                let factor = h / R::of((k + 1) as f64);
                for i in 0..n {
                    let mut sum = R::ZERO;
                    for l in 0..2 * n {
                        sum += a[(n + i) * 2 * n + l] * term[l];
                    }
                    if k == 0 {
                        for l in 0..n {
                            sum += b[(n + i) * n + l] * pushed[l * columns + j];
                        }
                    }
                    next[i] = factor * term[n + i];
                    next[n + i] = factor * sum;
                }
                term.copy_from_slice(next);
                for (i, &part) in next.iter().enumerate() {
                    spread[i * columns + j] += part;
                }
            }
        }
    }
}

/// Turns columns so that the matrix becomes lower triangular and its product with its transpose stays (Householder).
fn triangularise<R: Number>(w: &mut [R], rows: usize, columns: usize) {
    for i in 0..rows {
        let mut square = R::ZERO;
        for j in i..columns {
            square += w[i * columns + j] * w[i * columns + j];
        }
        let length = square.square_root();
        if length > R::ZERO {
            let first = w[i * columns + i];
            // Away from the first entry, so that nothing cancels.
            let end = if first > R::ZERO { -length } else { length };
            w[i * columns + i] = first - end;
            let half = square - first * end;
            for k in i + 1..rows {
                let mut sum = R::ZERO;
                for j in i..columns {
                    sum += w[i * columns + j] * w[k * columns + j];
                }
                let part = sum / half;
                for j in i..columns {
                    w[k * columns + j] -= part * w[i * columns + j];
                }
            }
            w[i * columns + i] = end;
        }
        for j in i + 1..columns {
            w[i * columns + j] = R::ZERO;
        }
    }
}

/// What the sensors would read in a state x under a force, and its derivatives by x, one row per sensor.
pub fn observer_readings<R: Load<M::Stored>, M: Source>(
    source: &M,
    o: &ObserverModel<'_, M::Stored>,
    p: Option<&Parameters<'_, R>>,
    [x, force]: [&[R]; 2],
    found: [&mut [R]; 2],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let n = source.model().n;
    let (g, along) = (scratch.take(n), scratch.take(n * o.disturbances.len()));
    let status = directions(source, o, p, [&x[..n], &x[n..]], along, scratch.again());
    total_force(force, along, &x[2 * n..], g);
    status.max(measure(source, o, p, [x, g, along], found, scratch))
}

/// Corrects the estimate by what the sensors read. A status of `Undefined` or worse leaves it as it was.
pub fn observer_update<R: Load<M::Stored>, M: Source>(
    source: &M,
    o: &ObserverModel<'_, M::Stored>,
    p: Option<&Parameters<'_, R>>,
    e: &mut Estimate<'_, R>,
    readings: &[R],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let n = source.model().n;
    let (states, sensors) = (o.states(n), o.sensors.len());
    let (x, root) = (scratch.take(states), scratch.take(states * states));
    let (innovation, slope) = (scratch.take(sensors), scratch.take(sensors * states));
    x.copy_from_slice(e.x);
    root.copy_from_slice(e.root);
    let (given, found) = ([&*x, &*e.force], [&mut *innovation, &mut *slope]);
    let status = observer_readings(source, o, p, given, found, scratch.again());
    if status >= Status::Undefined {
        return status;
    }
    for (y, reading) in innovation.iter_mut().zip(readings) {
        *y = *reading - *y;
    }
    whiten(o, innovation, slope, states);
    let nis = correct([innovation, slope], x, root, scratch);
    if !(all_finite(x) && all_finite(root) && nis.is_finite()) {
        return Status::NotFinite;
    }
    e.x.copy_from_slice(x);
    e.root.copy_from_slice(root);
    *e.nis = nis;
    status
}

/// Divides innovations and rows by the lower factor of the sensors' covariance.
fn whiten<R: Load<C>, C: Copy>(
    o: &ObserverModel<'_, C>,
    innovation: &mut [R],
    slope: &mut [R],
    states: usize,
) {
    let sensors = innovation.len();
    for i in 0..sensors {
        for j in 0..i {
            let part = R::load(o.measurement[i * sensors + j]);
            let shared = part * innovation[j];
            innovation[i] -= shared;
            for k in 0..states {
                let shared = part * slope[j * states + k];
                slope[i * states + k] -= shared;
            }
        }
        let size = R::load(o.measurement[i * sensors + i]);
        innovation[i] = innovation[i] / size;
        for k in 0..states {
            slope[i * states + k] = slope[i * states + k] / size;
        }
    }
}

/// Takes one reading after the other, each with noise of unit size [M 18.4]; returns the squared innovation in units of its covariance.
fn correct<R: Number>(
    [innovation, slope]: [&[R]; 2],
    x: &mut [R],
    root: &mut [R],
    mut scratch: Scratch<'_, R>,
) -> R {
    let states = x.len();
    let (moved, seen) = (scratch.zeros(states), scratch.take(states));
    let shift = scratch.take(states);
    let mut nis = R::ZERO;
    for (y, h) in innovation.iter().zip(slope.chunks_exact(states)) {
        let mut rest = *y;
        let mut variance = R::ONE;
        for j in 0..states {
            let mut sum = R::ZERO;
            for i in 0..states {
                sum += root[i * states + j] * h[i];
            }
            seen[j] = sum;
            variance += sum * sum;
            rest -= h[j] * moved[j];
        }
        let part = rest / variance;
        let shrink = R::ONE / (variance + variance.square_root());
        nis += rest * part;
        for i in 0..states {
            let mut sum = R::ZERO;
            for j in 0..states {
                sum += root[i * states + j] * seen[j];
            }
            shift[i] = sum;
            moved[i] += sum * part;
        }
        for i in 0..states {
            let factor = shrink * shift[i];
            for j in 0..states {
                root[i * states + j] -= factor * seen[j];
            }
        }
    }
    for (x, moved) in x.iter_mut().zip(&*moved) {
        *x += *moved;
    }
    nis
}
