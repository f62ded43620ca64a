//! The files of pictures in a folder beside the chats: `ab/HASH` as it was given and `ab/HASH.view.png` or `.jpg` as
//! people see it, where `HASH` is the SHA-256 of what was given and begins with `ab`. A file that is there is whole and
//! never changes.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use foretoken_protocol::{PictureFacts, PictureFormat};
use ring::digest::{SHA256, digest};
use tempfile::TempDir;

use crate::ChatsError;

/// The name of the folder.
const FOLDER: &str = "pictures";
/// How the name of a file begins that is not whole yet.
const PART: &str = "part-";
/// What may follow the hash in the name of what people see.
const VIEWS: [&str; 2] = [".view.png", ".view.jpg"];
/// Digits of a SHA-256.
const DIGITS: usize = 64;

/// The folder of the pictures. It may be used beside the [`Store`](crate::Store) and on any thread.
#[derive(Debug, Clone)]
pub struct PictureFiles {
    folder: PathBuf,
}

/// A picture whose files are on the disk, for [`Store::add_picture`](crate::Store::add_picture).
#[derive(Debug, Clone)]
pub struct KeptPicture {
    pub(crate) hash: String,
    pub(crate) format: PictureFormat,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) tokens: u32,
    pub(crate) bytes: u64,
}

/// A folder for files that may become pictures.
#[derive(Debug)]
pub(crate) struct Stage {
    folder: TempDir,
    count: usize,
}

impl Stage {
    /// Writes a file that nobody else may read.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> io::Result<PathBuf> {
        self.count += 1;
        let name = format!("{PART}{}", self.count);
        place(self.folder.path(), name.as_ref(), bytes)?;
        Ok(self.folder.path().join(name))
    }
}

impl PictureFiles {
    /// The pictures of the chats at `database`.
    pub(crate) fn beside(database: &Path) -> Self {
        Self::at(database.with_file_name(FOLDER))
    }

    /// Pictures in `folder`, which may not be there yet.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Writes a picture as it was given, and its view, which is PNG or JPEG as its name in `facts` says. Waits until
    /// both are on the disk. A picture that is there already is written anew.
    pub fn keep(
        &self,
        original: &[u8],
        view: &[u8],
        facts: &PictureFacts,
    ) -> Result<KeptPicture, ChatsError> {
        let hash = hash_of(original);
        let [png, jpeg] = VIEWS;
        let ending = if facts.view.ends_with(".png") { png } else { jpeg };
        // Where the original is, its view is too.
        let files = [(format!("{hash}{ending}"), view), (hash.clone(), original)];
        self.write(&self.shard(&hash), &files).map_err(|error| self.refused(error))?;
        Ok(KeptPicture {
            hash,
            format: facts.format,
            width: facts.width,
            height: facts.height,
            tokens: facts.tokens,
            bytes: original.len() as u64,
        })
    }

    /// The file of a picture as it was given; `None` if it is missing.
    pub fn original(&self, hash: &str) -> Option<PathBuf> {
        self.file(hash, "")
    }

    /// The file that people see of a picture, a PNG or JPEG as its name says; `None` if it is missing.
    pub fn view(&self, hash: &str) -> Option<PathBuf> {
        VIEWS.iter().find_map(|ending| self.file(hash, ending))
    }

    /// Links the pictures of these hashes that are missing here to those in another folder, or copies them where there
    /// are no links. What is missing there too stays so.
    pub(crate) fn take_missing(&self, hashes: &HashSet<String>, from: &Self) -> io::Result<()> {
        for hash in hashes {
            let missing = [
                from.view(hash).filter(|_| self.view(hash).is_none()),
                from.original(hash).filter(|_| self.original(hash).is_none()),
            ];
            for file in missing.into_iter().flatten() {
                let Some(name) = file.file_name() else { continue };
                let shard = self.shard(hash);
                fs::create_dir_all(&shard)?;
                match fs::hard_link(&file, shard.join(name)) {
                    Ok(()) => {}
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    Err(_) => place(&shard, name.as_ref(), &fs::read(&file)?)?,
                }
            }
        }
        Ok(())
    }

