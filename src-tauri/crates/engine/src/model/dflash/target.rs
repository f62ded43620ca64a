//! What a draft model borrows of the model that it drafts for.

use crate::mlx::{Array, Result};

/// The ends of the network that a draft model has not got: embedding and output head.
pub trait DraftTarget {
    /// ids u32 `[T]` → `[T, H]`, as the target's first layer reads them.
    fn embed(&self, ids: &Array) -> Result<Array>;

    /// What a final norm gives, `[T, H]` in any float type → logits `[T, V]`, without anything that the target does to
    /// its own logits behind the head.
    fn head(&self, normed: &Array) -> Result<Array>;
}
