//! The candidate selector of DFlash2. At each place of a block it takes the likeliest tokens, and adds to their logits
//! how well each follows the token before it: `⟨predecessor[before] ⊙ projection(h), successor[candidate]⟩`.

use super::super::linear::Linear;
use super::super::matrix::{Embedding, Matrix};
use crate::mlx::{self, Array, Dtype, Result};

/// The candidate selector.
#[derive(Debug, Clone)]
pub(super) struct CandidateSelector {
    top_k: i32,
    /// `[V, rank]`.
    predecessors: Embedding,
    /// `[V, rank]`.
    successors: Embedding,
    /// `[rank, H]`.
    hidden_projection: Linear,
}

impl CandidateSelector {
    /// From its matrices, and how many candidates it takes. `dtype`: of the tables' rows.
    pub(super) fn new(
        top_k: usize,
        [predecessors, successors, hidden_projection]: [Matrix; 3],
        dtype: Dtype,
    ) -> Result<Self> {
        Ok(Self {
            top_k: top_k as i32,
            predecessors: Embedding::new(predecessors, dtype),
            successors: Embedding::new(successors, dtype),
            hidden_projection: Linear::new(hidden_projection)?,
        })
    }

    /// What `scores` reads of the outputs `[T, H]` of the final norm: `[T, rank]`.
    pub(super) fn project(&self, normed: &Array) -> Result<Array> {
        self.hidden_projection.forward(normed)
    }

    /// Logits `[R, V]` of places, what `project` gives for them, `[R, rank]`, and the tokens before them, u32 `[R]` →
    /// f32 `[R, V]`: scores of the candidates, −∞ for all other tokens.
    pub(super) fn scores(&self, logits: &Array, projected: &Array, before: &Array) -> Result<Array> {
        let (places, vocab, rank) = (logits.dim(0), logits.dim(-1), projected.dim(-1));
        let logits = logits.astype(Dtype::Float32)?;
        let candidates =
            mlx::argpartition(&logits, vocab - self.top_k, -1)?.slice_axis(-1, vocab - self.top_k, vocab)?;
        let successors = self.successors.forward(&candidates.reshape(&[-1])?)?.astype(Dtype::Float32)?;
        let wanted = self.predecessors.forward(before)?.astype(Dtype::Float32)?;
        let wanted = wanted.multiply(&projected.astype(Dtype::Float32)?)?.expand_dims(1)?;
        let edges = successors.reshape(&[places, self.top_k, rank])?.multiply(&wanted)?.sum(-1, false)?;
        let scores = mlx::take_along_axis(&logits, &candidates, -1)?.add(&edges)?;
        let nothing = Array::scalar(f32::NEG_INFINITY, Dtype::Float32)?;
        mlx::broadcast_to(&nothing, &[places, vocab])?.put_along_axis(&candidates, &scores, -1)
    }

    /// The arrays it holds.
    pub(super) fn arrays(&self) -> Vec<&Array> {
        [self.predecessors.arrays(), self.successors.arrays(), self.hidden_projection.arrays()].concat()
    }
}
