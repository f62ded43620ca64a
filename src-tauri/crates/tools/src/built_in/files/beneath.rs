//! Ways within a folder, step by step from its handle: no step follows a link by itself, so that a link that another
//! program puts there meanwhile leads nowhere, and `..` in a link goes back over the folders that were passed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::error::FileError;
use super::paths::Asked;

/// Folders within each other; each is open while a way goes through it.
pub(super) const DEEPEST: usize = 64;
/// Links on one way.
const MOST_LINKS: usize = 40;
/// Names of a folder that are looked at.
pub(super) const MOST_NAMES: usize = 100_000;

/// How a folder is opened.
pub(super) const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
// Whatever is put in a file's place is opened without waiting for it and without effect on a terminal.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// A folder that the person has picked.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) name: String,
    handle: Result<OwnedFd, io::ErrorKind>,
}

/// Whether a link at the end of a way is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtEnd {
    Follow,
    Keep,
}

/// What is at the end of a way.
#[derive(Debug)]
pub(super) enum Found {
    Folder(Opened),
    Entry(Entry),
}

/// A folder that is open.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) handle: OwnedFd,
    /// The names on the way to it, without links.
    pub(super) way: Vec<OsString>,
}

/// Something in a folder that is no folder, or nothing.
#[derive(Debug)]
pub(super) struct Entry {
    /// Where it is.
    pub(super) folder: Opened,
    /// What it is called there.
    pub(super) name: OsString,
    /// What is there; `None` where there is nothing.
    pub(super) stat: Option<Stat>,
}

impl Folder {
    /// Opens the folder at this path, whose own links are followed: the person picked it.
    pub(super) fn new(name: String, path: &Path) -> Self {
        let flags = FOLDER.difference(OFlags::NOFOLLOW);
        let opened = match path.is_absolute() {
            true => rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| errno.kind()),
            false => Err(io::ErrorKind::InvalidFilename),
        };
        Self { name, handle: opened }
    }

    /// Why it cannot be used, if it cannot.
    pub(super) fn problem(&self) -> Option<io::ErrorKind> {
        self.handle.as_ref().err().copied()
    }

    /// Goes the way that was asked for.
    pub(super) fn find(&self, asked: &Asked, at_end: AtEnd) -> Result<Found, FileError> {
        let handle = self.handle.as_ref();
        let handle =
            handle.map_err(|reason| FileError::Unopened { name: self.name.clone(), reason: *reason })?;
        let root = rustix::fs::openat(handle, ".", FOLDER, Mode::empty());
        let root =
            root.map_err(|errno| FileError::Unopened { name: self.name.clone(), reason: errno.kind() })?;
        let mut way = Way { asked, passed: vec![(OsString::new(), root)], links: 0 };
        let mut ahead: Vec<OsString> = asked.parts.iter().rev().cloned().collect();
        while let Some(name) = ahead.pop() {
            if let Some(entry) = way.step(name, &mut ahead, at_end)? {
                let folder = way.ended()?;
                return Ok(Found::Entry(Entry { folder, name: entry.0, stat: entry.1 }));
            }
        }
        Ok(Found::Folder(way.ended()?))
    }
}

/// A way that is being gone.
struct Way<'a> {
    asked: &'a Asked,
    /// The folders on it, from the one that the person has picked.
    passed: Vec<(OsString, OwnedFd)>,
    links: usize,
}

impl Way<'_> {
    /// Goes into `name`. A link puts what it leads to `ahead`. Returns what the way ends at, if that is no folder.
    fn step(
        &mut self,
        name: OsString,
        ahead: &mut Vec<OsString>,
        at_end: AtEnd,
    ) -> Result<Option<(OsString, Option<Stat>)>, FileError> {
        let told = || self.asked.told.clone();
        match name.as_bytes() {
            b"" | b"." => return Ok(None),
            // Only links have these.
            b".." if self.passed.len() == 1 => return Err(FileError::LeadsOut { path: told() }),
            b".." => {
                self.passed.pop();
                return Ok(None);
            }
            _ => {}
        }
        let Some((_, here)) = self.passed.last() else { return Err(FileError::LeadsOut { path: told() }) };
        let is_last = ahead.is_empty();
        let stat = match rustix::fs::statat(here, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) if is_last => return Ok(Some((name, None))),
            Err(Errno::NOENT) if at_end == AtEnd::Keep => return Err(FileError::NoParent { path: told() }),
            Err(Errno::NOENT) => {
                return Err(FileError::Missing { path: told(), like: like(here.as_fd(), &name) });
            }
            Err(errno) => return Err(failed(self.asked, "found", errno)),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink if is_last && at_end == AtEnd::Keep => Ok(Some((name, Some(stat)))),
            FileType::Symlink => {
                self.links += 1;
                if self.links > MOST_LINKS {
                    return Err(FileError::Links { path: told() });
                }
                let target = match rustix::fs::readlinkat(here, &name, Vec::new()) {
                    Ok(target) => target.into_bytes(),
                    Err(Errno::INVAL | Errno::NOENT) => return Err(FileError::Swapped { path: told() }),
                    Err(errno) => return Err(failed(self.asked, "found", errno)),
                };
                if target.first() == Some(&b'/') {
                    return Err(FileError::LeadsOut { path: told() });
                }
                let parts = target.split(|byte| *byte == b'/').rev();
                ahead.extend(parts.map(|part| OsString::from_vec(part.to_vec())));
                Ok(None)
            }
            FileType::Directory if self.passed.len() > DEEPEST => {
                Err(FileError::Path { path: told(), reason: "it lies too deep" })
            }
            FileType::Directory => match rustix::fs::openat(here, &name, FOLDER, Mode::empty()) {
                Ok(handle) => {
                    self.passed.push((name, handle));
                    Ok(None)
                }
                Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT) => Err(FileError::Swapped { path: told() }),
                Err(errno) => Err(failed(self.asked, "opened", errno)),
            },
            _ if is_last => Ok(Some((name, Some(stat)))),
            _ => Err(FileError::NotAFolder { path: told() }),
        }
    }

    /// The folder where the way has ended.
    fn ended(mut self) -> Result<Opened, FileError> {
        let Some((last, handle)) = self.passed.pop() else {
            return Err(FileError::LeadsOut { path: self.asked.told.clone() });
        };
        // The first is the folder that was picked, whose name is not on the way.
        let passed = self.passed.into_iter().map(|(name, _)| name).chain([last]);
        Ok(Opened { handle, way: passed.skip(1).collect() })
    }
}

