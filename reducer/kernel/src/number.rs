//! Numbers that a model is evaluated with.

use super::trigonometry;
use core::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number: `f64`, `f32`, or one that counts or differentiates.
pub trait Number:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// 2.
    const TWO: Self;
    /// The largest number.
    const MAX: Self;
    /// Distance from 1 to the next number.
    const EPSILON: Self;
    /// A correction of a deflection with this part of the first one's energy ends them,
    const SETTLED: Self;
    /// and the last one must be as small as this.
    const NEAR: Self;

    /// A literal.
    fn of(value: f64) -> Self;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// Square root of a positive number; 0 of any other.
    fn square_root(self) -> Self;
    /// Cosine and sine of an angle up to a million.
    fn cosine_sine(self) -> (Self, Self);
    /// The whole number next to it towards zero, for magnitudes up to 1e9.
    fn whole(self) -> Self;
    /// The same as an index; 0 where it is negative.
    fn index(self) -> usize;

    /// Without its sign.
    #[inline(always)]
    fn magnitude(self) -> Self {
        if self < Self::ZERO { -self } else { self }
    }
}

/// A number that stored numbers of a type become.
pub trait Load<C: Copy>: Number {
    /// The stored number as this one.
    fn load(stored: C) -> Self;
}

macro_rules! real {
    ($real:ty, $settled:expr, $near:expr, $root_bias:expr) => {
        impl Number for $real {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const TWO: Self = 2.0;
            const MAX: Self = <$real>::MAX;
            const EPSILON: Self = <$real>::EPSILON;
            // Energies go with the square of a deflection.
            const SETTLED: Self = $settled * $settled;
            const NEAR: Self = $near * $near;

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $real
            }

            #[inline(always)]
            fn is_finite(self) -> bool {
                <$real>::is_finite(self)
            }

            /// Newton's method from half the exponent.
            fn square_root(self) -> Self {
                if !(self > 0.0 && Number::is_finite(self)) {
                    return 0.0;
                }
                // Subnormal numbers have no exponent to halve: scale them by 2^64 and the root by 2^-32.
                let (x, scale) = if self < <$real>::MIN_POSITIVE {
                    (self * 18446744073709551616.0, 1.0 / 4294967296.0)
                } else {
                    (self, 1.0)
                };
                let mut root = <$real>::from_bits((x.to_bits() >> 1) + $root_bias);
                for _ in 0..6 {
                    root = 0.5 * (root + x / root);
                }
                root * scale
            }

            #[inline(always)]
            fn cosine_sine(self) -> (Self, Self) {
                let (cosine, sine) = trigonometry::cosine_sine(f64::from(self));
                (cosine as $real, sine as $real)
            }

            #[inline(always)]
            fn whole(self) -> Self {
                self as i64 as $real
            }

            #[inline(always)]
            fn index(self) -> usize {
                self as usize
            }
        }

        impl Load<$real> for $real {
            #[inline(always)]
            fn load(stored: $real) -> Self {
                stored
            }
        }
    };
}

// Half the exponent's bias, as bits.
real!(f64, 1e-13, 1e-6, 0x1FF8_0000_0000_0000);
real!(f32, 3e-7, 1e-4, 0x1FC0_0000);

impl Load<f64> for f32 {
    #[inline(always)]
    fn load(stored: f64) -> Self {
        stored as f32
    }
}
