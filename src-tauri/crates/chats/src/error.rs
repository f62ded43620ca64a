//! The errors of the chat store: `ChatsError`, which the public calls return, and `Fault`, which jobs on the database
//! return where its path is not known. Errors of SQLite are sorted into damage, a full disk, a lock that another
//! program holds, and all others. Each kind of `ChatsError` has a stable code for the page and a hint for the person.

use std::path::{Path, PathBuf};

use foretoken_protocol::{
    CallId, ChatId, DeletionId, ErrorReport, MessageId, PresetId, ProjectFileId, ProjectId,
};
use rusqlite::ErrorCode;
use thiserror::Error;

/// Why chats could not be read or written.
#[derive(Debug, Clone, Error)]
pub enum ChatsError {
    /// The file is not a database, or its content contradicts itself.
    #[error("The chats in {} are damaged: {detail}.", path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// A later version of the app has changed the file's layout.
    #[error(
        "The chats in {} were written by a newer Foretoken (layout {found}; this one knows up to {known}).",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// The layout of the file.
        found: usize,
        /// The latest layout known here.
        known: usize,
    },
    /// The disk has no room.
    #[error("The disk that holds {} is full.", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// Another process holds the file.
    #[error("Another program is using the chats in {}.", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// Anything else that the file or SQLite refuses.
    #[error("The chats in {} cannot be read or written: {detail}.", path.display())]
    Io {
        /// The database.
        path: PathBuf,
        /// What was refused.
        detail: String,
    },
    /// No chat has this id.
    #[error("There is no chat {id}.")]
    UnknownChat {
        /// The id asked for.
        id: ChatId,
    },
    /// No message has this id, or it is not of the kind or chat that the call is about.
    #[error("There is no such message: {id}.")]
    UnknownMessage {
        /// The id asked for.
        id: MessageId,
    },
    /// No preset has this id.
    #[error("There is no preset {id}.")]
    UnknownPreset {
        /// The id asked for.
        id: PresetId,
    },
    /// No project has this id.
    #[error("There is no project {id}.")]
    UnknownProject {
        /// The id asked for.
        id: ProjectId,
    },
    /// No project has a file of this id.
    #[error("There is no file {id} in any project.")]
    UnknownProjectFile {
        /// The id asked for.
        id: ProjectFileId,
    },
    /// A project has as many files as it may have.
    #[error("{name} was not added: the project has {most} files already.")]
    ProjectFull {
        /// The file that was to be added.
        name: String,
        /// How many it may have.
        most: u32,
    },
    /// What was deleted is back already, or gone for good.
    #[error("There is no deletion {id} to undo.")]
    UnknownDeletion {
        /// The id asked for.
        id: DeletionId,
    },
    /// A file does not hold chats as any of the known programs write them.
    #[error("{} cannot be imported: {detail}.", path.display())]
    NotImportable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        detail: String,
    },
    /// A file of the person's choice cannot be read or written.
    #[error("{} cannot be read or written: {detail}.", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was refused.
        detail: String,
    },
    /// The store has no picture of this hash.
    #[error("There is no picture {hash}.")]
    UnknownPicture {
        /// The hash asked for.
        hash: String,
    },
    /// No reply has this call.
    #[error("There is no call {} in step {} of the message {}.", call.ordinal, call.step, call.message)]
    UnknownCall {
        /// The call asked for.
        call: CallId,
    },
    /// A call cannot come from one state into the other. It is as it was.
    #[error("A call that is {from} cannot become {to}.")]
    CallState {
        /// The state that it is in.
        from: &'static str,
        /// The one that it was to be in.
        to: &'static str,
    },
    /// Nobody has allowed a call that was to run.
    #[error(
        "Nobody has allowed the call {} in step {} of the message {}.", call.ordinal, call.step, call.message
    )]
    CallUndecided {
        /// The call.
        call: CallId,
    },
    /// A reply has no step that could be begun, written on or ended now.
    #[error("The message {message} has no step for that.")]
    NoStep {
        /// The reply.
        message: MessageId,
    },
    /// A text that is to be JSON is none.
    #[error("{what} is not JSON: {detail}.")]
    NotJson {
        /// What it is.
        what: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// There is no copy that could take the place of the chats.
    #[error("There is no sound backup of the chats in {}.", path.display())]
    NoBackup {
        /// The database.
        path: PathBuf,
    },
}

