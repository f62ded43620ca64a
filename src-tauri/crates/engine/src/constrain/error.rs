//! Why a reply cannot be bound as was asked for.

use foretoken_protocol::ErrorReport;
use thiserror::Error;

/// Why a reply cannot be bound as was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConstraintError {
    /// The schema, pattern or grammar cannot be enforced.
    #[error("The {what} cannot be enforced: {reason}")]
    Grammar {
        /// What it is.
        what: &'static str,
        /// What llguidance said.
        reason: String,
    },
    /// Calls of tools are asked for, but there are none.
    #[error("A tool must be called, but there are no tools.")]
    NoTools,
    /// A tool must be called that is none of those that there are.
    #[error("The tool \"{name}\" must be called, but is none of the tools.")]
    UnknownTool {
        /// Its name.
        name: String,
    },
    /// A reply is to be continued, but a form binds an answer from its first token on.
    #[error("A reply that goes on with a text cannot be given a form.")]
    Resumed,
    /// No token closes the thinking, so it cannot be told where the answer begins.
    #[error("This model's thinking is not closed by a token.")]
    ThinkingUnknown,
    /// No token begins a call, so it cannot be told where one does.
    #[error("This model's calls are not begun by a token, so strict tools cannot be enforced.")]
    CallsUnknown,
    /// What may come next can no longer be said, as where a grammar has become too much work.
    #[error("The form of the answer could be followed no further than this, so the answer ends here.")]
    GaveOut,
    /// A token is to be favoured that the model does not know.
    #[error("The token {token} is none of the {known} tokens of this model.")]
    UnknownToken {
        /// The token.
        token: u32,
        /// How many there are.
        known: usize,
    },
}

impl ConstraintError {
    fn code(&self) -> &'static str {
        match self {
            Self::Grammar { .. } => "invalid_grammar",
            Self::NoTools => "no_tools",
            Self::UnknownTool { .. } => "unknown_tool",
            Self::Resumed => "form_of_resumed_reply",
            Self::ThinkingUnknown => "thinking_unknown",
            Self::CallsUnknown => "calls_unknown",
            Self::GaveOut => "grammar_failed",
            Self::UnknownToken { .. } => "unknown_biased_token",
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::Grammar { .. } => "Leave out what cannot be enforced, or ask for it in words.",
            Self::NoTools | Self::UnknownTool { .. } => "Send the tools, or let the model choose.",
            Self::Resumed => "Leave the last message of the assistant out, or the form.",
            Self::ThinkingUnknown => "Switch thinking off.",
            Self::CallsUnknown => "Leave \"strict\" out.",
            Self::GaveOut => {
                "Ask for a simpler schema or grammar, with fewer choices and shorter repetitions."
            }
            Self::UnknownToken { .. } => "Check that the ids belong to this model's tokenizer.",
        }
    }
}

impl From<&ConstraintError> for ErrorReport {
    fn from(error: &ConstraintError) -> Self {
        Self { code: error.code().into(), message: error.to_string(), hint: error.hint().into() }
    }
}
