//! Numbers with one mixed second derivative: how derivatives along a motion change along another direction.

use kernel::{Load, Number};
use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A value, its derivatives along two directions, and the mixed second derivative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bidual {
    pub v: f64,
    pub a: f64,
    pub b: f64,
    pub ab: f64,
}

impl Bidual {
    const fn constant(v: f64) -> Self {
        Self {
            v,
            a: 0.0,
            b: 0.0,
            ab: 0.0,
        }
    }

    /// f(self) from f and its first two derivatives there.
    fn chain(self, f: f64, first: f64, second: f64) -> Self {
        Self {
            v: f,
            a: first * self.a,
            b: first * self.b,
            ab: first * self.ab + second * self.a * self.b,
        }
    }
}

impl PartialOrd for Bidual {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.v.partial_cmp(&other.v)
    }
}

impl Add for Bidual {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self {
            v: self.v + o.v,
            a: self.a + o.a,
            b: self.b + o.b,
            ab: self.ab + o.ab,
        }
    }
}

impl Neg for Bidual {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            v: -self.v,
            a: -self.a,
            b: -self.b,
            ab: -self.ab,
        }
    }
}

impl Sub for Bidual {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl Mul for Bidual {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self {
            v: self.v * o.v,
            a: self.a * o.v + self.v * o.a,
            b: self.b * o.v + self.v * o.b,
            ab: self.ab * o.v + self.a * o.b + self.b * o.a + self.v * o.ab,
        }
    }
}

impl Div for Bidual {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let inverse = 1.0 / o.v;
        let square = inverse * inverse;
        self * o.chain(inverse, -square, 2.0 * square * inverse)
    }
}

impl AddAssign for Bidual {
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl SubAssign for Bidual {
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl MulAssign for Bidual {
    fn mul_assign(&mut self, o: Self) {
        *self = *self * o;
    }
}

impl Number for Bidual {
    const ZERO: Self = Self::constant(0.0);
    const ONE: Self = Self::constant(1.0);
    const TWO: Self = Self::constant(2.0);
    const MAX: Self = Self::constant(f64::MAX);
    const EPSILON: Self = Self::constant(f64::EPSILON);
    const SETTLED: Self = Self::constant(f64::SETTLED);
    const NEAR: Self = Self::constant(f64::NEAR);

    fn of(value: f64) -> Self {
        Self::constant(value)
    }

    fn is_finite(self) -> bool {
        self.v.is_finite()
    }

    fn square_root(self) -> Self {
        let root = self.v.sqrt();
        if root > 0.0 {
            self.chain(root, 0.5 / root, -0.25 / (root * self.v))
        } else {
            Self::ZERO
        }
    }

    fn cosine_sine(self) -> (Self, Self) {
        let (sine, cosine) = self.v.sin_cos();
        (
            self.chain(cosine, -sine, -cosine),
            self.chain(sine, cosine, -sine),
        )
    }

    fn whole(self) -> Self {
        Self::constant(self.v.trunc())
    }

    fn index(self) -> usize {
        self.v as usize
    }
}

impl Load<f64> for Bidual {
    fn load(stored: f64) -> Self {
        Self::constant(stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduced_model::Dual;

    /// Derivatives of a function that uses every operation, against differences of first derivatives.
    #[test]
    fn mixed_derivatives_are_those_of_first_ones() {
        fn f<R: Number>(x: R, y: R) -> R {
            let (cosine, sine) = (x * y).cosine_sine();
            (x * x + y).square_root() / (R::TWO + cosine) - sine * y / (x + R::of(3.0))
        }
        let (x, y) = (0.7, 1.3);
        let by_x = |y: f64| f(Dual { v: x, d: 1.0 }, Dual { v: y, d: 0.0 });
        let h = 1e-5;
        let expected = (by_x(y + h).d - by_x(y - h).d) / (2.0 * h);
        let one = Bidual::constant;
        let found = f(Bidual { a: 1.0, ..one(x) }, Bidual { b: 1.0, ..one(y) });
        assert!((found.a - by_x(y).d).abs() < 1e-14);
        assert!((found.ab - expected).abs() < 1e-9, "{found:?} {expected}");
    }
}