impl Opened {
    /// What is in it, by name, apart from files that are being written; and how many more there are.
    pub(super) fn names(&self) -> Result<(Vec<OsString>, usize), Errno> {
        names(self.handle.as_fd())
    }
}

impl Entry {
    /// That there is nothing of its name.
    pub(super) fn missing(&self, asked: &Asked) -> FileError {
        let like = like(self.folder.handle.as_fd(), &self.name);
        FileError::Missing { path: asked.told.clone(), like }
    }

    /// Opens the file for reading; anything else is refused before it is opened.
    pub(super) fn open(&self, asked: &Asked) -> Result<File, FileError> {
        match &self.stat {
            Some(stat) => self.open_as(stat, asked),
            None => Err(self.missing(asked)),
        }
    }

    /// The same, where it was just found to be this.
    pub(super) fn open_as(&self, stat: &Stat, asked: &Asked) -> Result<File, FileError> {
        let told = || asked.told.clone();
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => return Err(FileError::IsAFolder { path: told() }),
            kind => {
                if let Some(kind) = special(kind) {
                    return Err(FileError::Special { path: told(), kind });
                }
            }
        }
        let file = match rustix::fs::openat(&self.folder.handle, &self.name, FILE, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::LOOP | Errno::NOENT) => return Err(FileError::Swapped { path: told() }),
            Err(errno) => return Err(failed(asked, "read", errno)),
        };
        match file.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(file),
            Ok(_) => Err(FileError::Swapped { path: told() }),
            Err(error) => Err(FileError::Failed { path: told(), done: "read", reason: error.kind() }),
        }
    }

    /// The name that the folder has for it, which differs where names are compared without case or in another form of
    /// Unicode: what is written there must not rename it.
    pub(super) fn stored_name(&self, stat: &Stat) -> OsString {
        let (names, _) = self.folder.names().unwrap_or_default();
        if names.binary_search(&self.name).is_ok() {
            return self.name.clone();
        }
        let is_it = |name: &&OsString| {
            rustix::fs::statat(&self.folder.handle, *name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|other| (other.st_dev, other.st_ino) == (stat.st_dev, stat.st_ino))
        };
        // One file may have several names here; the one that differs in case is meant.
        let lower = self.name.to_string_lossy().to_lowercase();
        let is_like = |name: &&OsString| name.to_string_lossy().to_lowercase() == lower;
        let found = names.iter().filter(is_like).find(is_it).or_else(|| names.iter().find(is_it));
        found.unwrap_or(&self.name).clone()
    }
}

/// What something is that is neither a file nor a folder.
pub(super) fn special(kind: FileType) -> Option<&'static str> {
    match kind {
        FileType::RegularFile | FileType::Directory => None,
        FileType::Symlink => Some("a link"),
        FileType::Fifo => Some("a named pipe"),
        FileType::Socket => Some("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("a device"),
        FileType::Unknown => Some("something unknown"),
    }
}

/// That the system refused.
pub(super) fn failed(asked: &Asked, done: &'static str, errno: Errno) -> FileError {
    FileError::Failed { path: asked.told.clone(), done, reason: errno.kind() }
}

fn names(folder: rustix::fd::BorrowedFd<'_>) -> Result<(Vec<OsString>, usize), Errno> {
    let (mut names, mut more) = (Vec::new(), 0);
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") || super::replace::is_temporary(name) {
            continue;
        }
        if names.len() < MOST_NAMES {
            names.push(OsStr::from_bytes(name).to_owned());
        } else {
            more += 1;
        }
    }
    names.sort_unstable();
    Ok((names, more))
}

/// The name of something in this folder that differs from `name` in case only.
fn like(folder: rustix::fd::BorrowedFd<'_>, name: &OsStr) -> Option<String> {
    let name = name.to_str()?.to_lowercase();
    let (names, _) = names(folder).ok()?;
    let mut texts = names.into_iter().filter_map(|name| name.into_string().ok());
    texts.find(|other| other.to_lowercase() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stands in for a file system that compares names without case, which finds a file by another name too.
    #[test]
    fn a_file_that_is_found_by_another_name_keeps_its_own() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["other.txt", "today.txt"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        // A second name of the same file does not mislead.
        std::fs::hard_link(folder.path().join("today.txt"), folder.path().join("again.txt")).unwrap();
        let opened = || Opened {
            handle: rustix::fs::open(folder.path(), FOLDER, Mode::empty()).unwrap(),
            way: Vec::new(),
        };
        let stat = rustix::fs::stat(folder.path().join("today.txt")).unwrap();
        for (asked, stored) in
            [("TODAY.txt", "today.txt"), ("again.txt", "again.txt"), ("today.txt", "today.txt")]
        {
            let entry = Entry { folder: opened(), name: asked.into(), stat: Some(stat) };
            assert_eq!(entry.stored_name(&stat), stored);
        }
    }
}
