//! Puts a file in the place of another in one step: whoever looks, or loses power, finds the old one or the new one,
//! whole.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};
use rustix::fs::{AtFlags, FlockOperation, Gid, Mode, OFlags, RenameFlags, XattrFlags};
use rustix::io::Errno;

use super::beneath::{Entry, failed};
use super::error::FileError;
use super::paths::Asked;

/// How a file is called while it is written.
const TEMPORARY: &str = ".foretoken-writing-";
/// How long a folder that another program holds is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of the names of a file's attributes, and of an attribute, that are copied.
const LARGEST_ATTRIBUTES: usize = 1 << 16;
/// How long one waits before the next look.
const PAUSE: Duration = Duration::from_millis(5);

/// Whether this is the name of a file that is being written, or was when its writer ended.
pub(super) fn is_temporary(name: &[u8]) -> bool {
    name.starts_with(TEMPORARY.as_bytes())
}

/// Keeps other calls, of this app and of others like it, from writing in the folder of `entry` until it is dropped.
/// Where a file system knows no locks there is none.
pub(super) fn locked<'a>(entry: &'a Entry, asked: &Asked) -> Result<Lock<'a>, FileError> {
    let folder = entry.folder.handle.as_fd();
    let until = Instant::now() + PATIENCE;
    loop {
        match rustix::fs::flock(folder, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::AGAIN) if Instant::now() < until => std::thread::sleep(PAUSE),
            Err(Errno::AGAIN) => return Err(FileError::Busy { path: asked.told.clone() }),
            Err(Errno::INTR) => {}
            Ok(()) | Err(_) => return Ok(Lock { folder }),
        }
    }
}

/// A folder in which no other call writes.
#[derive(Debug)]
pub(super) struct Lock<'a> {
    folder: BorrowedFd<'a>,
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // It is gone with the handle anyway.
        let _ = rustix::fs::flock(self.folder, FlockOperation::Unlock);
    }
}

/// Writes `bytes` in the place of `entry`, with the permissions and attributes of `before`, the file that is there.
/// `check` is asked at the last moment. A link that is put there meanwhile is replaced, not followed.
pub(super) fn replace(
    entry: &Entry,
    asked: &Asked,
    bytes: &[u8],
    before: Option<&File>,
    check: impl FnOnce() -> Result<(), FileError>,
) -> Result<(), FileError> {
    let folder = entry.folder.handle.as_fd();
    let mut temporary =
        Temporary::new(folder, before.is_some()).map_err(|errno| failed(asked, "written", errno))?;
    let written = temporary.fill(bytes, before);
    written.map_err(|error| FileError::Failed {
        path: asked.told.clone(),
        done: "written",
        reason: error.kind(),
    })?;
    check()?;
    match temporary.take_place_of(entry, before.is_some()) {
        Ok(()) => {}
        Err(Errno::EXIST | Errno::ISDIR | Errno::NOTDIR) => {
            return Err(FileError::Swapped { path: asked.told.clone() });
        }
        Err(errno) => return Err(failed(asked, "written", errno)),
    }
    // Not every file system can do this, and the file is whole in any case.
    let _ = rustix::fs::fsync(folder);
    Ok(())
}

/// A file that is being written; it is gone when this is dropped.
struct Temporary<'a> {
    folder: BorrowedFd<'a>,
    name: OsString,
    file: File,
    renamed: bool,
}

impl<'a> Temporary<'a> {
    /// A new empty file. One that is to replace another is nobody else's until it has its permissions.
    fn new(folder: BorrowedFd<'a>, replaces: bool) -> Result<Self, Errno> {
        let mode = Mode::from_raw_mode(if replaces { 0o600 } else { 0o666 });
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let mut random = [0; 8];
            SystemRandom::new().fill(&mut random).map_err(|_| Errno::IO)?;
            let name = OsString::from(format!("{TEMPORARY}{:016x}", u64::from_le_bytes(random)));
            match rustix::fs::openat(folder, &name, flags, mode) {
                Ok(file) => return Ok(Self { folder, name, file: file.into(), renamed: false }),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    fn fill(&mut self, bytes: &[u8], before: Option<&File>) -> std::io::Result<()> {
        self.file.write_all(bytes)?;
        if let Some(before) = before {
            let metadata = before.metadata()?;
            copy_attributes(before, &self.file);
            let mut mode = metadata.mode() & 0o777;
            if metadata.gid() != self.file.metadata()?.gid() {
                let group = Gid::from_raw(metadata.gid());
                if rustix::fs::fchown(&self.file, None, Some(group)).is_err() {
                    // What its group was allowed is not for the group that it has now.
                    mode &= 0o707;
                }
            }
            rustix::fs::fchmod(&self.file, Mode::from_bits_truncate(mode as _))?;
        }
        self.file.sync_all()
    }

    /// Gets the name of `entry`. Where there was no file there must be none now.
    fn take_place_of(&mut self, entry: &Entry, replaces: bool) -> Result<(), Errno> {
        let plainly = || rustix::fs::renameat(self.folder, &self.name, self.folder, &entry.name);
        if replaces {
            plainly()?;
        } else {
            let flags = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(self.folder, &self.name, self.folder, &entry.name, flags) {
                // The file system cannot; nothing was there a moment ago.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => plainly()?,
                renamed => renamed?,
            }
        }
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // Nothing else can be done about it.
            let _ = rustix::fs::unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}

/// Copies what else is kept of a file, such as the Finder's tags and lists of access, as far as the system allows it.
fn copy_attributes(from: &File, to: &File) {
    let mut names = vec![0; LARGEST_ATTRIBUTES];
    let Ok(length) = rustix::fs::flistxattr(from, &mut names[..]) else { return };
    let mut value = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        value.resize(LARGEST_ATTRIBUTES, 0);
        if let Ok(length) = rustix::fs::fgetxattr(from, name, &mut value[..]) {
            let _ = rustix::fs::fsetxattr(to, name, &value[..length], XattrFlags::empty());
        }
    }
}
