//! Dimensions and units.

use std::fmt;

/// Exponents of metre, kilogram, second and radian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// Exponent of the metre.
    pub length: i8,
    /// Exponent of the kilogram.
    pub mass: i8,
    /// Exponent of the second.
    pub time: i8,
    /// Exponent of the radian.
    pub angle: i8,
}

impl Dimension {
    /// Exponents of metre, kilogram, second and radian.
    pub const fn new(length: i8, mass: i8, time: i8, angle: i8) -> Self {
        Self {
            length,
            mass,
            time,
            angle,
        }
    }

    /// A pure number.
    pub const NONE: Self = Self::new(0, 0, 0, 0);
    /// m
    pub const LENGTH: Self = Self::new(1, 0, 0, 0);
    /// kg
    pub const MASS: Self = Self::new(0, 1, 0, 0);
    /// s
    pub const TIME: Self = Self::new(0, 0, 1, 0);
    /// rad
    pub const ANGLE: Self = Self::new(0, 0, 0, 1);
    /// m²
    pub const AREA: Self = Self::new(2, 0, 0, 0);
    /// m⁴
    pub const SECOND_MOMENT: Self = Self::new(4, 0, 0, 0);
    /// kg m²
    pub const INERTIA: Self = Self::new(2, 1, 0, 0);
    /// kg/m³
    pub const DENSITY: Self = Self::new(-3, 1, 0, 0);
    /// Pa
    pub const PRESSURE: Self = Self::new(-1, 1, -2, 0);
    /// m/s²
    pub const ACCELERATION: Self = Self::new(1, 0, -2, 0);
    /// N
    pub const FORCE: Self = Self::new(1, 1, -2, 0);
    /// N m
    pub const MOMENT: Self = Self::new(2, 1, -2, 0);
    /// N/m
    pub const STIFFNESS: Self = Self::new(0, 1, -2, 0);
    /// N m/rad
    pub const ROTARY_STIFFNESS: Self = Self::new(2, 1, -2, -1);
    /// N s/m
    pub const DAMPING: Self = Self::new(0, 1, -1, 0);
    /// N m s/rad
    pub const ROTARY_DAMPING: Self = Self::new(2, 1, -1, -1);
    /// 1/s
    pub const RATE: Self = Self::new(0, 0, -1, 0);
    /// m/s
    pub const VELOCITY: Self = Self::new(1, 0, -1, 0);
    /// rad/s²
    pub const ROTARY_ACCELERATION: Self = Self::new(0, 0, -2, 1);
    /// rad/s
    pub const ROTARY_RATE: Self = Self::new(0, 0, -1, 1);

    fn map2(self, other: Self, f: impl Fn(i8, i8) -> Option<i8>) -> Option<Self> {
        Some(Self::new(
            f(self.length, other.length)?,
            f(self.mass, other.mass)?,
            f(self.time, other.time)?,
            f(self.angle, other.angle)?,
        ))
    }

    /// Dimension of a product; `None` when an exponent grows beyond reason.
    pub fn times(self, other: Self) -> Option<Self> {
        self.map2(other, i8::checked_add)
    }

    /// Dimension of a quotient.
    pub fn over(self, other: Self) -> Option<Self> {
        self.map2(other, i8::checked_sub)
    }

    /// Dimension of an integer power.
    pub fn power(self, exponent: i8) -> Option<Self> {
        self.map2(self, |own, _| own.checked_mul(exponent))
    }

    /// Dimension of a square root; `None` when an exponent is odd.
    pub fn root(self) -> Option<Self> {
        self.map2(self, |own, _| (own % 2 == 0).then_some(own / 2))
    }

    fn mechanical(self) -> (i8, i8, i8) {
        (self.length, self.mass, self.time)
    }

    /// Whether a value of this dimension may stand where `expected` is needed.
    ///
    /// The radian counts only among pure numbers: `N m` and `N m/rad` are the same stiffness, but
    /// an angle is not a tolerance.
    pub fn fits(self, expected: Self) -> bool {
        if self.mechanical() != expected.mechanical() {
            return false;
        }
        let pure = self.mechanical() == (0, 0, 0);
        !pure || self.angle == expected.angle || self.angle == 0
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [
            (Self::FORCE, "N"),
            (Self::PRESSURE, "Pa"),
            (Self::MOMENT, "N m"),
            (Self::STIFFNESS, "N/m"),
            (Self::ROTARY_STIFFNESS, "N m/rad"),
            (Self::DAMPING, "N s/m"),
            (Self::ROTARY_DAMPING, "N m s/rad"),
            (Self::DENSITY, "kg/m^3"),
            (Self::ACCELERATION, "m/s^2"),
            (Self::VELOCITY, "m/s"),
            (Self::ROTARY_RATE, "rad/s"),
            (Self::ROTARY_ACCELERATION, "rad/s^2"),
            (Self::NONE, "a pure number"),
        ];
        if let Some((_, name)) = named.iter().find(|(dimension, _)| dimension == self) {
            return out.write_str(name);
        }
        let parts = [
            (self.mass, "kg"),
            (self.length, "m"),
            (self.time, "s"),
            (self.angle, "rad"),
        ];
        let written: Vec<String> = parts
            .iter()
            .filter(|(exponent, _)| *exponent != 0)
            .map(|(exponent, unit)| match exponent {
                1 => (*unit).to_owned(),
                _ => format!("{unit}^{exponent}"),
            })
            .collect();
        out.write_str(&written.join(" "))
    }
}

