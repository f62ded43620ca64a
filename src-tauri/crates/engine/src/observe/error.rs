//! Why a model cannot be observed.

use thiserror::Error;

use crate::error::EngineError;

/// What can be wrong with texts, models and budgets before anything is computed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ObserveError {
    /// There is nothing to read.
    #[error("Text {index} is empty.")]
    EmptyText {
        /// Which, from 0.
        index: usize,
    },
    /// There are no texts.
    #[error("There is no text to read.")]
    NoText,
    /// A text is not made of this model's tokens.
    #[error("Text {index} holds token {id}, but the model knows only {vocab} tokens.")]
    UnknownToken {
        /// Which text, from 0.
        index: usize,
        /// The first such token.
        id: u32,
        /// Tokens that the model knows.
        vocab: usize,
    },
    /// Two models have different tokens.
    #[error("The models do not go together: one knows {reference} tokens, the other {model}.")]
    OtherVocabulary {
        /// Tokens of the reference.
        reference: usize,
        /// Tokens of the model that is compared with it.
        model: usize,
    },
    /// What is to be quantized is quantized already.
    #[error("{path} is quantized already: {spec}.")]
    Quantized {
        /// The module.
        path: String,
        /// How, in words.
        spec: String,
    },
    /// Matrices cannot have so many bits.
    #[error("Weights cannot have {bits} bits; they can have 2, 3, 4, 5, 6 or 8.")]
    NoSuchWidth {
        /// What was asked for.
        bits: usize,
    },
    /// Not even the fewest bits fit.
    #[error("The weights take at least {least} bytes, more than the {budget} bytes that they may take.")]
    BudgetTooSmall {
        /// Bytes that there are.
        budget: u64,
        /// Bytes of the smallest choice.
        least: u64,
    },
}

impl ObserveError {
    /// A stable code and what to do.
    fn parts(&self) -> (&'static str, &'static str) {
        match self {
            Self::EmptyText { .. } | Self::NoText => ("empty_prompt", "Give it at least one token."),
            Self::UnknownToken { .. } => {
                ("unknown_token", "Check that the ids belong to this model's tokenizer.")
            }
            Self::OtherVocabulary { .. } => {
                ("other_vocabulary", "Compare a model with the one that it was converted from.")
            }
            Self::Quantized { .. } => ("already_quantized", "Choose the model as it was published."),
            Self::NoSuchWidth { .. } => ("invalid_setting", "Take one of these."),
            Self::BudgetTooSmall { .. } => ("budget_too_small", "Allow the model more bytes."),
        }
    }
}

impl From<ObserveError> for EngineError {
    fn from(error: ObserveError) -> Self {
        let (code, hint) = error.parts();
        Self::Request { code, message: error.to_string(), hint }
    }
}
