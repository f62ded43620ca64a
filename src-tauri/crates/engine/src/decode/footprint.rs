//! The memory of the scheduler's rows in bytes, by which requests are admitted and preempted.

use thiserror::Error;

use super::plan::MAX_CHAIN;
use super::row::Row;
use crate::memory::RowMemory;
use crate::model::{DraftModel, Qwen};

/// The most positions that a step appends to a row.
const STEP: usize = 1 + MAX_CHAIN;

/// The memory that rows of a model take now and may take later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint(RowMemory);

/// A prompt for which there would be no room even if it were alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "The prompt needs {:.1} GB, but {:.1} GB are there for all chats.",
    gigabytes(needed),
    gigabytes(available)
)]
pub struct TooLarge {
    /// Bytes that the prompt takes.
    pub needed: u64,
    /// Bytes that there are.
    pub available: u64,
}

fn gigabytes(bytes: &u64) -> f64 {
    *bytes as f64 / 1e9
}

impl Footprint {
    /// The footprint of a model's rows, what its draft model keeps of them included.
    pub fn of(model: &Qwen) -> Self {
        Self(model.row_memory.with_draft(model.draft.as_ref().map(DraftModel::memory)))
    }

    /// How many times as much other machines keep of what the prefix cache keeps here, at least 1.
    pub(super) fn kept_elsewhere(&self) -> f64 {
        self.0.kept_elsewhere()
    }

    /// Bytes of a row of this many positions.
    pub fn row(&self, positions: usize) -> u64 {
        self.0.row(positions)
    }

    /// Bytes to set aside for a row: enough for `reserve` more tokens, at least those of a step, before it can cause
    /// others to be preempted.
    pub(super) fn projected(&self, row: &Row, reserve: usize) -> u64 {
        self.row(row.context().len() + row.room().min(reserve.max(STEP)))
    }

    /// Bytes that a row may take after its next step.
    pub(super) fn next(&self, row: &Row) -> u64 {
        self.projected(row, 0)
    }
}
