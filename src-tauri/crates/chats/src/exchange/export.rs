//! Writes chats into files.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use foretoken_protocol::{
    ChatId, ChatSettings, ExportReport, ExportedPictures, Message, MessageId, MessagePicture, PictureFormat,
    Preset, PresetId, Project, ProjectId,
};
use rusqlite::Connection;

use super::foretoken::{FORMAT, VERSION};
use super::markdown::{Branch, PictureFolder};
use super::outgoing::Outgoing;
use super::record::{ChatRecord, PresetRecord, ProjectRecord};
use super::whole::WholeFile;
use crate::error::Fault;
use crate::pictures::hash_of;
use crate::position::TreePosition;
use crate::sql::{self, all};
use crate::{ChatsError, Reader, list, project_files, projects, rows, settings, steps, tree};

impl Reader {
    /// Writes one chat, or all chats, presets and projects, into a file of Foretoken's own, with all branches, and with
    /// what was typed and not sent: drafts and edits. What is deleted stays out, and so do the pictures of drafts
    /// and edits.
    /// [`import`](crate::import) brings back the same, as far as the pictures are in it.
    ///
    /// The file appears, or is replaced, when it is whole.
    pub fn export_json(
        &self,
        chat: Option<ChatId>,
        pictures: ExportedPictures,
        path: &Path,
    ) -> Result<ExportReport, ChatsError> {
        let mut pictures = Outgoing::new(self.picture_files(), pictures);
        self.read_at_once(|db| write_whole(path, |out| write_json(db, chat, &mut pictures, out)))?;
        Ok(pictures.report)
    }

    /// Writes the branch that ends with a message as Markdown for people, with the thinking folded away or left out.
    /// Its pictures go into a folder beside it, `NAME-pictures` where the file is `NAME.md`; if there is something of
    /// that name, `NAME-pictures-2`, and so on.
    ///
    /// The file appears, or is replaced, when it is whole and its pictures are there.
    pub fn export_markdown(
        &self,
        last: MessageId,
        thinking: bool,
        pictures: ExportedPictures,
        path: &Path,
    ) -> Result<ExportReport, ChatsError> {
        let mut pictures = Outgoing::new(self.picture_files(), pictures);
        let branch = self.read_at_once(|db| branch(db, last))?;
        let mut folder = PictureFolder::beside(path);
        let write =
            |out: Out<'_>| branch.write(thinking, &mut pictures, &mut folder, out).map_err(Stop::File);
        write_whole(path, write).map_err(|fault| fault.at(&self.path))?;
        folder.keep();
        Ok(pictures.report)
    }

    /// The size in bytes of the pictures that an export of a chat, or of all, would hold as they are.
    pub fn size_of_pictures(&self, chat: Option<ChatId>) -> Result<u64, ChatsError> {
        self.read_at_once(|db| Ok(size(&pictures_of(db, chat)?)))
    }

    /// The same of the branch that ends with a message.
    pub fn size_of_pictures_before(&self, last: MessageId) -> Result<u64, ChatsError> {
        self.read_at_once(|db| {
            let messages = branch(db, last)?.messages;
            Ok(size(&once(messages.into_iter().flat_map(|(_, message)| message.pictures))))
        })
    }
}

/// Why a file could not be written.
enum Stop {
    Database(Fault),
    File(io::Error),
}

impl<E: Into<Fault>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Database(error.into())
    }
}

type Out<'a> = &'a mut dyn Write;

fn write_whole(path: &Path, write: impl FnOnce(Out<'_>) -> Result<(), Stop>) -> Result<(), Fault> {
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::StorageFull => ChatsError::Full { path: path.to_owned() },
        _ => ChatsError::File { path: path.to_owned(), detail: error.to_string() },
    };
    let mut file = WholeFile::begin(path).map_err(refused)?;
    let mut out = BufWriter::new(&mut file);
    let written = write(&mut out).and_then(|()| out.flush().map_err(Stop::File));
    match written {
        Ok(()) => drop(out),
        Err(Stop::File(error)) => return Err(refused(error).into()),
        Err(Stop::Database(fault)) => return Err(fault),
    }
    Ok(file.finish().map_err(refused)?)
}

/// A picture as the messages of a file name it.
struct Named {
    hash: String,
    format: PictureFormat,
    bytes: u64,
}

