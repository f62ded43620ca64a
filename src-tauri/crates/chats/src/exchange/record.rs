//! A chat as it stands in a file, and how it gets into the database and out of it.
//!
//! Ids mean nothing outside the database, so a file counts: the first chat, message or preset is 1.

use std::collections::HashMap;

use foretoken_protocol::{
    Attachment, ChatId, ChatOrigin, ChatSettings, Draft, ErrorReport, GenerationSettings, Message, MessageId,
    MessageStatus, PresetId, Provenance, ReplyStats, Role,
};
use rusqlite::{Connection, OptionalExtension, named_params};
use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::store::{all, first};
use crate::{list, rows, settings, tree};

/// A chat with all its branches. The preset of its settings and both parts of its origin are numbers in the file.
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
    pub(super) thinking: String,
    pub(super) status: MessageStatus,
    pub(super) stats: Option<ReplyStats>,
    pub(super) error: Option<ErrorReport>,
    pub(super) model: Option<String>,
    pub(super) settings: Option<GenerationSettings>,
    /// Where its text came from, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) provenance: Option<Provenance>,
    pub(super) created_at: u64,
}

/// A preset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PresetRecord {
    pub(super) name: String,
    pub(super) system_prompt: String,
    pub(super) generation: Option<GenerationSettings>,
}

/// What the numbers of a file stand for in the database.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) presets: Vec<PresetId>,
    /// A chat and its messages, whose ids follow one another.
    chats: Vec<(ChatId, Vec<MessageId>)>,
}

/// The item that a file calls `number`.
fn numbered<T>(items: &[T], number: u32) -> Option<&T> {
    items.get(usize::try_from(number).ok()?.checked_sub(1)?)
}

/// The number of the item after `count` others.
pub(super) fn number_after(count: usize) -> u32 {
    u32::try_from(count + 1).unwrap_or(u32::MAX)
}

impl ChatRecord {
    /// Reads a chat out of the database.
    ///
    /// `presets` are those of the file, in order. The chat's origin is left out unless the file holds all chats.
    pub(super) fn read(
        db: &Connection,
        id: ChatId,
        presets: &[PresetId],
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
            Ok((rows::message(row)?, rows::json(row, "settings")?, rows::json(row, "provenance")?))
        })?;
        let numbers: HashMap<MessageId, u32> = read
            .iter()
            .enumerate()
            .map(|(before, (message, ..))| (message.id, number_after(before)))
            .collect();
        let draft = settings::draft(db, Some(id))?;
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
            shown: shown.and_then(|id| numbers.get(&id).copied()),
            messages: read
                .into_iter()
                .map(|(message, settings, provenance)| MessageRecord {
                    settings,
                    provenance,
                    ..MessageRecord::of(message, &numbers)
                })
                .collect(),
        })
    }

    /// Adds the chat to the database. What contradicts itself is told in words.
    pub(super) fn add(&self, db: &Connection, numbers: &mut Numbers) -> Result<(), Refusal> {
        let origin = self.origin.as_ref().map(|origin| self.find_origin(origin, numbers)).transpose()?;
        let preset = match self.settings.preset {
            None => None,
            Some(number) => Some(
                *numbered(&numbers.presets, number)
                    .ok_or_else(|| format!("there is no preset {number} in the file"))?,
            ),
        };
        let values = named_params! {
            ":title": self.title,
            ":named": self.named,
            ":pinned": self.pinned,
            ":created_at": time(self.created_at)?,
            ":updated_at": time(self.updated_at)?,
            ":origin_chat": origin.map(|(chat, _)| chat),
            ":origin_message": origin.and_then(|(_, message)| message),
        };
        let insert = "INSERT INTO chat (title, named, pinned, created_at, updated_at, origin_chat, origin_message)
            VALUES (:title, :named, :pinned, :created_at, :updated_at, :origin_chat, :origin_message) RETURNING id";
        let chat = db.prepare_cached(insert)?.query_row(values, |row| row.get(0))?;
        settings::set_chat_settings(db, chat, &ChatSettings { preset, ..self.settings.clone() })?;
        let draft = Draft { text: self.draft.clone(), files: self.draft_files.clone() };
        settings::set_draft(db, Some(chat), &draft)?;
        list::set_tags(db, chat, &self.tags)?;
        let mut messages: Vec<MessageId> = Vec::with_capacity(self.messages.len());
        for message in &self.messages {
            let number = number_after(messages.len());
            let parent = match message.parent {
                None => None,
                Some(parent) => Some(*numbered(&messages, parent).ok_or_else(|| {
                    format!("message {number} follows message {parent}, which does not come before it")
                })?),
            };
            messages.push(message.add(db, chat, parent)?);
        }
        let shown = match self.shown {
            None => None,
            Some(number) => Some(
                *numbered(&messages, number)
                    .ok_or_else(|| format!("message {number} is to be shown, but there is none"))?,
            ),
        };
        let leaf = tree::newest_leaf(db, chat, shown)?;
        tree::set_active_leaf(db, chat, leaf)?;
        numbers.chats.push((chat, messages));
        Ok(())
    }

    fn find_origin(
        &self,
        origin: &ChatOrigin,
        numbers: &Numbers,
    ) -> Result<(ChatId, Option<MessageId>), String> {
        let (chat, messages) = numbered(&numbers.chats, origin.chat)
            .ok_or_else(|| format!("it comes from chat {}, which does not come before it", origin.chat))?;
        let message = match origin.message {
            None => None,
            Some(number) => Some(*numbered(messages, number).ok_or_else(|| {
                format!("it comes from message {number} of chat {}, but there is none", origin.chat)
            })?),
        };
        Ok((*chat, message))
    }
}

