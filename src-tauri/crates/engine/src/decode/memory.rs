use thiserror::Error;

use crate::mlx::Result;
use crate::model::{Mixer, Qwen};

/// The longest reply that is reckoned with when a row is admitted.
const RESERVE: usize = 4096;
/// A step leaves the state before its tokens and the one after them.
const STATES: u64 = 2;

/// What rows of a model take, from its shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes of a position in all attention layers.
    position: u64,
    /// The same in the MTP head.
    head_position: u64,
    /// Bytes of the recurrent states.
    states: u64,
}

/// A prompt for which there would be no room even if it were alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("The prompt needs {needed} bytes, but {available} are there for all chats.")]
pub struct TooLarge {
    /// Bytes that the prompt takes.
    pub needed: u64,
    /// Bytes that there are.
    pub available: u64,
}

impl Footprint {
    /// Of a model's rows.
    pub fn of(model: &Qwen) -> Result<Self> {
        let position = |layer: &crate::model::Layer| match &layer.mixer {
            Mixer::Attention(attention) => attention.position_bytes(),
            Mixer::Delta(_) => 0,
        };
        let states = model.empty_states(1)?;
        let states = states.iter().flat_map(|state| state.arrays()).map(|array| array.nbytes() as u64).sum();
        Ok(Self {
            position: model.layers.iter().map(position).sum(),
            head_position: model.mtp.as_ref().map_or(0, |head| head.self_attn.position_bytes()),
            states,
        })
    }

    /// Bytes of a row of this many positions.
    pub fn row(&self, positions: usize, drafts: bool) -> u64 {
        let position = self.position + if drafts { self.head_position } else { 0 };
        STATES * self.states + position * crate::cache::RowKv::most_capacity(positions) as u64
    }

    /// Bytes to set aside for a row with this prompt that may write up to `max_tokens`.
    pub(super) fn projected(&self, prompt: usize, max_tokens: usize, drafts: bool) -> u64 {
        self.row(prompt + max_tokens.min(RESERVE), drafts)
    }
}
