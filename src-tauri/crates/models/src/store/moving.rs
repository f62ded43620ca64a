//! Moving the library to another folder or disk: copy, verify, switch, and only then remove.
//!
//! As long as there are two places, both hold a note of the move. Whatever ended it, the place that counts then is the
//! library, and what the move has put or left in the other one is removed: the files that its note lists and nothing
//! else, so that what somebody has put there since stays.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{HOME, Library, MARK, TRASH};
use crate::LibraryError;
use crate::disk::{files_in, free_bytes, read_json, remove_folder, sync_folder, write_json};
use crate::hash::read_hashed;

const NOTE: &str = "move.json";

/// What both places of a move hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// Chosen at random: no two moves have the same.
    id: u64,
    from: PathBuf,
    to: PathBuf,
    /// Which of the two it lies in: paths do not tell, where one disk is a copy of another or has two names.
    here: End,
    /// Everything that is moved, relative to either place.
    files: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum End {
    From,
    To,
}

impl Note {
    fn other_place(&self) -> &Path {
        match self.here {
            End::From => &self.to,
            End::To => &self.from,
        }
    }

    fn is_other_end_of(&self, note: &Self) -> bool {
        self.id == note.id && self.here != note.here
    }
}

impl Library {
    /// Moves everything but the trash to `target`, an empty folder or a name in an existing one.
    ///
    /// `switch` is called once every byte of the copy is verified, and must make the new place the one that counts; the
    /// old one is removed after it. Before that, any end leaves the old library as it is. `progress` hears bytes done
    /// and in all; when it returns false, the move ends and the copy is removed. After an error in `switch` and after
    /// a crash both places are left, for [`Library::settle_move`].
    ///
    /// No download may be running.
    pub fn move_to(
        &self,
        target: &Path,
        mut progress: impl FnMut(u64, u64) -> bool,
        switch: impl FnOnce(&Self) -> Result<(), LibraryError>,
    ) -> Result<Option<Self>, LibraryError> {
        self.settle_move()?;
        let root = self.root.canonicalize().map_err(|error| LibraryError::io(&self.root, error))?;
        let above = target.parent().unwrap_or(target);
        let above = above.canonicalize().map_err(|error| LibraryError::io(above, error))?;
        let is_empty = match fs::read_dir(target) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) if error.kind() == ErrorKind::NotFound => true,
            Err(error) => return Err(LibraryError::io(target, error)),
        };
        if above.starts_with(&root) || !is_empty {
            return Err(LibraryError::NotEmpty { path: target.to_owned() });
        }
        let files = self.own_files()?;
        let (from, to) = (self.root.clone(), target.to_owned());
        let note = Note { id: fastrand::u64(..), from, to, here: End::From, files: files.clone() };
        let moved = Self { root: target.to_owned() };
        // The old place first: a copy of which it knew nothing would stay for ever.
        write_json(&self.home(NOTE), &note)?;
        fs::create_dir_all(moved.root.join(HOME)).map_err(|error| LibraryError::io(target, error))?;
        write_json(&moved.home(NOTE), &Note { here: End::To, ..note })?;
        match copy_all(&self.root, target, &files, &mut progress) {
            Ok(true) => {}
            ended => {
                self.settle_move()?;
                return ended.map(|_| None);
            }
        }
        moved.mark()?;
        switch(&moved)?;
        if let Err(error) = moved.settle_move() {
            tracing::warn!("the library is moved, and what it left stays for now: {error}");
        }
        Ok(Some(moved))
    }

    /// Where the library was, as long as what the move left there is not removed.
    pub fn moved_from(&self) -> Option<PathBuf> {
        let note = self.move_note()?;
        (note.here == End::To).then_some(note.from)
    }

    /// Removes the other place of a move that ended early. To be called for the library that counts; if there is
    /// nothing to remove, or its disk is not connected, nothing happens.
    pub fn settle_move(&self) -> Result<(), LibraryError> {
        self.check_online()?;
        self.remove_half_note()?;
        let Some(note) = self.move_note() else { return Ok(()) };
        let other = Self { root: note.other_place().to_owned() };
        let apart = !same_place(&self.root, &other.root);
        match other.move_note() {
            Some(found) if apart && found.is_other_end_of(&note) => other.remove_moved(&found.files)?,
            // Its note was not yet written, or is removed already. A folder with anything in it stays.
            None if apart && other.check_online().is_err() => {
                let _ = other.remove_half_note();
                let _ = fs::remove_dir(other.root.join(HOME));
                let _ = fs::remove_dir(&other.root);
            }
            _ => {}
        }
        // A disk that is not connected may come back.
        if other.root.parent().is_some_and(Path::exists) { remove_file(&self.home(NOTE)) } else { Ok(()) }
    }

    fn move_note(&self) -> Option<Note> {
        read_json(&self.home(NOTE)).ok().flatten()
    }

    fn remove_half_note(&self) -> Result<(), LibraryError> {
        remove_file(&self.home(NOTE).with_extension("json.new"))
    }

    /// Removes these files, what Foretoken keeps for itself, and the folders that are empty then. The mark goes first,
    /// so that what is left after a crash is no library, and the note last, so that it is found.
    fn remove_moved(&self, files: &[PathBuf]) -> Result<(), LibraryError> {
        remove_file(&self.home(MARK))?;
        let home = self.root.join(HOME);
        for entry in fs::read_dir(&home).map_err(|error| LibraryError::io(&home, error))?.flatten() {
            let path = entry.path();
            match entry.file_type() {
                _ if path == self.home(NOTE) => {}
                Ok(kind) if kind.is_dir() => remove_folder(&path)?,
                _ => remove_file(&path)?,
            }
        }
        let inside = |file: &&PathBuf| file.components().all(|part| matches!(part, Component::Normal(_)));
        files.iter().filter(inside).try_for_each(|file| remove_file(&self.root.join(file)))?;
        for entry in fs::read_dir(&self.root).map_err(|error| LibraryError::io(&self.root, error))?.flatten()
        {
            if entry.path() != home && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                remove_empty(&entry.path());
            }
        }
        remove_folder(&home)?;
        // It fails where somebody else has files in it, which are not the library's.
        let _ = fs::remove_dir(&self.root);
        Ok(())
    }

    /// Everything in the library but the mark, the note and the trash.
    fn own_files(&self) -> Result<Vec<PathBuf>, LibraryError> {
        let mut files = files_in(&self.root).map_err(|error| LibraryError::io(&self.root, error))?;
        let home = Path::new(HOME);
        let stays = [home.join(MARK), home.join(NOTE), home.join(TRASH)];
        files.retain(|file| !stays.iter().any(|path| file.starts_with(path)));
        Ok(files)
    }
}

