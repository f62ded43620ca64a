//! What can be wrong with a text to calibrate on. No message holds anything of the text itself: messages are logged.

use std::io;
use std::path::PathBuf;

use crate::error::EngineError;
use crate::text::TextError;

/// Why a text cannot be calibrated on. Lines and messages are counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The file system failed.
    #[error("{} cannot be read: {source}.", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Its name does not say how it is to be read.
    #[error("{} is no .txt, .md or .jsonl file.", path.display())]
    OtherKind {
        /// The file.
        path: PathBuf,
    },
    /// It holds more than is read.
    #[error("{} is larger than {} MB.", path.display(), most_bytes >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What a file may hold, in bytes.
        most_bytes: u64,
    },
    /// There is nothing in it but white space.
    #[error("{} is empty.", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is in another encoding, or no text.
    #[error("Line {line} of {} is not UTF-8.", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The first such line.
        line: usize,
    },
    /// A line is no JSON object.
    #[error("Line {line} is not a JSON object (column {column}).")]
    NotJson {
        /// The line.
        line: usize,
        /// Where reading ended.
        column: usize,
    },
    /// A line has nothing to read.
    #[error("Line {line} has neither \"messages\", a list that is not empty, nor \"text\".")]
    NothingToRead {
        /// The line.
        line: usize,
    },
    /// Nobody known says this.
    #[error("The role of message {message} in line {line} is none of system, user, assistant and tool.")]
    UnknownRole {
        /// The line.
        line: usize,
        /// The message.
        message: usize,
    },
    /// A message is not as chats have them.
    #[error("Message {message} in line {line} is no message with a \"role\" and a text as \"content\".")]
    NotAMessage {
        /// The line.
        line: usize,
        /// The message.
        message: usize,
    },
    /// The model's chat template does not write this chat.
    #[error("The model's chat template does not accept the messages in line {line}.")]
    Refused {
        /// The line.
        line: usize,
    },
    /// There is less text than says anything.
    #[error("The text is {tokens} tokens long; {needed} are needed.")]
    TooShort {
        /// What there is.
        tokens: usize,
        /// What there must be.
        needed: usize,
    },
    /// It cannot be divided by document.
    #[error("The text has {documents} different documents; {needed} are needed.")]
    TooFewDocuments {
        /// What there is.
        documents: usize,
        /// What there must be.
        needed: usize,
    },
    /// The prompts that the program brings along are damaged.
    #[error("The prompts of the program cannot be read: {0}.")]
    Prompts(serde_json::Error),
    /// Tokenizer or template failed.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl CalibrationError {
    /// Stable name of the kind of error, for programs, and what to do; `None` where the error within has both.
    fn code_and_hint(&self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::Unreadable { .. } => ("io", "Check that the file is there and may be read."),
            Self::OtherKind { .. } => (
                "calibration_file_kind",
                "Choose a text (.txt), Markdown (.md), or a file with a JSON object on each line (.jsonl).",
            ),
            Self::TooLarge { .. } => ("calibration_file_too_large", "Choose a part of it."),
            Self::Empty { .. } => ("calibration_text_empty", "Choose a file with text in it."),
            Self::NotUtf8 { .. } => ("calibration_file_not_utf8", "Save the file as UTF-8 and try again."),
            Self::NotJson { .. } | Self::NothingToRead { .. } => (
                "calibration_line_invalid",
                "Write {\"messages\": [{\"role\": …, \"content\": …}, …]} or {\"text\": …} on each line.",
            ),
            Self::UnknownRole { .. } => {
                ("calibration_role_unknown", "Name the role system, user, assistant or tool.")
            }
            Self::NotAMessage { .. } => (
                "calibration_message_invalid",
                "Write {\"role\": …, \"content\": …}, with a text as content; pictures are not read.",
            ),
            Self::Refused { .. } => (
                "calibration_chat_refused",
                "Begin with the question of a person, and let questions and answers take turns.",
            ),
            Self::TooShort { .. } => {
                ("calibration_text_too_short", "Choose a longer text, or use the built-in one.")
            }
            Self::TooFewDocuments { .. } => (
                "calibration_documents_too_few",
                "Choose a text with more parts: blank lines divide .txt and .md, and each line of .jsonl is a part.",
            ),
            Self::Prompts(_) => ("calibration_prompts_damaged", "Install the program again."),
            Self::Text(_) => return None,
        })
    }
}

impl From<CalibrationError> for EngineError {
    fn from(error: CalibrationError) -> Self {
        let message = error.to_string();
        match (error.code_and_hint(), error) {
            (_, CalibrationError::Text(error)) => error.into(),
            (known, _) => {
                let (code, hint) = known.unwrap_or_default();
                Self::Request { code, message, hint }
            }
        }
    }
}
