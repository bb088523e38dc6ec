//! Quaternions of one box: one sign for all of them.

use super::region::Region;
use super::sample::Sample;

/// The samples with quaternions whose signs continue one another over the box; nothing where they do.
///
/// A sample of a run has the sign that continues the nearest sample before it, which may be far away
/// when there are few. Within a box signs are continued along the shortest connections of all its samples
/// (Prim's tree), from the first: a box has no hole, so they cannot disagree where samples are dense enough.
pub(super) fn of_one_sign(samples: &[&Sample], region: &Region) -> Option<Vec<Sample>> {
    let first = samples.first()?;
    let n_outputs = first.exact.outputs.len();
    if n_outputs == 0 {
        return None;
    }
    let places: Vec<Vec<f64>> = samples
        .iter()
        .map(|p| region.coordinates(p.theta()))
        .collect();
    let apart = |a: usize, b: usize| -> f64 {
        let pairs = places[a].iter().zip(&places[b]);
        pairs.map(|(x, y)| (x - y).powi(2)).sum()
    };
    // Per sample: distance to the tree, nearest member of it.
    let mut nearest: Vec<(f64, usize)> = (0..samples.len()).map(|i| (apart(0, i), 0)).collect();
    let mut is_member = vec![false; samples.len()];
    let mut turned = vec![vec![false; n_outputs]; samples.len()];
    is_member[0] = true;
    for _ in 1..samples.len() {
        let outside = (0..samples.len()).filter(|i| !is_member[*i]);
        let Some(next) = outside.min_by(|a, b| nearest[*a].0.total_cmp(&nearest[*b].0)) else {
            break;
        };
        let from = nearest[next].1;
        turned[next] = (turned[from].iter().enumerate())
            .map(|(o, before)| *before != samples[next].is_turned_from(samples[from], o))
            .collect();
        is_member[next] = true;
        for (i, near) in nearest.iter_mut().enumerate() {
            let distance = apart(next, i);
            if distance < near.0 {
                *near = (distance, next);
            }
        }
    }
    turned.iter().flatten().any(|t| *t).then(|| {
        let pairs = samples.iter().zip(&turned);
        pairs
            .map(|(sample, turned)| sample.with_signs(turned))
            .collect()
    })
}
