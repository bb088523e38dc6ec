//! What the approximation knows of the mechanics.

use crate::reduced_model::ModelLayout;
use crate::reduction::Coefficients;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A mechanism that can be reduced at any configuration of its domain.
pub trait LocalModel: Sync {
    /// Names, kinds and units of coordinates, outputs, loaded dofs and the domain (finite bounds;
    /// a coordinate that turns without end is periodic).
    fn layout(&self) -> ModelLayout;

    /// Exact coefficients at θ. Must depend on θ alone, not on earlier calls.
    fn evaluate(&self, theta: &[f64]) -> Result<Coefficients, SampleFailure>;

    /// The same at many configurations, in their order.
    fn evaluate_all(&self, points: &[&[f64]]) -> Vec<Result<Coefficients, SampleFailure>> {
        points.par_iter().map(|p| self.evaluate(p)).collect()
    }

    /// Processes that share the work of `evaluate_all`.
    fn ranks(&self) -> usize {
        1
    }

    /// Where all bodies form a tree, are rigid and every joint is actuated: inertia that each θ moves by itself, a
    /// lower bound of its articulated inertia at any configuration. Such a model is defined for any θ, and its
    /// functions end after a few waves of θ that turn.
    fn own_inertia(&self) -> Option<Vec<f64>> {
        None
    }

    /// All bodies form a tree and every joint is actuated: the model is defined for any angle, and repeats with every turn.
    fn is_tree(&self) -> bool {
        false
    }

    /// Hash of the model and of all settings that samples depend on.
    fn fingerprint(&self) -> [u8; 32];

    /// The same in hexadecimal digits, as models store it.
    fn input_hash(&self) -> String {
        blake3::Hash::from(self.fingerprint()).to_hex().to_string()
    }
}

impl<M: LocalModel + ?Sized> LocalModel for &M {
    fn layout(&self) -> ModelLayout {
        (**self).layout()
    }

    fn evaluate(&self, theta: &[f64]) -> Result<Coefficients, SampleFailure> {
        (**self).evaluate(theta)
    }

    fn evaluate_all(&self, points: &[&[f64]]) -> Vec<Result<Coefficients, SampleFailure>> {
        (**self).evaluate_all(points)
    }

    fn ranks(&self) -> usize {
        (**self).ranks()
    }

    fn own_inertia(&self) -> Option<Vec<f64>> {
        (**self).own_inertia()
    }

    fn is_tree(&self) -> bool {
        (**self).is_tree()
    }

    fn fingerprint(&self) -> [u8; 32] {
        (**self).fingerprint()
    }
}

/// Why there are no coefficients at a configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
pub enum SampleFailure {
    /// The mechanism is singular.
    #[error("singular at θ = {theta:?}: {reason}")]
    Singular {
        /// Where.
        theta: Vec<f64>,
        /// What is singular.
        reason: String,
    },
    /// The configuration cannot be used: not assembled, another branch, gauge lost, …
    #[error("not admissible at θ = {theta:?}: {reason}")]
    Inadmissible {
        /// Where.
        theta: Vec<f64>,
        /// Why.
        reason: String,
    },
}

impl SampleFailure {
    /// What went wrong, without the place.
    pub fn reason(&self) -> &str {
        match self {
            Self::Singular { reason, .. } | Self::Inadmissible { reason, .. } => reason,
        }
    }
}
