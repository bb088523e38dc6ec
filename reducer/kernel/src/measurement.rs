//! What sensors read of a state, and how it changes with the state [M 18.3].

use super::curvature::{Curvature, bend_slope_at};
use super::dynamics::{begin, forward_dynamics};
use super::linear::{LinearModel, linearize};
use super::locate::Status;
use super::model::Source;
use super::motion::{
    Output, output, point_bias_by, point_bias_slope, point_jacobian, point_jacobian_by,
    point_jacobian_rate,
};
use super::number::{Load, Number};
use super::observer::ObserverModel;
use super::parameters::Parameters;
use super::polynomials::{Fields, MOTION, Place, at};
use super::scratch::Scratch;

/// What a sensor reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Coordinate `index` of η.
    Coordinate,
    /// Its rate.
    Rate,
    /// Its second derivative.
    Acceleration,
    /// Position of output `index` along an inertial axis.
    Position,
    /// Its velocity along an axis.
    Velocity,
    /// Its acceleration along an axis.
    PointAcceleration,
}

impl Reading {
    /// Whether it is read off the state without the model.
    pub fn is_state(self) -> bool {
        matches!(self, Self::Coordinate | Self::Rate)
    }
}

/// A sensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sensor<C> {
    /// What it reads.
    pub reading: Reading,
    /// Of which coordinate or output.
    pub index: usize,
    /// Along which unit vector, of an output.
    pub axis: [C; 3],
    /// The axis turns with the output.
    pub body: bool,
    /// Gravity is felt as well: at rest it reads what holds it up.
    pub gravity: bool,
}

/// A linear model around the state of a measurement, and its accelerations.
struct Around<'a, R> {
    a: &'a mut [R],
    b: &'a mut [R],
    c: &'a mut [R],
    accel: &'a mut [R],
    /// Generalised force per disturbance, n × disturbances.
    directions: &'a [R],
}

/// A vector of an output and its derivatives by the state.
struct Vector<'a, R> {
    value: [R; 3],
    rotation: [R; 9],
    /// 3 × states.
    rows: &'a mut [R],
}

/// What every sensor would read in the state x (`reading`), and its derivatives by x (`slope`, one row per
/// sensor). `force` holds generalised forces with disturbances, `directions` what [`directions`] gives.
pub fn measure<R: Load<M::Stored>, M: Source>(
    source: &M,
    o: &ObserverModel<'_, M::Stored>,
    p: Option<&Parameters<'_, R>>,
    [x, force, directions]: [&[R]; 3],
    [reading, slope]: [&mut [R]; 2],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let m = source.model();
    let (n, states) = (m.n, o.states(m.n));
    let (eta, rate) = (&x[..n], &x[n..2 * n]);
    slope.fill(R::ZERO);
    let needs_model = o.sensors.iter().any(|s| !s.reading.is_state());
    let (mut status, place) = begin(source, p, [eta, rate, force], &mut scratch);
    if !needs_model {
        status = Status::Ok;
    }
    let around = Around {
        a: scratch.take(4 * n * n),
        b: scratch.take(2 * n * n),
        c: scratch.take(18 * n * m.n_outputs),
        accel: scratch.zeros(n),
        directions,
    };
    if needs_model && status < Status::Undefined {
        let mut out = LinearModel {
            a: &mut *around.a,
            b: &mut *around.b,
            c: &mut *around.c,
        };
        let state = [eta, rate, force];
        status = status.max(linearize(source, p, state, &mut out, scratch.again()));
        let accelerated = forward_dynamics(source, p, state, around.accel, scratch.again());
        status = status.max(accelerated);
    }
    if status >= Status::Undefined {
        return status;
    }
    let mut vector = Vector {
        value: [R::ZERO; 3],
        rotation: [R::ZERO; 9],
        rows: scratch.take(3 * states),
    };
    let mut known = None;
    let rows = slope.chunks_exact_mut(states);
    for ((sensor, y), row) in o.sensors.iter().zip(reading).zip(rows) {
        let k = sensor.index;
        match sensor.reading {
            Reading::Coordinate => {
                *y = eta[k];
                row[k] = R::ONE;
            }
            Reading::Rate => {
                *y = rate[k];
                row[n + k] = R::ONE;
            }
            Reading::Acceleration => {
                *y = around.accel[k];
                around.add_acceleration(n, k, R::ONE, row);
            }
            _ => {
                // Axes of one vector are found together.
                if known != Some((sensor.reading, k)) {
                    let what = (sensor.reading, k);
                    let state = [eta, rate];
                    around.find(source, what, &place, state, &mut vector, scratch.again());
                    known = Some((sensor.reading, k));
                }
                let turning = &around.c[(9 * k + 3) * 2 * n..];
                *y = vector.project(sensor, o.gravity, turning, n, row);
            }
        }
    }
    status
}

