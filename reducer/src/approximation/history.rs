//! What a refinement did, round by round, and how much work it was.
//!
//! Both follow from the mechanism and the settings alone: neither threads nor stored samples change
//! them.

use crate::reduced_model::BlockError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// One round of a refinement: every open box was tried once. Attempts at merging neighbours are
/// not told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// Number of the refinement, from 0; a further one begins where fresh points ask for a stricter
    /// target.
    pub refinement: u64,
    /// Boxes that were tried.
    pub tried: usize,
    /// Boxes that are finished after the round.
    pub finished: usize,
    /// Samples used so far.
    pub samples: usize,
    /// Largest degree of the dynamics that was tried.
    pub degree: usize,
    /// Largest degree of the outputs that was tried.
    pub outputs_degree: usize,
    /// Per block the largest mean and the largest error of any box that was tried, as measured while
    /// fitting; empty where no box had all its samples.
    pub errors: Vec<BlockError>,
}

/// Work of an approximation, that of candidates which were given up included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Attempts at a box.
    pub boxes_tried: usize,
    /// Tables fitted, one factorisation each.
    pub fits: usize,
}

/// Counts work on all threads; sums do not depend on their order.
#[derive(Debug, Default)]
pub(super) struct Counters {
    boxes_tried: AtomicUsize,
    fits: AtomicUsize,
    /// Configurations that any candidate used, as the bits of θ.
    used: Mutex<BTreeSet<Vec<u64>>>,
    evaluated: AtomicUsize,
}

impl Counters {
    /// Configurations that a candidate uses, and how many of them had to be computed.
    pub fn count_samples(&self, used: impl IntoIterator<Item = Vec<u64>>, evaluated: usize) {
        let mut all = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(used);
        self.evaluated.fetch_add(evaluated, Ordering::Relaxed);
    }

    /// Configurations used, each once, and how many of them were computed.
    pub fn samples(&self) -> (usize, usize) {
        let all = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        (all.len(), self.evaluated.load(Ordering::Relaxed))
    }

    pub fn count_boxes(&self, count: usize) {
        self.boxes_tried.fetch_add(count, Ordering::Relaxed);
    }

    pub fn count_fit(&self) {
        self.fits.fetch_add(1, Ordering::Relaxed);
    }

    pub fn work(&self) -> Work {
        Work {
            boxes_tried: self.boxes_tried.load(Ordering::Relaxed),
            fits: self.fits.load(Ordering::Relaxed),
        }
    }
}

/// The worst of each block over boxes, whose lists have the same order or are empty.
pub(super) fn worst_of_blocks<'a>(
    boxes: impl IntoIterator<Item = &'a Vec<BlockError>>,
) -> Vec<BlockError> {
    let mut worst: Vec<BlockError> = Vec::new();
    for errors in boxes {
        if worst.is_empty() {
            worst.clone_from(errors);
            continue;
        }
        for (worst, error) in worst.iter_mut().zip(errors) {
            worst.mean = worst.mean.max(error.mean);
            worst.max = worst.max.max(error.max);
        }
    }
    worst
}
