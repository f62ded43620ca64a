//! What can go wrong between text and token ids, with a stable code, a message and a hint what to do for each.

use std::path::PathBuf;

use foretoken_calls::ToolsError;
use foretoken_pictures::PixelsError;
use foretoken_protocol::{Blindness, ErrorReport};

/// What can go wrong between text and token ids.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The folder has no tokenizer.
    #[error("There is no tokenizer.json in {}.", dir.display())]
    TokenizerMissing {
        /// The model folder.
        dir: PathBuf,
    },
    /// The tokenizer file is there but cannot be used.
    #[error("The tokenizer {} cannot be read: {reason}.", path.display())]
    TokenizerUnreadable {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        reason: String,
    },
    /// The tokenizer turns ids into text in a way that the Qwen family does not use.
    #[error("The tokenizer {} does not decode bytes, as tokenizers of this model family do.", path.display())]
    TokenizerUnsupported {
        /// The file.
        path: PathBuf,
    },
    /// The tokenizer refused a text.
    #[error("The tokenizer cannot encode the text: {reason}.")]
    EncodingFailed {
        /// What the tokenizer said.
        reason: String,
    },
    /// None of the places for a chat template has one.
    #[error(
        "There is no chat template in {}, neither as chat_template.jinja or chat_template.json nor in \
         tokenizer_config.json.",
        dir.display()
    )]
    TemplateMissing {
        /// The model folder.
        dir: PathBuf,
    },
    /// The chat template is there but is not a template.
    #[error("The chat template in {} cannot be read{}: {reason}.", path.display(), in_line(*line))]
    TemplateUnreadable {
        /// The file that holds it.
        path: PathBuf,
        /// The line of the template, counted from 1, if the error has one.
        line: Option<usize>,
        /// What the reader said.
        reason: String,
    },
    /// The chat template ended in an error, or refused the messages itself.
    #[error("The chat template does not accept this chat{}: {reason}", in_line(*line))]
    TemplateFailed {
        /// The line of the template, counted from 1, if the error has one.
        line: Option<usize>,
        /// What the template said, word for word if it raised the error itself.
        reason: String,
    },
    /// There are tools, but the chat template has no place for them.
    #[error("The chat template of this model knows no tools.")]
    TemplateWithoutTools,
    /// There are tools, but the chat template writes calls of them otherwise than `CallParser` reads them.
    #[error("The chat template of this model writes calls of tools in a form that is not understood.")]
    TemplateWithOtherCalls,
    /// There are pictures, but the model sees none.
    #[error("There are pictures in this chat, which this model cannot see. {reason}")]
    SeesNoPictures {
        /// Why.
        reason: Blindness,
    },
    /// The chat template has not put a place for each picture into the prompt.
    #[error("The chat template of this model has places for {places} of the chat's {pictures} pictures.")]
    TemplateWithoutPictures {
        /// Pictures in the chat.
        pictures: usize,
        /// Places in the prompt.
        places: usize,
    },
    /// The pixels of a picture cannot be used.
    #[error(transparent)]
    Picture(#[from] PixelsError),
    /// A JSON file of the checkpoint cannot be used.
    #[error("{} cannot be read: {reason}.", path.display())]
    FileUnreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The tools are not of OpenAI's form.
    #[error("The tools cannot be read: {0}.")]
    Tools(#[from] ToolsError),
    /// There is no way to tell the model what stands behind.
    #[error("This model was not made to fill in the middle of a text.")]
    NoFillIn,
    /// A stop text without a character would stop everywhere.
    #[error("A stop text is empty.")]
    EmptyStopText,
}

fn in_line(line: Option<usize>) -> String {
    line.map(|line| format!(" (line {line})")).unwrap_or_default()
}

impl TextError {
    fn code(&self) -> &'static str {
        match self {
            Self::TokenizerMissing { .. } => "tokenizer_missing",
            Self::TokenizerUnreadable { .. } => "tokenizer_unreadable",
            Self::TokenizerUnsupported { .. } => "tokenizer_unsupported",
            Self::EncodingFailed { .. } => "encoding_failed",
            Self::TemplateMissing { .. } => "template_missing",
            Self::TemplateUnreadable { .. } => "template_unreadable",
            Self::TemplateFailed { .. } => "template_failed",
            Self::TemplateWithoutTools => "template_without_tools",
            Self::TemplateWithOtherCalls => "template_with_other_calls",
            Self::FileUnreadable { .. } => "file_unreadable",
            Self::SeesNoPictures { .. } => "sees_no_pictures",
            Self::TemplateWithoutPictures { .. } => "template_without_pictures",
            Self::Picture(error) => error.code(),
            Self::Tools(_) => "invalid_tools",
            Self::NoFillIn => "no_fill_in",
            Self::EmptyStopText => "empty_stop_text",
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::TokenizerMissing { .. } => {
                "Copy tokenizer.json from the original model into the folder, or download the model again."
            }
            Self::TokenizerUnreadable { .. } | Self::FileUnreadable { .. } => {
                "Download the file again; it may be incomplete."
            }
            Self::TokenizerUnsupported { .. } => "Choose a Qwen model with its own tokenizer.",
            Self::EncodingFailed { .. } => "Shorten or change the message and try again.",
            Self::TemplateMissing { .. } => {
                "Copy chat_template.jinja or tokenizer_config.json from the original model into the folder."
            }
            Self::TemplateUnreadable { .. } => {
                "Replace the chat template with the original model's; it may have been edited."
            }
            Self::TemplateFailed { .. } => {
                "Change the chat as the template asks, or choose a model with another template."
            }
            Self::TemplateWithoutTools => {
                "Leave the tools out, or choose a model that was taught to use them."
            }
            Self::TemplateWithOtherCalls => {
                "Leave the tools out, or choose a model whose template writes calls as <function=NAME> or as JSON."
            }
            Self::SeesNoPictures { .. } => "Choose a model that sees, or ask without pictures.",
            Self::TemplateWithoutPictures { .. } => {
                "Put pictures into messages of people, or choose a model whose template has a place for them."
            }
            Self::Picture(error) => error.hint(),
            Self::Tools(error) => error.hint(),
            Self::NoFillIn => "Ask without a suffix, or choose a model for code.",
            Self::EmptyStopText => "Leave it out, or write the text that should end the reply.",
        }
    }
}

impl From<&TextError> for ErrorReport {
    fn from(error: &TextError) -> Self {
        Self { code: error.code().into(), message: error.to_string(), hint: error.hint().into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_carries_the_operands() {
        let error = TextError::TemplateUnreadable {
            path: "/models/a/chat_template.jinja".into(),
            line: Some(7),
            reason: "unexpected end of block".into(),
        };
        let report = ErrorReport::from(&error);
        assert_eq!(report.code, "template_unreadable");
        assert_eq!(
            report.message,
            "The chat template in /models/a/chat_template.jinja cannot be read (line 7): unexpected end of block."
        );
        assert!(!report.hint.is_empty());
    }
}
