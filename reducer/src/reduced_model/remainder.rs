//! What the inequalities of a domain leave of a box.

use super::Domain;

/// Less than this part of a box's width is nothing.
const NOTHING: f64 = 1e-12;

impl Domain {
    /// The point of a box that is farthest, in units of its widths, from its faces and from the
    /// inequalities that cut it; none where they exclude all of it together, but perhaps points of its
    /// boundary.
    pub fn center(&self, lower: &[f64], upper: &[f64]) -> Option<Vec<f64>> {
        let s = lower.len();
        let width = |k: usize| upper[k] - lower[k];
        // Unknowns: y = (θ − lower)/width and the distance t, all with a shift that makes y = 0 feasible.
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for i in &self.inequalities {
            let scaled: Vec<f64> = (0..s).map(|k| i.coefficients[k] * width(k)).collect();
            let size = scaled.iter().map(|c| c * c).sum::<f64>().sqrt();
            if size <= f64::MIN_POSITIVE {
                continue;
            }
            let at_lower: f64 = i.coefficients.iter().zip(lower).map(|(c, l)| c * l).sum();
            let mut row: Vec<f64> = scaled.iter().map(|c| c / size).collect();
            row.extend([1.0, (i.bound - at_lower) / size]);
            rows.push(row);
        }
        let shift = rows.iter().map(|r| -r[s + 1]).fold(0.0, f64::max);
        for k in 0..s {
            for (side, room) in [(-1.0, 0.0), (1.0, 1.0)] {
                let mut row = vec![0.0; s + 2];
                (row[k], row[s], row[s + 1]) = (side, 1.0, room);
                rows.push(row);
            }
        }
        rows.iter_mut().for_each(|r| r[s + 1] += shift);
        let found = maximize_last(rows, s + 1);
        (found[s] - shift > NOTHING).then(|| {
            (0..s)
                .map(|k| lower[k] + found[k].clamp(0.0, 1.0) * width(k))
                .collect()
        })
    }

    /// A point of a box drawn towards a `center` inside the inequalities until all of them hold.
    pub fn drawn_in(&self, theta: &[f64], center: &[f64]) -> Vec<f64> {
        let value = |c: &[f64], at: &[f64]| c.iter().zip(at).map(|(c, t)| c * t).sum::<f64>();
        let mut share = 1.0_f64;
        for i in self.inequalities.iter().filter(|i| !i.holds(theta)) {
            let room = i.bound - value(&i.coefficients, center);
            let excess = value(&i.coefficients, theta) - i.bound;
            share = share.min((room / (room + excess)).max(0.0));
        }
        let toward = |(t, c): (&f64, &f64)| c + share * (t - c);
        theta.iter().zip(center).map(toward).collect()
    }
}

/// Largest value of the last of `n` unknowns x ≥ 0 with Ax ≤ b, b ≥ 0, where a row is A's and then b's:
/// the simplex method, with Bland's rule, which cannot cycle.
fn maximize_last(mut rows: Vec<Vec<f64>>, n: usize) -> Vec<f64> {
    let m = rows.len();
    // Row by row: coefficients of unknowns, of slacks, right-hand side.
    for (i, row) in rows.iter_mut().enumerate() {
        let right = row.pop().unwrap_or(0.0);
        row.extend((0..m).map(|j| f64::from(u8::from(i == j))));
        row.push(right);
    }
    let columns = n + m;
    let mut gains = vec![0.0; columns + 1];
    gains[n - 1] = 1.0;
    let mut basis: Vec<usize> = (n..columns).collect();
    while let Some(enters) = (0..columns).find(|&j| gains[j] > 1e-13) {
        let ratio = |i: usize| rows[i][columns] / rows[i][enters];
        let bounded = (0..m).filter(|&i| rows[i][enters] > 1e-13);
        let leaves =
            bounded.min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)).then(basis[a].cmp(&basis[b])));
        let Some(leaves) = leaves else { break };
        let pivot = rows[leaves][enters];
        rows[leaves].iter_mut().for_each(|v| *v /= pivot);
        let pivot_row = rows[leaves].clone();
        let eliminate = |row: &mut [f64]| {
            let factor = row[enters];
            row.iter_mut()
                .zip(&pivot_row)
                .for_each(|(v, p)| *v -= factor * p);
        };
        for (i, row) in rows.iter_mut().enumerate() {
            if i != leaves {
                eliminate(row);
            }
        }
        eliminate(&mut gains);
        basis[leaves] = enters;
    }
    let mut found = vec![0.0; n];
    for (i, &j) in basis.iter().enumerate().filter(|(_, j)| **j < n) {
        found[j] = rows[i][columns];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::LinearInequality;
    use super::*;

    fn domain(inequalities: &[([f64; 2], f64)]) -> Domain {
        let inequality = |(c, bound): &([f64; 2], f64)| LinearInequality {
            coefficients: c.to_vec(),
            bound: *bound,
        };
        Domain {
            lower: vec![0.0; 2],
            upper: vec![1.0; 2],
            periodic: vec![false; 2],
            inequalities: inequalities.iter().map(inequality).collect(),
        }
    }

    #[test]
    fn centers_are_as_far_inside_as_can_be() {
        let whole = domain(&[])
            .center(&[0.0, -2.0], &[1.0, 2.0])
            .expect("all of it");
        assert!((whole[0] - 0.5).abs() < 1e-12 && whole[1].abs() < 1e-12);
        // A triangle with legs of 0.1: the centre of its inscribed circle.
        let corner = domain(&[([1.0, 1.0], 0.1)]);
        let center = corner.center(&[0.0; 2], &[1.0; 2]).expect("a corner");
        let radius = 0.1 / (2.0 + 2f64.sqrt());
        assert!(
            center.iter().all(|c| (c - radius).abs() < 1e-12),
            "{center:?}"
        );
    }

    #[test]
    fn inequalities_exclude_together() {
        // θ₀ ≥ 2 θ₁ and θ₁ ≥ 2 θ₀ − 0.3 leave 0 ≤ θ₀ ≤ 0.2 only; neither excludes the upper half alone.
        let both = domain(&[([-1.0, 2.0], 0.0), ([2.0, -1.0], 0.3)]);
        assert!(both.center(&[0.0; 2], &[1.0; 2]).is_some());
        assert!(both.center(&[0.25, 0.0], &[1.0, 1.0]).is_none());
        assert!(both.excludes(&[0.25, 0.0], &[1.0, 1.0]));
        assert!(!both.excludes(&[0.0, 0.0], &[0.5, 1.0]));
    }

    #[test]
    fn points_are_drawn_to_the_inequality() {
        let cut = domain(&[([1.0, 1.0], 0.1)]);
        let center = cut.center(&[0.0; 2], &[1.0; 2]).expect("a corner");
        let drawn = cut.drawn_in(&[1.0, 0.7], &center);
        assert!(cut.admits(&drawn));
        assert!((drawn[0] + drawn[1] - 0.1).abs() < 1e-15);
        assert_eq!(cut.drawn_in(&[0.02, 0.03], &center), vec![0.02, 0.03]);
    }
}
