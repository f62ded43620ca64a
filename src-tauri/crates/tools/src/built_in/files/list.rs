//! `list_files`: what is in a folder.

use std::ffi::OsStr;

use rustix::fs::{AtFlags, FileType};

use super::arguments::List;
use super::beneath::{AtEnd, Found, Opened, failed, special};
use super::error::FileError;
use super::{Files, Result};

/// Entries that a call tells.
const MOST: usize = 500;

/// Lists a folder, or the folders that the person has picked.
pub(super) fn list(files: &Files, arguments: &List) -> Result<String> {
    let path = match (&arguments.folder, &arguments.path) {
        (None, None) => return picked(files),
        (None, Some(path)) => path.clone(),
        (Some(folder), None) => folder.clone(),
        // Models write the folder once more, as all other paths begin with it.
        (Some(folder), Some(path)) if begins(path, folder) => path.clone(),
        (Some(folder), Some(path)) => format!("{folder}/{path}"),
    };
    if path.is_empty() {
        return picked(files);
    }
    let asked = files.asked(&path)?;
    let folder = match files.folder(&asked).find(&asked, AtEnd::Follow)? {
        Found::Folder(folder) => folder,
        Found::Entry(entry) if entry.stat.is_none() => return Err(entry.missing(&asked)),
        Found::Entry(_) => return Err(FileError::NotAFolder { path: asked.told }),
    };
    let (names, uncounted) = folder.names().map_err(|errno| failed(&asked, "read", errno))?;
    let mut lines: Vec<String> = names.iter().take(MOST).map(|name| line(&folder, name)).collect();
    let more = names.len().saturating_sub(MOST) + uncounted;
    match (lines.is_empty(), more) {
        (true, _) => lines.push("[the folder is empty]".to_owned()),
        (_, 0) => {}
        _ => lines.push(format!("[{more} more are not listed]")),
    }
    Ok(lines.join("\n"))
}

fn begins(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The folders that the person has picked.
fn picked(files: &Files) -> Result<String> {
    let lines = files.folders.iter().map(|folder| match folder.problem() {
        None => format!("{}/", folder.name),
        Some(reason) => format!("{}/ (cannot be opened: {reason})", folder.name),
    });
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() { Err(FileError::NoFolders) } else { Ok(lines.join("\n")) }
}

/// What the model reads of an entry.
fn line(folder: &Opened, name: &OsStr) -> String {
    let told = on_one_line(name);
    let Ok(stat) = rustix::fs::statat(&folder.handle, name, AtFlags::SYMLINK_NOFOLLOW) else {
        return format!("{told} (cannot be looked at)");
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => format!("{told}/"),
        FileType::RegularFile => {
            format!("{told} ({} byte{})", stat.st_size, if stat.st_size == 1 { "" } else { "s" })
        }
        kind => format!("{told} ({})", special(kind).unwrap_or_default()),
    }
}

/// A name in which what is not seen is made visible, so that it cannot look like another or like two.
pub(super) fn on_one_line(name: &OsStr) -> String {
    let (name, _) = crate::visible(&name.to_string_lossy());
    name.replace('\n', "⟨U+000A⟩").replace('\t', "⟨U+0009⟩")
}
