//! Why a row cannot go on.

use foretoken_pictures::PixelsError;
use thiserror::Error;

use crate::mlx::MlxError;

/// Why a request could not be written to its end.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowError {
    /// MLX failed.
    #[error(transparent)]
    Mlx(#[from] MlxError),
    /// The model's logits are infinite or undefined, so that no token can be drawn.
    #[error(
        "The model computed numbers that are infinite or undefined after {emitted} tokens of the reply, so it cannot go on."
    )]
    NotFinite {
        /// Tokens of the reply until then.
        emitted: usize,
    },
    /// The pixels of one of its pictures are not what they were when it was asked for.
    #[error(transparent)]
    Pixels(#[from] PixelsError),
    /// It has pictures, and the model has no vision tower in memory.
    #[error("The prompt has pictures, but the model's vision tower is not loaded.")]
    NoTower,
}

impl RowError {
    /// Whether the GPU has failed, so that this process can compute nothing more.
    pub fn is_device_fault(&self) -> bool {
        matches!(self, Self::Mlx(error) if error.is_device_fault())
    }
}
