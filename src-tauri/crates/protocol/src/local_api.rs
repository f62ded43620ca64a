//! The local API: what other programs ask for, and what the page shows of it. Nothing of any question or answer.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::ErrorReport;

/// The port at which the local API listens until the person chooses another.
pub const LOCAL_API_PORT: u16 = 3673;

/// What the person chose for the local API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct LocalApiSettings {
    /// Whether other programs of this machine may use the model.
    pub on: bool,
    /// Where it listens.
    pub port: u16,
    /// Whether programs have to send the token.
    pub needs_token: bool,
    /// Whether other devices of the network may use it too. They always have to send the token.
    pub network: bool,
    /// Whether programs may have another model loaded while the person is away.
    pub may_load: bool,
    /// Replies that are written at the same time.
    pub rows: u8,
    /// Whose sampling holds where a program names none.
    pub sampling: ApiSampling,
    /// Names by which programs ask for other models than they get.
    pub aliases: Vec<ApiAlias>,
    /// Pages and apps in browsers that may connect, by their origins.
    pub origins: Vec<String>,
}

/// The most replies that are written at the same time.
pub const MOST_API_ROWS: u8 = 32;

/// Whose sampling holds where a program names none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ApiSampling {
    /// What the person has chosen in the app.
    #[default]
    App,
    /// What the model's makers recommend.
    Model,
}

/// A name by which programs ask for a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ApiAlias {
    /// The name, in any case; one that ends in `*` stands for every name that begins so.
    pub name: String,
    /// What programs call the model that they get; `None` is whichever is loaded.
    pub model: Option<String>,
}

impl ApiAlias {
    /// The names of models that are served elsewhere. Programs made for those ask for them by name, some of them in the
    /// background whatever was chosen, and get the model that is loaded.
    pub fn elsewhere() -> Vec<Self> {
        const NAMES: [&str; 6] = ["claude-*", "gpt-*", "chatgpt-*", "o1*", "o3*", "o4*"];
        NAMES.into_iter().map(|name| Self { name: name.into(), model: None }).collect()
    }
}

impl Default for LocalApiSettings {
    fn default() -> Self {
        Self {
            on: false,
            port: LOCAL_API_PORT,
            needs_token: true,
            network: false,
            may_load: false,
            rows: 4,
            sampling: ApiSampling::default(),
            aliases: ApiAlias::elsewhere(),
            origins: Vec::new(),
        }
    }
}

/// The local API as it is now.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Type)]
pub struct LocalApi {
    /// What the person chose.
    pub settings: LocalApiSettings,
    /// Whether it listens.
    pub state: LocalApiState,
    /// Where the token is kept; `None` until one is needed. The token itself never comes to the page.
    pub token: Option<TokenPlace>,
    /// What programs call the model that answers.
    pub model: Option<String>,
    /// What programs call the models that are here.
    pub offered: Vec<String>,
    /// What other devices of the network call this machine.
    pub network_name: Option<String>,
    /// The requests.
    pub requests: ApiRequests,
}

/// Whether the local API listens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Type)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum LocalApiState {
    /// It does not.
    #[default]
    Off,
    /// It is about to.
    Starting,
    /// It does, at this port.
    On {
        /// The port.
        port: u16,
    },
    /// Another program listens there.
    PortInUse {
        /// The port.
        port: u16,
        /// The program; `None` where the system does not tell.
        holder: Option<PortHolder>,
        /// The next port that is free; `None` if none is near.
        free: Option<u16>,
    },
    /// It cannot, and why.
    Failed {
        /// Why.
        error: ErrorReport,
    },
}

/// A program that listens at a port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct PortHolder {
    /// What the system calls it.
    pub name: String,
    /// The number of its process.
    pub pid: u32,
}

/// Where the token is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum TokenPlace {
    /// In the system's keychain.
    Keychain,
    /// In a file that only the person can read, where there is no keychain.
    File,
}

/// The requests of other programs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Type)]
pub struct ApiRequests {
    /// Those that are there, in the order in which they came.
    pub live: Vec<ApiRequest>,
    /// The last ones that have ended, the newest first.
    pub ended: Vec<EndedApiRequest>,
    /// Tokens that all of them write per second.
    pub tokens_per_second: f64,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct ApiRequest {
    /// Names it.
    pub id: String,
    /// The program, as far as it says.
    pub program: String,
    /// How the program speaks.
    pub dialect: ApiDialect,
    /// The model that answers.
    pub model: String,
    /// When it came, milliseconds since 1970.
    pub came_at: u64,
    /// What is being done.
    pub stage: ApiStage,
    /// What is written so far.
    pub written: ApiWritten,
}

/// How a program speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ApiDialect {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's completions.
    Completions,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Messages,
}

/// What is being done for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum ApiStage {
    /// It waits for its turn.
    Waiting,
    /// Its prompt is read.
    Reading {
        /// Tokens that are read.
        done: u32,
        /// Tokens to read in all.
        total: u32,
    },
    /// Its replies are written.
    Writing,
}

/// What is written for a request.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, Type)]
pub struct ApiWritten {
    /// Tokens.
    pub tokens: u32,
    /// Tokens per second of writing; `None` until that is known.
    pub tokens_per_second: Option<f64>,
    /// Tokens that were guessed right.
    pub accepted: u32,
    /// Tokens that were guessed in all; `None` until all is written.
    pub drafted: Option<u32>,
    /// The share of guesses that were right; `None` while nothing was guessed, or that is not known yet.
    pub acceptance: Option<f64>,
}

/// A request that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct EndedApiRequest {
    /// Names it.
    pub id: String,
    /// The program, as far as it says.
    pub program: String,
    /// How the program speaks.
    pub dialect: ApiDialect,
    /// The model that answered.
    pub model: String,
    /// When it came, milliseconds since 1970.
    pub came_at: u64,
    /// How long it was there, in milliseconds.
    pub took_ms: u64,
    /// What was written.
    pub written: ApiWritten,
    /// How it ended.
    pub outcome: ApiOutcome,
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ApiOutcome {
    /// It was answered.
    Done,
    /// The person stopped it.
    Stopped,
    /// The program left.
    Left,
    /// It was refused, or failed.
    Failed {
        /// Why, in a word.
        code: String,
    },
}
