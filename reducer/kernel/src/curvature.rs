//! Second and third derivatives of the polynomials of a box.

use super::model::Source;
use super::number::{Load, Number};
use super::polynomials::{Basis, DYNAMICS, Fields, Place, degree_of, groups_of, table};
use super::scratch::Scratch;
use super::values;

/// Second derivatives by θ of the values of a table with gradients.
pub struct Curvature<'f, R> {
    /// Of one pair of θ after the other: (0, 0), (0, 1), (1, 1), (0, 2) and so on.
    second: &'f mut [R],
    values: usize,
}

/// Place of the pair (k, l) of coordinates.
#[inline(always)]
fn pair(k: usize, l: usize) -> usize {
    let (low, high) = if k < l { (k, l) } else { (l, k) };
    high * (high + 1) / 2 + low
}

impl<'f, R: Number> Curvature<'f, R> {
    /// Second derivatives at a place.
    pub fn at<M: Source, const T: usize>(
        source: &M,
        place: &Place<'_, R>,
        scratch: &mut Scratch<'f, R>,
    ) -> Self
    where
        R: Load<M::Stored>,
    {
        let m = source.model();
        let t = table::<_, T>(m);
        // Constants have none.
        let second = scratch.zeros(pair(0, m.n_rigid) * t.values);
        match t.lanes {
            1 => bends::<R, M, T, 1>(source, place, second, scratch.again()),
            2 => bends::<R, M, T, 2>(source, place, second, scratch.again()),
            _ => bends::<R, M, T, 4>(source, place, second, scratch.again()),
        }
        if T == DYNAMICS {
            for second in second.chunks_exact_mut(t.values) {
                values::combine(source, second);
            }
        }
        Self {
            second,
            values: t.values,
        }
    }

    /// ∂²/∂θ_k∂θ_l of all values.
    #[inline(always)]
    fn of(&self, k: usize, l: usize) -> &[R] {
        let first = pair(k, l) * self.values;
        &self.second[first..first + self.values]
    }

    /// Derivatives of values and gradients `f` along a direction of θ.
    pub fn along(&self, f: &Fields<'_, R>, direction: &[R], along: &mut Fields<'_, R>) {
        along.value.fill(R::ZERO);
        for (k, rate) in direction.iter().enumerate() {
            add_times(along.value, f.slope(k), *rate);
        }
        for l in 0..direction.len() {
            let slope = along.slope_mut(l);
            slope.fill(R::ZERO);
            for (k, rate) in direction.iter().enumerate() {
                add_times(slope, self.of(k, l), *rate);
            }
        }
    }

    /// The same along θ_k alone.
    pub fn along_one(&self, f: &Fields<'_, R>, k: usize, along: &mut Fields<'_, R>) {
        along.value.copy_from_slice(f.slope(k));
        for l in 0..along.slopes().count() {
            along.slope_mut(l).copy_from_slice(self.of(k, l));
        }
    }
}

#[inline(always)]
fn add_times<R: Number>(sum: &mut [R], x: &[R], factor: R) {
    for (sum, x) in sum.iter_mut().zip(x) {
        *sum += factor * *x;
    }
}

/// Second derivatives of all columns: as values and gradients are summed and folded.
fn bends<R: Load<M::Stored>, M: Source, const T: usize, const L: usize>(
    source: &M,
    place: &Place<'_, R>,
    second: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let (t, s) = (table::<_, T>(m), m.n_rigid);
    let pairs = pair(0, s);
    let basis = Basis::new::<M, T>(source, place, 3, &mut scratch);
    let mut sums = Sums {
        value: scratch.take(s * L),
        slope: scratch.take(s * s * L),
        second: scratch.take(s * pairs * L),
        s,
    };
    for (c, (rows, runs)) in groups_of::<_, L>(t, s, place.index).enumerate() {
        sums.add::<_, L>(rows, runs, t.powers, &basis);
        let last = sums.second[(s - 1) * pairs * L..].chunks_exact(L);
        for (p, sum) in last.enumerate() {
            let first = p * t.values + c * L;
            second[first..first + L].copy_from_slice(sum);
        }
    }
}

/// Value and derivatives of L columns side by side. Level N of a sum is complete over coordinates 0 to N.
struct Sums<'w, R> {
    /// By level.
    value: &'w mut [R],
    /// By level and coordinate.
    slope: &'w mut [R],
    /// By level and pair of coordinates.
    second: &'w mut [R],
    s: usize,
}

