//! One step of the generalised-α method on the Lie group.
//!
//! q₊ = q·exp(n), n = h·v + h²((½−β)a + βa₊), v₊ = v + h((1−γ)a + γa₊),
//! (1−α_m)a₊ + α_m·a = (1−α_f)v̇₊ + α_f·v̇, with the balance of forces and the constraints at t₊
//! [Brüls, Cardona and Arnold 2012].

use super::equations::{Equations, State, of_node};
use super::iteration::{Factor, Iteration, Weights, Worst};
use super::structure::Structure;
use crate::lie::{self, Frame, inverse_tangent};
use nalgebra::Matrix3;

/// Newton iterations in one step.
const ITERATIONS: usize = 30;
/// Where corrections shrink more slowly than this, the next step makes the matrix anew.
const SLOW: f64 = 0.15;
/// Residual of closed constraints (m, rad).
const CLOSED: f64 = 1e-12;
/// Step sizes that differ by less than this part share their factors.
const SAME_SIZE: f64 = 1e-6;
/// Corrections below this are rounding, in parts of the mechanism's size.
const ROUNDING: f64 = 1e-13;

/// Parameters of the method for a spectral radius.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scheme {
    alpha_m: f64,
    alpha_f: f64,
    beta: f64,
    gamma: f64,
}

impl Scheme {
    pub fn new(spectral_radius: f64) -> Self {
        let alpha_m = (2.0 * spectral_radius - 1.0) / (spectral_radius + 1.0);
        let alpha_f = spectral_radius / (spectral_radius + 1.0);
        Self::with([alpha_m, alpha_f])
    }

    /// The method of second order with these parameters; α_m = 0 is that of Hilber, Hughes and
    /// Taylor, both zero the trapezoidal rule of Newmark.
    pub fn with([alpha_m, alpha_f]: [f64; 2]) -> Self {
        let gamma = 0.5 + alpha_f - alpha_m;
        Self {
            alpha_m,
            alpha_f,
            gamma,
            beta: 0.25 * (gamma + 0.5).powi(2),
        }
    }

    /// By how many steps the auxiliary accelerations lag behind the true ones.
    pub fn lag(&self) -> f64 {
        self.alpha_f - self.alpha_m
    }

    /// Local error of positions in parts of h²(a₊ − a).
    pub fn position_error(&self) -> f64 {
        (self.beta - 0.5 * self.lag() - 1.0 / 6.0).abs()
    }

    fn weights(&self, h: f64) -> Weights {
        Weights {
            mass: (1.0 - self.alpha_m) / (self.beta * h * h * (1.0 - self.alpha_f)),
            damping: self.gamma / (self.beta * h),
            stiffness: 1.0,
            control: self.control_factor(h),
        }
    }

    /// κh of x₊ = x̂ + κh·ẋ₊ for the states of blocks [M 13.3].
    fn control_factor(&self, h: f64) -> f64 {
        h * self.gamma * (1.0 - self.alpha_f) / (1.0 - self.alpha_m)
    }

    /// The auxiliary rate that a rate leads to.
    fn auxiliary(&self, rate: f64, before: f64, auxiliary_before: f64) -> f64 {
        ((1.0 - self.alpha_f) * rate + self.alpha_f * before - self.alpha_m * auxiliary_before)
            / (1.0 - self.alpha_m)
    }
}

/// What the steps have cost so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counters {
    pub iterations: usize,
    pub factorisations: usize,
}

/// Why a step failed.
pub(super) struct StepFailure {
    /// None where the iteration matrix is singular.
    pub worst: Option<Worst>,
    pub residual: f64,
    pub iterations: usize,
}

/// The method with its factors, which are used again until they no longer serve.
pub(super) struct Stepper {
    pub scheme: Scheme,
    pub counters: Counters,
    tolerance: f64,
    factor: Option<(f64, Factor)>,
    /// The factors converge, but slowly.
    stale: bool,
}

/// Where a step shall lead.
pub(super) struct Target {
    /// End of the step.
    pub time: f64,
    /// Size of the step.
    pub size: f64,
    /// Time at which the excitation is read: the end, or just before where it jumps.
    pub reading: f64,
}

impl Stepper {
    pub fn new(scheme: Scheme, tolerance: f64) -> Self {
        Self {
            scheme,
            counters: Counters::default(),
            tolerance,
            factor: None,
            stale: false,
        }
    }

    /// The state at the end of a step: with the factors at hand, with new ones, or with new ones
    /// in every iteration.
    pub fn step(
        &mut self,
        equations: &Equations<'_>,
        iteration: &Iteration,
        structure: &Structure,
        from: &State,
        target: &Target,
    ) -> Result<State, StepFailure> {
        let problem = Problem {
            equations,
            iteration,
            structure,
            from,
            target,
        };
        let usable = |(size, _): &(f64, Factor)| (size - target.size).abs() <= SAME_SIZE * size;
        if !self.stale
            && self.factor.as_ref().is_some_and(usable)
            && let Ok(state) = self.newton(&problem, Effort::Kept)
        {
            return Ok(state);
        }
        self.stale = false;
        self.newton(&problem, Effort::Fresh)
            .or_else(|_| self.newton(&problem, Effort::Every))
    }

