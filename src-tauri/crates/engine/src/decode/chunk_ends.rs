//! Where the prefill of a prompt is cut into chunks, as positions in its tokens: a function of the prompt alone, so
//! that prompts that begin alike are cut alike and can share what the prefix cache stores.

use crate::cache::LEAST_GAIN;
use crate::memory::ChunkSizes;

/// Where the reading of a prompt is cut into chunks, up to and perhaps with `end`: where messages begin
/// (`message_starts`, in order), and wherever a chunk would be longer than `sizes` has it there.
///
/// Prompts that begin alike are cut at the same places as long as they do, whatever the store holds. So a prompt that
/// goes on from a stored place reads the rest just as it would have, had it read everything.
pub(super) fn chunk_ends(message_starts: &[usize], end: usize, sizes: ChunkSizes) -> Vec<usize> {
    let mut chunk_ends = Vec::new();
    let mut last = 0;
    for &start in message_starts.iter().filter(|&&start| start <= end) {
        fill(&mut chunk_ends, &mut last, start, sizes);
        // A shorter chunk would cost more than it may ever save.
        if start >= last + LEAST_GAIN {
            chunk_ends.push(start);
            last = start;
        }
    }
    fill(&mut chunk_ends, &mut last, end, sizes);
    chunk_ends
}

/// Cuts after as many tokens as go together, up to `end`.
fn fill(chunk_ends: &mut Vec<usize>, last: &mut usize, end: usize, sizes: ChunkSizes) {
    while end - *last >= sizes.at(*last) {
        *last += sizes.at(*last);
        chunk_ends.push(*last);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::PREFILL_CHUNK;
    use crate::mlx::DeviceKind;

    const SIZES: [DeviceKind; 2] = [DeviceKind::Cpu, DeviceKind::Metal];

    #[test]
    fn chunks_end_where_messages_begin() {
        let sizes = ChunkSizes::on(DeviceKind::Cpu);
        assert_eq!(
            chunk_ends(&[], 3 * PREFILL_CHUNK + 1, sizes),
            [PREFILL_CHUNK, 2 * PREFILL_CHUNK, 3 * PREFILL_CHUNK]
        );
        assert_eq!(chunk_ends(&[], PREFILL_CHUNK, sizes), [PREFILL_CHUNK]);
        assert_eq!(chunk_ends(&[0, 100, 110, 700], 750, sizes), [100, 100 + PREFILL_CHUNK, 700]);
        assert!(chunk_ends(&[5, 20, 31], 60, sizes).is_empty());
    }

    #[test]
    fn a_gpu_reads_long_chunks_first() {
        let sizes = ChunkSizes::on(DeviceKind::Metal);
        assert_eq!(chunk_ends(&[100], 9000, sizes), [100, 2148, 4196, 6244, 7268, 8292]);
    }

    proptest! {
        #[test]
        fn prompts_that_begin_alike_are_cut_alike(
            message_starts in prop::collection::btree_set(0usize..20_000, 0..40),
            ends in (0usize..20_000, 0usize..20_000),
            device in prop::sample::select(SIZES.to_vec()),
        ) {
            let sizes = ChunkSizes::on(device);
            let message_starts: Vec<usize> = message_starts.into_iter().collect();
            let (short, long) = (ends.0.min(ends.1), ends.0.max(ends.1));
            let all = chunk_ends(&message_starts, long, sizes);
            let alike: Vec<usize> = all.iter().copied().filter(|&end| end <= short).collect();
            prop_assert_eq!(chunk_ends(&message_starts, short, sizes), alike);
            let mut begin = 0;
            for end in all {
                prop_assert!((LEAST_GAIN..=sizes.at(begin)).contains(&(end - begin)), "{} to {}", begin, end);
                begin = end;
            }
            prop_assert!(long - begin < sizes.at(begin));
        }
    }
}
