//! Where a message stands.

use foretoken_protocol::{ChatId, MessageId};
use rusqlite::{Connection, Row};

use crate::ChatsError;
use crate::error::Fault;
use crate::sql::first;

/// Where a message stands, one that is not deleted.
pub(crate) struct TreePosition {
    pub(crate) chat: ChatId,
    pub(crate) parent: Option<MessageId>,
}

impl TreePosition {
    /// Finds the message `id`.
    pub(crate) fn of(db: &Connection, id: MessageId) -> Result<Self, Fault> {
        let sql = "SELECT message.chat, message.parent FROM message JOIN chat ON chat.id = message.chat
                   WHERE message.id = ?1 AND message.deletion IS NULL AND chat.deletion IS NULL";
        let read = |row: &Row<'_>| Ok(Self { chat: row.get(0)?, parent: row.get(1)? });
        Ok(first(db, sql, [id], read)?.ok_or(ChatsError::UnknownMessage { id })?)
    }
}
