//! The folder that Foretoken keeps its models in.
//!
//! `organisation--name/` is a model; `.foretoken/` holds what is not one: unfinished downloads, the trash, the queue
//! and the mark that this folder is a library. Without the mark nothing is written: the folder may be the empty mount
//! point of a disk that is not connected.

mod conversions;
mod moving;
mod record;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk::{disk_use, read_json, remove_folder, sync_folder, write_json};
use crate::hub::{Commit, RepoId};
use crate::{LibraryError, download, folder};
pub(crate) use record::{RECORD, now};
pub use record::{Record, Source};

const HOME: &str = ".foretoken";
const MARK: &str = "library.json";
const DOWNLOADS: &str = "downloads";
const TRASH: &str = "trash";
const QUEUE: &str = "queue.json";
const VERSION: u32 = 1;

/// A library folder. Cheap to clone; what it says is read from the disk each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    root: PathBuf,
}

/// A model in the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Model {
    /// Its folder's name, which names it.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// Where it came from.
    pub source: Option<Source>,
    /// Bytes that it takes on the disk.
    pub disk_bytes: u64,
    /// When it was used last, milliseconds since 1970.
    pub last_used_at: Option<u64>,
    /// What can be done with it.
    pub state: ModelState,
}

/// What can be done with a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ModelState {
    /// It can be loaded, and its tensors are kept as MLX programs keep them.
    Ready,
    /// It is whole and as published for other programs: it can be loaded, and converted to become smaller.
    Raw,
    /// Its download is not finished.
    Partial {
        /// Bytes that have arrived.
        bytes_done: u64,
        /// Bytes in all.
        bytes_total: u64,
    },
    /// It cannot be loaded.
    Broken {
        /// What is wrong with it.
        reason: String,
    },
}

/// A deleted model that can still come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    name: String,
    place: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    version: u32,
}

