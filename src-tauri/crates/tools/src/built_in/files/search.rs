//! `search_files`: lines that contain a text.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::Read as _;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType, Mode};

use super::arguments::Search;
use super::beneath::{AtEnd, DEEPEST, Entry, FOLDER, Found, Opened};
use super::error::FileError;
use super::kind::document;
use super::list::on_one_line;
use super::paths::Asked;
use super::text::decoded;
use super::{Files, Result};

/// Lines that a call tells.
const MOST_HITS: usize = 200;
/// Bytes of a file that is looked through.
const LARGEST_FILE: u64 = 4 << 20;
/// Characters of a line that are told.
const LONGEST_LINE: usize = 300;
/// Characters of a long line before what was found.
const BEFORE_HIT: usize = 100;
/// How long a call may search.
const LONGEST: Duration = Duration::from_secs(10);
/// Folders that hold what others have written, in numbers.
const SKIPPED: [&str; 2] = [".git", "node_modules"];

/// Searches a folder or a file, or all folders.
pub(super) fn search(files: &Files, arguments: &Search) -> Result<String> {
    let reason = match arguments.text.as_str() {
        "" => Some("\"text\" is empty"),
        text if text.contains('\n') => Some("\"text\" has more than one line"),
        _ => None,
    };
    if let Some(reason) = reason {
        return Err(FileError::Arguments { reason: reason.to_owned() });
    }
    let all: Vec<String> = match arguments.path.as_deref() {
        None | Some("") => files.folders.iter().map(|folder| folder.name.clone()).collect(),
        Some(path) => vec![path.to_owned()],
    };
    if all.is_empty() {
        return Err(FileError::NoFolders);
    }
    let mut searching = Searching {
        needle: lower(&arguments.text),
        until: Instant::now() + LONGEST,
        hits: Vec::new(),
        looked_through: 0,
        skipped: 0,
        unread: 0,
        ended: None,
    };
    let only = all.len() == 1;
    for path in all {
        match searching.path(files, &path) {
            Err(error) if only => return Err(error),
            Err(_) => searching.unread += 1,
            Ok(()) => {}
        }
    }
    Ok(searching.told())
}

struct Searching {
    needle: String,
    until: Instant,
    hits: Vec<String>,
    looked_through: usize,
    /// Files that are too large or no text.
    skipped: usize,
    /// Files and folders that could not be read.
    unread: usize,
    /// Why not all was searched.
    ended: Option<&'static str>,
}

impl Searching {
    fn path(&mut self, files: &Files, path: &str) -> Result<()> {
        let asked = files.asked(path)?;
        let name = &files.folder(&asked).name;
        match files.folder(&asked).find(&asked, AtEnd::Follow)? {
            Found::Folder(folder) => self.folder(folder, name, &asked),
            Found::Entry(entry) => {
                entry.open(&asked)?;
                let path = path_of(name, &entry.folder.way, Some(&entry.name));
                self.file(&entry, &path, &asked);
            }
        }
        Ok(())
    }

