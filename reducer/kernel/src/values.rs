//! Polynomials of a box whose values alone are needed.

use super::model::{Source, Table};
use super::number::Load;
use super::polynomials::{DYNAMICS, Place, scaled, table};
use super::scratch::Scratch;
use super::waves;

/// Columns that are summed side by side.
const LANES: usize = 4;

/// Fills in what is a combination of columns, of values or of any derivative of theirs [M 9.9].
#[inline(always)]
pub fn combine<R: Load<M::Stored>, M: Source>(source: &M, value: &mut [R]) {
    let c = source.combined();
    let (stored, combined) = value.split_at_mut(value.len() - c.ends.len());
    let mut first = 0;
    for (value, end) in combined.iter_mut().zip(c.ends) {
        let mut sum = R::load(c.factors[first]) * stored[c.columns[first] as usize];
        for t in first + 1..*end as usize {
            sum += R::load(c.factors[t]) * stored[c.columns[t] as usize];
        }
        *value = sum;
        first = *end as usize;
    }
}

/// Adds the weights of combinations to those of their columns: afterwards Σ weight · value over columns alone is what
/// it was over all values.
#[inline(always)]
pub fn spread<R: Load<M::Stored>, M: Source>(source: &M, weight: &mut [R]) {
    let c = source.combined();
    let (stored, combined) = weight.split_at_mut(weight.len() - c.ends.len());
    let mut first = 0;
    for (weight, end) in combined.iter().zip(c.ends) {
        for t in first..*end as usize {
            stored[c.columns[t] as usize] += R::load(c.factors[t]) * *weight;
        }
        first = *end as usize;
    }
}

/// Coefficients of a box and its list of terms.
#[inline(always)]
fn rows_of<'a, C: Copy>(t: &Table<'a, C>, index: usize) -> (&'a [C], [usize; 3]) {
    let [first, list] = t.places[index];
    (
        &t.coefficients[first as usize..],
        t.lists[list as usize].map(|v| v as usize),
    )
}

/// Terms of the box; returns their number.
fn terms_at<R: Load<M::Stored>, M: Source, const T: usize>(
    source: &M,
    place: &Place<'_, R>,
    term: &mut [R],
) -> usize {
    let m = source.model();
    let t = table::<_, T>(m);
    let (_, [degree, first, end]) = rows_of(t, place.index);
    let s = m.n_rigid;
    term[0] = R::ONE;
    for k in 0..s {
        if m.is_wave(k) {
            continue;
        }
        let xi = scaled(source, place, k).0;
        if degree > 0 {
            term[1 + k] = xi;
        }
        if degree > 1 {
            term[1 + s + k] = R::TWO * xi * xi - R::ONE;
        }
    }
    for i in 3..=degree {
        for k in 0..s {
            let at = 1 + (i - 1) * s + k;
            term[at] = R::TWO * term[1 + k] * term[at - s] - term[at - 2 * s];
        }
    }
    for k in 0..s {
        if m.is_wave(k) && degree > 0 {
            let per_angle = waves::per_angle(T != DYNAMICS);
            waves::fill(place.theta[k], per_angle, degree, s, &mut term[1 + k..]);
        }
    }
    let mut count = 1 + degree * s;
    for [left, right] in &t.products[first..end] {
        term[count] = term[*left as usize] * term[*right as usize];
        count += 1;
    }
    count
}

/// Derivatives of the terms along a direction of θ.
fn term_rates<R: Load<M::Stored>, M: Source, const T: usize>(
    source: &M,
    place: &Place<'_, R>,
    direction: &[R],
    term: &[R],
    rate: &mut [R],
) {
    let m = source.model();
    let t = table::<_, T>(m);
    let (_, [degree, first, end]) = rows_of(t, place.index);
    let s = m.n_rigid;
    rate[0] = R::ZERO;
    for k in 0..s {
        if m.is_wave(k) {
            let along = waves::per_angle::<R>(T != DYNAMICS) * direction[k];
            waves::differentiate(&term[1 + k..], along, degree, s, &mut rate[1 + k..]);
            continue;
        }
        let along = scaled(source, place, k).1 * direction[k];
        let (mut before, mut now) = (R::ZERO, along);
        if degree > 0 {
            rate[1 + k] = along;
        }
        for i in 2..=degree {
            let at = 1 + (i - 1) * s + k;
            let next = R::TWO * (along * term[at - s] + term[1 + k] * now) - before;
            rate[at] = next;
            (before, now) = (now, next);
        }
    }
    let mixed = &mut rate[..1 + degree * s + end - first];
    for (i, [left, right]) in t.products[first..end].iter().enumerate() {
        let (left, right) = (*left as usize, *right as usize);
        mixed[1 + degree * s + i] = mixed[left] * term[right] + term[left] * mixed[right];
    }
}

/// Adds rows, each times its factor, to the columns.
fn add_rows<R: Load<C>, C: Copy>(rows: &[C], factors: &[R], value: &mut [R]) {
    let columns = value.len();
    let rows = &rows[..columns * factors.len()];
    let mut first = 0;
    while first + LANES <= columns {
        let mut sum: [R; LANES] = core::array::from_fn(|l| value[first + l]);
        for (row, factor) in rows.chunks_exact(columns).zip(factors) {
            let row = &row[first..first + LANES];
            for l in 0..LANES {
                sum[l] += *factor * R::load(row[l]);
            }
        }
        value[first..first + LANES].copy_from_slice(&sum);
        first += LANES;
    }
    for column in first..columns {
        for (row, factor) in rows.chunks_exact(columns).zip(factors) {
            value[column] += *factor * R::load(row[column]);
        }
    }
}

/// Values at a place.
pub fn at<R: Load<M::Stored>, M: Source, const T: usize>(
    source: &M,
    place: &Place<'_, R>,
    value: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let t = table::<_, T>(source.model());
    let term = scratch.take(t.n_terms);
    let count = terms_at::<R, M, T>(source, place, term);
    let (rows, _) = rows_of(t, place.index);
    let value = &mut value[..t.columns];
    // The first term is one.
    for (value, c) in value.iter_mut().zip(rows) {
        *value = R::load(*c);
    }
    add_rows(&rows[t.columns..], &term[1..count], value);
}

/// Derivatives of the values along a direction of θ, added to zeros.
pub fn rate_at<R: Load<M::Stored>, M: Source, const T: usize>(
    source: &M,
    place: &Place<'_, R>,
    direction: &[R],
    value: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let t = table::<_, T>(source.model());
    let (term, rate) = (scratch.take(t.n_terms), scratch.take(t.n_terms));
    let count = terms_at::<R, M, T>(source, place, term);
    term_rates::<R, M, T>(source, place, direction, term, rate);
    let (rows, _) = rows_of(t, place.index);
    add_rows(&rows[t.columns..], &rate[1..count], &mut value[..t.columns]);
}
