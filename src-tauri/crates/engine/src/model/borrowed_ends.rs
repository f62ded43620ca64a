//! What a draft model borrows of the network: its embedding and its output head.

use super::dflash::DraftTarget;
use super::qwen::Qwen;
use crate::mlx::{Array, Result};

impl DraftTarget for Qwen {
    fn embed(&self, ids: &Array) -> Result<Array> {
        self.embed_tokens.forward(ids)
    }

    fn head(&self, normed: &Array) -> Result<Array> {
        self.draft_logits(&normed.astype(self.norm.dtype())?)
    }
}