/// Whether one of two folders is, or is in, the other.
fn same_place(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a.starts_with(&b) || b.starts_with(&a))
}

/// Removes the folders in a folder, and itself, as far as there is nothing in them.
fn remove_empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&entry.path());
        }
    }
    let _ = fs::remove_dir(folder);
}

fn remove_file(path: &Path) -> Result<(), LibraryError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(LibraryError::io(path, error)),
        _ => Ok(()),
    }
}

/// Copies and reads back each file, and forces all of it to the disk. False if `progress` wanted it to end.
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
    let mut folders = BTreeSet::from([to.to_owned()]);
    for file in files {
        let (original, copy) = (from.join(file), to.join(file));
        let folder = copy.parent().unwrap_or(to);
        fs::create_dir_all(folder).map_err(|error| LibraryError::io(folder, error))?;
        folders.extend(folder.ancestors().take_while(|above| above.starts_with(to)).map(Path::to_owned));
        let Some(written) = copy_one(&original, &copy, |bytes| progress(done + bytes, total))? else {
            return Ok(false);
        };
        if read_hashed(&copy, |_| Ok(true))?.as_ref() != Some(&written) {
            return Err(LibraryError::BadCopy { path: copy });
        }
        done += size(file);
    }
    folders
        .iter()
        .chain([&to.parent().unwrap_or(to).to_owned()])
        .try_for_each(|folder| sync_folder(folder))?;
    Ok(progress(done, total))
}

/// Copies a file and forces it to the disk. The hash of what was read, or `None` if `progress` wanted it to end.
fn copy_one(
    original: &Path,
    copy: &Path,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<Option<String>, LibraryError> {
    let failed = |error| LibraryError::io(copy, error);
    let mut writer = File::create(copy).map_err(failed)?;
    let mut bytes = 0;
    let read = read_hashed(original, |piece| {
        writer.write_all(piece).map_err(failed)?;
        bytes += piece.len() as u64;
        Ok(progress(bytes))
    })?;
    writer.sync_all().map_err(failed)?;
    Ok(read)
}
