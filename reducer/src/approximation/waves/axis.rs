//! Functions of one coordinate, and where they are sampled.

use crate::reduced_model::{Functions, ModelLayout};
use nalgebra::DMatrix;
use std::f64::consts::PI;

/// One θ.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub functions: Functions,
    pub lower: f64,
    pub upper: f64,
}

/// What functions of one θ are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// 1, cos θ, sin θ, cos 2θ, sin 2θ, …
    Waves,
    /// cos θ/2, sin θ/2, cos 3θ/2, sin 3θ/2, …: what changes its sign with every turn.
    HalfWaves,
    /// Chebyshev polynomials over the range.
    Polynomials,
}

/// The first functions of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub family: Family,
    pub count: usize,
}

impl Family {
    /// Number of a function in a table; in outputs waves are those of θ/2.
    fn number(self, i: usize, is_output: bool) -> usize {
        match self {
            Self::Waves if is_output && i > 0 => 4 * i.div_ceil(2) - i % 2,
            Self::Waves | Self::Polynomials => i,
            Self::HalfWaves => 2 * (2 * (i / 2) + 1) - 1 + i % 2,
        }
    }

    /// Whole pairs of cosine and sine.
    fn completed(self, count: usize) -> usize {
        match self {
            Self::Waves => count - 1 + (count - 1) % 2 + 1,
            Self::HalfWaves => count + count % 2,
            Self::Polynomials => count,
        }
    }
}

impl Span {
    pub fn new(family: Family, count: usize) -> Self {
        let count = family.completed(count.max(1));
        Self { family, count }
    }

    pub fn numbers(self, is_output: bool) -> Vec<usize> {
        (0..self.count)
            .map(|i| self.family.number(i, is_output))
            .collect()
    }
}

impl Axis {
    pub fn of(layout: &ModelLayout, k: usize, functions: Functions) -> Self {
        Self {
            functions,
            lower: layout.domain.lower[k],
            upper: layout.domain.upper[k],
        }
    }

    pub fn family(&self) -> Family {
        match self.functions {
            Functions::Waves => Family::Waves,
            Functions::Polynomials => Family::Polynomials,
        }
    }

    fn middle(&self) -> f64 {
        0.5 * (self.lower + self.upper)
    }

    /// Points that tell so many functions apart best.
    pub fn nodes(&self, count: usize) -> Vec<f64> {
        let place = |i: usize| (i as f64 + 0.5) / count as f64;
        match self.functions {
            _ if count == 1 => vec![self.middle()],
            Functions::Waves => (0..count)
                .map(|i| self.middle() + PI * (2.0 * place(i) - 1.0))
                .collect(),
            Functions::Polynomials => {
                let half = 0.5 * (self.upper - self.lower);
                let node = |i: usize| self.middle() - half * (PI * place(i)).cos();
                (0..count).map(node).collect()
            }
        }
    }

    /// Function i at θ.
    fn function(&self, family: Family, i: usize, theta: f64) -> f64 {
        match family {
            Family::Waves if i == 0 => 1.0,
            Family::Waves if i % 2 == 1 => (i.div_ceil(2) as f64 * theta).cos(),
            Family::Waves => (i.div_ceil(2) as f64 * theta).sin(),
            Family::HalfWaves if i.is_multiple_of(2) => ((i as f64 + 1.0) * 0.5 * theta).cos(),
            Family::HalfWaves => (i as f64 * 0.5 * theta).sin(),
            Family::Polynomials => {
                let xi = 2.0 * (theta - self.middle()) / (self.upper - self.lower);
                (i as f64 * xi.clamp(-1.0, 1.0).acos()).cos()
            }
        }
    }

    /// Size of the derivative of function i over that of the function, about.
    pub fn steepness(&self, family: Family, i: usize) -> f64 {
        match family {
            Family::Waves => i.div_ceil(2) as f64,
            Family::HalfWaves => 0.5 * (2 * (i / 2) + 1) as f64,
            Family::Polynomials => 2.0 * i as f64 / (self.upper - self.lower),
        }
    }

    /// Coefficients of functions from values at nodes, of which there are at least as many.
    pub fn inverse(&self, nodes: &[f64], span: Span) -> Option<DMatrix<f64>> {
        let value = |r: usize, c: usize| self.function(span.family, c, nodes[r]);
        let matrix = DMatrix::from_fn(nodes.len(), span.count, value);
        let transposed = matrix.transpose();
        Some((&transposed * matrix).try_inverse()? * transposed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_those_of_the_functions() {
        let axis = |functions| Axis {
            functions,
            lower: -2.5,
            upper: 1.5,
        };
        for (family, functions, count) in [
            (Family::Waves, Functions::Waves, 7),
            (Family::HalfWaves, Functions::Waves, 6),
            (Family::Polynomials, Functions::Polynomials, 5),
        ] {
            let axis = axis(functions);
            let span = Span::new(family, count);
            assert_eq!(span.count, count);
            for extra in [0, 2] {
                let nodes = axis.nodes(count + extra);
                let inverse = axis.inverse(&nodes, span).expect("regular");
                for i in 0..count {
                    for j in 0..count {
                        let row = inverse.row(i);
                        let values = nodes.iter().map(|t| axis.function(family, j, *t));
                        let c: f64 = row.iter().zip(values).map(|(a, v)| a * v).sum();
                        assert!((c - f64::from(u8::from(i == j))).abs() < 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_of_outputs_are_those_of_half_angles() {
        // Function 2h − 1 of a table is cos hφ, 2h is sin hφ; φ is half of θ.
        assert_eq!(Span::new(Family::Waves, 5).numbers(false), [0, 1, 2, 3, 4]);
        assert_eq!(Span::new(Family::Waves, 5).numbers(true), [0, 3, 4, 7, 8]);
        assert_eq!(Span::new(Family::HalfWaves, 4).numbers(true), [1, 2, 5, 6]);
    }
}
