//! Numbers that carry a bound on their own rounding error: what a block may differ by between two implementations that
//! do the same operations, however much in it cancels.
#![allow(dead_code)]

use kernel::{Coefficients, Load, Number, Scratch, Status};
use reducer::reduced_model::plan::Plan;
use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A value, and a bound on its error in units of half the distance from 1 to the next number: of first order in it, by
/// running error analysis.
#[derive(Debug, Clone, Copy)]
pub struct Rounded {
    pub value: f64,
    pub error: f64,
}

impl Rounded {
    const fn exact(value: f64) -> Self {
        Self { value, error: 0.0 }
    }

    /// The result of one operation, with what its operands bring.
    fn after(value: f64, brought: f64) -> Self {
        Self {
            value,
            error: brought + value.abs(),
        }
    }
}

impl PartialEq for Rounded {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialOrd for Rounded {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl Add for Rounded {
    type Output = Self;
    fn add(self, x: Self) -> Self {
        Self::after(self.value + x.value, self.error + x.error)
    }
}

impl Sub for Rounded {
    type Output = Self;
    fn sub(self, x: Self) -> Self {
        self + -x
    }
}

impl Mul for Rounded {
    type Output = Self;
    fn mul(self, x: Self) -> Self {
        let brought = self.error * x.value.abs() + self.value.abs() * x.error;
        Self::after(self.value * x.value, brought)
    }
}

impl Div for Rounded {
    type Output = Self;
    fn div(self, x: Self) -> Self {
        let value = self.value / x.value;
        Self::after(value, (self.error + value.abs() * x.error) / x.value.abs())
    }
}

impl Neg for Rounded {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            value: -self.value,
            ..self
        }
    }
}

impl AddAssign for Rounded {
    fn add_assign(&mut self, x: Self) {
        *self = *self + x;
    }
}

impl SubAssign for Rounded {
    fn sub_assign(&mut self, x: Self) {
        *self = *self - x;
    }
}

impl MulAssign for Rounded {
    fn mul_assign(&mut self, x: Self) {
        *self = *self * x;
    }
}

impl Number for Rounded {
    const ZERO: Self = Self::exact(0.0);
    const ONE: Self = Self::exact(1.0);
    const TWO: Self = Self::exact(2.0);
    const MAX: Self = Self::exact(f64::MAX);
    const EPSILON: Self = Self::exact(f64::EPSILON);
    const SETTLED: Self = Self::exact(f64::SETTLED);
    const NEAR: Self = Self::exact(f64::NEAR);

    fn of(value: f64) -> Self {
        Self::exact(value)
    }

    fn is_finite(self) -> bool {
        self.value.is_finite()
    }

    fn square_root(self) -> Self {
        let value = self.value.square_root();
        Self::after(value, 0.5 * self.error / value.max(f64::MIN_POSITIVE))
    }

    fn cosine_sine(self) -> (Self, Self) {
        let (cosine, sine) = self.value.cosine_sine();
        let of = |value: f64, slope: f64| Self::after(value, 1.0 + self.error * slope.abs());
        (of(cosine, sine), of(sine, cosine))
    }

    fn whole(self) -> Self {
        Self::exact(self.value.whole())
    }

    fn index(self) -> usize {
        self.value.index()
    }
}

impl Load<f64> for Rounded {
    /// Tables of single precision hold rounded numbers.
    fn load(stored: f64) -> Self {
        Self::after(stored, 0.0)
    }
}

/// Bounds on the rounding errors of the gyroscopic tensor at a configuration.
pub fn gyroscopic(
    plan: &Plan,
    p: Option<&reducer::reduced_model::Parameters>,
    theta: &[f64],
) -> Vec<f64> {
    let n = plan.n;
    let m = plan.model();
    let exact = |v: &[f64]| -> Vec<Rounded> { v.iter().map(|v| Rounded::exact(*v)).collect() };
    let parts = p.map(|p| {
        [
            &p.payload_mass,
            &p.rotor_inertia,
            &p.viscous,
            &p.coulomb,
            &p.coulomb_rate,
        ]
        .map(|v| exact(v))
    });
    let parameters = p.zip(parts.as_ref()).map(|(p, parts)| kernel::Parameters {
        payload_mass: &parts[0],
        gravity: p.gravity.map(Rounded::exact),
        rotor_inertia: &parts[1],
        viscous: &parts[2],
        coulomb: &parts[3],
        coulomb_rate: &parts[4],
    });
    let mut memory = vec![Rounded::ZERO; plan.memory()];
    let zeros = |count: usize| vec![Rounded::ZERO; count];
    let mut out = [n * n, n * n * n, n * n, n * n, n, n, n * plan.n_loaded].map(zeros);
    let [
        mass,
        gyroscopic,
        stiffness,
        damping,
        force,
        gravity,
        load_map,
    ] = &mut out;
    let mut into = Coefficients {
        mass,
        gyroscopic,
        stiffness,
        damping,
        force,
        gravity,
        load_map,
    };
    let scratch = Scratch::new(&mut memory);
    let theta = exact(theta);
    let status = kernel::coefficients(&m, parameters.as_ref(), &theta, &mut into, scratch);
    assert!(status < Status::Undefined);
    out[1].iter().map(|x| x.error).collect()
}
