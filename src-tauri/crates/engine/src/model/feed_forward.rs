//! The feed-forward part of a decoder layer: one MLP, or a mixture of experts.

use std::rc::Rc;

use super::{Mlp, Moe};
use crate::mlx::kernels::Launch;
use crate::mlx::{Array, Result};

/// The feed-forward part of a layer, which treats each token by itself.
#[derive(Debug, Clone)]
pub enum FeedForward {
    /// All weights for every token.
    Dense(Mlp),
    /// A few of many experts for each token.
    Moe(Box<Moe>),
}

impl FeedForward {
    /// The same, by kernels where they fit.
    pub fn with_kernels(&self, launch: &Rc<dyn Launch>) -> Self {
        match self {
            Self::Dense(mlp) => Self::Dense(mlp.with_kernels(launch)),
            Self::Moe(moe) => Self::Moe(Box::new(moe.with_kernels(launch))),
        }
    }

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
