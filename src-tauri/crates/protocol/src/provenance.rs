//! Which characters of a reply came from accepted drafts, as runs of characters with the position of their draft.

use serde::{Deserialize, Serialize};
use specta::Type;

/// A stretch of text whose tokens came from the same place of the chain of drafts: how many characters (Unicode scalar
/// values) it has, and the place, from 1; 0 for the model's own tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DraftRun(pub u32, pub u8);

impl DraftRun {
    /// Adds the stretch at the end of `runs`; neighbours from the same place become one.
    pub fn add_to(self, runs: &mut Vec<Self>) {
        let Self(count, position) = self;
        match runs.last_mut() {
            _ if count == 0 => {}
            Some(last) if last.1 == position => last.0 += count,
            _ => runs.push(self),
        }
    }
}

/// Where the text of a reply came from, each part from its first character on. Text behind the last stretch is the
/// model's own, as far as is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Provenance {
    /// Of the thinking.
    pub thinking: Vec<DraftRun>,
    /// Of the answer.
    pub answer: Vec<DraftRun>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_from_the_same_place_are_one_stretch() {
        let mut runs = Vec::new();
        for run in [(0, 3), (2, 1), (3, 1), (0, 2), (1, 1), (4, 0), (1, 1)] {
            DraftRun(run.0, run.1).add_to(&mut runs);
        }
        assert_eq!(runs, [DraftRun(6, 1), DraftRun(4, 0), DraftRun(1, 1)]);
    }
}
