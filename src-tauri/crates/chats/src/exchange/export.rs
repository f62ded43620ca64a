//! Writes chats into files.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use foretoken_protocol::{ChatId, MessageId, Preset, PresetId, Role};
use rusqlite::Connection;

use super::foretoken::{FORMAT, VERSION};
use super::record::{ChatRecord, PresetRecord};
use super::whole::WholeFile;
use crate::error::Fault;
use crate::sql::all;
use crate::{ChatsError, Reader, list, rows, settings, tree};

impl Reader {
    /// Writes one chat, or all chats and presets, into a file of Foretoken's own, with all branches, and with what was
    /// typed and not sent: drafts and edits. What is deleted stays out. [`import`](crate::import) brings back the same.
    ///
    /// The file appears, or is replaced, when it is whole.
    pub fn export_json(&self, chat: Option<ChatId>, path: &Path) -> Result<(), ChatsError> {
        self.read_at_once(|db| write_whole(path, |out| write_json(db, chat, out)))
    }

    /// Writes the branch that ends with a message as Markdown for people, with the thinking folded away or left out.
    ///
    /// The file appears, or is replaced, when it is whole.
    pub fn export_markdown(&self, last: MessageId, thinking: bool, path: &Path) -> Result<(), ChatsError> {
        self.read_at_once(|db| write_whole(path, |out| write_markdown(db, last, thinking, out)))
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

fn write_json(db: &Connection, chat: Option<ChatId>, out: Out<'_>) -> Result<(), Stop> {
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
    let head = serde_json::to_string(&presets.collect::<Vec<_>>()).map_err(json)?;
    write!(out, "{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\n\"presets\":{head},\n\"chats\":[")
        .map_err(Stop::File)?;
    for (before, &id) in chats.iter().enumerate() {
        // One chat at a time is in memory.
        let record = ChatRecord::read(db, id, &preset_ids, chat.is_none())?;
        out.write_all(if before == 0 { b"\n" } else { b",\n" }).map_err(Stop::File)?;
        serde_json::to_writer(&mut *out, &record).map_err(json)?;
    }
    out.write_all(b"\n]}\n").map_err(Stop::File)
}

fn json(error: serde_json::Error) -> Stop {
    Stop::File(error.into())
}

fn write_markdown(db: &Connection, last: MessageId, thinking: bool, out: Out<'_>) -> Result<(), Stop> {
    let chat = tree::TreePosition::of(db, last)?.chat;
    let messages = all(db, &tree::path(rows::MESSAGE), [last], rows::message)?;
    let title = list::summary(db, chat)?.title;
    let prompt = settings::chat_settings(db, chat)?.system_prompt;
    let mut write = || {
        writeln!(out, "# {title}")?;
        if !prompt.is_empty() {
            section(out, "System", &prompt)?;
        }
        for message in &messages {
            let speaker = match message.role {
                Role::System => "System",
                Role::User => "You",
                Role::Assistant => message.model.as_deref().unwrap_or("Assistant"),
            };
            let thought = message.thinking.trim();
            if thinking && !thought.is_empty() {
                let folded = format!("<details>\n<summary>Thinking</summary>\n\n{thought}\n\n</details>\n\n");
                section(out, speaker, &(folded + &message.text))?;
            } else {
                section(out, speaker, &message.text)?;
            }
        }
        Ok(())
    };
    write().map_err(Stop::File)
}

fn section(out: Out<'_>, speaker: &str, text: &str) -> io::Result<()> {
    writeln!(out, "\n## {speaker}\n\n{}", text.trim_end())
}
