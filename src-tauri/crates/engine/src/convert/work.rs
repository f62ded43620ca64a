//! The folder in which a result grows.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::ConvertError;
use super::companions::{self, INDEX, RECORD};
use super::journal::{JOURNAL, Journal, Mark};
use super::output::{OutputTensor, Shard};
use crate::checkpoint::CheckpointError;

const CONFIG: &str = "config.json";
/// The name of the config until the folder has its own; without a config nothing takes the folder for a model.
const NEXT_CONFIG: &str = "config.json.next";
/// The unit that the system counts the blocks of a file in.
const BLOCK: u64 = 512;
/// How long to wait for a journal that another conversion has locked.
const LOCK_WAIT: Duration = Duration::from_secs(3);
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// A result's place and the work folder beside it.
#[derive(Debug)]
struct Places {
    out: PathBuf,
    work: PathBuf,
}

impl Places {
    fn of(out: &Path) -> Result<Self, ConvertError> {
        let absolute = std::path::absolute(out).map_err(ConvertError::write(out))?;
        let name = absolute.file_name().ok_or_else(|| ConvertError::BadTarget { path: out.to_owned() })?;
        let mut partial = name.to_owned();
        partial.push(".partial");
        // A slash at the end would follow a link.
        Ok(Self { work: absolute.with_file_name(partial), out: absolute.with_file_name(name) })
    }

    /// Whether [`Work::finish`] broke off when the folder had its name and not yet its config.
    fn is_half_named(&self) -> bool {
        let marked = || File::open(self.out.join(JOURNAL)).and_then(|file| Mark::of(&file));
        is_missing(&self.out.join(CONFIG))
            && is_missing(&self.work)
            && is_folder(&self.out)
            && marked().is_ok_and(|mark| mark == Mark::Whole)
    }

    /// Opens and locks the journal in the work folder, where a half-named result becomes one again.
    fn open(&self) -> Result<File, ConvertError> {
        if self.is_half_named() {
            let lock = open_journal(&self.out, &self.out)?;
            // Whoever had the lock until now may have finished.
            if !self.is_half_named() {
                return Err(ConvertError::TargetExists { path: self.out.clone() });
            }
            fs::rename(&self.out, &self.work).map_err(ConvertError::write(&self.work))?;
            return Ok(lock);
        }
        open_journal(&self.work, &self.out)
    }
}

/// Refuses a place that holds something already, or that a folder cannot be moved to.
pub(super) fn check_target(out: &Path) -> Result<(), ConvertError> {
    let places = Places::of(out)?;
    let metadata = match fs::symlink_metadata(&places.out) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(ConvertError::write(out))?,
    };
    let parent = places.out.parent().and_then(|parent| fs::metadata(parent).ok());
    let is_mounted = parent.is_some_and(|parent| parent.dev() != metadata.dev());
    if metadata.is_symlink() || metadata.is_dir() && is_mounted {
        return Err(ConvertError::BadTarget { path: out.to_owned() });
    }
    let is_empty = || fs::read_dir(&places.out).map(|mut entries| entries.next().is_none());
    if metadata.is_dir() && (is_empty().map_err(ConvertError::write(out))? || places.is_half_named()) {
        return Ok(());
    }
    Err(ConvertError::TargetExists { path: out.to_owned() })
}

/// Removes the files of a conversion but the journal.
fn remove_own(folder: &Path) -> Result<(), ConvertError> {
    for entry in fs::read_dir(folder).map_err(ConvertError::write(folder))?.flatten() {
        let own = entry.file_name().to_str().is_some_and(is_own);
        if own && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            fs::remove_file(entry.path()).map_err(ConvertError::write(&entry.path()))?;
        }
    }
    Ok(())
}

/// Whether a conversion writes a file of this name into its work folder.
fn is_own(name: &str) -> bool {
    let shard = name.strip_prefix("model").and_then(|name| name.strip_suffix(".safetensors"));
    let numbered = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || b"-of".contains(&byte));
    shard.is_some_and(numbered)
        || [NEXT_CONFIG, INDEX, RECORD].contains(&name)
        || companions::belongs(name)
        // What Finder leaves in a folder that it has shown.
        || name == ".DS_Store"
}

fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Locks a journal. One whose owner has died may be locked for a moment more: a conversion notices with its next word
/// that nobody listens.
pub(crate) fn lock(journal: &File) -> Result<(), TryLockError> {
    let begun = Instant::now();
    loop {
        match journal.try_lock() {
            Err(TryLockError::WouldBlock) if begun.elapsed() < LOCK_WAIT => thread::sleep(LOCK_PAUSE),
            locked => return locked,
        }
    }
}

/// Opens and locks the journal of a folder. A folder with something in it but no journal is somebody else's.
fn open_journal(folder: &Path, out: &Path) -> Result<File, ConvertError> {
    let failed = |error| ConvertError::write(folder)(error);
    let taken = || ConvertError::WorkFolderTaken { path: folder.to_owned() };
    let path = folder.join(JOURNAL);
    let entries = || Ok(fs::read_dir(folder).map_err(failed)?.count());
    let journal = match fs::symlink_metadata(&path) {
        _ if !is_folder(folder) => return Err(taken()),
        Ok(metadata) if metadata.is_file() => OpenOptions::new().read(true).write(true).open(&path),
        Err(error) if error.kind() == io::ErrorKind::NotFound && entries()? == 0 => {
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)
        }
        _ => return Err(taken()),
    };
    let journal = journal.map_err(failed)?;
    match lock(&journal) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(ConvertError::Busy { path: out.to_owned() }),
        // Some network disks have no locks.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    // Whoever had it may have ended well meanwhile, or thrown it away.
    let is_there = |found: fs::Metadata| {
        journal.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (found.dev(), found.ino()))
    };
    if !fs::symlink_metadata(&path).is_ok_and(is_there) {
        return Err(ConvertError::Busy { path: out.to_owned() });
    }
    match Mark::of(&journal).map_err(failed)? {
        Mark::Whole => Ok(journal),
        // Nothing is written before the first line, so there is nothing else.
        Mark::Begun if entries()? == 1 => Ok(journal),
        Mark::Begun | Mark::Foreign => Err(taken()),
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
        let places = Places::of(out)?;
        if !places.is_half_named() {
            fs::create_dir_all(&places.work).map_err(|error| match is_missing(&places.work) {
                true => ConvertError::write(&places.work)(error),
                false => ConvertError::WorkFolderTaken { path: places.work.clone() },
            })?;
        }
        let file = places.open()?;
        let path = places.work;
        let (journal, resumed) = Journal::open(file, &path.join(JOURNAL), fingerprint, || remove_own(&path))?;
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

    /// Makes the folder a model: it gets its name, then its config. A start after a crash in between goes on from the
    /// work folder again.
    pub(super) fn finish(self, out: &Path, config: &[u8]) -> Result<(), ConvertError> {
        let failed = |error| ConvertError::write(out)(error);
        let out = Places::of(out)?.out;
        self.write(NEXT_CONFIG, config)?;
        sync_folder(&self.path).map_err(failed)?;
        fs::rename(&self.path, &out).map_err(failed)?;
        out.parent().map_or(Ok(()), sync_folder).map_err(failed)?;
        fs::rename(out.join(NEXT_CONFIG), out.join(CONFIG)).map_err(failed)?;
        // The model is there. A journal that stays does no harm.
        let tidied = sync_folder(&out)
            .and_then(|()| fs::remove_file(out.join(JOURNAL)))
            .and_then(|()| sync_folder(&out));
        if let Err(error) = tidied {
            tracing::warn!(%error, path = %out.display(), "the journal of a finished conversion stays");
        }
        Ok(())
    }
}

