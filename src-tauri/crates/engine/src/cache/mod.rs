//! What a row keeps between passes: keys and values of the attention layers, the recurrent state of the others.

mod delta_state;
mod draft_context;
mod prefix;
mod quantized_heads;
mod row_cache;
mod row_kv;
mod spill;
mod spilled_row;

pub use delta_state::{DeltaState, PackedTape, TapeEntry};
pub use draft_context::{ContextCopy, ContextKv, DraftContext, DraftContextError};
pub use prefix::{DiskTier, DiskTierError, LEAST_GAIN, Prefix, PrefixStore, StateSnapshot};
pub use quantized_heads::QuantizedHeads;
pub use row_cache::RowCache;
pub use row_kv::{KeysValues, KvCopy, RowKv};
pub use spill::{Spill, SpillError, Spilled};
pub use spilled_row::{SpilledKv, SpilledState};
