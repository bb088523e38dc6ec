//! Whether a configuration lies in the domain of a mechanism.

use super::mechanism::{Mechanism, Origin};
use crate::error::Explain;
use thiserror::Error;

/// Why a configuration is refused.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ConfigurationError {
    /// Not one value per coordinate.
    #[error("the configuration has {found} value(s), but the mechanism has {expected} coordinate(s): {}", names.join(", "))]
    WrongCount {
        /// Values given.
        found: usize,
        /// Values needed.
        expected: usize,
        /// Names of the coordinates in the order of θ.
        names: Vec<String>,
    },
    /// NaN or infinite.
    #[error("the value of coordinate `{coordinate}` is {value}")]
    NotFinite {
        /// The coordinate.
        coordinate: String,
        /// Its value.
        value: f64,
        /// Where the coordinate is described.
        origin: Origin,
    },
    /// Beyond the range of a coordinate.
    #[error("{value} lies outside the range of coordinate `{coordinate}`, {lower} to {upper}")]
    OutOfRange {
        /// The coordinate.
        coordinate: String,
        /// Its value.
        value: f64,
        /// Smallest value.
        lower: f64,
        /// Largest value.
        upper: f64,
        /// Where the coordinate is described.
        origin: Origin,
    },
    /// An inequality of the domain is violated.
    #[error("the configuration violates an inequality of the domain: {sum} > {bound}")]
    Inequality {
        /// Value of its left-hand side.
        sum: f64,
        /// Its right-hand side.
        bound: f64,
        /// Where it is described.
        origin: Origin,
    },
}

impl Explain for ConfigurationError {
    fn origin(&self) -> Option<&Origin> {
        match self {
            Self::WrongCount { .. } => None,
            Self::NotFinite { origin, .. }
            | Self::OutOfRange { origin, .. }
            | Self::Inequality { origin, .. } => Some(origin),
        }
    }

    fn help(&self) -> Option<String> {
        Some(match self {
            Self::WrongCount { expected, .. } => {
                format!("give {expected} value(s), separated by commas")
            }
            Self::NotFinite { .. } => "give a finite number".to_owned(),
            Self::OutOfRange { .. } | Self::Inequality { .. } => {
                "choose a configuration inside the domain, or widen the domain".to_owned()
            }
        })
    }
}

impl Mechanism {
    /// Checks that there is one finite value for each coordinate.
    pub fn check_values(&self, theta: &[f64]) -> Result<(), Vec<ConfigurationError>> {
        if theta.len() != self.coordinates.len() {
            return Err(vec![ConfigurationError::WrongCount {
                found: theta.len(),
                expected: self.coordinates.len(),
                names: self
                    .coordinates
                    .iter()
                    .map(|own| own.name.clone())
                    .collect(),
            }]);
        }
        let pairs = self.coordinates.iter().zip(theta);
        let errors: Vec<ConfigurationError> = pairs
            .filter(|(_, value)| !value.is_finite())
            .map(|(own, value)| ConfigurationError::NotFinite {
                coordinate: own.name.clone(),
                value: *value,
                origin: own.origin.clone(),
            })
            .collect();
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    /// Checks that a configuration lies in the domain, whose ends belong to it.
    ///
    /// A periodic coordinate has every value.
    pub fn check_configuration(&self, theta: &[f64]) -> Result<(), Vec<ConfigurationError>> {
        self.check_values(theta)?;
        let mut errors = Vec::new();
        for (own, value) in self.coordinates.iter().zip(theta) {
            if !own.periodic && !(own.lower..=own.upper).contains(value) {
                errors.push(ConfigurationError::OutOfRange {
                    coordinate: own.name.clone(),
                    value: *value,
                    lower: own.lower,
                    upper: own.upper,
                    origin: own.origin.clone(),
                });
            }
        }
        for inequality in &self.inequalities {
            let products = inequality
                .coefficients
                .iter()
                .zip(theta)
                .map(|(a, b)| a * b);
            let sum: f64 = products.sum();
            if sum > inequality.bound {
                errors.push(ConfigurationError::Inequality {
                    sum,
                    bound: inequality.bound,
                    origin: inequality.origin.clone(),
                });
            }
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }
}
