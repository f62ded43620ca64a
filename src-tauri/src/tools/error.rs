//! Why a server is not changed, not switched on or not used, or a call was not made.

use std::io;
use std::path::PathBuf;

use foretoken_protocol::ErrorReport;
use foretoken_tools::configuration::ConfigurationError;
use foretoken_tools::environment::CommandError;
use foretoken_tools::{ServerError, SignInError};
use thiserror::Error;

use crate::keychain::KeychainError;

/// Why something about tools was not done.
#[derive(Debug, Clone, Error)]
pub(crate) enum ToolboxError {
    /// The server did not do what was asked, or is none that is known.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// What is said by others: the store, the keychain, those who read configurations.
    #[error("{}", .0.message)]
    Other(ErrorReport),
    /// The person has not agreed to the server, or has switched it off.
    #[error("The server {name:?} is switched off.")]
    Off { name: String },
    /// It would run or reach something else than when the chat took over its tools.
    #[error("The server {name:?} is no longer the one whose tools this chat has.")]
    OtherServer { name: String },
    /// It would run or reach something else than the person has agreed to.
    #[error("The server {name:?} is no longer what was agreed to.")]
    NotAgreed { name: String },
    /// What was allowed of the tool is gone with this.
    #[error("The tool {tool:?} is no longer what it was, so it was not called.")]
    OtherTool { tool: String },
    /// A part of what runs would not be seen.
    #[error("What starts the server {name:?} is too long to be shown in a dialog.")]
    TooLong { name: String },
    /// The list has the same server already.
    #[error("The server {name:?} is on the list already.")]
    AlreadyThere { name: String },
    /// No other file is read than those in which other programs keep servers.
    #[error("{path:?} is no file in which another program keeps its servers.")]
    OtherFile { path: PathBuf },
    /// The list of another program cannot be read.
    #[error("{path:?} cannot be read: {kind}.")]
    FileUnreadable { path: PathBuf, kind: io::ErrorKind },
    /// A folder that is picked is all of a disk, or has what the app keeps in it.
    #[error("{path:?} is a whole disk, or has this app's own files in it, and is not given to models.")]
    TooMuch { path: PathBuf },
    /// The name of a folder could not be found again.
    #[error("{path:?} has a name that is not Unicode.")]
    NoUnicode { path: PathBuf },
    /// A folder that is picked was picked before.
    #[error("The folder {path:?} is there already.")]
    FolderTaken { path: PathBuf },
    /// No search service is there.
    #[error("{address:?} is no address of a search service.")]
    NoSearchAddress { address: String },
    /// What a call would change was not shown.
    #[error("What the call would change has not been shown.")]
    NotSeen,
    /// A call would change nothing, but come to this.
    #[error("{told}")]
    NoDifference { told: String },
    /// The person is not signed in.
    #[error("{name}: {error}")]
    SignIn { name: String, error: SignInError },
    /// There is no place where the server could work.
    #[error("The folder {path:?}, in which the server would work, cannot be made: {kind}.")]
    FolderNotMade { path: PathBuf, kind: io::ErrorKind },
}

impl From<ErrorReport> for ToolboxError {
    fn from(error: ErrorReport) -> Self {
        Self::Other(error)
    }
}

impl From<KeychainError> for ToolboxError {
    fn from(error: KeychainError) -> Self {
        Self::Other(error.into())
    }
}

impl From<ConfigurationError> for ToolboxError {
    fn from(error: ConfigurationError) -> Self {
        Self::Other((&error).into())
    }
}

impl From<CommandError> for ToolboxError {
    fn from(error: CommandError) -> Self {
        Self::Other((&error).into())
    }
}

impl From<ToolboxError> for ErrorReport {
    fn from(error: ToolboxError) -> Self {
        let message = error.to_string();
        let (code, hint) = match error {
            ToolboxError::Server(error) => return error.into(),
            ToolboxError::Other(report) => return report,
            ToolboxError::Off { .. } => ("server_off", "Switch it on in the settings."),
            ToolboxError::OtherServer { .. } => {
                ("server_other", "Take over its tools anew in this chat, or begin another chat.")
            }
            ToolboxError::NotAgreed { .. } => {
                ("server_not_agreed", "Look at what it runs now, and switch it on again in the settings.")
            }
            ToolboxError::OtherTool { .. } => {
                ("server_tool_changed", "Look at what it says of itself now before you allow it again.")
            }
            ToolboxError::TooLong { .. } => {
                ("server_too_long", "Put the arguments in a file that the server reads, or in a script.")
            }
            ToolboxError::AlreadyThere { .. } => ("server_already_there", "Use the one that is there."),
            ToolboxError::OtherFile { .. } => {
                ("server_file_other", "Choose one of the files that are named, or paste what is in yours.")
            }
            ToolboxError::FileUnreadable { .. } => {
                ("server_file_unreadable", "Check that you may read the file, or paste what is in it.")
            }
            ToolboxError::TooMuch { .. } => ("tool_folder", "Pick a folder within it."),
            ToolboxError::NoUnicode { .. } => {
                ("name_not_unicode", "Give the folder another name, or choose another one.")
            }
            ToolboxError::FolderTaken { .. } => ("tool_folder_taken", "Use the one that is there."),
            ToolboxError::NoSearchAddress { .. } => {
                ("tool_search_address", "Write all of it, as in https://search.example.org.")
            }
            ToolboxError::SignIn { error, .. } => match error {
                SignInError::NotOffered { .. } => (
                    "sign_in_not_offered",
                    "If it wants a key, add that as a header in the server's settings.",
                ),
                SignInError::Address { .. } => ("sign_in_address", "Ask who runs the server."),
                SignInError::Port { .. } => {
                    ("sign_in_port", "Close other programs that listen on this machine, and try again.")
                }
                SignInError::Failed { .. } => {
                    ("sign_in_failed", "Try again. If it goes on, ask who runs the server.")
                }
            },
            ToolboxError::NotSeen => ("call_not_seen", "Look at the change, then answer again."),
            ToolboxError::NoDifference { .. } => {
                ("call_difference", "Deny the call, or change its arguments.")
            }
            ToolboxError::FolderNotMade { .. } => {
                ("server_folder_not_made", "Check that the disk has room, or name a folder for the server.")
            }
        };
        Self { code: code.into(), message, hint: hint.into() }
    }
}
