//! What a draft model has read of one row: keys and values of the committed tokens, in each of its layers. Those of the
//! places that it guesses stand behind them for one forward pass, and never count.

use std::ops::Range;

use thiserror::Error;

use super::row_kv::{KvCopy, RowKv};
use crate::mlx::{Array, Result};

/// Positions by which a layer with a window outgrows it before what is out of sight is dropped, so that not every
/// append copies the window.
const SLACK: usize = 256;

/// Why the context of a draft model cannot be what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DraftContextError {
    /// Tokens between what was read and what is to be read.
    #[error("The draft model has read up to position {end}; it cannot go on at {position}.")]
    Gap {
        /// Where the run begins.
        position: usize,
        /// The first position that was not read.
        end: usize,
    },
    /// A layer with a window has dropped what it would see there. A clone from then, or reading anew, has it.
    #[error(
        "The draft model cannot go back to position {position}: it has dropped what it saw before {earliest}."
    )]
    Dropped {
        /// Where the context should end.
        position: usize,
        /// The first position at which it can end, the empty context aside.
        earliest: usize,
    },
}

/// The context of a draft model for one row, position by position from 0. A clone is a snapshot of it.
#[derive(Debug, Clone)]
pub struct DraftContext {
    layers: Vec<ContextKv>,
    end: usize,
}

/// What is kept of some positions of a context in arrays of their own, so that contexts can go on behind them: in a
/// layer with a window only what the place behind them sees.
#[derive(Debug, Clone)]
pub struct ContextCopy {
    positions: usize,
    layers: Vec<LayerCopy>,
}

#[derive(Debug, Clone)]
struct LayerCopy {
    kv: KvCopy,
    /// Entries that a place sees at most.
    most: usize,
}

impl DraftContext {
    /// An empty context of layers with these windows: a place sees fewer than so many positions before it, at least 2.
    pub fn new(windows: impl IntoIterator<Item = Option<usize>>) -> Self {
        let layer = |window| ContextKv { kv: RowKv::default(), first: 0, most: most(window) };
        Self { layers: windows.into_iter().map(layer).collect(), end: 0 }
    }

    /// A context that consists of these layers, at least one, all of which end at the same position.
    pub fn of_layers(layers: Vec<ContextKv>) -> Self {
        let end = layers.first().map_or(0, |layer| layer.first + layer.kv.len());
        Self { layers, end }
    }

    /// Its layers by themselves.
    pub fn into_layers(self) -> Vec<ContextKv> {
        self.layers
    }

    /// A context of the positions in `parts`, at least one, which follow each other from position 0 on; with room for
    /// `reserved` positions in all. Waits for the copy.
    pub fn restored(parts: &[&ContextCopy], reserved: usize) -> Result<Self> {
        let end = parts.iter().map(|part| part.positions).sum();
        let layers = parts.first().map_or(0, |part| part.layers.len());
        let layer = |index: usize| {
            let copies = parts.iter().map(|part| &part.layers[index]);
            ContextKv::restored(&copies.collect::<Vec<_>>(), end, reserved)
        };
        Ok(Self { layers: (0..layers).map(layer).collect::<Result<_>>()?, end })
    }

    /// A copy of some positions, still lazy: it must be evaluated, or dropped, before anything else is appended. `None`
    /// where they were not all read, or what the place behind them sees was dropped.
    pub fn copy(&self, positions: Range<usize>) -> Result<Option<ContextCopy>> {
        let layers = self.layers.iter().map(|layer| layer.copy(&positions));
        let layers: Option<Vec<LayerCopy>> = layers.collect::<Result<_>>()?;
        Ok(layers.map(|layers| ContextCopy { positions: positions.len(), layers }))
    }

    /// The largest capacity of a buffer of a layer with this window after so many positions, those of a block included;
    /// else as [`RowKv::most_capacity`].
    pub fn most_capacity(window: Option<usize>, positions: usize) -> usize {
        RowKv::most_capacity(held(most(window), positions))
    }

    /// The capacity of a buffer of a layer with this window that is made for so many positions.
    pub fn positions_for(window: Option<usize>, positions: u64) -> u64 {
        RowKv::positions_for(positions.min(held(most(window), usize::MAX) as u64))
    }

