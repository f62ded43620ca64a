//! Counts of tokens of before. Programs ask for the same ones dozens at a time when they start.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex, PoisonError};

/// How many counts are remembered.
const MOST: usize = 256;

/// The last counts, by a hash of what they are of. Nothing of that is kept.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    hasher: RandomState,
    /// Hashes and their tokens, the one asked for last in front.
    counts: Mutex<VecDeque<(Key, u32)>>,
}

/// What a count is of, hashed with a number that nobody outside this process knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key(u64);

impl Counted {
    /// The key of what is counted, which is all that the count depends on.
    pub(crate) fn key(&self, of: impl Hash) -> Key {
        Key(self.hasher.hash_one(of))
    }

    /// The tokens that were counted before.
    pub(crate) fn get(&self, key: Key) -> Option<u32> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let index = counts.iter().position(|(other, _)| *other == key)?;
        let found = counts.remove(index)?;
        counts.push_front(found);
        Some(found.1)
    }

    /// Remembers a count in the place of the one that was asked for least recently.
    pub(crate) fn remember(&self, key: Key, tokens: u32) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.push_front((key, tokens));
        counts.truncate(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_counts_are_known_by_all_that_they_depend_on_and_none_holds_a_text() {
        let counted = Counted::default();
        let key = |body: &str, model: &str| counted.key((body, model, Some(true)));
        counted.remember(key("Mtskheta", "a"), 7);
        assert_eq!(counted.get(key("Mtskheta", "a")), Some(7));
        assert_eq!((counted.get(key("Mtskheta", "b")), counted.get(key("Mtskhet", "aa"))), (None, None));
        assert!(!format!("{counted:?}").contains("Mtskheta"));
        for other in 0..MOST - 1 {
            counted.remember(key(&other.to_string(), "a"), 1);
        }
        assert_eq!(counted.get(key("Mtskheta", "a")), Some(7), "it is the last of those that fit");
        counted.remember(key("more", "a"), 1);
        assert_eq!((counted.get(key("Mtskheta", "a")), counted.get(key("0", "a"))), (Some(7), None));
    }
}
