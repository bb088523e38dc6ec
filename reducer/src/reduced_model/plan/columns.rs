//! Which columns of a table stand side by side.
//!
//! Columns of one group share their terms, zeros filled in, so columns belong together that have much the
//! same ones.

use crate::reduced_model::Table;

/// Terms of a column in all boxes, one bit each.
struct Terms {
    column: usize,
    bits: Vec<u64>,
    count: u32,
}

/// The columns `kept` of tables in an order in which groups of `lanes` have few terms together.
pub(super) fn side_by_side(
    tables: &[&Table],
    n_columns: usize,
    kept: Vec<usize>,
    lanes: usize,
) -> Vec<usize> {
    if !tables.iter().any(|t| t.coefficients.contains(&0.0)) {
        return kept;
    }
    let mut rest: Vec<Terms> = kept
        .into_iter()
        .map(|column| terms_of(tables, n_columns, column))
        .collect();
    // Groups begin with what has most terms.
    rest.sort_by_key(|t| (std::cmp::Reverse(t.count), t.column));
    let mut order = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let first = rest.remove(0);
        let mut union = first.bits;
        order.push(first.column);
        for _ in 1..lanes.min(rest.len() + 1) {
            // Zeros that the group would hold: terms of the column that others lack, and the reverse.
            let apart = |t: &Terms| {
                let bits = t.bits.iter().zip(&union);
                bits.map(|(a, b)| (a ^ b).count_ones()).sum::<u32>()
            };
            let best = (0..rest.len()).min_by_key(|&i| (apart(&rest[i]), i));
            let next = rest.remove(best.unwrap_or(0));
            union.iter_mut().zip(&next.bits).for_each(|(u, b)| *u |= b);
            order.push(next.column);
        }
    }
    order
}

fn terms_of(tables: &[&Table], n_columns: usize, column: usize) -> Terms {
    let coefficients = tables
        .iter()
        .flat_map(|t| t.coefficients.iter().skip(column).step_by(n_columns.max(1)));
    let mut bits = Vec::new();
    let mut count = 0;
    for (i, c) in coefficients.enumerate() {
        if i.is_multiple_of(64) {
            bits.push(0);
        }
        if *c != 0.0 {
            bits[i / 64] |= 1 << (i % 64);
            count += 1;
        }
    }
    Terms {
        column,
        bits,
        count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_with_equal_terms_stand_together() {
        // Columns 0 and 2 have the first two terms, 1 and 3 the last two.
        let table = Table {
            terms: (0..3).map(|d| vec![d]).collect(),
            coefficients: vec![
                1.0, 0.0, 1.0, 0.0, //
                1.0, 1.0, 1.0, 1.0, //
                0.0, 1.0, 0.0, 1.0,
            ],
        };
        assert_eq!(
            side_by_side(&[&table], 4, vec![0, 1, 2, 3], 2),
            [0, 2, 1, 3]
        );
        assert_eq!(side_by_side(&[&table], 4, vec![1, 2, 3], 2), [1, 3, 2]);
    }
}
