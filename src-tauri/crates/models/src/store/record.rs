//! `foretoken-library.json`, the record in the folder of each model of the library: the repository and commit that it
//! came from, when it came and was used last (milliseconds since 1970), and the length of each file in bytes, by which
//! files that are missing or cut off are found.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::LibraryError;
use crate::disk::{read_json, write_json};
use crate::hub::{Commit, RepoId};

/// The file in a model's folder that is ours. All others belong to whoever made the model.
pub(crate) const RECORD: &str = "foretoken-library.json";

/// What Foretoken knows of a model in its library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Where it came from; `None` if it was put there by hand.
    pub source: Option<Source>,
    /// When it came, milliseconds since 1970.
    pub added_at: u64,
    /// When it was used last, milliseconds since 1970.
    pub last_used_at: Option<u64>,
    /// The length of each file that came with it, in bytes.
    pub files: BTreeMap<String, u64>,
}

/// Where a model came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The Hub.
    pub endpoint: String,
    /// The repository.
    pub repo: RepoId,
    /// The commit.
    pub commit: Commit,
}

impl Record {
    pub(crate) fn downloaded(
        endpoint: &str,
        repo: &RepoId,
        commit: &Commit,
        files: BTreeMap<String, u64>,
    ) -> Self {
        let source = Source { endpoint: endpoint.to_owned(), repo: repo.clone(), commit: commit.clone() };
        Self { source: Some(source), added_at: now(), last_used_at: None, files }
    }

    /// The record in a model's folder, if there is a readable one.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        read_json(&folder.join(RECORD)).ok().flatten()
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), LibraryError> {
        write_json(&folder.join(RECORD), self)
    }

    /// The first of the recorded files that is not there or not as long as it was.
    pub(crate) fn first_broken(&self, folder: &Path) -> Option<&str> {
        let whole = |(name, size): &(&String, &u64)| {
            folder.join(name).metadata().is_ok_and(|file| file.is_file() && file.len() == **size)
        };
        self.files.iter().find(|file| !whole(file)).map(|(name, _)| name.as_str())
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}
