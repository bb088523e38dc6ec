//! What every phase's error can tell the user.

use std::ops::Range;

/// Where something was written: a byte range of one of the sources of a mechanism.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// Index into the sources.
    pub source: usize,
    /// Byte range in that source.
    pub span: Range<usize>,
}

/// An error that can name the place in the mechanism file and one thing to try.
///
/// `Display` says what is wrong.
pub trait Explain: std::error::Error {
    /// The place in the sources, where there is one.
    fn origin(&self) -> Option<&Origin>;

    /// One thing to try, as a sentence without a full stop.
    fn help(&self) -> Option<String>;
}
