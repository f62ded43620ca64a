//! Messages that cross a process (shell ↔ engine) or the bridge (shell ↔ page).
//!
//! Only types live here: serde for the wire, specta for the TypeScript bindings. The engine speaks [`Request`] and
//! [`Event`] as JSON, one object a line, on stdin and stdout.

mod actions;
mod benchmarks;
mod bridge;
mod chat;
mod chats;
mod constraint;
mod conversion;
mod diagnostics;
mod drafting_note;
mod engine;
mod error;
mod library;
mod local_api;
mod logprobs;
mod macs;
mod model;
mod model_note;
mod pictures;
mod preferences;
mod projects;
mod provenance;
mod quality;
mod settings;
mod stats;
mod tools;
mod updates;

pub use actions::{Action, ActionId, Availability, Keys, MenuState};
pub use benchmarks::{
    AutoSpeed, Benchmark, BenchmarkFormat, BenchmarkHistory, BenchmarkId, BenchmarkPlan, ComparedReply,
    Comparison, ComparisonProgress, ComparisonSource, ComparisonVerdict, DepthSpeed, MachineName, Spread,
    TextChoice, TextKind, TextSpeed, TimedToken,
};
pub use bridge::{
    AppEvent, Chat, ChatId, ChatsTrouble, DeletedMessage, EngineState, Message, MessageId, MessageStatus,
    ModelEntry, ReplyEvent, Sent, Snapshot, Surroundings,
};
pub use chat::{
    ChatInput, ChatMessage, Content, ContentPart, FunctionCall, Input, Part, PartialReply, Role,
    TemplateOptions, ToolCall,
};
pub use chats::{
    Attached, Attachment, Beginning, BranchMessage, ChatCursor, ChatOrigin, ChatPage, ChatSettings,
    ChatSummary, ChatsBackup, Deletion, DeletionId, Destination, Draft, ExportFormat, ExportReport, Exported,
    ExportedPictures, FoundChat, FoundMessage, ImportReport, Imported, OpenedChat, Passage, PastedFile,
    PictureSize, Preset, PresetId, Prompt, RunningSummary, SearchCounts, SearchFilter, SearchResults,
    SearchScope, Searched, SnippetPart, SummaryProgress, Tag, TagPlaces, UnseenReply, UnsentEdit,
};
pub use constraint::{CallRule, Constraint, Format};
pub use conversion::{
    ConversionProgress, ConversionReport, ConversionSettings, FloatFormat, HeadFormat, VisionFormat,
    WeightFormat,
};
pub use diagnostics::{CrashReport, LogLevel, LogLine, Notice, Place, PlaceKind, Stored};
pub use drafting_note::DraftingNote;
pub use engine::{Event, Request, RequestId, TokenText};
pub use error::ErrorReport;
pub use library::{
    ConversionChoice, DRAFT_VOCABULARY_FILE, DeletedModel, DraftFigures, DraftModelOffer,
    DraftVocabularyFigures, ExpectedSpeed, FileProgress, Fit, FitContext, FitVerdict, Hold, HubAccess,
    HubSettings, Job, JobId, JobKind, JobStage, LibraryPlace, LibrarySnapshot, LocalDraftModel, LocalModel,
    LocalState, ModelKind, ModelOrigin, RemoteFilter, RemoteModel, Sight, SpeedRange, Tuning, Weights,
};
pub use local_api::{
    ApiAlias, ApiDialect, ApiOutcome, ApiRequest, ApiRequests, ApiSampling, ApiStage, ApiWritten,
    EndedApiRequest, LOCAL_API_PORT, LocalApi, LocalApiSettings, LocalApiState, MOST_API_ROWS, PortHolder,
    TokenPlace,
};
pub use logprobs::{MAX_TOP_LOGPROBS, TokenLogprob, TokenLogprobs};
pub use macs::{
    Giving, KEPT_GIGABYTES, LENDING_PORT, Lending, LendingSettings, Loan, MacLink, MacPairing, MacState,
    NearMac, OtherMacs, PairedMac, RingMac, RingView, SpreadModel, SpreadOutlook, SpreadPart, Spreading,
    StoredLayers,
};
pub use model::{Blindness, DraftModelInfo, MacLayers, ModelInfo, MtpState, PictureInput};
pub use model_note::ModelNote;
pub use pictures::{Looked, MessagePicture, PictureDetail, PictureFacts, PictureFormat};
pub use preferences::{Appearance, GuessHue, Language, OpenFolds, Preferences, QuickKey, SettingsPage};
pub use projects::{
    AddedFiles, DeletedProject, Project, ProjectChat, ProjectFile, ProjectFileId, ProjectId, ProjectText,
};
pub use provenance::{DraftRun, Provenance};
pub use quality::{
    Evidence, EvidenceFigures, EvidenceText, KeptOffer, MatrixBits, MeasuringOutlook, OfferedSize,
    QualityOffer,
};
pub use settings::{
    AcceptanceRule, BRIEF_THINKING, DEFAULT_MAX_TOKENS, Drafting, GenerationChange, GenerationSettings,
    KvPrecision, MAX_BLOCK_DEPTH, MAX_DEPTH, MAX_TEMPERATURE, MAX_TOP_K, MAX_XTC_THRESHOLD, Priority,
    Sampling, StopScope, Thinking,
};
pub use stats::{
    Counters, DepthTrace, Exactness, FinishReason, LiveStats, PartStats, PlainSource, PlainSpeed,
    PositionStats, RECENT_PASSES, ReplyStats, UnseenPictures,
};
pub use tools::{
    CallAnswer, CallDecision, CallDifference, CallId, CallScope, CallState, FieldKind, FilledPrompt,
    FormField, FormOption, NamedValue, OwnSource, PermissionId, PermittedTool, PermittedTools, PinChange,
    PromptArgument, ReplyCall, ReplyStep, ServerAnswer, ServerForm, ServerInfo, ServerLeftOut, ServerOffers,
    ServerPrompt, ServerQuestion, ServerResource, ServerStatus, ServerTransport, ServerWants, ServersFile,
    ServersImported, StepIds, TextFormat, ToolClaims, ToolFolder, ToolGrant, ToolInfo, ToolPermission,
    ToolPin, ToolServer, ToolsState,
};
pub use updates::{Release, UpdateCheck, UpdateState};
