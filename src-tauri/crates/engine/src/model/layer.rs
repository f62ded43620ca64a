//! One decoder layer, and how it reads a whole text by itself.

use super::packed::{Packed, Position};
use super::{Attention, DeltaNet, FeedForward};
use crate::cache::{DeltaState, RowKv};
use crate::mlx::{self, Array, Result, Span};

/// The part of a layer that mixes tokens.
#[derive(Debug, Clone)]
pub enum Mixer {
    /// Gated full attention.
    Attention(Attention),
    /// Gated DeltaNet.
    Delta(DeltaNet),
}

/// One decoder layer: h = x + mixer(norm(x)); y = h + mlp(norm(h)).
#[derive(Debug, Clone)]
pub struct Layer {
    /// Norm before the mixer.
    pub input_layernorm: Array,
    /// The part that mixes tokens.
    pub mixer: Mixer,
    /// Norm before the feed-forward part.
    pub post_attention_layernorm: Array,
    /// The feed-forward part.
    pub mlp: FeedForward,
}

/// A mixer with what it remembers of a text.
enum Reader<'a> {
    Attention(&'a Attention, RowKv),
    Delta(&'a DeltaNet, DeltaState),
}

impl<'a> Reader<'a> {
    fn new(mixer: &'a Mixer) -> Result<Self> {
        Ok(match mixer {
            Mixer::Attention(attention) => Self::Attention(attention, RowKv::default()),
            Mixer::Delta(delta) => Self::Delta(delta, delta.empty_state(1)?),
        })
    }

    fn read(&mut self, normed: &Array, packed: &Packed) -> Result<Array> {
        match self {
            Self::Attention(attention, cache) => attention.forward(normed, packed, std::iter::once(cache)),
            Self::Delta(delta, state) => delta.prefill(normed, packed, state),
        }
    }

    /// The state that later tokens are read with, to be evaluated with the tokens before.
    fn arrays(&self) -> impl Iterator<Item = &Array> {
        let state = if let Self::Delta(_, state) = self { Some(state.arrays()) } else { None };
        state.into_iter().flatten()
    }
}

impl Layer {
    /// A text from an empty state, `chunk` tokens at a time, by operations: x `[T, H]` → `[T, H]`, evaluated. `eps` is
    /// the model's. The same arithmetic as [`super::Phase::Prefill`] of the whole network in the same chunks.
    pub fn read(&self, x: &Array, chunk: usize, eps: f32) -> Result<Array> {
        let (tokens, mut reader) = (x.dim(0) as usize, Reader::new(&self.mixer)?);
        let mut outputs = Vec::new();
        for start in (0..tokens).step_by(chunk) {
            let end = tokens.min(start + chunk);
            let packed = Packed::new(&[(Position(start), end - start)])?;
            let x = x.slice_axis(0, start as i32, end as i32)?;
            let normed = mlx::rms_norm(&x, Some(&self.input_layernorm), eps)?;
            let y = self.feed_forward(&x.add(&reader.read(&normed, &packed)?)?, eps)?;
            mlx::eval(reader.arrays().chain([&y]))?;
            outputs.push(y);
        }
        let y = mlx::concatenate(&outputs.iter().collect::<Vec<_>>(), 0)?;
        mlx::eval([&y])?;
        Ok(y)
    }

    /// The token-wise half by operations: h `[T, H]` → h + mlp(norm(h)).
    pub(super) fn feed_forward(&self, h: &Array, eps: f32) -> Result<Array> {
        let multiply_adds = h.size() * h.dim(-1) as usize;
        let [y] = mlx::over(Span::Tokens(h.dim(0)), multiply_adds, [0], |tokens| {
            let h = tokens.of(h, 0)?;
            let normed = mlx::rms_norm(&h, Some(&self.post_attention_layernorm), eps)?;
            Ok([h.add(&self.mlp.forward(&normed)?)?])
        })?;
        Ok(y)
    }

    /// The arrays it holds.
    pub fn arrays(&self) -> Vec<&Array> {
        let mixer = match &self.mixer {
            Mixer::Attention(attention) => attention.arrays(),
            Mixer::Delta(delta) => delta.arrays(),
        };
        [mixer, self.mlp.arrays(), vec![&self.input_layernorm, &self.post_attention_layernorm]].concat()
    }
}
