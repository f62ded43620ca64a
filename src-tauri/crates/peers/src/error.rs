//! Why another Mac cannot be used; each with a stable code for programs and a hint for people.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use foretoken_protocol::ErrorReport;

/// Why another Mac cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// Nothing could be connected to.
    #[error("{address} cannot be reached: {source}.")]
    Unreachable {
        /// Where it should be.
        address: String,
        /// Why not.
        source: io::Error,
    },
    /// It does not say what is due.
    #[error("The other Mac did not answer within {} s.", within.as_secs())]
    Silent {
        /// How long it had.
        within: Duration,
    },
    /// Something that is no Foretoken, or one of another version.
    #[error("What answers at {address} is not Foretoken: {detail}.")]
    Stranger {
        /// Where.
        address: String,
        /// What was wrong in the handshake.
        detail: String,
    },
    /// Another Mac than the one that was paired.
    #[error("The Mac that answers at {address} is not the one that was paired.")]
    OtherKey {
        /// Where.
        address: String,
    },
    /// It does not know this Mac.
    #[error("The other Mac does not know this one.")]
    Unknown,
    /// This Mac does not know it, or not any more.
    #[error("The other Mac is not paired with this one.")]
    NotPaired,
    /// The connection ended in mid-sentence.
    #[error("The connection to the other Mac broke: {source}.")]
    Broken {
        /// How.
        source: io::Error,
    },
    /// It says something that is no answer.
    #[error("The other Mac was not understood: {detail}.")]
    NotUnderstood {
        /// What is wrong with it.
        detail: String,
    },
    /// It says more in one line than anybody needs.
    #[error("The other Mac sent a line of more than {most} bytes.")]
    TooLong {
        /// What is allowed.
        most: usize,
    },
    /// It refuses, in its own words.
    #[error("{}", .0.message)]
    Refused(ErrorReport),
    /// One of several Macs cannot be used.
    #[error("{mac}: {error}")]
    Of {
        /// What it calls itself.
        mac: String,
        /// Why.
        error: Box<PeerError>,
    },
    /// A ring has too few or too many Macs.
    #[error("A model cannot be split over {ranks} Macs.")]
    Ranks {
        /// How many there would be.
        ranks: usize,
    },
    /// A text is not the digest of a public key.
    #[error("That is not the key of a Mac.")]
    NoKey,
    /// The own keys could not be made or read.
    #[error("The keys of this Mac cannot be used: {detail}.")]
    Identity {
        /// What is wrong with them.
        detail: String,
    },
    /// A socket on this Mac itself could not be had.
    #[error("A connection within this Mac could not be made: {source}.")]
    Local {
        /// Why not.
        source: io::Error,
    },
    /// This Mac cannot be reached by others.
    #[error("This Mac cannot listen at {address}: {source}.")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// A file stopped arriving before its end. What has arrived is kept.
    #[error("Of {name} {arrived} of {bytes} bytes have arrived.")]
    CutShort {
        /// Its name.
        name: String,
        /// How many bytes there are.
        arrived: u64,
        /// How many there should be.
        bytes: u64,
    },
    /// What has arrived is not what the other Mac had listed. It was removed.
    #[error("The content of {name} is not the one that the other Mac had announced.")]
    HashDiffers {
        /// Its name.
        name: String,
    },
    /// A file is another than the one that the other Mac had listed.
    #[error("{name} has {bytes} bytes on the other Mac, and had {listed} in its list.")]
    FileChanged {
        /// Its name.
        name: String,
        /// Its size in the list.
        listed: u64,
        /// Its size now.
        bytes: u64,
    },
    /// No room is left for a file. What has arrived is kept.
    #[error("The disk is full: {} cannot be written on.", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else fetches the same file to the same place.
    #[error("{} is being fetched already.", path.display())]
    FileInUse {
        /// Where.
        path: PathBuf,
    },
    /// A file of this Mac cannot be read or written.
    #[error("{} cannot be written: {source}.", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file of this Mac's that is to be given cannot be read.
    #[error("{} cannot be read: {source}.", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Giving ended before its end. What has arrived is kept.
    #[error("The connection broke while {name} was being sent.")]
    GivingCut {
        /// The file.
        name: String,
    },
    /// Other Macs cannot be looked for, nor this one be found.
    #[error("Bonjour cannot be used: {detail}.")]
    Bonjour {
        /// Why not.
        detail: String,
    },
    /// There is nowhere to look for it.
    #[error("No address of the other Mac is known.")]
    NoAddress,
    /// A socket cannot be put where another program finds it.
    #[error("The socket {} could not be made: {source}.", path.display())]
    Socket {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl PeerError {
    /// The same, of one of several Macs.
    pub fn of(self, mac: String) -> Self {
        Self::Of { mac, error: Box::new(self) }
    }

    /// Stable, for programs. A refusal keeps the code that the other Mac gave it.
    pub fn code(&self) -> &str {
        match self {
            Self::Unreachable { .. } => "peer_unreachable",
            Self::Silent { .. } => "peer_silent",
            Self::Stranger { .. } => "peer_stranger",
            Self::OtherKey { .. } => "peer_other_key",
            Self::Unknown => "peer_unknown",
            Self::NotPaired => "peer_not_paired",
            Self::Broken { .. } => "peer_broken",
            Self::NotUnderstood { .. } => "peer_not_understood",
            Self::TooLong { .. } => "peer_too_long",
            Self::Refused(report) => &report.code,
            Self::Of { error, .. } => error.code(),
            Self::Ranks { .. } => "peer_ranks",
            Self::NoKey => "peer_no_key",
            Self::Identity { .. } => "peer_identity",
            Self::Local { .. } => "peer_local",
            Self::Listen { .. } => "peer_listen",
            Self::CutShort { .. } => "peer_cut_short",
            Self::HashDiffers { .. } => "peer_hash_differs",
            Self::FileChanged { .. } => "peer_file_changed",
            Self::DiskFull { .. } => "disk_full",
            Self::FileInUse { .. } => "peer_file_in_use",
            Self::File { .. } => "peer_file",
            Self::Unreadable { .. } => "peer_unreadable",
            Self::GivingCut { .. } => "peer_giving_cut",
            Self::Bonjour { .. } => "peer_bonjour",
            Self::NoAddress => "peer_no_address",
            Self::Socket { .. } => "peer_socket",
        }
    }

    /// What people can do about it: one sentence.
    pub fn hint(&self) -> &str {
        match self {
            // macOS says "no route to host" (65) to programs that may not use the local network.
            Self::Unreachable { source, .. } if source.kind() == io::ErrorKind::HostUnreachable => {
                "macOS asks for permission for the local network: allow it for Foretoken in System Settings › \
                 Privacy & Security › Local Network, and check that both Macs are on the same network."
            }
            Self::Unreachable { .. } => {
                "Check that the other Mac is on, in the same network, and lends itself, and that the address is right."
            }
            Self::CutShort { .. } => {
                "Check that the other Mac is awake, and fetch it again: what has arrived is kept."
            }
            Self::HashDiffers { .. } => {
                "Fetch it again; if it happens again, check the model on the other Mac."
            }
            Self::FileChanged { .. } => "Look again which files the model has, and fetch it anew.",
            Self::DiskFull { .. } => "Free some space, then fetch it again: what has arrived is kept.",
            Self::FileInUse { .. } => "Wait until the other has ended.",
            Self::File { .. } => "Check that the folder exists and that you may write in it.",
            Self::Unreadable { .. } => "Check the folder of the model here.",
            Self::GivingCut { .. } => {
                "Check that the other Mac is awake, and load the model again: what has arrived is kept."
            }
            Self::Silent { .. } | Self::Broken { .. } => {
                "Check that the other Mac is awake and that the network holds, and try again."
            }
            Self::Stranger { .. } => "Check the address, and update Foretoken on both Macs.",
            Self::OtherKey { .. } => "Check the address; if it is right, pair the two Macs again.",
            Self::Unknown | Self::NotPaired => "Pair the two Macs.",
            Self::NotUnderstood { .. } | Self::TooLong { .. } => "Update Foretoken on both Macs.",
            Self::Refused(report) => &report.hint,
            Self::Of { error, .. } => error.hint(),
            Self::Ranks { .. } => "Choose one to three other Macs.",
            Self::NoKey => "Take the key from the list of paired Macs.",
            Self::Identity { .. } => "Remove this Mac's key from the keychain, and pair it again.",
            Self::Local { .. } => "Quit programs that hold many connections, and try again.",
            Self::Listen { .. } => "Choose another port, or quit the program that uses this one.",
            Self::Bonjour { .. } => {
                "Type the address of the other Mac, or quit the program that keeps Bonjour's port for itself."
            }
            Self::NoAddress => "Type its address, or look for it again.",
            Self::Socket { .. } => "Check that the folder is yours alone, and that its path is short.",
        }
    }
}

impl From<PeerError> for ErrorReport {
    fn from(error: PeerError) -> Self {
        Self { code: error.code().into(), message: error.to_string(), hint: error.hint().into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_route_names_the_permission() {
        let of =
            |kind| PeerError::Unreachable { address: "10.0.0.2:1".into(), source: io::Error::from(kind) };
        let report = ErrorReport::from(of(io::ErrorKind::HostUnreachable));
        assert_eq!(report.code, "peer_unreachable");
        assert!(report.message.contains("10.0.0.2:1") && report.hint.contains("Local Network"));
        assert!(!of(io::ErrorKind::ConnectionRefused).hint().contains("Local Network"));
    }
}
