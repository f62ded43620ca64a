//! The protocol between the shell and the engine process: the shell writes `Request`s to the engine's standard input,
//! the engine writes `Event`s to its standard output, each as one line of JSON.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{
    Constraint, Counters, ErrorReport, FinishReason, GenerationSettings, Input, KvPrecision, LiveStats,
    Looked, ModelInfo, Part, Priority, ReplyStats, RingView, StopScope, TokenLogprobs,
};

/// Chosen by whoever asks; answers carry it.
pub type RequestId = u64;

/// From the shell to the engine.
///
/// Requests are begun in the order in which they come. Replies are written side by side. A `Load` is begun when all
/// replies before it have ended; whoever does not want to wait for them cancels them. What comes after it waits for it.
/// A `Cancel` is heeded at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    /// Loads the model in a folder, in place of the one before. Answered by `Loading`, then `Loaded` or `Failed`. If it
    /// fails while the weights are read, no model is loaded.
    Load {
        /// Names the request.
        id: RequestId,
        /// A raw Hugging Face folder or a converted one.
        model: String,
        /// How to keep keys and values.
        #[serde(default)]
        kv_precision: KvPrecision,
        /// The folder of a draft model to load with it. Where it cannot be used, the model is loaded without, and its
        /// notes say why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        draft_model: Option<String>,
    },
    /// Writes a reply. Answered by `Prepared`, `Waiting`, `Reading`, `Tokens` and `Live`, then `Finished` or `Failed`.
    Generate {
        /// Names the request.
        id: RequestId,
        /// What it is written behind.
        #[serde(flatten)]
        input: Input,
        /// How to write it.
        settings: GenerationSettings,
        /// Tell how likely each token was, and this many most likely ones in its place, at most
        /// [`MAX_TOP_LOGPROBS`](crate::MAX_TOP_LOGPROBS).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        logprobs: Option<u32>,
        /// Where the texts of [`GenerationSettings::stop`] end it.
        #[serde(default)]
        stop_scope: StopScope,
        /// What binds it.
        #[serde(default, skip_serializing_if = "Constraint::is_none")]
        constraint: Box<Constraint>,
        /// Whether others come first.
        #[serde(default)]
        priority: Priority,
        /// What whoever asks predicts of it: drafts are taken from there too. It never changes the reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prediction: Option<String>,
        /// Keeps what is read for it on disk too, as this owner's, and looks there for what was kept; `None`: nothing
        /// of it is written to a disk.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remember: Option<u64>,
    },
    /// Counts the tokens that a reply would be written behind. Answered by `Counted`, with one number, or `Failed`.
    CountInput {
        /// Names the request.
        id: RequestId,
        /// What it would be written behind.
        #[serde(flatten)]
        input: Input,
        /// Whether the model would think first.
        thinking: bool,
    },
    /// Counts the tokens of texts as the loaded model reads them. Answered by `Counted` or `Failed`.
    Count {
        /// Names the request.
        id: RequestId,
        /// The texts.
        texts: Vec<String>,
    },
    /// Ends a request early, whether it waits or is at work. The `Finished` of a reply says `cancelled`, and so does
    /// the code in the `Failed` of any other request. Unknown ids are ignored.
    Cancel {
        /// The request to end.
        id: RequestId,
    },
}

impl Request {
    /// Its name, or in a `Cancel` the name of what it ends.
    pub fn id(&self) -> RequestId {
        match *self {
            Self::Load { id, .. }
            | Self::Generate { id, .. }
            | Self::Count { id, .. }
            | Self::CountInput { id, .. }
            | Self::Cancel { id } => id,
        }
    }
}

/// The text that one token added to a reply. Empty while a character is still incomplete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct TokenText {
    /// What became readable with this token.
    pub text: String,
    /// Which part of the reply it belongs to.
    pub part: Part,
    /// 1 for a token that was accepted as the first draft of a step, 2 for the second …; `None` for the model's own.
    pub draft_position: Option<u8>,
}

