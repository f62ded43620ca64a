//! The memory of a row: keys and values of its tokens, recurrent states, and what a draft model keeps of it.

use foretoken_protocol::KvPrecision;

use super::at_once::UNREAD_FEATURES;
use super::draft_model::DraftMemory;
use crate::cache::RowKv;
use crate::checkpoint::{Config, LayerKind, Layout};
use crate::link::RankMemory;
use crate::mlx;

/// Bytes of a number of a recurrent state. It is float32 in every model: its small updates would drown in fewer bits.
const STATE_NUMBER: u64 = 4;
/// Recurrent states that a row holds in each linear-attention layer: the one before a step's tokens and the one after
/// them.
const STATES: u64 = 2;
/// Tokens between two places to go on from, by which what is kept there is compared with what is kept here.
const TYPICAL_STRETCH: u64 = 1024;

/// What a row keeps on other machines, in bytes of this one: as much of what rows may take here as it takes there of
/// what they may take there. Each number is that of the machine where it is largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Elsewhere {
    /// Keys and values, per token.
    kv_per_token: u64,
    /// Recurrent states, whatever the context.
    recurrent_state: u64,
}

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
    /// What it keeps on other machines, where some layers lie there.
    elsewhere: Option<Elsewhere>,
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
            elsewhere: None,
            number: size,
        }
    }

    /// The same with layers on other machines. `rows`: bytes that all rows may take here.
    pub fn with_elsewhere(self, rows: u64, others: &[RankMemory]) -> Self {
        let of_here =
            |bytes: u64, other: &RankMemory| (bytes as f64 * (rows as f64 / other.rows as f64)) as u64;
        let most = |bytes: fn(&RankMemory) -> u64| {
            others.iter().map(|other| of_here(bytes(other), other)).max().unwrap_or(0)
        };
        let elsewhere = Elsewhere {
            kv_per_token: most(|other| other.kv_per_token),
            recurrent_state: most(|other| other.recurrent_state),
        };
        Self { elsewhere: Some(elsewhere), ..self }
    }

    /// How many times as much other machines keep of what the prefix cache keeps here, at least 1, in bytes of this
    /// one.
    pub fn kept_elsewhere(&self) -> f64 {
        let kept = |kv: u64, state: u64| (state.saturating_add(TYPICAL_STRETCH.saturating_mul(kv))) as f64;
        let own = kept(self.kv_per_token + self.head_cache_per_token, self.recurrent_state);
        let other = self.elsewhere.map_or(0.0, |other| kept(other.kv_per_token, other.recurrent_state));
        (other / own).max(1.0)
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
        let capacity = RowKv::most_capacity(positions) as u64;
        let own = STATES * self.recurrent_state + position * capacity + of_draft;
        let other = self.elsewhere.map_or(0, |other| {
            let states = STATES.saturating_mul(other.recurrent_state);
            states.saturating_add(other.kv_per_token.saturating_mul(capacity))
        });
        own.max(other)
    }

    /// Bytes of what this draft model reads of so many tokens.
    pub(super) fn features(&self, draft: &DraftMemory, tokens: u64) -> u64 {
        draft.features.saturating_mul(self.number).saturating_mul(tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_takes_what_it_takes_where_memory_is_shortest() {
        let own = RowMemory {
            kv_per_token: 10,
            head_cache_per_token: 2,
            recurrent_state: 1000,
            draft: None,
            elsewhere: None,
            number: 4,
        };
        let (positions, capacity) = (700, RowKv::most_capacity(700) as u64);
        let alone = 2000 + 12 * capacity;
        assert_eq!(own.row(positions), alone);
        let other = |rows, kv_per_token| RankMemory { rows, kv_per_token, recurrent_state: 500 };
        let with = |others: &[RankMemory]| own.with_elsewhere(1 << 20, others);
        // As much memory as here, and less of each row.
        assert_eq!(with(&[other(1 << 20, 8)]).row(positions), alone);
        assert_eq!(with(&[other(1 << 20, 8)]).kept_elsewhere(), 1.0);
        // A quarter of the memory: each byte there is four here.
        let short = with(&[other(1 << 20, 8), other(1 << 18, 8)]);
        assert_eq!(short.row(positions), 4 * (1000 + 8 * capacity));
        assert_eq!(short.kept_elsewhere(), f64::from(4 * (500 + 8 * 1024)) / f64::from(1000 + 12 * 1024));
        // No row is larger than what is there for all, wherever that is not known.
        let unknown = own.with_elsewhere(u64::MAX, &[other(u64::MAX, 20)]);
        assert_eq!(unknown.row(positions), 1000 + 20 * capacity);
    }
}
