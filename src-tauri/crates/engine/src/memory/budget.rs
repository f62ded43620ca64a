//! How the memory that a machine gives models is shared out beside the weights: for rows, and of that for earlier
//! turns.

use foretoken_protocol::PictureDetail;

use super::draft_model::DraftMemory;
use super::estimate::MemoryEstimate;
use super::row::RowMemory;
use crate::checkpoint::{Config, Layout, MERGE, PATCH};

/// A chat of this length is let in even where the numbers say that there is no room: whoever loads a model that is too
/// big for the machine has been told, and wants to see it run.
const LEAST_CONTEXT: u64 = 4096;
/// Share of what rows and earlier turns may take together that earlier turns take, where rows leave it to them.
const PREFIX_CACHE_SHARE: f64 = 0.5;
/// The most that earlier turns take: more is worth more to other programs.
const MAX_PREFIX_CACHE: u64 = 16 << 30;
/// What they take where MLX does not know how much memory there is.
const PREFIX_CACHE_BYTES: u64 = 1 << 30;

/// What rows and earlier turns of a model may take, in bytes, while its vision tower is not in memory.
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
    /// There is.
    UpTo {
        /// Pixels of the largest picture.
        pixels: u64,
        /// What rows and earlier turns may take once the tower is in memory, in bytes.
        rows: u64,
    },
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
        let machine = Machine { config, layout, draft, usable };
        if usable == 0 {
            let pictures = layout.vision.tower().map(|tower| {
                let pixels = tower.dims.pictures.most_pixels;
                PictureRoom::UpTo { pixels, rows: u64::MAX }
            });
            return Self { rows: u64::MAX, prefix_cache: PREFIX_CACHE_BYTES, pictures };
        }
        let rows = machine.room_for_rows();
        let prefix_cache = ((PREFIX_CACHE_SHARE * rows as f64) as u64).min(MAX_PREFIX_CACHE);
        Self { rows, prefix_cache, pictures: machine.room_for_pictures(rows) }
    }
}

/// A model on a machine that gives models `usable` bytes.
struct Machine<'a> {
    config: &'a Config,
    layout: &'a Layout,
    draft: Option<DraftMemory>,
    usable: u64,
}

impl Machine<'_> {
    /// Bytes that rows may keep between steps: as many as all weights, the head's copy and what is computed in passing
    /// leave. What is computed in passing grows with the context, so it is that of the longest one for which there is
    /// room. A row for which [`MemoryEstimate::total`] is within `usable` bytes has room, then.
    fn room_for_rows(&self) -> u64 {
        let MemoryEstimate { weights, draft_head, working_set, .. } = self.need(self.longest());
        let of_draft = self.draft.map_or(0, |draft| draft.weights);
        let taken = [draft_head, of_draft, working_set].into_iter().fold(weights, u64::saturating_add);
        self.usable.saturating_sub(taken).max(self.row(self.longest()))
    }

    /// How large pictures may be: as large as the model reads them, or in one of the lower details. A short chat with
    /// one must have room, and those of more than standard detail leave at least half of `rows` to chats.
    fn room_for_pictures(&self, rows: u64) -> Option<PictureRoom> {
        let most = self.layout.vision.tower()?.dims.pictures.most_pixels;
        let lower = [PictureDetail::High, PictureDetail::Standard, PictureDetail::Low];
        let lower = lower.into_iter().filter_map(PictureDetail::most_pixels).map(u64::from);
        let sizes: Vec<u64> = std::iter::once(most).chain(lower.filter(|&pixels| pixels < most)).collect();
        let standard = PictureDetail::Standard.most_pixels().map_or(most, u64::from);
        let needed = |pixels: u64| self.seeing(self.shortest() + picture_tokens(pixels), pixels).most();
        let left = |pixels| {
            let MemoryEstimate { working_set, vision, .. } = self.seeing(self.longest(), pixels);
            let seeing = vision.map_or(0, |vision| {
                let passing = vision.working_set.max(working_set.saturating_add(vision.features));
                vision.weights.saturating_add(passing).saturating_sub(working_set)
            });
            rows.saturating_sub(seeing)
        };
        let fits =
            |&pixels: &u64| needed(pixels) <= self.usable && (pixels <= standard || left(pixels) >= rows / 2);
        match sizes.iter().copied().find(fits) {
            Some(pixels) => {
                let least = self.row(self.shortest() + picture_tokens(pixels));
                Some(PictureRoom::UpTo { pixels, rows: left(pixels).max(least) })
            }
            None => {
                let least = sizes.last().copied().unwrap_or(most);
                Some(PictureRoom::TooLittle { needed: needed(least), available: self.usable })
            }
        }
    }

    /// A chat that is let in whatever the numbers say.
    fn shortest(&self) -> u64 {
        LEAST_CONTEXT.min(self.most_context())
    }

    /// The longest context for which there is room, or the shortest one.
    fn longest(&self) -> u64 {
        let (mut fits, mut beyond) = (0, self.most_context() + 1);
        while beyond - fits > 1 {
            let middle = fits + (beyond - fits) / 2;
            if self.need(middle).total <= self.usable {
                fits = middle;
            } else {
                beyond = middle;
            }
        }
        fits.max(self.shortest())
    }

    fn most_context(&self) -> u64 {
        self.config.max_position_embeddings.into()
    }

    fn need(&self, context: u64) -> MemoryEstimate {
        MemoryEstimate::of(self.config, self.layout, self.draft, context)
    }

    fn seeing(&self, context: u64, pixels: u64) -> MemoryEstimate {
        let context = context.min(self.most_context());
        MemoryEstimate::seeing(self.config, self.layout, self.draft, context, pixels)
    }

    fn row(&self, context: u64) -> u64 {
        RowMemory::of(self.config, self.layout)
            .with_draft(self.draft)
            .row(context.min(self.most_context()) as usize)
    }
}

fn picture_tokens(pixels: u64) -> u64 {
    pixels.div_ceil(((PATCH * MERGE) as u64).pow(2))
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
        let room_for_rows =
            |draft, usable| Machine { config: &config, layout: &layout, draft, usable }.room_for_rows();
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
                    let room = room_for_rows(draft, usable);
                    assert!(row(context) <= room, "{context} tokens in {usable} bytes");
                }
            }
            let whole = MemoryEstimate::of(&config, &layout, draft, most);
            let weights = whole.weights + draft.map_or(0, |draft| draft.weights);
            let around = weights + whole.draft_head + whole.working_set;
            assert_eq!(room_for_rows(draft, 1 << 40), (1 << 40) - around);
            assert_eq!(room_for_rows(draft, 1), row(LEAST_CONTEXT.min(most)));
        }
        assert_eq!(drafts.weights, 2 * DraftLayout::of(&beside, &of_draft).unwrap().parameters);
    }
}
