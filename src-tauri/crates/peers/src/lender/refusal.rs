//! Why a lending Mac does not do what it is asked, in words for the person at the other one.

use std::ops::RangeInclusive;

use foretoken_protocol::ErrorReport;

/// The ranks of a ring.
pub(crate) const SIZES: RangeInclusive<u32> = 2..=4;

/// Why something is refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("The lending Mac does not know this one.")]
    NotPaired,
    #[error("The lending Mac did not understand what it was asked.")]
    NotUnderstood,
    #[error("The lending Mac was asked in more than {most} bytes.")]
    TooLong { most: usize },
    #[error("The lending Mac is in use: it runs {most} of {most} workers.")]
    Busy { most: usize },
    #[error("There is no rank {rank} to lend in a ring of {size}.")]
    Place { rank: u32, size: u32 },
    #[error("This Mac has no such ring there.")]
    NoRing,
    #[error("That end of the ring is connected already.")]
    Taken,
    #[error("The lending Mac measures {pings} pings and {bytes} bytes for nobody.")]
    Measure { pings: u32, bytes: u64 },
    #[error("The lending Mac was asked for a file whose name is none.")]
    FileName,
    #[error("That model has no file {name} there.")]
    NoFile { name: String },
    #[error("The lending Mac was asked for a file of {bytes} bytes from byte {from} on.")]
    Beyond { from: u64, bytes: u64 },
    #[error("The lending Mac cannot read the file: {detail}")]
    Unreadable { detail: String },
    #[error("This Mac copies {most} files from there already.")]
    Copies { most: usize },
    #[error("The lending Mac was offered files that no model has.")]
    Gift,
    #[error("The lending Mac has no port free: {detail}")]
    NoPort { detail: String },
}

impl Refusal {
    fn code(&self) -> &'static str {
        match self {
            Self::NotPaired => "peer_not_paired",
            Self::NotUnderstood => "ask_not_understood",
            Self::TooLong { .. } => "ask_too_long",
            Self::Busy { .. } => "lender_busy",
            Self::Place { .. } => "ring_place",
            Self::NoRing => "ring_unknown",
            Self::Taken => "ring_taken",
            Self::Measure { .. } => "measure_too_much",
            Self::FileName => "file_name",
            Self::NoFile { .. } => "file_unknown",
            Self::Beyond { .. } => "file_beyond",
            Self::Unreadable { .. } => "file_unreadable",
            Self::Copies { .. } => "lender_copies",
            Self::Gift => "gift_odd",
            Self::NoPort { .. } => "lender_no_port",
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::NotPaired => "Pair the two Macs, and allow this one to use the other.",
            Self::NotUnderstood | Self::TooLong { .. } | Self::Place { .. } | Self::Measure { .. } => {
                "Update Foretoken on both Macs."
            }
            Self::FileName | Self::Gift => "Update Foretoken on both Macs.",
            Self::NoFile { .. } => "Look again which files the model has.",
            Self::Beyond { .. } => "Look again which files the model has, and fetch it anew.",
            Self::Unreadable { .. } => "Check the disk of the other Mac, and try again.",
            Self::Copies { .. } => "Wait until one of them is here, and try again.",
            Self::Busy { .. } => "Unload the model that runs there, and try again.",
            Self::NoRing | Self::Taken => "Load the model again.",
            Self::NoPort { .. } => "Quit programs there that hold many connections, and try again.",
        }
    }
}

impl From<Refusal> for ErrorReport {
    fn from(refusal: Refusal) -> Self {
        Self { code: refusal.code().into(), message: refusal.to_string(), hint: refusal.hint().into() }
    }
}
