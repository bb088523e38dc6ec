//! What a block does with its inputs: continuous laws ẋ = f(u, x, t), y = g(u, x, t) [T 4.3], and their
//! discrete counterparts.

use super::called::ModelLaw;
use super::expression::Expression;
use super::external::External;
use super::observed::ObserverLaw;
use super::state_space::StateSpace;
use crate::dynamics::signal::Signal;
use crate::reduced_model::Status;
use nalgebra::DMatrix;

/// Lower and upper limit.
pub type Limits = [f64; 2];

/// The law of a block.
#[derive(Debug, Clone, PartialEq)]
pub enum Law {
    /// A function of time, and so many of its derivatives, up to two, as further outputs.
    Source(Signal, usize),
    /// A multiple of the input.
    Gain(f64),
    /// Linear equations with constant coefficients.
    Linear(StateSpace),
    /// Integral of a multiple of the input.
    Integrator {
        /// The multiple.
        gain: f64,
        /// Value at t = 0.
        initial: f64,
        /// Where it stops.
        limits: Option<Limits>,
    },
    /// The input, held at the limits.
    Saturation(Limits),
    /// What the input is beyond the limits; zero between them.
    DeadZone(Limits),
    /// The nearest multiple of a step.
    Quantiser(f64),
    /// Straight lines through points (input, output), held outside.
    Lookup(Vec<[f64; 2]>),
    /// An expression of the inputs.
    Expression(Expression),
    /// Proportional, integral and derivative action.
    Pid(Pid),
    /// The input some samples ago; zero before the first.
    Delay(usize),
    /// Normally distributed numbers, one per sample.
    Noise {
        /// Standard deviation.
        deviation: f64,
        /// Which sequence.
        seed: u64,
    },
    /// A controller of the user's own.
    External(External),
    /// A filter that finds the state of the mechanism from sensors.
    Observer(Box<ObserverLaw>),
    /// A function of the reduced model.
    Model(ModelLaw),
}

/// u = kp·e + I + D, limited; İ = ki·e + (u − u_unlimited)/tracking.
#[derive(Debug, Clone, PartialEq)]
pub struct Pid {
    /// Proportional gain.
    pub kp: f64,
    /// Integral gain.
    pub ki: f64,
    /// Derivative gain.
    pub kd: f64,
    /// Time constant of the derivative's low pass (s); unused where the rate is an input.
    pub filter: f64,
    /// A second input is the rate of the first.
    pub has_rate: bool,
    /// Limits of the output.
    pub limits: Option<Limits>,
    /// Limits of the integral I.
    pub integral_limits: Option<Limits>,
    /// Time constant with which I follows what the limits leave of the output (s).
    pub tracking: Option<f64>,
}

impl Pid {
    /// Output without limits; x = [I, low pass of the input].
    fn unlimited(&self, x: &[f64], u: &[f64]) -> f64 {
        let derivative = if self.has_rate {
            self.kd * u[1]
        } else if self.kd != 0.0 {
            self.kd * (u[0] - x[1]) / self.filter
        } else {
            0.0
        };
        self.kp * u[0] + limited(x[0], self.integral_limits) + derivative
    }

    fn n_states(&self) -> usize {
        1 + usize::from(self.low_passes())
    }

    fn low_passes(&self) -> bool {
        self.kd != 0.0 && !self.has_rate
    }

    fn integral_rate(&self, x: &[f64], u: &[f64]) -> f64 {
        let raw = self.unlimited(x, u);
        let back = self
            .tracking
            .map_or(0.0, |t| (limited(raw, self.limits) - raw) / t);
        self.ki * u[0] + back
    }

    /// The discrete law: the integral by rectangles that end at the sample, the derivative by the
    /// last difference.
    fn sample(&self, memory: &mut [f64], u: &[f64], period: f64, first: bool) -> f64 {
        let [integral, derivative, before] = memory else {
            return f64::NAN;
        };
        let e = u[0];
        if first {
            *before = e;
        }
        *integral = limited(*integral + self.ki * period * e, self.integral_limits);
        *derivative = if self.has_rate {
            self.kd * u[1]
        } else {
            (self.filter * *derivative + self.kd * (e - *before)) / (self.filter + period)
        };
        *before = e;
        let raw = self.kp * e + *integral + *derivative;
        let out = limited(raw, self.limits);
        if let Some(time) = self.tracking {
            let back = (period / time).min(1.0) * (out - raw);
            *integral = limited(*integral + back, self.integral_limits);
        }
        out
    }
}

