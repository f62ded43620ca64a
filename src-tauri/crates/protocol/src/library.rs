//! The model library as the page shows it: what there is to get, what is here, and what is being worked on.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{ErrorReport, Evidence, KvPrecision, MtpState, PositionStats};

/// Names a job of the library for as long as the app runs.
pub type JobId = u32;

/// Whether a model runs on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum FitVerdict {
    /// With room to spare.
    FitsWell,
    /// With little else running.
    Tight,
    /// Not at all.
    TooBig,
}

/// A fit verdict and what it follows from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Fit {
    /// The verdict.
    pub verdict: FitVerdict,
    /// Memory that the model needs at `context`.
    pub need_bytes: u64,
    /// Memory that a model can have on this machine.
    pub available_bytes: u64,
    /// The context it is judged at, in tokens: the chosen one, or the longest that the model knows.
    pub context: u32,
}

/// Whether a model sees pictures here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Sight {
    /// It reads text alone, or it is not known to do more.
    #[default]
    None,
    /// It does.
    Sees,
    /// It would, but there is no memory for its vision tower beside a chat.
    NoMemory,
}

/// From the lowest to the highest speed, in tokens per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
pub struct SpeedRange {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

/// How fast a model is expected to write on this machine, where nobody has measured it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Type)]
pub struct ExpectedSpeed {
    /// Without guesses.
    pub plain: SpeedRange,
    /// With those of its MTP head; `None` without one.
    pub guessing: Option<SpeedRange>,
}

/// Whether a checkpoint is as its makers published it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// In full precision; it is converted after the download.
    Raw,
    /// Converted to MLX by somebody else.
    Converted,
}

/// A model on the Hub: from the catalogue or found by a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct RemoteModel {
    /// `organisation/name`.
    pub repo: String,
    /// What people call it.
    pub name: String,
    /// What it is good for, one sentence; empty for search results.
    pub summary: String,
    /// The licence, as the Hub names it; `None` where it says nothing.
    pub licence: Option<String>,
    /// Parameters in all; `None` where nothing tells.
    pub parameters: Option<u64>,
    /// Parameters that take part in one token; `None` where all do, or nothing tells.
    pub active_parameters: Option<u64>,
    /// Data type or quantization, as `bfloat16` or `4-bit`.
    pub format: Option<String>,
    /// As published or converted.
    pub kind: ModelKind,
    /// What is downloaded.
    pub download_bytes: Option<u64>,
    /// Whether it brings its MTP head; `None` where nobody has looked yet.
    pub mtp: Option<bool>,
    /// Whether it sees pictures, as far as it is known.
    pub sight: Sight,
    /// Whether it runs here, once converted; `None` where too little is known.
    pub fit: Option<Fit>,
    /// How fast it is expected to be here, once converted; `None` where too little is known, or it does not run.
    pub expected: Option<ExpectedSpeed>,
    /// The one to take on this machine.
    pub recommended: bool,
    /// The folder it is in, if it is here already.
    pub installed: Option<String>,
}

/// Which models a search of the Hub returns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
pub struct RemoteFilter {
    /// Words in the name of the repository.
    pub text: String,
    /// Only models whose tensor names include an MTP head.
    pub with_mtp: bool,
    /// Only models that run on this machine.
    pub fitting: bool,
    /// Only raw or only converted ones.
    pub kind: Option<ModelKind>,
    /// Only those most of whose weights have so many bits.
    pub bits: Option<u8>,
    /// Only downloads of at most so many bytes.
    pub largest_download: Option<u64>,
}

/// Where a model that is here came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ModelOrigin {
    /// It came with the app.
    BuiltIn,
    /// It was downloaded or converted by the app, into its library.
    Library,
    /// It is in the Hugging Face cache, and used where it is.
    HuggingFaceCache,
    /// It is in LM Studio's folder, and used where it is.
    LmStudio,
    /// The person opened its folder.
    Folder,
}

/// Whether a model that is here can be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum LocalState {
    /// It can be loaded.
    Ready,
    /// Its folder is not there now, as when a disk is unplugged.
    Offline,
    /// It cannot be loaded, and why.
    Broken {
        /// Why, and what to do.
        error: ErrorReport,
    },
}

/// How fast a model answered on this machine, by number of drafts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Tuning {
    /// Tokens per second without drafts, then with 1, 2 and 3.
    pub tokens_per_second: Vec<f64>,
    /// The best number of drafts; 0 where nothing beats plain decoding.
    pub best_depth: u8,
    /// How keys and values were kept; before versions that tell, as computed.
    #[serde(default)]
    pub kv_precision: KvPrecision,
    /// What drafting from the most frequent tokens alone gained; `None` where that was not measured.
    #[serde(default)]
    pub draft_vocabulary: Option<DraftVocabularyFigures>,
    /// Whether the machine was hot or saved energy meanwhile, and is faster at other times.
    #[serde(default)]
    pub strained: bool,
    /// When it was measured, milliseconds since 1970.
    pub measured_at: u64,
}

