//! Why a draft model cannot read or guess. The target decodes on without it.

use thiserror::Error;

use crate::cache::DraftContextError;
use crate::mlx::MlxError;

/// What can go wrong in a draft model.
#[derive(Debug, Error)]
pub enum DraftError {
    /// The context does not go with what is to be read.
    #[error(transparent)]
    Context(#[from] DraftContextError),
    /// More guesses than a block has places for.
    #[error("The draft model guesses at most {most} tokens at once, not {asked}.")]
    TooMany {
        /// Guesses that were asked for.
        asked: usize,
        /// The places of a block but for the first.
        most: usize,
    },
    /// Hidden states of another width than the draft model reads.
    #[error("The draft model reads {expected} numbers of each token, but was given {found}.")]
    WrongFeatures {
        /// The width that it was given.
        found: usize,
        /// The width that it reads.
        expected: usize,
    },
    /// MLX failed.
    #[error("MLX failed in {0}.")]
    Mlx(#[from] MlxError),
}
