//! Boxes that share their terms: code for them knows how many there are.

use super::terms::TermList;
use reducer::reduced_model::{ModelForm, ReducedModel, TreeNode};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The model with the boxes in front that have the set of terms which most boxes have. The order of the
/// boxes means nothing but to the leaves of the tree.
pub(super) fn common_first(model: &ReducedModel) -> Cow<'_, ReducedModel> {
    let mut counts: BTreeMap<&[Vec<u8>], usize> = BTreeMap::new();
    for b in &model.boxes {
        *counts.entry(&b.dynamics.terms).or_default() += 1;
    }
    if model.form != ModelForm::Direct || counts.len() < 2 {
        return Cow::Borrowed(model);
    }
    let rarer = |index: &usize| {
        let terms = model.boxes[*index].dynamics.terms.as_slice();
        (std::cmp::Reverse(counts[terms]), terms)
    };
    let mut order: Vec<usize> = (0..model.boxes.len()).collect();
    order.sort_by_key(rarer);
    let mut places = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        places[*old] = new;
    }
    let mut sorted = model.clone();
    sorted.boxes = order.iter().map(|i| model.boxes[*i].clone()).collect();
    for node in &mut sorted.tree {
        if let TreeNode::Leaf { index } = node {
            *index = places[*index];
        }
    }
    Cow::Owned(sorted)
}

/// How many boxes in front have the same terms, if these are few enough to be written out, and not the
/// constant alone.
pub(super) fn n_common(lists: &[TermList], of_boxes: &[usize], most_terms: usize) -> usize {
    match lists.first() {
        Some(list) if (2..=most_terms).contains(&list.rows.len()) => {
            of_boxes.iter().take_while(|l| **l == 0).count()
        }
        _ => 0,
    }
}
