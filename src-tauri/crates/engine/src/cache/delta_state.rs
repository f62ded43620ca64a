//! The recurrent states of one Gated DeltaNet layer for the B rows of a batch, f32 `[B, 1, Hv, Dv, Dk]`, and the last
//! inputs of its causal convolution of width K, `[B, K − 1, C]`.
//!
//! Rejected drafts are rolled back without running the model again: a step keeps the state from before its tokens and a
//! tape of their rank-1 updates, and the next step applies the updates of the tokens that each row committed. By
//! operations the tape has an entry for each place of `[B, M]`; by kernels it is packed, and the next step's kernel
//! folds it.

use std::rc::Rc;

use crate::mlx::kernels::{GdnKernels, GdnRow, GdnTape};
use crate::mlx::{self, Array, Dtype, Result};

/// One token's update of the recurrent state, S ← g·S + δ kᵀ, kept so that it can be applied again.
#[derive(Debug, Clone)]
pub struct TapeEntry {
    /// Decay g, f32 `[B, 1, Hv, 1, 1]`.
    pub decay: Array,
    /// Correction δ = β (v − g·S k), f32 `[B, 1, Hv, Dv, 1]`.
    pub delta: Array,
    /// Key kᵀ, f32 `[B, 1, Hv, 1, Dk]`.
    pub key: Array,
}

impl TapeEntry {
    /// The state after this token.
    pub fn apply(&self, state: &Array) -> Result<Array> {
        state.multiply(&self.decay)?.add(&self.delta.multiply(&self.key)?)
    }
}

/// What a step by kernels left.
#[derive(Debug, Clone)]
pub struct PackedTape {
    /// Who folds it.
    pub kernels: Rc<GdnKernels>,
    /// The updates of all rows' tokens.
    pub tape: GdnTape,
    /// Tokens of each row, one row behind the other.
    pub lens: Rc<[i32]>,
}

impl PackedTape {
    /// What is kept of each row, for the kernel that folds it, with `new` tokens behind.
    pub fn rows(&self, committed: &[usize], new: &[i32]) -> Vec<GdnRow> {
        let mut taped_from = 0;
        let rows = self.lens.iter().zip(committed).zip(new);
        rows.map(|((len, &kept), &new)| {
            let row = GdnRow { new, taped_from, kept: kept as i32, settles: false };
            taped_from += len;
            row
        })
        .collect()
    }
}

/// The updates of the last step's tokens.
#[derive(Debug, Clone)]
enum Tape {
    /// There are none: the state is settled.
    None,
    /// Place by place, in order, and the state after all of them.
    Places { entries: Vec<TapeEntry>, latest: Array },
    /// Packed.
    Packed(PackedTape),
}

/// The recurrent state of one linear-attention layer for B rows.
///
/// A state cannot be rewound, so a step leaves the state before its tokens (the checkpoint) and a tape of their
/// updates. The next step folds each row's committed updates into the checkpoint; where every row kept every token,
/// the state after the last one is taken as it is.
#[derive(Debug, Clone)]
pub struct DeltaState {
    /// The state before the tape's tokens, f32 `[B, 1, Hv, Dv, Dk]`; the axis of 1 stands for the token in an update.
    checkpoint: Array,
    /// `[B, K − 1 + M, C]`: inputs of the convolution, the last K − 1 committed ones before the tape's tokens. A packed
    /// tape has those of its tokens itself: M = 0.
    window: Array,
    tape: Tape,
}

impl DeltaState {
    /// The state of B rows that have seen nothing. `state`: `[Hv, Dv, Dk]`; `tail`: `[K − 1, C]`.
    pub fn empty(rows: i32, state: [i32; 3], tail: [i32; 2], dtype: Dtype) -> Result<Self> {
        Ok(Self::settled(
            Array::zeros(&[rows, 1, state[0], state[1], state[2]], Dtype::Float32)?,
            Array::zeros(&[rows, tail[0], tail[1]], dtype)?,
        ))
    }

    /// A settled state: one without a tape. `state` `[B, 1, Hv, Dv, Dk]`, `tail` `[B, K − 1, C]`.
    pub fn settled(state: Array, tail: Array) -> Self {
        Self { checkpoint: state, window: tail, tape: Tape::None }
    }

    /// The state after a step: `checkpoint` from before its tokens, the convolution's inputs, the tokens' updates, and
    /// the state `latest` after all of them.
    pub fn taped(checkpoint: Array, window: Array, entries: Vec<TapeEntry>, latest: Array) -> Self {
        Self { checkpoint, window, tape: Tape::Places { entries, latest } }
    }