    fn newton(&mut self, problem: &Problem<'_>, effort: Effort) -> Result<State, StepFailure> {
        let Problem {
            equations,
            iteration,
            structure,
            from,
            target,
        } = problem;
        // A first guess other than unchanged accelerations, where that one has failed.
        let persistence = if effort == Effort::Every { 0.0 } else { 1.0 };
        let mut trial = Trial::new(&self.scheme, from, target, persistence);
        if effort == Effort::Fresh {
            // Stresses at the start are in equilibrium; those of the first guess are not.
            self.refactor(problem, from, &trial.increment);
        }
        let mut last = f64::INFINITY;
        let mut failure = StepFailure {
            worst: None,
            residual: f64::INFINITY,
            iterations: 0,
        };
        for k in 0..ITERATIONS {
            if effort == Effort::Every {
                self.refactor(problem, &trial.state, &trial.increment);
            }
            let Some((_, factor)) = &self.factor else {
                break;
            };
            trial.read_blocks(equations, target.reading);
            let forces = equations
                .balance(&trial.state, target.reading, structure)
                .forces;
            let constraints = equations.position_residuals(&trial.state, target.reading);
            let correction = iteration.solve(equations, factor, &forces, &constraints);
            self.counters.iterations += 1;
            let ratio = correction.size / last;
            let slow = k > 1 && ratio > effort.slowest();
            if slow || !correction.size.is_finite() || k + 1 == ITERATIONS {
                let (worst, residual) = iteration.worst(equations, factor, &forces, &constraints);
                failure = StepFailure {
                    worst: Some(worst),
                    residual,
                    iterations: k + 1,
                };
                break;
            }
            trial.correct(equations, &correction.motion, &correction.multipliers);
            trial.place(from);
            self.stale |= k > 0 && ratio > SLOW && effort == Effort::Kept;
            if self.has_converged(problem, &trial, correction.size, ratio) {
                trial.finish(equations, from, target.reading);
                return Ok(trial.state);
            }
            last = correction.size;
        }
        self.factor = None;
        Err(failure)
    }

    /// Whether what further corrections would bring is below the tolerance, or rounding.
    fn has_converged(&self, problem: &Problem<'_>, trial: &Trial, size: f64, ratio: f64) -> bool {
        if size <= 1e-2 * ROUNDING || (size <= ROUNDING && ratio > 0.5) {
            return true;
        }
        // The first correction tells nothing about how fast they shrink.
        if ratio == 0.0 || ratio >= 0.9 {
            return false;
        }
        let h = problem.target.size;
        let wanted =
            self.tolerance * h * h * node_size(&trial.state.acceleration, problem.equations);
        size * ratio / (1.0 - ratio) <= wanted
            && problem
                .equations
                .position_residuals(&trial.state, problem.target.reading)
                .iter()
                .all(|r| r.abs() <= CLOSED)
    }

    fn refactor(&mut self, problem: &Problem<'_>, at: &State, increment: &[f64]) {
        let target = problem.target;
        let weights = self.scheme.weights(target.size);
        self.factor = problem
            .iteration
            .factor(
                problem.equations,
                at,
                problem.structure,
                weights,
                Some(increment),
            )
            .map(|factor| (target.size, factor));
        self.counters.factorisations += 1;
    }
}

/// One step to be made.
struct Problem<'p> {
    equations: &'p Equations<'p>,
    iteration: &'p Iteration,
    structure: &'p Structure,
    from: &'p State,
    target: &'p Target,
}

/// How often the matrix is made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effort {
    Kept,
    Fresh,
    Every,
}

impl Effort {
    /// Corrections that shrink more slowly end the attempt.
    fn slowest(self) -> f64 {
        match self {
            Self::Kept => 0.5,
            Self::Fresh => 0.9,
            Self::Every => 2.0,
        }
    }
}

/// The end of a step as far as Newton's method has found it.
struct Trial {
    h: f64,
    scheme: Scheme,
    state: State,
    increment: Vec<f64>,
    /// The part of the increment that is known before the step.
    known: Vec<f64>,
    /// The part of the blocks' states that is known before the step.
    known_states: Vec<f64>,
}