/// From the engine to the shell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The engine runs and reads requests. Sent once, first.
    Ready {
        /// The engine's version.
        version: String,
        /// What computes: `metal`, `cuda` or `cpu`.
        device: String,
    },
    /// The thread that computes has finished a piece of work: some layers over a piece of a prompt, a step, a tensor;
    /// or it waits until others have made a prompt. It says so itself, a few times a second, while it writes replies or
    /// loads. From a thread that is stuck nothing comes, whatever the others of the process do.
    Heartbeat,
    /// A model is being loaded.
    Loading {
        /// The `Load` request.
        id: RequestId,
        /// Bytes of weights read.
        done: u64,
        /// Bytes of weights to read.
        total: u64,
    },
    /// A model is ready.
    Loaded {
        /// The `Load` request.
        id: RequestId,
        /// What was loaded.
        model: Box<ModelInfo>,
    },
    /// Texts were counted.
    Counted {
        /// The `Count` request.
        id: RequestId,
        /// The tokens of each text.
        tokens: Vec<u32>,
    },
    /// The prompt is made, and is read next unless it is too long.
    Prepared {
        /// The `Generate` request.
        id: RequestId,
        /// Tokens of the prompt.
        tokens: u32,
        /// Tokens that the model can read and write in all.
        context: u32,
        /// Tools that must be called, and whose schemas cannot be enforced: any arguments may come.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unbound_tools: Vec<String>,
    },
    /// Others must end, or their prompts be read, before the prompt is. Sent again when the number changes.
    Waiting {
        /// The `Generate` request.
        id: RequestId,
        /// Replies that come before it.
        ahead: u32,
    },
    /// The prompt is being read.
    Reading {
        /// The `Generate` request.
        id: RequestId,
        /// Tokens read so far.
        done: u32,
        /// Tokens of the prompt.
        total: u32,
    },
    /// The pictures of the prompt go through the vision tower, before what stands around them is read.
    Looking {
        /// The `Generate` request.
        id: RequestId,
        /// How far they have come.
        looked: Looked,
    },
    /// A step's new text.
    Tokens {
        /// The `Generate` request.
        id: RequestId,
        /// At least one entry a token: a token may touch both parts.
        tokens: Vec<TokenText>,
        /// One entry a token where the request asks for it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        logprobs: Vec<TokenLogprobs>,
    },
    /// The numbers so far, a few times a second.
    Live {
        /// The `Generate` request.
        id: RequestId,
        /// Since the first token.
        stats: LiveStats,
    },
    /// A reply is complete.
    Finished {
        /// The `Generate` request.
        id: RequestId,
        /// Why it ended.
        reason: FinishReason,
        /// The stop text that ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop: Option<String>,
        /// What it took.
        stats: Box<ReplyStats>,
    },
    /// What the engine has done since the model was loaded. Sent behind the end of each reply.
    Counters {
        /// All counts.
        #[serde(flatten)]
        counters: Counters,
    },
    /// The Macs that compute the model together have worked: a few times a second, where there are others.
    Ring {
        /// As they are now.
        #[serde(flatten)]
        ring: RingView,
    },
    /// A request failed. What was sent for it before stands.
    Failed {
        /// The request; `None` if it could not be read, in place of `Ready` if what computes cannot be used, and where
        /// another Mac is lost: the process ends then.
        id: Option<RequestId>,
        /// Why.
        error: ErrorReport,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TokenLogprob;

    /// Who reads what an engine writes relies on them.
    #[test]
    fn the_lines_about_a_request_are_these() {
        let token = TokenText { text: "Hi".into(), part: Part::Answer, draft_position: Some(1) };
        let own = TokenText { text: "\n".into(), part: Part::Thinking, draft_position: None };
        let logprob = TokenLogprob { id: 7, text: "Hi".into(), bytes: vec![72, 105], logprob: -0.5 };
        let logprobs = TokenLogprobs { token: logprob.clone(), top: vec![logprob] };
        let live =
            LiveStats { tokens_per_second: 12.5, tokens_per_pass: 1.5, acceptance: None, passes: vec![0, 1] };
        let error = ErrorReport { code: "a".into(), message: "B.".into(), hint: "C.".into() };
        let finished = format!(
            r#"{{"type":"finished","id":3,"reason":"stop","stats":{}}}"#,
            serde_json::to_string(&ReplyStats::default()).unwrap()
        );
        for (event, line) in [
            (Event::Counted { id: 3, tokens: vec![5, 0] }, r#"{"type":"counted","id":3,"tokens":[5,0]}"#),
            (
                Event::Prepared { id: 3, tokens: 9, context: 64, unbound_tools: Vec::new() },
                r#"{"type":"prepared","id":3,"tokens":9,"context":64}"#,
            ),
            (Event::Waiting { id: 3, ahead: 2 }, r#"{"type":"waiting","id":3,"ahead":2}"#),
            (Event::Reading { id: 3, done: 5, total: 9 }, r#"{"type":"reading","id":3,"done":5,"total":9}"#),
            (
                Event::Looking { id: 3, looked: Looked { done: 13, total: 24 } },
                r#"{"type":"looking","id":3,"looked":{"done":13,"total":24}}"#,
            ),
            (
                Event::Tokens { id: 3, tokens: vec![token.clone(), own], logprobs: Vec::new() },
                concat!(
                    r#"{"type":"tokens","id":3,"tokens":[{"text":"Hi","part":"answer","draft_position":1},"#,
                    r#"{"text":"\n","part":"thinking","draft_position":null}]}"#
                ),
            ),
            (
                Event::Tokens { id: 3, tokens: vec![token], logprobs: vec![logprobs] },
                concat!(
                    r#"{"type":"tokens","id":3,"tokens":[{"text":"Hi","part":"answer","draft_position":1}],"#,
                    r#""logprobs":[{"id":7,"text":"Hi","bytes":[72,105],"logprob":-0.5,"#,
                    r#""top":[{"id":7,"text":"Hi","bytes":[72,105],"logprob":-0.5}]}]}"#
                ),
            ),
            (
                Event::Live { id: 3, stats: live },
                concat!(
                    r#"{"type":"live","id":3,"#,
                    r#""stats":{"tokens_per_second":12.5,"tokens_per_pass":1.5,"acceptance":null,"#,
                    r#""passes":[0,1]}}"#
                ),
            ),
            (
                Event::Finished { id: 3, reason: FinishReason::Stop, stop: None, stats: Box::default() },
                &finished,
            ),
            (
                Event::Failed { id: Some(3), error },
                r#"{"type":"failed","id":3,"error":{"code":"a","message":"B.","hint":"C."}}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&event).unwrap(), line);
            assert_eq!(serde_json::from_str::<Event>(line).unwrap(), event);
        }
    }
}
