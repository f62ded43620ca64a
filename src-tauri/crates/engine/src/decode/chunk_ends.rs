//! Where the prefill of a prompt is cut into chunks, as positions in its tokens: a function of the prompt alone, so
//! that prompts that begin alike are cut alike and can share what the prefix cache stores.

use crate::cache::LEAST_GAIN;
use crate::memory::PREFILL_CHUNK;

/// Where the reading of a prompt is cut into chunks, up to and perhaps with `end`: where messages begin
/// (`message_starts`, in order), and wherever a chunk would be longer than [`PREFILL_CHUNK`].
///
/// Prompts that begin alike are cut at the same places as long as they do, whatever the store holds. So a prompt that
/// goes on from a stored place reads the rest just as it would have, had it read everything.
pub(super) fn chunk_ends(message_starts: &[usize], end: usize) -> Vec<usize> {
    let mut chunk_ends = Vec::new();
    let mut last = 0;
    for &start in message_starts.iter().filter(|&&start| start <= end) {
        fill(&mut chunk_ends, &mut last, start);
        // A shorter chunk would cost more than it may ever save.
        if start >= last + LEAST_GAIN {
            chunk_ends.push(start);
            last = start;
        }
    }
    fill(&mut chunk_ends, &mut last, end);
    chunk_ends
}

/// Cuts after every [`PREFILL_CHUNK`] tokens, up to `end`.
fn fill(chunk_ends: &mut Vec<usize>, last: &mut usize, end: usize) {
    while end >= *last + PREFILL_CHUNK {
        *last += PREFILL_CHUNK;
        chunk_ends.push(*last);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn chunks_end_where_messages_begin() {
        assert_eq!(
            chunk_ends(&[], 3 * PREFILL_CHUNK + 1),
            [PREFILL_CHUNK, 2 * PREFILL_CHUNK, 3 * PREFILL_CHUNK]
        );
        assert_eq!(chunk_ends(&[], PREFILL_CHUNK), [PREFILL_CHUNK]);
        assert_eq!(chunk_ends(&[0, 100, 110, 700], 750), [100, 100 + PREFILL_CHUNK, 700]);
        assert!(chunk_ends(&[5, 20, 31], 60).is_empty());
    }

    proptest! {
        #[test]
        fn prompts_that_begin_alike_are_cut_alike(
            message_starts in prop::collection::btree_set(0usize..3000, 0..40),
            ends in (0usize..3000, 0usize..3000),
        ) {
            let message_starts: Vec<usize> = message_starts.into_iter().collect();
            let (short, long) = (ends.0.min(ends.1), ends.0.max(ends.1));
            let all = chunk_ends(&message_starts, long);
            let alike: Vec<usize> = all.iter().copied().filter(|&end| end <= short).collect();
            prop_assert_eq!(chunk_ends(&message_starts, short), alike);
            let chunks: Vec<usize> = all.iter().zip([&0].into_iter().chain(&all)).map(|(b, a)| b - a).collect();
            prop_assert!(chunks.iter().all(|chunk| (LEAST_GAIN..=PREFILL_CHUNK).contains(chunk)), "{:?}", chunks);
            prop_assert!(long - all.last().unwrap_or(&0) < PREFILL_CHUNK);
        }
    }
}
