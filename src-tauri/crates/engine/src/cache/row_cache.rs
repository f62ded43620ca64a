//! The attention caches of one row, one per layer.

use super::draft_context::DraftContext;
use super::row_kv::RowKv;
use crate::link::RemoteRow;
use crate::mlx::Array;

/// One row's attention caches. The recurrent states lie in the batch, row by row: see
/// [`DeltaState`](super::DeltaState).
#[derive(Debug, Default)]
pub struct RowCache {
    /// One per full-attention layer.
    pub kv: Vec<RowKv>,
    /// The MTP head's, where the model has one.
    pub head: Option<RowKv>,
    /// What the draft model has read, where the model has one and it has read along from the first token on.
    pub draft: Option<DraftContext>,
    /// Those of the layers that lie on other machines, where some do.
    pub remote: Option<RemoteRow>,
}

impl RowCache {
    /// Asks for room for so many positions at once.
    pub fn reserve(&mut self, positions: usize) {
        self.kv.iter_mut().chain(&mut self.head).for_each(|kv| kv.reserve(positions));
        self.draft.iter_mut().for_each(|context| context.reserve(positions));
    }

    /// Notes that so many tokens more are kept on the other machines, where some layers lie there.
    pub fn tell_read(&self, tokens: usize) {
        self.remote.iter().for_each(|remote| remote.set_length(remote.length() + tokens));
    }

    /// The arrays to evaluate with a step.
    pub fn arrays(&self) -> impl Iterator<Item = &Array> {
        let draft = self.draft.iter().flat_map(DraftContext::arrays);
        self.kv.iter().chain(&self.head).flat_map(RowKv::buffers).chain(draft)
    }
}
