//! Preempted rows: the KV caches and recurrent states of a row are swapped out to a temporary file, part by part, and
//! swapped in again bit for bit.

use super::batch::{Batch, Departed};
use super::row::{CacheLost, Row};
use crate::cache::{
    ContextKv, DeltaState, DraftContext, RowCache, RowKv, Spill, SpillError, Spilled, SpilledKv, SpilledState,
};
use crate::link::RemoteRow;
use crate::mlx::{self, Array};

/// A preempted row. Its caches and states are in a file, in memory, or partly in each. They are swapped, not computed
/// again from its tokens, because that would round differently.
#[derive(Debug)]
pub struct SwappedRow {
    /// The row with its tokens alone; caches and states are in the parts.
    row: Row,
    spill: Spill,
    /// The first parts, in memory.
    resident: Vec<ResidentPart>,
    /// The other parts, in the file; the last element here is the part behind those in memory.
    swapped: Vec<SwappedPart>,
    /// The tokens after the hidden states of `ResidentPart::Hidden`.
    next: Vec<u32>,
    /// Its caches and states on other machines, which swap them out themselves.
    remote: Option<RemoteRow>,
}

/// A part of a row's caches and states: that of one layer, or the hidden states.
#[derive(Debug)]
enum ResidentPart {
    /// The hidden states that the head has not read.
    Hidden(Array),
    /// What the draft model has not read.
    Features(Array),
    /// Recurrent state and convolution tail of a linear-attention layer, settled.
    State(DeltaState),
    /// Keys and values of the MTP head.
    Head(RowKv),
    /// What the draft model has read, in one of its layers.
    Draft(ContextKv),
    /// Keys and values of a full-attention layer of the trunk.
    Kv(RowKv),
}

/// A part in the file.
#[derive(Debug)]
enum SwappedPart {
    Hidden(Spilled),
    Features(Spilled),
    State(SpilledState),
    Head(SpilledKv),
    /// A layer without its keys and values, and these.
    Draft(ContextKv, SpilledKv),
    Kv(SpilledKv),
}

impl Departed {
    /// Prepares the row to be swapped out: makes a file, and parts that are all still in memory.
    pub fn swap_out(self) -> Result<SwappedRow, CacheLost> {
        let Self { mut row, states } = self;
        row.tell_length(row.committed());
        let RowCache { kv, head, draft, remote } = std::mem::take(&mut row.cache);
        remote.iter().for_each(RemoteRow::swap_out);
        let pending = std::mem::take(&mut row.pending);
        let unread_features = std::mem::take(&mut row.unread_features);
        row.forget(row.ctx.len());
        let prepare = || {
            let joined = |arrays: &[Array]| match arrays {
                [] => Ok(None),
                arrays => mlx::concatenate(&arrays.iter().collect::<Vec<_>>(), 0).map(Some),
            };
            let unread = [joined(&pending.hidden)?, joined(&unread_features)?];
            // Unevaluated, they would keep the states of all rows of the batch in memory.
            mlx::eval(states.iter().flat_map(DeltaState::arrays).chain(unread.iter().flatten()))?;
            Ok((Spill::create()?, unread))
        };
        match prepare() {
            Ok((spill, [hidden, features])) => {
                let parts = hidden.map(ResidentPart::Hidden).into_iter();
                let parts = parts.chain(features.map(ResidentPart::Features));
                let parts = parts.chain(states.into_iter().map(ResidentPart::State));
                let draft = draft.map(DraftContext::into_layers).into_iter().flatten();
                let resident = parts
                    .chain(head.map(ResidentPart::Head))
                    .chain(draft.map(ResidentPart::Draft))
                    .chain(kv.into_iter().map(ResidentPart::Kv))
                    .collect();
                Ok(SwappedRow { row, spill, resident, swapped: Vec::new(), next: pending.next, remote })
            }
            Err(error) => Err(CacheLost { error, row: Box::new(row) }),
        }
    }
}

impl SwappedRow {
    /// The row with its tokens alone.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// The row with its tokens alone, after one of its parts could not be swapped.
    pub(super) fn lost(self, error: SpillError) -> CacheLost {
        CacheLost { error, row: Box::new(self.row) }
    }

    /// Bytes that are in memory.
    pub fn resident_bytes(&self) -> u64 {
        self.resident.iter().map(ResidentPart::bytes).sum()
    }

