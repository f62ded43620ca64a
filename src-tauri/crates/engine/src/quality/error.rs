//! Why no plan comes to what was wanted, and why what was measured cannot be kept.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::error::EngineError;

/// What can be wrong with an aim, and with the file that keeps what was measured.
#[derive(Debug, Error)]
pub enum QualityError {
    /// Not even the fewest bits come to so little.
    #[error(
        "The model cannot come to {bytes} bytes ({bits:.2} bits per weight): with the fewest bits it takes {least} \
         ({least_bits:.2})."
    )]
    TooSmall {
        /// Bytes that were allowed.
        bytes: u64,
        /// The fewest.
        least: u64,
        /// The same for each parameter, in bits.
        bits: f64,
        /// The same of the fewest.
        least_bits: f64,
    },
    /// What was measured cannot be kept or read.
    #[error("{} cannot be used: {source}.", path.display())]
    Kept {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is to write the replies does not fit in memory.
    #[error(
        "The model cannot write replies here: in 8 bits it needs {:.1} GB of memory, and {:.1} GB can be used.",
        *needed as f64 / 1e9,
        *usable as f64 / 1e9
    )]
    CannotReply {
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that there are.
        usable: u64,
    },
    /// What it takes does not fit in memory.
    #[error(
        "The conversion needs {:.1} GB of memory, and {:.1} GB can be used here.",
        *needed as f64 / 1e9,
        *usable as f64 / 1e9
    )]
    TooLittleMemory {
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that there are.
        usable: u64,
    },
    /// The numbers overflow.
    #[error(
        "What was measured is not finite: the model's numbers are too large for the type that it computes in."
    )]
    NotFinite,
    /// Another process uses it.
    #[error("Another conversion is at work with {}.", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Something else is where it is to be kept.
    #[error("{} is in the way: it is not what a conversion has measured.", path.display())]
    InTheWay {
        /// The file.
        path: PathBuf,
    },
}

impl From<QualityError> for EngineError {
    fn from(error: QualityError) -> Self {
        let (code, hint) = match &error {
            QualityError::TooSmall { .. } => {
                ("target_too_small", "Allow it more, or choose a smaller model.")
            }
            QualityError::Kept { .. } => {
                ("not_written", "Check that the folder can be written to and that the disk is not full.")
            }
            QualityError::CannotReply { .. } => {
                ("memory", "Leave --replies out, or choose a text of your own with --calibrate.")
            }
            QualityError::TooLittleMemory { .. } => (
                "memory",
                "Convert it with --bits, choose a shorter text, or convert it on a larger machine.",
            ),
            QualityError::NotFinite => ("not_finite", "Convert it to float32 first, or with --bits."),
            QualityError::Busy { .. } => {
                ("busy", "Wait for it to end, or choose another folder for the result.")
            }
            QualityError::InTheWay { .. } => {
                ("not_written", "Move it away, or choose another place for the result.")
            }
        };
        Self::Request { code, message: error.to_string(), hint }
    }
}
