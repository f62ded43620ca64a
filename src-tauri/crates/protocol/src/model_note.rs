//! What is odd about a checkpoint though it loads: a code with its operands for the page, which says it in its own
//! language, and a sentence in English for everyone else.

use std::fmt;

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::ErrorReport;

/// What is odd about a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ModelNote {
    /// It holds an output head although that is tied to the embedding.
    TiedHead,
    /// A file is no part of the model.
    NoPart {
        /// It.
        file: String,
    },
    /// The config says nothing of how the tensors are quantized.
    Undeclared {
        /// What the tensors say.
        format: String,
    },
    /// The file with the tokens that drafts are chosen from does not count.
    DraftVocabulary {
        /// It.
        file: String,
        /// Why, as a part of an English sentence.
        problem: String,
    },
    /// The MTP head cannot be used.
    HeadUnused {
        /// Why.
        error: ErrorReport,
    },
    /// The file with the MTP head that the config names is not there.
    HeadMissing {
        /// It.
        file: String,
    },
    /// A file holds another MTP head than the one that is used.
    SecondHead {
        /// It.
        file: String,
        /// Whether the one that is used is in the main files.
        in_main_files: bool,
    },
    /// The MTP head of a file beside the main ones cannot be used.
    HeadFileUnused {
        /// The file.
        file: String,
        /// Why.
        error: ErrorReport,
    },
    /// Nothing but the values says how the norms of the MTP head are stored.
    HeadNormsAssumed,
    /// The config does not declare the MTP head.
    HeadUndeclared,
    /// The config declares an MTP head whose tensors are gone.
    HeadStripped,
    /// The draft model that is loaded with it was made for a model with another number of layers.
    DraftTarget {
        /// The layers that the draft model's config names.
        told: u32,
        /// Those that the model has.
        layers: u32,
    },
}

impl fmt::Display for ModelNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TiedHead => f.write_str(
                "The files hold an output head although it is tied to the embedding; it is left out.",
            ),
            Self::NoPart { file } => write!(f, "{file} is no part of the model; it is left out."),
            Self::Undeclared { format } => {
                write!(f, "The config says nothing of quantization; the tensors say {format}.")
            }
            Self::DraftVocabulary { file, problem } => {
                write!(f, "Drafts are chosen from all tokens: {file} does not count, since {problem}.")
            }
            Self::HeadUnused { error: ErrorReport { message, hint, .. } } => {
                write!(f, "The MTP head is not used: {message} {hint}")
            }
            Self::HeadMissing { file } => {
                write!(f, "The MTP head that the config names, {file}, is not there.")
            }
            Self::SecondHead { file, in_main_files } => {
                let place = if *in_main_files { "The main files hold" } else { "There is" };
                write!(f, "{place} an MTP head already, so {file} is left out.")
            }
            Self::HeadFileUnused { file, error: ErrorReport { message, hint, .. } } => {
                write!(f, "The MTP head in {file} is not used: {message} {hint}")
            }
            Self::HeadNormsAssumed => f.write_str(
                "How the norms of the MTP head are stored shows in their values: it is decided when the weights are \
                 here.",
            ),
            Self::DraftTarget { told, layers } => {
                write!(
                    f,
                    "The draft model's config says that its target has {told} layers, but it has {layers}."
                )
            }
            Self::HeadUndeclared => {
                f.write_str("The config does not declare the MTP head that the files hold; it is used.")
            }
            Self::HeadStripped => f.write_str(
                "The config declares an MTP head, but its tensors were removed when the checkpoint was converted, so \
                 it writes one token per pass. Convert the source repository again to get the head back.",
            ),
        }
    }
}