impl Trial {
    /// Starts with a part of the accelerations before, and with unchanged multipliers.
    fn new(scheme: &Scheme, from: &State, target: &Target, persistence: f64) -> Self {
        let h = target.size;
        let Scheme {
            alpha_m,
            alpha_f,
            beta,
            gamma,
        } = *scheme;
        let mut state = from.clone();
        let n = from.velocity.len();
        let mut known = vec![0.0; n];
        for (i, known) in known.iter_mut().enumerate() {
            let (v, a, rate) = (from.velocity[i], from.algorithmic[i], from.acceleration[i]);
            let guess = persistence * rate;
            let next = ((1.0 - alpha_f) * guess + alpha_f * rate - alpha_m * a) / (1.0 - alpha_m);
            state.acceleration[i] = guess;
            state.algorithmic[i] = next;
            state.velocity[i] = v + h * ((1.0 - gamma) * a + gamma * next);
            *known = h * v + h * h * (0.5 - beta) * a;
        }
        state.time = target.time;
        let mut trial = Self {
            h,
            scheme: *scheme,
            state,
            increment: vec![0.0; n],
            known,
            known_states: known_states(scheme, from, h),
        };
        trial.place(from);
        trial
    }

    /// Positions from the increment.
    fn place(&mut self, from: &State) {
        let factor = self.scheme.beta * self.h * self.h;
        let parts = self.known.iter().zip(&self.state.algorithmic);
        for (n, (known, a)) in self.increment.iter_mut().zip(parts) {
            *n = known + factor * a;
        }
        for (node, frame) in self.state.frames.iter_mut().enumerate() {
            *frame = from.frames[node].compose(&lie::exp(&of_node(&self.increment, node)));
        }
        let first = 6 * from.frames.len();
        for (i, scalar) in self.state.scalars.iter_mut().enumerate() {
            *scalar = from.scalars[i] + self.increment[first + i];
        }
    }

    /// Applies a correction that is given as a motion of the end of the step.
    fn correct(&mut self, equations: &Equations<'_>, motion: &[f64], multipliers: &[f64]) {
        let weights = self.scheme.weights(self.h);
        let by_increment = 1.0 / (self.scheme.beta * self.h * self.h);
        let mut change = motion.to_vec();
        for node in 0..equations.model.nodes.len() {
            let inverse = inverse_tangent(&of_node(&self.increment, node));
            let own = inverse * of_node(motion, node);
            change[6 * node..6 * node + 6].copy_from_slice(own.as_slice());
        }
        for (i, change) in change.iter().enumerate() {
            self.state.algorithmic[i] += by_increment * change;
            self.state.velocity[i] += weights.damping * change;
            self.state.acceleration[i] += weights.mass * change;
        }
        for (l, change) in self.state.multipliers.iter_mut().zip(multipliers) {
            *l += change;
        }
    }

    /// Lets the blocks follow the present motion.
    fn read_blocks(&mut self, equations: &Equations<'_>, reading: f64) {
        let factor = self.scheme.control_factor(self.h);
        equations.step_blocks(&mut self.state, reading, &self.known_states, factor);
    }

    /// Removes rounding from the rotations, counts the turns of hinges, ends the blocks' step.
    fn finish(&mut self, equations: &Equations<'_>, from: &State, reading: f64) {
        self.read_blocks(equations, reading);
        for (i, b) in self.state.control_algorithmic.iter_mut().enumerate() {
            let (rate, before) = (self.state.control.rates[i], from.control.rates[i]);
            *b = self
                .scheme
                .auxiliary(rate, before, from.control_algorithmic[i]);
        }
        for frame in &mut self.state.frames {
            *frame = orthonormal(frame);
        }
        for spring in &equations.model.springs {
            if let Some(joint) = spring.joint
                && let Some(angle) = self.state.hinge_angles.get_mut(joint)
            {
                *angle =
                    equations
                        .model
                        .coordinate_value(&spring.drive, &self.state.frames, *angle);
            }
        }
    }
}

/// x̂ of x₊ = x̂ + κh·ẋ₊.
fn known_states(scheme: &Scheme, from: &State, h: f64) -> Vec<f64> {
    let states = from.control.x.iter().zip(&from.control.rates);
    (states.zip(&from.control_algorithmic))
        .map(|((x, rate), b)| {
            x + h * ((1.0 - scheme.gamma) * b + scheme.gamma * scheme.auxiliary(0.0, *rate, *b))
        })
        .collect()
}

/// Largest displacement of a node, rotations at the mechanism's length, in parts of that length.
pub(super) fn node_size(values: &[f64], equations: &Equations<'_>) -> f64 {
    let length = equations.model.length;
    (0..equations.model.nodes.len()).fold(0.0_f64, |m, node| {
        let v = of_node(values, node);
        m.max(lie::linear(&v).norm() / length)
            .max(lie::angular(&v).norm())
    })
}

/// The rotation nearest to a matrix that is one but for rounding.
fn orthonormal(frame: &Frame) -> Frame {
    let r = &frame.rotation;
    Frame {
        rotation: r * (Matrix3::identity() * 1.5 - r.tr_mul(r) * 0.5),
        position: frame.position,
    }
}