impl<R: Number> Sums<'_, R> {
    /// The sums of a group; of the last level second derivatives only.
    fn add<C: Copy, const L: usize>(
        &mut self,
        rows: &[C],
        runs: &[u8],
        powers: bool,
        basis: &Basis<'_, R>,
    ) where
        R: Load<C>,
    {
        self.value.fill(R::ZERO);
        self.slope.fill(R::ZERO);
        self.second.fill(R::ZERO);
        let s = self.s;
        let first = [0, 1, 2].map(|order| basis.of(order, 0));
        let mut rows = rows.chunks_exact(L);
        for run in runs.chunks_exact(s + 1) {
            let (mut v, mut g, mut h) = ([R::ZERO; L], [R::ZERO; L], [R::ZERO; L]);
            for (i, row) in rows.by_ref().take(run[0] as usize).enumerate() {
                let [t, d, e] = first.map(|f| f[degree_of(run, powers, i, 0)]);
                for l in 0..L {
                    let c = R::load(row[l]);
                    if s > 1 {
                        v[l] += t * c;
                        g[l] += d * c;
                    }
                    h[l] += e * c;
                }
            }
            self.value[..L].copy_from_slice(&v);
            self.slope[..L].copy_from_slice(&g);
            self.second[..L].copy_from_slice(&h);
            for level in 1..s {
                if level > run[1] as usize {
                    break;
                }
                let degree = run[level + 1] as usize;
                self.fold::<L>(level, [0, 1, 2].map(|order| basis.of(order, level)[degree]));
            }
        }
    }

    /// Adds the level below, times the factor of this level's coordinate and its derivatives, and clears it.
    #[inline(always)]
    fn fold<const L: usize>(&mut self, level: usize, [t, d, e]: [R; 3]) {
        let s = self.s;
        let is_last = level + 1 == s;
        let (pairs, below) = (pair(0, s), level - 1);
        let (low, value) = self.value.split_at_mut(level * L);
        let (low_slope, slope) = self.slope.split_at_mut(level * s * L);
        let (low_second, second) = self.second.split_at_mut(level * pairs * L);
        let v = &mut low[below * L..];
        if !is_last {
            add::<_, L>(value, v, t);
            add::<_, L>(&mut slope[level * L..], v, d);
        }
        add::<_, L>(&mut second[pair(level, level) * L..], v, e);
        v.fill(R::ZERO);
        for k in 0..level {
            let g = &mut low_slope[(below * s + k) * L..][..L];
            if !is_last {
                add::<_, L>(&mut slope[k * L..], g, t);
            }
            add::<_, L>(&mut second[pair(k, level) * L..], g, d);
            g.fill(R::ZERO);
        }
        for p in 0..pair(0, level) {
            let h = &mut low_second[(below * pairs + p) * L..][..L];
            add::<_, L>(&mut second[p * L..], h, t);
            h.fill(R::ZERO);
        }
    }
}

#[inline(always)]
fn add<R: Number, const L: usize>(sum: &mut [R], x: &[R], factor: R) {
    add_times(&mut sum[..L], &x[..L], factor);
}

/// Derivatives of values and gradients `f` of a table along θ_k; values alone where a table has no gradients.
pub fn along_theta<R: Load<M::Stored>, M: Source, const T: usize>(
    source: &M,
    place: &Place<'_, R>,
    (f, curvature): (&Fields<'_, R>, Option<&Curvature<'_, R>>),
    k: usize,
    along: &mut Fields<'_, R>,
    mut scratch: Scratch<'_, R>,
) {
    match curvature {
        Some(curvature) => curvature.along_one(f, k, along),
        None => {
            let direction = scratch.zeros(source.model().n_rigid);
            direction[k] = R::ONE;
            along.value.fill(R::ZERO);
            values::rate_at::<R, M, T>(source, place, direction, along.value, scratch);
            if T == DYNAMICS {
                values::combine(source, along.value);
            }
        }
    }
}

/// Derivative by θ_column of the second derivatives along the rates of θ. In every term each factor has a
/// value and two derivatives in time, and products keep to them. For columns alone: outputs have no combinations.
pub fn bend_slope_at<R: Load<M::Stored>, M: Source, const T: usize>(
    source: &M,
    place: &Place<'_, R>,
    rate: &[R],
    column: usize,
    value: &mut [R],
    scratch: Scratch<'_, R>,
) {
    let t = table::<_, T>(source.model());
    value.fill(R::ZERO);
    match t.lanes {
        1 => bend_slopes::<R, M, T, 1>(source, place, rate, column, value, scratch),
        2 => bend_slopes::<R, M, T, 2>(source, place, rate, column, value, scratch),
        _ => bend_slopes::<R, M, T, 4>(source, place, rate, column, value, scratch),
    }
}

fn bend_slopes<R: Load<M::Stored>, M: Source, const T: usize, const L: usize>(
    source: &M,
    place: &Place<'_, R>,
    rate: &[R],
    column: usize,
    value: &mut [R],
    mut scratch: Scratch<'_, R>,
) {
    let m = source.model();
    let (t, s) = (table::<_, T>(m), m.n_rigid);
    let basis = Basis::new::<M, T>(source, place, 4, &mut scratch);
    for (c, (rows, runs)) in groups_of::<_, L>(t, s, place.index).enumerate() {
        let sum = &mut value[c * L..(c + 1) * L];
        let mut rows = rows.chunks_exact(L);
        for run in runs.chunks_exact(s + 1) {
            for (i, row) in rows.by_ref().take(run[0] as usize).enumerate() {
                let (mut product, mut once, mut twice) = (R::ONE, R::ZERO, R::ZERO);
                for k in 0..s {
                    let degree = degree_of(run, t.powers, i, k);
                    let order = usize::from(k == column);
                    let v = basis.of(order, k)[degree];
                    let dv = basis.of(order + 1, k)[degree] * rate[k];
                    let ddv = basis.of(order + 2, k)[degree] * rate[k] * rate[k];
                    twice = (twice * v) + (R::TWO * once * dv) + (product * ddv);
                    once = (once * v) + (product * dv);
                    product *= v;
                }
                for l in 0..L {
                    sum[l] += twice * R::load(row[l]);
                }
            }
        }
    }
}
