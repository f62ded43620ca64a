//! A set of byte ranges of one file: which bytes a download has on the disk, and which are still to be fetched.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The parts of a file that are on the disk: in order, neither touching nor overlapping.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds a part, which may touch or overlap others.
    pub(crate) fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let from = self.0.partition_point(|&(_, end)| end < range.start);
        let to = self.0.partition_point(|&(start, _)| start <= range.end);
        let merged = self.0[from..to]
            .iter()
            .fold((range.start, range.end), |whole, part| (whole.0.min(part.0), whole.1.max(part.1)));
        self.0.splice(from..to, [merged]);
    }

    /// Bytes in all parts.
    pub(crate) fn total(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// Where the part that begins at zero ends.
    pub(crate) fn prefix(&self) -> u64 {
        self.0.first().filter(|(start, _)| *start == 0).map_or(0, |(_, end)| *end)
    }

    /// Where the last part ends.
    pub(crate) fn end(&self) -> u64 {
        self.0.last().map_or(0, |(_, end)| *end)
    }

    /// What is missing of a file of `size` bytes, in pieces of at most `longest`.
    pub(crate) fn missing(&self, size: u64, longest: u64) -> Vec<Range<u64>> {
        let mut pieces = Vec::new();
        let mut at = 0;
        for &(start, end) in self.0.iter().chain([&(size, size)]) {
            while at < start {
                let piece_end = start.min(at + longest);
                pieces.push(at..piece_end);
                at = piece_end;
            }
            at = at.max(end);
        }
        pieces
    }

    /// Whether the parts are in order and within a file of `size` bytes.
    pub(crate) fn are_sound(&self, size: u64) -> bool {
        self.0.iter().all(|(start, end)| start < end)
            && self.0.windows(2).all(|pair| pair[0].1 < pair[1].0)
            && self.end() <= size
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_say_what_a_bitmap_says(
            parts in prop::collection::vec((0u64..200, 0u64..40), 0..40),
            longest in 1u64..50,
        ) {
            let size = 240;
            let mut bitmap = vec![false; size as usize];
            let mut ranges = Ranges::default();
            for (start, length) in parts {
                ranges.insert(start..start + length);
                bitmap[start as usize..(start + length) as usize].fill(true);
                prop_assert!(ranges.are_sound(size));
            }
            prop_assert_eq!(ranges.total(), bitmap.iter().filter(|&&set| set).count() as u64);
            prop_assert_eq!(ranges.prefix(), bitmap.iter().take_while(|&&set| set).count() as u64);
            for piece in ranges.missing(size, longest) {
                prop_assert!(!piece.is_empty() && piece.end - piece.start <= longest);
                for byte in piece {
                    prop_assert!(!std::mem::replace(&mut bitmap[byte as usize], true));
                }
            }
            prop_assert!(bitmap.iter().all(|&set| set));
        }
    }
}
