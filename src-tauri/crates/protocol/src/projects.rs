//! Shell → page: projects, which are folders of chats with shared instructions, files and settings.

use serde::{Deserialize, Serialize};
use specta::Type;

use crate::{ChatSettings, ChatSummary, ErrorReport, Passage};

/// Names a project in the store.
pub type ProjectId = u32;
/// Names a file of a project in the store.
pub type ProjectFileId = u32;

/// A project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
pub struct Project {
    /// Names it.
    pub id: ProjectId,
    /// What people call it.
    pub name: String,
    /// What every chat in it knows, empty for nothing.
    pub instructions: String,
    /// What a new chat in it begins with. Chats that are there keep their own.
    pub settings: ChatSettings,
    /// The folder whose files are its own too; `None` where there is none.
    pub folder: Option<String>,
    /// Its files by name.
    pub files: Vec<ProjectFile>,
    /// How many chats are in it.
    pub chats: u32,
}

/// A file of a project, whose text is kept with the chats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ProjectFile {
    /// Names it.
    pub id: ProjectFileId,
    /// The file's name, without its folder; of a file of the project's folder where it is in that.
    pub name: String,
    /// The tokens of its text, roughly.
    pub tokens: u32,
    /// Whether it is in the project's folder, where it is read again when it has changed.
    pub in_folder: bool,
    /// Why nothing is read of it, in a sentence; `None` where its text is there.
    pub trouble: Option<String>,
}

/// A project that was deleted and can be brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct DeletedProject {
    /// Names it.
    pub id: ProjectId,
    /// What people call it.
    pub name: String,
    /// How many chats were deleted with it.
    pub chats: u32,
}

/// A chat of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ProjectChat {
    /// As it would stand in the list.
    pub chat: ChatSummary,
    /// How the last message that is shown begins, on one line.
    pub excerpt: String,
}

/// What a question gets of a file of its project: all of it, or the passages that fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ProjectText {
    /// The file's name.
    pub name: String,
    /// What it holds; `None` where only passages fit.
    pub text: Option<String>,
    /// Those that fit the question, in the order of the text.
    pub passages: Vec<Passage>,
}

/// What became of files that were to be added to a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct AddedFiles {
    /// Files of the same name whose place they took, which can be brought back.
    pub replaced: Vec<ProjectFileId>,
    /// Why others were not added, in the order of the files.
    pub refused: Vec<ErrorReport>,
    /// What people should know of those that were, a sentence each.
    pub notes: Vec<String>,
}
