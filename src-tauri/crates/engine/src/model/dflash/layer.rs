//! A layer of a draft model: h = x + attention(norm(x)); y = h + mlp(norm(h)); in DFlash2 with convolutions around
//! both.

use super::super::Mlp;
use super::super::packed::Packed;
use super::attention::{BlockAttention, Seen};
use super::conv::BlockConv;
use crate::cache::ContextKv;
use crate::mlx::{self, Array, Result};

/// One layer.
#[derive(Debug, Clone)]
pub(super) struct DraftLayer {
    /// Norm before attention.
    pub(super) input_layernorm: Array,
    /// Attention.
    pub(super) attention: BlockAttention,
    /// Norm before the MLP.
    pub(super) post_attention_layernorm: Array,
    /// The MLP.
    pub(super) mlp: Mlp,
    /// What stands around attention and MLP in DFlash2.
    pub(super) convs: Option<[BlockConv; 2]>,
}

impl DraftLayer {
    /// x `[T, H]`, a block of each row → `[T, H]`.
    pub(super) fn forward<'a>(
        &self,
        x: &Array,
        packed: &Packed,
        eps: f32,
        rows: impl Iterator<Item = (&'a mut ContextKv, &'a Seen)>,
    ) -> Result<Array> {
        let normed = mlx::rms_norm(x, Some(&self.input_layernorm), eps)?;
        let attend = |x: &Array| self.attention.forward(x, packed, rows);
        let h = x.add(&match &self.convs {
            Some([conv, _]) => conv.around(&normed, packed, attend)?,
            None => attend(&normed)?,
        })?;
        let normed = mlx::rms_norm(&h, Some(&self.post_attention_layernorm), eps)?;
        h.add(&match &self.convs {
            Some([_, conv]) => conv.around(&normed, packed, |x| self.mlp.forward(x))?,
            None => self.mlp.forward(&normed)?,
        })
    }

    /// The arrays it holds.
    pub(super) fn arrays(&self) -> Vec<&Array> {
        let convs = self.convs.iter().flatten().flat_map(BlockConv::arrays).collect();
        let norms = vec![&self.input_layernorm, &self.post_attention_layernorm];
        [self.attention.arrays(), self.mlp.arrays(), norms, convs].concat()
    }
}
