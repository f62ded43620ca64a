//! Takes the chats that a format reads out of a file, and adds them to the store by pieces.

use std::path::{Path, PathBuf};
use std::sync::mpsc;

use foretoken_protocol::{DeletionId, ImportReport, MessagePicture};
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, de};

use super::beside::Beside;
use super::incoming::{Incoming, Look, MOST};
use super::record::{ChatRecord, PresetRecord, ProjectRecord, number_after};
use super::staging::{ReadProject, Staged, Step};
use crate::deletion::purge;
use crate::store::PIECE_BYTES;
use crate::{ChatsError, Piece, Store};

/// Hands pieces of work to the store, one by one.
pub(super) type Turn<'a> = &'a dyn Fn(Piece) -> Result<(), ChatsError>;

/// Takes the chats of a file one by one.
pub(super) struct Importer<'a> {
    turn: Turn<'a>,
    pub(super) aside: Aside<'a>,
    /// What is to be written in the next turn, and about how much that is in bytes.
    waiting: Vec<Step>,
    bytes: usize,
    staged: Staged,
    /// What hides the chats that are staged.
    hidden_by: Option<DeletionId>,
    /// The presets of the file.
    pub(super) presets: Vec<PresetRecord>,
    /// The projects of the file.
    pub(super) projects: Vec<ProjectRecord>,
    /// How many messages each chat before has.
    messages: Vec<usize>,
    pub(super) report: ImportReport,
    /// What the database refused, for which the reading was stopped.
    pub(super) fault: Option<ChatsError>,
}

/// What is no text in the chats of a file.
pub(super) struct Aside<'a> {
    pictures: Incoming<'a>,
    beside: Beside,
    /// How much of it there is no place for.
    pub(super) left_out: u32,
    /// What the disk refused, for which the reading is to be stopped.
    fault: Option<ChatsError>,
}

impl Aside<'_> {
    /// Adds a picture that a message names to those that it has. False if it is not beside the file, is none, or is one
    /// too many: then something else has to stand for it, and it is counted.
    pub(super) fn attach(
        &mut self,
        pictures: &mut Vec<MessagePicture>,
        find: impl FnOnce(&mut Beside) -> Option<PathBuf>,
        name: impl FnOnce(&Path) -> String,
    ) -> bool {
        let file = if pictures.len() < MOST { find(&mut self.beside) } else { None };
        let picture = file.and_then(|file| {
            let taken = self.pictures.take(&file, &name(&file));
            taken.unwrap_or_else(|fault| {
                self.fault = Some(fault);
                None
            })
        });
        self.left_out += u32::from(picture.is_none());
        let is_there = picture.is_some();
        pictures.extend(picture);
        is_there
    }
}

impl<'a> Importer<'a> {
    /// Takes the chats of `file`.
    pub(super) fn new(file: &Path, look: Look<'a>, turn: Turn<'a>) -> Result<Self, ChatsError> {
        let files = in_turn(turn, |store| Ok(store.picture_files()))?;
        Ok(Self {
            turn,
            aside: Aside {
                pictures: Incoming::new(files, look),
                beside: Beside::new(file),
                left_out: 0,
                fault: None,
            },
            waiting: Vec::new(),
            bytes: 0,
            staged: Staged::default(),
            hidden_by: None,
            presets: Vec::new(),
            projects: Vec::new(),
            messages: Vec::new(),
            report: ImportReport::default(),
            fault: None,
        })
    }

    /// Takes a picture for the messages that name it: its hash and its content in base64.
    pub(super) fn add_picture<E: de::Error>(&mut self, hash: String, data: &str) -> Result<(), E> {
        self.aside.pictures.stage(hash, data).map_err(|fault| self.stop(fault))
    }

    /// Adds a chat.
    pub(super) fn add<E: de::Error>(&mut self, mut chat: ChatRecord) -> Result<(), E> {
        if let Some(fault) = self.aside.fault.take() {
            return Err(self.stop(fault));
        }
        chat.check(self.presets.len(), self.projects.len(), &self.messages)
            .map_err(|detail| E::custom(format!("“{}”: {detail}", chat.title)))?;
        for message in &mut chat.messages {
            // What it was compared with was measured where the file comes from, which may be another machine.
            if let Some(stats) = &mut message.stats {
                stats.plain = None;
            }
            for stats in message.steps.iter_mut().filter_map(|step| step.stats.as_mut()) {
                stats.plain = None;
            }
            self.aside.pictures.keep_all(message).map_err(|fault| self.stop(fault))?;
        }
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
        self.report.missing_pictures = self.aside.pictures.missing();
        self.report.left_out = self.aside.left_out;
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
    pub(super) fn finish(&mut self) -> Result<(), ChatsError> {
        self.write()?;
        let (staged, presets) = (std::mem::take(&mut self.staged), std::mem::take(&mut self.presets));
        let projects: Vec<ReadProject> = self.projects.drain(..).map(ReadProject::from).collect();
        self.in_turn(move |store| store.write(|db| staged.show(db, &presets, &projects)))
    }

    /// Removes what was added. What cannot be removed now is when the store is opened again.
    pub(super) fn abandon(&self) {
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
        in_turn(self.turn, work)
    }

    /// Where the reading of the file stopped.
    pub(super) fn place(&self) -> String {
        format!("in chat {}: ", self.report.chats + 1)
    }

    /// Stops the reading because of the database.
    fn stop<E: de::Error>(&mut self, fault: ChatsError) -> E {
        self.fault = Some(fault);
        E::custom("the database refused")
    }
}

/// Does a piece of work in the store when its turn comes.
fn in_turn<T: Send + 'static>(
    turn: Turn<'_>,
    work: impl FnOnce(&mut Store) -> Result<T, ChatsError> + Send + 'static,
) -> Result<T, ChatsError> {
    let (answer, done) = mpsc::sync_channel(1);
    turn(Box::new(move |store| {
        // There is room for one, and whoever asked waits.
        let _ = answer.send(work(store)?);
        Ok(())
    }))?;
    Ok(done.recv().expect("a piece that was done has answered"))
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
    /// Makes a chat of what is read, or says what is wrong with it.
    pub(super) convert: fn(T, &mut Aside<'i>) -> Result<ChatRecord, String>,
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
            let record = (self.convert)(chat, &mut self.importer.aside).map_err(A::Error::custom)?;
            self.importer.add(record)?;
        }
        Ok(())
    }
}
