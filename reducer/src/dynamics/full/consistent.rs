//! States that satisfy the constraints and their derivatives.

use super::equations::{Equations, State};
use super::iteration::{Factor, Iteration, Weights};
use super::structure::Structure;

/// A correction that is this small part of what it corrects leaves no rounding behind.
const NEARLY: f64 = 1e-2;

/// Finds velocities and accelerations that fit a position.
pub(super) struct Consistency<'e, 'a> {
    equations: &'e Equations<'a>,
    iteration: &'e Iteration,
}

impl<'e, 'a> Consistency<'e, 'a> {
    pub fn new(equations: &'e Equations<'a>, iteration: &'e Iteration) -> Self {
        Self {
            equations,
            iteration,
        }
    }

    /// The mass under constraints; none where something moves without mass.
    pub fn mass(&self, state: &State, structure: &Structure) -> Option<Factor> {
        self.iteration
            .factor(self.equations, state, structure, Weights::MASS, None)
            .filter(Factor::is_regular)
    }

    /// The mass with what damping and stiffness add to it in a step of this size.
    ///
    /// Accelerations found with it are those of the motions that the step can resolve; stiff parts
    /// start without the large ones that would overshoot, and nothing needs a mass.
    pub fn resolved(&self, state: &State, structure: &Structure, step: f64) -> Option<Factor> {
        let weights = Weights {
            mass: 1.0,
            damping: 0.5 * step,
            stiffness: 0.25 * step * step,
            control: 0.0,
        };
        self.iteration
            .factor(self.equations, state, structure, weights, None)
            .filter(Factor::is_regular)
    }

    /// The nearest velocities, in the metric of the mass, that satisfy the constraints with given
    /// rates of the prescribed coordinates.
    pub fn project(&self, state: &mut State, factor: &Factor, rates: &[f64]) -> bool {
        let rows = self.equations.model.constraint_rows(&state.frames, false);
        let constraints = self
            .equations
            .velocity_residuals(&rows, &state.velocity, rates);
        let forces = vec![0.0; self.equations.len()];
        let correction = self
            .iteration
            .solve(self.equations, factor, &forces, &constraints);
        if !correction.size.is_finite() {
            return false;
        }
        for (v, change) in state.velocity.iter_mut().zip(&correction.motion) {
            *v += change;
        }
        true
    }

    /// Accelerations and multipliers for given positions and velocities; false where they are not
    /// finite. The factors are those of the mass, or, with a single pass, the resolved ones.
    pub fn accelerate_anew(
        &self,
        state: &mut State,
        time: f64,
        factor: &Factor,
        structure: &Structure,
        passes: usize,
    ) -> bool {
        state.acceleration.fill(0.0);
        state.multipliers.fill(0.0);
        // The residual is affine in what is sought; a second pass removes rounding.
        (0..passes).all(|_| {
            self.correct(state, time, factor, structure)
                .is_some_and(f64::is_finite)
        })
    }

    /// The same from accelerations that are nearly right: rounding is in parts of what is missing, so that a second pass
    /// is needed only where much is.
    pub fn accelerate(
        &self,
        state: &mut State,
        time: f64,
        factor: &Factor,
        structure: &Structure,
    ) -> bool {
        for _ in 0..2 {
            match self.correct(state, time, factor, structure) {
                Some(part) if part <= NEARLY => break,
                Some(_) => {}
                None => return false,
            }
        }
        self.equations.read_blocks(state, time);
        true
    }

    /// One correction of accelerations and multipliers, and how large it is in parts of these; none where it is not finite.
    fn correct(
        &self,
        state: &mut State,
        time: f64,
        factor: &Factor,
        structure: &Structure,
    ) -> Option<f64> {
        self.equations.read_blocks(state, time);
        let forces = self.equations.balance(state, time, structure).forces;
        let mut constraints = self.equations.acceleration_residuals(state, time);
        let rows = self.equations.model.constraint_rows(&state.frames, false);
        let zero = vec![0.0; self.equations.prescribed.len()];
        let now = self
            .equations
            .velocity_residuals(&rows, &state.acceleration, &zero);
        for (total, value) in constraints.iter_mut().zip(now) {
            *total += value;
        }
        let correction = self
            .iteration
            .solve(self.equations, factor, &forces, &constraints);
        if !correction.size.is_finite() {
            return None;
        }
        let add = |values: &mut [f64], changes: &[f64]| {
            let (mut largest, mut change) = (0.0_f64, 0.0_f64);
            for (value, step) in values.iter_mut().zip(changes) {
                *value += step;
                largest = largest.max(value.abs());
                change = change.max(step.abs());
            }
            if change > 0.0 { change / largest } else { 0.0 }
        };
        let moved = add(&mut state.acceleration, &correction.motion);
        let pressed = add(&mut state.multipliers, &correction.multipliers);
        Some(moved.max(pressed))
    }
}
