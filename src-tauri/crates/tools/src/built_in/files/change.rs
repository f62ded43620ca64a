//! `write_file` and `edit_file`: what they would change, for the person, and the change itself.

use std::fs::File;
use std::time::Duration;

use ring::digest::{Context, SHA256};
use rustix::fs::{Access, AtFlags, FileType, Mode, Stat};
use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};

use super::arguments::{self, Edit};
use super::beneath::{AtEnd, Entry, Found};
use super::error::FileError;
use super::paths::Asked;
use super::read;
use super::replace::{locked, replace};
use super::search::path_of;
use super::text::{Encoding, Text, has_only_crlf};
use super::{Files, Result};

/// The most bytes of a file that is changed, before and afterwards.
const LARGEST: u64 = 1 << 20;
/// Lines around a change that are shown.
const CONTEXT: usize = 3;
/// How long the smallest difference is looked for; after that a larger one is shown.
const LONGEST: Duration = Duration::from_millis(500);

/// What a call would change, for the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The file, as the model names it, without links on the way.
    pub path: String,
    /// Whether there is no such file yet.
    pub creates: bool,
    /// Lines that are new.
    pub added: usize,
    /// Lines that are gone.
    pub removed: usize,
    /// The unified difference, in which characters that people do not see are made visible.
    pub text: String,
    /// What is shown. The call gets it back, and does nothing if it would do something else by then.
    pub fingerprint: Fingerprint,
}

/// SHA-256 of where a file is and of its content, or of its absence; of what a person was shown also of the new
/// content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint(pub String);

impl Fingerprint {
    /// Of these parts, each with its length.
    fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Context::new(&SHA256);
        for part in parts {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The same with what will be there.
    fn with(&self, after: &str) -> Self {
        Self::of(&[self.0.as_bytes(), after.as_bytes()])
    }
}

/// What a call does to a file.
#[derive(Debug)]
struct Planned {
    before: Option<Before>,
    /// The new text.
    after: String,
    encoding: Encoding,
    fingerprint: Fingerprint,
}

/// The file that is there.
#[derive(Debug)]
struct Before {
    file: File,
    text: Text,
}

/// Where a call writes.
struct Target {
    asked: Asked,
    entry: Entry,
    /// As the model names it.
    path: String,
}

/// What the call would change now.
pub(super) fn preview(files: &Files, call: &arguments::Change) -> Result<Difference> {
    let target = Target::of(files, call)?;
    let Planned { before, after, fingerprint, .. } = target.plan(call)?;
    let fingerprint = fingerprint.with(&after);
    let creates = before.is_none();
    let old = before.map(|before| before.text.text).unwrap_or_default();
    let (old, new) = comparable(&old, &after);
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let difference = TextDiff::configure().timeout(LONGEST).newline_terminated(true).diff_slices(&old, &new);
    let count = |tag| difference.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let from = if creates { "/dev/null" } else { &target.path };
    let unified = difference.unified_diff().context_radius(CONTEXT).header(from, &target.path).to_string();
    let (text, _) = crate::visible(&unified);
    Ok(Difference { path: target.path, creates, added, removed, text, fingerprint })
}

/// Carries out the call, if the file is the one that the person has `seen`. Returns what the model reads.
pub(super) fn change(files: &Files, call: &arguments::Change, seen: Option<&Fingerprint>) -> Result<String> {
    let target = Target::of(files, call)?;
    let _lock = locked(&target.entry, &target.asked)?;
    let Planned { before, after, encoding, fingerprint } = match (target.plan(call), seen) {
        // It could be shown, so that the file was another one then.
        (Err(_), Some(_)) => return Err(target.changed()),
        (planned, _) => planned?,
    };
    if seen.is_some_and(|seen| *seen != fingerprint.with(&after)) {
        return Err(target.changed());
    }
    let bytes = encoding.encoded(&after);
    let check = || if target.is_other(&fingerprint) { Err(target.changed()) } else { Ok(()) };
    replace(&target.entry, &target.asked, &bytes, before.as_ref().map(|before| &before.file), check)?;
    let done = match (before, call) {
        (None, _) => "Created",
        (_, arguments::Change::Write(_)) => "Replaced",
        (_, arguments::Change::Edit(_)) => "Changed",
    };
    let plural = if bytes.len() == 1 { "" } else { "s" };
    Ok(format!("{done} {}, which has {} byte{plural} now.", target.path, bytes.len()))
}

impl Target {
    fn of(files: &Files, call: &arguments::Change) -> Result<Self> {
        let asked = files.asked(call.path())?;
        let told = || asked.told.clone();
        let mut entry = match files.folder(&asked).find(&asked, AtEnd::Keep)? {
            Found::Entry(entry) if !asked.is_folder => entry,
            _ => return Err(FileError::IsAFolder { path: told() }),
        };
        let way = entry.folder.way.iter().map(|name| name.to_string_lossy());
        if way.chain([entry.name.to_string_lossy()]).any(|name| is_gits(&name)) {
            return Err(FileError::Protected { path: told() });
        }
        if let Some(stat) = &entry.stat {
            check_writable(&entry, stat, &asked)?;
            entry.name = entry.stored_name(stat);
        }
        let path = path_of(&files.folder(&asked).name, &entry.folder.way, Some(&entry.name));
        Ok(Self { asked, entry, path })
    }