/// The file in a model's folder that names the tokens that its MTP head drafts from, where these are not all.
pub const DRAFT_VOCABULARY_FILE: &str = "draft_vocabulary.json";

/// Drafting from all tokens and from the most frequent ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct DraftVocabularyFigures {
    /// Tokens of the vocabulary.
    pub vocabulary: u32,
    /// The most frequent ones, which drafts may be chosen from.
    pub tokens: u32,
    /// Share of the tokens of replies, other than those that were counted, that are among them.
    pub coverage: f64,
    /// Drafting from all tokens.
    pub before: DraftFigures,
    /// Drafting from the most frequent ones.
    pub after: DraftFigures,
    /// Whether drafts are chosen from them from now on: only where that is faster.
    pub kept: bool,
}

/// What drafts cost and yield.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Type)]
pub struct DraftFigures {
    /// Drafts by position.
    pub positions: Vec<PositionStats>,
    /// Milliseconds of one draft.
    pub draft_milliseconds: f64,
    /// Tokens per second, calculated from the two and from the time of a pass.
    pub tokens_per_second: f64,
}

/// A model on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct LocalModel {
    /// Its folder, which also names it.
    pub path: String,
    /// Its short name.
    pub name: String,
    /// Where it came from. Only what is in the library is ever deleted by the app.
    pub origin: ModelOrigin,
    /// The repository it was downloaded from, if known.
    pub repo: Option<String>,
    /// The commit of that repository, if known.
    pub revision: Option<String>,
    /// Whether it can be used.
    pub state: LocalState,
    /// What it takes on the disk.
    pub disk_bytes: u64,
    /// When it last answered, milliseconds since 1970.
    pub last_used: Option<u64>,
    /// Parameters in all.
    pub parameters: Option<u64>,
    /// Data type or quantization.
    pub format: Option<String>,
    /// The MTP head.
    pub mtp: Option<MtpState>,
    /// Whether it sees pictures, as far as it is known.
    pub sight: Sight,
    /// Whether it runs here.
    pub fit: Option<Fit>,
    /// Whether its repository has a newer commit.
    pub update_available: bool,
    /// What the first-run tune found.
    pub tuning: Option<Tuning>,
    /// How fast it is expected to be here, by what is known before a measurement; `None` where too little is known, or
    /// it does not run.
    pub expected: Option<ExpectedSpeed>,
    /// The folder of the draft model that it is loaded with, one of [`LibrarySnapshot::draft_models`].
    pub draft_model: Option<String>,
    /// The draft model there is to get for it; `None` where one is here or none is known.
    pub draft_model_offer: Option<DraftModelOffer>,
    /// How close it is to its original; `None` where nobody has measured that.
    pub evidence: Option<Evidence>,
    /// The folder of the original, where that is one of [`LibrarySnapshot::models`]; without evidence, of the
    /// unquantized model that it seems to have been made from.
    pub original: Option<String>,
}

/// A draft model on the Hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DraftModelOffer {
    /// `organisation/name`.
    pub repo: String,
    /// What people call it.
    pub name: String,
    /// What is downloaded, about; `None` where only the Hub says it.
    pub download_bytes: Option<u64>,
}

/// A draft model on this machine: it guesses ahead for a model, and cannot be chatted with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct LocalDraftModel {
    /// Its folder, which also names it.
    pub path: String,
    /// Its short name.
    pub name: String,
    /// Where it came from. Only what is in the library is ever deleted by the app.
    pub origin: ModelOrigin,
    /// The repository it was downloaded from, if known.
    pub repo: Option<String>,
    /// Whether it can be used.
    pub state: LocalState,
    /// What it takes on the disk.
    pub disk_bytes: u64,
    /// Data type or quantization.
    pub format: Option<String>,
    /// The most tokens that it guesses at once.
    pub most_guesses: Option<u32>,
    /// Which model it was made for: a name, or words for what it needs.
    pub made_for: Option<String>,
    /// The folders of the models here that it belongs to.
    pub targets: Vec<String>,
    /// Whether its repository has a newer commit.
    pub update_available: bool,
}

/// How a conversion stores weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Weights {
    /// As published: nothing is converted.
    Published,
    /// All with so many bits.
    Bits {
        /// Bits of a weight.
        bits: u8,
    },
    /// Each group of matrices with the bits that it needs, by what they were measured to cost.
    Chosen {
        /// Bytes of all tensors: one of the points of the model's [`crate::QualityOffer`].
        bytes: u64,
    },
}

/// How a raw checkpoint is converted, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ConversionChoice {
    /// How weights are stored.
    pub weights: Weights,
    /// Whether the raw files stay after the conversion.
    pub keep_raw: bool,
}

/// What holds up a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "hold", rename_all = "snake_case")]
pub enum Hold {
    /// A reply is being written or a model is being loaded, which goes first.
    Chat,
    /// There is no room for the model beside the one that is loaded.
    Memory {
        /// Memory that both need.
        need_bytes: u64,
        /// Memory that models can have on this machine.
        available_bytes: u64,
    },
}

