//! The statistics of a reply, while it is decoded and at its end: tokens per second and per pass, seconds of prefill,
//! drafting, verification and sampling, accepted drafts by position, and peak memory in bytes.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::Sampling;
use crate::drafting_note::{self, DraftingNote};

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model ended it, or a stop text appeared.
    Stop,
    /// The token budget or the context ran out.
    Length,
    /// It was cancelled.
    Cancelled,
    /// Something failed; what was written until then stands.
    Error,
}

/// Drafts at one position of the chain (the first entry is position 1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct PositionStats {
    /// Steps that verified a draft at this position.
    pub drafted: u32,
    /// Of those, how many drafts equalled what the model emits.
    pub accepted: u32,
}

impl PositionStats {
    /// Adds a step that verified `drafted` drafts of which the first `accepted` were accepted.
    pub fn count(positions: &mut Vec<Self>, drafted: usize, accepted: usize) {
        positions.resize(positions.len().max(drafted), Self::default());
        for (i, position) in positions.iter_mut().enumerate() {
            position.drafted += u32::from(i < drafted);
            position.accepted += u32::from(i < accepted);
        }
    }
}

/// What an engine has done beside writing since its model was loaded, to be seen in a report or a benchmark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// How often a request was preempted: it had to wait again for want of memory.
    pub preemptions: u64,
    /// Bytes of preempted rows that were written to files.
    pub swapped_out_bytes: u64,
    /// Bytes of them that were read back.
    pub swapped_in_bytes: u64,
    /// Prompts that were looked up in the prefix cache.
    pub prefix_lookups: u64,
    /// Of those, how many went on behind what it had.
    pub prefix_hits: u64,
    /// Tokens that these did not have to read.
    pub prefix_hit_tokens: u64,
    /// Steps that were made with other draft depths than the best known ones, to learn.
    pub probes: u64,
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        let Self {
            preemptions,
            swapped_out_bytes,
            swapped_in_bytes,
            prefix_lookups,
            prefix_hits,
            prefix_hit_tokens,
            probes,
        } = other;
        self.preemptions += preemptions;
        self.swapped_out_bytes += swapped_out_bytes;
        self.swapped_in_bytes += swapped_in_bytes;
        self.prefix_lookups += prefix_lookups;
        self.prefix_hits += prefix_hits;
        self.prefix_hit_tokens += prefix_hit_tokens;
        self.probes += probes;
    }
}

/// The numbers under a reply while it streams: means over its last two seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct LiveStats {
    /// Emitted tokens per second of decoding.
    pub tokens_per_second: f64,
    /// Emitted tokens per forward pass of the model; plain decoding is exactly 1.
    pub tokens_per_pass: f64,
    /// Accepted over drafted, all positions; `None` where nothing was drafted.
    pub acceptance: Option<f64>,
    /// Accepted drafts of each of the last passes, the newest last; at most [`RECENT_PASSES`].
    pub passes: Vec<u32>,
}

/// Passes that are told one by one: those that the pulse beside the numbers has columns for.
pub const RECENT_PASSES: usize = 22;

/// The passes that wrote one part of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct PartStats {
    /// Tokens that they emitted, the stop token not counted.
    pub emitted: u32,
    /// How many passes.
    pub steps: u32,
    /// Drafts that they verified.
    pub drafted: u32,
    /// Of those, how many were accepted.
    pub accepted: u32,
    /// From the first token to the end of the last of these passes, waiting for others included. A reply that is
    /// continued after this part keeps the time.
    pub seconds: f64,
    /// Whether it was cut where its budget was used up.
    pub cut: bool,
}

/// How many drafts the passes of a reply verified, from its first pass to its last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct DepthTrace {
    /// Passes that one entry stands for; the last one may stand for fewer.
    pub steps_per_entry: u32,
    /// The mean number of drafts in a pass.
    pub depths: Vec<f32>,
}

/// How a speed of plain decoding came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum PlainSource {
    /// A measurement of the model by itself.
    Tune,
    /// Replies that were written without drafts.
    Replies,
}

/// How fast a model decodes without drafts, measured on the machine, with the kind of sampling and at the context of
/// the reply that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
pub struct PlainSpeed {
    /// Tokens per second.
    pub tokens_per_second: f64,
    /// What was measured.
    pub source: PlainSource,
    /// When it was measured last, milliseconds since 1970.
    pub measured_at: u64,
}

