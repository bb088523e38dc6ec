//! Blows on the reduced model: velocities change at once.

use super::system::{State, System};
use crate::dynamics::control::Place;
use crate::reduced_model::Status;

impl System<'_> {
    /// Rates after the impulses of an instant: M̄·Δη̇ = p, where the accelerations that p would give
    /// as a force, less those without it, are Δη̇. Their work is that of the actuators.
    pub(super) fn kick(&self, time: f64, duration: f64, state: &mut State) {
        let impulses = self.excitation.impulses().iter();
        let now: Vec<_> = impulses.filter(|i| i.is_at(time, duration)).collect();
        if now.is_empty() {
            return;
        }
        let (eta, rate) = self.motion(time, state);
        let mut momentum = vec![0.0; self.n];
        let work = &mut *self.work.borrow_mut();
        for impulse in now {
            match impulse.place {
                Place::Coordinate(k) => momentum[k] += impulse.size,
                Place::Output(output, direction) => {
                    let memory = &mut self.scratch.borrow_mut().memory;
                    let (motions, status) = self.evaluator.outputs_in(&eta, &rate, memory);
                    let Some(motion) = motions.get(output).filter(|_| status < Status::Undefined)
                    else {
                        continue;
                    };
                    for axis in 0..3 {
                        let row = &motion.jacobian[axis * self.n..(axis + 1) * self.n];
                        for (total, j) in momentum.iter_mut().zip(row) {
                            *total += impulse.size * direction[axis] * j;
                        }
                    }
                }
            }
        }
        let change = self.velocity_change(&eta, &momentum);
        let kinetic = |rate: &[f64], work: &mut _| {
            let energy = self.evaluator.energy(&eta, rate, work);
            energy.map_or(0.0, |(kinetic, _, _)| kinetic)
        };
        let after: Vec<f64> = rate.iter().zip(&change).map(|(v, d)| v + d).collect();
        let gained = kinetic(&after, work) - kinetic(&rate, work);
        let m = self.free.len();
        for (i, &k) in self.free.iter().enumerate() {
            state[m + i] = after[k];
        }
        state[self.n_active()] += gained;
    }

    fn velocity_change(&self, eta: &[f64], momentum: &[f64]) -> Vec<f64> {
        let still = vec![0.0; self.n];
        let memory = &mut self.scratch.borrow_mut().memory;
        let mut accelerated = |force: &[f64]| {
            let mut force = force.to_vec();
            let mut accel = vec![0.0; self.n];
            let motion = [eta, &still[..]];
            self.evaluator
                .hybrid_in(motion, &self.prescribed, &mut accel, &mut force, memory);
            accel
        };
        let (with, without) = (accelerated(momentum), accelerated(&still));
        with.iter().zip(&without).map(|(a, b)| a - b).collect()
    }
}
