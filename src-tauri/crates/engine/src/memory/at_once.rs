//! How much is computed at once: chosen for speed, and what is computed in passing takes memory accordingly.

use crate::mlx::DeviceKind;

/// The most tokens of a prompt that go through the model together on the CPU, and on GPUs far into a prompt.
pub const PREFILL_CHUNK: usize = 512;

/// The same on GPUs at the beginning of a prompt. Few tokens leave most of a GPU idle, above all where each expert of
/// a mixture sees a small share of them.
const GPU_CHUNK: usize = 2048;

/// Tokens of a longer chunk times the positions that they see, at most: MLX stores the scores of long queries with the
/// heads of these models, 256 wide, and so many take as much memory as those of [`PREFILL_CHUNK`] tokens at the end of
/// 32,768.
const CHUNK_SCORES: usize = PREFILL_CHUNK * 32_768;

/// How many tokens of a prompt go through the model together: a function of where they are in it, and of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSizes {
    most: usize,
}

impl ChunkSizes {
    /// Those of a device.
    pub fn on(device: DeviceKind) -> Self {
        let most = match device {
            DeviceKind::Cpu => PREFILL_CHUNK,
            DeviceKind::Metal | DeviceKind::Cuda => GPU_CHUNK,
        };
        Self { most }
    }

    /// Tokens of the chunk that begins at a position: a power of two from [`PREFILL_CHUNK`] on.
    pub fn at(self, position: usize) -> usize {
        let mut size = self.most;
        while size > PREFILL_CHUNK && (position + size).saturating_mul(size) > CHUNK_SCORES {
            size /= 2;
        }
        size
    }
}

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

/// Whether scores of many queries are computed without being stored.
pub(super) fn has_fused_attention(device: DeviceKind, head_dim: usize) -> bool {
    device != DeviceKind::Cpu && [64, 80, 128].contains(&head_dim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_a_gpu_shrink_with_the_position_and_those_of_the_processor_stay() {
        let (gpu, cpu) = (ChunkSizes::on(DeviceKind::Metal), ChunkSizes::on(DeviceKind::Cpu));
        let expected = [
            (0, 2048),
            (6144, 2048),
            (6145, 1024),
            (8192, 1024),
            (15_360, 1024),
            (15_361, 512),
            (262_144, 512),
            (usize::MAX - 4096, 512),
        ];
        for (position, tokens) in expected {
            assert_eq!((gpu.at(position), cpu.at(position)), (tokens, PREFILL_CHUNK), "{position}");
        }
        assert_eq!(ChunkSizes::on(DeviceKind::Cuda), gpu);
    }
}
