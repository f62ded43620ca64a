//! Why a file is not listed, read, searched or changed. Each sentence is for the model, which can mend its call.

use std::io;

use foretoken_protocol::ErrorReport;

/// Why there is no result. Paths are told as the model wrote them, shortened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The person has picked no folder.
    #[error("The user has picked no folder that files may be read from.")]
    NoFolders,
    /// The path begins with none of the folders' names.
    #[error("\"{path}\" is in none of the folders that the user has picked: {}.", known.join(", "))]
    OtherFolder {
        /// What was asked for.
        path: String,
        /// The folders' names.
        known: Vec<String>,
    },
    /// A folder that the person has picked cannot be opened.
    #[error("The folder \"{name}\" cannot be opened: {reason}.")]
    Unopened {
        /// Its name.
        name: String,
        /// Why not.
        reason: io::ErrorKind,
    },
    /// No path is written so.
    #[error("\"{path}\" is not taken: {reason}.")]
    Path {
        /// What was asked for.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A link on the way leads out of the folder.
    #[error("\"{path}\" is not opened: a link on the way leads out of the folder that the user has picked.")]
    LeadsOut {
        /// What was asked for.
        path: String,
    },
    /// Links lead to each other.
    #[error("\"{path}\" is not opened: too many links follow one another.")]
    Links {
        /// What was asked for.
        path: String,
    },
    /// There is nothing of that name.
    #[error("\"{path}\" does not exist{}.", but(like.as_deref()))]
    Missing {
        /// What was asked for.
        path: String,
        /// The name of an entry that differs in case only.
        like: Option<String>,
    },
    /// The folder in which a file was to be written does not exist.
    #[error("The folder of \"{path}\" does not exist, and none is made.")]
    NoParent {
        /// What was asked for.
        path: String,
    },
    /// A file stands where a folder is needed.
    #[error("\"{path}\" is not a folder, or a part of it is not.")]
    NotAFolder {
        /// What was asked for.
        path: String,
    },
    /// A folder stands where a file is needed.
    #[error("\"{path}\" is a folder.")]
    IsAFolder {
        /// What was asked for.
        path: String,
    },
    /// It is a device, a pipe or a socket.
    #[error("\"{path}\" is {kind}, which is never opened.")]
    Special {
        /// What was asked for.
        path: String,
        /// What it is, with its article.
        kind: &'static str,
    },
    /// Where a file was to be written there is a link.
    #[error("\"{path}\" is a link, through which nothing is written.")]
    IsALink {
        /// What was asked for.
        path: String,
    },
    /// It is a document that this app reads elsewhere.
    #[error("\"{path}\" is {kind}; only text is read and changed here.")]
    Document {
        /// What was asked for.
        path: String,
        /// What it is, with its article.
        kind: &'static str,
    },
    /// It holds no text.
    #[error("\"{path}\" is {kind}, not text.")]
    Binary {
        /// What was asked for.
        path: String,
        /// What it is, with its article.
        kind: &'static str,
    },
    /// It is longer than what is read or written.
    #[error("\"{path}\" is larger than {} MiB.", most >> 20)]
    Large {
        /// What was asked for.
        path: String,
        /// The most bytes.
        most: u64,
    },
    /// Programs run what stands there.
    #[error("\"{path}\" is not written: git runs what stands in its own folder.")]
    Protected {
        /// What was asked for.
        path: String,
    },
    /// The file may not be written.
    #[error("\"{path}\" is read-only.")]
    ReadOnly {
        /// What was asked for.
        path: String,
    },
    /// Some of its bytes are no text, and would be lost.
    #[error("\"{path}\" is neither whole UTF-8 nor whole UTF-16, so that a change would damage it.")]
    Encoding {
        /// What was asked for.
        path: String,
    },
    /// What was to be replaced is not in the file.
    #[error("\"old\" does not occur in \"{path}\".")]
    NotThere {
        /// What was asked for.
        path: String,
    },
    /// What was to be replaced is in the file more than once.
    #[error("\"old\" occurs {count} times in \"{path}\", not once.")]
    NotOnce {
        /// What was asked for.
        path: String,
        /// How often.
        count: usize,
    },
    /// Nothing would be changed.
    #[error("\"{path}\" has exactly this content already.")]
    Same {
        /// What was asked for.
        path: String,
    },
    /// The file is another than the one of which the person saw what would change.
    #[error("\"{path}\" was not written: it has changed since the user was shown what this call does to it.")]
    Changed {
        /// What was asked for.
        path: String,
    },
    /// It became something else while it was looked at.
    #[error("\"{path}\" was replaced by another program in this moment.")]
    Swapped {
        /// What was asked for.
        path: String,
    },
    /// Another program holds the folder.
    #[error("\"{path}\" was not written: another program is writing in its folder.")]
    Busy {
        /// What was asked for.
        path: String,
    },
    /// The arguments are not those of the tool.
    #[error("The arguments do not fit: {reason}.")]
    Arguments {
        /// What was expected and what came.
        reason: String,
    },
    /// The system refused.
    #[error("\"{path}\" could not be {done}: {reason}.")]
    Failed {
        /// What was asked for.
        path: String,
        /// What was to be done, such as `read`.
        done: &'static str,
        /// In the system's words.
        reason: io::ErrorKind,
    },
}

