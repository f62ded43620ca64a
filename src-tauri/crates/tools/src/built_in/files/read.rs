//! `read_file`, and how the text of a file is got at all.

use std::fs::File;
use std::io::Read as _;

use super::arguments::Read;
use super::beneath::{AtEnd, Entry, Found};
use super::error::FileError;
use super::kind::{document, kind};
use super::paths::Asked;
use super::text::{Text, decoded};
use super::{Files, Result};

/// The most bytes of a file of which lines are read.
const LARGEST_FILE: u64 = 16 << 20;
/// The most bytes of text that a call gives.
const LARGEST_RESULT: usize = 1 << 20;

/// Reads a file, or lines of it.
pub(super) fn read(files: &Files, arguments: &Read) -> Result<String> {
    let asked = files.asked(&arguments.path)?;
    let entry = match files.folder(&asked).find(&asked, AtEnd::Follow)? {
        Found::Entry(entry) => entry,
        Found::Folder(_) => return Err(FileError::IsAFolder { path: asked.told }),
    };
    let file = entry.open(&asked)?;
    let bytes = bytes(&file, &asked, LARGEST_FILE)?;
    let text = text(&bytes, &entry, &asked)?;
    Ok(told(&text, arguments.from_line, arguments.lines))
}

/// The bytes of a file that has at most so many.
pub(super) fn bytes(file: &File, asked: &Asked, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = file.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| FileError::Failed { path: asked.told.clone(), done: "read", reason: error.kind() })?;
    if bytes.len() as u64 > most {
        return Err(FileError::Large { path: asked.told.clone(), most });
    }
    Ok(bytes)
}

/// The text of a file that has these bytes.
pub(super) fn text(bytes: &[u8], entry: &Entry, asked: &Asked) -> Result<Text> {
    let found = if document(bytes).is_some() { None } else { decoded(bytes) };
    found.ok_or_else(|| {
        let kind = kind(bytes, &entry.name.to_string_lossy());
        let (path, told) = (asked.told.clone(), kind.told);
        if kind.document {
            FileError::Document { path, kind: told }
        } else {
            FileError::Binary { path, kind: told }
        }
    })
}

/// What the model reads: the text, and a line at its end where that is not all of the file.
fn told(text: &Text, from_line: Option<u64>, lines: Option<u64>) -> String {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let all = text.text.split_inclusive('\n').count();
    let first = number(from_line.unwrap_or(1)).max(1);
    let wanted = lines.map_or(usize::MAX, number);
    let (mut part, mut count, mut cut) = (String::new(), 0, false);
    for line in text.text.split_inclusive('\n').skip(first - 1).take(wanted) {
        let room = LARGEST_RESULT - part.len();
        if line.len() > room {
            if part.is_empty() {
                part.push_str(&line[..line.floor_char_boundary(room)]);
                (count, cut) = (1, true);
            }
            break;
        }
        part.push_str(line);
        count += 1;
    }
    let mut notes = Vec::new();
    match (all, count) {
        (0, _) => notes.push("the file is empty".to_owned()),
        (_, 0) => notes.push(format!("no lines: the file has {all}")),
        _ if count < all => notes.push(format!("lines {first} to {} of {all}", first + count - 1)),
        _ => {}
    }
    if cut {
        notes.push("the line is too long and was cut".to_owned());
    }
    if !text.whole {
        notes.push("bytes that are no text are shown as \u{fffd}".to_owned());
    }
    if !notes.is_empty() {
        let gap = if part.is_empty() || part.ends_with('\n') { "" } else { "\n" };
        part += &format!("{gap}[{}]", notes.join("; "));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, from_line: Option<u64>, lines: Option<u64>) -> String {
        told(&decoded(text.as_bytes()).unwrap(), from_line, lines)
    }

    #[test]
    fn a_whole_text_comes_as_it_is_and_a_part_says_so() {
        assert_eq!(lines("a\nb\nc", None, None), "a\nb\nc");
        assert_eq!(lines("a\nb\nc", Some(2), Some(1)), "b\n[lines 2 to 2 of 3]");
        assert_eq!(lines("a\nb\nc", Some(2), None), "b\nc\n[lines 2 to 3 of 3]");
        assert_eq!(lines("a\nb\nc", Some(0), Some(3)), "a\nb\nc");
        assert_eq!(lines("a\nb\nc", Some(9), None), "[no lines: the file has 3]");
        assert_eq!(lines("a", Some(u64::MAX), Some(u64::MAX)), "[no lines: the file has 1]");
        assert_eq!(lines("", None, None), "[the file is empty]");
    }

    #[test]
    fn a_long_text_is_read_up_to_the_end_of_a_line() {
        let text = format!("{}\n", "x".repeat(99)).repeat(20_000);
        let first = lines(&text, None, None);
        assert!(first.ends_with("xx\n[lines 1 to 10485 of 20000]"), "{}", &first[first.len() - 60..]);
        let next = lines(&text, Some(10_486), None);
        assert!(next.ends_with("[lines 10486 to 20000 of 20000]"));
        let line = lines(&"é".repeat(1 << 20), None, None);
        assert!(line.len() < LARGEST_RESULT + 100 && line.ends_with("é\n[the line is too long and was cut]"));
    }
}
