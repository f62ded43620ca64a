//! The error of any request to the engine, and the report that is made of it for the shell and for people: a stable
//! code, a message and a hint.

use std::sync::Arc;

use foretoken_protocol::ErrorReport;
use thiserror::Error;

use crate::checkpoint::CheckpointError;
use crate::constrain::ConstraintError;
use crate::convert::ConvertError;
use crate::decode::{RowError, StepFailed, TooLarge};
use crate::device_check::DeviceError;
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
    /// It cannot be bound as was asked for.
    #[error(transparent)]
    Constraint(#[from] ConstraintError),
    /// A checkpoint cannot be converted.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// MLX failed. Its own words are in the report's hint, unless it is known what they mean.
    #[error("{}", plainly(.0))]
    Mlx(#[from] MlxError),
    /// What computes does not, or computes wrongly.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The vision tower of the checkpoint cannot be used, which its first picture has shown.
    #[error("The model cannot see: {0}")]
    Tower(Arc<CheckpointError>),
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

impl EngineError {
    /// Whether the GPU has failed, so that this process can compute nothing more.
    pub fn is_device_fault(&self) -> bool {
        matches!(self, Self::Mlx(error) if error.is_device_fault())
    }
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
            RowError::Pixels(error) => Self::Text(error.into()),
            error @ RowError::NoTower => Self::Request {
                code: "no_vision_tower",
                message: error.to_string(),
                hint: "Load the model again.",
            },
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
            EngineError::Tower(e) => report(e.code(), e.hint()),
            EngineError::Constraint(e) => e.into(),
            EngineError::Convert(e) => e.into(),
            EngineError::Mlx(e) if e.is_too_large() => {
                report("out_of_memory", "Choose a shorter chat or a smaller model.")
            }
            EngineError::Mlx(e) if e.is_out_of_memory() => {
                report("out_of_memory", "Close other programs, or choose a smaller model or a shorter chat.")
            }
            EngineError::Mlx(e) => {
                let hint = "Try again; if it happens again, restart the program.";
                report("mlx_failed", &format!("{hint} MLX says, of {}: {}", e.operation, e.message))
            }
            EngineError::Device(DeviceError::Failed { error, .. }) if error.is_out_of_memory() => {
                ErrorReport::from(&EngineError::Mlx(error.clone()))
            }
            EngineError::Device(_) => report("device_unusable", DeviceError::HINT),
            EngineError::Cancelled => report("cancelled", "Ask again."),
            EngineError::Request { code, hint, .. } => report(code, hint),
        }
    }
}

/// What computes, as people call it.
const HERE: &str = if cfg!(target_os = "macos") { "This Mac" } else { "This computer" };

/// Fewer bytes than this are not what is missing: the memory was full before.
const TELLING_BYTES: u64 = 1_000_000;

/// What a failure of MLX comes to, without its words.
fn plainly(error: &MlxError) -> String {
    let wanted = match error.bytes_wanted() {
        Some(bytes @ 1_000_000_000..) => format!(": it takes {:.1} GB more.", bytes as f64 / 1e9),
        Some(bytes @ TELLING_BYTES..) => format!(": it takes {:.0} MB more.", bytes as f64 / 1e6),
        _ => ".".into(),
    };
    if error.is_too_large() {
        format!("{HERE} cannot hold that in one piece{wanted}")
    } else if error.is_out_of_memory() {
        format!("{HERE} has too little memory free for that{wanted}")
    } else {
        "The engine could not compute that.".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(message: &str) -> ErrorReport {
        ErrorReport::from(&EngineError::from(MlxError { operation: "eval", message: message.into() }))
    }

    #[test]
    fn a_want_of_memory_is_said_in_plain_words_alone() {
        let report = told("[malloc] Unable to allocate 12884901888 bytes.");
        assert_eq!(report.code, "out_of_memory");
        assert_eq!(
            report.message,
            format!("{HERE} has too little memory free for that: it takes 12.9 GB more.")
        );
        assert_eq!(report.hint, "Close other programs, or choose a smaller model or a shorter chat.");
        let report = told(
            "[metal::malloc] Attempting to allocate 33554432 bytes which is greater than the maximum allowed buffer size of 9 bytes.",
        );
        assert_eq!(report.message, format!("{HERE} cannot hold that in one piece: it takes 34 MB more."));
        assert_eq!(
            report.hint, "Choose a shorter chat or a smaller model.",
            "closing programs would not help"
        );
        let message = |bytes: u64| told(&format!("Unable to allocate {bytes} bytes.")).message;
        assert!(message(33_554_432).ends_with(": it takes 34 MB more."));
        assert!(message(64).ends_with(" for that."), "a few bytes are not what is missing");
    }

    #[test]
    fn another_failure_of_mlx_is_one_of_the_engine_with_mlx_s_words_in_the_hint() {
        let report = told("[matmul] Shapes do not match");
        assert_eq!(
            (report.code.as_str(), report.message.as_str()),
            ("mlx_failed", "The engine could not compute that.")
        );
        assert!(report.hint.ends_with("MLX says, of eval: [matmul] Shapes do not match"), "{}", report.hint);
    }
}