impl<R: Number> Around<'_, R> {
    /// Adds a multiple of how an acceleration changes with the state.
    fn add_acceleration(&self, n: usize, k: usize, factor: R, row: &mut [R]) {
        let (state, disturbed) = row.split_at_mut(2 * n);
        for (j, sum) in state.iter_mut().enumerate() {
            *sum += factor * self.a[(n + k) * 2 * n + j];
        }
        let count = disturbed.len();
        for (d, sum) in disturbed.iter_mut().enumerate() {
            for j in 0..n {
                *sum += factor * (self.b[(n + k) * n + j] * self.directions[j * count + d]);
            }
        }
    }

    /// A vector of an output. Accelerations are J η̈ + J̇ η̇, where η̈ follows from the state.
    fn find<M: Source>(
        &self,
        source: &M,
        (reading, number): (Reading, usize),
        place: &Place<'_, R>,
        [eta, rate]: [&[R]; 2],
        out: &mut Vector<'_, R>,
        mut scratch: Scratch<'_, R>,
    ) where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let n = m.n;
        let states = out.rows.len() / 3;
        let mut f = Fields::of::<M, MOTION>(source, &mut scratch);
        at::<R, M, MOTION>(source, place, &mut f, scratch.again());
        let mut vectors = [[R::ZERO; 3]; 3];
        let [position, velocity, angular_velocity] = &mut vectors;
        let mut motion = Output {
            position,
            rotation: &mut out.rotation,
            velocity,
            angular_velocity,
            jacobian: scratch.take(6 * n),
        };
        output(source, &f, number, [eta, rate], &mut motion);
        out.rows.fill(R::ZERO);
        out.value = match reading {
            Reading::Position => vectors[0],
            _ => vectors[1],
        };
        if reading == Reading::PointAcceleration {
            self.accelerate(source, (number, place), &f, [eta, rate], out, scratch);
            return;
        }
        let first = if reading == Reading::Position { 0 } else { 6 };
        for i in 0..3 {
            for j in 0..2 * n {
                out.rows[i * states + j] = self.c[(9 * number + first + i) * 2 * n + j];
            }
        }
    }

    fn accelerate<M: Source>(
        &self,
        source: &M,
        (number, place): (usize, &Place<'_, R>),
        f: &Fields<'_, R>,
        [eta, rate]: [&[R]; 2],
        out: &mut Vector<'_, R>,
        mut scratch: Scratch<'_, R>,
    ) where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let n = m.n;
        let states = out.rows.len() / 3;
        let mut along = Fields::of::<M, MOTION>(source, &mut scratch);
        let mut aside = Fields::of::<M, MOTION>(source, &mut scratch);
        let curvature = Curvature::at::<M, MOTION>(source, place, &mut scratch);
        curvature.along(f, &rate[..m.n_rigid], &mut along);
        let (jacobian, jacobian_rate) = (scratch.take(3 * n), scratch.take(3 * n));
        let (slope, bend) = (scratch.take(3 * n), scratch.take(m.motion.values));
        point_jacobian(source, f, number, eta, jacobian);
        point_jacobian_rate(source, f, &along, number, [eta, rate], jacobian_rate);
        for i in 0..3 {
            out.value[i] = R::ZERO;
            for k in 0..n {
                let at = i * n + k;
                out.value[i] += (jacobian[at] * self.accel[k]) + (jacobian_rate[at] * rate[k]);
            }
        }
        for k in 0..n {
            let bias = if k < m.n_rigid {
                curvature.along_one(f, k, &mut aside);
                bend_slope_at::<R, M, MOTION>(source, place, rate, k, bend, scratch.again());
                point_jacobian(source, &aside, number, eta, slope);
                point_bias_slope(source, [f, &along], bend, number, k, [eta, rate])
            } else {
                point_jacobian_by(source, f, number, eta, k, slope);
                point_bias_by(source, &along, number, [eta, rate], k)
            };
            for i in 0..3 {
                let mut by = bias[i];
                for j in 0..n {
                    by += slope[i * n + j] * self.accel[j];
                }
                out.rows[i * states + k] = by;
                // J̇ η̇ is a quadratic form of rates.
                out.rows[i * states + n + k] = R::TWO * jacobian_rate[i * n + k];
            }
        }
        for i in 0..3 {
            let row = &mut out.rows[i * states..(i + 1) * states];
            for k in 0..n {
                self.add_acceleration(n, k, jacobian[i * n + k], row);
            }
        }
    }
}

