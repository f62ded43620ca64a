//! Files that appear where a person wants them when they are whole.

use std::ffi::OsStr;
use std::fs::{self, DirEntry, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use tempfile::NamedTempFile;

/// How the name of a file begins and ends that is not whole yet. Between them are the process that writes it, and what
/// is random.
const BEGINNING: &str = ".foretoken-export-";
const ENDING: &str = ".part";

/// A file that is being written, beside the place where it will be. It vanishes unless it is finished.
///
/// It is locked until it is closed, by whichever end of the process. One that nobody locks was left by a process that
/// was killed, and is removed when the next file is begun in that folder.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    part: NamedTempFile,
}

impl WholeFile {
    /// Begins a file that will be at `path`.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        remove_leftovers(folder);
        let part = tempfile::Builder::new().prefix(&own_beginning()).suffix(ENDING).tempfile_in(folder)?;
        if let Err(error) = part.as_file().lock() {
            // Where there are no locks, nothing is taken for a leftover either.
            tracing::debug!("{} is not locked: {error}", part.path().display());
        }
        Ok(Self { path: path.to_owned(), part })
    }

    /// Puts the file in its place, once it is on the disk. One that was there before is replaced.
    pub fn finish(self) -> io::Result<()> {
        self.part.as_file().sync_all()?;
        self.part.persist(&self.path)?;
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.part.flush()
    }
}

/// How this process begins the names: what it has begun itself was not left by another, locked yet or not.
fn own_beginning() -> String {
    format!("{BEGINNING}{}-", process::id())
}

/// Removes from a folder what killed processes have left there.
fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_part) {
        let left = entry.path();
        // Whoever writes it has the lock.
        let Ok(file) = File::open(&left) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        match fs::remove_file(&left) {
            Ok(()) => tracing::info!("removed {}, which an interrupted export has left", left.display()),
            Err(error) => tracing::debug!("{} is left there: {error}", left.display()),
        }
    }
}

fn is_part(entry: &DirEntry) -> bool {
    let is_named = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name.starts_with(BEGINNING.as_bytes())
            && name.ends_with(ENDING.as_bytes())
            && !name.starts_with(own_beginning().as_bytes())
    };
    is_named(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn write(path: &Path, text: &str) {
        let mut file = WholeFile::begin(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.finish().unwrap();
    }

    #[test]
    fn a_file_is_there_when_it_is_whole_or_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.json");
        write(&path, "old");
        let mut given_up = WholeFile::begin(&path).unwrap();
        given_up.write_all(b"half of").unwrap();
        drop(given_up);
        assert_eq!(
            (names(folder.path()), fs::read_to_string(&path).unwrap()),
            (vec!["all.json".into()], "old".into())
        );
        write(&path, "new");
        assert_eq!(
            (names(folder.path()), fs::read_to_string(&path).unwrap()),
            (vec!["all.json".into()], "new".into())
        );
    }

    #[test]
    fn what_a_killed_export_has_left_is_removed_by_the_next_one_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        // Without a lock, and there.
        fs::write(at(".foretoken-export-0-Ab12Cd.part"), "half of").unwrap();
        // Another process is at work.
        let busy = at(".foretoken-export-0-Ef34Gh.part");
        fs::write(&busy, "half of").unwrap();
        let locked = File::open(&busy).unwrap();
        locked.lock().unwrap();
        let mut under_way = WholeFile::begin(&at("slow.json")).unwrap();
        assert_eq!(names(folder.path()).len(), 2, "the leftover is gone");
        let mut expected: Vec<String> = names(folder.path());
        for name in [".tmpAb12Cd", ".foretoken-export-notes.txt", "foretoken-export-1.part", "1.part"] {
            fs::write(at(name), "a person's").unwrap();
            expected.push(name.into());
        }
        fs::create_dir(at(".foretoken-export-folder.part")).unwrap();
        fs::write(at(".foretoken-export-folder.part/notes"), "a person's").unwrap();
        std::os::unix::fs::symlink(at("1.part"), at(".foretoken-export-link.part")).unwrap();
        expected.extend(
            [".foretoken-export-folder.part", ".foretoken-export-link.part", "all.json"].map(String::from),
        );
        expected.sort();

        write(&at("all.json"), "whole");
        assert_eq!(names(folder.path()), expected);
        drop(locked);
        under_way.write_all(b"slow, and whole").unwrap();
        under_way.finish().unwrap();
        assert_eq!(fs::read_to_string(at("slow.json")).unwrap(), "slow, and whole");
    }
}
