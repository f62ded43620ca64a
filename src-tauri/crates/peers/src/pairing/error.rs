//! Why two Macs are not paired.

use std::time::Duration;

use foretoken_protocol::ErrorReport;

use crate::error::PeerError;

/// Why two Macs are not paired.
#[derive(Debug, thiserror::Error)]
pub enum PairingError {
    /// Nobody at the lending Mac has opened it for pairing, or the time is over.
    #[error("The lending Mac is not open for pairing.")]
    Closed,
    /// Another attempt is on.
    #[error("Another Mac is being paired.")]
    Busy,
    /// There were enough attempts.
    #[error("There were {most} attempts to pair within {} minutes.", within.as_secs() / 60)]
    TooOften {
        /// How many are allowed.
        most: usize,
        /// In how long.
        within: Duration,
    },
    /// Nobody confirmed in time.
    #[error("The digits were not confirmed within {} s.", within.as_secs())]
    Expired {
        /// How long there was.
        within: Duration,
    },
    /// What the other Mac revealed is not what it had committed to.
    #[error("The other Mac did not keep to what it had said.")]
    Mismatch,
    /// The person here said that the digits differ, or does not want it.
    #[error("You did not confirm the digits.")]
    Declined,
    /// The person there said so.
    #[error("The digits were not confirmed at the other Mac.")]
    DeclinedThere,
    /// The other Mac cannot be talked to.
    #[error(transparent)]
    Peer(#[from] PeerError),
}

impl PairingError {
    /// Stable, for programs.
    pub fn code(&self) -> &str {
        match self {
            Self::Closed => "pairing_closed",
            Self::Busy => "pairing_busy",
            Self::TooOften { .. } => "pairing_too_often",
            Self::Expired { .. } => "pairing_expired",
            Self::Mismatch => "pairing_mismatch",
            Self::Declined => "pairing_declined",
            Self::DeclinedThere => "pairing_declined_there",
            Self::Peer(error) => error.code(),
        }
    }

    /// What people can do about it: one sentence.
    pub fn hint(&self) -> &str {
        match self {
            Self::Closed => "Open it for pairing in its settings, and try again within two minutes.",
            Self::Busy => "Wait until that is done, and try again.",
            Self::TooOften { .. } => {
                "Try again in an hour; if these were not your attempts, somebody on the network tries to get in."
            }
            Self::Expired { .. } => "Try again, and confirm on both Macs.",
            Self::Mismatch => "Try again in a network that you trust: somebody may be between the two Macs.",
            Self::Declined | Self::DeclinedThere => {
                "If the digits differed, try again in a network that you trust."
            }
            Self::Peer(error) => error.hint(),
        }
    }
}

impl From<PairingError> for ErrorReport {
    fn from(error: PairingError) -> Self {
        Self { code: error.code().into(), message: error.to_string(), hint: error.hint().into() }
    }
}
