use thiserror::Error;

use super::batch::{Batch, Departed};
use super::lane::positions;
use super::row::Row;
use crate::cache::{DeltaState, KvCopy, RowKv, Spill, SpillError};
use crate::mlx;
use crate::model::Qwen;

/// A row that waits while others need the memory: what it remembers lies in a file, and it goes on from there exactly
/// as it would have. Reading its text again would round differently.
#[derive(Debug)]
pub struct Parked {
    /// It remembers only its tokens.
    row: Row,
    /// In this order: each attention layer's keys and values, the head's, each other layer's recurrent state and
    /// convolution tail, the hidden states that the head has not read.
    spill: Spill,
    /// Arrays of the keys and values of each attention layer, none where nothing was appended.
    kv: Vec<usize>,
    /// The same of the head.
    head: Option<usize>,
    /// Linear-attention layers.
    states: usize,
    /// Tokens that followed the hidden states which the head has not read.
    next: Vec<u32>,
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
    /// Moves what the row remembers to a temporary file. At no time does that take more memory than one layer.
    pub fn park(self) -> Result<Parked, Lost> {
        let Self { mut row, states } = self;
        let cache = std::mem::take(&mut row.cache);
        let pending = std::mem::take(&mut row.pending);
        row.forget(row.ctx.len());
        let write = || {
            let mut spill = Spill::create()?;
            // Each layer's memory is free before the next one's is copied.
            let kv = cache.kv.into_iter().map(|kv| write_kv(&mut spill, kv)).collect::<Result<_, _>>()?;
            let head = cache.head.map(|kv| write_kv(&mut spill, kv)).transpose()?;
            let layers = states.len();
            for state in states {
                let (state, tail) = state.resolve(&[0])?;
                spill.write(&state)?;
                spill.write(&tail)?;
            }
            if !pending.hidden.is_empty() {
                spill.write(&mlx::concatenate(&pending.hidden.iter().collect::<Vec<_>>(), 0)?)?;
            }
            Ok((spill, kv, head, layers, pending.next))
        };
        match write() {
            Ok((spill, kv, head, states, next)) => Ok(Parked { row, spill, kv, head, states, next }),
            Err(error) => Err(Lost { error, row: Box::new(row) }),
        }
    }
}

impl Parked {
    /// The row, which remembers only its tokens.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// The row as it was, in a batch of its own.
    pub fn resume(self, model: &Qwen) -> Result<Batch, Lost> {
        let Self { mut row, mut spill, kv, head, states, next } = self;
        let room = positions(&row);
        let read = |row: &mut Row| -> Result<Vec<DeltaState>, SpillError> {
            spill.rewind()?;
            let empty = model.empty_row();
            let layers = empty.kv.into_iter().zip(kv);
            row.cache.kv =
                layers.map(|(kv, arrays)| read_kv(&mut spill, kv, arrays, room)).collect::<Result<_, _>>()?;
            row.cache.head = match empty.head.zip(head) {
                Some((kv, arrays)) => Some(read_kv(&mut spill, kv, arrays, room)?),
                None => None,
            };
            let states = (0..states).map(|_| Ok(DeltaState::settled(spill.read()?, spill.read()?)));
            let states = states.collect::<Result<_, SpillError>>()?;
            if !next.is_empty() {
                row.pending.push(spill.read()?, &next);
            }
            Ok(states)
        };
        match read(&mut row) {
            Ok(states) => Ok(Batch::of_row(row, states)),
            Err(error) => {
                row.forget(row.ctx.len());
                Err(Lost { error, row: Box::new(row) })
            }
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
