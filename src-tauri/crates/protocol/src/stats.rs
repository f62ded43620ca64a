use serde::{Deserialize, Serialize};
use specta::Type;

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

/// The numbers under a reply while it streams.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
pub struct LiveStats {
    /// Emitted tokens per second of decoding.
    pub tokens_per_second: f64,
    /// Emitted tokens per forward pass of the model; plain decoding is exactly 1.
    pub tokens_per_pass: f64,
    /// Accepted over drafted, all positions; `None` before anything was drafted.
    pub acceptance: Option<f64>,
}

/// What one reply took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct ReplyStats {
    /// Tokens of the rendered prompt.
    pub prompt_tokens: u32,
    /// Of those, how many were already in a cache.
    pub cached_tokens: u32,
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
    /// Part of decoding in which the host built graphs and handled tokens.
    pub host_seconds: f64,
    /// The most memory MLX held since the reply, or one that it shared steps with, was begun.
    pub peak_memory_bytes: u64,
    /// Drafts by position.
    pub positions: Vec<PositionStats>,
    /// The seed that was used.
    pub seed: u64,
    /// Why drafts were not used, or not all the time, in a few words.
    pub drafting_note: Option<String>,
}
