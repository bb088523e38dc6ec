//! What every phase's errors tell the user.

use crate::description::mechanism::Origin;

/// An error that knows its place in the input and one thing to try.
pub trait Explain: std::error::Error {
    /// Where in the input the fault lies.
    fn origin(&self) -> Option<&Origin>;
    /// One thing to try.
    fn help(&self) -> Option<String>;
}
