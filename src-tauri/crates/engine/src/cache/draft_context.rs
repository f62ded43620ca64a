//! What a draft model has read of one row: keys and values of the committed tokens, in each of its layers. Those of the
//! places that it guesses stand behind them for one forward pass, and never count.

use thiserror::Error;

use super::row_kv::RowKv;
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

impl DraftContext {
    /// An empty context of layers with these windows: a place sees fewer than so many positions before it, at least 2.
    pub fn new(windows: impl IntoIterator<Item = Option<usize>>) -> Self {
        let layer = |window: Option<usize>| ContextKv {
            kv: RowKv::default(),
            first: 0,
            most: window.map_or(usize::MAX, |window| window - 1),
        };
        Self { layers: windows.into_iter().map(layer).collect(), end: 0 }
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
            layer.kv.reserve(positions.min(layer.most.saturating_add(2 * SLACK)));
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
