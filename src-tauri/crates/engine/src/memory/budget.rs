//! How the memory that a machine gives models is shared out beside the weights: for rows, and of that for earlier
//! turns.

use super::estimate::MemoryEstimate;
use super::row::RowMemory;
use crate::checkpoint::{Config, Layout};

/// A chat of this length is let in even where the numbers say that there is no room: whoever loads a model that is too
/// big for the machine has been told, and wants to see it run.
const LEAST_CONTEXT: u64 = 4096;
/// Share of what rows and earlier turns may take together that earlier turns take, where rows leave it to them.
const PREFIX_CACHE_SHARE: f64 = 0.5;
/// The most that earlier turns take: more is worth more to other programs.
const MAX_PREFIX_CACHE: u64 = 16 << 30;
/// What they take where MLX does not know how much memory there is.
const PREFIX_CACHE_BYTES: u64 = 1 << 30;

/// What rows and earlier turns of a model may take, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryBudget {
    /// What both may take together.
    pub rows: u64,
    /// What earlier turns take of it, where rows leave it to them.
    pub prefix_cache: u64,
}

impl MemoryBudget {
    /// Of a model on a machine that gives models `usable` bytes, see [`usable_memory`](crate::mlx::usable_memory); 0 if
    /// that is not known.
    pub fn of(config: &Config, layout: &Layout, usable: u64) -> Self {
        if usable == 0 {
            return Self { rows: u64::MAX, prefix_cache: PREFIX_CACHE_BYTES };
        }
        let rows = room_for_rows(config, layout, usable);
        Self { rows, prefix_cache: ((PREFIX_CACHE_SHARE * rows as f64) as u64).min(MAX_PREFIX_CACHE) }
    }
}

/// Bytes that rows may keep between steps on a machine that gives models `usable` bytes: as many as weights, the head's
/// copy and what is computed in passing leave. What is computed in passing grows with the context, so it is that of the
/// longest one for which there is room. A row for which [`MemoryEstimate::total`] is within `usable` bytes has room,
/// then.
fn room_for_rows(config: &Config, layout: &Layout, usable: u64) -> u64 {
    let need = |context| MemoryEstimate::of(config, layout, context);
    let most = u64::from(config.max_position_embeddings);
    let (mut fits, mut beyond) = (0, most + 1);
    while beyond - fits > 1 {
        let middle = fits + (beyond - fits) / 2;
        if need(middle).total <= usable {
            fits = middle;
        } else {
            beyond = middle;
        }
    }
    let longest = fits.max(LEAST_CONTEXT.min(most));
    let MemoryEstimate { weights, draft_head, working_set, .. } = need(longest);
    let taken = weights.saturating_add(draft_head).saturating_add(working_set);
    usable.saturating_sub(taken).max(RowMemory::of(config, layout).row(longest as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::RowKv;
    use crate::checkpoint::fixture::demo;
    use crate::checkpoint::{Files, Index, Metadata};

    #[test]
    fn what_is_said_to_fit_has_room_and_a_short_chat_always_has() {
        let metadata = Metadata::read(&demo(), Files::Whole).unwrap();
        let config = Config::of(&metadata).unwrap();
        let layout = Layout::plan(&config, &Index::of(&metadata, &config).unwrap()).unwrap();
        let RowMemory { kv_per_token, head_cache_per_token, recurrent_state } =
            RowMemory::of(&config, &layout);
        let row = |positions: u64| {
            let kept =
                (kv_per_token + head_cache_per_token) * RowKv::most_capacity(positions as usize) as u64;
            2 * recurrent_state + kept
        };
        let most = u64::from(config.max_position_embeddings);
        for context in [1, 100, 511, 512, 513, 1000, most - 1, most] {
            let needed = MemoryEstimate::of(&config, &layout, context).total;
            for usable in [needed, needed + 1, 2 * needed, 64 << 30] {
                let room = room_for_rows(&config, &layout, usable);
                assert!(row(context) <= room, "{context} tokens in {usable} bytes");
            }
        }
        let whole = MemoryEstimate::of(&config, &layout, most);
        let around = whole.weights + whole.draft_head + whole.working_set;
        assert_eq!(room_for_rows(&config, &layout, 1 << 40), (1 << 40) - around);
        assert_eq!(room_for_rows(&config, &layout, 1), row(LEAST_CONTEXT.min(most)));
    }
}
