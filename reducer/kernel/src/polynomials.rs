//! Polynomials of a box with their gradients [M 9.1].
//!
//! On a box with centre m and half width w every stored function is a polynomial in ξ_k = (θ_k − m_k)/w_k.
//! Passes over a table know the number of coordinates, S, and of columns side by side, L, so that sums stay
//! in registers.

use super::model::{LARGEST_RIGID, Model, Source, Table};
use super::number::{Load, Number};
use super::scratch::Scratch;
use super::values;

/// Names a model's tables for functions that are made for one of them: this one,
pub const DYNAMICS: bool = false;
/// or this one.
pub const MOTION: bool = true;

/// A table of a model.
#[inline(always)]
pub fn table<'a, 'm, C, const T: bool>(m: &'a Model<'m, C>) -> &'a Table<'m, C> {
    if T { &m.motion } else { &m.dynamics }
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
}

impl<'f, R: Number> Fields<'f, R> {
    /// Memory for the values of a table.
    #[inline(always)]
    pub fn of<M: Source, const T: bool>(source: &M, scratch: &mut Scratch<'f, R>) -> Self {
        let m = source.model();
        let t = table::<_, T>(m);
        let slopes = if t.gradients { m.n_rigid } else { 0 };
        Self {
            value: scratch.take(t.values),
            slope: scratch.take(slopes * t.values),
        }
    }

    /// Derivatives of all values by θ_k.
    #[inline(always)]
    pub fn slope(&self, k: usize) -> &[R] {
        let count = self.value.len();
        &self.slope[k * count..(k + 1) * count]
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

/// Coefficients of a box in groups of L columns, its runs, and its largest degree.
#[inline(always)]
fn groups_of<'a, C: Copy, const S: usize, const L: usize>(
    t: &Table<'a, C>,
    index: usize,
) -> (impl Iterator<Item = &'a [C]>, &'a [u8], usize) {
    let [first, shape] = t.places[index];
    let [start, end, rows, degree] = t.shapes[shape as usize];
    let (first, rows) = (first as usize, rows as usize);
    let coefficients = &t.coefficients[first..first + rows * t.columns];
    let runs = &t.runs[start as usize * (S + 1)..end as usize * (S + 1)];
    (coefficients.chunks_exact(rows * L), runs, degree as usize)
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
    let (first_value, first_slope) = basis.of(0);
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
            let (t, d) = basis.get(level, run[level + 1] as usize);
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
                ($n, 2) => $pass::<R, M, T, $n, 2> $arguments,
                ($n, _) => $pass::<R, M, T, $n, 4> $arguments,
            )*
            _ => unreachable!("models have 1 to {LARGEST_RIGID} actuated coordinates"),
        }
    };
}

/// Values of a table, and gradients where they are needed.
pub fn at<R: Load<M::Stored>, M: Source, const T: bool>(
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
}

