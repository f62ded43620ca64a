//! Reads chats out of files, each of which is added whole or not at all.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use foretoken_protocol::ImportReport;
use serde::de::Error;

use super::importer::Importer;
use super::incoming::Look;
use super::{chatgpt, foretoken, lm_studio};
use crate::{ChatsError, Piece, Store};

/// Adds the chats of a file that Foretoken, ChatGPT (`conversations.json`) or LM Studio (a conversation) has written.
///
/// The file is read as it comes: one chat at a time is in memory. What is read goes into the store by pieces, which
/// `turn` hands to it one by one, so that others come in between; nothing of it is seen before all of it is there. If
/// anything in it cannot be read, nothing of it is added, and the error names the chat and the place.
///
/// Pictures in a file of Foretoken's, and those of ChatGPT and LM Studio that lie beside theirs, are looked at by
/// `look`, one at a time on this thread, once for each detail in which a message shows one, and kept before the
/// messages are. One that is damaged, is not the one that its hash stands for, cannot be looked at or is not in the
/// file leaves its message with a missing picture, and is counted.
pub fn import(
    path: &Path,
    look: Look<'_>,
    turn: &dyn Fn(Piece) -> Result<(), ChatsError>,
) -> Result<ImportReport, ChatsError> {
    let refused =
        |error: std::io::Error| ChatsError::File { path: path.to_owned(), detail: error.to_string() };
    let mut reader = BufReader::new(File::open(path).map_err(refused)?);
    let format = Format::of(&mut reader).map_err(refused)?;
    let mut importer = Importer::new(path, look, turn)?;
    let mut json = serde_json::Deserializer::from_reader(reader);
    let read = match format {
        Some(Format::Foretoken) => foretoken::read(&mut json, &mut importer),
        Some(Format::ChatGpt) => chatgpt::read(&mut json, &mut importer),
        Some(Format::LmStudio) => lm_studio::read(&mut json, &mut importer),
        None => Err(serde_json::Error::custom("it does not hold JSON")),
    };
    let read = read.and_then(|()| json.end()).map_err(|error| match importer.fault.take() {
        Some(fault) => fault,
        None if error.is_io() => ChatsError::File { path: path.to_owned(), detail: error.to_string() },
        None => {
            let detail = format!("{}{error}", importer.place());
            ChatsError::NotImportable { path: path.to_owned(), detail }
        }
    });
    match read.and_then(|()| importer.finish()) {
        Ok(()) => Ok(importer.report),
        Err(error) => {
            importer.abandon();
            Err(error)
        }
    }
}

impl Store {
    /// Adds the chats of a file as [`import`] does, with nobody in between.
    pub fn import(&mut self, path: &Path, look: Look<'_>) -> Result<ImportReport, ChatsError> {
        let store = RefCell::new(self);
        import(path, look, &|piece| piece(&mut store.borrow_mut()))
    }
}

/// Who wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Foretoken,
    ChatGpt,
    LmStudio,
}

impl Format {
    /// Tells from the first bytes who wrote a file; `None` if it is no JSON. Passes over a byte order mark.
    fn of(reader: &mut impl BufRead) -> std::io::Result<Option<Self>> {
        if reader.fill_buf()?.starts_with("\u{feff}".as_bytes()) {
            reader.consume('\u{feff}'.len_utf8());
        }
        let start = reader.fill_buf()?.trim_ascii_start();
        Ok(match start.split_first() {
            Some((b'[', _)) => Some(Self::ChatGpt),
            Some((b'{', rest)) if rest.trim_ascii_start().starts_with(b"\"format\"") => Some(Self::Foretoken),
            Some((b'{', _)) => Some(Self::LmStudio),
            _ => None,
        })
    }
}
