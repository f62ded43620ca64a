//! The error of any request to the engine, and the report that is made of it for the shell and for people: a stable
//! code, a message and a hint.

use foretoken_protocol::ErrorReport;
use thiserror::Error;

use crate::checkpoint::CheckpointError;
use crate::convert::ConvertError;
use crate::decode::{RowError, StepFailed, TooLarge};
use crate::mlx::MlxError;
use crate::model::LoadError;
use crate::text::TextError;

/// Whatever can go wrong between a request and its answer.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The checkpoint cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Its tokenizer or template cannot, or the text.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A checkpoint cannot be converted.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// MLX failed.
    #[error("MLX failed in {0}.")]
    Mlx(#[from] MlxError),
    /// Whoever asked for it has ended it.
    #[error("It was cancelled.")]
    Cancelled,
    /// The request cannot be served.
    #[error("{message}")]
    Request {
        /// Stable, for programs.
        code: &'static str,
        /// What is wrong.
        message: String,
        /// What to do.
        hint: &'static str,
    },
}

impl From<LoadError> for EngineError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Checkpoint(error) => Self::Checkpoint(error),
            LoadError::Mlx(error) => Self::Mlx(error),
            LoadError::Cancelled => Self::Cancelled,
        }
    }
}

impl From<StepFailed> for EngineError {
    fn from(failed: StepFailed) -> Self {
        Self::Mlx(failed.error)
    }
}

impl From<RowError> for EngineError {
    fn from(error: RowError) -> Self {
        match error {
            RowError::Mlx(error) => Self::Mlx(error),
            error @ RowError::NotFinite { .. } => Self::Request {
                code: "not_finite",
                message: error.to_string(),
                hint: "Ask again. If it happens again, download the model again, or choose another one.",
            },
        }
    }
}

impl From<TooLarge> for EngineError {
    fn from(error: TooLarge) -> Self {
        Self::Request {
            code: "prompt_too_large",
            message: error.to_string(),
            hint: "Start a new chat, shorten the question, or choose a smaller model.",
        }
    }
}

impl From<&EngineError> for ErrorReport {
    fn from(error: &EngineError) -> Self {
        let report = |code: &str, hint: &str| ErrorReport {
            code: code.into(),
            message: error.to_string(),
            hint: hint.into(),
        };
        match error {
            EngineError::Checkpoint(e) => e.into(),
            EngineError::Text(e) => e.into(),
            EngineError::Convert(e) => e.into(),
            EngineError::Mlx(e) if is_out_of_memory(e) => {
                report("out_of_memory", "Close other programs, or choose a smaller model or a shorter chat.")
            }
            EngineError::Mlx(_) => {
                report("mlx_failed", "Try again; if it happens again, restart the program.")
            }
            EngineError::Cancelled => report("cancelled", "Ask again."),
            EngineError::Request { code, hint, .. } => report(code, hint),
        }
    }
}

fn is_out_of_memory(error: &MlxError) -> bool {
    error.message.contains("allocate") || error.message.contains("out of memory")
}
