//! Proof that polynomials are positive, or matrices of them definite, in a whole box.
//!
//! In Bernstein form a polynomial lies between its smallest and largest coefficient; halving the
//! box tightens the bounds quadratically.

use super::factors::{upper_factor, whiten_upper};
use super::region::Region;
use super::trial::Context;
use super::waves;
use crate::reduced_model::{Component, ComponentLists, Functions, ModelForm, Table};

/// Coefficients per component above which no proof is tried, and pieces per box.
const LARGEST_TENSOR: usize = 200_000;
const MOST_PIECES: usize = 2_000;

/// Positive lower bound in the whole box, absent where it could not be shown: `lagrangian`, of
/// the diagonals of U₀ and L; `direct`, of the eigenvalues of M̄ and K̄ relative to their mean
/// over a part of the box.
pub(super) fn definite_bound(context: &Context, region: &Region, table: &Table) -> Option<f64> {
    let (components, layout) = (context.components, context.layout);
    match context.rules.form {
        ModelForm::Lagrangian => positive_diagonals(context, region, table),
        ModelForm::Direct => {
            let (n, s) = (layout.n(), layout.n_rigid);
            let mass = definite_matrix(0..n, components, table, |row, column| Component::Mass {
                row,
                column,
            })?;
            let stiffness = definite_matrix(s..n, components, table, |row, column| {
                Component::Stiffness { row, column }
            })?;
            Some(mass.min(stiffness))
        }
    }
}

fn positive_diagonals(context: &Context, region: &Region, table: &Table) -> Option<f64> {
    let (n, s) = (context.layout.n(), context.layout.n_rigid);
    let components = context.components;
    let is_waves = context.functions.contains(&Functions::Waves);
    let mut bound = f64::MAX;
    for i in 0..n {
        let mass = Component::MassFactor { row: i, column: i };
        let stiffness = Component::StiffnessFactor { row: i, column: i };
        for component in [Some(mass), (i >= s).then_some(stiffness)]
            .into_iter()
            .flatten()
        {
            let low = if is_waves {
                wave_bound(context, region, component, table)?
            } else {
                scalar_bound(&entry(component, components, table)?)?
            };
            bound = bound.min(low);
        }
    }
    Some(bound)
}

/// The same of a sum of waves, or of a constant.
fn wave_bound(
    context: &Context,
    region: &Region,
    component: Component,
    table: &Table,
) -> Option<f64> {
    let lists = context.components;
    let Some(column) = lists.dynamics.iter().position(|c| *c == component) else {
        let constant = lists.constants.iter().find(|c| c.component == component);
        return constant.map(|c| c.value).filter(|v| *v > 0.0);
    };
    let rows = table.coefficients.chunks_exact(lists.dynamics.len());
    let terms: Vec<(&[u8], f64)> = (table.terms.iter().zip(rows))
        .map(|(term, row)| (term.as_slice(), row[column]))
        .filter(|(_, c)| *c != 0.0)
        .collect();
    waves::lower_bound(&terms, context.functions, &region.lower, &region.upper)
}

/// Smallest value that a positive polynomial is shown to have.
fn scalar_bound(polynomial: &Bernstein) -> Option<f64> {
    let judge = |piece: &[Bernstein]| {
        piece[0]
            .coefficients
            .iter()
            .copied()
            .reduce(f64::min)
            .filter(|low| *low > 0.0)
    };
    bound_over_pieces(vec![polynomial.clone()], judge)
}

/// Lower bound of the eigenvalues of a symmetric matrix relative to its mean over a piece.
fn definite_matrix(
    range: std::ops::Range<usize>,
    components: &ComponentLists,
    table: &Table,
    name: impl Fn(usize, usize) -> Component,
) -> Option<f64> {
    let n = range.len();
    if n == 0 {
        return Some(f64::MAX);
    }
    let mut entries = Vec::with_capacity(n * n);
    for i in range.clone() {
        for j in range.clone() {
            entries.push(entry(name(i.min(j), i.max(j)), components, table)?);
        }
    }
    bound_over_pieces(entries, |piece| gershgorin_bound(piece, n))
}