    /// Links all pictures of another folder, or copies them where there are no links.
    pub(crate) fn take_all(&self, from: &Self) -> io::Result<()> {
        let hash = |file: &PathBuf| file.file_name()?.to_str()?.get(..DIGITS).map(str::to_owned);
        self.take_missing(&from.files().filter_map(|file| hash(&file)).collect(), from)
    }

    /// What the system's error on a file of the folder means.
    pub(crate) fn refused(&self, error: io::Error) -> ChatsError {
        ChatsError::io(&self.folder, error)
    }

    /// A folder for files that may become pictures. It vanishes with what it holds; what a killed process has left of
    /// it, [`Self::remove_others`] removes.
    pub(crate) fn stage(&self) -> io::Result<Stage> {
        fs::create_dir_all(&self.folder)?;
        let folder = tempfile::Builder::new().prefix(PART).tempdir_in(&self.folder)?;
        Ok(Stage { folder, count: 0 })
    }

    /// Removes the files that were written before `before` and belong to none of these hashes. What cannot be removed
    /// is left for the next time.
    pub(crate) fn remove_others(&self, hashes: &HashSet<String>, before: SystemTime) {
        let is_old = |path: &Path| {
            let written = path.symlink_metadata().and_then(|about| about.modified());
            written.is_ok_and(|written| written < before)
        };
        // Before something is removed from them, which makes them new.
        let stages = entries(&self.folder).filter(|folder| is_named_as_part(folder) && is_old(folder));
        let left: Vec<PathBuf> = stages.collect();
        for file in self.files() {
            let Some(name) = file.file_name().and_then(OsStr::to_str) else { continue };
            let is_other = match name.split_at_checked(DIGITS) {
                Some((hash, "")) => is_hash(hash) && !hashes.contains(hash),
                Some((hash, ending)) => is_hash(hash) && VIEWS.contains(&ending) && !hashes.contains(hash),
                None => name.starts_with(PART),
            };
            if !(is_other && is_old(&file)) {
                continue;
            }
            match fs::remove_file(&file) {
                Ok(()) => tracing::info!("removed {}, which no chat has", file.display()),
                Err(error) => tracing::warn!("{} cannot be removed: {error}", file.display()),
            }
        }
        for folder in left {
            // Only an empty one can be.
            if fs::remove_dir(&folder).is_ok() {
                tracing::info!("removed {}, which an interrupted import has left", folder.display());
            }
        }
    }

    /// All files below the folder, whatever they are.
    fn files(&self) -> impl Iterator<Item = PathBuf> {
        entries(&self.folder).flat_map(|shard| entries(&shard))
    }

    fn write(&self, shard: &Path, files: &[(String, &[u8])]) -> io::Result<()> {
        fs::create_dir_all(shard)?;
        for (name, bytes) in files {
            place(shard, name.as_ref(), bytes)?;
        }
        // The names of the files, of their folder, and of the folder of all.
        for folder in shard.ancestors().take(3).filter(|folder| !folder.as_os_str().is_empty()) {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }

    fn file(&self, hash: &str, ending: &str) -> Option<PathBuf> {
        let path = is_hash(hash).then(|| self.shard(hash).join(format!("{hash}{ending}")))?;
        path.is_file().then_some(path)
    }

    fn shard(&self, hash: &str) -> PathBuf {
        self.folder.join(&hash[..2])
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn is_named_as_part(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PART.as_bytes()))
}

/// The hash by which a picture's file is found.
pub(crate) fn hash_of(original: &[u8]) -> String {
    digest(&SHA256, original).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the page says is a hash may be anything, as `../..`.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Writes a file, which nobody else may read, whole or not at all.
fn place(folder: &Path, name: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut part = tempfile::Builder::new().prefix(PART).tempfile_in(folder)?;
    part.write_all(bytes)?;
    part.as_file().sync_all()?;
    part.persist(folder.join(name))?;
    Ok(())
}
