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
    let mut diagonal = vec![1.0; n];
    let mut upper = vec![0.0; n];
    let mut lower = vec![0.0; n];
    let mut bends = vec![0.0; n];
    for i in 1..n - 1 {
        lower[i] = width(i - 1) / 6.0;
        diagonal[i] = (width(i - 1) + width(i)) / 3.0;
        upper[i] = width(i) / 6.0;
        bends[i] = slope(i) - slope(i - 1);
    }
    if ends == Ends::Rest {
        diagonal[0] = width(0) / 3.0;
        upper[0] = width(0) / 6.0;
        bends[0] = slope(0);
        diagonal[n - 1] = width(n - 2) / 3.0;
        lower[n - 1] = width(n - 2) / 6.0;
        bends[n - 1] = -slope(n - 2);
    }
    // Diagonally dominant: elimination needs no pivots.
    for i in 1..n {
        let factor = lower[i] / diagonal[i - 1];
        diagonal[i] -= factor * upper[i - 1];
        bends[i] -= factor * bends[i - 1];
    }
    bends[n - 1] /= diagonal[n - 1];
    for i in (0..n - 1).rev() {
        bends[i] = (bends[i] - upper[i] * bends[i + 1]) / diagonal[i];
    }
    bends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(function: impl Fn(f64) -> f64, n: u32, ends: Ends) -> Spline {
        let times: Vec<f64> = (0..=n).map(|i| f64::from(i) / f64::from(n)).collect();
        let values = times.iter().map(|&t| function(t)).collect();
        Spline::new(times, values, ends).unwrap()
    }

    #[test]
    fn converges_with_the_fourth_order_when_the_ends_fit() {
        let motion = |t: f64| t - (std::f64::consts::TAU * t).sin() / std::f64::consts::TAU;
        let error = |n: u32| {
            let spline = of(motion, n, Ends::Rest);
            (0..=1000)
                .map(|i| f64::from(i) / 1000.0)
                .map(|t| (spline.at(t).value - motion(t)).abs())
                .fold(0.0, f64::max)
        };
        let (coarse, fine) = (error(20), error(40));
        assert!((coarse / fine).log2() > 3.8, "{coarse} {fine}");
    }

    #[test]
    fn the_second_derivative_is_continuous() {
        let spline = of(|t| (7.0 * t).cos(), 13, Ends::Free);
        for i in 1..13 {
            let t = f64::from(i) / 13.0;
            let (low, high) = (spline.at(t - 1e-9), spline.at(t + 1e-9));
            assert!((low.acceleration - high.acceleration).abs() < 1e-5);
            assert!((low.rate - high.rate).abs() < 1e-6);
        }
        assert!(spline.at(0.0).acceleration.abs() < 1e-12);
    }

    #[test]
    fn points_out_of_order_make_no_spline() {
        assert!(Spline::new(vec![0.0, 0.0], vec![1.0, 2.0], Ends::Free).is_none());
        assert!(Spline::new(vec![0.0], vec![1.0], Ends::Free).is_none());
        assert!(Spline::new(vec![0.0, f64::NAN], vec![1.0, 2.0], Ends::Free).is_none());
    }
}
