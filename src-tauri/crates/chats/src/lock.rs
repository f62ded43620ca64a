//! One process at a time keeps the chats.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;

use crate::ChatsError;

/// How long another process is waited for: an app that is opened again at once finds the one before still closing.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two tries.
const PULSE: Duration = Duration::from_millis(20);

/// The right to use the chats, given back when dropped or when the process ends, however it ends.
///
/// The system keeps it for the process: SQLite orders what several threads of one process do.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the right to use the database at `path`, or learns that another process keeps it.
    pub(crate) fn take(path: &Path) -> Result<Self, ChatsError> {
        let refused =
            |error: std::io::Error| ChatsError::Io { path: path.to_owned(), detail: error.to_string() };
        // A file of its own, since SQLite has its own locks on the database, which closing any handle would drop.
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(beside(path, "lock"))
            .map_err(refused)?;
        let begin = Instant::now();
        loop {
            match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { _file: file }),
                Err(Errno::AGAIN | Errno::ACCESS) if begin.elapsed() < PATIENCE => sleep(PULSE),
                Err(Errno::AGAIN | Errno::ACCESS) => return Err(ChatsError::Busy { path: path.to_owned() }),
                Err(error) => return Err(refused(error.into())),
            }
        }
    }
}

/// The path of a file that belongs to the database at `path`: its name with `.ending` after it.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}