    /// The capacity of the buffers to which a layer with this window moves what is still seen of so many positions; 0
    /// where it need not move yet.
    pub fn moved_positions(window: usize, positions: u64) -> u64 {
        if positions > (most(Some(window)) + SLACK) as u64 {
            Self::positions_for(Some(window), positions)
        } else {
            0
        }
    }

    /// Positions that were read: the context ends there, and the block that is guessed begins.
    pub fn end(&self) -> usize {
        self.end
    }

    /// How many of `count` positions from `position` on were read already.
    pub fn overlap(&self, position: usize, count: usize) -> std::result::Result<usize, DraftContextError> {
        match self.end.checked_sub(position) {
            Some(overlap) => Ok(overlap.min(count)),
            None => Err(DraftContextError::Gap { position, end: self.end }),
        }
    }

    /// Appends keys and values `[2, Hkv, m, D]` of the next m positions, one array for each layer. On an error nothing
    /// is appended.
    pub fn append(&mut self, layers: &[Array]) -> Result<()> {
        let Some(count) = layers.first().map(|kv| kv.dim(2)) else { return Ok(()) };
        let grown = self.layers.iter().zip(layers).map(|(layer, kv)| layer.with(kv));
        self.layers = grown.collect::<Result<_>>()?;
        self.end += count as usize;
        Ok(())
    }

    /// Makes later buffers large enough for so many positions.
    pub fn reserve(&mut self, positions: usize) {
        for layer in &mut self.layers {
            layer.kv.reserve(layer.room(positions));
        }
    }

    /// Forgets what was read from `position` on; what is left is as if nothing more had been read. On an error nothing
    /// is forgotten.
    pub fn truncate(&mut self, position: usize) -> std::result::Result<(), DraftContextError> {
        if position >= self.end {
            return Ok(());
        }
        let earliest = self.layers.iter().map(ContextKv::earliest).max().unwrap_or(0);
        if position > 0 && position < earliest {
            return Err(DraftContextError::Dropped { position, earliest });
        }
        self.layers.iter_mut().for_each(|layer| layer.rewind(position));
        self.end = position;
        Ok(())
    }

    /// The layers.
    pub fn layers(&self) -> &[ContextKv] {
        &self.layers
    }

    /// The layers, to guess behind them.
    pub fn layers_mut(&mut self) -> &mut [ContextKv] {
        &mut self.layers
    }

    /// Bytes of its buffers, room that is not used included.
    pub fn bytes(&self) -> usize {
        self.arrays().map(Array::nbytes).sum()
    }

    /// The arrays to evaluate with a step.
    pub fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.layers.iter().flat_map(|layer| layer.kv.buffers())
    }
}

impl ContextCopy {
    /// A copy of so many positions that consists of these layers, each with the entries that a place sees at most.
    pub fn of_layers(positions: usize, layers: Vec<(KvCopy, usize)>) -> Self {
        let layers = layers.into_iter().map(|(kv, most)| LayerCopy { kv, most }).collect();
        Self { positions, layers }
    }

    /// Positions that were read.
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// Entries that a place sees at most, layer by layer.
    pub fn windows(&self) -> impl Iterator<Item = usize> {
        self.layers.iter().map(|layer| layer.most)
    }

    /// The arrays, for evaluation.
    pub fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.layers.iter().flat_map(|layer| layer.kv.arrays())
    }
}

/// Entries of a layer with this window that a place sees at most.
fn most(window: Option<usize>) -> usize {
    window.map_or(usize::MAX, |window| window - 1)
}

/// Entries of a context of so many positions that a layer holds at most, those of a block included, where a place sees
/// at most `most`.
fn held(most: usize, positions: usize) -> usize {
    positions.min(most.saturating_add(2 * SLACK))
}

/// The context in one layer.
#[derive(Debug, Clone)]
pub struct ContextKv {
    kv: RowKv,
    /// The position of its first entry.
    first: usize,
    /// Entries that a place sees at most.
    most: usize,
}

