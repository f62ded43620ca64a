//! Moving the library to another folder or disk: copy, verify, switch, and only then remove.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use ring::digest::{Context, Digest, SHA256};

use super::{HOME, Library, MARK, TRASH};
use crate::LibraryError;
use crate::disk::{files_in, free_bytes, remove_folder, sync_folder};

const PIECE: usize = 4 << 20;

impl Library {
    /// Moves everything but the trash to `target`, an empty folder or a name in an existing one.
    ///
    /// `switch` is called once every byte of the copy is verified, and must make the new place the one that counts; the
    /// old one is removed after it. Before that, any end leaves the old library as it is, and a later call begins
    /// again. `progress` hears bytes done and in all; when it returns false, the move ends and the copy is removed.
    ///
    /// No download may be running.
    pub fn move_to(
        &self,
        target: &Path,
        mut progress: impl FnMut(u64, u64) -> bool,
        switch: impl FnOnce(&Self) -> Result<(), LibraryError>,
    ) -> Result<Option<Self>, LibraryError> {
        self.check_online()?;
        let root = self.root.canonicalize().map_err(|error| LibraryError::io(&self.root, error))?;
        let above = target.parent().unwrap_or(target);
        let above = above.canonicalize().map_err(|error| LibraryError::io(above, error))?;
        if above.starts_with(&root) {
            return Err(LibraryError::NotEmpty { path: target.to_owned() });
        }
        // An earlier move that did not end has left no mark: a library without one is only ever half a copy.
        let unfinished = target.join(HOME).is_dir() && !target.join(HOME).join(MARK).exists();
        if unfinished {
            remove_folder(target)?;
        }
        let moved = Self { root: target.to_owned() };
        let empty = fs::read_dir(target).map_or(true, |mut entries| entries.next().is_none());
        if !empty {
            return Err(LibraryError::NotEmpty { path: target.to_owned() });
        }
        fs::create_dir_all(target.join(HOME)).map_err(|error| LibraryError::io(target, error))?;
        let files = self.own_files()?;
        match copy_all(&self.root, target, &files, &mut progress) {
            Ok(true) => {}
            ended => {
                remove_folder(target)?;
                return ended.map(|_| None);
            }
        }
        moved.mark()?;
        switch(&moved)?;
        // The mark goes first: what is left after a crash is no library.
        let mark = self.root.join(HOME).join(MARK);
        fs::remove_file(&mark).map_err(|error| LibraryError::io(&mark, error))?;
        remove_folder(&self.root)?;
        Ok(Some(moved))
    }

    /// Everything in the library but the mark and the trash.
    fn own_files(&self) -> Result<Vec<PathBuf>, LibraryError> {
        let mut files = files_in(&self.root).map_err(|error| LibraryError::io(&self.root, error))?;
        let home = Path::new(HOME);
        files.retain(|file| *file != home.join(MARK) && !file.starts_with(home.join(TRASH)));
        Ok(files)
    }
}

/// Copies and reads back each file. False if `progress` wanted it to end.
fn copy_all(
    from: &Path,
    to: &Path,
    files: &[PathBuf],
    progress: &mut impl FnMut(u64, u64) -> bool,
) -> Result<bool, LibraryError> {
    let size = |file: &PathBuf| from.join(file).symlink_metadata().map_or(0, |found| found.len());
    let total: u64 = files.iter().map(size).sum();
    let free = free_bytes(to).map_err(|error| LibraryError::io(to, error))?;
    if total > free {
        return Err(LibraryError::DiskFull { path: to.to_owned(), needed: total, free });
    }
    let mut done = 0;
    for file in files {
        let (original, copy) = (from.join(file), to.join(file));
        let folder = copy.parent().unwrap_or(to);
        fs::create_dir_all(folder).map_err(|error| LibraryError::io(folder, error))?;
        let Some(written) = copy_one(&original, &copy, |bytes| progress(done + bytes, total))? else {
            return Ok(false);
        };
        if hash(&copy)?.as_ref() != written.as_ref() {
            return Err(LibraryError::BadCopy { path: copy });
        }
        sync_folder(folder)?;
        done += size(file);
    }
    Ok(progress(done, total))
}

/// Copies a file and forces it to the disk. The hash of what was read, or `None` if `progress` wanted it to end.
fn copy_one(
    original: &Path,
    copy: &Path,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<Option<Digest>, LibraryError> {
    let mut reader = File::open(original).map_err(|error| LibraryError::io(original, error))?;
    let mut writer = File::create(copy).map_err(|error| LibraryError::io(copy, error))?;
    let (mut hash, mut buffer, mut bytes) = (Context::new(&SHA256), vec![0; PIECE], 0);
    loop {
        let read = reader.read(&mut buffer).map_err(|error| LibraryError::io(original, error))?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        writer.write_all(&buffer[..read]).map_err(|error| LibraryError::io(copy, error))?;
        bytes += read as u64;
        if !progress(bytes) {
            return Ok(None);
        }
    }
    writer.sync_all().map_err(|error| LibraryError::io(copy, error))?;
    Ok(Some(hash.finish()))
}

fn hash(path: &Path) -> Result<Digest, LibraryError> {
    let mut reader = File::open(path).map_err(|error| LibraryError::io(path, error))?;
    let (mut hash, mut buffer) = (Context::new(&SHA256), vec![0; PIECE]);
    loop {
        let read = reader.read(&mut buffer).map_err(|error| LibraryError::io(path, error))?;
        if read == 0 {
            return Ok(hash.finish());
        }
        hash.update(&buffer[..read]);
    }
}
