//! What a draft model borrows of the network: its embedding and its output head.

use super::dflash::DraftTarget;
use super::qwen::Qwen;
use crate::mlx::{Array, Result};

impl DraftTarget for Qwen {
    fn embed(&self, ids: &Array) -> Result<Array> {
        self.embed_tokens.forward(ids)
    }

    fn head(&self, normed: &Array) -> Result<Array> {
        let normed = normed.astype(self.norm.dtype())?;
        // A block reads the head once for all its guesses: fewer tokens would save less than they would miss.
        match &self.draft_head {
            Some(head) if head.is_reduced() => self.lm_head.forward(&normed),
            _ => self.draft_logits(&normed),
        }
    }
}
