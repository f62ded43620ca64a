//! How fast models are here: what was measured and when, and one question answered without drafts and with them.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::drafting_note::{self, DraftingNote};
use crate::{Drafting, FinishReason, KvPrecision, MessageId, Part, PositionStats, ReplyStats, Sampling};

/// A figure over all runs of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
pub struct Spread {
    /// Half of the runs are below.
    pub median: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

/// What kind of text is decoded. Drafts are right more often the more a text is expected, or repeats another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// A story, a letter, an explanation.
    Prose,
    /// A function, a test, a change to a file.
    Code,
    /// Not told apart, as before versions that do.
    Any,
}

/// Which kinds of text a benchmark decodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum TextChoice {
    /// Prose and code, apart.
    #[default]
    Both,
    /// Prose alone.
    Prose,
    /// Code alone.
    Code,
}

impl TextChoice {
    /// The kinds of text, in the order in which they are decoded.
    pub fn kinds(self) -> &'static [TextKind] {
        match self {
            Self::Both => &[TextKind::Prose, TextKind::Code],
            Self::Prose => &[TextKind::Prose],
            Self::Code => &[TextKind::Code],
        }
    }
}

/// What a benchmark measures. Plain decoding and the memory it takes are always measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct BenchmarkPlan {
    /// Which kinds of text; before versions that tell them apart there was no choice.
    #[serde(default)]
    pub texts: TextChoice,
    /// Decoding with 1, 2 and 3 drafts of the MTP head, with its draft model, with those that look-up finds, and with
    /// as many as pay.
    pub drafts: bool,
    /// Reading a long prompt.
    pub prompt: bool,
    /// More and longer runs.
    pub thorough: bool,
}

/// Decoding with this many drafts a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct DepthSpeed {
    /// Drafts a step; 0 is plain decoding.
    pub depth: u8,
    /// Decoded tokens per second.
    pub tokens_per_second: Spread,
    /// Over plain decoding in the same run.
    pub speed_up: Option<Spread>,
    /// Decoded tokens per forward pass; plain decoding is exactly 1.
    pub tokens_per_pass: Spread,
    /// Drafts by position, over all runs.
    pub positions: Vec<PositionStats>,
}

/// Decoding with as many drafts as pay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct AutoSpeed {
    /// Decoded tokens per second.
    pub tokens_per_second: Spread,
    /// Over plain decoding in the same run.
    pub speed_up: Option<Spread>,
    /// Decoded tokens per forward pass.
    pub tokens_per_pass: Spread,
    /// Why no drafts were used in the end, if none were.
    #[serde(default, deserialize_with = "drafting_note::known")]
    #[specta(type = Option<DraftingNote>)]
    pub note: Option<DraftingNote>,
}

/// Decoding texts of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct TextSpeed {
    /// Which kind it is.
    pub kind: TextKind,
    /// By depth, plain decoding first.
    pub depths: Vec<DepthSpeed>,
    /// With the draft model, by depth; empty where none was loaded.
    #[serde(default)]
    pub dflash: Vec<DepthSpeed>,
    /// With as many drafts as pay; `None` where none were measured.
    pub auto: Option<AutoSpeed>,
    /// With what look-up finds, as far as it pays; `None` where that was not measured.
    #[serde(default)]
    pub lookup: Option<AutoSpeed>,
}

/// The machine that a benchmark ran on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct MachineName {
    /// What its maker calls the processor; empty if the system does not say.
    pub chip: String,
    /// Memory in bytes; 0 if the system does not say.
    pub ram_bytes: u64,
}

/// Names a benchmark by its `measured_at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct BenchmarkId(pub u64);

