//! Linear equations ẋ = Ax + Bu, y = Cx + Du, and the filters that are written as such.

use nalgebra::{Complex, DMatrix, DVector};
use std::f64::consts::PI;

/// A linear system with constant coefficients.
#[derive(Debug, Clone, PartialEq)]
pub struct StateSpace {
    /// A.
    pub a: DMatrix<f64>,
    /// B.
    pub b: DMatrix<f64>,
    /// C.
    pub c: DMatrix<f64>,
    /// D.
    pub d: DMatrix<f64>,
    /// x at t = 0.
    pub initial: Vec<f64>,
}

/// Which frequencies a filter lets through (rad/s).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Band {
    /// Below.
    LowPass(f64),
    /// Above.
    HighPass(f64),
    /// Between.
    BandPass([f64; 2]),
}

impl StateSpace {
    /// A system that starts at rest; none where the sizes do not fit.
    pub fn new(a: DMatrix<f64>, b: DMatrix<f64>, c: DMatrix<f64>, d: DMatrix<f64>) -> Option<Self> {
        let n = a.nrows();
        let fits = a.ncols() == n
            && b.nrows() == n
            && c.ncols() == n
            && d.nrows() == c.nrows()
            && d.ncols() == b.ncols();
        fits.then(|| Self {
            initial: vec![0.0; n],
            a,
            b,
            c,
            d,
        })
    }

    /// A matrix of gains.
    pub fn gains(d: DMatrix<f64>) -> Self {
        Self {
            a: DMatrix::zeros(0, 0),
            b: DMatrix::zeros(0, d.ncols()),
            c: DMatrix::zeros(d.nrows(), 0),
            initial: Vec::new(),
            d,
        }
    }

    /// The system of a transfer function, coefficients of falling powers of s; none where the
    /// numerator's degree is the higher one or the denominator vanishes.
    ///
    /// Time is scaled by the geometric mean of the poles, so that coefficients of very different
    /// size do not cost digits.
    pub fn of_transfer(numerator: &[f64], denominator: &[f64]) -> Option<Self> {
        let skip = denominator.iter().position(|c| *c != 0.0)?;
        let den = &denominator[skip..];
        let first = numerator.iter().position(|c| *c != 0.0);
        let num = first.map_or(&[0.0][..], |at| &numerator[at..]);
        let n = den.len() - 1;
        if num.len() > den.len() {
            return None;
        }
        let last = den[n] / den[0];
        let scale = if n > 0 && last != 0.0 {
            last.abs().powf(1.0 / n as f64)
        } else {
            1.0
        };
        // Coefficients in s/scale, the denominator's first one 1.
        let scaled = |list: &[f64], i: usize| {
            let missing = den.len() - list.len();
            let value = i.checked_sub(missing).map_or(0.0, |k| list[k]);
            value / den[0] / scale.powi(i as i32)
        };
        let through = scaled(num, 0);
        let mut a = DMatrix::zeros(n, n);
        let mut b = DMatrix::zeros(n, 1);
        let mut c = DMatrix::zeros(1, n);
        for i in 0..n {
            a[(0, i)] = -scale * scaled(den, i + 1);
            c[(0, i)] = scaled(num, i + 1) - through * scaled(den, i + 1);
            if i > 0 {
                a[(i, i - 1)] = scale;
            }
        }
        if n > 0 {
            b[(0, 0)] = scale;
        }
        Self::new(a, b, c, DMatrix::from_element(1, 1, through))
    }

    /// A Butterworth filter; `order` is that of the low-pass prototype, so that a band pass has
    /// twice as many poles.
    pub fn butterworth(band: Band, order: usize) -> Option<Self> {
        let prototype = (0..order).map(|k| {
            let angle = PI * (2 * k + order + 1) as f64 / (2 * order) as f64;
            Complex::from_polar(1.0, angle)
        });
        let mut poles = Vec::new();
        let (zeros, gain) = match band {
            Band::LowPass(w) => {
                poles.extend(prototype.map(|p| p * w));
                (0, w.powi(order as i32))
            }
            Band::HighPass(w) => {
                poles.extend(prototype.map(|p| w / p));
                (order, 1.0)
            }
            Band::BandPass([low, high]) => {
                for p in prototype {
                    let half = p * (0.5 * (high - low));
                    let root = (half * half - low * high).sqrt();
                    poles.extend([half + root, half - root]);
                }
                (order, (high - low).powi(order as i32))
            }
        };
        let mut numerator = vec![0.0; zeros + 1];
        numerator[0] = gain;
        Self::of_transfer(&numerator, &polynomial(&poles))
    }

    /// Padé approximant of a delay, of equal degrees.
    pub fn delay(time: f64, order: usize) -> Option<Self> {
        let mut coefficients = vec![1.0; order + 1];
        // Rising powers: c_{k+1} = c_k · T (n − k)/((2n − k)(k + 1)).
        for k in 0..order {
            let part = (order - k) as f64 / ((2 * order - k) * (k + 1)) as f64;
            coefficients[k + 1] = coefficients[k] * time * part;
        }
        let denominator: Vec<f64> = coefficients.iter().rev().copied().collect();
        let numerator: Vec<f64> = (coefficients.iter().enumerate().rev())
            .map(|(k, c)| if k % 2 == 0 { *c } else { -c })
            .collect();
        Self::of_transfer(&numerator, &denominator)
    }

    pub(super) fn outputs(&self, x: &[f64], u: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate() {
            *y = dot(&self.c, i, x)
                + if u.is_empty() {
                    0.0
                } else {
                    dot(&self.d, i, u)
                };
        }
    }

    pub(super) fn rates(&self, x: &[f64], u: &[f64], rates: &mut [f64]) {
        for (i, rate) in rates.iter_mut().enumerate() {
            *rate = dot(&self.a, i, x) + dot(&self.b, i, u);
        }
    }

    /// One sample by the trapezoidal rule, which keeps stability (Tustin): `memory` holds the state
    /// and the input of the sample before.
    pub(super) fn sample(
        &self,
        memory: &mut [f64],
        u: &[f64],
        y: &mut [f64],
        period: f64,
        first: bool,
    ) {
        let n = self.a.nrows();
        let (state, before) = memory.split_at_mut(n);
        if n > 0 && !first {
            let x = DVector::from_column_slice(state);
            let sum = DVector::from_iterator(u.len(), u.iter().zip(&*before).map(|(a, b)| a + b));
            let half = &self.a * (0.5 * period);
            let identity = DMatrix::identity(n, n);
            let right = (&identity + &half) * x + &self.b * sum * (0.5 * period);
            match (identity - half).lu().solve(&right) {
                Some(next) => state.copy_from_slice(next.as_slice()),
                None => state.fill(f64::NAN),
            }
        }
        before.copy_from_slice(u);
        self.outputs(state, u, y);
    }
}

fn dot(matrix: &DMatrix<f64>, row: usize, with: &[f64]) -> f64 {
    (0..matrix.ncols())
        .map(|j| matrix[(row, j)] * with[j])
        .sum()
}

/// Real coefficients of falling powers of a polynomial whose roots come in conjugate pairs.
fn polynomial(roots: &[Complex<f64>]) -> Vec<f64> {
    let mut out = vec![Complex::new(1.0, 0.0)];
    for root in roots {
        out.push(Complex::new(0.0, 0.0));
        for i in (1..out.len()).rev() {
            let low = out[i - 1];
            out[i] -= root * low;
        }
    }
    out.iter().map(|c| c.re).collect()
}