    fn folder(&mut self, folder: Opened, root: &str, asked: &Asked) {
        let Ok((names, more)) = folder.names() else {
            self.unread += 1;
            return;
        };
        self.unread += more;
        let mut entry = Entry { folder, name: OsString::new(), stat: None };
        for name in names {
            if self.is_over() {
                return;
            }
            let Ok(stat) = rustix::fs::statat(&entry.folder.handle, &name, AtFlags::SYMLINK_NOFOLLOW) else {
                self.unread += 1;
                continue;
            };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => {
                    (entry.name, entry.stat) = (name, Some(stat));
                    let path = path_of(root, &entry.folder.way, Some(&entry.name));
                    self.file(&entry, &path, asked);
                }
                FileType::Directory if is_skipped(&name) => {}
                FileType::Directory => self.within(&entry.folder, name, root, asked),
                _ => {}
            }
        }
    }

    fn within(&mut self, folder: &Opened, name: OsString, root: &str, asked: &Asked) {
        let handle = rustix::fs::openat(&folder.handle, &name, FOLDER, Mode::empty());
        match handle {
            Ok(handle) if folder.way.len() < DEEPEST => {
                let way = folder.way.iter().cloned().chain([name]).collect();
                self.folder(Opened { handle, way }, root, asked);
            }
            _ => self.unread += 1,
        }
    }

    fn file(&mut self, entry: &Entry, path: &str, asked: &Asked) {
        let mut bytes = Vec::new();
        let read = entry.open(asked).map(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes));
        if !matches!(read, Ok(Ok(_))) {
            self.unread += 1;
            return;
        }
        let is_meant = bytes.len() as u64 <= LARGEST_FILE && document(&bytes).is_none();
        let Some(text) = decoded(&bytes).filter(|_| is_meant) else {
            self.skipped += 1;
            return;
        };
        self.looked_through += 1;
        for (number, line) in text.text.lines().enumerate() {
            // Most lines are ruled out without a copy.
            let lowered = lower(line);
            let Some(at) = lowered.find(&self.needle) else { continue };
            if self.hits.len() == MOST_HITS {
                self.ended = Some("there are more lines than are told");
                return;
            }
            let before = lowered[..at].chars().count();
            self.hits.push(format!("{path}:{}: {}", number + 1, around(line, before)));
        }
    }

    fn is_over(&mut self) -> bool {
        if self.ended.is_none() && Instant::now() > self.until {
            self.ended = Some("it took too long");
        }
        self.ended.is_some()
    }

    /// What the model reads.
    fn told(self) -> String {
        let Self { hits, looked_through, skipped, unread, ended, .. } = self;
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let mut note = format!(
            "{} line{} in {looked_through} text file{}",
            hits.len(),
            plural(hits.len()),
            plural(looked_through)
        );
        // A string takes all.
        if skipped > 0 {
            let _ = write!(
                note,
                "; {skipped} skipped, which are no text or larger than {} MiB",
                LARGEST_FILE >> 20
            );
        }
        if unread > 0 {
            let _ = write!(note, "; {unread} could not be read");
        }
        if let Some(reason) = ended {
            let _ = write!(note, "; not all was searched: {reason}");
        }
        let mut lines = hits;
        lines.push(format!("[{note}]"));
        lines.join("\n")
    }
}

/// Letter by letter, so that a letter does not depend on its neighbours.
fn lower(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().flat_map(char::to_lowercase).map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect()
}

/// A line as far as it is told, with what stands `before` characters from its start.
fn around(line: &str, before: usize) -> String {
    let line = line.trim_end();
    if line.chars().nth(LONGEST_LINE).is_none() {
        return line.to_owned();
    }
    let from = if before < LONGEST_LINE / 2 { 0 } else { before - BEFORE_HIT };
    let part: String = line.chars().skip(from).take(LONGEST_LINE).collect();
    let begins = if from > 0 { "…" } else { "" };
    let ends = if line.chars().nth(from + LONGEST_LINE).is_some() { "…" } else { "" };
    format!("{begins}{part}{ends}")
}

fn is_skipped(name: &OsStr) -> bool {
    SKIPPED.iter().any(|skipped| name.eq_ignore_ascii_case(skipped))
}

/// How the model names a file.
pub(super) fn path_of(root: &str, way: &[OsString], name: Option<&OsStr>) -> String {
    let parts = way.iter().map(OsString::as_os_str).chain(name);
    parts.fold(root.to_owned(), |path, part| format!("{path}/{}", on_one_line(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_the_same_in_either_case() {
        assert_eq!(lower("ΟΔΟΣ Straße É"), lower("οδος STRAßE é"));
    }

    #[test]
    fn a_long_line_is_told_around_what_was_found() {
        let line = format!("{}HIT{}", "a".repeat(1_000), "b".repeat(1_000));
        let told = around(&line, 1_000);
        assert!(told.contains("aHITb") && told.starts_with('…') && told.ends_with('…'));
        assert_eq!(told.chars().count(), LONGEST_LINE + 2);
        assert_eq!(around("short  \r", 0), "short");
    }
}
