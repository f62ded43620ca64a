//! Reads chats out of files, each of which is added whole or not at all.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::mpsc;

use foretoken_protocol::{DeletionId, ImportReport};
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, de};

use super::record::{ChatRecord, PresetRecord, number_after};
use super::staging::{Staged, Step};
use super::{chatgpt, foretoken, lm_studio};
use crate::deletion::purge;
use crate::store::PIECE_BYTES;
use crate::{ChatsError, Piece, Store};

/// Adds the chats of a file that Foretoken, ChatGPT (`conversations.json`) or LM Studio (a conversation) has written.
///
/// The file is read as it comes: one chat at a time is in memory. What is read goes into the store by pieces, which `turn`
/// hands to it one by one, so that others come in between; nothing of it is seen before all of it is there. If anything in
/// it cannot be read, nothing of it is added, and the error names the chat and the place.
pub fn import(
    path: &Path,
    turn: &dyn Fn(Piece) -> Result<(), ChatsError>,
) -> Result<ImportReport, ChatsError> {
    let refused =
        |error: std::io::Error| ChatsError::File { path: path.to_owned(), detail: error.to_string() };
    let mut reader = BufReader::new(File::open(path).map_err(refused)?);
    let format = Format::of(&mut reader).map_err(refused)?;
    let mut importer = Importer::new(turn);
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
            let detail = format!("{}{error}", importer.report.place());
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
    pub fn import(&mut self, path: &Path) -> Result<ImportReport, ChatsError> {
        let store = RefCell::new(self);
        import(path, &|piece| piece(&mut store.borrow_mut()))
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
    turn: &'a dyn Fn(Piece) -> Result<(), ChatsError>,
    /// What is to be written in the next turn, and about how much that is in bytes.
    waiting: Vec<Step>,
    bytes: usize,
    staged: Staged,
    /// What hides the chats that are staged.
    hidden_by: Option<DeletionId>,
    /// The presets of the file.
    pub(super) presets: Vec<PresetRecord>,
    /// How many messages each chat before has.
    messages: Vec<usize>,
    pub(super) report: ImportReport,
    /// What the database refused, for which the reading was stopped.
    fault: Option<ChatsError>,
}

impl<'a> Importer<'a> {
    fn new(turn: &'a dyn Fn(Piece) -> Result<(), ChatsError>) -> Self {
        Self {
            turn,
            waiting: Vec::new(),
            bytes: 0,
            staged: Staged::default(),
            hidden_by: None,
            presets: Vec::new(),
            messages: Vec::new(),
            report: ImportReport::default(),
            fault: None,
        }
    }

    /// Adds a chat.
    pub(super) fn add<E: de::Error>(&mut self, mut chat: ChatRecord) -> Result<(), E> {
        chat.check(self.presets.len(), &self.messages)
            .map_err(|detail| E::custom(format!("“{}”: {detail}", chat.title)))?;
        let (messages, shown) = (std::mem::take(&mut chat.messages), chat.shown);
        let count = messages.len();
        let messages = messages.into_iter().map(|message| Step::Message(Box::new(message)));
        let steps = [Step::Chat(Box::new(chat))].into_iter().chain(messages).chain([Step::End { shown }]);
        for step in steps {
            self.bytes += step.bytes();
            self.waiting.push(step);
            if self.bytes >= PIECE_BYTES {
                self.write().map_err(|fault| self.stop(fault))?;
            }
        }
        self.messages.push(count);
        self.report.chats += 1;
        self.report.messages += number_after(count) - 1;
        Ok(())
    }

    /// Writes what waits.
    fn write(&mut self) -> Result<(), ChatsError> {
        let (steps, mut staged) = (std::mem::take(&mut self.waiting), std::mem::take(&mut self.staged));
        self.bytes = 0;
        self.staged = self.in_turn(move |store| {
            store.write(|db| steps.iter().try_for_each(|step| staged.add(db, step)))?;
            Ok(staged)
        })?;
        self.hidden_by = self.staged.hidden_by;
        Ok(())
    }

    /// Shows all that was added.
    fn finish(&mut self) -> Result<(), ChatsError> {
        self.write()?;
        let (staged, presets) = (std::mem::take(&mut self.staged), std::mem::take(&mut self.presets));
        self.in_turn(move |store| store.write(|db| staged.show(db, &presets)))
    }

    /// Removes what was added. What cannot be removed now is when the store is opened again.
    fn abandon(&self) {
        let Some(hidden_by) = self.hidden_by else { return };
        let purge = move |store: &mut Store| store.write(|db| purge(db, hidden_by..=hidden_by));
        while self.in_turn(purge).unwrap_or_else(|error| {
            tracing::warn!("what was imported in part is removed at the next start: {error}");
            false
        }) {}
    }

    /// Does a piece of work in the store when its turn comes.
    fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, ChatsError> + Send + 'static,
    ) -> Result<T, ChatsError> {
        let (answer, done) = mpsc::sync_channel(1);
        (self.turn)(Box::new(move |store| {
            // There is room for one, and whoever asked waits.
            let _ = answer.send(work(store)?);
            Ok(())
        }))?;
        Ok(done.recv().expect("a piece that was done has answered"))
    }

    /// Stops the reading because of the database.
    fn stop<E: de::Error>(&mut self, fault: ChatsError) -> E {
        self.fault = Some(fault);
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
            self.importer.add(record)?;
        }
        Ok(())
    }
}
