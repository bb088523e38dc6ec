//! Memory of a call.

use super::number::Number;
use core::cell::Cell;

/// Memory that a call hands out piece by piece. What a piece holds at first is arbitrary.
pub struct Scratch<'w, R> {
    rest: &'w mut [R],
    /// The least that was ever left, where somebody wants to know.
    lowest: Option<&'w Cell<usize>>,
}

impl<'w, R: Number> Scratch<'w, R> {
    /// All of `memory`.
    #[inline(always)]
    pub fn new(memory: &'w mut [R]) -> Self {
        Self {
            rest: memory,
            lowest: None,
        }
    }

    /// The same, and `lowest` becomes the number of places that no call needed.
    pub fn measured(memory: &'w mut [R], lowest: &'w Cell<usize>) -> Self {
        lowest.set(memory.len());
        Self {
            rest: memory,
            lowest: Some(lowest),
        }
    }

    /// The same memory for a call that ends before this one goes on.
    #[inline(always)]
    pub fn again(&mut self) -> Scratch<'_, R> {
        Scratch {
            rest: self.rest,
            lowest: self.lowest,
        }
    }

    /// The next `count` places.
    #[inline(always)]
    pub fn take(&mut self, count: usize) -> &'w mut [R] {
        let (piece, rest) = core::mem::take(&mut self.rest).split_at_mut(count);
        if let Some(lowest) = self.lowest {
            lowest.set(lowest.get().min(rest.len()));
        }
        self.rest = rest;
        piece
    }

    /// The next `count` places, all zero.
    #[inline(always)]
    pub fn zeros(&mut self, count: usize) -> &'w mut [R] {
        let piece = self.take(count);
        piece.fill(R::ZERO);
        piece
    }
}
