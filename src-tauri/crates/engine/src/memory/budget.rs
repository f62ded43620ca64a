//! How the memory that a machine gives models is shared out beside the weights: for rows, and of that for earlier
//! turns.

use foretoken_protocol::PictureDetail;

use super::draft_model::DraftMemory;
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
    /// Whether pictures may be seen; `None` for a model that sees none.
    pub pictures: Option<PictureRoom>,
}

/// Whether there is memory for pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureRoom {
    /// For pictures of so many pixels.
    UpTo(u64),
    /// Not even for small ones.
    TooLittle {
        /// Bytes that a short chat with one takes.
        needed: u64,
        /// Bytes that there are.
        available: u64,
    },
}

impl MemoryBudget {
    /// Of a model on a machine that gives models `usable` bytes, see [`usable_memory`](crate::mlx::usable_memory); 0 if
    /// that is not known.
    pub fn of(config: &Config, layout: &Layout, usable: u64) -> Self {
        Self::with_draft(config, layout, None, usable)
    }

    /// The same with a draft model beside the model, if there is one.
    pub fn with_draft(config: &Config, layout: &Layout, draft: Option<DraftMemory>, usable: u64) -> Self {
        let pictures = room_for_pictures(config, layout, draft, usable);
        if usable == 0 {
            return Self { rows: u64::MAX, prefix_cache: PREFIX_CACHE_BYTES, pictures };
        }
        let pixels = match pictures {
            Some(PictureRoom::UpTo(pixels)) => Some(pixels),
            _ => None,
        };
        let rows = room_for_rows(config, layout, draft, pixels, usable);
        let prefix_cache = ((PREFIX_CACHE_SHARE * rows as f64) as u64).min(MAX_PREFIX_CACHE);
        Self { rows, prefix_cache, pictures }
    }
}

/// How large pictures may be in a short chat on a machine that gives models `usable` bytes: as large as the model reads
/// them, or in one of the lower details.
fn room_for_pictures(
    config: &Config,
    layout: &Layout,
    draft: Option<DraftMemory>,
    usable: u64,
) -> Option<PictureRoom> {
    let most = layout.vision.tower()?.dims.pictures.most_pixels;
    if usable == 0 {
        return Some(PictureRoom::UpTo(most));
    }
    let context = LEAST_CONTEXT.min(u64::from(config.max_position_embeddings));
    let need = |pixels| MemoryEstimate::seeing(config, layout, draft, context, Some(pixels)).most();
    let lower = [PictureDetail::High, PictureDetail::Standard, PictureDetail::Low];
    let lower = lower.into_iter().filter_map(PictureDetail::most_pixels).map(u64::from);
    let sizes: Vec<u64> = std::iter::once(most).chain(lower.filter(|&pixels| pixels < most)).collect();
    match sizes.iter().find(|&&pixels| need(pixels) <= usable) {
        Some(&pixels) => Some(PictureRoom::UpTo(pixels)),
        None => sizes.last().map(|&least| PictureRoom::TooLittle { needed: need(least), available: usable }),
    }
}

/// Bytes that rows may keep between steps on a machine that gives models `usable` bytes: as many as all weights, the
/// head's copy, the tower and what is computed in passing leave. What is computed in passing grows with the context, so
/// it is that of the longest one for which there is room. A row for which [`MemoryEstimate::most`] is within `usable`
/// bytes has room, then. `pixels`: those of the largest picture.
fn room_for_rows(
    config: &Config,
    layout: &Layout,
    draft: Option<DraftMemory>,
    pixels: Option<u64>,
    usable: u64,
) -> u64 {
    let need = |context| MemoryEstimate::seeing(config, layout, draft, context, pixels);
    let most = u64::from(config.max_position_embeddings);
    let (mut fits, mut beyond) = (0, most + 1);
    while beyond - fits > 1 {
        let middle = fits + (beyond - fits) / 2;
        if need(middle).most() <= usable {
            fits = middle;
        } else {
            beyond = middle;
        }
    }
    let longest = fits.max(LEAST_CONTEXT.min(most));
    let MemoryEstimate { weights, draft_head, working_set, vision, .. } = need(longest);
    let of_draft = draft.map_or(0, |draft| draft.weights);
    let (tower, passing) = vision.map_or((0, working_set), |vision| {
        let reading = working_set.saturating_add(vision.features);
        (vision.weights, reading.max(vision.working_set))
    });
    let taken = [draft_head, of_draft, tower, passing].into_iter().fold(weights, u64::saturating_add);
    let row = RowMemory::of(config, layout).with_draft(draft);
    usable.saturating_sub(taken).max(row.row(longest as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::RowKv;
    use crate::checkpoint::fixture::Fixture;
    use crate::checkpoint::{DraftConfig, DraftLayout, Files, Index, Metadata};

    #[test]
    fn what_is_said_to_fit_has_room_and_a_short_chat_always_has() {
        let (model, beside) = (Fixture::raw().write(), Fixture::draft().write());
        let [metadata, beside] =
            [&model, &beside].map(|folder| Metadata::read(folder.path(), Files::Whole).unwrap());
        let config = Config::of(&metadata).unwrap();
        let layout = Layout::plan(&config, &Index::of(&metadata, &config).unwrap()).unwrap();
        let of_draft = DraftConfig::of(&beside).unwrap().unwrap();
        let drafts = DraftMemory::of(&of_draft, &DraftLayout::of(&beside, &of_draft).unwrap());
        let RowMemory { kv_per_token, head_cache_per_token, recurrent_state, .. } =
            RowMemory::of(&config, &layout);
        for draft in [None, Some(drafts)] {
            let row = |positions: u64| {
                let capacity = |positions| RowKv::most_capacity(positions) as u64;
                let positions = positions as usize;
                let kept = (kv_per_token + head_cache_per_token) * capacity(positions);
                // Of the draft model: keys and values of two heads of 64 numbers, 2 bytes each; of the layer whose
                // window is 32 only so many; and what three layers of width 64 put out for 64 tokens.
                let read = 2 * 2 * 64 * 2 * (capacity(positions) + capacity(positions.min(31 + 512)));
                2 * recurrent_state + kept + draft.map_or(0, |_| read + 64 * 3 * 64 * 2)
            };
            let most = u64::from(config.max_position_embeddings);
            for context in [1, 100, 511, 512, 513, 1000, most - 1, most] {
                let needed = MemoryEstimate::of(&config, &layout, draft, context).total;
                for usable in [needed, needed + 1, 2 * needed, 64 << 30] {
                    let room = room_for_rows(&config, &layout, draft, None, usable);
                    assert!(row(context) <= room, "{context} tokens in {usable} bytes");
                }
            }
            let whole = MemoryEstimate::of(&config, &layout, draft, most);
            let weights = whole.weights + draft.map_or(0, |draft| draft.weights);
            let around = weights + whole.draft_head + whole.working_set;
            assert_eq!(room_for_rows(&config, &layout, draft, None, 1 << 40), (1 << 40) - around);
            assert_eq!(room_for_rows(&config, &layout, draft, None, 1), row(LEAST_CONTEXT.min(most)));
        }
        assert_eq!(drafts.weights, 2 * DraftLayout::of(&beside, &of_draft).unwrap().parameters);
    }
}
