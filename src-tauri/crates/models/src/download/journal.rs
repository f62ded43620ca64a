//! What a download has on the disk, so that it goes on after any end of the process or the power.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ranges::Ranges;
use crate::disk::{read_json, remove_folder, sync_folder, write_json};
use crate::hub::{Commit, RepoFile, RepoId};
use crate::{Library, LibraryError};

const VERSION: u32 = 1;
const JOURNAL: &str = "journal.json";
const LOCK: &str = "lock";
const FILES: &str = "files";

/// A download and its state. It never says more than is safely on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    version: u32,
    pub(crate) endpoint: String,
    pub(crate) repo: RepoId,
    /// What was asked for, such as `main`.
    pub(crate) revision: String,
    /// The commit that the revision named when the download began. The download keeps to it.
    pub(crate) commit: Commit,
    pub(crate) files: Vec<FileState>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileState {
    #[serde(flatten)]
    pub(crate) file: RepoFile,
    /// What is on the disk.
    pub(crate) done: Ranges,
    /// Whether it is complete, on the disk, and hashes to what it should.
    pub(crate) verified: bool,
}

impl Journal {
    pub(crate) fn new(
        endpoint: &str,
        repo: RepoId,
        revision: &str,
        commit: Commit,
        files: Vec<RepoFile>,
    ) -> Self {
        let files = files
            .into_iter()
            .map(|file| FileState { file, done: Ranges::default(), verified: false })
            .collect();
        let (endpoint, revision) = (endpoint.to_owned(), revision.to_owned());
        Self { version: VERSION, endpoint, repo, revision, commit, files }
    }

    pub(crate) fn bytes_done(&self) -> u64 {
        self.files.iter().map(|state| state.done.total()).sum()
    }

    pub(crate) fn bytes_total(&self) -> u64 {
        self.files.iter().map(|state| state.file.size).sum()
    }

    /// Whether this is a download of `repo` at `revision`, so that it can be resumed for them.
    pub(crate) fn serves(&self, repo: &RepoId, revision: &str) -> bool {
        self.repo == *repo && (self.revision == revision || self.commit.as_str() == revision)
    }

    fn is_sound(&self) -> bool {
        self.version == VERSION && self.files.iter().all(|state| state.done.are_sound(state.file.size))
    }
}

/// The folder of an unfinished download, held by one process at a time.
#[derive(Debug)]
pub(crate) struct Partial {
    folder: PathBuf,
    pub(crate) journal: Journal,
    _lock: File,
}

/// Reads a journal without touching it; `None` if there is none or it is not readable.
pub(crate) fn peek(folder: &Path) -> Option<Journal> {
    let journal: Journal = read_json(&folder.join(JOURNAL)).ok()??;
    journal.is_sound().then_some(journal)
}

impl Partial {
    /// Takes up what an earlier process left, if it serves.
    pub(crate) fn resume(
        library: &Library,
        repo: &RepoId,
        revision: &str,
    ) -> Result<Option<Self>, LibraryError> {
        let folder = library.download_folder(&repo.folder_name());
        if !folder.is_dir() {
            return Ok(None);
        }
        let lock = lock(&folder, &repo.folder_name())?;
        let Some(journal) = peek(&folder).filter(|journal| journal.serves(repo, revision)) else {
            return Ok(None);
        };
        let mut partial = Self { folder, journal, _lock: lock };
        partial.distrust_missing_files()?;
        Ok(Some(partial))
    }

    /// Begins anew. What an earlier download of another revision left goes.
    pub(crate) fn create(library: &Library, journal: Journal) -> Result<Self, LibraryError> {
        let name = journal.repo.folder_name();
        let folder = library.download_folder(&name);
        fs::create_dir_all(&folder).map_err(|error| LibraryError::io(&folder, error))?;
        let lock = lock(&folder, &name)?;
        let partial = Self { folder, journal, _lock: lock };
        remove_folder(&partial.files())?;
        partial.save(&partial.journal)?;
        for state in &partial.journal.files {
            let path = partial.path(&state.file.path);
            let parent = path.parent().unwrap_or(&partial.folder);
            fs::create_dir_all(parent).map_err(|error| LibraryError::io(parent, error))?;
        }
        sync_folder(&partial.folder)?;
        Ok(partial)
    }

    /// Where the files are until all of them are verified.
    pub(crate) fn files(&self) -> PathBuf {
        self.folder.join(FILES)
    }

    /// Where one of them is.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.files().join(file)
    }

    /// Opens one of them for reading and writing, as long as it will be. What is in it stays.
    pub(crate) fn open(&self, file: &RepoFile) -> Result<File, LibraryError> {
        let path = self.path(&file.path);
        let failed = |error| LibraryError::io(&path, error);
        check_no_links(&self.files(), &path)?;
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        if opened.metadata().map_err(failed)?.len() != file.size {
            opened.set_len(file.size).map_err(failed)?;
        }
        Ok(opened)
    }

    /// Replaces the journal. Returns when the new one is on the disk.
    pub(crate) fn save(&self, journal: &Journal) -> Result<(), LibraryError> {
        write_json(&self.folder.join(JOURNAL), journal)
    }

    pub(crate) fn journal_path(&self) -> PathBuf {
        self.folder.join(JOURNAL)
    }

    /// Reads again what is on the disk.
    pub(crate) fn reload(&mut self) {
        if let Some(journal) = peek(&self.folder) {
            self.journal = journal;
        }
    }

    /// Removes all of it.
    pub(crate) fn remove(self) -> Result<(), LibraryError> {
        remove_folder(&self.folder)
    }

    /// Someone may have removed or cut a file since the journal was written.
    fn distrust_missing_files(&mut self) -> Result<(), LibraryError> {
        let files = self.files();
        for state in &mut self.journal.files {
            let path = files.join(&state.file.path);
            check_no_links(&files, &path)?;
            let length = path.symlink_metadata().map(|found| found.len());
            // Of an empty file nothing but the file itself can be missing.
            if length.map_or(true, |length| length < state.done.end()) {
                state.done = Ranges::default();
                state.verified = false;
            }
            let parent = path.parent().unwrap_or(&files);
            fs::create_dir_all(parent).map_err(|error| LibraryError::io(parent, error))?;
        }
        Ok(())
    }
}

/// Nobody but us writes below `files`; a link in the place of a file or of a folder is not followed all the same.
fn check_no_links(files: &Path, path: &Path) -> Result<(), LibraryError> {
    for place in path.ancestors().take_while(|place| *place != files) {
        let Ok(found) = place.symlink_metadata() else { continue };
        if (place == path && !found.is_file()) || (place != path && !found.is_dir()) {
            return Err(LibraryError::io(place, std::io::ErrorKind::AlreadyExists.into()));
        }
    }
    Ok(())
}

/// Removes what a download left in `folder`, unless it is running.
pub(crate) fn discard(folder: &Path, repo: &RepoId) -> Result<(), LibraryError> {
    if !folder.is_dir() {
        return Ok(());
    }
    let _lock = lock(folder, &repo.folder_name())?;
    remove_folder(folder)
}

/// The lock of a download's folder, given back when the file is closed, by the system too.
fn lock(folder: &Path, name: &str) -> Result<File, LibraryError> {
    let path = folder.join(LOCK);
    let file = File::create(&path).map_err(|error| LibraryError::io(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(LibraryError::InUse { name: name.to_owned() }),
        Err(TryLockError::Error(error)) => Err(LibraryError::io(&path, error)),
    }
}
