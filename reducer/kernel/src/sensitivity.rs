//! What a change of one stored function does to the coefficients.

use super::coefficients::{Coefficients, add_gravity_axes, fill_second_order, of_fields};
use super::dynamics::dynamics_at;
use super::locate::{Status, locate};
use super::model::Source;
use super::number::Load;
use super::polynomials::Place;
use super::scratch::Scratch;
use super::values::combine;

/// A stored function of the dynamics that is moved.
#[derive(Debug, Clone, Copy)]
pub struct Move<R> {
    /// Its value in the table.
    pub value: usize,
    /// The coordinate by which its derivative is moved; none: the function itself.
    pub slope: Option<usize>,
    /// By how much.
    pub by: R,
}

/// Coefficients at θ with one function moved, and (which may be empty) three vectors of gravity per inertial
/// axis and what is stored of second order. Parameters and load map are left out.
pub fn moved_coefficients<R: Load<M::Stored>, M: Source>(
    source: &M,
    theta: &[R],
    moved: Move<R>,
    out: &mut Coefficients<'_, R>,
    [axes, second]: [&mut [R]; 2],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let place = scratch.take(source.model().n_rigid);
    let (status, index) = locate(source, theta, place);
    if status >= Status::Undefined {
        return status;
    }
    let place = Place {
        theta: place,
        index,
    };
    let mut f = dynamics_at(source, &place, &mut scratch);
    let values = match moved.slope {
        Some(k) => f.slope_mut(k),
        None => &mut *f.value,
    };
    values[moved.value] += moved.by;
    if moved.value < source.model().dynamics.columns {
        combine(source, values);
    }
    of_fields(source, None, &f, out, scratch.again());
    axes.fill(R::ZERO);
    if !axes.is_empty() {
        add_gravity_axes(source, &f, axes);
    }
    second.fill(R::ZERO);
    if !second.is_empty() {
        fill_second_order(source, &f, second, scratch);
    }
    status
}
