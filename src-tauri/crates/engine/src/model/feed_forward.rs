//! The feed-forward part of a decoder layer: one MLP, or a mixture of experts.

use super::{Mlp, Moe};
use crate::mlx::{Array, Result};

/// The feed-forward part of a layer, which treats each token by itself.
#[derive(Debug)]
pub enum FeedForward {
    /// All weights for every token.
    Dense(Mlp),
    /// A few of many experts for each token.
    Moe(Box<Moe>),
}

impl FeedForward {
    /// x `[T, H]` → `[T, H]`.
    pub fn forward(&self, x: &Array) -> Result<Array> {
        match self {
            Self::Dense(mlp) => mlp.forward(x),
            Self::Moe(moe) => moe.forward(x),
        }
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        match self {
            Self::Dense(mlp) => mlp.arrays(),
            Self::Moe(moe) => moe.arrays(),
        }
    }
}