/// Gershgorin's bound for U⁻¹ A U⁻ᵀ, U the factor of the mean of A's coefficients.
fn gershgorin_bound(piece: &[Bernstein], n: usize) -> Option<f64> {
    let count = piece[0].coefficients.len();
    let mean: Vec<f64> = piece
        .iter()
        .map(|p| p.coefficients.iter().sum::<f64>() / count as f64)
        .collect();
    let u = upper_factor(&mean, n)?;
    let mut diagonal = vec![f64::MAX; n];
    let mut off_diagonal = vec![0.0_f64; n * n];
    for c in 0..count {
        let mut a: Vec<f64> = piece.iter().map(|p| p.coefficients[c]).collect();
        whiten_upper(&u, &mut a, n);
        for i in 0..n {
            diagonal[i] = diagonal[i].min(a[i * n + i]);
            for j in (0..n).filter(|j| *j != i) {
                off_diagonal[i * n + j] = off_diagonal[i * n + j].max(a[i * n + j].abs());
            }
        }
    }
    let row = |i: usize| diagonal[i] - off_diagonal[i * n..(i + 1) * n].iter().sum::<f64>();
    (0..n)
        .map(row)
        .reduce(f64::min)
        .filter(|bound| *bound > 0.0)
}

/// Halves pieces of the box until `judge` succeeds on each.
fn bound_over_pieces(
    whole: Vec<Bernstein>,
    judge: impl Fn(&[Bernstein]) -> Option<f64>,
) -> Option<f64> {
    let mut bound = f64::MAX;
    let mut pieces = vec![(whole, 0)];
    let mut visited = 0;
    while let Some((piece, axis)) = pieces.pop() {
        visited += 1;
        match judge(&piece) {
            Some(low) => bound = bound.min(low),
            None if visited + pieces.len() < MOST_PIECES => {
                let (low, high): (Vec<_>, Vec<_>) = piece.iter().map(|p| p.halved(axis)).unzip();
                let next = (axis + 1) % piece[0].degrees.len();
                pieces.push((low, next));
                pieces.push((high, next));
            }
            None => return None,
        }
    }
    Some(bound)
}

/// A polynomial by tensor-product Bernstein coefficients, the last coordinate fastest.
#[derive(Debug, Clone)]
struct Bernstein {
    degrees: Vec<usize>,
    coefficients: Vec<f64>,
}

/// The Bernstein form of one component: a column of the table, a constant, or zero.
fn entry(component: Component, components: &ComponentLists, table: &Table) -> Option<Bernstein> {
    let s = table.terms.first().map_or(1, Vec::len);
    let degree = |k: usize| {
        table
            .terms
            .iter()
            .map(|t| usize::from(t[k]))
            .max()
            .unwrap_or(0)
    };
    let degrees: Vec<usize> = (0..s).map(degree).collect();
    let size = degrees
        .iter()
        .try_fold(1_usize, |size, d| size.checked_mul(d + 1))?;
    if size > LARGEST_TENSOR {
        return None;
    }
    let mut form = Bernstein {
        degrees,
        coefficients: vec![0.0; size],
    };
    if let Some(column) = components.dynamics.iter().position(|c| *c == component) {
        for (term, row) in table
            .terms
            .iter()
            .zip(table.coefficients.chunks_exact(components.dynamics.len()))
        {
            let index = term
                .iter()
                .zip(&form.degrees)
                .fold(0, |index, (t, d)| index * (d + 1) + usize::from(*t));
            form.coefficients[index] = row[column];
        }
        for axis in 0..s {
            let matrix = chebyshev_to_bernstein(form.degrees[axis]);
            form.map_lines(axis, |line| {
                let old = line.to_vec();
                for (value, weights) in line.iter_mut().zip(&matrix) {
                    *value = weights.iter().zip(&old).map(|(w, c)| w * c).sum();
                }
            });
        }
    } else {
        let constant = components
            .constants
            .iter()
            .find(|c| c.component == component);
        form.coefficients.fill(constant.map_or(0.0, |c| c.value));
    }
    Some(form)
}