fn limited(value: f64, limits: Option<Limits>) -> f64 {
    match limits {
        // NaN stays NaN, and limits are ordered.
        Some([lower, upper]) => value.clamp(lower, upper),
        None => value,
    }
}

/// Below, between or above limits.
fn region(value: f64, limits: &Limits) -> i8 {
    i8::from(value > limits[1]) - i8::from(value < limits[0])
}

/// Derivatives of rates and outputs of one block, by its states and inputs.
#[derive(Debug, Clone)]
pub(super) struct LocalSlopes {
    pub a: DMatrix<f64>,
    pub b: DMatrix<f64>,
    pub c: DMatrix<f64>,
    pub d: DMatrix<f64>,
}

impl Law {
    /// Number of inputs.
    pub fn n_inputs(&self) -> usize {
        match self {
            Self::Source(..) | Self::Noise { .. } => 0,
            Self::Linear(system) => system.b.ncols(),
            Self::Expression(expression) => expression.n_inputs(),
            Self::Pid(pid) => 1 + usize::from(pid.has_rate),
            Self::External(external) => external.inputs,
            Self::Observer(observer) => observer.n_inputs(),
            Self::Model(model) => model.n_inputs(),
            _ => 1,
        }
    }

    /// Number of outputs.
    pub fn n_outputs(&self) -> usize {
        match self {
            Self::Source(_, derivatives) => 1 + derivatives,
            Self::Linear(system) => system.c.nrows(),
            Self::External(external) => external.outputs,
            Self::Observer(observer) => observer.n_outputs(),
            Self::Model(model) => model.coordinates,
            _ => 1,
        }
    }

    /// Number of states while it is continuous.
    pub fn n_states(&self) -> usize {
        match self {
            Self::Linear(system) => system.a.nrows(),
            Self::Integrator { .. } => 1,
            Self::Pid(pid) => pid.n_states(),
            _ => 0,
        }
    }

    /// States at t = 0.
    pub(super) fn initial(&self) -> Vec<f64> {
        match self {
            Self::Linear(system) => system.initial.clone(),
            Self::Integrator { initial, .. } => vec![*initial],
            _ => vec![0.0; self.n_states()],
        }
    }

    /// Whether an output depends on an input at the same instant; discrete integrals and filters
    /// count the present sample.
    pub(super) fn feeds_through(&self, sampled: bool) -> bool {
        match self {
            Self::Source(..) | Self::Delay(_) | Self::Noise { .. } => false,
            Self::Integrator { .. } => sampled,
            Self::Linear(system) => sampled || system.d.iter().any(|d| *d != 0.0),
            _ => true,
        }
    }

    /// Whether it has a meaning between samples.
    pub fn may_be_continuous(&self) -> bool {
        !matches!(
            self,
            Self::Quantiser(_)
                | Self::Delay(_)
                | Self::Noise { .. }
                | Self::External(_)
                | Self::Observer(_)
        )
    }

    /// Whether its slopes are the same everywhere.
    pub(super) fn is_linear(&self) -> bool {
        match self {
            Self::Source(..) | Self::Gain(_) | Self::Linear(_) => true,
            Self::Integrator { limits, .. } => limits.is_none(),
            Self::Pid(pid) => pid.limits.is_none() && pid.integral_limits.is_none(),
            _ => false,
        }
    }

