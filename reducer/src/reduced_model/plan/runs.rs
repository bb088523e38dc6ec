//! Rows of a table whose gradients are needed, in the order in which sums are folded.

use std::collections::BTreeMap;

/// Coefficients for all degrees below `count` of the first θ and fixed `degrees` of the others, in
/// rising order, or falling for powers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    pub count: usize,
    /// How many coordinates are summed over when this run is done.
    pub folds: usize,
    pub degrees: Vec<u8>,
}

/// Terms in runs, the last θ outermost, from the highest degrees down for powers; holes in a run are
/// filled, a table without terms has one constant term.
pub(super) fn runs_of(terms: &[Vec<u8>], n_rigid: usize, powers: bool) -> Vec<Run> {
    let mut counts: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for term in terms {
        let key: Vec<u8> = term[1..].iter().rev().copied().collect();
        let count = counts.entry(key).or_insert(1);
        *count = (*count).max(usize::from(term[0]) + 1);
    }
    if counts.is_empty() {
        counts.insert(vec![0; n_rigid - 1], 1);
    }
    let mut runs: Vec<(Vec<u8>, usize)> = counts.into_iter().collect();
    if powers {
        runs.reverse();
    }
    let folds = |r: usize| {
        let key = &runs[r].0;
        match runs.get(r + 1) {
            // The first (outermost) degree that changes decides how many sums are complete.
            Some((next, _)) => key.len() - key.iter().zip(next).take_while(|(a, b)| a == b).count(),
            None => key.len(),
        }
    };
    (0..runs.len())
        .map(|r| Run {
            count: runs[r].1,
            folds: folds(r),
            degrees: runs[r].0.iter().rev().copied().collect(),
        })
        .collect()
}

/// Number of rows of the runs.
pub(super) fn n_rows(runs: &[Run]) -> usize {
    runs.iter().map(|r| r.count).sum()
}

/// Degrees of every row of the runs.
pub(super) fn rows_of(runs: &[Run], powers: bool) -> Vec<Vec<u8>> {
    let row = |run: &Run, i: usize| {
        let first = if powers { run.count - 1 - i } else { i };
        [&[first as u8][..], &run.degrees].concat()
    };
    runs.iter()
        .flat_map(|run| (0..run.count).map(move |i| row(run, i)))
        .collect()
}

/// Largest degree of a box in any coordinate.
pub(super) fn shape_degree(runs: &[Run]) -> usize {
    let of_run = |r: &Run| {
        let others = r.degrees.iter().map(|&d| usize::from(d)).max().unwrap_or(0);
        others.max(r.count - 1)
    };
    runs.iter().map(of_run).max().unwrap_or(0)
}