/// What is known of the dimension of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// A literal without unit: SI of whatever is needed, a pure factor in products.
    Plain,
    /// Depends on a parameter without unit, so that nothing can be checked.
    Unknown,
    /// Units were written.
    Unit(Dimension),
}

/// A value in SI units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// The value in SI units.
    pub value: f64,
    /// Its dimension.
    pub dimension: Known,
    /// It depends on a parameter that stays free in the reduced model.
    pub runtime: bool,
}

impl Quantity {
    /// A literal without unit.
    pub const fn plain(value: f64) -> Self {
        Self {
            value,
            dimension: Known::Plain,
            runtime: false,
        }
    }

    /// A value of known dimension.
    pub const fn with_unit(value: f64, dimension: Dimension) -> Self {
        Self {
            value,
            dimension: Known::Unit(dimension),
            runtime: false,
        }
    }
}

const UNITS: &[(&str, f64, Dimension)] = &[
    ("m", 1.0, Dimension::LENGTH),
    ("km", 1e3, Dimension::LENGTH),
    ("cm", 1e-2, Dimension::LENGTH),
    ("mm", 1e-3, Dimension::LENGTH),
    ("um", 1e-6, Dimension::LENGTH),
    ("kg", 1.0, Dimension::MASS),
    ("g", 1e-3, Dimension::MASS),
    ("t", 1e3, Dimension::MASS),
    ("s", 1.0, Dimension::TIME),
    ("ms", 1e-3, Dimension::TIME),
    ("min", 60.0, Dimension::TIME),
    ("N", 1.0, Dimension::FORCE),
    ("kN", 1e3, Dimension::FORCE),
    ("Pa", 1.0, Dimension::PRESSURE),
    ("kPa", 1e3, Dimension::PRESSURE),
    ("MPa", 1e6, Dimension::PRESSURE),
    ("GPa", 1e9, Dimension::PRESSURE),
    ("rad", 1.0, Dimension::ANGLE),
    ("mrad", 1e-3, Dimension::ANGLE),
    ("deg", std::f64::consts::PI / 180.0, Dimension::ANGLE),
    ("Hz", 1.0, Dimension::RATE),
    ("kHz", 1e3, Dimension::RATE),
    (
        "rpm",
        std::f64::consts::PI / 30.0,
        Dimension::new(0, 0, -1, 1),
    ),
];

/// SI value and dimension of a unit.
pub fn unit(name: &str) -> Option<(f64, Dimension)> {
    UNITS
        .iter()
        .find(|(unit, _, _)| *unit == name)
        .map(|(_, factor, dimension)| (*factor, *dimension))
}

/// Names of all units, for suggestions.
pub fn unit_names() -> impl Iterator<Item = &'static str> {
    UNITS.iter().map(|(name, _, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radians_matter_only_among_pure_numbers() {
        assert!(Dimension::MOMENT.fits(Dimension::ROTARY_STIFFNESS));
        assert!(Dimension::NONE.fits(Dimension::ANGLE));
        assert!(!Dimension::ANGLE.fits(Dimension::NONE));
        assert!(!Dimension::LENGTH.fits(Dimension::ANGLE));
    }

    #[test]
    fn dimensions_are_named_as_users_write_them() {
        assert_eq!(Dimension::STIFFNESS.to_string(), "N/m");
        assert_eq!(Dimension::INERTIA.to_string(), "kg m^2");
        assert_eq!(Dimension::new(0, 0, -1, 1).to_string(), "rad/s");
        assert_eq!(Dimension::new(0, 0, -3, 1).to_string(), "s^-3 rad");
    }

    #[test]
    fn odd_exponents_have_no_root() {
        assert_eq!(Dimension::LENGTH.root(), None);
        assert_eq!(Dimension::AREA.root(), Some(Dimension::LENGTH));
    }
}
