//! Why a checkpoint cannot be used: for each cause a stable code, a message and a hint what to do.

use std::io;
use std::path::PathBuf;

use foretoken_protocol::ErrorReport;
use safetensors::Dtype;

use super::kinds::SUPPORTED_ARCHITECTURES;

/// Why a checkpoint cannot be used. The message says what is wrong; [`CheckpointError::hint`] what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The path is not a folder with a model in it.
    #[error("{} {problem}, so it is not a model folder.", path.display())]
    NotAModelFolder {
        /// What was given.
        path: PathBuf,
        /// What it lacks, as `has no config.json`.
        problem: &'static str,
    },
    /// A JSON file of the checkpoint is not the JSON object it should be.
    #[error("{} cannot be read: {reason}.", path.display())]
    ConfigUnreadable {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        reason: String,
    },
    /// A config value that no model can have.
    #[error("The config sets {key} to {value}, but it must be {expected}.")]
    ConfigInvalid {
        /// The key.
        key: String,
        /// Its value, as JSON, or `nothing`.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// A family of models that the engine does not know.
    #[error(
        "The model type {model_type} is not supported; supported are {}.",
        SUPPORTED_ARCHITECTURES.join(" and ")
    )]
    UnsupportedArchitecture {
        /// What the config names.
        model_type: String,
    },
    /// A variation of a known family that the engine does not compute.
    #[error("The config sets {key} to {value}; only {supported} is supported.")]
    UnsupportedConfig {
        /// The key.
        key: String,
        /// Its value, as JSON.
        value: String,
        /// The values that work.
        supported: &'static str,
    },
    /// Weights that another tool quantized, in a packing of its own.
    #[error("The weights are quantized as {method} ({key}), which only other programs can read.")]
    ForeignQuantization {
        /// The key that says so.
        key: String,
        /// What the other tool calls it, as `fp8`.
        method: String,
    },
    /// Heads whose keys and values cannot be kept in 8 bits.
    #[error("The model's heads are {head_dim} numbers wide; in 8 bits they must be a multiple of 32.")]
    KvNotQuantizable {
        /// Their size.
        head_dim: usize,
    },
    /// An MTP head without its model.
    #[error("This folder holds only an MTP head ({model_type}), without the model it belongs to.")]
    HeadOnly {
        /// What the config names.
        model_type: &'static str,
    },
    /// A draft model where a model is asked for.
    #[error("This folder holds a draft model ({architecture}), which guesses ahead for another model.")]
    DraftModel {
        /// What it calls itself.
        architecture: String,
    },
    /// Another folder where a draft model is asked for.
    #[error("{name} is not a draft model.")]
    NoDraftModel {
        /// Its name.
        name: String,
    },
    /// A kind of draft model that the engine does not know.
    #[error(
        "The draft model is a {architecture}, which is not supported; supported are DFlashDraftModel and \
         DFlash2DraftModel."
    )]
    UnsupportedDraft {
        /// What it calls itself.
        architecture: String,
    },
    /// A draft model that was made for another target.
    #[error("The draft model was made for a model with {key} {draft}, but this model has {target}.")]
    DraftMismatch {
        /// The config key.
        key: &'static str,
        /// The draft model's value.
        draft: usize,
        /// The target's.
        target: usize,
    },
    /// A draft model that was made for a deeper target.
    #[error("The draft model reads layer {tap}, counted from 0, but this model has {layers} layers.")]
    DraftTap {
        /// The first layer that it reads and the target does not have.
        tap: usize,
        /// Layers of the target.
        layers: usize,
    },
    /// A draft model whose mask token is not in the vocabulary.
    #[error("The draft model's mask_token_id is {id}, but the vocabulary has {vocab} tokens.")]
    DraftMaskToken {
        /// The token.
        id: u32,
        /// Tokens of the vocabulary.
        vocab: usize,
    },
    /// A tensor file whose header makes no sense.
    #[error("The header of {} cannot be read: {reason}.", file.display())]
    HeaderUnreadable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor file that is shorter or longer than its header says: an interrupted download.
    #[error("{} is {found} bytes long, but its header asks for {expected}.", file.display())]
    WrongLength {
        /// The file.
        file: PathBuf,
        /// How long it is.
        found: u64,
        /// How long it should be.
        expected: u64,
    },
    /// The index names a file that is not there, and no other file has its tensors.
    #[error("{} is missing; the index says that it holds {tensor}.", file.display())]
    MissingFile {
        /// The file.
        file: PathBuf,
        /// One of the tensors in it.
        tensor: String,
    },
    /// The config calls for a tensor that no file has.
    #[error("The tensor {name} is missing.")]
    MissingTensor {
        /// Its canonical name.
        name: String,
    },
    /// Some experts of a layer are there and one is not.
    #[error("Expert {expert} of {experts} in {module} is missing.")]
    MissingExpert {
        /// Its number, from 0.
        expert: usize,
        /// How many the config calls for.
        experts: usize,
        /// The MLP, as `layers.3.mlp`.
        module: String,
    },
    /// A tensor that this model has no use for.
    #[error("{} holds the tensor {name}, which this model does not have.", file.display())]
    UnexpectedTensor {
        /// Its name in the file.
        name: String,
        /// The file.
        file: PathBuf,
    },
    /// Two tensors that are the same part of the model.
    #[error("The tensor {name} is in {} and again in {}.", first.display(), second.display())]
    DuplicateTensor {
        /// Its name.
        name: String,
        /// The file that has it first.
        first: PathBuf,
        /// The file that has it too.
        second: PathBuf,
    },
    /// The same weights in two forms, as experts one by one and stacked.
    #[error("The weights of {module} are there twice: as {first} and as {second}.")]
    TwoForms {
        /// The module, by its canonical path.
        module: String,
        /// A module that holds them.
        first: String,
        /// Another that holds them too.
        second: String,
    },
    /// A tensor of another shape than the config asks for.
    #[error("The tensor {name} has shape {found:?}, but the config asks for {expected:?} ({because}).")]
    MisshapenTensor {
        /// Its name in the file.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape that the config asks for.
        expected: Vec<usize>,
        /// The config keys that say so, one for each dimension.
        because: String,
    },
    /// A tensor of a data type that it cannot have.
    #[error("The tensor {name} is {found}, but it must be {expected}.")]
    WrongDtype {
        /// Its name in the file.
        name: String,
        /// Its data type.
        found: Dtype,
        /// What it can be.
        expected: String,
    },
    /// Config and tensors describe different models.
    #[error("The config says {config}, but the tensors say {tensors}.")]
    Contradiction {
        /// What the config says, with the key.
        config: String,
        /// What the tensors say.
        tensors: String,
    },
    /// Nothing tells whether norms are stored as weight or as weight minus one.
    #[error("Nothing tells how the norms in {} are stored.", file.display())]
    NormsUndecided {
        /// The file that holds them.
        file: PathBuf,
    },
    /// A tensor with an infinity or a NaN in it.
    #[error("The tensor {name} holds values that are not finite.")]
    NonFiniteTensor {
        /// Its canonical name.
        name: String,
    },
    /// The file system failed.
    #[error("{} cannot be read: {source}.", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

