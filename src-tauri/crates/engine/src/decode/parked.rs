use std::collections::VecDeque;

use thiserror::Error;

use super::batch::{Batch, Departed};
use super::lane::positions;
use super::row::{Pending, Row};
use crate::cache::{DeltaState, KvCopy, RowCache, RowKv, Spill, SpillError};
use crate::mlx::{self, Array};
use crate::model::Qwen;

/// A row that waits while others need the memory: what it remembers goes to a file, part by part, and comes back from
/// there exactly as it was. Reading its text again would round differently.
#[derive(Debug)]
pub struct Parked {
    /// It remembers only its tokens.
    row: Row,
    spill: Spill,
    /// Parts in the file, in its order.
    stored: VecDeque<Stored>,
    /// The parts behind them, still in memory.
    held: VecDeque<Part>,
    /// Tokens that followed the hidden states which the head has not read.
    next: Vec<u32>,
}

/// A part of what a row remembers: what one layer does.
#[derive(Debug)]
enum Part {
    /// Keys and values of an attention layer.
    Kv(RowKv),
    /// The same of the head.
    Head(RowKv),
    /// Recurrent state and convolution tail of another layer.
    State(DeltaState),
    /// The hidden states that the head has not read.
    Hidden(Vec<Array>),
}

/// A part in the file.
#[derive(Debug)]
enum Stored {
    /// So many arrays, none where nothing was appended.
    Kv(usize),
    /// The same.
    Head(usize),
    State,
    Hidden,
}

/// A row on its way back.
#[derive(Debug)]
pub struct Returning {
    parked: Parked,
    /// The caches that are still to be filled, the first one last.
    empty: RowCache,
    states: Vec<DeltaState>,
}

/// A row that remembers only its tokens, because the rest could not be moved out of memory or back into it.
#[derive(Debug, Error)]
#[error("{error}")]
pub struct Lost {
    /// Why.
    pub error: SpillError,
    /// The row, which can be read again.
    pub row: Box<Row>,
}

impl Departed {
    /// Makes a file for what the row remembers. Nothing is in it yet.
    pub fn park(self) -> Result<Parked, Lost> {
        let Self { mut row, states } = self;
        let RowCache { kv, head } = std::mem::take(&mut row.cache);
        let Pending { hidden, next } = std::mem::take(&mut row.pending);
        row.forget(row.ctx.len());
        let hidden = if hidden.is_empty() { None } else { Some(Part::Hidden(hidden)) };
        let parts = kv.into_iter().map(Part::Kv).chain(head.map(Part::Head));
        let held = parts.chain(states.into_iter().map(Part::State)).chain(hidden).collect();
        match Spill::create() {
            Ok(spill) => Ok(Parked { row, spill, stored: VecDeque::new(), held, next }),
            Err(error) => Err(Lost { error, row: Box::new(row) }),
        }
    }
}

impl Parked {
    /// The row, which remembers only its tokens.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// The same, without what lies in the file and what does not yet.
    pub fn into_row(self) -> Row {
        self.row
    }

    /// Bytes that are not in the file yet.
    pub fn held_bytes(&self) -> u64 {
        self.held.iter().map(Part::bytes).sum()
    }

    /// Moves the next part to the file, which frees its memory; says whether there was one. After an error the row
    /// cannot come back.
    pub fn store_part(&mut self) -> Result<bool, SpillError> {
        let Some(part) = self.held.pop_front() else { return Ok(false) };
        self.stored.push_back(match part {
            Part::Kv(kv) => Stored::Kv(write_kv(&mut self.spill, kv)?),
            Part::Head(kv) => Stored::Head(write_kv(&mut self.spill, kv)?),
            Part::State(state) => {
                let (state, tail) = state.resolve(&[0])?;
                self.spill.write(&state)?;
                self.spill.write(&tail)?;
                Stored::State
            }
            Part::Hidden(hidden) => {
                self.spill.write(&mlx::concatenate(&hidden.iter().collect::<Vec<_>>(), 0)?)?;
                Stored::Hidden
            }
        });
        Ok(true)
    }

    /// Begins to bring the row back, whether all of it had been moved or not.
    pub fn resume(mut self, model: &Qwen) -> Result<Returning, Lost> {
        if let Err(error) = self.spill.rewind() {
            return Err(Lost { error, row: Box::new(self.row) });
        }
        let mut empty = model.empty_row();
        empty.kv.reverse();
        Ok(Returning { parked: self, empty, states: Vec::new() })
    }
}

impl Returning {
    /// The row, which remembers only some of what it did.
    pub fn row(&self) -> &Row {
        &self.parked.row
    }

    /// The row with nothing but its tokens.
    pub fn into_row(self) -> Row {
        let mut row = self.parked.row;
        row.forget(row.ctx.len());
        row
    }

    /// Takes the next part out of the file; says whether there was one. After an error the row cannot come back.
    pub fn fetch_part(&mut self) -> Result<bool, SpillError> {
        let Self { parked: Parked { row, spill, stored, next, .. }, empty, states } = self;
        let Some(part) = stored.pop_front() else { return Ok(false) };
        match part {
            Stored::Kv(arrays) => {
                let kv = empty.kv.pop().unwrap_or_default();
                row.cache.kv.push(read_kv(spill, kv, arrays, positions(row))?);
            }
            Stored::Head(arrays) => {
                let kv = empty.head.take().unwrap_or_default();
                row.cache.head = Some(read_kv(spill, kv, arrays, positions(row))?);
            }
            Stored::State => states.push(DeltaState::settled(spill.read()?, spill.read()?)),
            Stored::Hidden => row.pending.push(spill.read()?, next),
        }
        Ok(true)
    }

    /// The row as it was, in a batch of its own, once there is no part left to fetch.
    pub fn finish(self) -> Batch {
        let Self { parked: Parked { mut row, held, mut next, .. }, mut states, .. } = self;
        for part in held {
            match part {
                Part::Kv(kv) => row.cache.kv.push(kv),
                Part::Head(kv) => row.cache.head = Some(kv),
                Part::State(state) => states.push(state),
                Part::Hidden(hidden) => row.pending = Pending { hidden, next: std::mem::take(&mut next) },
            }
        }
        Batch::of_row(row, states)
    }
}

impl Part {
    fn bytes(&self) -> u64 {
        let bytes = |array: &Array| array.nbytes() as u64;
        match self {
            Self::Kv(kv) | Self::Head(kv) => kv.buffers().iter().map(bytes).sum(),
            Self::State(state) => state.arrays().map(bytes).sum(),
            Self::Hidden(hidden) => hidden.iter().map(bytes).sum(),
        }
    }
}

/// Returns how many arrays it were.
fn write_kv(spill: &mut Spill, kv: RowKv) -> Result<usize, SpillError> {
    let Some(copy) = kv.copy(0..kv.len())? else { return Ok(0) };
    copy.arrays().try_for_each(|array| spill.write(array))?;
    Ok(copy.arrays().count())
}

/// Reads so many arrays into an empty cache with so much room.
fn read_kv(spill: &mut Spill, mut empty: RowKv, arrays: usize, room: usize) -> Result<RowKv, SpillError> {
    if arrays == 0 {
        empty.reserve(room);
        return Ok(empty);
    }
    let copy = KvCopy::new(empty.precision(), (0..arrays).map(|_| spill.read()).collect::<Result<_, _>>()?);
    Ok(RowKv::restored([&copy], room)?)
}
