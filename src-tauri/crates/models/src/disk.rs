//! The few file operations that must be right for nothing to be lost.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::LibraryError;

/// Bytes that a person without special rights can still write where `path` is. The path must exist.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    Ok(free.max(with_purgeable(path).unwrap_or(0)))
}

/// The same as Finder counts it: with what the system gives up for whoever asks for room. 0 on a disk that has no such
/// thing.
#[cfg(target_os = "macos")]
fn with_purgeable(path: &Path) -> Option<u64> {
    use objc2_foundation::{NSArray, NSNumber, NSString, NSURL};
    let key = NSString::from_str("NSURLVolumeAvailableCapacityForImportantUsageKey");
    let url = NSURL::fileURLWithPath(&NSString::from_str(path.to_str()?));
    let values =
        url.resourceValuesForKeys_error(&NSArray::from_retained_slice(std::slice::from_ref(&key))).ok()?;
    let bytes = values.objectForKey(&key)?.downcast::<NSNumber>().ok()?.as_i64();
    bytes.try_into().ok()
}

#[cfg(not(target_os = "macos"))]
fn with_purgeable(_path: &Path) -> Option<u64> {
    None
}

/// Asks Time Machine to leave a folder out from now on, wherever it is moved to, and does not wait for its answer. A
/// disk or a system that does not know how is no reason to have no folder.
#[cfg(target_os = "macos")]
pub(crate) fn leave_out_of_backups(folder: &Path) {
    let folder = folder.to_owned();
    std::thread::spawn(move || {
        let asked = std::process::Command::new("/usr/bin/tmutil").arg("addexclusion").arg(&folder).output();
        let refused = match asked {
            Ok(answer) if answer.status.success() => return,
            Ok(answer) => String::from_utf8_lossy(&answer.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        tracing::warn!(folder = %folder.display(), %refused, "Time Machine copies the models");
    });
}

/// Makes a change of names in `folder` survive a loss of power.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), LibraryError> {
    File::open(folder).and_then(|file| file.sync_all()).map_err(|error| LibraryError::io(folder, error))
}

/// Writes all of a small file or nothing, and returns when it is on the disk.
pub(crate) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), LibraryError> {
    let failed = |error| LibraryError::io(path, error);
    let text = serde_json::to_vec_pretty(value).map_err(|error| failed(error.into()))?;
    let unfinished = path.with_extension("json.new");
    let mut file = File::create(&unfinished).map_err(failed)?;
    file.write_all(&text).and_then(|()| file.sync_all()).map_err(failed)?;
    fs::rename(&unfinished, path).map_err(failed)?;
    sync_folder(path.parent().unwrap_or(Path::new("/")))
}

/// Reads what [`write_json`] wrote; `None` if the file is not there.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, LibraryError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LibraryError::io(path, error)),
    };
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|error| LibraryError::Damaged { path: path.to_owned(), detail: error.to_string() })
}

/// Removes a folder with all that is in it, or nothing if it is not there.
pub(crate) fn remove_folder(path: &Path) -> Result<(), LibraryError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(LibraryError::io(path, error)),
        _ => Ok(()),
    }
}

/// The files in a folder and its folders, relative to it, in order. Links are listed, not followed.
pub(crate) fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fn walk(folder: &Path, prefix: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = prefix.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                walk(&entry.path(), &path, files)?;
            } else {
                files.push(path);
            }
        }
        Ok(())
    }
    let mut files = Vec::new();
    walk(folder, Path::new(""), &mut files)?;
    files.sort();
    Ok(files)
}

/// Bytes that a folder takes on its disk. Files that links lead to count only where they lie in the folder themselves.
pub fn disk_use(folder: &Path) -> u64 {
    let files = files_in(folder).unwrap_or_default();
    let blocks =
        files.iter().filter_map(|file| folder.join(file).symlink_metadata().ok()).map(|file| file.blocks());
    // POSIX counts in blocks of 512 bytes, whatever the file system's own are.
    blocks.sum::<u64>() * 512
}

/// Runs file operations where they hold up nothing else.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    joined(tokio::task::spawn_blocking(work).await)
}

/// The result of a task that nobody aborts. A panic in it goes on here.
pub(crate) fn joined<T>(result: Result<T, tokio::task::JoinError>) -> T {
    result.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