/// What there is instead.
fn but(like: Option<&str>) -> String {
    like.map(|name| format!(", but \"{name}\" does")).unwrap_or_default()
}

impl From<&FileError> for ErrorReport {
    fn from(error: &FileError) -> Self {
        Self { code: error.code().to_owned(), message: error.to_string(), hint: error.hint().to_owned() }
    }
}

impl FileError {
    /// Stable, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoFolders | Self::OtherFolder { .. } | Self::Unopened { .. } => "tool_file_folder",
            Self::Path { .. } => "tool_file_path",
            Self::LeadsOut { .. } | Self::Links { .. } | Self::IsALink { .. } => "tool_file_link",
            Self::Missing { .. } | Self::NoParent { .. } => "tool_file_missing",
            Self::NotAFolder { .. } | Self::IsAFolder { .. } | Self::Special { .. } => "tool_file_kind",
            Self::Document { .. } | Self::Binary { .. } | Self::Encoding { .. } => "tool_file_not_text",
            Self::Large { .. } => "tool_file_too_large",
            Self::Protected { .. } | Self::ReadOnly { .. } => "tool_file_read_only",
            Self::NotThere { .. } | Self::NotOnce { .. } | Self::Same { .. } => "tool_file_edit",
            Self::Changed { .. } | Self::Swapped { .. } | Self::Busy { .. } => "tool_file_changed",
            Self::Arguments { .. } => "tool_file_arguments",
            Self::Failed { .. } => "tool_file_failed",
        }
    }

    /// What the model can do about it: one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoFolders => "Ask the user to pick one in the settings of tools.",
            Self::OtherFolder { .. } => {
                "Begin the path with the name of a folder, as in Notes/plans/today.txt, and use list_files."
            }
            Self::Unopened { .. } => "Ask the user whether it still exists and may be read.",
            Self::Path { .. } => {
                "Write the name of a folder and the way from there, as in Notes/plans/today.txt."
            }
            Self::LeadsOut { .. } | Self::Links { .. } => "Tell the user, who can pick the other folder too.",
            Self::Missing { .. } | Self::NotAFolder { .. } => "Use list_files to see what there is.",
            Self::NoParent { .. } => "Write into a folder that exists, or ask the user to make it.",
            Self::IsAFolder { .. } => "Use list_files for a folder, and name a file here.",
            Self::Special { .. } => "Use another file.",
            Self::IsALink { .. } => "Write to the file that it leads to, by its own path.",
            Self::Document { .. } => "Ask the user to attach it to a message, where documents are read.",
            Self::Binary { .. } => "Ask the user what is in it.",
            Self::Large { .. } => "Use another file, or ask the user for the part that matters.",
            Self::Protected { .. } => "Tell the user what you wanted to write there.",
            Self::ReadOnly { .. } => "Ask the user to allow writing it, or write another file.",
            Self::Encoding { .. } => "Ask the user to save it as UTF-8 first.",
            Self::NotThere { .. } => "Read the file, and copy \"old\" from it exactly, with all its blanks.",
            Self::NotOnce { .. } => "Take more of the lines around it into \"old\".",
            Self::Same { .. } => "Go on without this call.",
            Self::Changed { .. } => "Read the file again, and write what is to be changed now.",
            Self::Swapped { .. } | Self::Busy { .. } => "Try again in a moment.",
            Self::Arguments { .. } => "Write the call again with the arguments that the tool takes.",
            Self::Failed { .. } => "Tell the user, if it happens again.",
        }
    }

    /// Both sentences, as the model reads them.
    pub fn told(&self) -> String {
        format!("{self} {}", self.hint())
    }
}
