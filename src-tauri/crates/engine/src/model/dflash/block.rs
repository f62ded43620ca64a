//! What one pass over a block gives: logits of each guess, to draw from place by place.

use super::selector::CandidateSelector;
use crate::mlx::{self, Array, Result};

/// The guesses of one block, before they are drawn.
#[derive(Debug)]
pub struct DraftBlock<'a> {
    /// The token before the first guess, u32 `[1]`.
    pub(super) last: Array,
    /// `[n, V]`.
    pub(super) logits: Array,
    /// The selector, and what it reads of each place, `[n, rank]`.
    pub(super) selection: Option<(&'a CandidateSelector, Array)>,
}

impl DraftBlock<'_> {
    /// Guesses.
    pub fn len(&self) -> usize {
        self.logits.dim(0) as usize
    }

    /// Whether there is none. A block has at least one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Logits of each guess, `[n, V]`: what all of them are drawn from at once if they do not depend on each other,
    /// else without regard to the token before each.
    pub fn logits(&self) -> &Array {
        &self.logits
    }

    /// Whether no guess depends on the one before it.
    pub fn is_independent(&self) -> bool {
        self.selection.is_none()
    }

    /// What guess `index` is drawn from, `[1, V]`, where the token before it is `before`, u32 `[1]`. Tokens that it
    /// must not be have −∞.
    pub fn guess(&self, index: usize, before: &Array) -> Result<Array> {
        let place = |rows: &Array| rows.slice_axis(0, index as i32, index as i32 + 1);
        match &self.selection {
            None => place(&self.logits),
            Some((selector, projected)) => selector.scores(&place(&self.logits)?, &place(projected)?, before),
        }
    }

    /// The likeliest guesses, each behind the one before it, u32 `[n]`.
    pub fn greedy(&self) -> Result<Array> {
        if self.is_independent() {
            return mlx::argmax_axis(&self.logits, -1);
        }
        let mut guesses: Vec<Array> = Vec::with_capacity(self.len());
        for index in 0..self.len() {
            let before = guesses.last().unwrap_or(&self.last);
            guesses.push(mlx::argmax_axis(&self.guess(index, before)?, -1)?);
        }
        mlx::concatenate(&guesses.iter().collect::<Vec<_>>(), 0)
    }
}