    /// Outputs at an instant. Blocks that do not feed through leave `u` unread.
    pub(super) fn outputs(&self, time: f64, x: &[f64], u: &[f64], y: &mut [f64]) {
        match self {
            Self::Source(signal, _) => {
                let jet = signal.at(time);
                for (y, value) in y.iter_mut().zip([jet.value, jet.rate, jet.acceleration]) {
                    *y = value;
                }
            }
            Self::Gain(gain) => y[0] = gain * u[0],
            Self::Linear(system) => system.outputs(x, u, y),
            Self::Integrator { limits, .. } => y[0] = limited(x[0], *limits),
            Self::Saturation(limits) => y[0] = limited(u[0], Some(*limits)),
            Self::DeadZone([lower, upper]) => {
                y[0] = (u[0] - upper).max(0.0) + (u[0] - lower).min(0.0);
            }
            Self::Quantiser(step) => y[0] = step * (u[0] / step).round(),
            Self::Lookup(points) => y[0] = lookup(points, u[0]).0,
            Self::Expression(expression) => y[0] = expression.value(u),
            Self::Pid(pid) => y[0] = limited(pid.unlimited(x, u), pid.limits),
            Self::Model(model) => model.outputs(u, y),
            // Their outputs are held between samples.
            Self::Delay(_) | Self::Noise { .. } | Self::External(_) | Self::Observer(_) => {}
        }
    }

    /// Rates of the states; `held` where a limited integral rests at its limit.
    pub(super) fn rates(&self, x: &[f64], u: &[f64], held: i8, rates: &mut [f64]) {
        match self {
            Self::Linear(system) => system.rates(x, u, rates),
            Self::Integrator { gain, .. } => {
                rates[0] = if held == 0 { gain * u[0] } else { 0.0 };
            }
            Self::Pid(pid) => {
                rates[0] = if held == 0 {
                    pid.integral_rate(x, u)
                } else {
                    0.0
                };
                if pid.low_passes() {
                    rates[1] = (u[0] - x[1]) / pid.filter;
                }
            }
            _ => {}
        }
    }

    /// Limits of the integral, which is the first state, and the rate it would have without them.
    pub(super) fn integral(&self, x: &[f64], u: &[f64]) -> Option<(Limits, f64)> {
        match self {
            Self::Integrator { gain, limits, .. } => Some(((*limits)?, gain * u[0])),
            Self::Pid(pid) => Some((pid.integral_limits?, pid.integral_rate(x, u))),
            _ => None,
        }
    }

    /// Which piece of a piecewise law is at work.
    pub(super) fn piece(&self, x: &[f64], u: &[f64]) -> i8 {
        match self {
            Self::Saturation(limits) | Self::DeadZone(limits) => region(u[0], limits),
            Self::Pid(pid) => match &pid.limits {
                Some(limits) => region(pid.unlimited(x, u), limits),
                None => 0,
            },
            Self::Model(model) => i8::from(model.status(u) != Some(Status::Inside)),
            _ => 0,
        }
    }

    /// Slopes of the continuous law.
    pub(super) fn slopes(&self, x: &[f64], u: &[f64], held: i8) -> LocalSlopes {
        let (n, m, p) = (x.len(), u.len(), self.n_outputs());
        let mut s = LocalSlopes {
            a: DMatrix::zeros(n, n),
            b: DMatrix::zeros(n, m),
            c: DMatrix::zeros(p, n),
            d: DMatrix::zeros(p, m),
        };
        let free = if held == 0 { 1.0 } else { 0.0 };
        match self {
            Self::Gain(gain) => s.d[(0, 0)] = *gain,
            Self::Linear(system) => {
                s.a.copy_from(&system.a);
                s.b.copy_from(&system.b);
                s.c.copy_from(&system.c);
                s.d.copy_from(&system.d);
            }
            Self::Integrator { gain, limits, .. } => {
                s.b[(0, 0)] = free * gain;
                s.c[(0, 0)] = inside(x[0], *limits);
            }
            Self::Saturation(limits) => s.d[(0, 0)] = inside(u[0], Some(*limits)),
            Self::DeadZone(limits) => s.d[(0, 0)] = 1.0 - inside(u[0], Some(*limits)),
            Self::Lookup(points) => s.d[(0, 0)] = lookup(points, u[0]).1,
            Self::Expression(expression) => {
                let gradient = expression.gradient(u);
                for (j, slope) in gradient.iter().enumerate() {
                    s.d[(0, j)] = *slope;
                }
            }
            Self::Pid(pid) => pid_slopes(pid, x, u, free, &mut s),
            Self::Model(model) => s.d = model.slopes(u),
            Self::Source(..)
            | Self::Quantiser(_)
            | Self::Delay(_)
            | Self::Noise { .. }
            | Self::External(_)
            | Self::Observer(_) => {}
        }
        s
    }

