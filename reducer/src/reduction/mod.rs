//! Reduced coefficients at one configuration.

pub mod coefficients;

pub use coefficients::{Coefficients, OutputCoefficients};
