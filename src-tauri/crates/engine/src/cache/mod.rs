//! What a row keeps between passes: keys and values of the attention layers, the recurrent state of the others.

mod delta_state;
mod prefix;
mod quantized_heads;
mod row_kv;
mod spill;

pub use delta_state::{DeltaState, TapeEntry};
pub use prefix::{LEAST_GAIN, Prefix, PrefixStore, StateSnapshot};
pub use quantized_heads::{QuantizedHeads, kv_group_size};
pub use row_kv::{KeysValues, KvCopy, RowKv};
pub use spill::{Spill, SpillError, Spilled};

/// One row's attention caches. The recurrent states lie in the batch, row by row (see [`DeltaState`]).
#[derive(Debug, Default)]
pub struct RowCache {
    /// One per full-attention layer.
    pub kv: Vec<RowKv>,
    /// The MTP head's, where the model has one.
    pub head: Option<RowKv>,
}

impl RowCache {
    /// Asks for room for so many positions at once.
    pub fn reserve(&mut self, positions: usize) {
        self.kv.iter_mut().chain(&mut self.head).for_each(|kv| kv.reserve(positions));
    }

    /// The arrays to evaluate with a step.
    pub fn arrays(&self) -> impl Iterator<Item = &crate::mlx::Array> {
        self.kv.iter().chain(&self.head).flat_map(RowKv::buffers)
    }
}