/// Some disks cannot sync a folder; they keep its entries by other means or not at all.
fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {
            Ok(())
        }
        synced => synced,
    }
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
    pub(super) fn write(&mut self, part: &OutputTensor, at: u64, bytes: &[u8]) -> Result<(), ConvertError> {
        let shard = &mut self.files[part.shard];
        shard.dirty = true;
        shard.file.write_all_at(bytes, part.offset + at).map_err(ConvertError::write(&shard.path))
    }

    /// Reads bytes of a tensor back; false if the file ends before them.
    pub(super) fn read(
        &self,
        part: &OutputTensor,
        at: u64,
        buffer: &mut [u8],
    ) -> Result<bool, CheckpointError> {
        let shard = &self.files[part.shard];
        match shard.file.read_exact_at(buffer, part.offset + at) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(source) => Err(CheckpointError::Io { path: shard.path.clone(), source }),
        }
    }

    /// The path of a tensor's file.
    pub(super) fn path(&self, part: &OutputTensor) -> &Path {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_fit_the_disk_is_refused_before_it_begins() {
        let dir = tempfile::tempdir().unwrap();
        let work = Work::open(&dir.path().join("out"), &json!({})).unwrap();
        let shard = |bytes| Shard { name: "model.safetensors".into(), header: Vec::new(), bytes };
        work.check_space(&[shard(1000)]).unwrap();
        let error = work.check_space(&[shard(1000), shard(1 << 60)]).unwrap_err();
        assert_eq!(error.code(), "disk_full");
        assert!(error.to_string().contains("1152921504607 MB"), "{error}");
        // What an interrupted start has written needs no room any more.
        let free = rustix::fs::statvfs(dir.path()).map(|stats| stats.f_bavail * stats.f_frsize).unwrap();
        fs::write(work.path.join("model.safetensors"), vec![7; 4 << 20]).unwrap();
        work.check_space(&[shard(free.saturating_sub(64 << 20))]).unwrap();
    }
    #[test]
    fn only_names_that_a_conversion_writes_are_its_own() {
        for name in
            ["model.safetensors", "model-00002-of-00011.safetensors", INDEX, RECORD, NEXT_CONFIG, "LICENSE"]
        {
            assert!(is_own(name), "{name}");
        }
        for name in ["config.json", "model-best.safetensors", "model.safetensors.bak", "notes.txt", JOURNAL] {
            assert!(!is_own(name), "{name}");
        }
    }

    #[test]
    fn a_result_with_its_name_but_no_config_is_taken_up_again() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let mut work = Work::open(&out, &json!({})).unwrap();
        work.journal.add("a", vec![7]);
        work.journal.commit().unwrap();
        work.write(NEXT_CONFIG, b"{}").unwrap();
        fs::rename(&work.path, &out).unwrap();
        check_target(&out).unwrap();
        assert_eq!(Work::open(&out, &json!({})).unwrap_err().code(), "busy");
        drop(work);

        let work = Work::open(&out, &json!({})).unwrap();
        assert!(work.resumed && work.journal.sums("a").is_some() && !out.exists());
        work.finish(&out, b"{}").unwrap();
        let names: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [CONFIG]);
        assert_eq!(check_target(&out).unwrap_err().code(), "target_exists");
    }

    #[test]
    fn a_start_that_broke_off_in_its_first_line_can_be_repeated() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let journal = Work::open(&out, &json!({})).unwrap().path.join(JOURNAL);
        let whole = fs::read(&journal).unwrap();
        for length in 0..whole.len() {
            fs::write(&journal, &whole[..length]).unwrap();
            Work::open(&out, &json!({})).unwrap();
            assert_eq!(fs::read(&journal).unwrap(), whole, "{length}");
        }
    }

    #[test]
    fn places_that_a_folder_cannot_be_moved_to_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (link, folder) = (dir.path().join("link"), dir.path().join("folder"));
        fs::create_dir(&folder).unwrap();
        check_target(&folder).unwrap();
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        for link in [link.clone(), dir.path().join("link/")] {
            assert_eq!(check_target(&link).unwrap_err().code(), "bad_target");
        }
        fs::remove_dir(&folder).unwrap();
        assert_eq!(check_target(&link).unwrap_err().code(), "bad_target");
        #[cfg(target_os = "linux")]
        assert_eq!(check_target(Path::new("/dev/shm")).unwrap_err().code(), "bad_target");
    }
}
