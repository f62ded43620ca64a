//! The memory of a draft model beside its target: its weights, and what it takes of every row.

use super::loading::loading;
use crate::cache::DraftContext;
use crate::checkpoint::{DraftConfig, DraftLayout};

/// What a draft model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftMemory {
    /// Bytes of the loaded tensors.
    pub weights: u64,
    /// Bytes of keys and values of a token, in all layers that see the whole context.
    pub context_per_token: u64,
    /// The same in a layer.
    of_layer: u64,
    /// The number of layers with a window, and the widest window.
    windowed: Option<(u64, usize)>,
    /// Numbers that it reads of what the target puts out for a token.
    pub(super) features: u64,
    /// The most tokens that it guesses at once.
    pub(super) guesses: u64,
    /// Bytes that loading takes beside the weights.
    pub(super) loading: u64,
    /// Bytes that are computed of a token that is read, before there are keys and values.
    fused: u64,
}

impl DraftMemory {
    /// Of the draft model that is loaded by this plan.
    pub fn of(config: &DraftConfig, layout: &DraftLayout) -> Self {
        let size = layout.compute.bytes();
        let kv = 2 * config.attention.kv_dim() as u64;
        let windows = || config.layers.iter().filter_map(|layer| layer.window);
        let (layers, windowed) = (config.layers.len() as u64, windows().count() as u64);
        Self {
            weights: layout.weight_bytes(),
            context_per_token: (layers - windowed) * kv * size,
            of_layer: kv * size,
            windowed: windows().max().map(|widest| (windowed, widest)),
            features: config.features() as u64,
            guesses: config.block_size as u64 - 1,
            loading: loading(&layout.tensors),
            // Features in its own type, fused and normed.
            fused: (config.features() as u64 + 2 * config.hidden_size as u64) * size,
        }
    }

    /// Bytes that a row of this many positions keeps of it, with what its buffers have in excess.
    pub(super) fn row(&self, positions: usize) -> u64 {
        self.context_of(|window| DraftContext::most_capacity(window, positions) as u64)
    }

    /// Bytes of the context of a row of this many positions.
    pub(super) fn context(&self, positions: u64) -> u64 {
        self.context_of(|window| DraftContext::positions_for(window, positions))
    }

    /// Bytes that reading a piece of a prompt takes in passing, so many tokens up to this position: one layer after the
    /// other gets its keys and values, before and behind norm and rotation, and moves them.
    pub(super) fn reading(&self, tokens: u64, positions: u64) -> u64 {
        let moved = self.windowed.map_or(0, |(_, window)| DraftContext::moved_positions(window, positions));
        let of_layer = self.of_layer.saturating_mul(tokens.saturating_mul(3).saturating_add(moved));
        self.fused.saturating_mul(tokens).saturating_add(of_layer)
    }

    fn context_of(&self, positions: impl Fn(Option<usize>) -> u64) -> u64 {
        let windowed = self
            .windowed
            .map_or(0, |(layers, window)| (layers * self.of_layer).saturating_mul(positions(Some(window))));
        self.context_per_token.saturating_mul(positions(None)).saturating_add(windowed)
    }
}
