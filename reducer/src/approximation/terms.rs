//! Sets of polynomial terms (degrees of Chebyshev polynomials per coordinate), graded order.

/// Terms of total degree up to `degree`: C(s+d, d) of them.
pub(super) fn total_degree(s: usize, degree: usize) -> Vec<Vec<u8>> {
    let mut terms = Vec::new();
    for total in 0..=degree {
        extend(&mut terms, &mut Vec::with_capacity(s), s, total);
    }
    terms
}

fn extend(terms: &mut Vec<Vec<u8>>, prefix: &mut Vec<u8>, s: usize, rest: usize) {
    if prefix.len() + 1 == s {
        prefix.push(rest as u8);
        terms.push(prefix.clone());
        prefix.pop();
        return;
    }
    for first in (0..=rest).rev() {
        prefix.push(first as u8);
        extend(terms, prefix, s, rest - first);
        prefix.pop();
    }
}

/// All terms of degree up to `order` in each coordinate: (p+1)^s of them.
pub(super) fn tensor(s: usize, order: usize) -> Vec<Vec<u8>> {
    let mut terms = vec![Vec::new()];
    for _ in 0..s {
        terms = terms
            .into_iter()
            .flat_map(|t: Vec<u8>| (0..=order as u8).map(move |d| [&t[..], &[d]].concat()))
            .collect();
    }
    terms.sort_by_key(|t| t.iter().map(|&d| usize::from(d)).sum::<usize>());
    terms
}

/// C(s+d, d).
pub(super) fn total_degree_count(s: usize, degree: usize) -> usize {
    (1..=s).fold(1, |count, i| count * (degree + i) / i)
}

/// Largest degree that is tried where the user gives none.
pub(super) fn default_max_degree(s: usize) -> usize {
    [20, 14, 10, 8, 6, 5]
        .get(s.saturating_sub(1))
        .copied()
        .unwrap_or(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn sets_are_complete_and_graded() {
        for (s, d) in [(1, 5), (2, 4), (3, 9), (6, 3)] {
            let terms = total_degree(s, d);
            assert_eq!(terms.len(), total_degree_count(s, d));
            assert_eq!(terms.iter().collect::<BTreeSet<_>>().len(), terms.len());
            let totals: Vec<u32> = terms
                .iter()
                .map(|t| t.iter().map(|&x| u32::from(x)).sum())
                .collect();
            assert!(totals.is_sorted() && totals.last() == Some(&(d as u32)));
        }
        assert_eq!(tensor(3, 2).len(), 27);
    }
}