impl MessageRecord {
    /// All of a message that the page knows.
    fn of(message: Message, numbers: &HashMap<MessageId, u32>) -> Self {
        let status = match message.status {
            // In a file nobody writes on.
            MessageStatus::Streaming => MessageStatus::Interrupted,
            ended => ended,
        };
        Self {
            parent: message.parent.and_then(|parent| numbers.get(&parent).copied()),
            role: message.role,
            text: message.text,
            thinking: message.thinking,
            status,
            stats: message.stats,
            error: message.error,
            model: message.model,
            settings: None,
            provenance: None,
            created_at: message.created_at,
        }
    }

    fn add(&self, db: &Connection, chat: ChatId, parent: Option<MessageId>) -> Result<MessageId, Refusal> {
        let status = match self.status {
            MessageStatus::Streaming => MessageStatus::Interrupted,
            ended => ended,
        };
        // What it was compared with was measured where the file comes from, which may be another machine.
        let stats = self.stats.clone().map(|stats| ReplyStats { plain: None, ..stats });
        let values = named_params! {
            ":chat": chat,
            ":parent": parent,
            ":role": rows::role_name(self.role),
            ":text": self.text,
            ":thinking": self.thinking,
            ":status": rows::status_name(status),
            ":stats": stats.as_ref().map(rows::to_json).transpose()?,
            ":error": self.error.as_ref().map(rows::to_json).transpose()?,
            ":model": self.model,
            ":settings": self.settings.as_ref().map(rows::to_json).transpose()?,
            ":provenance": self.provenance.as_ref().map(rows::to_json).transpose()?,
            ":created_at": time(self.created_at)?,
        };
        let insert = "INSERT INTO message
                (chat, parent, role, text, thinking, status, stats, error, model, settings, provenance, created_at)
            VALUES
                (:chat, :parent, :role, :text, :thinking, :status, :stats, :error, :model, :settings, :provenance,
                 :created_at)
            RETURNING id";
        Ok(db.prepare_cached(insert)?.query_row(values, |row| row.get(0))?)
    }
}

/// Why a chat of a file cannot be added.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It contradicts itself.
    Content(String),
    /// The database refuses.
    Fault(Fault),
}

impl From<String> for Refusal {
    fn from(detail: String) -> Self {
        Self::Content(detail)
    }
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        Self::Fault(error.into())
    }
}

/// Milliseconds as the database takes them.
fn time(milliseconds: u64) -> Result<i64, String> {
    i64::try_from(milliseconds).map_err(|_| format!("{milliseconds} is no time"))
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