    /// Numbers that the discrete law remembers.
    pub(super) fn n_memory(&self) -> usize {
        match self {
            Self::Linear(system) => system.a.nrows() + system.b.ncols(),
            Self::Integrator { .. } => 1,
            Self::Pid(_) => 3,
            Self::Delay(samples) => *samples,
            Self::Observer(observer) => observer.n_memory(),
            _ => 0,
        }
    }

    /// Outputs of the discrete law at a sample.
    pub(super) fn sample(&self, at: &Sample, memory: &mut [f64], u: &[f64], y: &mut [f64]) {
        match self {
            Self::Linear(system) => system.sample(memory, u, y, at.period, at.count == 0),
            Self::Integrator { gain, limits, .. } => {
                memory[0] = limited(memory[0] + gain * at.period * u[0], *limits);
                y[0] = memory[0];
            }
            Self::Pid(pid) => y[0] = pid.sample(memory, u, at.period, at.count == 0),
            Self::Delay(samples) => y[0] = memory[at.place(*samples)],
            Self::Observer(observer) => observer.sample(at, memory, u, y),
            Self::Noise { deviation, seed } => {
                y[0] = deviation * super::noise::normal(*seed, at.count)
            }
            _ => self.outputs(at.time, &[], u, y),
        }
    }

    /// Takes the input of a sample where only later outputs depend on it.
    pub(super) fn store(&self, at: &Sample, memory: &mut [f64], u: &[f64]) {
        if let Self::Delay(samples) = self {
            memory[at.place(*samples)] = u[0];
        }
    }
}

impl Sample {
    /// Where a ring of this many numbers has its oldest.
    fn place(&self, length: usize) -> usize {
        (self.count % length.max(1) as u64) as usize
    }
}

/// An instant at which discrete laws act.
pub(super) struct Sample {
    pub time: f64,
    pub period: f64,
    /// Samples before this one.
    pub count: u64,
}

fn inside(value: f64, limits: Option<Limits>) -> f64 {
    match limits {
        Some(limits) if region(value, &limits) != 0 => 0.0,
        _ => 1.0,
    }
}

fn pid_slopes(pid: &Pid, x: &[f64], u: &[f64], free: f64, s: &mut LocalSlopes) {
    let through = inside(pid.unlimited(x, u), pid.limits);
    let mut by_x = vec![0.0; x.len()];
    let mut by_u = vec![0.0; u.len()];
    by_x[0] = inside(x[0], pid.integral_limits);
    by_u[0] = pid.kp;
    if pid.has_rate {
        by_u[1] = pid.kd;
    } else if pid.low_passes() {
        by_u[0] += pid.kd / pid.filter;
        by_x[1] = -pid.kd / pid.filter;
        s.a[(1, 1)] = -1.0 / pid.filter;
        s.b[(1, 0)] = 1.0 / pid.filter;
    }
    let back = pid.tracking.map_or(0.0, |t| free * (through - 1.0) / t);
    for (j, slope) in by_x.iter().enumerate() {
        s.c[(0, j)] = through * slope;
        s.a[(0, j)] += back * slope;
    }
    for (j, slope) in by_u.iter().enumerate() {
        s.d[(0, j)] = through * slope;
        s.b[(0, j)] += back * slope;
    }
    s.b[(0, 0)] += free * pid.ki;
}

/// Value and slope of straight lines through points of increasing input.
fn lookup(points: &[[f64; 2]], at: f64) -> (f64, f64) {
    let after = points.partition_point(|p| p[0] <= at);
    match (after.checked_sub(1).map(|i| points[i]), points.get(after)) {
        (Some(low), Some(high)) => {
            let slope = (high[1] - low[1]) / (high[0] - low[0]);
            (low[1] + slope * (at - low[0]), slope)
        }
        (Some(end), None) | (None, Some(&end)) => (end[1], 0.0),
        (None, None) => (f64::NAN, 0.0),
    }
}
