use serde::{Deserialize, Serialize};
use specta::Type;

/// A stretch of text whose tokens came from the same place of the chain of drafts: how many characters (Unicode scalar
/// values) it has, and the place, from 1; 0 for the model's own tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DraftRun(pub u32, pub u8);

/// Where the text of a reply came from, each part from its first character on. Text behind the last stretch is the
/// model's own, as far as is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Provenance {
    /// Of the thinking.
    pub thinking: Vec<DraftRun>,
    /// Of the answer.
    pub answer: Vec<DraftRun>,
}
