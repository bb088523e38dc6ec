//! Which parts of the domain have a model, why others have none, and whether that is enough.

use super::{
    BlockError, BoxModel, Domain, EvaluationError, Evaluator, LargestError, LinearInequality,
    ModelForm, ReducedModel, Status, TreeNode, Workspace,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a region has no model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case", deny_unknown_fields)]
pub enum DropReason {
    /// The inequalities of the domain exclude all of it, but perhaps points of its boundary.
    Outside,
    /// The inequalities of the domain cut it, what they leave is too little for a fit, and it is
    /// too small to be bisected.
    Cut {
        /// Samples that they leave for the fit.
        samples: usize,
        /// Samples that the fit needs.
        needed: usize,
        /// Samples that they leave to check it; it needs one.
        checks: usize,
    },
    /// The refinement ended before it came here.
    Unfinished,
    /// The mechanism is singular at a configuration of the region, and it is too small to be bisected, nothing that was
    /// tried in it can be reduced, or too many such regions were bisected.
    Singular {
        /// The configuration.
        theta: Vec<f64>,
        /// What is singular, for people.
        message: String,
    },
    /// A configuration of the region cannot be used (not assembled, another branch, gauge lost, …), and it is too small
    /// to be bisected, nothing that was tried in it can be reduced, or too many such regions were bisected.
    Inadmissible {
        /// The configuration.
        theta: Vec<f64>,
        /// What is wrong there, for people.
        message: String,
    },
}

impl DropReason {
    /// The inequalities admit points of the region: the model should have them.
    pub fn is_missing(&self) -> bool {
        *self != Self::Outside
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside => write!(f, "outside the inequalities of the domain"),
            Self::Cut {
                samples,
                needed,
                checks,
            } => write!(
                f,
                "cut by the inequalities of the domain, which leave {samples} of {needed} samples \
                 for a fit and {checks} to check it"
            ),
            Self::Unfinished => write!(f, "not looked at before the refinement ended"),
            Self::Singular { theta, message } => {
                write!(f, "singular at θ = {theta:?}: {}", rest(message, theta))
            }
            Self::Inadmissible { theta, message } => {
                write!(
                    f,
                    "not admissible at θ = {theta:?}: {}",
                    rest(message, theta)
                )
            }
        }
    }
}

/// What a message says besides the configuration that it begins with.
fn rest<'a>(message: &'a str, theta: &[f64]) -> &'a str {
    let place = format!("θ = {theta:?}");
    let said = message.trim_start_matches("at ").strip_prefix(&place);
    said.map_or(message, |rest| rest.trim_start_matches([':', ' ']))
}

/// A region of the domain that has no model although the inequalities admit points of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingRegion {
    /// Smallest θ.
    pub lower: Vec<f64>,
    /// Largest θ.
    pub upper: Vec<f64>,
    /// Why.
    pub reason: DropReason,
}

/// The node without children at which a walk along the cuts of a tree ends.
fn walk(tree: &[TreeNode], mut is_below: impl FnMut(usize, f64) -> bool) -> &TreeNode {
    let mut node = &tree[0];
    while let TreeNode::Split {
        axis,
        at,
        low,
        high,
    } = node
    {
        node = &tree[if is_below(*axis, *at) { *low } else { *high }];
    }
    node
}

/// Index of the box that holds θ; none in a region without a model.
pub(super) fn box_of(tree: &[TreeNode], theta: &[f64]) -> Option<usize> {
    match walk(tree, |axis, at| theta[axis] < at) {
        TreeNode::Leaf { index } => Some(*index),
        TreeNode::Dropped { .. } | TreeNode::Split { .. } => None,
    }
}

/// Of valid models.
impl ReducedModel {
    /// The node without children at which a walk along the cuts ends; `is_below` says whether
    /// θ_axis lies below a cut.
    pub fn node_by(&self, is_below: impl FnMut(usize, f64) -> bool) -> &TreeNode {
        walk(&self.tree, is_below)
    }

    /// Index of the box that holds a θ within the bounds of the domain; none in a region without a
    /// model.
    pub fn box_at(&self, theta: &[f64]) -> Option<usize> {
        box_of(&self.tree, theta)
    }

    /// Regions without a model, lower halves first; what the inequalities exclude is not missing.
    pub fn missing_regions(&self) -> Vec<MissingRegion> {
        let domain = &self.layout.domain;
        let mut out = Vec::new();
        let mut open = vec![(0, domain.lower.clone(), domain.upper.clone())];
        while let Some((node, lower, upper)) = open.pop() {
            match &self.tree[node] {
                TreeNode::Split {
                    axis,
                    at,
                    low,
                    high,
                } => {
                    let (mut high_lower, mut low_upper) = (lower.clone(), upper.clone());
                    high_lower[*axis] = *at;
                    low_upper[*axis] = *at;
                    open.push((*high, high_lower, upper));
                    open.push((*low, lower, low_upper));
                }
                TreeNode::Dropped { reason } if reason.is_missing() => {
                    out.push(MissingRegion {
                        lower,
                        upper,
                        reason: reason.clone(),
                    });
                }
                TreeNode::Leaf { .. } | TreeNode::Dropped { .. } => {}
            }
        }
        out
    }

    /// Boxes that fell short of a tolerance, or that [lack a proof](Self::lacks_proof).
    pub fn short_boxes(&self) -> impl Iterator<Item = &BoxModel> {
        let is_short = |b: &&BoxModel| !b.reached || self.lacks_proof(b);
        self.boxes.iter().filter(is_short)
    }

