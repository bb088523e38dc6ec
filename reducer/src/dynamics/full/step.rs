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
/// Where corrections shrink more slowly than this, the matrix is made anew.
const SLOW: f64 = 0.25;
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
        }
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
    /// Ratio of the last two corrections of the last step.
    contraction: f64,
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
    pub fn new(spectral_radius: f64, tolerance: f64) -> Self {
        Self {
            scheme: Scheme::new(spectral_radius),
            counters: Counters::default(),
            tolerance,
            factor: None,
            contraction: 1.0,
        }
    }

    /// The state at the end of a step.
    pub fn step(
        &mut self,
        equations: &Equations<'_>,
        iteration: &Iteration,
        structure: &Structure,
        from: &State,
        target: &Target,
    ) -> Result<State, StepFailure> {
        let h = target.size;
        let mut trial = Trial::new(&self.scheme, from, h);
        trial.state.time = target.time;
        trial.place(from);
        let mut fresh = false;
        if self.factor.as_ref().is_none_or(|(size, _)| (size - h).abs() > SAME_SIZE * h) {
            self.refactor(equations, iteration, &trial, target, h);
            fresh = true;
        }
        let mut last = f64::INFINITY;
        for k in 0..ITERATIONS {
            let forces = equations
                .balance(&trial.state, target.reading, structure)
                .forces;
            let constraints = equations.position_residuals(&trial.state, target.reading);
            let Some((_, factor)) = &self.factor else {
                return Err(StepFailure {
                    worst: None,
                    residual: f64::INFINITY,
                    iterations: k,
                });
            };
            let correction = iteration.solve(equations, factor, &forces, &constraints);
            self.counters.iterations += 1;
            let ratio = correction.size / last;
            let diverging = !correction.size.is_finite() || (k > 1 && ratio > 2.0);
            if diverging || k + 1 == ITERATIONS {
                if fresh {
                    let (worst, residual) =
                        iteration.worst(equations, factor, &forces, &constraints);
                    return Err(StepFailure {
                        worst: Some(worst),
                        residual,
                        iterations: k + 1,
                    });
                }
                trial = Trial::new(&self.scheme, from, h);
                trial.state.time = target.time;
                trial.place(from);
                self.refactor(equations, iteration, &trial, target, h);
                fresh = true;
                last = f64::INFINITY;
                continue;
            }
            trial.correct(equations, &correction.motion, &correction.multipliers);
            trial.place(from);
            if k > 0 && last.is_finite() {
                self.contraction = ratio;
            }
            if self.has_converged(equations, &trial, correction.size, ratio) {
                trial.finish(equations);
                return Ok(trial.state);
            }
            if k > 0 && ratio > SLOW && !fresh {
                self.refactor(equations, iteration, &trial, target, h);
                fresh = true;
                last = f64::INFINITY;
                continue;
            }
            last = correction.size;
        }
        Err(StepFailure {
            worst: None,
            residual: last,
            iterations: ITERATIONS,
        })
    }

    /// Whether what further corrections would bring is below the tolerance, or rounding.
    fn has_converged(
        &self,
        equations: &Equations<'_>,
        trial: &Trial,
        size: f64,
        ratio: f64,
    ) -> bool {
        let contraction = if ratio.is_finite() && ratio > 0.0 {
            ratio
        } else {
            self.contraction
        };
        let remaining = size * contraction / (1.0 - contraction);
        let wanted = self.tolerance * trial.h * trial.h * trial.acceleration_size(equations);
        let good = contraction < 0.9 && remaining <= wanted.max(1e-2 * ROUNDING);
        good || size <= 1e-2 * ROUNDING || (size <= ROUNDING && ratio > 0.5)
    }

    fn refactor(
        &mut self,
        equations: &Equations<'_>,
        iteration: &Iteration,
        trial: &Trial,
        target: &Target,
        h: f64,
    ) {
        let weights = self.scheme.weights(h);
        self.factor = iteration
            .factor(
                equations,
                &trial.state,
                target.reading,
                weights,
                Some(&trial.increment),
            )
            .map(|factor| (h, factor));
        self.counters.factorisations += 1;
        self.contraction = 0.5;
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
}

impl Trial {
    /// Starts with unchanged accelerations and multipliers.
    fn new(scheme: &Scheme, from: &State, h: f64) -> Self {
        let Scheme {
            alpha_m,
            beta,
            gamma,
            ..
        } = *scheme;
        let mut state = from.clone();
        let n = from.velocity.len();
        let mut known = vec![0.0; n];
        for i in 0..n {
            let (v, a, rate) = (from.velocity[i], from.algorithmic[i], from.acceleration[i]);
            let next = (rate - alpha_m * a) / (1.0 - alpha_m);
            state.acceleration[i] = rate;
            state.algorithmic[i] = next;
            state.velocity[i] = v + h * ((1.0 - gamma) * a + gamma * next);
            known[i] = h * v + h * h * (0.5 - beta) * a;
        }
        Self {
            h,
            scheme: *scheme,
            state,
            increment: vec![0.0; n],
            known,
        }
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

    /// Largest acceleration of a node, rotations at the mechanism's length, in parts of that length.
    fn acceleration_size(&self, equations: &Equations<'_>) -> f64 {
        node_size(&self.state.acceleration, equations)
    }

    /// Removes rounding from the rotations and counts the turns of hinges.
    fn finish(&mut self, equations: &Equations<'_>) {
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