const DOWNLOAD_AGAIN: &str = "Download the file again.";
const CHECK_SOURCE: &str =
    "The checkpoint is damaged or was made by a faulty conversion; get it again from its source.";
const CHECK_CONFIG: &str = "Check that config.json belongs to these tensor files.";

impl CheckpointError {
    /// Stable name of the kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAModelFolder { .. } => "not_a_model_folder",
            Self::ConfigUnreadable { .. } => "config_unreadable",
            Self::ConfigInvalid { .. } => "config_invalid",
            Self::UnsupportedArchitecture { .. } => "unsupported_architecture",
            Self::UnsupportedConfig { .. } => "unsupported_config",
            Self::ForeignQuantization { .. } => "foreign_quantization",
            Self::KvNotQuantizable { .. } => "kv_not_quantizable",
            Self::HeadOnly { .. } => "head_only",
            Self::DraftModel { .. } => "draft_model",
            Self::NoDraftModel { .. } => "no_draft_model",
            Self::UnsupportedDraft { .. } => "unsupported_draft",
            Self::DraftMismatch { .. } | Self::DraftTap { .. } => "draft_mismatch",
            Self::DraftMaskToken { .. } => "draft_mask_token",
            Self::HeaderUnreadable { .. } | Self::WrongLength { .. } => "header_unreadable",
            Self::MissingFile { .. } => "missing_file",
            Self::MissingTensor { .. } | Self::MissingExpert { .. } => "missing_tensor",
            Self::UnexpectedTensor { .. } => "unexpected_tensor",
            Self::DuplicateTensor { .. } | Self::TwoForms { .. } => "duplicate_tensor",
            Self::MisshapenTensor { .. } => "misshapen_tensor",
            Self::WrongDtype { .. } => "wrong_dtype",
            Self::Contradiction { .. } => "config_contradicts_tensors",
            Self::NormsUndecided { .. } => "norms_undecided",
            Self::NonFiniteTensor { .. } => "non_finite_tensor",
            Self::Io { .. } => "io",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotAModelFolder { .. } => {
                "Choose the folder that holds config.json and the .safetensors files."
            }
            Self::ConfigUnreadable { .. } | Self::ConfigInvalid { .. } => {
                "Get the file again from the source of the model."
            }
            Self::UnsupportedArchitecture { .. } => "Choose a Qwen3-Next, Qwen3.5 or Qwen3.6 model.",
            Self::UnsupportedConfig { .. } => "Choose a checkpoint without this variation.",
            Self::ForeignQuantization { .. } => {
                "Use the original repository with the bfloat16 weights, or one quantized with MLX."
            }
            Self::KvNotQuantizable { .. } => "Keep keys and values as they are computed.",
            Self::HeadOnly { .. } => {
                "Put it as the folder mtp into the folder of the model that it belongs to."
            }
            Self::DraftModel { .. } => "Choose the folder of the model that it was made for.",
            Self::NoDraftModel { .. } | Self::UnsupportedDraft { .. } => {
                "Choose a DFlash or DFlash2 draft model that was made for this model."
            }
            Self::DraftMismatch { .. } | Self::DraftTap { .. } => {
                "Choose the draft model that was made for this model."
            }
            Self::DraftMaskToken { .. } => CHECK_SOURCE,
            Self::HeaderUnreadable { .. } | Self::WrongLength { .. } | Self::MissingFile { .. } => {
                DOWNLOAD_AGAIN
            }
            Self::MissingTensor { .. } | Self::MissingExpert { .. } | Self::NonFiniteTensor { .. } => {
                CHECK_SOURCE
            }
            Self::UnexpectedTensor { .. } | Self::DuplicateTensor { .. } | Self::TwoForms { .. } => {
                "Keep only the files of one model in the folder."
            }
            Self::MisshapenTensor { .. } | Self::WrongDtype { .. } | Self::Contradiction { .. } => {
                CHECK_CONFIG
            }
            Self::NormsUndecided { .. } => {
                "Set mtp_norm_encoding in config.json to delta (weight minus one) or gamma (weight)."
            }
            Self::Io { .. } => "Check that the file exists and that you may read it.",
        }
    }
}

impl From<&CheckpointError> for ErrorReport {
    fn from(error: &CheckpointError) -> Self {
        Self { code: error.code().into(), message: error.to_string(), hint: error.hint().into() }
    }
}

impl From<CheckpointError> for ErrorReport {
    fn from(error: CheckpointError) -> Self {
        Self::from(&error)
    }
}
