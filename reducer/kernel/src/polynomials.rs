//! Polynomials of a box with their gradients [M 9.1].
//!
//! On a box with centre m and half width w every stored function is a polynomial in ξ_k = (θ_k − m_k)/w_k, or a
//! sum of waves in a θ_k that turns.
//! Passes over a table know the number of coordinates, S, and of columns side by side, L, so that sums stay
//! in registers.

use super::model::{Model, Source, Table};
use super::moving::Motion;
use super::number::{Load, Number};
use super::scratch::Scratch;
use super::values;
use super::waves;

/// Names a model's tables for functions that are made for one of them: this one,
pub const DYNAMICS: usize = 0;
/// this one,
pub const MOTION: usize = 1;
/// or this one.
pub const DERIVED: usize = 2;

/// A table of a model.
#[inline(always)]
pub fn table<'a, 'm, C, const T: usize>(m: &'a Model<'m, C>) -> &'a Table<'m, C> {
    match T {
        DYNAMICS => &m.dynamics,
        MOTION => &m.motion,
        _ => &m.derived,
    }
}

/// A configuration inside the domain and its box.
#[derive(Clone, Copy)]
pub struct Place<'p, R> {
    /// θ.
    pub theta: &'p [R],
    /// The box.
    pub index: usize,
}

/// Values of a table at a place, and their gradients where they are needed.
pub struct Fields<'f, R> {
    /// One per value.
    pub value: &'f mut [R],
    /// Of one θ after the other.
    slope: &'f mut [R],
    /// In place of gradients: derivatives in time, for the one rate of θ that these fields are for.
    pub motion: Option<Motion<'f, R>>,
}

impl<'f, R: Number> Fields<'f, R> {
    /// Memory for the values of a table.
    #[inline(always)]
    pub fn of<M: Source, const T: usize>(source: &M, scratch: &mut Scratch<'f, R>) -> Self {
        let m = source.model();
        let t = table::<_, T>(m);
        let slopes = if t.gradients { m.n_rigid } else { 0 };
        Self {
            value: scratch.take(t.values),
            slope: scratch.take(slopes * t.values),
            motion: None,
        }
    }

    /// Values with their derivatives in time, without gradients.
    #[inline(always)]
    pub fn moving(value: &'f mut [R], motion: Motion<'f, R>) -> Self {
        Self {
            value,
            slope: &mut [],
            motion: Some(motion),
        }
    }

    /// The same, all zero.
    pub fn zeros<M: Source, const T: usize>(source: &M, scratch: &mut Scratch<'f, R>) -> Self {
        let zeros = Self::of::<M, T>(source, scratch);
        zeros.value.fill(R::ZERO);
        zeros.slope.fill(R::ZERO);
        zeros
    }

    /// Derivatives of all values by θ_k.
    #[inline(always)]
    pub fn slope(&self, k: usize) -> &[R] {
        let count = self.value.len();
        &self.slope[k * count..(k + 1) * count]
    }

    /// The same, to be changed.
    pub fn slope_mut(&mut self, k: usize) -> &mut [R] {
        let count = self.value.len();
        &mut self.slope[k * count..(k + 1) * count]
    }

    /// The same of one θ after the other; none where gradients are not needed.
    #[inline(always)]
    pub fn slopes(&self) -> impl Iterator<Item = &[R]> {
        self.slope.chunks_exact(self.value.len())
    }

    /// `from` plus `shift` times `along`.
    pub fn shifted(&mut self, from: &Self, shift: R, along: &Self) {
        let values = from.value.iter().zip(&*along.value);
        for (x, (y, d)) in self.value.iter_mut().zip(values) {
            *x = *y + shift * *d;
        }
        let slopes = from.slope.iter().zip(&*along.slope);
        for (x, (y, d)) in self.slope.iter_mut().zip(slopes) {
            *x = *y + shift * *d;
        }
    }
}

/// The box's numbers of a coordinate: ξ and its derivative by θ.
#[inline(always)]
pub fn scaled<R: Load<M::Stored>, M: Source>(source: &M, place: &Place<'_, R>, k: usize) -> (R, R) {
    let m = source.model();
    let s = m.n_rigid;
    let numbers = &m.boxes[2 * s * place.index..2 * s * (place.index + 1)];
    let inverse = R::load(numbers[s + k]);
    ((place.theta[k] - R::load(numbers[k])) * inverse, inverse)
}

/// Coefficients and runs of every group of L columns of a box.
#[inline(always)]
pub fn groups_of<'a, C: Copy, const L: usize>(
    t: &Table<'a, C>,
    s: usize,
    index: usize,
) -> impl Iterator<Item = (&'a [C], &'a [u8])> {
    let (coefficients, shapes, runs) = (t.coefficients, t.shapes, t.runs);
    let places = &t.places[index * t.groups..(index + 1) * t.groups];
    places.iter().map(move |[first, shape]| {
        let [start, end, rows, _] = shapes[*shape as usize];
        let (first, rows) = (*first as usize, rows as usize);
        let runs = &runs[start as usize * (s + 1)..end as usize * (s + 1)];
        (&coefficients[first..first + rows * L], runs)
    })
}