    /// The state after a step by kernels: state and tail from before its tokens, and their updates.
    pub fn packed(checkpoint: Array, tail: Array, tape: PackedTape) -> Self {
        Self { checkpoint, window: tail, tape: Tape::Packed(tape) }
    }

    /// State, tail and packed tape as the next kernel reads them; without a tape where the state is settled.
    pub fn to_fold(&self) -> (&Array, &Array, Option<&PackedTape>) {
        debug_assert!(!matches!(self.tape, Tape::Places { .. }), "a state is folded by who has taped it");
        let tape = if let Tape::Packed(tape) = &self.tape { Some(tape) } else { None };
        (&self.checkpoint, &self.window, tape)
    }

    /// The state and the convolution's tail after `committed[b]` of the tape's tokens in each row.
    pub fn resolve(&self, committed: &[usize]) -> Result<(Array, Array)> {
        let (entries, latest) = match &self.tape {
            Tape::None => return Ok((self.checkpoint.clone(), self.window.clone())),
            Tape::Packed(packed) => {
                let rows = packed.rows(committed, &vec![0; committed.len()]);
                let [state, tail] =
                    packed.kernels.fold(&rows, &self.checkpoint, &self.window, &packed.tape)?;
                return Ok((state, tail));
            }
            Tape::Places { entries, latest } => (entries, latest),
        };
        let width = entries.len();
        let tail = self.window.dim(1) - width as i32;
        if committed.iter().all(|&count| count == width) {
            return Ok((latest.clone(), self.window.slice_axis(1, width as i32, width as i32 + tail)?));
        }
        if let Some(&count) = committed.first()
            && committed.iter().all(|&other| other == count)
        {
            let state =
                entries[..count].iter().try_fold(self.checkpoint.clone(), |s, entry| entry.apply(&s))?;
            return Ok((state, self.window.slice_axis(1, count as i32, count as i32 + tail)?));
        }
        self.resolve_ragged(entries, committed, tail)
    }

    /// [`Self::resolve`] where rows have committed different numbers of tokens; `tail` is K − 1.
    fn resolve_ragged(
        &self,
        entries: &[TapeEntry],
        committed: &[usize],
        tail: i32,
    ) -> Result<(Array, Array)> {
        let rows = committed.len() as i32;
        let most = committed.iter().copied().max().unwrap_or(0);
        let mut state = self.checkpoint.clone();
        for (i, entry) in entries[..most].iter().enumerate() {
            let keeps: Vec<bool> = committed.iter().map(|&count| i < count).collect();
            let keeps = Array::from_slice(&keeps, &[rows, 1, 1, 1, 1])?;
            state = mlx::where_(&keeps, &entry.apply(&state)?, &state)?;
        }
        let channels = self.window.dim(2);
        let index: Vec<u32> =
            committed.iter().flat_map(|&count| (0..tail).map(move |j| count as u32 + j as u32)).collect();
        let index =
            mlx::broadcast_to(&Array::from_slice(&index, &[rows, tail, 1])?, &[rows, tail, channels])?;
        Ok((state, mlx::take_along_axis(&self.window, &index, 1)?))
    }

    /// Appends the rows of `other` behind these. Both are resolved first, so the result is settled.
    pub fn join(&self, committed: &[usize], other: &Self, other_committed: &[usize]) -> Result<Self> {
        let (state, tail) = self.resolve(committed)?;
        let (other_state, other_tail) = other.resolve(other_committed)?;
        Ok(Self::settled(
            mlx::concatenate(&[&state, &other_state], 0)?,
            mlx::concatenate(&[&tail, &other_tail], 0)?,
        ))
    }

    /// The states of the rows with these indices, in this order, settled.
    pub fn keep(&self, committed: &[usize], rows: &[u32]) -> Result<Self> {
        let (state, tail) = self.resolve(committed)?;
        let index = Array::from_slice(rows, &[rows.len() as i32])?;
        Ok(Self::settled(mlx::take(&state, &index, 0)?, mlx::take(&tail, &index, 0)?))
    }

    /// The arrays to evaluate with a step.
    pub fn arrays(&self) -> impl Iterator<Item = &Array> {
        let (latest, packed) = match &self.tape {
            Tape::None => (None, None),
            Tape::Places { latest, .. } => (Some(latest), None),
            Tape::Packed(packed) => (None, Some(packed.tape.arrays())),
        };
        [&self.checkpoint, &self.window].into_iter().chain(latest).chain(packed.into_iter().flatten())
    }
}
