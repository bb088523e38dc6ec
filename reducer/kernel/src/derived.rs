//! Derived quantities: matrices of θ that were made of the others when the model was made [M 7.9].

use super::algebra::settle;
use super::locate::{Status, locate};
use super::model::{Group, Source};
use super::number::Load;
use super::polynomials::{DERIVED, Fields, Place, at};
use super::scratch::Scratch;

/// A derived quantity at θ, row-major with so many columns.
pub fn derived<R: Load<M::Stored>, M: Source>(
    source: &M,
    theta: &[R],
    [quantity, columns]: [usize; 2],
    out: &mut [R],
    mut scratch: Scratch<'_, R>,
) -> Status {
    let m = source.model();
    let place = scratch.take(m.n_rigid);
    let (status, index) = locate(source, theta, place);
    out.fill(R::ZERO);
    let list = m.list(Group::Derived);
    if status >= Status::Undefined || list.is_empty() {
        return status;
    }
    let place = Place {
        theta: place,
        index,
    };
    let mut f = Fields::of::<M, DERIVED>(source, &mut scratch);
    at::<R, M, DERIVED>(source, &place, &mut f, scratch);
    for (v, i, j, of) in list.iter().map(|e| e.get()) {
        if of == quantity {
            out[i * columns + j] = f.value[v];
        }
    }
    settle(status, out)
}