/// Largest degree of any group of a box.
#[inline(always)]
pub fn degree_at<C: Copy>(t: &Table<'_, C>, index: usize) -> usize {
    let mut largest = 0;
    for [_, shape] in &t.places[index * t.groups..(index + 1) * t.groups] {
        let degree = t.shapes[*shape as usize][3];
        if degree > largest {
            largest = degree;
        }
    }
    largest as usize
}

#[inline(always)]
fn load<R: Load<C>, C: Copy, const L: usize>(row: &[C]) -> [R; L] {
    core::array::from_fn(|l| R::load(row[l]))
}

/// Value and gradient of columns that are summed side by side.
type Sums<R, const S: usize, const L: usize> = ([R; L], [[R; L]; S]);

/// Horner's scheme; the gradient is that by ξ. Level N of a sum is complete over coordinates 0 to N.
fn horner<R: Load<C>, C: Copy, const S: usize, const L: usize>(
    rows: &[C],
    runs: &[u8],
    x: &[R; S],
) -> Sums<R, S, L> {
    let mut value = [[R::ZERO; L]; S];
    let mut slope = [[[R::ZERO; L]; S]; S];
    let mut rows = rows.chunks_exact(L);
    for run in runs.chunks_exact(S + 1) {
        let mut of_run = rows.by_ref().take(run[0] as usize);
        let (mut v, mut g) = ([R::ZERO; L], [R::ZERO; L]);
        if let Some(row) = of_run.next() {
            v = load(row);
        }
        if let Some(row) = of_run.next() {
            g = v;
            for l in 0..L {
                v[l] = v[l] * x[0] + R::load(row[l]);
            }
        }
        for row in of_run {
            for l in 0..L {
                g[l] = g[l] * x[0] + v[l];
                v[l] = v[l] * x[0] + R::load(row[l]);
            }
        }
        (value[0], slope[0][0]) = (v, g);
        for level in 1..S {
            if level > run[1] as usize {
                break;
            }
            let x = x[level];
            for l in 0..L {
                slope[level][level][l] = slope[level][level][l] * x + value[level][l];
                value[level][l] = value[level][l] * x + value[level - 1][l];
                value[level - 1][l] = R::ZERO;
            }
            for k in 0..level {
                for l in 0..L {
                    slope[level][k][l] = slope[level][k][l] * x + slope[level - 1][k][l];
                    slope[level - 1][k][l] = R::ZERO;
                }
            }
        }
    }
    (value[S - 1], slope[S - 1])
}

/// Sums of Chebyshev polynomials.
fn chebyshev<R: Load<C>, C: Copy, const S: usize, const L: usize>(
    rows: &[C],
    runs: &[u8],
    basis: &Basis<'_, R>,
) -> Sums<R, S, L> {
    let mut value = [[R::ZERO; L]; S];
    let mut slope = [[[R::ZERO; L]; S]; S];
    let mut rows = rows.chunks_exact(L);
    let [first_value, first_slope] = [basis.of(0, 0), basis.of(1, 0)];
    for run in runs.chunks_exact(S + 1) {
        let mut of_run = rows.by_ref().take(run[0] as usize);
        let (mut v, mut g) = ([R::ZERO; L], [R::ZERO; L]);
        if let Some(row) = of_run.next() {
            v = load(row);
        }
        let factors = first_value[1..].iter().zip(&first_slope[1..]);
        for (row, (t, d)) in of_run.zip(factors) {
            for l in 0..L {
                v[l] += *t * R::load(row[l]);
                g[l] += *d * R::load(row[l]);
            }
        }
        (value[0], slope[0][0]) = (v, g);
        for level in 1..S {
            if level > run[1] as usize {
                break;
            }
            let degree = run[level + 1] as usize;
            let (t, d) = (basis.of(0, level)[degree], basis.of(1, level)[degree]);
            for l in 0..L {
                let v = value[level - 1][l];
                value[level][l] += t * v;
                slope[level][level][l] += d * v;
                value[level - 1][l] = R::ZERO;
            }
            for k in 0..level {
                for l in 0..L {
                    let g = slope[level - 1][k][l];
                    slope[level][k][l] += t * g;
                    slope[level - 1][k][l] = R::ZERO;
                }
            }
        }
    }
    (value[S - 1], slope[S - 1])
}

/// Calls a pass over a table that is made for the model's number of coordinates and the table's lanes.
macro_rules! sized {
    ($pass:ident, $s:expr, $lanes:expr, $arguments:tt) => {
        sized!($pass, $s, $lanes, $arguments, 1 2 3 4 5 6 7 8 9 10 11 12)
    };
    ($pass:ident, $s:expr, $lanes:expr, $arguments:tt, $($n:literal)*) => {
        match ($s, $lanes) {
            $(
                ($n, 1) => $pass::<R, M, T, $n, 1> $arguments,
                ($n, 2) => $pass::<R, M, T, $n, 2> $arguments,
                ($n, _) => $pass::<R, M, T, $n, 4> $arguments,
            )*
            _ => unreachable!("models have 1 to 12 actuated coordinates"),
        }
    };
}

