//! Cubic splines with continuous second derivatives through given points.

use super::signal::Jet;

/// How a spline behaves at its two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ends {
    /// Second derivatives are zero.
    #[default]
    Free,
    /// First derivatives are zero: the curve begins and ends at rest.
    Rest,
}

/// A cubic spline, held outside its points.
#[derive(Debug, Clone, PartialEq)]
pub struct Spline {
    times: Vec<f64>,
    values: Vec<f64>,
    /// Second derivatives at the points.
    bends: Vec<f64>,
    /// Integral from the first point to each point.
    integrals: Vec<f64>,
}

impl Spline {
    /// Through points at strictly increasing times; none unless there are two points or more, as
    /// many values as times, all finite and in order.
    pub fn new(times: Vec<f64>, values: Vec<f64>, ends: Ends) -> Option<Self> {
        let ordered = times.windows(2).all(|pair| pair[0] < pair[1]);
        let finite = times.iter().chain(&values).all(|x| x.is_finite());
        if times.len() < 2 || times.len() != values.len() || !ordered || !finite {
            return None;
        }
        let bends = second_derivatives(&times, &values, ends);
        let mut spline = Self {
            integrals: vec![0.0; times.len()],
            times,
            values,
            bends,
        };
        for i in 1..spline.times.len() {
            let width = spline.times[i] - spline.times[i - 1];
            spline.integrals[i] = spline.integrals[i - 1] + spline.piece_integral(i - 1, width);
        }
        Some(spline)
    }

    /// First and last time.
    pub fn ends(&self) -> [f64; 2] {
        [self.times[0], self.times[self.times.len() - 1]]
    }

    /// Value and derivatives.
    pub fn at(&self, t: f64) -> Jet {
        let last = self.times.len() - 1;
        if t < self.times[0] {
            return Jet::still(self.values[0]);
        }
        if t >= self.times[last] {
            return Jet::still(self.values[last]);
        }
        let i = self.piece(t);
        let width = self.times[i + 1] - self.times[i];
        let (b, a) = ((t - self.times[i]) / width, (self.times[i + 1] - t) / width);
        let (m0, m1) = (self.bends[i], self.bends[i + 1]);
        let (y0, y1) = (self.values[i], self.values[i + 1]);
        let sixth = width * width / 6.0;
        Jet {
            value: a * y0 + b * y1 + sixth * ((a * a * a - a) * m0 + (b * b * b - b) * m1),
            rate: (y1 - y0) / width
                + width / 6.0 * ((1.0 - 3.0 * a * a) * m0 + (3.0 * b * b - 1.0) * m1),
            acceleration: a * m0 + b * m1,
        }
    }

    /// Integral from the first point, negative before it.
    pub fn integral(&self, t: f64) -> f64 {
        let last = self.times.len() - 1;
        if t < self.times[0] {
            return self.values[0] * (t - self.times[0]);
        }
        if t >= self.times[last] {
            return self.integrals[last] + self.values[last] * (t - self.times[last]);
        }
        let i = self.piece(t);
        self.integrals[i] + self.piece_integral(i, t - self.times[i])
    }

    /// The piece that holds `t`, which lies between the ends.
    fn piece(&self, t: f64) -> usize {
        let after = self.times.partition_point(|&x| x <= t);
        after.clamp(1, self.times.len() - 1) - 1
    }

    /// Integral of piece `i` over its first `x`.
    fn piece_integral(&self, i: usize, x: f64) -> f64 {
        let width = self.times[i + 1] - self.times[i];
        let (m0, m1) = (self.bends[i], self.bends[i + 1]);
        let slope = (self.values[i + 1] - self.values[i]) / width - width / 6.0 * (2.0 * m0 + m1);
        let cubic = (m1 - m0) / (6.0 * width);
        x * (self.values[i] + x * (slope / 2.0 + x * (m0 / 6.0 + x * cubic / 4.0)))
    }
}

/// Solves the tridiagonal system of continuity of the first derivative.
fn second_derivatives(times: &[f64], values: &[f64], ends: Ends) -> Vec<f64> {
    let n = times.len();
    let width = |i: usize| times[i + 1] - times[i];
    let slope = |i: usize| (values[i + 1] - values[i]) / width(i);
    // Below, on and above the diagonal, and the right-hand side.
    let mut rows: Vec<[f64; 4]> = (0..n)
        .map(|i| match (i, ends) {
            (0, Ends::Rest) => [0.0, width(0) / 3.0, width(0) / 6.0, slope(0)],
            (0, Ends::Free) => [0.0, 1.0, 0.0, 0.0],
            (i, Ends::Rest) if i == n - 1 => {
                [width(i - 1) / 6.0, width(i - 1) / 3.0, 0.0, -slope(i - 1)]
            }
            (i, Ends::Free) if i == n - 1 => [0.0, 1.0, 0.0, 0.0],
            (i, _) => [
                width(i - 1) / 6.0,
                (width(i - 1) + width(i)) / 3.0,
                width(i) / 6.0,
                slope(i) - slope(i - 1),
            ],
        })
        .collect();
    // Diagonally dominant: elimination needs no pivots.
    for i in 1..n {
        let [_, diagonal, upper, right] = rows[i - 1];
        let factor = rows[i][0] / diagonal;
        rows[i][1] -= factor * upper;
        rows[i][3] -= factor * right;
    }
    let mut bends = vec![0.0; n];
    let mut after = 0.0;
    for (bend, [_, diagonal, upper, right]) in bends.iter_mut().zip(&rows).rev() {
        *bend = (right - upper * after) / diagonal;
        after = *bend;
    }
    bends
}