    /// Swaps one part out, which frees its memory; returns the bytes written, or `None` where there was no part. After
    /// an error the caches and states are lost.
    pub fn swap_out_part(&mut self) -> Result<Option<u64>, SpillError> {
        let Some(part) = self.resident.pop() else { return Ok(None) };
        let part = part.swap_out(&mut self.spill)?;
        let bytes = part.bytes();
        self.swapped.push(part);
        Ok(Some(bytes))
    }

    /// Swaps one part in; returns the bytes read, or `None` where there was no part. After an error the caches and
    /// states are lost.
    pub fn swap_in_part(&mut self) -> Result<Option<u64>, SpillError> {
        let Some(part) = self.swapped.pop() else { return Ok(None) };
        let bytes = part.bytes();
        self.resident.push(part.swap_in(&mut self.spill, self.row.initial_positions())?);
        Ok(Some(bytes))
    }

    /// The row as it was, in a batch of its own. All parts must have been swapped in.
    pub fn resume(self) -> Batch {
        let Self { mut row, resident, next, remote, .. } = self;
        row.cache.remote = remote;
        let (mut states, mut draft) = (Vec::new(), Vec::new());
        for part in resident {
            match part {
                ResidentPart::Hidden(hidden) => row.pending.push(hidden, &next),
                ResidentPart::Features(features) => row.unread_features.push(features),
                ResidentPart::State(state) => states.push(state),
                ResidentPart::Head(kv) => row.cache.head = Some(kv),
                ResidentPart::Draft(layer) => draft.push(layer),
                ResidentPart::Kv(kv) => row.cache.kv.push(kv),
            }
        }
        row.cache.draft = (!draft.is_empty()).then(|| DraftContext::of_layers(draft));
        Batch::of_row(row, states)
    }
}

impl ResidentPart {
    fn bytes(&self) -> u64 {
        let bytes = |array: &Array| array.nbytes() as u64;
        match self {
            Self::Hidden(unread) | Self::Features(unread) => bytes(unread),
            Self::State(state) => state.arrays().map(bytes).sum(),
            Self::Head(kv) | Self::Kv(kv) => kv.buffers().iter().map(bytes).sum(),
            Self::Draft(layer) => layer.kv().buffers().iter().map(bytes).sum(),
        }
    }

    fn swap_out(self, spill: &mut Spill) -> Result<SwappedPart, SpillError> {
        Ok(match self {
            Self::Hidden(hidden) => SwappedPart::Hidden(spill.write(&hidden)?),
            Self::Features(features) => SwappedPart::Features(spill.write(&features)?),
            Self::State(state) => SwappedPart::State(SpilledState::write(&state, spill)?),
            Self::Head(kv) => SwappedPart::Head(SpilledKv::write(&kv, spill)?),
            Self::Draft(mut layer) => {
                let kv = layer.take_kv();
                SwappedPart::Draft(layer, SpilledKv::write(&kv, spill)?)
            }
            Self::Kv(kv) => SwappedPart::Kv(SpilledKv::write(&kv, spill)?),
        })
    }
}

impl SwappedPart {
    /// Bytes in the file.
    fn bytes(&self) -> u64 {
        let arrays: &[Spilled] = match self {
            Self::Hidden(unread) | Self::Features(unread) => std::slice::from_ref(unread),
            Self::State(state) => state.arrays(),
            Self::Head(kv) | Self::Draft(_, kv) | Self::Kv(kv) => kv.arrays(),
        };
        arrays.iter().map(Spilled::bytes).sum()
    }

    /// Reads the part back. `room`: positions that keys and values get room for.
    fn swap_in(self, spill: &mut Spill, room: usize) -> Result<ResidentPart, SpillError> {
        Ok(match self {
            Self::Hidden(hidden) => ResidentPart::Hidden(spill.read(&hidden)?),
            Self::Features(features) => ResidentPart::Features(spill.read(&features)?),
            Self::State(state) => ResidentPart::State(state.read(spill)?),
            Self::Head(kv) => ResidentPart::Head(kv.read(spill, room)?),
            Self::Draft(layer, kv) => {
                let kv = kv.read(spill, layer.room(room))?;
                ResidentPart::Draft(layer.with_kv(kv))
            }
            Self::Kv(kv) => ResidentPart::Kv(kv.read(spill, room)?),
        })
    }
}