impl Bernstein {
    /// Applies `map` to every line of coefficients along an axis.
    fn map_lines(&mut self, axis: usize, mut map: impl FnMut(&mut [f64])) {
        let length = self.degrees[axis] + 1;
        let stride: usize = self.degrees[axis + 1..].iter().map(|d| d + 1).product();
        let mut line = vec![0.0; length];
        for start in 0..self.coefficients.len() {
            if (start / stride).is_multiple_of(length) {
                (0..length).for_each(|i| line[i] = self.coefficients[start + i * stride]);
                map(&mut line);
                (0..length).for_each(|i| self.coefficients[start + i * stride] = line[i]);
            }
        }
    }

    /// The polynomial on both halves (de Casteljau).
    fn halved(&self, axis: usize) -> (Self, Self) {
        let (mut low, mut high) = (self.clone(), self.clone());
        low.map_lines(axis, |line| {
            for step in 1..line.len() {
                for i in (step..line.len()).rev() {
                    line[i] = 0.5 * (line[i] + line[i - 1]);
                }
            }
        });
        high.map_lines(axis, |line| {
            for step in 1..line.len() {
                for i in 0..line.len() - step {
                    line[i] = 0.5 * (line[i] + line[i + 1]);
                }
            }
        });
        (low, high)
    }
}

/// Rows: Bernstein coefficients of degree d; columns: T_0 … T_d on [−1, 1].
fn chebyshev_to_bernstein(degree: usize) -> Vec<Vec<f64>> {
    let mut columns = Vec::with_capacity(degree + 1);
    for k in 0..=degree {
        let sign = |j: usize| if (k - j).is_multiple_of(2) { 1.0 } else { -1.0 };
        let mut column: Vec<f64> = (0..=k)
            .map(|j| sign(j) * binomial(2 * k, 2 * j) / binomial(k, j))
            .collect();
        for d in k..degree {
            let raise = |i: usize| {
                let part = i as f64 / (d + 1) as f64;
                let before = if i > 0 { column[i - 1] } else { 0.0 };
                let here = if i <= d { column[i] } else { 0.0 };
                part * before + (1.0 - part) * here
            };
            column = (0..=d + 1).map(raise).collect();
        }
        columns.push(column);
    }
    (0..=degree)
        .map(|i| columns.iter().map(|c| c[i]).collect())
        .collect()
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |value, i| value * (n - i) as f64 / (i + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists() -> ComponentLists {
        ComponentLists {
            dynamics: vec![Component::MassFactor { row: 0, column: 0 }],
            ..Default::default()
        }
    }

    fn bound(terms: &[(&[u8], f64)]) -> Option<f64> {
        let table = Table {
            terms: terms.iter().map(|(t, _)| t.to_vec()).collect(),
            coefficients: terms.iter().map(|(_, c)| *c).collect(),
        };
        scalar_bound(&entry(lists().dynamics[0], &lists(), &table)?)
    }

    #[test]
    fn positive_polynomials_are_certified_by_subdivision() {
        // 0.3 + ξ² = 0.8 + 0.5 T₂: the first bound is −0.7.
        let low = bound(&[(&[0], 0.8), (&[2], 0.5)]).expect("positive");
        assert!(low > 0.0 && low <= 0.3 + 1e-15);
        // 1.1 − T₃(x) T₂(y) ≥ 0.1
        let low = bound(&[(&[0, 0], 1.1), (&[3, 2], -1.0)]).expect("positive");
        assert!(low > 0.0 && low <= 0.1 + 1e-12);
    }

    #[test]
    fn polynomials_that_touch_zero_are_not() {
        assert_eq!(bound(&[(&[0], 0.5), (&[2], 0.5)]), None);
        assert_eq!(bound(&[(&[0], 0.4), (&[2], 0.5)]), None);
    }
}