fn sums<R: Load<M::Stored>, M: Source, const T: bool, const S: usize, const L: usize>(
    source: &M,
    place: &Place<'_, R>,
    f: &mut Fields<'_, R>,
    mut scratch: Scratch<'_, R>,
) {
    let t = table::<_, T>(source.model());
    let (groups, runs, degree) = groups_of::<_, S, L>(t, place.index);
    let at: [(R, R); S] = core::array::from_fn(|k| scaled(source, place, k));
    let xi = at.map(|a| a.0);
    let basis = (!t.powers).then(|| Basis::new(source, place, degree, false, &mut scratch));
    for (c, rows) in groups.enumerate() {
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

/// Derivatives of values and gradients along a direction of θ.
pub fn rate_at<R: Load<M::Stored>, M: Source, const T: bool>(
    source: &M,
    place: &Place<'_, R>,
    direction: &[R],
    f: &mut Fields<'_, R>,
    scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let t = table::<_, T>(m);
    f.value.fill(R::ZERO);
    f.slope.fill(R::ZERO);
    if t.gradients {
        sized!(
            rates,
            m.n_rigid,
            t.lanes,
            (source, place, direction, f, scratch)
        );
    } else {
        values::rate_at::<R, M, T>(source, place, direction, f.value, scratch);
    }
}

fn rates<R: Load<M::Stored>, M: Source, const T: bool, const S: usize, const L: usize>(
    source: &M,
    place: &Place<'_, R>,
    direction: &[R],
    f: &mut Fields<'_, R>,
    mut scratch: Scratch<'_, R>,
) {
    let t = table::<_, T>(source.model());
    let (groups, runs, degree) = groups_of::<_, S, L>(t, place.index);
    let basis = Basis::new(source, place, degree, t.powers, &mut scratch);
    let rate = basis.rate(source, place, degree, t.powers, direction, &mut scratch);
    let terms = scratch.take((1 + S) * t.n_terms);
    let mut count = 0;
    for run in runs.chunks_exact(S + 1) {
        for i in 0..run[0] as usize {
            let degrees = core::array::from_fn(|k| degree_of(run, t.powers, i, k));
            let (along, slope) = term_rate::<R, S>(&basis, &rate, degrees);
            terms[(1 + S) * count] = along;
            terms[(1 + S) * count + 1..(1 + S) * (count + 1)].copy_from_slice(&slope);
            count += 1;
        }
    }
    for (c, rows) in groups.enumerate() {
        let mut sum = [[R::ZERO; L]; S];
        let mut value = [R::ZERO; L];
        for (row, term) in rows.chunks_exact(L).zip(terms.chunks_exact(1 + S)) {
            for l in 0..L {
                value[l] += term[0] * R::load(row[l]);
            }
            for k in 0..S {
                for l in 0..L {
                    sum[k][l] += term[1 + k] * R::load(row[l]);
                }
            }
        }
        f.value[c * L..(c + 1) * L].copy_from_slice(&value);
        for k in 0..S {
            let first = k * t.values + c * L;
            f.slope[first..first + L].copy_from_slice(&sum[k]);
        }
    }
}

/// Derivative along a direction of one term and of its gradient.
#[inline(always)]
fn term_rate<R: Number, const S: usize>(
    basis: &Basis<'_, R>,
    rate: &Basis<'_, R>,
    degrees: [usize; S],
) -> (R, [R; S]) {
    let still: [(R, R); S] = core::array::from_fn(|k| basis.get(k, degrees[k]));
    let moved: [(R, R); S] = core::array::from_fn(|k| rate.get(k, degrees[k]));
    let (mut along, mut slope) = (R::ZERO, [R::ZERO; S]);
    // The factor of coordinate k is differentiated along the direction, that of l, if any, by itself.
    for k in 0..S {
        let product = |l: usize| {
            let mut product = R::ONE;
            for j in 0..S {
                let (value, slope) = if j == k { moved[j] } else { still[j] };
                product *= if j == l { slope } else { value };
            }
            product
        };
        along += product(S);
        for (l, sum) in slope.iter_mut().enumerate() {
            *sum += product(l);
        }
    }
    (along, slope)
}

/// Derivative by θ_column of the second derivatives along the rates of θ. In every term each factor has a
/// value and two derivatives in time, and products keep to them.
pub fn bend_slope_at<R: Load<M::Stored>, M: Source, const T: bool>(
    source: &M,
    place: &Place<'_, R>,
    rate: &[R],
    column: usize,
    value: &mut [R],
    scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let t = table::<_, T>(m);
    value.fill(R::ZERO);
    sized!(
        bends,
        m.n_rigid,
        t.lanes,
        (source, place, rate, column, value, scratch)
    );
}

fn bends<R: Load<M::Stored>, M: Source, const T: bool, const S: usize, const L: usize>(
    source: &M,
    place: &Place<'_, R>,
    rate: &[R],
    column: usize,
    value: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let t = table::<_, T>(m);
    let (groups, runs, degree) = groups_of::<_, S, L>(t, place.index);
    let derived = derivatives(source, place, degree, t.powers, &mut scratch);
    let of = |order: usize, k: usize, degree: usize| derived[(order * S + k) * m.degrees + degree];
    let terms = scratch.take(t.n_terms);
    let mut count = 0;
    for run in runs.chunks_exact(S + 1) {
        for i in 0..run[0] as usize {
            let (mut product, mut once, mut twice) = (R::ONE, R::ZERO, R::ZERO);
            for k in 0..S {
                let (degree, order) = (degree_of(run, t.powers, i, k), usize::from(k == column));
                let v = of(order, k, degree);
                let dv = of(order + 1, k, degree) * rate[k];
                let ddv = of(order + 2, k, degree) * rate[k] * rate[k];
                twice = (twice * v) + (R::TWO * once * dv) + (product * ddv);
                once = (once * v) + (product * dv);
                product *= v;
            }
            terms[count] = twice;
            count += 1;
        }
    }
    for (c, rows) in groups.enumerate() {
        let sum = &mut value[c * L..(c + 1) * L];
        for (row, term) in rows.chunks_exact(L).zip(&*terms) {
            for l in 0..L {
                sum[l] += *term * R::load(row[l]);
            }
        }
    }
}

/// Degree of coordinate k in row i of a run.
#[inline(always)]
fn degree_of(run: &[u8], powers: bool, i: usize, k: usize) -> usize {
    match (k, powers) {
        (0, true) => run[0] as usize - 1 - i,
        (0, false) => i,
        _ => run[k + 1] as usize,
    }
}

/// Factors of the recurrence f_i = a ξ f_(i−1) − b f_(i−2) of powers or of Chebyshev polynomials.
#[inline(always)]
fn recurrence<R: Number>(powers: bool) -> (R, R) {
    if powers {
        (R::ONE, R::ZERO)
    } else {
        (R::TWO, R::ONE)
    }
}

/// Values and derivatives of powers or Chebyshev polynomials, by coordinate and degree.
struct Basis<'b, R> {
    numbers: &'b mut [R],
    degrees: usize,
}

impl<'b, R: Number> Basis<'b, R> {
    fn new<M: Source>(
        source: &M,
        place: &Place<'_, R>,
        degree: usize,
        powers: bool,
        scratch: &mut Scratch<'b, R>,
    ) -> Self
    where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let (grow, back) = recurrence::<R>(powers);
        let degrees = m.degrees;
        let numbers = scratch.take(2 * m.n_rigid * degrees);
        for (k, numbers) in numbers.chunks_exact_mut(2 * degrees).enumerate() {
            let (xi, scale) = scaled(source, place, k);
            let (value, slope) = numbers.split_at_mut(degrees);
            (value[0], value[1]) = (R::ONE, xi);
            (slope[0], slope[1]) = (R::ZERO, scale);
            for i in 2..=degree {
                value[i] = grow * xi * value[i - 1] - back * value[i - 2];
                slope[i] = grow * (scale * value[i - 1] + xi * slope[i - 1]) - back * slope[i - 2];
            }
        }
        Self { numbers, degrees }
    }

    /// Values and derivatives of a coordinate.
    #[inline(always)]
    fn of(&self, k: usize) -> (&[R], &[R]) {
        self.numbers[2 * k * self.degrees..2 * (k + 1) * self.degrees].split_at(self.degrees)
    }

    /// Value and derivative.
    #[inline(always)]
    fn get(&self, k: usize, degree: usize) -> (R, R) {
        let (value, slope) = self.of(k);
        (value[degree], slope[degree])
    }

    /// Its derivative along a direction of θ.
    fn rate<M: Source>(
        &self,
        source: &M,
        place: &Place<'_, R>,
        degree: usize,
        powers: bool,
        direction: &[R],
        scratch: &mut Scratch<'b, R>,
    ) -> Self
    where
        R: Load<M::Stored>,
    {
        let (grow, back) = recurrence::<R>(powers);
        let degrees = self.degrees;
        let numbers = scratch.zeros(self.numbers.len());
        for (k, numbers) in numbers.chunks_exact_mut(2 * degrees).enumerate() {
            let (xi, scale) = scaled(source, place, k);
            let (value, slope) = numbers.split_at_mut(degrees);
            let (_, still) = self.of(k);
            let along = direction[k];
            let (mut before, mut curvature) = (R::ZERO, R::ZERO);
            value[1] = scale * along;
            for i in 2..=degree {
                let next = grow * (R::TWO * scale * still[i - 1] + xi * curvature) - back * before;
                (before, curvature) = (curvature, next);
                value[i] = still[i] * along;
                slope[i] = next * along;
            }
        }
        Self { numbers, degrees }
    }
}

/// The basis of every coordinate and its derivatives by θ up to the third: order, coordinate, degree.
fn derivatives<'b, R: Load<M::Stored>, M: Source>(
    source: &M,
    place: &Place<'_, R>,
    degree: usize,
    powers: bool,
    scratch: &mut Scratch<'b, R>,
) -> &'b mut [R] {
    let m = source.model();
    let (grow, back) = recurrence::<R>(powers);
    let (s, degrees) = (m.n_rigid, m.degrees);
    let d = scratch.zeros(4 * s * degrees);
    for k in 0..s {
        let (xi, scale) = scaled(source, place, k);
        let at = |order: usize, i: usize| (order * s + k) * degrees + i;
        (d[at(0, 0)], d[at(0, 1)], d[at(1, 1)]) = (R::ONE, xi, scale);
        for order in 0..4 {
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
    d
}