/// What a job does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Fetches a model.
    Download,
    /// Measures what each part of a model costs, before a size is chosen for its conversion.
    Probe,
    /// Measures how close a model is to its original.
    Comparison,
    /// Converts a model.
    Conversion,
    /// Measures how many drafts pay with a model.
    Measurement,
    /// Measures a model for the history of benchmarks.
    Benchmark,
    /// Moves the library.
    Move,
}

/// How far a job has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum JobStage {
    /// It waits for the jobs before it.
    Queued,
    /// It is its turn, and it goes on by itself once nothing holds it up.
    Held {
        /// What holds it up.
        by: Hold,
    },
    /// Files are on their way.
    Downloading,
    /// The person stopped it for now; everything that arrived is kept.
    Paused,
    /// The connection is gone; it goes on by itself.
    Waiting {
        /// What is wrong.
        error: ErrorReport,
        /// Seconds until the next try.
        seconds: u32,
    },
    /// The files are compared with the Hub's hashes.
    Verifying,
    /// It is measured what each part of the model costs.
    Probing,
    /// The raw checkpoint is being converted.
    Converting,
    /// What was converted is compared with its original.
    Comparing,
    /// The model is being measured.
    Tuning,
    /// The library is on its way to another folder.
    Moving,
    /// It cannot go on until the person does something. What arrived is kept.
    Failed {
        /// Why, and what to do.
        error: ErrorReport,
    },
    /// It has ended.
    Done {
        /// The model's folder.
        path: String,
    },
}

/// One file of a download.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FileProgress {
    /// Its name in the repository.
    pub name: String,
    /// Bytes that arrived.
    pub done: u64,
    /// Its size.
    pub total: u64,
}

/// Work of the library that takes a while: a download with what follows it, a conversion, a measurement, a move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Job {
    /// Names it.
    pub id: JobId,
    /// The model's short name, or what is moved.
    pub name: String,
    /// The repository that it downloads, or downloaded first; `None` for all other work.
    pub repo: Option<String>,
    /// The folder of the model that it reads; `None` where it reads none that is here.
    pub model: Option<String>,
    /// What it does now.
    pub kind: JobKind,
    /// What it does after that, in this order.
    pub followed_by: Vec<JobKind>,
    /// How far it has come.
    pub stage: JobStage,
    /// How much of this stage is done: bytes of files, steps of what is measured.
    pub done: u64,
    /// All of it; 0 while unknown.
    pub total: u64,
    /// The speed lately.
    pub bytes_per_second: Option<f64>,
    /// Time left of this stage.
    pub seconds_left: Option<f64>,
    /// The files of a download.
    pub files: Vec<FileProgress>,
    /// What to know about how it ended, a sentence or two.
    pub note: Option<String>,
}

/// The folder that downloaded models are kept in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct LibraryPlace {
    /// The folder.
    pub path: String,
    /// Whether it is there.
    pub online: bool,
    /// Free space on its disk.
    pub free_bytes: u64,
    /// What the models in it take.
    pub used_bytes: u64,
}

/// The context that models are judged at, in tokens of prompt and reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FitContext {
    /// The one that holds.
    pub chosen: u32,
    /// Those to choose from.
    pub choices: Vec<u32>,
}

/// A deleted model that can still be brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DeletedModel {
    /// The folder it was in.
    pub path: String,
    /// Its short name.
    pub name: String,
    /// What it takes on the disk until the app quits.
    pub disk_bytes: u64,
}

/// How the Hub is reached, as the person wants it. What is empty is as the environment or the system has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct HubSettings {
    /// The address of the Hub, or of a mirror of it.
    pub address: String,
    /// The address of a proxy.
    pub proxy: String,
    /// The folder of the Hugging Face cache, or the one that it is in as `hub`.
    pub cache: String,
}

/// How the Hub is reached, and what the environment says of it where the person says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct HubAccess {
    /// What the person wants.
    pub settings: HubSettings,
    /// The address in the variable `HF_ENDPOINT`.
    pub endpoint_variable: Option<String>,
    /// The variable that names a proxy, which may hold a password and is not told.
    pub proxy_variable: Option<String>,
    /// The Hugging Face cache where the person names none.
    pub found_cache: Option<String>,
}

/// Everything the Models screen shows when it opens. The catalogue and searches are asked for by themselves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct LibrarySnapshot {
    /// Where models are kept.
    pub place: LibraryPlace,
    /// The models that are here.
    pub models: Vec<LocalModel>,
    /// The draft models that are here.
    pub draft_models: Vec<LocalDraftModel>,
    /// What is being worked on, in the order of the queue.
    pub jobs: Vec<Job>,
    /// Models that were deleted and can be brought back until the app quits.
    pub deleted: Vec<DeletedModel>,
    /// What the verdicts are for.
    pub context: FitContext,
    /// How models keep what their attention remembers of a chat; the verdicts follow it.
    pub kv_precision: KvPrecision,
    /// How the Hub is reached.
    pub hub: HubAccess,
    /// Whether a token for the Hub is kept in the system's keychain. The token itself never comes to the page.
    pub has_token: bool,
}
