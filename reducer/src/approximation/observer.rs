//! How long work reports that it is alive.

use crate::reduced_model::{Block, CutShort};

/// State of the adaptive loop before a wave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Boxes without a polynomial that is good enough.
    pub open_boxes: usize,
    /// Finished boxes.
    pub finished_boxes: usize,
    /// Samples used so far.
    pub samples: usize,
    /// Samples that the wave adds.
    pub new_samples: usize,
    /// Largest error of the open boxes over its tolerance, from the wave before.
    pub worst_error_over_tolerance: f64,
    /// The block that has it.
    pub lagging: Option<Block>,
}

/// Receives progress. Calls come from one thread.
pub trait Observer {
    /// A phase begins: `probing`, `refining`, `joining`, `auditing`, `checking`.
    fn phase(&self, _name: &str) {}
    /// A wave begins.
    fn progress(&self, _progress: &Progress) {}
    /// So many configurations of the wave are still to be computed.
    fn sampling(&self, _left: usize) {}
    /// The samples of the wave are there; so many boxes are tried.
    fn fitting(&self, _boxes: usize) {}
    /// A reason to end with the best model so far. What depends on it is not the same on every machine.
    fn cut_short(&self) -> Option<CutShort> {
        None
    }
    /// Nobody wants the model any more. Asked between phases; `cut_short` ends what samples are taken for.
    fn is_given_up(&self) -> bool {
        false
    }
}

/// An observer that looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}
