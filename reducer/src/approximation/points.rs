//! Where samples are taken. Every sequence is fixed by its arguments.

use super::region::Region;

const PRIMES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Point `index` of the Halton sequence shifted (modulo 1) by an amount that `key` fixes, in [0, 1)^s.
pub(super) fn halton(index: u64, key: u64, s: usize) -> Vec<f64> {
    (0..s)
        .map(|k| {
            let shift = if key == 0 {
                0.0
            } else {
                uniform(key.wrapping_add(k as u64 + 1))
            };
            (radical_inverse(index + 1, PRIMES[k % PRIMES.len()]) + shift).fract()
        })
        .collect()
}

fn radical_inverse(mut index: u64, base: u64) -> f64 {
    let (mut value, mut scale) = (0.0, 1.0);
    while index > 0 {
        scale /= base as f64;
        value += scale * (index % base) as f64;
        index /= base;
    }
    value
}

/// A number in [0, 1) from a seed (splitmix64).
pub(super) fn uniform(seed: u64) -> f64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// From a uniform number in [0, 1] to one in [−1, 1] that crowds towards the ends as the zeros of
/// Chebyshev polynomials do.
pub(super) fn arcsine(u: f64) -> f64 {
    -(std::f64::consts::PI * u).cos()
}

/// All combinations of `values` in s coordinates, the last coordinate fastest.
pub(super) fn grid(values: &[f64], s: usize) -> Vec<Vec<f64>> {
    let mut points = vec![Vec::new()];
    for _ in 0..s {
        points = points
            .into_iter()
            .flat_map(|p: Vec<f64>| values.iter().map(move |&v| [&p[..], &[v]].concat()))
            .collect();
    }
    points
}

/// Chebyshev-Lobatto points −cos(πi/order); the middle and the ends are exact.
pub(super) fn lobatto(order: usize) -> Vec<f64> {
    let point = |i: usize| match (i, order) {
        (0, _) => -1.0,
        (i, p) if i == p => 1.0,
        (i, p) if 2 * i == p => 0.0,
        (i, p) => -(std::f64::consts::PI * i as f64 / p as f64).cos(),
    };
    (0..=order.max(1)).map(point).collect()
}

/// Central composite design with star points on the faces [T 5.6.2]; half-way for s = 1.
pub(super) fn central_composite(region: &Region) -> Vec<Vec<f64>> {
    let s = region.dimension();
    let mut points: Vec<Vec<f64>> = grid(&[-1.0, 1.0], s);
    points.push(vec![0.0; s]);
    points.extend(star(s, if s == 1 { 0.5 } else { 1.0 }));
    points.iter().map(|xi| region.point(xi)).collect()
}

/// Points at ±`distance` on each axis.
pub(super) fn star(s: usize, distance: f64) -> Vec<Vec<f64>> {
    (0..s)
        .flat_map(|k| {
            [-distance, distance].map(|d| {
                let mut xi = vec![0.0; s];
                xi[k] = d;
                xi
            })
        })
        .collect()
}

/// Candidates for a fit of the given degree, after the samples that exist: corners, centre,
/// Lobatto grid (s ≤ 2), then Halton points that crowd towards the faces, `count` in all.
pub(super) fn candidates(region: &Region, degree: usize, count: usize) -> Vec<Vec<f64>> {
    let s = region.dimension();
    let mut points = Vec::with_capacity(count);
    if s <= 3 {
        points.extend(grid(&[-1.0, 1.0], s));
    }
    points.push(vec![0.0; s]);
    if s <= 2 {
        points.extend(grid(&lobatto(degree), s));
    }
    let mut index = 0;
    while points.len() < count {
        points.push(halton(index, 0, s).into_iter().map(arcsine).collect());
        index += 1;
    }
    points.iter().map(|xi| region.point(xi)).collect()
}

/// Validation points of one round: centre, half-way star points, Halton points of this box and
/// round, uniform or (`crowded`) dense towards the faces.
pub(super) fn validation(
    region: &Region,
    round: u64,
    count: usize,
    crowded: bool,
) -> Vec<Vec<f64>> {
    let s = region.dimension();
    let mut points: Vec<Vec<f64>> = vec![vec![0.0; s]];
    points.extend(star(s, 0.5));
    let key = region
        .key()
        .wrapping_add(round.wrapping_mul(0x51_7c_c1_b7_27_22_0a_95))
        .max(1);
    let place = |u: f64| if crowded { arcsine(u) } else { 2.0 * u - 1.0 };
    points.extend((0..count as u64).map(|i| halton(i, key, s).into_iter().map(place).collect()));
    points.iter().map(|xi| region.point(xi)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn designs_have_the_sizes_of_the_thesis() {
        for (s, expected) in [(1, 5), (2, 9), (3, 15), (4, 25), (6, 77)] {
            let region = Region {
                lower: vec![-1.0; s],
                upper: vec![3.0; s],
            };
            assert_eq!(central_composite(&region).len(), expected);
        }
        assert_eq!(lobatto(2), [-1.0, 0.0, 1.0]);
    }

    #[test]
    fn points_stay_in_their_box_and_rounds_differ() {
        let region = Region {
            lower: vec![-0.08, 0.1],
            upper: vec![0.26, 0.3],
        };
        let all = [
            validation(&region, 0, 20, false),
            validation(&region, 1, 20, true),
            candidates(&region, 4, 60),
        ];
        assert!(all.iter().flatten().all(|p| region.contains(p)));
        assert!(all[0][5..].iter().all(|p| !all[1][5..].contains(p)));
    }
}