    /// Mass or stiffness may be indefinite somewhere in the box: in the form `direct` nothing but the
    /// proof excludes it, while `lagrangian` stores factors, whose products are never indefinite.
    pub fn lacks_proof(&self, b: &BoxModel) -> bool {
        self.form == ModelForm::Direct && b.definite.is_none()
    }

    /// No region is missing, no box fell short, and these errors at fresh points, and the largest that were
    /// found, are within the tolerances.
    pub fn reaches(&self, errors: &[BlockError], largest: &[LargestError]) -> bool {
        let settings = &self.provenance.settings;
        let is_missing =
            |n: &TreeNode| matches!(n, TreeNode::Dropped { reason } if reason.is_missing());
        !self.tree.iter().any(is_missing)
            && self.short_boxes().next().is_none()
            && errors.iter().all(|e| settings.allows(e))
            && largest.iter().all(|e| settings.allows_largest(e))
    }
}

impl Evaluator<'_> {
    /// θ lies in a box that [lacks a proof](ReducedModel::lacks_proof).
    pub fn lacks_proof(
        &self,
        theta: &[f64],
        work: &mut Workspace,
    ) -> Result<bool, EvaluationError> {
        let (status, used) = self.located(theta, work)?;
        let model = self.model();
        Ok(status < Status::Undefined
            && model
                .box_at(&used)
                .is_some_and(|index| model.lacks_proof(&model.boxes[index])))
    }

    /// Why the model has no value at θ; none where it has one, or where θ or the value is to blame.
    pub fn drop_reason(
        &self,
        theta: &[f64],
        work: &mut Workspace,
    ) -> Result<Option<DropReason>, EvaluationError> {
        let (status, used) = self.located(theta, work)?;
        if status != Status::Undefined {
            return Ok(None);
        }
        let model = self.model();
        if !model.layout.domain.admits(&used) {
            return Ok(Some(DropReason::Outside));
        }
        Ok(match model.node_by(|axis, at| used[axis] < at) {
            TreeNode::Dropped { reason } => Some(reason.clone()),
            TreeNode::Leaf { .. } | TreeNode::Split { .. } => None,
        })
    }
}

impl Domain {
    /// θ satisfies all inequalities, within rounding.
    pub fn admits(&self, theta: &[f64]) -> bool {
        self.inequalities.iter().all(|i| i.holds(theta))
    }

    /// Moves θ within a box onto inequalities that it violates, in units of the box's widths; where they
    /// are many it may still violate some.
    pub(crate) fn approach(&self, theta: &mut [f64], lower: &[f64], upper: &[f64]) {
        for _ in 0..16 {
            let Some(violated) = self.inequalities.iter().find(|i| !i.holds(theta)) else {
                return;
            };
            let a = &violated.coefficients;
            let parts = a.iter().zip(&*theta).map(|(c, t)| c * t);
            let excess = parts.sum::<f64>() - violated.bound;
            let weight = |k: usize| (upper[k] - lower[k]).powi(2) * a[k];
            let slope: f64 = (0..a.len()).map(|k| weight(k) * a[k]).sum();
            for k in 0..a.len() {
                let moved = theta[k] - excess * weight(k) / slope.max(f64::MIN_POSITIVE);
                theta[k] = moved.clamp(lower[k], upper[k]);
            }
        }
    }

    /// The inequalities, one by itself or several together, exclude the whole box, but perhaps points of its
    /// boundary.
    pub fn excludes(&self, lower: &[f64], upper: &[f64]) -> bool {
        self.inequalities.iter().any(|i| i.excludes(lower, upper))
            || (!self.inequalities.is_empty() && self.center(lower, upper).is_none())
    }
}

impl LinearInequality {
    fn excludes(&self, lower: &[f64], upper: &[f64]) -> bool {
        let corner = |above: &[f64], below: &[f64]| -> Vec<f64> {
            let ends = self.coefficients.iter().zip(above.iter().zip(below));
            ends.map(|(c, (a, b))| if *c > 0.0 { *a } else { *b })
                .collect()
        };
        let (nearest, farthest) = (corner(lower, upper), corner(upper, lower));
        let reversed = Self {
            coefficients: self.coefficients.iter().map(|c| -c).collect(),
            bound: -self.bound,
        };
        reversed.holds(&nearest) && !self.holds(&farthest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(inequalities: &[(&[f64], f64)]) -> Domain {
        let inequality = |(c, bound): &(&[f64], f64)| LinearInequality {
            coefficients: c.to_vec(),
            bound: *bound,
        };
        Domain {
            lower: vec![-1.0; 2],
            upper: vec![1.0; 2],
            periodic: vec![false; 2],
            inequalities: inequalities.iter().map(inequality).collect(),
        }
    }

    #[test]
    fn a_box_that_an_inequality_touches_is_outside_and_one_that_it_cuts_is_not() {
        let cut = domain(&[(&[1.0, 1.0], 0.1)]);
        // The sum of the lower corner is the bound, but for rounding.
        assert!(cut.excludes(&[0.09, 0.010000000000000009], &[0.2, 0.2]));
        assert!(cut.excludes(&[0.3, 0.0], &[0.4, 0.2]));
        assert!(!cut.excludes(&[0.08, 0.01], &[0.2, 0.2]));
        assert!(!cut.excludes(&[-1.0, 0.0], &[0.2, 0.1]));
    }

    #[test]
    fn an_inequality_that_says_nothing_excludes_nothing() {
        let vacuous = domain(&[(&[0.0, 0.0], 0.0)]);
        assert!(!vacuous.excludes(&[-1.0, -1.0], &[1.0, 1.0]));
        assert!(!domain(&[]).excludes(&[0.0, 0.0], &[1.0, 1.0]));
    }
}