fn write_json(
    db: &Connection,
    chat: Option<ChatId>,
    pictures: &mut Outgoing,
    out: Out<'_>,
) -> Result<(), Stop> {
    let presets = match chat {
        None => settings::presets(db)?,
        Some(chat) => match settings::chat_settings(db, chat)?.preset {
            Some(preset) => vec![settings::find_preset(db, preset)?],
            None => vec![],
        },
    };
    let preset_ids: Vec<PresetId> = presets.iter().map(|preset| preset.id).collect();
    let chats = match chat {
        Some(chat) => vec![chat],
        None => all(db, "SELECT id FROM chat WHERE deletion IS NULL ORDER BY id", [], |row| row.get(0))?,
    };
    let presets = presets.into_iter().map(|Preset { name, system_prompt, generation, .. }| PresetRecord {
        name,
        system_prompt,
        generation,
    });
    let head = serde_json::to_string(&presets.collect::<Vec<_>>()).map_err(unwritten)?;
    write!(out, "{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\n\"presets\":{head},\n")
        .map_err(Stop::File)?;
    let project_ids = write_projects(db, chat, out)?;
    // Before the chats, so that whoever reads them knows which are there.
    let named = write_pictures(&pictures_of(db, chat)?, pictures, out).map_err(Stop::File)?;
    out.write_all(b"\"chats\":[").map_err(Stop::File)?;
    for (before, &id) in chats.iter().enumerate() {
        // One chat at a time is in memory.
        let mut record = ChatRecord::read(db, id, &preset_ids, &project_ids, chat.is_none())?;
        for picture in record.messages.iter_mut().flat_map(|message| &mut message.pictures) {
            name(picture, &named);
        }
        out.write_all(if before == 0 { b"\n" } else { b",\n" }).map_err(Stop::File)?;
        serde_json::to_writer(&mut *out, &record).map_err(unwritten)?;
    }
    out.write_all(b"\n]}\n").map_err(Stop::File)
}

/// Writes the projects where all chats are written, one at a time. One chat goes out without what its project knows.
fn write_projects(db: &Connection, chat: Option<ChatId>, out: Out<'_>) -> Result<Vec<ProjectId>, Stop> {
    let projects = if chat.is_none() { projects::projects(db)? } else { Vec::new() };
    for (before, Project { id, name, instructions, settings, .. }) in projects.iter().enumerate() {
        out.write_all(if before == 0 { b"\"projects\":[\n" } else { b",\n" }).map_err(Stop::File)?;
        let record = ProjectRecord {
            name: name.clone(),
            instructions: instructions.clone(),
            settings: ChatSettings { preset: None, ..settings.clone() },
            files: project_files::texts(db, *id)?,
        };
        serde_json::to_writer(&mut *out, &record).map_err(unwritten)?;
    }
    if !projects.is_empty() {
        out.write_all(b"\n],\n").map_err(Stop::File)?;
    }
    Ok(projects.into_iter().map(|project| project.id).collect())
}

/// Writes the pictures, each content once. Returns how those that are in the file are named there, by their hashes.
fn write_pictures(
    all: &[MessagePicture],
    pictures: &mut Outgoing,
    out: Out<'_>,
) -> io::Result<HashMap<String, Named>> {
    let (mut named, mut written) = (HashMap::new(), HashSet::new());
    for picture in all {
        let Some(sent) = pictures.take(picture) else { continue };
        let hash = hash_of(&sent.content);
        if written.insert(hash.clone()) {
            out.write_all(if written.len() == 1 { b"\"pictures\":[\n" } else { b",\n" })?;
            let (kind, data) = (sent.format.extension(), Base64Display::new(&sent.content, &STANDARD));
            write!(out, "{{\"hash\":\"{hash}\",\"media_type\":\"image/{kind}\",\"data\":\"{data}\"}}")?;
        }
        let bytes = sent.content.len() as u64;
        named.insert(picture.hash.clone(), Named { hash, format: sent.format, bytes });
    }
    if !written.is_empty() {
        out.write_all(b"\n],\n")?;
    }
    Ok(named)
}

/// Names a picture as the file does.
fn name(picture: &mut MessagePicture, named: &HashMap<String, Named>) {
    match named.get(&picture.hash) {
        Some(Named { hash, format, bytes }) => {
            (picture.format, picture.bytes, picture.missing) = (*format, *bytes, false);
            picture.hash.clone_from(hash);
        }
        None => picture.missing = true,
    }
}

/// The pictures that messages of a chat, or of all, have, each once and in the order of the messages.
fn pictures_of(db: &Connection, chat: Option<ChatId>) -> Result<Vec<MessagePicture>, Fault> {
    let sql = format!(
        "SELECT {} AS pictures FROM message
         WHERE (?1 IS NULL OR chat = ?1) AND deletion IS NULL
         AND chat IN (SELECT id FROM chat WHERE deletion IS NULL)
         AND id IN (SELECT message FROM message_picture)
         ORDER BY chat, id",
        rows::PICTURES
    );
    let all = all(db, &sql, [chat], |row| sql::list::<MessagePicture>(row, "pictures"))?;
    Ok(once(all.into_iter().flatten()))
}

fn once(pictures: impl Iterator<Item = MessagePicture>) -> Vec<MessagePicture> {
    let mut seen = HashSet::new();
    pictures.filter(|picture| seen.insert(picture.hash.clone())).collect()
}

fn size(pictures: &[MessagePicture]) -> u64 {
    pictures.iter().filter(|picture| !picture.missing).map(|picture| picture.bytes).sum()
}

fn unwritten(error: serde_json::Error) -> Stop {
    Stop::File(error.into())
}

fn branch(db: &Connection, last: MessageId) -> Result<Branch, Fault> {
    let chat = TreePosition::of(db, last)?.chat;
    let messages = all(db, &tree::path(rows::MESSAGE), [last], rows::message)?;
    let with_steps = |message: Message| Ok((steps::of_message(db, message.id)?, message));
    Ok(Branch {
        title: list::summary(db, chat)?.title,
        system_prompt: settings::chat_settings(db, chat)?.system_prompt,
        messages: messages.into_iter().map(with_steps).collect::<Result<_, Fault>>()?,
    })
}
