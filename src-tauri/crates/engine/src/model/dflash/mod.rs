//! Draft models that guess a block of tokens in one pass: DFlash (arXiv 2602.06036) and DFlash2.
//!
//! A draft model reads, for each committed token of a row, the outputs of some of the target's layers: fused to one
//! vector they give keys and values in each of its layers, the context ([`DraftContext`](crate::cache::DraftContext)).
//! To guess, it runs a block: the last known token, which is not committed yet, and mask tokens behind it. The place of
//! a mask token gives the logits of the token at this very place, not of the next one. Keys and values of a block are
//! gone after its pass.
//!
//! Token-wise work runs on `[T, H]`, so that blocks of several rows can be packed; only attention and the convolutions
//! look at rows.

mod attention;
mod block;
mod build;
mod conv;
mod error;
mod layer;
mod network;
mod selector;
mod target;

pub use block::DraftBlock;
pub use error::DraftError;
pub use network::{DraftModel, DraftRow};
pub use target::DraftTarget;