impl ContextKv {
    /// A layer that ends at position `end` with the last of these copies, which follow each other.
    fn restored(copies: &[&LayerCopy], end: usize, reserved: usize) -> Result<Self> {
        let most = copies.first().map_or(0, |copy| copy.most);
        let (mut seen, mut pieces): (usize, Vec<KvCopy>) = (0, Vec::new());
        for copy in copies.iter().rev() {
            let count = copy.kv.len().min(most - seen);
            if count == 0 {
                break;
            }
            pieces.push(copy.kv.last(count)?);
            seen += count;
        }
        let kv = RowKv::restored(pieces.iter().rev(), held(most, reserved))?;
        Ok(Self { kv, first: end - seen, most })
    }

    fn copy(&self, positions: &Range<usize>) -> Result<Option<LayerCopy>> {
        let begin = positions.start.max(positions.end.saturating_sub(self.most));
        let Some(skipped) = begin.checked_sub(self.first) else { return Ok(None) };
        let copy = self.kv.copy(skipped..skipped + positions.end - begin)?;
        Ok(copy.map(|kv| LayerCopy { kv, most: self.most }))
    }

    /// Positions that its buffers are given room for where the row has so many.
    pub fn room(&self, positions: usize) -> usize {
        held(self.most, positions)
    }

    /// Its keys and values, which are missing from then on; [`Self::with_kv`] puts them back.
    pub fn take_kv(&mut self) -> RowKv {
        std::mem::take(&mut self.kv)
    }

    /// The layer with the keys and values that were taken from it.
    pub fn with_kv(self, kv: RowKv) -> Self {
        Self { kv, ..self }
    }

    /// Its keys and values.
    pub fn kv(&self) -> &RowKv {
        &self.kv
    }

    /// This and the next positions, `[2, Hkv, m, D]`.
    fn with(&self, kv: &Array) -> Result<Self> {
        let (held, new) = (self.kv.len(), kv.dim(2) as usize);
        let mut grown = self.clone();
        if held + new <= self.most.saturating_add(SLACK) {
            grown.kv.append(kv)?;
            return Ok(grown);
        }
        // Only what the next place sees goes into new buffers, which have room for a block too.
        let keep = self.most.saturating_sub(new).min(held);
        let skip = new.saturating_sub(self.most);
        grown.kv = RowKv::default();
        grown.kv.reserve(self.most + 2 * SLACK);
        if let Some(kept) = self.last(keep)? {
            grown.kv.append(&kept)?;
        }
        grown.kv.append(&kv.slice_axis(2, skip as i32, new as i32)?)?;
        grown.first += held - keep + skip;
        Ok(grown)
    }

    /// All keys and all values that places see which come next, `[1, Hkv, n, D]` each: those of the context and, behind
    /// them, `block` `[2, Hkv, m, D]`, which is not kept.
    pub fn with_block(&mut self, block: &Array) -> Result<[Array; 2]> {
        let held = self.kv.len();
        let mut kv = self.kv.clone();
        let all = kv.append(block)?.full(block.dtype())?;
        kv.rewind(held);
        self.kv = kv;
        let out_of_sight = held.saturating_sub(self.most) as i32;
        let [keys, values] = all.map(|heads| heads.slice_axis(2, out_of_sight, heads.dim(2)));
        Ok([keys?, values?])
    }

    /// Keys and values that the next place sees, `[2, Hkv, n, D]`; `None` where it sees none.
    pub fn visible(&self) -> Result<Option<Array>> {
        self.last(self.kv.len().min(self.most))
    }

    /// The last `count` entries; `None` of none.
    fn last(&self, count: usize) -> Result<Option<Array>> {
        let (Some(buffer), 1..) = (self.kv.buffers().first(), count) else { return Ok(None) };
        let Some(held) = self.kv.values(buffer.dtype())? else { return Ok(None) };
        held.slice_axis(2, held.dim(2) - count as i32, held.dim(2)).map(Some)
    }

    /// Where a context can end so that all that is seen there is still held.
    fn earliest(&self) -> usize {
        if self.first == 0 { 0 } else { self.first + self.most }
    }

    fn rewind(&mut self, position: usize) {
        if position == 0 {
            self.first = 0;
        }
        self.kv.rewind(position.saturating_sub(self.first));
    }
}