impl<R: Number> Vector<'_, R> {
    /// Reading of a sensor along its axis, and its derivatives; `turning` holds small rotations of the output
    /// per coordinate.
    fn project<C: Copy>(
        &self,
        sensor: &Sensor<C>,
        gravity: [C; 3],
        turning: &[R],
        n: usize,
        row: &mut [R],
    ) -> R
    where
        R: Load<C>,
    {
        let states = row.len();
        let mut value = self.value;
        if sensor.gravity {
            for i in 0..3 {
                value[i] -= R::load(gravity[i]);
            }
        }
        let mut axis = sensor.axis.map(R::load);
        if sensor.body {
            let own = axis;
            for i in 0..3 {
                axis[i] = (self.rotation[3 * i] * own[0])
                    + (self.rotation[3 * i + 1] * own[1])
                    + (self.rotation[3 * i + 2] * own[2]);
            }
        }
        for (j, sum) in row.iter_mut().enumerate() {
            *sum = (axis[0] * self.rows[j])
                + (axis[1] * self.rows[states + j])
                + (axis[2] * self.rows[2 * states + j]);
        }
        if sensor.body {
            // The axis turns by δφ × axis.
            let lever = [
                (axis[1] * value[2]) - (axis[2] * value[1]),
                (axis[2] * value[0]) - (axis[0] * value[2]),
                (axis[0] * value[1]) - (axis[1] * value[0]),
            ];
            for k in 0..n {
                row[k] += (lever[0] * turning[k])
                    + (lever[1] * turning[2 * n + k])
                    + (lever[2] * turning[4 * n + k]);
            }
        }
        (axis[0] * value[0]) + (axis[1] * value[1]) + (axis[2] * value[2])
    }
}

/// Generalised force per unit of each disturbance, n × disturbances.
pub fn directions<R: Load<M::Stored>, M: Source>(
    source: &M,
    o: &ObserverModel<'_, M::Stored>,
    p: Option<&Parameters<'_, R>>,
    [eta, rate]: [&[R]; 2],
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let n = source.model().n;
    let count = o.disturbances.len();
    out.fill(R::ZERO);
    let mut status = Status::Ok;
    for (d, disturbance) in o.disturbances.iter().enumerate() {
        let k = disturbance.index;
        if !disturbance.at_output {
            out[k * count + d] = R::ONE;
            continue;
        }
        let mut inner = scratch.again();
        let (found, place) = begin(source, p, [eta, rate, rate], &mut inner);
        status = status.max(found);
        if status >= Status::Undefined {
            return status;
        }
        let mut f = Fields::of::<M, MOTION>(source, &mut inner);
        at::<R, M, MOTION>(source, &place, &mut f, inner.again());
        let jacobian = inner.take(3 * n);
        point_jacobian(source, &f, k, eta, jacobian);
        let axis = disturbance.axis.map(R::load);
        for j in 0..n {
            out[j * count + d] = (axis[0] * jacobian[j])
                + (axis[1] * jacobian[n + j])
                + (axis[2] * jacobian[2 * n + j]);
        }
    }
    status
}
