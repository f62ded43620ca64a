//! What the device computes in a step.

use crate::mlx::Array;
use crate::model::Hidden;

/// A step that has been built and not yet computed.
#[derive(Debug)]
pub(super) struct VerifyGraph {
    /// All that the host reads of it, u32: the model's tokens, row after row, then the drafts, then for each of the
    /// model's tokens whether the logits that it was drawn from are finite, then reports.
    pub(super) host_tokens: Array,
    /// The first of it: the model's tokens, u32 `[T]`.
    pub(super) targets: Array,
    /// What the pass gave for each of its T tokens.
    pub(super) hidden: Hidden,
    /// What the model's tokens are drawn from, `[T, V]`.
    pub(super) logits: Array,
}
