//! The errors of the library: why a model cannot be found on the Hub, downloaded, kept on the disk or moved. Each kind
//! has a message, a stable code for the page and a hint for the person.

use std::io;
use std::path::{Path, PathBuf};

use foretoken_protocol::ErrorReport;
use thiserror::Error;

use crate::hub::RepoId;

/// Why a model could not be found, fetched or kept.
#[derive(Debug, Error)]
pub enum LibraryError {
    /// Not of the form `organisation/name`.
    #[error("{text:?} is not the name of a repository.")]
    RepoName {
        /// What was given.
        text: String,
    },
    /// The address of the Hub is not one.
    #[error("{address:?} cannot be the address of a Hub: {detail}.")]
    Endpoint {
        /// What was given.
        address: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The address of the proxy is not one.
    #[error("{address:?} cannot be the address of a proxy: {detail}.")]
    Proxy {
        /// What was given.
        address: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The HTTP client could not be made.
    #[error("Secure connections cannot be made on this computer: {detail}.")]
    Tls {
        /// What is wrong.
        detail: String,
    },
    /// No answer, after all retries.
    #[error("{host} cannot be reached: {detail}.")]
    Unreachable {
        /// The server.
        host: String,
        /// What happened last.
        detail: String,
    },
    /// The server refuses, after all retries where a retry makes sense.
    #[error("{host} answered {status} when asked for {what}.")]
    Refused {
        /// The server.
        host: String,
        /// The HTTP status.
        status: u16,
        /// What was asked for.
        what: String,
    },
    /// The server asks to wait for longer than whoever asks would.
    #[error("{host} asks to wait for {seconds} seconds before the next request.")]
    Busy {
        /// The server.
        host: String,
        /// How long.
        seconds: u64,
    },
    /// The repository does not exist, or is hidden from whoever asks.
    #[error("There is no model {repo} on the Hub, or it is private.")]
    NoRepo {
        /// What was asked for.
        repo: RepoId,
    },
    /// The repository has no such revision or file.
    #[error("{repo} has no {what}.")]
    NoEntry {
        /// The repository.
        repo: RepoId,
        /// The revision or file.
        what: String,
    },
    /// The repository wants a token and consent.
    #[error("{repo} is only for people whom its owner has let in.")]
    Gated {
        /// The repository.
        repo: RepoId,
        /// Whether a token was sent.
        with_token: bool,
    },
    /// The Hub does not know the token, and then shows nothing, not even what is open to all.
    #[error("{host} does not accept the token.")]
    BadToken {
        /// The server.
        host: String,
    },
    /// The answer is not what the protocol says.
    #[error("{host} sent something unexpected for {what}: {detail}.")]
    Protocol {
        /// The server.
        host: String,
        /// What was asked for.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The server names another content for the same commit than before.
    #[error(
        "{path} of {repo} is not what the Hub announced for this revision: {found:?} instead of {expected:?}."
    )]
    Changed {
        /// The repository.
        repo: RepoId,
        /// The file.
        path: String,
        /// The content announced.
        expected: String,
        /// The content named now.
        found: String,
    },
    /// A file name that must not be written.
    #[error("The repository has a file with the name {path:?}, which cannot be kept: {reason}.")]
    FileName {
        /// The name.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Nothing to load in the repository or folder.
    #[error("{place} holds no model: {detail}.")]
    NotAModel {
        /// The repository or folder.
        place: String,
        /// What is missing.
        detail: &'static str,
    },
    /// The bytes are not those that the Hub has, however often they were fetched.
    #[error("{path} of {repo} arrives damaged: its hash is not the one that the Hub names.")]
    Corrupt {
        /// The repository.
        repo: RepoId,
        /// The file.
        path: String,
    },
    /// Not enough room, found before or while writing.
    #[error("The disk that holds {} has no room: {needed} bytes are needed, {free} are free.", path.display())]
    DiskFull {
        /// The folder.
        path: PathBuf,
        /// Bytes still to be written.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The library's folder is not there: its disk is not connected, or it was moved.
    #[error("The library {} is not there.", path.display())]
    Offline {
        /// Where it should be.
        path: PathBuf,
    },
    /// The library's folder holds something else.
    #[error("{} cannot become the library: it is not empty.", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// Another model has the folder.
    #[error("{name} is already in the library.")]
    NameTaken {
        /// The folder's name.
        name: String,
    },
    /// Another process or download works on the same model.
    #[error("{name} is being changed by another download or program.")]
    InUse {
        /// The folder's name.
        name: String,
    },
    /// No model or download has this name.
    #[error("There is no {name} in the library.")]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// A file of ours is not readable as what it should be.
    #[error("{} is damaged: {detail}.", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A copy differs from its original.
    #[error("The copy {} differs from its original.", path.display())]
    BadCopy {
        /// The copy.
        path: PathBuf,
    },
    /// A folder that a person named is none.
    #[error("{} is not a folder.", path.display())]
    NoFolder {
        /// What they named.
        path: PathBuf,
    },
    /// The file system refuses.
    #[error("{} cannot be read or written: {detail}.", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was refused.
        detail: io::Error,
    },
}

impl LibraryError {
    /// What an `error` of the file system at `path` means.
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                let free = crate::disk::free_bytes(&path).unwrap_or(0);
                Self::DiskFull { path, needed: free + 1, free }
            }
            _ => Self::Io { path, detail: error },
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::RepoName { .. } => "repo_name",
            Self::Endpoint { .. } => "hub_endpoint",
            Self::Proxy { .. } => "hub_proxy",
            Self::Tls { .. } => "hub_tls",
            Self::Unreachable { .. } => "hub_unreachable",
            Self::Refused { .. } => "hub_refused",
            Self::Busy { .. } => "hub_busy",
            Self::NoRepo { .. } => "no_repo",
            Self::NoEntry { .. } => "no_entry",
            Self::Gated { with_token: false, .. } => "gated_no_token",
            Self::Gated { with_token: true, .. } => "gated_no_access",
            Self::BadToken { .. } => "token_refused",
            Self::Protocol { .. } => "hub_protocol",
            Self::Changed { .. } => "hub_changed",
            Self::FileName { .. } => "file_name",
            Self::NotAModel { .. } => "not_a_model",
            Self::Corrupt { .. } => "download_corrupt",
            Self::DiskFull { .. } => "disk_full",
            Self::Offline { .. } => "library_offline",
            Self::NotEmpty { .. } => "folder_not_empty",
            Self::NameTaken { .. } => "name_taken",
            Self::InUse { .. } => "in_use",
            Self::Unknown { .. } => "unknown_model",
            Self::Damaged { .. } => "library_damaged",
            Self::BadCopy { .. } => "bad_copy",
            Self::NoFolder { .. } => "no_folder",
            Self::Io { .. } => "library_io",
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::RepoName { .. } => "Write it as organisation/name, as in the address of its page.",
            Self::Endpoint { .. } => {
                "Correct or remove it, in the settings or in HF_ENDPOINT; it looks like https://huggingface.co."
            }
            Self::Proxy { .. } => {
                "It looks like http://proxy.example.org:8080. A name and a password for it go into HTTPS_PROXY."
            }
            Self::Tls { .. } => "Check that the system's certificates are installed.",
            Self::Unreachable { .. } => {
                "Check the connection and the proxy settings; what has arrived is kept, so resume later."
            }
            Self::Refused { .. } => "Try again later; what has arrived is kept.",
            Self::Busy { .. } => "Try again when that time is over; what has arrived is kept.",
            Self::NoRepo { .. } => "Check the name; for a private model, set a token that may read it.",
            Self::NoEntry { .. } => "Look at the model's page on the Hub for what it has.",
            Self::Gated { with_token: false, .. } => {
                "Ask for access on the model's page, then set your Hugging Face token in the settings."
            }
            Self::Gated { with_token: true, .. } => {
                "Ask for access on the model's page, or set a token of an account that has it."
            }
            Self::BadToken { .. } => {
                "Set a new Hugging Face token in the settings, or remove the one that is there."
            }
            Self::Protocol { .. } => "Check the address of the Hub and the proxy, or try again later.",
            Self::Changed { .. } => {
                "Something between here and the Hub is wrong; do not trust it and try another network."
            }
            Self::FileName { .. } => "Nothing was written; choose another repository and tell its owner.",
            Self::NotAModel { .. } => "Choose a model with config.json and safetensors files.",
            Self::Corrupt { .. } => "Resume to fetch it again, or try another network.",
            Self::DiskFull { .. } => "Free some space, then resume; what has arrived is kept.",
            Self::Offline { .. } => "Connect the disk, or choose another library folder.",
            Self::NotEmpty { .. } => "Choose an empty folder.",
            Self::NameTaken { .. } => "Delete or rename the model that has the name first.",
            Self::InUse { .. } => "Wait until the other has ended.",
            Self::Unknown { .. } => "Look at the list again.",
            Self::Damaged { .. } => "Remove the file; Foretoken makes it again.",
            Self::BadCopy { .. } => "The original is untouched; check the disk that was copied to.",
            Self::NoFolder { .. } => "Name one that is there, by its whole path.",
            Self::Io { .. } => "Check that the folder exists and that you may write in it.",
        }
    }
}

impl From<&LibraryError> for ErrorReport {
    fn from(error: &LibraryError) -> Self {
        Self { code: error.code().to_owned(), message: error.to_string(), hint: error.hint().to_owned() }
    }
}

impl From<LibraryError> for ErrorReport {
    fn from(error: LibraryError) -> Self {
        Self::from(&error)
    }
}
