//! Values of the dynamics, their derivatives in time and one weighted sum of their gradients [M 9.7].
//!
//! Equations of motion need no gradient of a single function: only every function's derivative in time and, once
//! these are known, Σ weight · gradient. So one pass over the stored numbers gives values and derivatives in time
//! side by side; a second one sums weight · coefficient for every term, and what is left is the gradient of one sum
//! of terms, found backwards through the products that terms are made of. That is three products per stored number
//! for any number of coordinates; a pass with whole gradients takes more than one per coordinate.

use super::model::{Source, Table};
use super::number::{Load, Number};
use super::polynomials::{Basis, DYNAMICS, Fields, Place};
use super::scratch::Scratch;
use super::values::combine;

/// What belongs to one rate of θ.
pub struct Motion<'w, R> {
    /// Derivatives of all values in time.
    pub along: &'w [R],
    /// The box.
    index: usize,
    /// Values of its terms.
    term: &'w [R],
    /// Derivatives by θ of those of one coordinate.
    slope: &'w [R],
}

/// Coefficients and terms of the rows of every group of L columns of a box.
#[inline(always)]
fn listed<'a, C: Copy, const L: usize>(
    t: &Table<'a, C>,
    index: usize,
) -> impl Iterator<Item = (&'a [C], &'a [u16])> {
    let (coefficients, terms) = (t.coefficients, t.moving.terms);
    let groups = index * t.groups..(index + 1) * t.groups;
    let places = t.places[groups.clone()].iter().zip(&t.moving.rows[groups]);
    places.map(move |([first, _], [start, end])| {
        let (first, start, end) = (*first as usize, *start as usize, *end as usize);
        (
            &coefficients[first..first + (end - start) * L],
            &terms[start..end],
        )
    })
}

/// Largest degree and products of the terms of a box.
#[inline(always)]
fn list_of<'a, C>(t: &Table<'a, C>, index: usize) -> (usize, &'a [[u32; 2]]) {
    let [degree, first, end] = t.lists[t.moving.lists[index] as usize];
    (degree as usize, &t.products[first as usize..end as usize])
}

/// Values and derivatives in time at a place.
pub fn moving_at<'w, R: Load<M::Stored>, M: Source>(
    source: &M,
    place: &Place<'_, R>,
    rate: &[R],
    scratch: &mut Scratch<'w, R>,
) -> Fields<'w, R> {
    let t = &source.model().dynamics;
    let (value, along) = (scratch.take(t.values), scratch.take(t.values));
    let (term, slope) = (scratch.take(t.n_terms), scratch.take(t.n_terms));
    let mut inner = scratch.again();
    let term_rate = inner.take(t.n_terms);
    terms_at(source, place, rate, [term, slope, term_rate], inner);
    let terms = [&*term, &*term_rate];
    match t.lanes {
        1 => sums::<R, _, 1>(t, place.index, terms, [value, along]),
        2 => sums::<R, _, 2>(t, place.index, terms, [value, along]),
        _ => sums::<R, _, 4>(t, place.index, terms, [value, along]),
    }
    for (value, constant) in value[t.columns..].iter_mut().zip(t.constants) {
        *value = R::load(*constant);
    }
    along[t.columns..].fill(R::ZERO);
    combine(source, value);
    combine(source, along);
    let motion = Motion {
        along,
        index: place.index,
        term,
        slope,
    };
    Fields::moving(value, motion)
}

/// Terms of the box; of those of one coordinate derivatives by θ, of all derivatives in time.
fn terms_at<R: Load<M::Stored>, M: Source>(
    source: &M,
    place: &Place<'_, R>,
    rate: &[R],
    [term, slope, term_rate]: [&mut [R]; 3],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let (s, (degree, products)) = (m.n_rigid, list_of(&m.dynamics, place.index));
    let basis = Basis::new::<M, DYNAMICS>(source, place, 2, &mut scratch);
    (term[0], term_rate[0]) = (R::ONE, R::ZERO);
    for k in 0..s {
        let (value, by) = (basis.of(0, k), basis.of(1, k));
        for i in 1..=degree {
            let at = 1 + (i - 1) * s + k;
            (term[at], slope[at]) = (value[i], by[i]);
            term_rate[at] = by[i] * rate[k];
        }
    }
    for (i, [left, right]) in products.iter().enumerate() {
        let (left, right) = (*left as usize, *right as usize);
        let at = 1 + degree * s + i;
        term[at] = term[left] * term[right];
        term_rate[at] = (term_rate[left] * term[right]) + (term[left] * term_rate[right]);
    }
}

/// Values and derivatives in time of all columns.
fn sums<R: Load<C>, C: Copy, const L: usize>(
    t: &Table<'_, C>,
    index: usize,
    [term, term_rate]: [&[R]; 2],
    [value, along]: [&mut [R]; 2],
) {
    for (c, (rows, terms)) in listed::<_, L>(t, index).enumerate() {
        let (mut v, mut a) = ([R::ZERO; L], [R::ZERO; L]);
        for (row, at) in rows.chunks_exact(L).zip(terms) {
            let (x, dx) = (term[*at as usize], term_rate[*at as usize]);
            for l in 0..L {
                v[l] += x * R::load(row[l]);
                a[l] += dx * R::load(row[l]);
            }
        }
        value[c * L..(c + 1) * L].copy_from_slice(&v);
        along[c * L..(c + 1) * L].copy_from_slice(&a);
    }
}

impl<R: Number> Motion<'_, R> {
    /// Adds Σ weight · ∂value/∂θ over columns: constants have no gradient, and weights of combinations are spread.
    pub fn add_gradient<M: Source>(
        &self,
        source: &M,
        weight: &[R],
        out: &mut [R],
        mut scratch: Scratch<'_, R>,
    ) where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let (t, s) = (&m.dynamics, m.n_rigid);
        let (degree, products) = list_of(t, self.index);
        let first = 1 + degree * s;
        let sum = scratch.zeros(first + products.len());
        match t.lanes {
            1 => weigh::<R, _, 1>(t, self.index, weight, sum),
            2 => weigh::<R, _, 2>(t, self.index, weight, sum),
            _ => weigh::<R, _, 4>(t, self.index, weight, sum),
        }
        // What multiplies a product multiplies each factor, times the other one.
        for (i, [left, right]) in products.iter().enumerate().rev() {
            let (left, right) = (*left as usize, *right as usize);
            let of_product = sum[first + i];
            sum[left] += of_product * self.term[right];
            sum[right] += of_product * self.term[left];
        }
        for i in 0..degree {
            for k in 0..s {
                let at = 1 + i * s + k;
                out[k] += sum[at] * self.slope[at];
            }
        }
    }
}

/// Adds Σ weight · coefficient of every term.
fn weigh<R: Load<C>, C: Copy, const L: usize>(
    t: &Table<'_, C>,
    index: usize,
    weight: &[R],
    sum: &mut [R],
) {
    for (c, (rows, terms)) in listed::<_, L>(t, index).enumerate() {
        let weight = &weight[c * L..(c + 1) * L];
        for (row, at) in rows.chunks_exact(L).zip(terms) {
            let mut of_row = weight[0] * R::load(row[0]);
            for l in 1..L {
                of_row += weight[l] * R::load(row[l]);
            }
            sum[*at as usize] += of_row;
        }
    }
}
