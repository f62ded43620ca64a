//! What the engine tells about a loaded model: parameters, quantization, context length in tokens, memory in bytes, and
//! whether it has a usable MTP head.

use std::fmt;

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{ErrorReport, KvPrecision, ModelNote, Sampling};

/// Whether a checkpoint can draft for itself. Decided by its tensors, compared with its config.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum MtpState {
    /// The head's tensors are all there.
    Present {
        /// How many tensors make it up.
        tensors: u32,
        /// Their data type or quantization, as `bfloat16` or `4-bit`.
        format: String,
        /// Whether the config declares the head too.
        declared: bool,
    },
    /// Neither tensors nor a declaration.
    Absent,
    /// The config declares a head whose tensors were removed by whoever converted the checkpoint.
    Stripped,
    /// There is a head, but it cannot be used; a note of the model says why.
    Unusable,
}

/// What a person wants to know about a loaded model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct ModelInfo {
    /// Short name, from the folder.
    pub name: String,
    /// The folder.
    pub path: String,
    /// The model type its config names, as `qwen3_5`.
    pub architecture: String,
    /// Parameters of the language model, MTP head included.
    pub parameters: u64,
    /// Data type or quantization of the weights, as `bfloat16` or `4-bit`.
    pub format: String,
    /// The MTP head.
    pub mtp: MtpState,
    /// Longest context the model was made for, in tokens.
    pub context_length: u32,
    /// The sampling that the model's own files recommend.
    pub defaults: Sampling,
    /// Whether the chat template has a thinking switch.
    pub thinking: bool,
    /// Whether the chat template can be told how much to think.
    #[serde(default)]
    pub thinking_effort: bool,
    /// Whether the chat template opens the thinking of a reply by itself, so that it can be ended after so many tokens.
    #[serde(default)]
    pub opens_thinking: bool,
    /// Whether the chat template takes tools, and writes calls in a form that is known here.
    #[serde(default)]
    pub tools: bool,
    /// Whether it writes the arguments of calls as JSON, and not each between tags.
    #[serde(default)]
    pub json_calls: bool,
    /// Whether it sees pictures.
    #[serde(default)]
    pub pictures: Box<PictureInput>,
    /// Memory that the loaded weights take, a draft model's included.
    pub weight_bytes: u64,
    /// Tells its weights from others that go by the same name: hexadecimal digits of samples of them.
    #[serde(default)]
    pub fingerprint: String,
    /// How it keeps keys and values.
    pub kv_precision: KvPrecision,
    /// The draft model that guesses ahead for it, where one was loaded with it.
    #[serde(default)]
    pub draft_model: Option<Box<DraftModelInfo>>,
    /// Why it goes without the draft model that was to be loaded with it, where one was.
    #[serde(default)]
    pub draft_model_refused: Option<Box<ErrorReport>>,
    /// The Macs that compute it together, this one first; empty where this one does so alone.
    #[serde(default)]
    pub macs: Vec<MacLayers>,
    /// What is odd about the checkpoint though it loads.
    pub notes: Vec<ModelNote>,
}

/// A Mac of several that compute a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct MacLayers {
    /// What it calls itself.
    pub name: String,
    /// How many layers it has.
    pub layers: u32,
}

impl ModelInfo {
    /// Why it goes without the draft model that was to be loaded with it, in a sentence.
    pub fn without_draft_model(&self) -> Option<String> {
        let ErrorReport { message, .. } = self.draft_model_refused.as_deref()?;
        Some(format!("Its draft model cannot be used, so it goes without: {message}"))
    }
}

/// Whether a model sees pictures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PictureInput {
    /// It does.
    Available {
        /// The fewest pixels of a picture as it is shown to the model; smaller ones are enlarged.
        least_pixels: u64,
        /// The most.
        most_pixels: u64,
        /// Memory that its vision tower takes, from the first picture on.
        tower_bytes: u64,
    },
    /// It does not.
    Unavailable {
        /// Why.
        reason: Blindness,
    },
}

impl Default for PictureInput {
    fn default() -> Self {
        Self::Unavailable { reason: Blindness::TextAlone }
    }
}

/// Why a model sees no pictures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Blindness {
    /// It was made for text.
    TextAlone,
    /// Its vision tower was left out when it was converted.
    LeftOut,
    /// There are tensors of a vision tower, and no config that describes it.
    NotDescribed,
    /// There is a vision tower that cannot be used.
    Unusable {
        /// Why.
        error: ErrorReport,
    },
    /// There is too little memory for its vision tower.
    TooLittleMemory {
        /// What the model would need with the smallest picture, in bytes.
        needed: u64,
        /// What models may take, in bytes.
        available: u64,
    },
}

impl fmt::Display for Blindness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        match self {
            Self::TextAlone => f.write_str("This model reads text alone."),
            Self::LeftOut => f.write_str(
                "Its vision tower was left out when it was converted. Convert the source repository again to get it \
                 back.",
            ),
            Self::NotDescribed => {
                f.write_str("The files hold a vision tower, but the config does not describe it.")
            }
            Self::Unusable { error } => write!(f, "Its vision tower cannot be used: {error}"),
            Self::TooLittleMemory { needed, available } => write!(
                f,
                "There is no memory for its vision tower: with a picture it would need {:.1} GB, and models may take \
                 {:.1} GB here. Choose a smaller model.",
                gigabytes(*needed),
                gigabytes(*available)
            ),
        }
    }
}

/// A draft model that is loaded beside the model that it guesses ahead for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DraftModelInfo {
    /// Short name, from the folder.
    pub name: String,
    /// The folder.
    pub path: String,
    /// Memory that its weights take.
    pub weight_bytes: u64,
    /// The most tokens that it guesses at once.
    pub most_guesses: u32,
}
