//! Units of coefficients from those of the coordinates.

/// Exponents of kg, m and s, in halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit([i32; 3]);

impl Unit {
    /// kg m².
    pub const INERTIA: Self = Self([2, 4, 0]);
    /// J.
    pub const ENERGY: Self = Self([2, 4, -4]);
    /// J s.
    pub const ACTION: Self = Self([2, 4, -2]);

    /// The unit of a generalised coordinate as the model names it.
    pub fn of_coordinate(name: &str) -> Self {
        Self(match name {
            "m" => [0, 2, 0],
            "N" => [2, 2, -4],
            "m*sqrt(kg)" => [1, 2, 0],
            _ => [0, 0, 0],
        })
    }

    /// This unit over another.
    pub fn per(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] - other.0[i]))
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Names people know, before anything is spelled out.
        let known = match self.0 {
            [0, 0, 0] => Some("1"),
            [2, 2, -4] => Some("N"),
            [2, 4, -4] => Some("N m"),
            [2, 0, -4] => Some("N/m"),
            _ => None,
        };
        if let Some(name) = known {
            return f.write_str(name);
        }
        let mut parts = Vec::new();
        for (base, halves) in ["kg", "m", "s"].into_iter().zip(self.0) {
            match (halves, halves % 2) {
                (0, _) => {}
                (1, _) => parts.push(format!("√{base}")),
                (2, _) => parts.push(base.to_owned()),
                (_, 0) => parts.push(format!("{base}{}", superscript(halves / 2))),
                _ => parts.push(format!("{base}^({halves}/2)")),
            }
        }
        f.write_str(&parts.join(" "))
    }
}

fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = exponent.unsigned_abs().to_string();
    let sign = if exponent < 0 { "⁻" } else { "" };
    let digits: String = digits
        .bytes()
        .map(|digit| DIGITS[usize::from(digit - b'0')])
        .collect();
    format!("{sign}{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mass(a: &str, b: &str) -> String {
        let unit = |name| Unit::of_coordinate(name);
        Unit::INERTIA.per(unit(a)).per(unit(b)).to_string()
    }

    #[test]
    fn units_of_a_mass_matrix() {
        assert_eq!(mass("rad", "rad"), "kg m²");
        assert_eq!(mass("m", "m"), "kg");
        assert_eq!(mass("rad", "m"), "kg m");
        assert_eq!(mass("m*sqrt(kg)", "m*sqrt(kg)"), "1");
        assert_eq!(mass("m", "m*sqrt(kg)"), "√kg");
    }

    #[test]
    fn units_of_forces() {
        let force = |name| Unit::ENERGY.per(Unit::of_coordinate(name)).to_string();
        assert_eq!(force("rad"), "N m");
        assert_eq!(force("m"), "N");
        assert_eq!(force("N"), "m");
    }
}