/// What a benchmark found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Benchmark {
    /// When it ended, milliseconds since 1970. Also names it: no two have the same.
    pub measured_at: u64,
    /// The model's short name.
    pub model: String,
    /// Data type or quantization of its weights.
    pub format: String,
    /// How keys and values were kept; before versions that tell, as computed.
    #[serde(default)]
    pub kv_precision: KvPrecision,
    /// The version of the app.
    pub app_version: String,
    /// The machine.
    pub machine: MachineName,
    /// What computed: `metal`, `cuda` or `cpu`.
    pub device: String,
    /// Whether the machine was hot or saved energy meanwhile, and is faster at other times.
    #[serde(default)]
    pub strained: bool,
    /// What was asked for.
    pub plan: BenchmarkPlan,
    /// Runs that count.
    pub runs: u32,
    /// Tokens decoded in each way of each kind of text in each run.
    pub gen_tokens: u32,
    /// Length of the prompt that was read.
    pub prompt_tokens: u32,
    /// Decoding, by the kind of text.
    pub texts: Vec<TextSpeed>,
    /// Tokens of the prompt read per second; `None` where only a short one was read, in passing.
    pub prefill_tokens_per_second: Option<Spread>,
    /// The most memory that the model held while it read and decoded.
    pub peak_memory_bytes: Spread,
    /// From the folder to a model that can be asked.
    pub load_seconds: Spread,
}

/// All benchmarks that are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct BenchmarkHistory {
    /// Oldest first.
    pub benchmarks: Vec<Benchmark>,
    /// This machine.
    pub machine: MachineName,
    /// Lines of the file that cannot be read; they stay in it.
    pub unreadable: u32,
}

/// How the history is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum BenchmarkFormat {
    /// Everything, as a JSON list.
    Json,
    /// A line for each way to decode each kind of text in each benchmark, for spreadsheets.
    Csv,
}

/// What is answered without drafts and with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum ComparisonSource {
    /// A question of a chat, with all that was said before it and with the chat's settings. Unless they fix a seed, it
    /// is that of the reply which is shown.
    Message {
        /// The question.
        message: MessageId,
    },
    /// A question by itself, with the app's settings.
    Prompt {
        /// The question.
        text: String,
    },
}

/// How far a comparison has come; a few times a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum ComparisonProgress {
    /// The prompt is being read, once for both.
    Reading {
        /// Tokens read so far.
        done: u32,
        /// Tokens of the prompt.
        total: u32,
    },
    /// A reply is being written.
    Writing {
        /// Whether it is the one with drafts.
        drafts: bool,
        /// Tokens so far.
        tokens: u32,
    },
}

/// What a token added to a reply, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct TimedToken {
    /// Milliseconds since the first token of the reply.
    pub at: f64,
    /// What became readable with it.
    pub text: String,
    /// Which part of the reply it belongs to.
    pub part: Part,
    /// Its place in the chain of drafts; `None` for the model's own.
    pub draft_position: Option<u8>,
}

/// A reply of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct ComparedReply {
    /// Its text.
    pub tokens: Vec<TimedToken>,
    /// Why it ended.
    pub reason: FinishReason,
    /// What it took.
    pub stats: ReplyStats,
}

/// How the texts of a comparison relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum ComparisonVerdict {
    /// They are the same, token for token.
    Equal,
    /// They should be the same, and are not.
    Different {
        /// How many tokens are the same before the first that is not.
        after: u32,
    },
    /// They are not the same and need not be: the device rounds otherwise in steps of another width.
    Rounded {
        /// How many tokens are the same before the first that is not.
        after: u32,
    },
    /// They need not be the same: with the rejection rule only the chances of each word are.
    SameChances,
}

/// One question answered twice with the same settings and seed, one after the other: without drafts, then with them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Comparison {
    /// The question.
    pub question: String,
    /// The model.
    pub model: String,
    /// The settings of both, with the seed.
    pub sampling: Sampling,
    /// How the second reply was drafted.
    pub drafting: Drafting,
    /// Without drafts.
    pub plain: ComparedReply,
    /// With drafts.
    pub drafted: ComparedReply,
    /// How their texts relate.
    pub verdict: ComparisonVerdict,
}
