//! For which motion the model of a mechanism is made.

use crate::description::mechanism::Mechanism;
use crate::reduced_model::Validity;
use crate::reduction::LocalReducer;

/// Beyond this no machine moves (m/s, rad/s, m/s², rad/s²): what is left of an effect is rounding.
const BEYOND: f64 = 1e6;

/// Changes below this are rounding.
const ROUNDING: f64 = 1e-9;

/// None where nothing deforms and no motion is declared.
pub(super) fn of(mechanism: &Mechanism, reducer: &LocalReducer) -> Option<Validity> {
    let coordinates = mechanism.coordinates.iter();
    let deforms = reducer.n() > reducer.n_rigid();
    let declares = coordinates
        .clone()
        .any(|c| c.rate.or(c.acceleration).is_some());
    if !deforms && !declares {
        return None;
    }
    let (found, tolerance) = (reducer.effects(), reducer.stiffness_tolerance());
    let seen = |change: f64| if change < ROUNDING { 0.0 } else { change };
    let reached = |value: f64| (value < BEYOND).then_some(value);
    let rates = found.of_rate.iter().map(|by| (tolerance / by).sqrt());
    let accelerations = found.of_acceleration.iter().map(|by| tolerance / by);
    Some(Validity {
        rate: coordinates.clone().map(|c| c.rate).collect(),
        acceleration: coordinates.map(|c| c.acceleration).collect(),
        loads_change: seen(found.loads),
        rate_change: seen(found.rate),
        acceleration_change: seen(found.acceleration),
        tolerance,
        rate_at_tolerance: rates.map(reached).collect(),
        acceleration_at_tolerance: accelerations.map(reached).collect(),
    })
}
