//! How much is computed at once: chosen for speed, and what is computed in passing takes memory accordingly.

/// The most tokens of a prompt that go through the model together.
pub const PREFILL_CHUNK: usize = 512;

/// The most tokens for which a row keeps what the model put out for them, until its draft model reads it.
pub(crate) const UNREAD_FEATURES: usize = 64;

/// Numbers that are checked in one operation when a tensor is checked.
pub(crate) const FINITE_BLOCK: usize = 1 << 22;

/// The most tokens of a chunk in the chunked form of a Gated DeltaNet layer.
const DELTA_CHUNK: u32 = 64;

/// Tokens of a chunk of a Gated DeltaNet layer: the number of tokens or the size of a key, whichever is less, rounded
/// up to a power of two, and at most [`DELTA_CHUNK`]. The work between the tokens of a chunk grows with its length, the
/// work between chunks with the size of the state.
pub(crate) fn delta_chunk(tokens: u32, key_dim: u32) -> u32 {
    DELTA_CHUNK.min(key_dim.next_power_of_two()).min(tokens.next_power_of_two())
}
