//! Sums of Chebyshev polynomials as sums of powers.
//!
//! Horner's scheme needs neither a basis nor its derivatives, and fewer operations. Powers lose digits
//! where the coefficients of high degrees are large, so tables are rewritten only where the
//! coefficients hardly grow.

use super::runs::{n_rows, runs_of};
use crate::reduced_model::Table;
use std::collections::{BTreeMap, BTreeSet};

/// How much the sum of a column's absolute coefficients may grow: rounding errors grow as much.
const LARGEST_GROWTH: f64 = 8.0;

/// How much the rows of all tables together may grow.
const LARGEST_FILL: f64 = 1.25;

/// The tables in powers of ξ, with a row for every step of Horner's scheme. Absent where digits would be
/// lost, or where over a quarter of the rows would be added.
pub(super) fn in_powers(tables: &[Table], n_columns: usize, s: usize) -> Option<Vec<Table>> {
    let in_powers = |table: &Table| {
        let powers = converted(table, &horner_rows(table, s)?, n_columns);
        (growth(table, &powers, n_columns) <= LARGEST_GROWTH).then_some(powers)
    };
    let powers: Option<Vec<Table>> = tables.iter().map(in_powers).collect();
    let before: usize = tables
        .iter()
        .map(|t| n_rows(&runs_of(&t.terms, s, false)))
        .sum();
    let after = |powers: &Vec<Table>| powers.iter().map(|t| t.terms.len()).sum::<usize>();
    powers.filter(|p| after(p) as f64 <= LARGEST_FILL * before as f64)
}

/// Powers of the table's polynomials, and what Horner's scheme passes through on its way to them:
/// all lower degrees of a coordinate, without the coordinates before it.
fn horner_rows(table: &Table, s: usize) -> Option<BTreeSet<Vec<u8>>> {
    let most = 4 * table.terms.len() + 8;
    let mut rows: BTreeSet<Vec<u8>> = table.terms.iter().cloned().collect();
    let lower = |row: &[u8], k: usize, degree: u8| {
        let mut row = row.to_vec();
        row[k] = degree;
        row
    };
    for k in 0..s {
        let powers: Vec<Vec<u8>> = rows
            .iter()
            .flat_map(|row| (row[k] % 2..row[k]).step_by(2).map(|d| lower(row, k, d)))
            .collect();
        rows.extend(powers);
        if rows.len() > most {
            return None;
        }
    }
    for k in (0..s).rev() {
        let steps: Vec<Vec<u8>> = rows
            .iter()
            .flat_map(|row| {
                let from_here = [&vec![0; k][..], &row[k..]].concat();
                (0..row[k]).map(move |d| lower(&from_here, k, d))
            })
            .collect();
        rows.extend(steps);
        if rows.len() > most {
            return None;
        }
    }
    rows.insert(vec![0; s]);
    Some(rows)
}

/// The table with these rows, zeros where it has no such power.
fn converted(table: &Table, rows: &BTreeSet<Vec<u8>>, n_columns: usize) -> Table {
    let s = rows.first().map_or(0, Vec::len);
    let chunks = table.coefficients.chunks_exact(n_columns.max(1));
    let mut sums: BTreeMap<Vec<u8>, Vec<f64>> = table
        .terms
        .iter()
        .cloned()
        .zip(chunks.map(<[f64]>::to_vec))
        .collect();
    for k in 0..s {
        let mut next: BTreeMap<Vec<u8>, Vec<f64>> = BTreeMap::new();
        for (term, row) in sums {
            for (degree, factor) in chebyshev(term[k]) {
                let mut power = term.clone();
                power[k] = degree;
                let sum = next.entry(power).or_insert_with(|| vec![0.0; n_columns]);
                for (sum, c) in sum.iter_mut().zip(&row) {
                    *sum += factor * c;
                }
            }
        }
        sums = next;
    }
    let zero = vec![0.0; n_columns];
    Table {
        coefficients: rows
            .iter()
            .flat_map(|row| sums.get(row).unwrap_or(&zero).iter().copied())
            .collect(),
        terms: rows.iter().cloned().collect(),
    }
}

