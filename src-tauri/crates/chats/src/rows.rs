//! How messages and chats stand in the columns of the database.

use foretoken_protocol::{
    Chat, ChatOrigin, ChatSummary, FinishReason, Message, MessageStatus, Role, UnseenReply,
};
use rusqlite::Row;
use rusqlite::types::Type;

use crate::pictures::described;
use crate::pieces::whole;
use crate::sql::{json, list};

/// The columns that [`chat`] reads.
pub(crate) const CHAT: &str = "id, title, updated_at";

/// The columns that [`summary`] reads, from a table named `chat`.
pub(crate) const SUMMARY: &str = "id, title, named, pinned, unseen, project, created_at, updated_at,
    (SELECT json_group_array(name ORDER BY name) FROM chat_tag WHERE chat_tag.chat = chat.id) AS tags,
    (SELECT origin.id FROM chat AS origin WHERE origin.id = chat.origin_chat AND origin.deletion IS NULL)
        AS live_origin,
    (SELECT last.id FROM message AS last WHERE last.id = chat.origin_message AND last.deletion IS NULL)
        AS live_origin_message";

/// SQL for the pictures of a message of a table named `message`.
macro_rules! pictures_of_message {
    () => {
        described!("SELECT * FROM message_picture WHERE message_picture.message = message.id")
    };
}

/// The columns that [`message`] reads, from a table named `message`.
pub(crate) const MESSAGE: &str = concat!(
    "id, parent, role, ",
    whole!("text"),
    " AS text, ",
    whole!("thinking"),
    " AS thinking, edited, status, stats, error, model, created_at, ",
    pictures_of_message!(),
    " AS pictures"
);

/// The pictures of a message of a table named `message`, as a JSON list.
pub(crate) const PICTURES: &str = pictures_of_message!();

pub(crate) fn chat(row: &Row<'_>) -> rusqlite::Result<Chat> {
    Ok(Chat { id: row.get("id")?, title: row.get("title")?, updated_at: row.get("updated_at")? })
}

pub(crate) fn summary(row: &Row<'_>) -> rusqlite::Result<ChatSummary> {
    let origin: Option<_> = row.get("live_origin")?;
    let message = row.get("live_origin_message")?;
    Ok(ChatSummary {
        id: row.get("id")?,
        title: row.get("title")?,
        named: row.get("named")?,
        pinned: row.get("pinned")?,
        tags: list(row, "tags")?,
        origin: origin.map(|chat| ChatOrigin { chat, message }),
        project: row.get("project")?,
        unseen: row.get::<_, Option<String>>("unseen")?.as_deref().and_then(unseen_from),
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

pub(crate) fn message(row: &Row<'_>) -> rusqlite::Result<Message> {
    Ok(Message {
        id: row.get("id")?,
        parent: row.get("parent")?,
        role: named(row, "role", role_from)?,
        text: row.get("text")?,
        pictures: list(row, "pictures")?,
        thinking: row.get("thinking")?,
        edited: row.get("edited")?,
        status: status(row)?,
        stats: json(row, "stats")?,
        error: json(row, "error")?,
        model: row.get("model")?,
        created_at: row.get("created_at")?,
        steps: Vec::new(),
    })
}

/// Reads the column `status`.
pub(crate) fn status(row: &Row<'_>) -> rusqlite::Result<MessageStatus> {
    named(row, "status", status_from)
}

/// Reads a column that holds one of a few names.
fn named<T>(row: &Row<'_>, column: &str, from: fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let name: String = row.get(column)?;
    from(&name).ok_or_else(|| {
        let index = row.as_ref().column_index(column).unwrap_or_default();
        rusqlite::Error::FromSqlConversionFailure(
            index,
            Type::Text,
            format!("the {column} of a message is {name:?}").into(),
        )
    })
}

pub(crate) fn unseen_name(unseen: UnseenReply) -> &'static str {
    match unseen {
        UnseenReply::Written => "written",
        UnseenReply::Failed => "failed",
    }
}

/// A name that this version does not know costs the mark, never the chat.
fn unseen_from(name: &str) -> Option<UnseenReply> {
    [UnseenReply::Written, UnseenReply::Failed].into_iter().find(|&unseen| unseen_name(unseen) == name)
}

pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn role_from(name: &str) -> Option<Role> {
    [Role::System, Role::User, Role::Assistant].into_iter().find(|&role| role_name(role) == name)
}

pub(crate) fn status_name(status: MessageStatus) -> &'static str {
    match status {
        MessageStatus::Streaming => "streaming",
        MessageStatus::Interrupted => "interrupted",
        MessageStatus::Asking => "asking",
        MessageStatus::Paused => "paused",
        MessageStatus::Finished { reason: FinishReason::Stop } => "stop",
        MessageStatus::Finished { reason: FinishReason::Length } => "length",
        MessageStatus::Finished { reason: FinishReason::Cancelled } => "cancelled",
        MessageStatus::Finished { reason: FinishReason::Error } => "error",
    }
}

fn status_from(name: &str) -> Option<MessageStatus> {
    let finished = |reason| MessageStatus::Finished { reason };
    [
        MessageStatus::Streaming,
        MessageStatus::Interrupted,
        MessageStatus::Asking,
        MessageStatus::Paused,
        finished(FinishReason::Stop),
        finished(FinishReason::Length),
        finished(FinishReason::Cancelled),
        finished(FinishReason::Error),
    ]
    .into_iter()
    .find(|&status| status_name(status) == name)
}
