//! Terms of polynomials whose values alone are needed.
//!
//! Polynomials of one coordinate come first: they follow from recurrences over all coordinates side
//! by side. Every other term is the product of two that stand before it, so that each costs one
//! multiplication.

use std::collections::{BTreeMap, BTreeSet};

/// The terms of a box in the order in which generated code evaluates them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TermList {
    /// Largest degree of a coordinate.
    pub degree: usize,
    /// Degrees of every term: the constant; degree 1 of all coordinates, degree 2, and so on; products.
    pub rows: Vec<Vec<u8>>,
    /// Factors of the products, as places in `rows`.
    pub products: Vec<(usize, usize)>,
}

impl TermList {
    /// The list that holds the given terms of `s` coordinates, and what their products need.
    /// Degrees come in pairs where functions are waves.
    pub fn new(terms: &[Vec<u8>], s: usize, in_pairs: bool) -> Self {
        let mut largest = terms.iter().flatten().max().copied().unwrap_or(0);
        if in_pairs {
            largest = largest.next_multiple_of(2);
        }
        let mut rows = vec![vec![0; s]];
        rows.extend((1..=largest).flat_map(|d| (0..s).map(move |k| single(d, k, s))));
        let mut mixed = BTreeSet::new();
        for term in terms {
            let mut rest = term.clone();
            while n_factors(&rest) > 1 {
                let (left, _) = factors(&rest);
                mixed.insert((n_factors(&rest), rest));
                rest = left;
            }
        }
        let mut places: BTreeMap<Vec<u8>, usize> = rows.iter().cloned().zip(0..).collect();
        let mut products = Vec::new();
        for (_, term) in mixed {
            let (left, right) = factors(&term);
            // Both stand before: one has fewer factors, the other is of one coordinate.
            products.push((places[&left], places[&right]));
            places.insert(term.clone(), rows.len());
            rows.push(term);
        }
        Self {
            degree: usize::from(largest),
            rows,
            products,
        }
    }
}

/// Degree d of coordinate k.
fn single(d: u8, k: usize, s: usize) -> Vec<u8> {
    let mut term = vec![0; s];
    term[k] = d;
    term
}

fn n_factors(term: &[u8]) -> usize {
    term.iter().filter(|d| **d > 0).count()
}

/// A term without its last coordinate, and that coordinate.
fn factors(term: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let last = term.iter().rposition(|d| *d > 0).unwrap_or(0);
    let mut left = term.to_vec();
    left[last] = 0;
    (left, single(term[last], last, term.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_have_factors_before_them() {
        // x²y²z alone needs x, y and z up to degree 2, and x²y².
        let list = TermList::new(&[vec![2, 2, 1]], 3, false);
        assert_eq!(list.degree, 2);
        assert_eq!(list.rows.len(), 7 + 2);
        for (row, &(left, right)) in list.rows[7..].iter().zip(&list.products) {
            let sum: Vec<u8> = (0..3)
                .map(|k| list.rows[left][k] + list.rows[right][k])
                .collect();
            assert_eq!(&sum, row);
        }
        assert_eq!(list.rows[8], [2, 2, 1]);
        assert!(
            list.products
                .iter()
                .enumerate()
                .all(|(i, p)| p.0 < 7 + i && p.1 < 7)
        );
    }

    #[test]
    fn a_table_without_terms_has_a_constant() {
        let list = TermList::new(&[], 2, false);
        assert_eq!((list.rows, list.products), (vec![vec![0, 0]], vec![]));
    }
}
