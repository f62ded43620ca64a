//! A chat as it stands in a file.
//!
//! Ids mean nothing outside the database, so a file counts: the first chat, message or preset is 1.

use std::collections::HashMap;
use std::ops::Not;

use foretoken_protocol::{
    Attachment, ChatId, ChatOrigin, ChatSettings, ErrorReport, GenerationSettings, Message, MessageId,
    MessagePicture, MessageStatus, PresetId, ProjectId, Provenance, ReplyStats, Role, UnsentEdit,
};
use rusqlite::{Connection, OptionalExtension, named_params};
use serde::{Deserialize, Serialize};

use super::steps::StepRecord;
use crate::error::Fault;
use crate::pictures::{self, is_hash};
use crate::sql::{self, all, first};
use crate::title::title_from;
use crate::{edits, list, pieces, rows, settings, steps};

/// A chat with all its branches. The preset of its settings, its project and both parts of its origin are numbers in
/// the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ChatRecord {
    pub(super) title: String,
    pub(super) named: bool,
    pub(super) pinned: bool,
    pub(super) tags: Vec<String>,
    pub(super) created_at: u64,
    pub(super) updated_at: u64,
    pub(super) settings: ChatSettings,
    /// What was typed and not sent.
    pub(super) draft: String,
    /// The files that were to go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) draft_files: Vec<Attachment>,
    pub(super) origin: Option<ChatOrigin>,
    /// The project that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<u32>,
    /// The last message of the branch that is shown.
    pub(super) shown: Option<u32>,
    /// A message comes after the one that it follows, and after the versions that are older than it.
    pub(super) messages: Vec<MessageRecord>,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct MessageRecord {
    pub(super) parent: Option<u32>,
    pub(super) role: Role,
    pub(super) text: String,
    /// Its pictures. Those that the file holds are found there by their hashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pictures: Vec<MessagePicture>,
    pub(super) thinking: String,
    /// Whether it is a reply whose text a person has changed.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub(super) edited: bool,
    pub(super) status: MessageStatus,
    pub(super) stats: Option<ReplyStats>,
    pub(super) error: Option<ErrorReport>,
    pub(super) model: Option<String>,
    pub(super) settings: Option<GenerationSettings>,
    /// Where its text came from, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) provenance: Option<Provenance>,
    /// What it is made of, where it uses tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) steps: Vec<StepRecord>,
    /// What it was being changed to, while that was not sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) edit: Option<String>,
    pub(super) created_at: u64,
}

/// A preset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PresetRecord {
    pub(super) name: String,
    pub(super) system_prompt: String,
    pub(super) generation: Option<GenerationSettings>,
}

/// A project with its files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ProjectRecord {
    pub(super) name: String,
    pub(super) instructions: String,
    /// What a new chat begins with, without a preset.
    pub(super) settings: ChatSettings,
    pub(super) files: Vec<Attachment>,
}

/// The item that a file calls `number`.
pub(super) fn numbered<T>(items: &[T], number: u32) -> Option<&T> {
    items.get(usize::try_from(number).ok()?.checked_sub(1)?)
}

/// The number of the item after `count` others.
pub(super) fn number_after(count: usize) -> u32 {
    u32::try_from(count + 1).unwrap_or(u32::MAX)
}