    /// What the call does to the file as it is now.
    fn plan(&self, call: &arguments::Change) -> Result<Planned> {
        let told = || self.asked.told.clone();
        let (before, fingerprint) = match self.open()? {
            Some(file) => {
                let bytes = read::bytes(&file, &self.asked, LARGEST)?;
                let text = read::text(&bytes, &self.entry, &self.asked)?;
                (Some(Before { file, text }), self.fingerprint(Some(&bytes)))
            }
            None => (None, self.fingerprint(None)),
        };
        if before.as_ref().is_some_and(|before| !before.text.whole) {
            return Err(FileError::Encoding { path: told() });
        }
        let after = match (call, &before) {
            (arguments::Change::Write(write), _) => write.content.clone(),
            (arguments::Change::Edit(edit), Some(before)) => self.edited(edit, &before.text)?,
            (arguments::Change::Edit(_), None) => return Err(self.entry.missing(&self.asked)),
        };
        if after.contains('\0') {
            let reason = "the new text has the character U+0000".to_owned();
            return Err(FileError::Arguments { reason });
        }
        let encoding = before.as_ref().map(|before| before.text.encoding).unwrap_or_default();
        if encoding.encoded(&after).len() as u64 > LARGEST {
            return Err(FileError::Large { path: told(), most: LARGEST });
        }
        if before.as_ref().is_some_and(|before| before.text.text == after) {
            return Err(FileError::Same { path: told() });
        }
        Ok(Planned { before, after, encoding, fingerprint })
    }

    /// The text with one place replaced. Models write line ends in one way, whatever the file has.
    fn edited(&self, Edit { old, new, .. }: &Edit, text: &Text) -> Result<String> {
        let path = || self.asked.told.clone();
        if old.is_empty() {
            return Err(FileError::Arguments { reason: "\"old\" is empty".to_owned() });
        }
        let as_there = |part: &str| match text.is_crlf() && !part.contains('\r') {
            true => part.replace('\n', "\r\n"),
            false => part.to_owned(),
        };
        let (old, new) = (as_there(old), as_there(new));
        match occurrences(&text.text, &old) {
            0 => Err(FileError::NotThere { path: path() }),
            1 => Ok(text.text.replacen(&old, &new, 1)),
            count => Err(FileError::NotOnce { path: path(), count }),
        }
    }

    /// The file as it is now, open; `None` where there is none.
    fn open(&self) -> Result<Option<File>> {
        let Entry { folder, name, .. } = &self.entry;
        match rustix::fs::statat(&folder.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => self.entry.open_as(&stat, &self.asked).map(Some),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(errno) => Err(super::beneath::failed(&self.asked, "read", errno)),
        }
    }

    /// Whether the file is not what it was.
    fn is_other(&self, than: &Fingerprint) -> bool {
        let now = self.open().and_then(|file| {
            let bytes = file.map(|file| read::bytes(&file, &self.asked, LARGEST)).transpose()?;
            Ok(self.fingerprint(bytes.as_deref()))
        });
        now.as_ref() != Ok(than)
    }

    fn fingerprint(&self, bytes: Option<&[u8]>) -> Fingerprint {
        // Another folder may have the same name by now.
        let folder = rustix::fs::fstat(&self.entry.folder.handle);
        let folder = folder.map(|stat| format!("{}:{}", stat.st_dev, stat.st_ino)).unwrap_or_default();
        let kind: &[u8] = if bytes.is_some() { b"file" } else { b"none" };
        Fingerprint::of(&[folder.as_bytes(), self.path.as_bytes(), kind, bytes.unwrap_or_default()])
    }

    fn changed(&self) -> FileError {
        FileError::Changed { path: self.asked.told.clone() }
    }
}

/// Refuses what is no file and what the person does not let anybody write.
fn check_writable(entry: &Entry, stat: &Stat, asked: &Asked) -> Result<()> {
    let path = asked.told.clone();
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => return Err(FileError::IsALink { path }),
        FileType::RegularFile => {}
        kind => {
            let kind = super::beneath::special(kind).unwrap_or("a folder");
            return Err(FileError::Special { path, kind });
        }
    }
    let write = Mode::WUSR | Mode::WGRP | Mode::WOTH;
    let allowed = rustix::fs::accessat(&entry.folder.handle, &entry.name, Access::WRITE_OK, AtFlags::empty());
    if allowed.is_err() || !Mode::from_raw_mode(stat.st_mode).intersects(write) {
        return Err(FileError::ReadOnly { path });
    }
    Ok(())
}

/// Whether this is the folder in which git keeps its own, however the file system compares names.
fn is_gits(name: &str) -> bool {
    let (name, _) = crate::stripped(name);
    name.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git")
}

/// How often `part` occurs, overlapping or not.
fn occurrences(text: &str, part: &str) -> usize {
    let (mut from, mut count) = (0, 0);
    while let Some(at) = text[from..].find(part) {
        count += 1;
        from += at + text[from + at..].chars().next().map_or(1, char::len_utf8);
    }
    count
}

/// Both texts as they are compared: where all lines of both end as on Windows, that is not worth a mark on each.
fn comparable(old: &str, new: &str) -> (String, String) {
    if has_only_crlf(new) && (old.is_empty() || has_only_crlf(old)) {
        (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"))
    } else {
        (old.to_owned(), new.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_overlap_are_counted_each() {
        assert_eq!(occurrences("aaa", "aa"), 2);
        assert_eq!(occurrences("éé", "é"), 2);
        assert_eq!(occurrences("ab", "c"), 0);
    }

    #[test]
    fn the_folder_of_git_is_known_in_any_spelling() {
        for name in [".git", ".GIT", ".g\u{200c}it", ".git.", ".git "] {
            assert!(is_gits(name), "{name}");
        }
        for name in [".gitignore", "git", ".github"] {
            assert!(!is_gits(name), "{name}");
        }
    }
}
