//! Tools for the files in folders that the person has picked: what is there, what a text says, where a text stands, and
//! changes of a text, which the person is shown first. Nothing outside the folders is read or written, whatever links
//! are there.

mod arguments;
mod beneath;
mod change;
mod error;
mod kind;
mod list;
mod paths;
mod read;
mod replace;
mod search;
mod text;
mod tool;

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::tool::Outcome;
use arguments::Call;
use beneath::Folder;
use paths::Asked;

pub use change::{Difference, Fingerprint};
pub use error::FileError;
pub use tool::FileTool;

type Result<T> = std::result::Result<T, FileError>;

/// The folders that the person has picked, each open. A folder that is moved stays the one that was picked; one that is
/// replaced by another is that other one only for folders that are opened anew, which is cheap: once for each reply.
#[derive(Debug)]
pub struct Files {
    folders: Vec<Folder>,
}

impl Files {
    /// Opens folders: for each the name by which the model calls it, and where it is, an absolute path. Of two with one
    /// name the first is meant. One that cannot be opened is named where it is asked for.
    pub fn new(folders: impl IntoIterator<Item = (String, PathBuf)>) -> Self {
        Self { folders: folders.into_iter().map(|(name, path)| Folder::new(name, &path)).collect() }
    }

    /// Whether there is no folder, so that there is no use in offering the tools.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Runs a tool; it blocks, for about 10 s at most. A call that writes does so only if the file is still the one
    /// that the person has `seen` in its [`Difference`]; without that, as where the person has allowed all such calls,
    /// it writes whatever the file is.
    pub fn call(
        &self,
        tool: FileTool,
        arguments: &Map<String, Value>,
        seen: Option<&Fingerprint>,
    ) -> Outcome {
        let result = Call::of(tool, arguments).and_then(|call| match call {
            Call::List(arguments) => list::list(self, &arguments),
            Call::Read(arguments) => read::read(self, &arguments),
            Call::Search(arguments) => search::search(self, &arguments),
            Call::Change(call) => change::change(self, &call, seen),
        });
        result.map_or_else(|error| Outcome::failure(error.told()), Outcome::text)
    }

    /// What a call would change now; `None` of a tool that changes nothing. An error is what the call would come to:
    /// the person need not be asked about it.
    pub fn preview(
        &self,
        tool: FileTool,
        arguments: &Map<String, Value>,
    ) -> Option<std::result::Result<Difference, FileError>> {
        match Call::of(tool, arguments) {
            Ok(Call::Change(call)) => Some(change::preview(self, &call)),
            Err(error) if tool.changes() => Some(Err(error)),
            _ => None,
        }
    }

    fn asked(&self, path: &str) -> Result<Asked> {
        let names: Vec<&str> = self.folders.iter().map(|folder| folder.name.as_str()).collect();
        paths::asked(path, &names)
    }

    fn folder(&self, asked: &Asked) -> &Folder {
        &self.folders[asked.folder]
    }
}
