//! Boxes that share their terms: code for them knows how many there are.

use super::Parts;
use super::terms::TermList;
use crate::reduced_model::{ModelForm, TreeNode};
use std::collections::BTreeMap;

/// Puts the boxes in front that have the set of terms which most boxes have. The order of the boxes means
/// nothing but to the leaves of the tree.
pub(super) fn common_first(parts: &mut Parts) {
    let mut counts: BTreeMap<&[Vec<u8>], usize> = BTreeMap::new();
    for b in &parts.boxes {
        *counts.entry(&b.dynamics.terms).or_default() += 1;
    }
    if parts.form != ModelForm::Direct || counts.len() < 2 {
        return;
    }
    let rarer = |index: &usize| {
        let terms = parts.boxes[*index].dynamics.terms.as_slice();
        (std::cmp::Reverse(counts[terms]), terms)
    };
    let mut order: Vec<usize> = (0..parts.boxes.len()).collect();
    order.sort_by_key(rarer);
    let mut places = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        places[*old] = new;
    }
    parts.boxes = order.iter().map(|i| parts.boxes[*i]).collect();
    for node in parts.tree.to_mut() {
        if let TreeNode::Leaf { index } = node {
            *index = places[*index];
        }
    }
}

/// Terms, at most, that are written out for boxes that share them: their values fit into registers.
const WRITTEN_TERMS: usize = 20;

/// Boxes in front that have the same terms, few enough to be written out, and not the constant alone.
#[derive(Debug, Clone)]
pub struct Common {
    /// How many boxes.
    pub boxes: usize,
    /// Number of terms.
    pub rows: usize,
    /// Largest degree.
    pub degree: usize,
    /// Factors of the products, as places of terms.
    pub products: Vec<(usize, usize)>,
}

impl Common {
    /// Those of the first list; `places` say the list of every box.
    pub(super) fn new(lists: &[TermList], places: &[[u32; 2]]) -> Option<Self> {
        let list = lists
            .first()
            .filter(|l| (2..=WRITTEN_TERMS).contains(&l.rows.len()))?;
        Some(Self {
            boxes: places.iter().take_while(|[_, list]| *list == 0).count(),
            rows: list.rows.len(),
            degree: list.degree,
            products: list.products.clone(),
        })
    }
}
