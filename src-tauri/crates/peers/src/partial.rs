//! A file that has not arrived yet. All of it waits for the disk.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use ring::digest::{Context, SHA256};
use tokio::sync::mpsc;

use crate::error::PeerError;
use crate::files::{ModelFile, Sha256};

/// Bytes that are read at a time.
const PIECE: usize = 1024 * 1024;

/// Whoever stopped fetching has it yet for a moment.
const BETWEEN_TRIES: Duration = Duration::from_millis(20);
const TRIES: usize = 100;

/// What there is of a file, beside its place, under the name with `.part`. Nobody else writes to it meanwhile.
pub(crate) struct Partial {
    wanted: ModelFile,
    to: PathBuf,
    path: PathBuf,
    file: File,
    bytes: u64,
    /// Of what there is, where the hash is known that all of it must have.
    hash: Option<Context>,
}

impl Partial {
    /// Opens what there is of a file, or begins it. Fails if it is being fetched already. `is_told_later`: whether the
    /// hash that it must have is told once all of it is there.
    pub(crate) fn open(wanted: ModelFile, to: PathBuf, is_told_later: bool) -> Result<Self, PeerError> {
        let path = beside(&to)?;
        let file = locked(&path)?;
        let hash = (is_told_later || wanted.sha256.is_some()).then(|| Context::new(&SHA256));
        let mut partial = Self { wanted, to, path, file, bytes: 0, hash };
        partial.read().map_err(|error| failed(&partial.path, error))?;
        Ok(partial)
    }

    /// How many bytes there are.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends what arrives until nothing more does.
    pub(crate) fn append(mut self, mut arriving: mpsc::Receiver<Vec<u8>>) -> Result<Self, PeerError> {
        while let Some(piece) = arriving.blocking_recv() {
            self.file.write_all(&piece).map_err(|error| failed(&self.path, error))?;
            self.take(&piece);
        }
        Ok(self)
    }

    /// [`Self::finish`] with the hash that was told last.
    pub(crate) fn finish_as(mut self, sha256: Sha256) -> Result<(), PeerError> {
        self.wanted.sha256 = Some(sha256);
        self.finish()
    }

    /// Puts a file that is whole to its place, over what is there. One with another hash is removed.
    pub(crate) fn finish(mut self) -> Result<(), PeerError> {
        let (arrived, bytes) = (self.bytes, self.wanted.bytes);
        if arrived != bytes {
            return Err(PeerError::CutShort { name: self.wanted.name.clone(), arrived, bytes });
        }
        if let (Some(expected), Some(hash)) = (self.wanted.sha256, self.hash.take())
            && !expected.is(&hash.finish())
        {
            fs::remove_file(&self.path).map_err(|error| failed(&self.path, error))?;
            return Err(PeerError::HashDiffers { name: self.wanted.name.clone() });
        }
        // Otherwise a Mac that loses its power could have the name, and not the bytes.
        self.file.sync_all().map_err(|error| failed(&self.path, error))?;
        fs::rename(&self.path, &self.to).map_err(|error| failed(&self.to, error))
    }

    /// Looks at what there is. More than the whole is another file's.
    fn read(&mut self) -> io::Result<()> {
        let there = self.file.metadata()?.len();
        if there > self.wanted.bytes {
            return self.file.set_len(0);
        }
        if self.hash.is_none() {
            self.bytes = self.file.seek(SeekFrom::End(0))?;
            return Ok(());
        }
        let mut buffer = vec![0; PIECE];
        loop {
            match self.file.read(&mut buffer)? {
                0 => return Ok(()),
                length => self.take(buffer.get(..length).unwrap_or_default()),
            }
        }
    }