/// What ends a piece of work on the database early. Where it is known which database it is, it becomes a
/// [`ChatsError`].
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite refuses.
    Sqlite(rusqlite::Error),
    /// Something else is wrong.
    Chats(ChatsError),
}

impl Fault {
    /// As the error of the database at `path`.
    pub(crate) fn at(self, path: &Path) -> ChatsError {
        match self {
            Self::Sqlite(error) => ChatsError::sqlite(path, error),
            Self::Chats(error) => error,
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<ChatsError> for Fault {
    fn from(error: ChatsError) -> Self {
        Self::Chats(error)
    }
}

impl ChatsError {
    /// What SQLite's `error` on the file at `path` means.
    pub(crate) fn sqlite(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match &error {
            // A value that no version of the app writes is damage too.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => Self::Corrupt { path, detail: error.to_string() },
            _ => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                    Self::Corrupt { path, detail: error.to_string() }
                }
                Some(ErrorCode::DiskFull) => Self::Full { path },
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
                _ => Self::Io { path, detail: error.to_string() },
            },
        }
    }

    /// What the system's `error` on the file at `path` means.
    pub(crate) fn io(path: &Path, error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull => Self::Full { path: path.to_owned() },
            _ => Self::Io { path: path.to_owned(), detail: error.to_string() },
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Corrupt { .. } => "chats_corrupt",
            Self::Newer { .. } => "chats_newer",
            Self::Full { .. } => "chats_full",
            Self::Busy { .. } => "chats_busy",
            Self::Io { .. } => "chats_io",
            Self::UnknownChat { .. } => "unknown_chat",
            Self::UnknownMessage { .. } => "unknown_message",
            Self::UnknownPreset { .. } => "unknown_preset",
            Self::UnknownProject { .. } => "unknown_project",
            Self::UnknownProjectFile { .. } => "unknown_project_file",
            Self::ProjectFull { .. } => "project_full",
            Self::UnknownDeletion { .. } => "unknown_deletion",
            Self::NotImportable { .. } => "not_importable",
            Self::File { .. } => "chats_file",
            Self::UnknownPicture { .. } => "unknown_picture",
            Self::UnknownCall { .. } => "unknown_call",
            Self::CallState { .. } => "call_state",
            Self::CallUndecided { .. } => "call_undecided",
            Self::NoStep { .. } => "no_step",
            Self::NotJson { .. } => "not_json",
            Self::NoBackup { .. } => "no_backup",
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::Corrupt { .. } => {
                "Restore the last good backup, or move the file away to start with no chats."
            }
            Self::Newer { .. } => {
                "Install the newest Foretoken; the file was left as it is. A copy from before, if there is one, lacks what was written since."
            }
            Self::Full { .. } => "Free some space on the disk and try again.",
            Self::Busy { .. } => "Close the other program, or a second Foretoken, and try again.",
            Self::Io { .. } => "Check that the folder exists and that you may write in it.",
            Self::UnknownChat { .. } => "Open another chat.",
            Self::UnknownMessage { .. } => "Open the chat again.",
            Self::UnknownPreset { .. } => "Choose another preset.",
            Self::UnknownProject { .. } => "Choose another project.",
            Self::UnknownProjectFile { .. } => "Add the file again.",
            Self::ProjectFull { .. } => "Remove files from it, or put what belongs together into one file.",
            Self::UnknownDeletion { .. } => "What is deleted can be brought back until Foretoken is closed.",
            Self::NotImportable { .. } => {
                "Choose the JSON file that Foretoken, ChatGPT (conversations.json) or LM Studio has written. Of a file that \
                 cannot be imported, nothing is added."
            }
            Self::File { .. } => "Choose another place, and check that you may read and write there.",
            Self::UnknownPicture { .. } => "Take the picture out of the message and attach it again.",
            Self::UnknownCall { .. } | Self::CallState { .. } | Self::NoStep { .. } => "Open the chat again.",
            Self::CallUndecided { .. } => "Allow the call or deny it; it has not run.",
            Self::NotJson { .. } => "Nothing was stored; try again, or report it if it happens once more.",
            Self::NoBackup { .. } => "Move the file away to start with no chats; nothing was changed.",
        }
    }
}

impl From<&ChatsError> for ErrorReport {
    fn from(error: &ChatsError) -> Self {
        Self { code: error.code().to_owned(), message: error.to_string(), hint: error.hint().to_owned() }
    }
}

impl From<ChatsError> for ErrorReport {
    fn from(error: ChatsError) -> Self {
        Self::from(&error)
    }
}