impl ChatRecord {
    /// Reads a chat out of the database.
    ///
    /// `presets` and `projects` are those of the file, in order. The chat's origin is left out unless the file holds
    /// all chats.
    pub(super) fn read(
        db: &Connection,
        id: ChatId,
        presets: &[PresetId],
        projects: &[ProjectId],
        all_chats: bool,
    ) -> Result<Self, Fault> {
        let summary = list::summary(db, id)?;
        let mut settings = settings::chat_settings(db, id)?;
        settings.preset =
            settings.preset.and_then(|id| presets.iter().position(|&preset| preset == id)).map(number_after);
        let sql = format!(
            "SELECT {}, settings, provenance FROM message WHERE chat = ?1 AND deletion IS NULL ORDER BY id",
            rows::MESSAGE
        );
        let read = all(db, &sql, [id], |row| {
            Ok((rows::message(row)?, sql::json(row, "settings")?, sql::json(row, "provenance")?))
        })?;
        let mut read: Vec<(Message, _, _)> = read;
        for (message, _, provenance) in &mut read {
            if message.status == MessageStatus::Streaming {
                *provenance = Some(pieces::provenance(db, message.id)?);
            }
        }
        let numbers: HashMap<MessageId, u32> = read
            .iter()
            .enumerate()
            .map(|(before, (message, ..))| (message.id, number_after(before)))
            .collect();
        let draft = settings::draft(db, Some(id))?;
        let edits = edits::of_chat(db, id)?;
        let mut edits: HashMap<MessageId, String> =
            edits.into_iter().map(|UnsentEdit { message, text, .. }| (message, text)).collect();
        let shown = "SELECT active_leaf FROM chat WHERE id = ?1";
        let shown: Option<MessageId> = first(db, shown, [id], |row| row.get(0))?.flatten();
        let origin = match summary.origin {
            Some(origin) if all_chats => Some(number_of_origin(db, &origin)?),
            _ => None,
        };
        Ok(Self {
            title: summary.title,
            named: summary.named,
            pinned: summary.pinned,
            tags: summary.tags,
            created_at: summary.created_at,
            updated_at: summary.updated_at,
            settings,
            draft: draft.text,
            draft_files: draft.files,
            origin,
            project: summary
                .project
                .and_then(|id| projects.iter().position(|&project| project == id))
                .map(number_after),
            shown: shown.and_then(|id| numbers.get(&id).copied()),
            messages: read
                .into_iter()
                .map(|(message, settings, provenance)| {
                    let steps = steps::of_message(db, message.id)?.into_iter().map(StepRecord::from);
                    Ok(MessageRecord {
                        settings,
                        provenance,
                        steps: steps.collect(),
                        edit: edits.remove(&message.id),
                        ..MessageRecord::of(message, &numbers)
                    })
                })
                .collect::<Result<_, Fault>>()?,
        })
    }

    /// Finds what contradicts itself, and says so in words. The file has so many presets and projects, and chats
    /// with so many messages came before this one.
    pub(super) fn check(
        &self,
        presets: usize,
        projects: usize,
        messages_before: &[usize],
    ) -> Result<(), String> {
        let has = |count: usize, number: u32| (1..=count).contains(&(number as usize));
        if let Some(origin) = &self.origin {
            let messages = numbered(messages_before, origin.chat).ok_or_else(|| {
                format!("it comes from chat {}, which does not come before it", origin.chat)
            })?;
            if let Some(number) = origin.message.filter(|&number| !has(*messages, number)) {
                return Err(format!(
                    "it comes from message {number} of chat {}, but there is none",
                    origin.chat
                ));
            }
        }
        if let Some(number) = self.settings.preset.filter(|&number| !has(presets, number)) {
            return Err(format!("there is no preset {number} in the file"));
        }
        if let Some(number) = self.project.filter(|&number| !has(projects, number)) {
            return Err(format!("there is no project {number} in the file"));
        }
        let times = self.messages.iter().map(|message| message.created_at);
        for time in [self.created_at, self.updated_at].into_iter().chain(times) {
            i64::try_from(time).map_err(|_| format!("{time} is no time"))?;
        }
        for (before, message) in self.messages.iter().enumerate() {
            if let Some(parent) = message.parent.filter(|&parent| !has(before, parent)) {
                let number = number_after(before);
                return Err(format!(
                    "message {number} follows message {parent}, which does not come before it"
                ));
            }
            if message.role != Role::User && !message.pictures.is_empty() {
                let number = number_after(before);
                return Err(format!("message {number} has pictures, and is not the person's"));
            }
            if message.role != Role::Assistant && !message.steps.is_empty() {
                let number = number_after(before);
                return Err(format!("message {number} has steps, and is no reply"));
            }
            for step in &message.steps {
                step.check().map_err(|detail| format!("message {}: {detail}", number_after(before)))?;
            }
            for MessagePicture { hash, bytes, .. } in &message.pictures {
                if !is_hash(hash) {
                    return Err(format!(
                        "message {} has a picture {hash:?}, which is no hash",
                        number_after(before)
                    ));
                }
                i64::try_from(*bytes).map_err(|_| format!("{bytes} bytes are too many for a picture"))?;
            }
        }
        match self.shown.filter(|&number| !has(self.messages.len(), number)) {
            Some(number) => Err(format!("message {number} is to be shown, but there is none")),
            None => Ok(()),
        }
    }
}

