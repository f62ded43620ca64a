//! Why a document has no text for a message; each with a stable code for programs and a hint for people. The file's
//! name is not told: whoever asked knows it, and it may be that of a temporary file.

use foretoken_protocol::ErrorReport;

use crate::kind::Kind;
use crate::limits::{DEEPEST, LARGEST_FILE, MOST_INFLATED};

/// Why no text was read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The file is longer than what is read.
    #[error("This document is larger than {} MB.", LARGEST_FILE >> 20)]
    LargeFile,
    /// It opens with a password, or belongs to a reader with a licence.
    #[error("This {kind} is protected by a password or by a shop's licence.")]
    Locked {
        /// What it is.
        kind: Kind,
    },
    /// The file contradicts itself, or ends early.
    #[error("This {kind} is damaged: {detail}.")]
    Damaged {
        /// What it is.
        kind: Kind,
        /// What is wrong with it.
        detail: String,
    },
    /// A small archive unpacks to much more than documents do.
    #[error(
        "This {kind} unpacks to more than {} MB, or to hundreds of times its size, as no honest one does.",
        MOST_INFLATED >> 20
    )]
    Inflated {
        /// What it is.
        kind: Kind,
    },
    /// Elements within elements, without end.
    #[error("This {kind} is damaged: its parts lie more than {DEEPEST} deep within each other.")]
    Deep {
        /// What it is.
        kind: Kind,
    },
    /// A document of a program that keeps it in a way of its own.
    #[error("This is {format}, which cannot be read here.")]
    Foreign {
        /// What it is, with its article.
        format: &'static str,
        /// What people can do about it.
        hint: &'static str,
    },
    /// There is nothing to read in it.
    #[error("No text is in this {kind}.")]
    Empty {
        /// What it is.
        kind: Kind,
    },
    /// What read it came to its own end.
    #[error("This {kind} is damaged so badly that the program which read it gave up.")]
    GaveUp {
        /// What it is.
        kind: Kind,
    },
}

impl DocumentError {
    /// Stable, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::LargeFile => "document_file_too_large",
            Self::Locked { .. } => "document_locked",
            Self::Damaged { .. } | Self::Deep { .. } => "document_damaged",
            Self::Inflated { .. } => "document_inflated",
            Self::Foreign { .. } => "document_format",
            Self::Empty { .. } => "document_empty",
            Self::GaveUp { .. } => "document_gave_up",
        }
    }

    /// What people can do about it: one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::LargeFile => "Choose a part of it; no model reads as much.",
            Self::Locked { .. } => {
                "Open it in the program that it belongs to and save a copy without protection."
            }
            Self::Damaged { .. } | Self::Deep { .. } | Self::GaveUp { .. } => {
                "Open it in another program and save it anew, or copy the text out of it."
            }
            Self::Inflated { .. } => {
                "Ask where it comes from; if it is yours, copy the part that matters out of it."
            }
            Self::Foreign { hint, .. } => hint,
            Self::Empty { kind: Kind::Pdf } => {
                "Scanned pages are pictures; let another program find the text in them first."
            }
            Self::Empty { .. } => "If it holds pictures, attach those instead.",
        }
    }
}

impl From<&DocumentError> for ErrorReport {
    fn from(error: &DocumentError) -> Self {
        Self { code: error.code().to_owned(), message: error.to_string(), hint: error.hint().to_owned() }
    }
}

/// What another program says, on one line and without a full stop.
pub(crate) fn within(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}
