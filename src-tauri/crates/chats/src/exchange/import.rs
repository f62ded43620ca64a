//! Reads chats out of files, each of which is added whole or not at all.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use foretoken_protocol::ImportReport;
use rusqlite::Connection;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, de};

use super::record::{ChatRecord, Numbers, Refusal, number_after};
use super::{chatgpt, foretoken, lm_studio};
use crate::error::Fault;
use crate::{ChatsError, Store};

impl Store {
    /// Adds the chats of a file that Foretoken, ChatGPT (`conversations.json`) or LM Studio (a conversation) has written.
    ///
    /// The file is read as it comes: one chat at a time is in memory. If anything in it cannot be read, nothing of it is
    /// added, and the error names the chat and the place.
    pub fn import(&mut self, path: &Path) -> Result<ImportReport, ChatsError> {
        let refused =
            |error: std::io::Error| ChatsError::File { path: path.to_owned(), detail: error.to_string() };
        let mut reader = BufReader::new(File::open(path).map_err(refused)?);
        let format = Format::of(&mut reader).map_err(refused)?;
        self.write(|db| {
            let mut importer =
                Importer { db, numbers: Numbers::default(), report: ImportReport::default(), fault: None };
            let mut json = serde_json::Deserializer::from_reader(reader);
            let read = match format {
                Some(Format::Foretoken) => foretoken::read(&mut json, &mut importer),
                Some(Format::ChatGpt) => chatgpt::read(&mut json, &mut importer),
                Some(Format::LmStudio) => lm_studio::read(&mut json, &mut importer),
                None => Err(serde_json::Error::custom("it does not hold JSON")),
            };
            match (read.and_then(|()| json.end()), importer.fault) {
                (_, Some(fault)) => Err(fault),
                (Ok(()), None) => Ok(importer.report),
                (Err(error), None) if error.is_io() => {
                    Err(ChatsError::File { path: path.to_owned(), detail: error.to_string() }.into())
                }
                (Err(error), None) => {
                    let detail = format!("{}{error}", importer.report.place());
                    Err(ChatsError::NotImportable { path: path.to_owned(), detail }.into())
                }
            }
        })
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

/// Takes the chats of a file one by one.
pub(super) struct Importer<'a> {
    pub(super) db: &'a Connection,
    pub(super) numbers: Numbers,
    pub(super) report: ImportReport,
    /// What the database refused, for which the reading was stopped.
    fault: Option<Fault>,
}

impl Importer<'_> {
    /// Adds a chat.
    pub(super) fn add<E: de::Error>(&mut self, chat: &ChatRecord) -> Result<(), E> {
        match chat.add(self.db, &mut self.numbers) {
            Ok(()) => {
                self.report.chats += 1;
                self.report.messages += number_after(chat.messages.len()) - 1;
                Ok(())
            }
            Err(Refusal::Content(detail)) => Err(E::custom(format!("“{}”: {detail}", chat.title))),
            Err(Refusal::Fault(fault)) => Err(self.stop(fault)),
        }
    }

    /// Stops the reading because of the database.
    pub(super) fn stop<E: de::Error>(&mut self, fault: impl Into<Fault>) -> E {
        self.fault = Some(fault.into());
        E::custom("the database refused")
    }
}

/// Where the reading of a file stopped.
trait Place {
    fn place(&self) -> String;
}

impl Place for ImportReport {
    fn place(&self) -> String {
        format!("in chat {}: ", self.chats + 1)
    }
}

/// Reads a field that some versions of a program leave out and others write as `null`.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads a list of chats as a program writes them, and adds each when it is read.
pub(super) struct Chats<'a, 'i, T> {
    pub(super) importer: &'a mut Importer<'i>,
    /// Makes a chat of what is read, or says what is wrong with it. Counts what it leaves out.
    pub(super) convert: fn(T, &mut u32) -> Result<ChatRecord, String>,
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Chats<'_, '_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Chats<'_, '_, T> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of chats")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut chats: A) -> Result<(), A::Error> {
        while let Some(chat) = chats.next_element::<T>()? {
            let record =
                (self.convert)(chat, &mut self.importer.report.left_out).map_err(A::Error::custom)?;
            self.importer.add(&record)?;
        }
        Ok(())
    }
}
