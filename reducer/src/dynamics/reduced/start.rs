//! The state at t = 0.

use super::domain::departure;
use super::error::ReducedError;
use super::system::{State, System};
use crate::dynamics::excitation::Drive;
use crate::dynamics::full::{Initial, Start};
use nalgebra::{DMatrix, DVector};

/// How far a prescribed motion may begin from the initial state.
const SAME_PLACE: f64 = 1e-9;

/// Deflection that shows the stiffness: forces at rest are linear, but far beyond small deflections a model with terms of
/// second order has no value. A power of two, so that nothing is rounded.
const SMALL: f64 = 1.0 / (1 << 20) as f64;

/// State with θ and its rates as given or prescribed, and the asked deformation.
pub(super) fn initial_state(system: &System<'_>, initial: &Initial) -> Result<State, ReducedError> {
    let (n, s) = (system.n, system.s);
    check_lengths(initial, s)?;
    system.check_sensors()?;
    let mut eta = vec![0.0; n];
    let mut rate = vec![0.0; n];
    eta[..s].copy_from_slice(&initial.theta);
    rate[..s].copy_from_slice(&initial.rate);
    for k in (0..s).filter(|&k| system.excitation.is_prescribed(k)) {
        if let Drive::Motion {
            position, rate: v, ..
        } = system.excitation.drive(k, 0.0, eta[k], rate[k])
        {
            let scale = 1.0_f64.max(position.abs());
            if (position - eta[k]).abs() > SAME_PLACE * scale {
                return Err(ReducedError::StartsElsewhere {
                    coordinate: system.evaluator.model().layout.coordinates[k].name.clone(),
                    prescribed: position,
                    given: eta[k],
                });
            }
            (eta[k], rate[k]) = (position, v);
        }
    }
    if let Some(error) = departure(system, 0.0, &eta[..s]) {
        return Err(error);
    }
    if initial.start == Start::Equilibrium {
        equilibrium(system, &mut eta)?;
    }
    let state = system.pack(&eta, &rate);
    system.let_blocks_act(0.0, &state);
    Ok(state)
}

fn check_lengths(initial: &Initial, s: usize) -> Result<(), ReducedError> {
    for (argument, list) in [
        ("initial theta", &initial.theta),
        ("initial rate", &initial.rate),
    ] {
        if list.len() != s {
            return Err(ReducedError::Evaluation(
                crate::reduced_model::EvaluationError {
                    argument,
                    expected: s,
                    found: list.len(),
                },
            ));
        }
    }
    Ok(())
}

/// Modal coordinates at which nothing accelerates while θ is held: ∂V/∂η_δ = 0, which is linear.
fn equilibrium(system: &System<'_>, eta: &mut [f64]) -> Result<(), ReducedError> {
    let (n, s) = (system.n, system.s);
    let m = n - s;
    if m == 0 {
        return Ok(());
    }
    let rest = system.static_force(eta)?;
    let mut stiffness = DMatrix::zeros(m, m);
    for column in 0..m {
        eta[s + column] = SMALL;
        let force = system.static_force(eta)?;
        eta[s + column] = 0.0;
        for row in 0..m {
            stiffness[(row, column)] = (force[s + row] - rest[s + row]) / SMALL;
        }
    }
    let load = DVector::from_iterator(m, rest[s..].iter().map(|f| -f));
    let found = stiffness.cholesky().map(|factor| factor.solve(&load));
    match found {
        Some(found) if found.iter().all(|x| x.is_finite()) => {
            eta[s..].copy_from_slice(found.as_slice());
            Ok(())
        }
        _ => Err(ReducedError::NoEquilibrium {
            theta: eta[..s].to_vec(),
        }),
    }
}
