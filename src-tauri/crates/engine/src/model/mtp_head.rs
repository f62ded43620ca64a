//! The multi-token-prediction (MTP) head, which drafts: one decoder layer over pairs of a hidden state and the next
//! token's embedding, after the MTP modules of DeepSeek-V3 (arXiv 2412.19437, section 2.2).

use super::linear::Linear;
use super::packed::Packed;
use super::{Attention, FeedForward, Guesses};
use crate::cache::RowKv;
use crate::mlx::kernels::AddNorm;
use crate::mlx::{self, Array, Result};

/// The multi-token-prediction head: from the hidden state at position i and the token at i + 1 it guesses the token at
/// i + 2. Its layer is always full attention; embedding and output head are the model's own.
#[derive(Debug, Clone)]
pub struct MtpHead {
    /// Norm weights of the next token's embedding and of the hidden state, `[2, H]`.
    pub pre_fc_norms: Array,
    /// `[H, 2H]` over embedding and hidden state, in this order.
    pub fc: Linear,
    /// Norm before attention.
    pub input_layernorm: Array,
    /// Attention over the head's own cache.
    pub self_attn: Attention,
    /// Norm before the feed-forward part.
    pub post_attention_layernorm: Array,
    /// The layer's feed-forward part.
    pub mlp: FeedForward,
    /// Final norm. Its output goes to the model's output head and, in a chain of drafts, takes the place of the hidden
    /// state in the next pair.
    pub norm: Array,
    /// Added to the mean square in norms.
    pub eps: f32,
    /// What adds the residual and norms at once; operations where there is none.
    pub add_norm: Option<AddNorm>,
    /// Whether a chain's guesses are kept apart from the cache (see [`Guesses`]), as on GPUs; the CPU divides attention
    /// over the cache among its processors instead.
    pub guesses_apart: bool,
}

impl MtpHead {
    /// Hidden states `[T, H]` and the embeddings `[T, H]` of the tokens one further on → what the model's output head
    /// reads, `[T, H]`.
    pub fn forward<'a>(
        &self,
        hidden: &Array,
        next: &Array,
        packed: &Packed,
        caches: impl Iterator<Item = &'a mut RowKv>,
    ) -> Result<Array> {
        self.layer(hidden, next, |normed| self.self_attn.forward(normed, packed, caches))
    }

    /// The same for one guess more of each row, hidden states and embeddings `[B, H]`, behind its cache, which stays as
    /// it is: see [`Guesses`].
    pub fn guess<'a>(
        &self,
        hidden: &Array,
        next: &Array,
        packed: &Packed,
        rows: impl Iterator<Item = (&'a RowKv, &'a mut Guesses)>,
    ) -> Result<Array> {
        self.layer(hidden, next, |normed| self.self_attn.forward_guess(normed, packed, rows))
    }

    /// All of it around the attention, which `attend` computes from its normed input.
    fn layer(
        &self,
        hidden: &Array,
        next: &Array,
        attend: impl FnOnce(&Array) -> Result<Array>,
    ) -> Result<Array> {
        let x = self.combine(hidden, next)?;
        let mixed = attend(&mlx::rms_norm(&x, Some(&self.input_layernorm), self.eps)?)?;
        let [h, normed] = self.add_norm(&x, &mixed, &self.post_attention_layernorm)?;
        let [_, normed] = self.add_norm(&h, &self.mlp.forward(&normed)?, &self.norm)?;
        Ok(normed)
    }

    /// h = x + y and RMSNorm(h) ⊙ weight.
    fn add_norm(&self, x: &Array, y: &Array, weight: &Array) -> Result<[Array; 2]> {
        match &self.add_norm {
            Some(kernel) => kernel.run(x, y, weight),
            None => {
                let h = x.add(y)?;
                let normed = mlx::rms_norm(&h, Some(weight), self.eps)?;
                Ok([h, normed])
            }
        }
    }

    /// Appends the keys and values of `forward` alone to the caches: enough for pairs from which nothing is drafted.
    pub fn append<'a>(
        &self,
        hidden: &Array,
        next: &Array,
        packed: &Packed,
        caches: impl Iterator<Item = &'a mut RowKv>,
    ) -> Result<()> {
        let x = self.combine(hidden, next)?;
        self.self_attn.append(&mlx::rms_norm(&x, Some(&self.input_layernorm), self.eps)?, packed, caches)
    }

    /// fc over the norms of embedding and hidden state: `[T, H]`.
    fn combine(&self, hidden: &Array, next: &Array) -> Result<Array> {
        let (tokens, size) = (hidden.dim(0), hidden.dim(1));
        let pairs = mlx::concatenate(&[next, hidden], -1)?.reshape(&[tokens, 2, size])?;
        let normed = mlx::rms_norm(&pairs, None, self.eps)?.multiply(&self.pre_fc_norms)?;
        self.fc.forward(&normed.reshape(&[tokens, 2 * size])?)
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        let own = vec![&self.pre_fc_norms, &self.input_layernorm, &self.post_attention_layernorm, &self.norm];
        [self.fc.arrays(), self.self_attn.arrays(), self.mlp.arrays(), own].concat()
    }
}
