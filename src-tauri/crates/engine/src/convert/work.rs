//! The folder in which a result grows.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ConvertError;
use super::journal::{JOURNAL, Journal};
use super::output::{Part, Shard};

const CONFIG: &str = "config.json";
/// The unit that the system counts the blocks of a file in.
const BLOCK: u64 = 512;

/// Refuses a place that holds something already.
pub(super) fn check_target(out: &Path) -> Result<(), ConvertError> {
    work_path(out)?;
    match fs::read_dir(out).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(false) => Err(ConvertError::TargetExists { path: out.to_owned() }),
        Err(_) if out.is_file() => Err(ConvertError::TargetExists { path: out.to_owned() }),
        Err(error) => Err(ConvertError::write(out)(error)),
    }
}

/// Removes what an unfinished conversion to `out` has written. There may be nothing.
pub fn discard(out: &Path) -> Result<(), ConvertError> {
    let path = work_path(out)?;
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        _ => {}
    }
    let _lock = open_journal(&path, out)?;
    fs::remove_dir_all(&path).map_err(ConvertError::write(&path))
}

/// The work folder of the place of a result, beside it.
fn work_path(out: &Path) -> Result<PathBuf, ConvertError> {
    let absolute = std::path::absolute(out).map_err(ConvertError::write(out))?;
    let mut name =
        absolute.file_name().ok_or_else(|| ConvertError::BadTarget { path: out.to_owned() })?.to_owned();
    name.push(".partial");
    Ok(absolute.with_file_name(name))
}

/// Opens and locks the journal of a work folder. A folder with something in it but no journal is somebody else's.
fn open_journal(path: &Path, out: &Path) -> Result<File, ConvertError> {
    let failed = |error| ConvertError::write(path)(error);
    let journal = path.join(JOURNAL);
    if !journal.is_file() && (!path.is_dir() || fs::read_dir(path).map_err(failed)?.next().is_some()) {
        return Err(ConvertError::WorkFolderTaken { path: path.to_owned() });
    }
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).open(&journal).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ConvertError::Busy { path: out.to_owned() }),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// A work folder with its journal, locked against others.
#[derive(Debug)]
pub(super) struct Work {
    /// The folder.
    pub(super) path: PathBuf,
    /// What is finished.
    pub(super) journal: Journal,
    /// Whether a start before left something to go on with.
    pub(super) resumed: bool,
}

impl Work {
    /// Opens the work folder of a place. What another conversion left there is removed.
    pub(super) fn open(out: &Path, fingerprint: &Value) -> Result<Self, ConvertError> {
        let path = work_path(out)?;
        fs::create_dir_all(&path).map_err(ConvertError::write(&path))?;
        let file = open_journal(&path, out)?;
        let (journal, resumed) = Journal::open(file, &path.join(JOURNAL), fingerprint)?;
        let stale = |name: &OsStr| name != JOURNAL && (!resumed || name == CONFIG);
        for entry in fs::read_dir(&path).map_err(ConvertError::write(&path))?.flatten() {
            if stale(&entry.file_name()) {
                fs::remove_file(entry.path()).map_err(ConvertError::write(&entry.path()))?;
            }
        }
        Ok(Self { path, journal, resumed })
    }

    /// Refuses to begin what cannot end.
    pub(super) fn check_space(&self, shards: &[Shard]) -> Result<(), ConvertError> {
        let stats =
            rustix::fs::statvfs(&self.path).map_err(|error| ConvertError::write(&self.path)(error.into()))?;
        let free = stats.f_bavail.saturating_mul(stats.f_frsize);
        let needed = shards.iter().map(|shard| {
            let written = fs::metadata(self.path.join(&shard.name)).map_or(0, |file| file.blocks() * BLOCK);
            shard.bytes.saturating_sub(written)
        });
        let needed = needed.sum::<u64>();
        if needed <= free {
            return Ok(());
        }
        let path = self.path.parent().unwrap_or(&self.path).to_owned();
        Err(ConvertError::DiskFull { path, needed_mb: needed.div_ceil(1_000_000), free_mb: free / 1_000_000 })
    }

    /// Writes a small file and waits until it is on the disk.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ConvertError> {
        let path = self.path.join(name);
        let written = File::create(&path).and_then(|file| {
            file.write_all_at(bytes, 0)?;
            file.sync_all()
        });
        written.map_err(ConvertError::write(&path))
    }

    /// Makes the folder a model: it gets its config, then its name.
    pub(super) fn finish(self, out: &Path, config: &[u8]) -> Result<(), ConvertError> {
        let failed = |error| ConvertError::write(out)(error);
        self.write(CONFIG, config)?;
        sync_folder(&self.path).map_err(failed)?;
        fs::rename(&self.path, out).map_err(failed)?;
        fs::remove_file(out.join(JOURNAL)).map_err(failed)?;
        sync_folder(out).map_err(failed)?;
        self.path.parent().map_or(Ok(()), sync_folder).map_err(failed)
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// The tensor files of a result, open.
#[derive(Debug)]
pub(super) struct ShardFiles {
    files: Vec<ShardFile>,
}

#[derive(Debug)]
struct ShardFile {
    file: File,
    path: PathBuf,
    /// Whether it was written to since it was last on the disk.
    dirty: bool,
}

impl ShardFiles {
    /// Opens the files in a work folder and writes their headers.
    pub(super) fn open(dir: &Path, shards: &[Shard]) -> Result<Self, ConvertError> {
        let open = |shard: &Shard| {
            let path = dir.join(&shard.name);
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create(true).truncate(false).open(&path);
            let file = file.and_then(|file| file.write_all_at(&shard.header, 0).map(|()| file));
            Ok(ShardFile { file: file.map_err(ConvertError::write(&path))?, path, dirty: true })
        };
        let files = shards.iter().map(open).collect::<Result<_, _>>()?;
        sync_folder(dir).map_err(ConvertError::write(dir))?;
        Ok(Self { files })
    }

    /// Writes bytes of a tensor, `at` bytes from its beginning.
    pub(super) fn write(&mut self, part: &Part, at: u64, bytes: &[u8]) -> Result<(), ConvertError> {
        let shard = &mut self.files[part.shard];
        shard.dirty = true;
        shard.file.write_all_at(bytes, part.offset + at).map_err(ConvertError::write(&shard.path))
    }

    /// Reads bytes of a tensor back; false if the file ends before them.
    pub(super) fn read(&self, part: &Part, at: u64, buffer: &mut [u8]) -> Result<bool, ConvertError> {
        let shard = &self.files[part.shard];
        match shard.file.read_exact_at(buffer, part.offset + at) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(ConvertError::write(&shard.path)(error)),
        }
    }

    /// The path of a tensor's file.
    pub(super) fn path(&self, part: &Part) -> &Path {
        &self.files[part.shard].path
    }

    /// Waits until everything that was written is on the disk.
    pub(super) fn sync(&mut self) -> Result<(), ConvertError> {
        for shard in self.files.iter_mut().filter(|shard| shard.dirty) {
            shard.file.sync_all().map_err(ConvertError::write(&shard.path))?;
            shard.dirty = false;
        }
        Ok(())
    }
}
