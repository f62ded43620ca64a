//! A folder for files that are needed for a while. Each process has one of its own in it, which is locked as long as
//! the process lives, however it ends: what is locked by nobody was left by one that was killed.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::{Builder, TempDir};

/// The file that is locked: in the folder of a process by that process, in the folder of all by whoever looks for dead
/// ones or adds one.
const LOCK: &str = "lock";
/// How the folders of processes are named.
const PROCESS: &str = "process-";

/// The folder of all processes, and this one's in it.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    /// Made when it is needed.
    own: Mutex<Option<Own>>,
}

#[derive(Debug)]
struct Own {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// Files in `folder`, which is made when it is needed.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, own: Mutex::default() }
    }

    /// A folder that nobody else may read, in that of this process.
    pub(crate) fn folder(&self) -> io::Result<TempDir> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let own = match own.take().filter(|own| own.folder.path().is_dir()) {
            Some(there) => own.insert(there),
            // Whoever empties caches may have removed it.
            None => own.insert(self.own()?),
        };
        private(Builder::new().prefix("picture-"), own.folder.path())
    }

    fn own(&self) -> io::Result<Own> {
        fs::create_dir_all(&self.folder)?;
        let _alone = locked(&self.folder)?;
        let prefix = format!("{PROCESS}{}-", std::process::id());
        let folder = private(Builder::new().prefix(&prefix), &self.folder)?;
        let _lock = locked(folder.path())?;
        Ok(Own { folder, _lock })
    }

    /// Removes the folders of processes that have ended.
    pub(crate) fn sweep(&self) -> io::Result<()> {
        if !self.folder.is_dir() {
            return Ok(());
        }
        let _alone = locked(&self.folder)?;
        for entry in fs::read_dir(&self.folder)?.flatten() {
            let folder = entry.path();
            let is_process = entry.file_name().as_encoded_bytes().starts_with(PROCESS.as_bytes());
            if is_process && is_dead(&folder) {
                match fs::remove_dir_all(&folder) {
                    Ok(()) => tracing::info!("removed {}, whose process has ended", folder.display()),
                    Err(error) => tracing::warn!("{} cannot be removed: {error}", folder.display()),
                }
            }
        }
        Ok(())
    }
}

/// Whether nobody holds the lock of a process's folder.
fn is_dead(folder: &Path) -> bool {
    match File::open(folder.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Locks a folder until the file is dropped or the process ends.
fn locked(folder: &Path) -> io::Result<File> {
    let lock = File::options().create(true).truncate(false).write(true).open(folder.join(LOCK))?;
    lock.lock()?;
    Ok(lock)
}

fn private(builder: &mut Builder<'_, '_>, folder: &Path) -> io::Result<TempDir> {
    builder.permissions(Permissions::from_mode(0o700)).tempdir_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_have_left_is_removed_and_what_the_living_have_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (Scratch::new(folder.path().into()), Scratch::new(folder.path().into()));
        let kept = one.folder().unwrap();
        fs::write(kept.path().join("pixels"), "").unwrap();
        assert_eq!(fs::metadata(kept.path()).unwrap().permissions().mode() & 0o777, 0o700);
        // A process that was killed unlocks and removes nothing.
        let dead = {
            let Own { folder, _lock } = other.own().unwrap();
            fs::write(folder.path().join("pixels"), "").unwrap();
            folder.keep()
        };
        other.sweep().unwrap();
        assert!(!dead.exists() && kept.path().join("pixels").exists());
        // One that was removed under it is made anew.
        fs::remove_dir_all(kept.path().parent().unwrap()).unwrap();
        let again = one.folder().unwrap();
        assert!(again.path().is_dir());
        drop((again, one));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the lock of all is left");
    }
}
