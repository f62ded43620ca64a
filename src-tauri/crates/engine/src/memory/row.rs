//! The memory of a row: keys and values of its tokens, recurrent states, and what a draft model keeps of it.

use foretoken_protocol::KvPrecision;

use super::at_once::UNREAD_FEATURES;
use super::draft_model::DraftMemory;
use crate::cache::RowKv;
use crate::checkpoint::{Config, LayerKind, Layout};
use crate::mlx;

/// Bytes of a number of a recurrent state. It is float32 in every model: its small updates would drown in fewer bits.
const STATE_NUMBER: u64 = 4;
/// Recurrent states that a row holds in each linear-attention layer: the one before a step's tokens and the one after
/// them.
const STATES: u64 = 2;

/// What a row keeps between steps, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowMemory {
    /// Keys and values of the trunk, per token.
    pub kv_per_token: u64,
    /// Keys and values of the MTP head, per token.
    pub head_cache_per_token: u64,
    /// States of the Gated DeltaNet layers, whatever the context.
    pub recurrent_state: u64,
    /// The draft model that reads along, if there is one.
    pub draft: Option<DraftMemory>,
    /// Bytes of a number that the model computes.
    number: u64,
}

impl RowMemory {
    /// Of a model's rows, without a draft model.
    pub fn of(config: &Config, layout: &Layout) -> Self {
        let size = layout.compute.bytes();
        let linear = &config.linear;
        let state = STATE_NUMBER * linear.value_dim() as u64 * linear.key_head_dim as u64;
        let conv = (linear.conv_kernel as u64 - 1).saturating_mul(linear.conv_dim() as u64 * size);
        let linear_layers = config.count(LayerKind::LinearAttention) as u64;
        let numbers = 2 * config.attention.kv_dim() as u64;
        let kv_of_layer = numbers * size;
        let kept = match layout.kv_precision {
            KvPrecision::Full => kv_of_layer,
            // A byte each, a scale and an offset for every group.
            KvPrecision::Eight => {
                let group = mlx::group_size(config.attention.head_dim).unwrap_or(1) as u64;
                numbers + numbers / group * 2 * size
            }
        };
        Self {
            kv_per_token: kept * config.count(LayerKind::FullAttention) as u64,
            head_cache_per_token: if layout.has_mtp() { kv_of_layer } else { 0 },
            recurrent_state: state.saturating_add(conv).saturating_mul(linear_layers),
            draft: None,
            number: size,
        }
    }

    /// The same with this draft model.
    pub fn with_draft(self, draft: Option<DraftMemory>) -> Self {
        Self { draft, ..self }
    }

    /// Bytes of a row of this many positions, with what its buffers have in excess.
    pub fn row(&self, positions: usize) -> u64 {
        let position = self.kv_per_token + self.head_cache_per_token;
        let of_draft = self.draft.map_or(0, |draft| {
            draft.row(positions).saturating_add(self.features(&draft, UNREAD_FEATURES as u64))
        });
        STATES * self.recurrent_state + position * RowKv::most_capacity(positions) as u64 + of_draft
    }

    /// Bytes of what this draft model reads of so many tokens.
    pub(super) fn features(&self, draft: &DraftMemory, tokens: u64) -> u64 {
        draft.features.saturating_mul(self.number).saturating_mul(tokens)
    }
}
