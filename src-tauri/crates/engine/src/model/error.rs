//! Why a network cannot be loaded.

use thiserror::Error;

use crate::checkpoint::CheckpointError;
use crate::mlx::MlxError;

/// What can go wrong between a layout and a network in memory.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The checkpoint does not hold what was planned.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// MLX failed.
    #[error("MLX failed in {0}.")]
    Mlx(#[from] MlxError),
    /// Whoever heard of the progress has ended it.
    #[error("Loading was cancelled.")]
    Cancelled,
}