/// Values of a table, and gradients where they are needed.
pub fn at<R: Load<M::Stored>, M: Source, const T: usize>(
    source: &M,
    place: &Place<'_, R>,
    f: &mut Fields<'_, R>,
    scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let t = table::<_, T>(m);
    if t.gradients {
        sized!(sums, m.n_rigid, t.lanes, (source, place, f, scratch));
    } else {
        values::at::<R, M, T>(source, place, f.value, scratch);
    }
    for (value, constant) in f.value[t.columns..].iter_mut().zip(t.constants) {
        *value = R::load(*constant);
    }
    if T == DYNAMICS {
        values::combine(source, f.value);
        for slope in f.slope.chunks_exact_mut(t.values) {
            values::combine(source, slope);
        }
    }
}

fn sums<R: Load<M::Stored>, M: Source, const T: usize, const S: usize, const L: usize>(
    source: &M,
    place: &Place<'_, R>,
    f: &mut Fields<'_, R>,
    mut scratch: Scratch<'_, R>,
) {
    let t = table::<_, T>(source.model());
    let at: [(R, R); S] = core::array::from_fn(|k| scaled(source, place, k));
    let xi = at.map(|a| a.0);
    let basis = (!t.powers).then(|| Basis::new::<M, T>(source, place, 2, &mut scratch));
    for (c, (rows, runs)) in groups_of::<_, L>(t, S, place.index).enumerate() {
        let (value, mut slope) = match &basis {
            None => horner::<R, _, S, L>(rows, runs, &xi),
            Some(basis) => chebyshev::<R, _, S, L>(rows, runs, basis),
        };
        f.value[c * L..(c + 1) * L].copy_from_slice(&value);
        for k in 0..S {
            if t.powers {
                slope[k].iter_mut().for_each(|g| *g *= at[k].1);
            }
            let first = k * t.values + c * L;
            f.slope[first..first + L].copy_from_slice(&slope[k]);
        }
    }
    for k in 0..S {
        f.slope[k * t.values + t.columns..(k + 1) * t.values].fill(R::ZERO);
    }
}

/// Degree of coordinate k in row i of a run.
#[inline(always)]
pub fn degree_of(run: &[u8], powers: bool, i: usize, k: usize) -> usize {
    match (k, powers) {
        (0, true) => run[0] as usize - 1 - i,
        (0, false) => i,
        _ => run[k + 1] as usize,
    }
}

/// Powers, Chebyshev polynomials or waves of every coordinate and their derivatives by θ: order, coordinate,
/// degree.
pub struct Basis<'b, R> {
    numbers: &'b mut [R],
    s: usize,
    degrees: usize,
}

impl<'b, R: Number> Basis<'b, R> {
    /// What the box of a table needs, with derivatives below `orders`.
    pub fn new<M: Source, const T: usize>(
        source: &M,
        place: &Place<'_, R>,
        orders: usize,
        scratch: &mut Scratch<'b, R>,
    ) -> Self
    where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let t = table::<_, T>(m);
        // f_i = a ξ f_(i−1) − b f_(i−2).
        let (grow, back) = if t.powers {
            (R::ONE, R::ZERO)
        } else {
            (R::TWO, R::ONE)
        };
        let (s, degrees, degree) = (m.n_rigid, m.degrees, degree_at(t, place.index));
        let d = scratch.zeros(orders * s * degrees);
        for k in 0..s {
            if m.is_wave(k) {
                let (per_angle, first) = (waves::per_angle(T != DYNAMICS), k * degrees + 1);
                d[first - 1] = R::ONE;
                waves::fill(place.theta[k], per_angle, degree, 1, &mut d[first..]);
                for order in 1..orders {
                    let (before, now) = d.split_at_mut(order * s * degrees + first);
                    let before = &before[(order - 1) * s * degrees + first..];
                    waves::differentiate(before, per_angle, degree, 1, now);
                }
                continue;
            }
            let (xi, scale) = scaled(source, place, k);
            let at = |order: usize, i: usize| (order * s + k) * degrees + i;
            (d[at(0, 0)], d[at(0, 1)]) = (R::ONE, xi);
            if orders > 1 {
                d[at(1, 1)] = scale;
            }
            for order in 0..orders {
                let times = grow * R::of(order as f64) * scale;
                for i in 2..=degree {
                    let mut next = grow * xi * d[at(order, i - 1)] - back * d[at(order, i - 2)];
                    if order > 0 {
                        next += times * d[at(order - 1, i - 1)];
                    }
                    d[at(order, i)] = next;
                }
            }
        }
        Self {
            numbers: d,
            s,
            degrees,
        }
    }

    /// A derivative of a coordinate's functions, by degree.
    #[inline(always)]
    pub fn of(&self, order: usize, k: usize) -> &[R] {
        let first = (order * self.s + k) * self.degrees;
        &self.numbers[first..first + self.degrees]
    }
}
