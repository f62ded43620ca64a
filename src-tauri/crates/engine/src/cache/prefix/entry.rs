//! What the prefix cache stores of a row: `Segment`, copies of the keys and values of a stretch of its tokens, those of
//! a draft model included, and [`StateSnapshot`], its recurrent states at the end of a stretch. [`Prefix`] is a stored
//! beginning of a prompt, as a lookup finds it.

use crate::cache::delta_state::DeltaState;
use crate::cache::draft_context::{ContextCopy, DraftContext};
use crate::cache::row_cache::RowCache;
use crate::cache::row_kv::{KvCopy, RowKv};
use crate::link::RemoteState;
use crate::mlx::{self, Array, Result};

/// What a row has besides keys and values after some number of its tokens. A prompt can go on from a stored place only
/// where this was kept, because recurrent states cannot be rewound.
#[derive(Debug, Clone)]
pub struct StateSnapshot {
    /// The recurrent states of one row, settled, one per linear-attention layer.
    pub states: Vec<DeltaState>,
    /// Where the model has an MTP head, the last token's hidden state `[1, H]`. With the token after it, which differs
    /// between continuations, it makes the first pair that the head has not read.
    pub hidden: Option<Array>,
    /// What it has on other machines, where some layers lie there.
    pub remote: Option<RemoteState>,
}

/// Keys and values of the tokens `begin..end` of a row, in arrays of their own: a view of a row's buffer would make
/// the row copy all of it at its next token.
#[derive(Debug, Clone, Default)]
pub(super) struct Segment {
    /// One per full-attention layer.
    pub(super) kv: Vec<KvCopy>,
    /// The MTP head's, of the pairs (hidden state at t, token at t + 1) whose second token is one of these.
    pub(super) head: Option<KvCopy>,
    /// What the draft model has read of these tokens; `None` where it has not read them all.
    pub(super) draft: Option<ContextCopy>,
}

/// A stored beginning of a prompt, as a lookup finds it.
#[derive(Debug)]
pub struct Prefix {
    pub(super) len: usize,
    pub(super) segments: Vec<Segment>,
    pub(super) snapshot: StateSnapshot,
}

impl StateSnapshot {
    /// A copy that shares no memory with this snapshot, still lazy. Arrays that are views may keep the values of a
    /// whole prefill chunk alive.
    pub(super) fn copy(&self) -> Result<Self> {
        let first = Array::from_slice(&[0u32], &[1])?;
        Ok(Self {
            states: self.states.iter().map(|state| state.keep(&[0], &[0])).collect::<Result<_>>()?,
            hidden: self.hidden.as_ref().map(|hidden| mlx::take(hidden, &first, 0)).transpose()?,
            remote: self.remote.as_ref().map(RemoteState::keep),
        })
    }

    pub(super) fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.states.iter().flat_map(DeltaState::arrays).chain(&self.hidden)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.arrays().map(|array| array.nbytes() as u64).sum()
    }
}

impl Segment {
    /// Lazy copies from a row's caches; `None` where they do not hold these tokens.
    pub(super) fn copy(cache: &RowCache, begin: usize, end: usize) -> Result<Option<Self>> {
        let kv: Option<Vec<KvCopy>> = cache.kv.iter().map(|kv| kv.copy(begin..end)).collect::<Result<_>>()?;
        let Some(kv) = kv else { return Ok(None) };
        // Pair t is made of the hidden state at t and the token at t + 1.
        let pairs = begin.saturating_sub(1)..end - 1;
        let head = match &cache.head {
            Some(head) => match head.copy(pairs)? {
                Some(copy) => Some(copy),
                None => return Ok(None),
            },
            None => None,
        };
        let draft = match &cache.draft {
            Some(context) => context.copy(begin..end)?,
            None => None,
        };
        Ok(Some(Self { kv, head, draft }))
    }

    pub(super) fn arrays(&self) -> impl Iterator<Item = &Array> {
        let draft = self.draft.iter().flat_map(ContextCopy::arrays);
        self.kv.iter().chain(&self.head).flat_map(KvCopy::arrays).chain(draft)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.arrays().map(|array| array.nbytes() as u64).sum()
    }
}

impl Prefix {
    /// Tokens that a row which goes on from here need not read.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds no tokens.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The recurrent states and the hidden state at its end.
    pub fn snapshot(&self) -> &StateSnapshot {
        &self.snapshot
    }

    /// Caches of a row that has read these tokens, with room for `reserved` positions. Waits for the copies.
    pub fn cache(&self, reserved: usize) -> Result<RowCache> {
        let layers = self.segments.first().map_or(0, |segment| segment.kv.len());
        let kv = (0..layers)
            .map(|layer| RowKv::restored(self.segments.iter().map(|segment| &segment.kv[layer]), reserved))
            .collect::<Result<_>>()?;
        let head = match self.snapshot.hidden {
            Some(_) => Some(RowKv::restored(
                self.segments.iter().filter_map(|segment| segment.head.as_ref()),
                reserved,
            )?),
            None => None,
        };
        // Where some of it was not kept, a draft model cannot read on, so it does not draft for the row.
        let read: Option<Vec<&ContextCopy>> =
            self.segments.iter().map(|segment| segment.draft.as_ref()).collect();
        let draft = read.map(|parts| DraftContext::restored(&parts, reserved)).transpose()?;
        Ok(RowCache { kv, head, draft, remote: self.snapshot.remote.as_ref().and_then(RemoteState::resume) })
    }
}

/// Evaluates the lazy copies that a store is about to keep.
pub(super) fn settle(segment: &Segment, snapshot: &StateSnapshot) -> Result<()> {
    mlx::eval(segment.arrays().chain(snapshot.arrays()))
}