/// Powers in T_n and their coefficients, which are integers.
fn chebyshev(n: u8) -> Vec<(u8, f64)> {
    let (mut now, mut before) = (vec![1.0], Vec::new());
    for i in 0..n {
        let mut next = vec![0.0; now.len() + 1];
        for (d, c) in now.iter().enumerate() {
            next[d + 1] += if i == 0 { *c } else { 2.0 * c };
        }
        for (d, c) in before.iter().enumerate() {
            next[d] -= c;
        }
        (before, now) = (now, next);
    }
    (0..=n)
        .zip(now)
        .filter(|(degree, _)| (n - degree).is_multiple_of(2))
        .collect()
}

/// Largest ratio of the sums of absolute coefficients of a column.
fn growth(before: &Table, after: &Table, n_columns: usize) -> f64 {
    let sum = |table: &Table, column: usize| -> f64 {
        let column = table.coefficients.iter().skip(column).step_by(n_columns);
        column.map(|c| c.abs()).sum()
    };
    (0..n_columns)
        .map(|c| match sum(before, c) {
            0.0 => 0.0,
            before => sum(after, c) / before,
        })
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_chebyshev_polynomials() {
        assert_eq!(chebyshev(0), [(0, 1.0)]);
        assert_eq!(chebyshev(1), [(1, 1.0)]);
        assert_eq!(chebyshev(5), [(1, 5.0), (3, -20.0), (5, 16.0)]);
    }

    #[test]
    fn powers_have_the_values_of_the_table() {
        let terms: Vec<Vec<u8>> = [[0, 0], [1, 0], [2, 0], [1, 1], [0, 2], [0, 1], [2, 1]]
            .map(Vec::from)
            .to_vec();
        let coefficients: Vec<f64> = (0..14).map(|i| (1.0 + f64::from(i)).recip()).collect();
        let table = Table {
            terms,
            coefficients,
        };
        let powers = in_powers(std::slice::from_ref(&table), 2, 2).expect("a tame table");
        let value = |t: &Table, column: usize, xi: [f64; 2], factor: fn(u8, f64) -> f64| -> f64 {
            let rows = t.coefficients.chunks(2);
            t.terms
                .iter()
                .zip(rows)
                .map(|(d, row)| row[column] * factor(d[0], xi[0]) * factor(d[1], xi[1]))
                .sum()
        };
        for (column, xi) in [(0, [0.3, -0.8]), (1, [-1.0, 0.25])] {
            let a = value(&table, column, xi, |d, x| (f64::from(d) * x.acos()).cos());
            let b = value(&powers[0], column, xi, |d, x| x.powi(i32::from(d)));
            assert!((a - b).abs() < 1e-15 * 4.0, "{a} {b}");
        }
    }

    #[test]
    fn rows_have_all_steps_below_them() {
        // 1, y, y² and x y²: the scheme passes through y and 1 with no x.
        let terms = vec![vec![0, 0], vec![0, 1], vec![0, 2], vec![1, 2]];
        let table = Table {
            coefficients: vec![1.0; 4],
            terms,
        };
        let rows = horner_rows(&table, 2).expect("few rows");
        let expected: BTreeSet<Vec<u8>> = [[0, 0], [1, 0], [0, 1], [0, 2], [1, 2]]
            .map(Vec::from)
            .into();
        assert_eq!(rows, expected);
    }

    #[test]
    fn tables_that_would_lose_digits_or_grow_stay() {
        // T_12 alone has coefficients up to 6912 in powers.
        let lonely = Table {
            terms: (0..=12).map(|d| vec![d]).collect(),
            coefficients: (0..=12).map(|d| f64::from(u8::from(d == 12))).collect(),
        };
        assert!(in_powers(&[lonely], 1, 1).is_none());
        let sparse = Table {
            terms: vec![vec![0, 0], vec![8, 8]],
            coefficients: vec![1.0, 1e-9],
        };
        assert!(in_powers(&[sparse], 1, 2).is_none());
    }
}
