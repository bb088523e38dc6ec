//! Numbers that differentiate: derivatives of anything that the kernel computes, exact but for rounding.

use kernel::{Load, Number};
use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A value and its derivative along one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual {
    /// The value.
    pub v: f64,
    /// Its derivative along what is varied.
    pub d: f64,
}

fn dual(v: f64, d: f64) -> Dual {
    Dual { v, d }
}

impl PartialOrd for Dual {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.v.partial_cmp(&other.v)
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        dual(self.v + o.v, self.d + o.d)
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        dual(self.v - o.v, self.d - o.d)
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        dual(self.v * o.v, self.d * o.v + self.v * o.d)
    }
}

impl Div for Dual {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let quotient = self.v / o.v;
        dual(quotient, (self.d - quotient * o.d) / o.v)
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        dual(-self.v, -self.d)
    }
}

impl AddAssign for Dual {
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl SubAssign for Dual {
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl MulAssign for Dual {
    fn mul_assign(&mut self, o: Self) {
        *self = *self * o;
    }
}

impl Number for Dual {
    const ZERO: Self = Dual { v: 0.0, d: 0.0 };
    const ONE: Self = Dual { v: 1.0, d: 0.0 };
    const TWO: Self = Dual { v: 2.0, d: 0.0 };
    const MAX: Self = Dual {
        v: f64::MAX,
        d: 0.0,
    };
    const EPSILON: Self = Dual {
        v: f64::EPSILON,
        d: 0.0,
    };
    const SETTLED: Self = Dual {
        v: f64::SETTLED,
        d: 0.0,
    };
    const NEAR: Self = Dual {
        v: f64::NEAR,
        d: 0.0,
    };

    fn of(value: f64) -> Self {
        dual(value, 0.0)
    }

    fn is_finite(self) -> bool {
        self.v.is_finite()
    }

    fn square_root(self) -> Self {
        let root = self.v.sqrt();
        dual(root, if root > 0.0 { 0.5 * self.d / root } else { 0.0 })
    }

    fn cosine_sine(self) -> (Self, Self) {
        let (sine, cosine) = self.v.sin_cos();
        (dual(cosine, -sine * self.d), dual(sine, cosine * self.d))
    }

    fn whole(self) -> Self {
        dual(self.v.trunc(), 0.0)
    }

    fn index(self) -> usize {
        self.v as usize
    }
}

impl Load<f64> for Dual {
    fn load(stored: f64) -> Self {
        dual(stored, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel has cosines and sines of its own, since it does without the standard library.
    #[test]
    fn cosines_and_sines_are_those_of_the_standard_library() {
        for i in -20_000..20_000 {
            let x = f64::from(i) * 0.013_7 + f64::from(i % 7) * 1e3;
            let (cosine, sine) = Number::cosine_sine(x);
            assert!((cosine - x.cos()).abs() < 4e-16, "cos {x}");
            assert!((sine - x.sin()).abs() < 4e-16, "sin {x}");
            let [c, s]: [Dual; 2] = dual(x, 2.0).cosine_sine().into();
            assert_eq!((c.d, s.d), (-2.0 * x.sin(), 2.0 * x.cos()));
        }
    }
}