/// What drafts and neighbours leave of a reply that is written again with its seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Exactness {
    /// The same text, token by token, as any other that this is promised of, behind a prompt that was read alike: out
    /// of the same parts of the prefix cache.
    Bitwise,
    /// A text drawn from the same distribution.
    Distribution,
}

/// Pictures of a chat that a reply was written without, by why. The engine does not know them; the shell does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct UnseenPictures {
    /// The model reads text alone.
    pub no_sight: u32,
    /// The context had no room for them.
    pub no_room: u32,
    /// Their files are gone.
    pub missing: u32,
    /// Their files could not be decoded.
    pub undecoded: u32,
}

/// What one reply took. What an older version did not measure is zero or empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct ReplyStats {
    /// Tokens of the rendered prompt.
    pub prompt_tokens: u32,
    /// Of those, how many were already in a cache.
    pub cached_tokens: u32,
    /// Pictures in the prompt.
    pub pictures: u32,
    /// Of the tokens in the prompt, how many stand for pictures.
    pub picture_tokens: u32,
    /// Pictures of the chat that it was written without.
    pub unseen: UnseenPictures,
    /// Part of the time spent on the prompt in which pictures went through the vision tower.
    pub tower_seconds: f64,
    /// Tokens that the model emitted, the stop token not counted.
    pub emitted: u32,
    /// Forward passes of the model that emitted them, the first token's included.
    pub steps: u32,
    /// Tokens emitted per forward pass, the stop token counted; plain decoding is exactly 1.
    pub tokens_per_pass: f64,
    /// Tokens per second of decoding, the first token excluded from both.
    pub tokens_per_second: f64,
    /// Time spent on the prompt, waiting for others not counted.
    pub prefill_seconds: f64,
    /// From the first token to the last.
    pub decode_seconds: f64,
    /// From the request to the first token.
    pub time_to_first_token_seconds: f64,
    /// Part of decoding spent in the MTP head.
    pub draft_seconds: f64,
    /// Part of decoding spent in the model's own passes.
    pub verify_seconds: f64,
    /// Part of decoding spent in drawing tokens and judging drafts.
    pub sample_seconds: f64,
    /// Part of decoding in which the host built graphs and handled tokens.
    pub host_seconds: f64,
    /// The most memory MLX held since the reply, or one that it shared steps with, was begun.
    pub peak_memory_bytes: u64,
    /// Memory that the chat takes while it is remembered as it stood at the end: keys, values and states.
    pub chat_bytes: u64,
    /// Passes that were made together with other replies, which slows each of them.
    pub shared_steps: u32,
    /// Drafts by position.
    pub positions: Vec<PositionStats>,
    /// Those of them that were looked up in the text, at all positions.
    pub looked_up: PositionStats,
    /// Those of them that were taken from what whoever asked predicts of the reply; `None` where nothing was predicted.
    pub predicted: Option<PositionStats>,
    /// Those of them that a draft model guessed, at all positions.
    pub by_draft_model: PositionStats,
    /// Tokens that the form of the answer dictated and the model only confirmed; none of the drafts above.
    pub forced: u32,
    /// Drafts that the form of the answer did not allow, and those behind them; among the drafts above.
    pub refused_drafts: u32,
    /// The part of all this that went into thinking. The pass in which the thinking ends belongs to it.
    pub thinking: PartStats,
    /// What is promised of the text, whatever was drafted and whoever was written beside it; `None` where the engine
    /// did not say.
    pub exact: Option<Exactness>,
    /// How far was drafted as the reply went on.
    pub depth: DepthTrace,
    /// Accepted drafts of each of the last passes, the newest last; at most [`RECENT_PASSES`].
    pub passes: Vec<u32>,
    /// How tokens were drawn.
    pub sampling: Sampling,
    /// The seed that was used.
    pub seed: u64,
    /// Why drafts were not used, or not all the time.
    #[serde(deserialize_with = "drafting_note::known")]
    #[specta(type = Option<DraftingNote>)]
    pub drafting_note: Option<DraftingNote>,
    /// The version of the program.
    pub version: String,
    /// What the same reply could have been compared with when it ended. The engine does not know it; the shell does.
    pub plain: Option<PlainSpeed>,
}