impl MessageRecord {
    /// The title of a chat that begins with this message.
    pub(super) fn title(&self) -> String {
        match &*self.pictures {
            [picture, ..] if self.text.trim().is_empty() => title_from(&picture.name),
            _ => title_from(&self.text),
        }
    }

    /// All of a message that the page knows.
    fn of(message: Message, numbers: &HashMap<MessageId, u32>) -> Self {
        let status = match message.status {
            // In a file nobody writes on, and nobody is asked.
            MessageStatus::Streaming | MessageStatus::Asking => MessageStatus::Interrupted,
            ended => ended,
        };
        Self {
            parent: message.parent.and_then(|parent| numbers.get(&parent).copied()),
            role: message.role,
            text: message.text,
            pictures: message.pictures,
            thinking: message.thinking,
            edited: message.edited,
            status,
            stats: message.stats,
            error: message.error,
            model: message.model,
            settings: None,
            provenance: None,
            steps: Vec::new(),
            edit: None,
            created_at: message.created_at,
        }
    }

    /// Adds the message to a chat of the database.
    pub(super) fn add(
        &self,
        db: &Connection,
        chat: ChatId,
        parent: Option<MessageId>,
    ) -> Result<MessageId, Fault> {
        let status = match self.status {
            MessageStatus::Streaming | MessageStatus::Asking => MessageStatus::Interrupted,
            ended => ended,
        };
        let values = named_params! {
            ":chat": chat,
            ":parent": parent,
            ":role": rows::role_name(self.role),
            ":text": self.text,
            ":thinking": self.thinking,
            ":edited": self.edited,
            ":status": rows::status_name(status),
            ":stats": self.stats.as_ref().map(sql::to_json).transpose()?,
            ":error": self.error.as_ref().map(sql::to_json).transpose()?,
            ":model": self.model,
            ":settings": self.settings.as_ref().map(sql::to_json).transpose()?,
            ":provenance": self.provenance.as_ref().map(sql::to_json).transpose()?,
            ":created_at": self.created_at,
        };
        let insert = "INSERT INTO message
                (chat, parent, role, text, thinking, edited, status, stats, error, model, settings, provenance, created_at)
            VALUES
                (:chat, :parent, :role, :text, :thinking, :edited, :status, :stats, :error, :model, :settings,
                 :provenance, :created_at)
            RETURNING id";
        let id = db.prepare_cached(insert)?.query_row(values, |row| row.get(0))?;
        self.pictures.iter().try_for_each(|picture| pictures::add(db, picture))?;
        pictures::give(db, id, &self.pictures)?;
        for (ordinal, step) in (0..).zip(&self.steps) {
            steps::add(db, id, &step.step(ordinal))?;
        }
        if let Some(text) = &self.edit {
            edits::keep(db, id, text, None)?;
        }
        Ok(id)
    }
}

/// The numbers that a chat and a message of it have in a file of all chats.
fn number_of_origin(db: &Connection, origin: &ChatOrigin) -> rusqlite::Result<ChatOrigin> {
    let chat = db.query_row(
        "SELECT count(*) FROM chat WHERE deletion IS NULL AND id <= ?1",
        [origin.chat],
        |row| row.get(0),
    )?;
    let message = match origin.message {
        None => None,
        Some(message) => db
            .query_row(
                "SELECT count(*) FROM message WHERE chat = ?1 AND deletion IS NULL AND id <= ?2",
                (origin.chat, message),
                |row| row.get(0),
            )
            .optional()?,
    };
    Ok(ChatOrigin { chat, message })
}
