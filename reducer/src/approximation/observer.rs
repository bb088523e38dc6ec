//! How long work reports that it is alive.

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
}

/// Receives progress. Calls come from one thread.
pub trait Observer {
    /// A phase begins: `probing`, `refining`, `joining`, `auditing`, `checking`.
    fn phase(&self, _name: &str) {}
    /// A wave begins.
    fn progress(&self, _progress: &Progress) {}
}

/// An observer that looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}