impl Library {
    /// Makes a library of an empty folder, or of one that does not exist in a folder that does.
    ///
    /// A folder that is a library already is opened.
    pub fn create(root: &Path) -> Result<Self, LibraryError> {
        let library = Self { root: root.to_owned() };
        if library.check_online().is_ok() {
            return Ok(library);
        }
        match fs::create_dir(root) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(LibraryError::io(root, error));
            }
            _ => {}
        }
        // Finder leaves its notes in every folder that was looked at.
        let entries = fs::read_dir(root).map_err(|error| LibraryError::io(root, error))?;
        if entries.flatten().any(|entry| entry.file_name() != ".DS_Store") {
            return Err(LibraryError::NotEmpty { path: root.to_owned() });
        }
        library.mark()?;
        Ok(library)
    }

    /// Opens a library. [`LibraryError::Offline`] if it is not there; it is never made again.
    pub fn open(root: &Path) -> Result<Self, LibraryError> {
        let library = Self { root: root.to_owned() };
        library.check_online()?;
        Ok(library)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether the folder is there and is the library.
    pub fn check_online(&self) -> Result<(), LibraryError> {
        match read_json::<Mark>(&self.root.join(HOME).join(MARK)) {
            Ok(Some(Mark { version: VERSION })) => Ok(()),
            _ => Err(LibraryError::Offline { path: self.root.clone() }),
        }
    }

    /// Where the model of a repository is or will be.
    pub fn folder(&self, repo: &RepoId) -> PathBuf {
        self.root.join(repo.folder_name())
    }

    /// All models, whole and unfinished ones, by name.
    pub fn models(&self) -> Result<Vec<Model>, LibraryError> {
        self.check_online()?;
        let mut models: Vec<Model> =
            folders(&self.root)?.iter().filter_map(|path| self.model_at(path)).collect();
        let downloads = self.home(DOWNLOADS);
        let unfinished = if downloads.is_dir() { folders(&downloads)? } else { Vec::new() };
        models.extend(unfinished.into_iter().filter_map(partial_at));
        models.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(models)
    }

    /// Notes that a model is used now.
    pub fn touch(&self, name: &str) -> Result<(), LibraryError> {
        let folder = self.existing(name)?;
        let mut record =
            Record::read(&folder).unwrap_or_else(|| Record { added_at: now(), ..Record::default() });
        record.last_used_at = Some(now());
        record.write(&folder)
    }

    /// Takes a model out of the library, to come back with [`Library::restore`] until the trash is emptied.
    pub fn delete(&self, name: &str) -> Result<Trashed, LibraryError> {
        let folder = self.existing(name)?;
        let trash = self.home(TRASH);
        fs::create_dir_all(&trash).map_err(|error| LibraryError::io(&trash, error))?;
        let place = unique_folder(&trash)?;
        rename(&folder, &place.join(name))?;
        sync_folder(&self.root)?;
        Ok(Trashed { name: name.to_owned(), place })
    }

    /// Brings a deleted model back.
    pub fn restore(&self, trashed: &Trashed) -> Result<(), LibraryError> {
        self.check_online()?;
        let folder = self.root.join(&trashed.name);
        if folder.exists() {
            return Err(LibraryError::NameTaken { name: trashed.name.clone() });
        }
        rename(&trashed.place.join(&trashed.name), &folder)?;
        remove_folder(&trashed.place)?;
        sync_folder(&self.root)
    }

    /// Removes deleted models for good: when the app quits and, should it have crashed, when it starts.
    pub fn empty_trash(&self) -> Result<(), LibraryError> {
        self.check_online()?;
        remove_folder(&self.home(TRASH))
    }

    /// Removes all models for good, and what else the library has; then the folder, if nothing of others is in it.
    pub fn remove_all(self) -> Result<(), LibraryError> {
        for model in self.models()? {
            remove_folder(&model.path)?;
        }
        // Last, so that what an interruption leaves is still a library.
        remove_folder(&self.root.join(HOME))?;
        // A folder that is not empty stays, and is no failure.
        let _ = fs::remove_dir(&self.root);
        Ok(())
    }

    /// Whether the model of `repo` is there, whole, at `commit`. An error if another model has its folder.
    pub(crate) fn has(&self, repo: &RepoId, commit: &Commit) -> Result<bool, LibraryError> {
        let folder = self.folder(repo);
        if !folder.exists() {
            return Ok(false);
        }
        match Record::read(&folder) {
            Some(record) if record.source.as_ref().is_some_and(|source| source.repo == *repo) => {
                let same = record.source.as_ref().is_some_and(|source| source.commit == *commit);
                Ok(same && record.first_broken(&folder).is_none())
            }
            _ => Err(LibraryError::NameTaken { name: repo.folder_name() }),
        }
    }

    /// Makes the verified files in `from` a model, in one step. An older commit of it goes to the trash.
    pub(crate) fn install(
        &self,
        from: &Path,
        repo: &RepoId,
        record: &Record,
    ) -> Result<PathBuf, LibraryError> {
        self.check_online()?;
        record.write(from)?;
        let mut nested: Vec<PathBuf> =
            record.files.keys().filter_map(|file| Some(from.join(file).parent()?.into())).collect();
        nested.sort();
        nested.dedup();
        nested.iter().try_for_each(|folder| sync_folder(folder))?;
        let folder = self.folder(repo);
        if folder.exists() {
            self.delete(&repo.folder_name())?;
        }
        rename(from, &folder)?;
        sync_folder(&self.root)?;
        Ok(folder)
    }

    /// Where an unfinished download is.
    pub(crate) fn download_folder(&self, name: &str) -> PathBuf {
        self.home(DOWNLOADS).join(name)
    }

    /// Where the queue is kept.
    pub(crate) fn queue_file(&self) -> PathBuf {
        self.home(QUEUE)
    }

    fn home(&self, name: &str) -> PathBuf {
        self.root.join(HOME).join(name)
    }

    fn mark(&self) -> Result<(), LibraryError> {
        let home = self.root.join(HOME);
        fs::create_dir_all(&home).map_err(|error| LibraryError::io(&home, error))?;
        write_json(&home.join(MARK), &Mark { version: VERSION })?;
        #[cfg(target_os = "macos")]
        // They are large, and the Hub has them.
        crate::disk::leave_out_of_backups(&self.root);
        Ok(())
    }

    /// A model's folder; the name must be one of a folder directly in the library.
    fn existing(&self, name: &str) -> Result<PathBuf, LibraryError> {
        self.check_online()?;
        let folder = self.root.join(name);
        let plain = !name.starts_with('.') && !name.is_empty() && !name.contains('/');
        if plain && folder.is_dir() {
            Ok(folder)
        } else {
            Err(LibraryError::Unknown { name: name.to_owned() })
        }
    }

    fn model_at(&self, path: &Path) -> Option<Model> {
        let name = path.file_name()?.to_str()?.to_owned();
        let record = Record::read(path);
        if name.starts_with('.') || (record.is_none() && !folder::looks_like_a_model(path)) {
            return None;
        }
        let record = record.unwrap_or_default();
        let broken = record.first_broken(path).map(|file| format!("{file} is missing or cut off"));
        let checked = broken.map_or_else(|| folder::check(path), Err);
        let state = match checked {
            Ok(facts) if facts.raw => ModelState::Raw,
            Ok(_) => ModelState::Ready,
            Err(reason) => ModelState::Broken { reason },
        };
        Some(Model {
            name,
            path: path.to_owned(),
            source: record.source,
            disk_bytes: disk_use(path),
            last_used_at: record.last_used_at,
            state,
        })
    }
}

fn partial_at(path: PathBuf) -> Option<Model> {
    let journal = download::peek(&path)?;
    let state = ModelState::Partial { bytes_done: journal.bytes_done(), bytes_total: journal.bytes_total() };
    let name = journal.repo.folder_name();
    let source = Source { endpoint: journal.endpoint, repo: journal.repo, commit: journal.commit };
    Some(Model { name, disk_bytes: disk_use(&path), path, source: Some(source), last_used_at: None, state })
}

/// The folders directly in a folder, in order. Links to folders are none.
fn folders(path: &Path) -> Result<Vec<PathBuf>, LibraryError> {
    let entries = fs::read_dir(path).map_err(|error| LibraryError::io(path, error))?;
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut folders: Vec<PathBuf> = entries.flatten().filter(is_folder).map(|entry| entry.path()).collect();
    folders.sort();
    Ok(folders)
}

/// A new folder with a name of its own.
fn unique_folder(folder: &Path) -> Result<PathBuf, LibraryError> {
    loop {
        let path = folder.join(format!("{:016x}", fastrand::u64(..)));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(LibraryError::io(&path, error)),
        }
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), LibraryError> {
    fs::rename(from, to).map_err(|error| LibraryError::io(from, error))
}