    fn take(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        if let Some(hash) = &mut self.hash {
            hash.update(piece);
        }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Nothing is left of what did not begin.
        if self.bytes == 0 && is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl fmt::Debug for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partial")
            .field("path", &self.path)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// Where a file is until it is whole.
pub(crate) fn beside(to: &Path) -> Result<PathBuf, PeerError> {
    let no_name = || failed(to, io::ErrorKind::InvalidFilename.into());
    let mut name = to.file_name().map(OsString::from).ok_or_else(no_name)?;
    name.push(".part");
    Ok(to.with_file_name(name))
}

/// Opens a file for nobody else.
fn locked(path: &Path) -> Result<File, PeerError> {
    for _ in 0..TRIES {
        // Through a link the bytes would go elsewhere.
        if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(failed(path, io::ErrorKind::AlreadyExists.into()));
        }
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = opened.map_err(|error| failed(path, error))?;
        match file.try_lock() {
            // Whoever had it may have put it to its place meanwhile.
            Ok(()) if is_at(&file, path) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => thread::sleep(BETWEEN_TRIES),
            Err(TryLockError::Error(error)) => return Err(failed(path, error)),
        }
    }
    Err(PeerError::FileInUse { path: path.to_owned() })
}

fn is_at(file: &File, path: &Path) -> bool {
    let of = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (own, there) = (file.metadata().map(of), fs::symlink_metadata(path).map(of));
    own.ok().is_some_and(|own| there.ok() == Some(own))
}

fn failed(path: &Path, source: io::Error) -> PeerError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => PeerError::DiskFull { path },
        _ => PeerError::File { path, source },
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn wanted(bytes: u64) -> ModelFile {
        ModelFile { name: "a".into(), bytes, sha256: None }
    }

    fn append(partial: Partial, bytes: &[u8]) -> Partial {
        let (sender, arriving) = mpsc::channel(1);
        sender.try_send(bytes.to_vec()).unwrap();
        drop(sender);
        partial.append(arriving).unwrap()
    }

    #[test]
    fn a_file_is_one_fetchs_alone_and_whole_under_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let (to, part) = (folder.path().join("a"), folder.path().join("a.part"));
        let partial = append(Partial::open(wanted(5), to.clone(), false).unwrap(), b"abc");
        let second = Partial::open(wanted(5), to.clone(), false).unwrap_err();
        assert!(matches!(second, PeerError::FileInUse { path } if path == part));
        let short = partial.finish().unwrap_err();
        assert!(matches!(short, PeerError::CutShort { arrived: 3, bytes: 5, .. }) && !to.exists());
        let partial = Partial::open(wanted(5), to.clone(), false).unwrap();
        assert_eq!(partial.bytes(), 3);
        append(partial, b"de").finish().unwrap();
        assert_eq!((fs::read(&to).unwrap(), part.exists()), (b"abcde".to_vec(), false));
    }

    #[test]
    fn what_cannot_be_a_part_of_it_is_not_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let (to, part) = (folder.path().join("a"), folder.path().join("a.part"));
        fs::write(&part, "more than that").unwrap();
        let partial = Partial::open(wanted(2), to.clone(), false).unwrap();
        assert_eq!((partial.bytes(), fs::read(&part).unwrap()), (0, Vec::new()));
        drop(partial);
        assert!(!part.exists());
        let other = folder.path().join("other");
        fs::write(&other, "mine").unwrap();
        symlink(&other, &part).unwrap();
        let link = Partial::open(wanted(9), to, false).unwrap_err();
        assert!(matches!(link, PeerError::File { .. }));
        assert_eq!(fs::read(&other).unwrap(), b"mine");
        assert!(matches!(Partial::open(wanted(9), "/".into(), false), Err(PeerError::File { .. })));
    }

    #[test]
    fn a_full_disk_is_told_apart() {
        let of = |kind| failed(Path::new("a"), io::Error::from(kind)).code().to_owned();
        assert_eq!(of(io::ErrorKind::StorageFull), "disk_full");
        assert_eq!(of(io::ErrorKind::QuotaExceeded), "disk_full");
        assert_eq!(of(io::ErrorKind::PermissionDenied), "peer_file");
    }
}
