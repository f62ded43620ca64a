//! Messages that cross a process (shell ↔ engine) or the bridge (shell ↔ page).
//!
//! Only types live here: serde for the wire, specta for the TypeScript bindings. The engine speaks [`Request`] and
//! [`Event`] as JSON, one object a line, on stdin and stdout.

mod benchmarks;
mod bridge;
mod chat;
mod chats;
mod conversion;
mod engine;
mod error;
mod library;
mod logprobs;
mod model;
mod settings;
mod stats;

pub use benchmarks::{
    AutoSpeed, Benchmark, BenchmarkFormat, BenchmarkHistory, BenchmarkId, BenchmarkPlan, ComparedReply,
    Comparison, ComparisonProgress, ComparisonSource, ComparisonVerdict, DepthSpeed, MachineName, Spread,
    TimedToken,
};
pub use bridge::{
    AppEvent, Chat, ChatId, ChatsTrouble, DeletedMessage, EngineState, Message, MessageId, MessageStatus,
    ModelEntry, NewChat, ReplyEvent, Sent, Snapshot,
};
pub use chat::{ChatMessage, Part, PartialReply, Role};
pub use chats::{
    Attachment, BranchMessage, ChatCursor, ChatOrigin, ChatPage, ChatSettings, ChatSummary, ChatsBackup,
    DeletionId, ExportFormat, ImportReport, OpenedChat, Preset, PresetId, SearchHit, SearchResults,
    SnippetPart, Tag,
};
pub use conversion::{
    ConversionProgress, ConversionReport, ConversionSettings, FloatFormat, HeadFormat, WeightFormat,
};
pub use engine::{Event, Request, RequestId, TokenText};
pub use error::ErrorReport;
pub use library::{
    ConversionChoice, DeletedModel, FileProgress, Fit, FitContext, FitVerdict, Hold, Job, JobId, JobKind,
    JobStage, LibraryPlace, LibrarySnapshot, LocalModel, LocalState, ModelKind, ModelOrigin, RemoteFilter,
    RemoteModel, Tuning,
};
pub use logprobs::{MAX_TOP_LOGPROBS, TokenLogprob, TokenLogprobs};
pub use model::{ModelInfo, MtpState};
pub use settings::{AcceptanceRule, Drafting, GenerationSettings, KvPrecision, MAX_DEPTH, Sampling};
pub use stats::{FinishReason, LiveStats, PositionStats, ReplyStats};
