//! What is asked of a row: prompt, sampling, limits, and for tests its drafts.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

use foretoken_protocol::{Priority, Sampling};
use serde::Serialize;

use foretoken_pictures::PixelsFile;

use crate::constrain::Constraint;
use crate::model::ImageSpan;

/// Names a row of a batch.
pub type RowId = u64;

/// What is asked of a row.
#[derive(Debug, Clone)]
pub struct RowSpec {
    /// The prompt's tokens, at least one.
    pub prompt: Vec<u32>,
    /// The pictures among them, in order.
    pub pictures: Vec<PromptPicture>,
    /// Index in the prompt at which the reply begins that is continued; the prompt's length for a new reply.
    pub reply_from: usize,
    /// How tokens are drawn.
    pub sampling: Sampling,
    /// Decides all noise.
    pub seed: u64,
    /// Tokens that XTC never excludes.
    pub xtc_exempt: Vec<u32>,
    /// Emit at most this many, at least one.
    pub max_tokens: usize,
    /// Tokens that end the reply.
    pub stop_ids: Vec<u32>,
    /// Positions where messages begin, in order: where later prompts may part from this one, and so where its reading
    /// is cut.
    pub message_starts: Vec<usize>,
    /// The fewest and the most tokens of a step, for devices that give a token other bits in narrower and in wider
    /// ones: it takes part with as many at least, filler making up for what its drafts leave open, and drafts for no
    /// more.
    pub widths: RangeInclusive<usize>,
    /// Whether drafts may be used. The MTP head reads along in any case, for prompts that go on where this row ends.
    pub drafts: bool,
    /// Where set, log-probabilities are reported of the emitted tokens and of this many most likely tokens at each
    /// position.
    pub logprobs: Option<usize>,
    /// What binds its tokens.
    pub constraint: Option<Constraint>,
    /// Whether others come first.
    pub priority: Priority,
    /// Whose what is read of it is, where that is kept on disk too.
    pub remember: Option<u64>,
    /// What whoever asks predicts of the reply: look-up drafts from it too. It never changes the reply.
    pub prediction: Arc<[u32]>,
    /// Drafts to use in place of the head's, for measuring and testing.
    pub known_drafts: Option<KnownDrafts>,
}

/// A picture in a prompt.
#[derive(Debug, Clone)]
pub struct PromptPicture {
    /// Where its tokens are.
    pub span: ImageSpan,
    /// Tells it from all others, and from every token of the vocabulary.
    pub key: u32,
    /// What is to be seen; the file stays as it is until the row has read it.
    pub pixels: Arc<PixelsFile>,
    /// What the MTP head reads of it.
    pub head_input: HeadInput,
}

/// What the MTP head reads in the place of a picture's tokens, beside the hidden states of the trunk. Either is exact;
/// how many drafts are accepted may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadInput {
    /// What the trunk reads: the features of the picture.
    #[default]
    Features,
    /// The embedding of the token that stands for pictures.
    Placeholders,
}

impl RowSpec {
    /// The tokens of a row with this prompt, as beginnings of prompts are told apart by: those of a picture, which are
    /// all alike, say which one it is.
    pub fn keys<'a>(&self, tokens: &'a [u32]) -> Cow<'a, [u32]> {
        if self.pictures.is_empty() {
            return Cow::Borrowed(tokens);
        }
        let mut keys = tokens.to_vec();
        for PromptPicture { span, key, .. } in &self.pictures {
            let range = span.range();
            keys[range.start.min(tokens.len())..range.end.min(tokens.len())].fill(*key);
        }
        Cow::Owned(keys)
    }
}

/// A known continuation that stands in for what the MTP head would have drafted, right with a given rate. The head
/// runs all the same, so a step costs what it costs.
#[derive(Debug, Clone)]
pub struct KnownDrafts {
    /// The tokens after the prompt.
    pub continuation: Vec<u32>,
    /// Share of drafts that are right, 0 to 1.
    pub rate: f64,
}

impl KnownDrafts {
    /// The draft for the token at `index` of the reply: a pure function, so that runs can be repeated.
    pub fn draft(&self, index: usize) -> u32 {
        let right = self.continuation.get(index).copied().unwrap_or(0);
        // The multiples of the golden ratio modulo 1, a low-discrepancy sequence, keep the share right over any
        // stretch.
        let u = (index as f64 * 0.618_033_988_749_895).fract();
        if u < self.rate { right } else { right.checked_sub(1).unwrap_or(1) }
    }
}
