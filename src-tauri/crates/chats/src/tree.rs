//! A chat's messages as a tree: versions of a message are siblings, and one branch is shown.

use std::collections::HashMap;

use foretoken_protocol::{BranchMessage, ChatId, Message, MessageId};
use rusqlite::{Connection, Row};

use crate::error::Fault;
use crate::position::TreePosition;
use crate::sql::{all, first};
use crate::{ChatsError, Store, rows, steps};

impl Store {
    /// The branch of `chat` that is shown, oldest first: the one that was written in last, or that was chosen since.
    pub fn messages(&self, chat: ChatId) -> Result<Vec<Message>, ChatsError> {
        let sql = shown_branch(rows::MESSAGE);
        self.read(|db| {
            let messages = all(db, &sql, [chat], rows::message)?;
            if messages.is_empty() {
                must_exist(db, chat)?;
            }
            steps::with_steps(db, messages)
        })
    }

    /// The branch of `chat` that is shown, oldest first, with the other versions of each message.
    pub fn branch(&self, chat: ChatId) -> Result<Vec<BranchMessage>, ChatsError> {
        self.read(|db| branch(db, chat))
    }

    /// The messages that lead to one, itself included, oldest first.
    pub fn path_to(&self, id: MessageId) -> Result<Vec<Message>, ChatsError> {
        self.read(|db| {
            let path = all(db, &path(rows::MESSAGE), [id], rows::message)?;
            if path.is_empty() {
                return Err(ChatsError::UnknownMessage { id }.into());
            }
            steps::with_steps(db, path)
        })
    }

    /// One message, or what is left of it until it is purged.
    pub fn message(&self, id: MessageId) -> Result<Message, ChatsError> {
        self.read(|db| message(db, id))
    }

    /// The chat that a message belongs to.
    pub fn chat_of(&self, message: MessageId) -> Result<ChatId, ChatsError> {
        self.read(|db| {
            let chat = first(db, "SELECT chat FROM message WHERE id = ?1", [message], |row| row.get(0))?;
            Ok(chat.ok_or(ChatsError::UnknownMessage { id: message })?)
        })
    }

    /// A message and what was written in its place, oldest first.
    pub fn versions(&self, id: MessageId) -> Result<Vec<MessageId>, ChatsError> {
        self.read(|db| {
            let TreePosition { chat, parent } = TreePosition::of(db, id)?;
            Ok(all(db, VERSIONS, (chat, parent), |row| row.get(0))?)
        })
    }

    /// Shows the branch that leads through a message. One that is shown already stays as it is; another goes on from
    /// the message to the newest that follows it.
    pub fn show_branch(&mut self, through: MessageId) -> Result<(), ChatsError> {
        self.write(|db| {
            let TreePosition { chat, .. } = TreePosition::of(db, through)?;
            let shown = first(db, "SELECT active_leaf FROM chat WHERE id = ?1", [chat], |row| row.get(0))?;
            let shown: Option<MessageId> = shown.flatten();
            let on_it = "SELECT 1 FROM path WHERE path_id = ?2";
            if first(db, &format!("{PATH} {on_it}"), (shown, through), |_| Ok(()))?.is_none() {
                let leaf = newest_leaf(db, chat, Some(through))?;
                set_active_leaf(db, chat, leaf)?;
            }
            Ok(())
        })
    }
}

/// Fails if there is no such chat, or no more.
pub(crate) fn must_exist(db: &Connection, id: ChatId) -> Result<(), Fault> {
    let sql = "SELECT 1 FROM chat WHERE id = ?1 AND deletion IS NULL";
    Ok(first(db, sql, [id], |_| Ok(()))?.ok_or(ChatsError::UnknownChat { id })?)
}

pub(crate) fn message(db: &Connection, id: MessageId) -> Result<Message, Fault> {
    let sql = format!("SELECT {} FROM message WHERE id = ?1", rows::MESSAGE);
    let message = first(db, &sql, [id], rows::message)?.ok_or(ChatsError::UnknownMessage { id })?;
    Ok(Message { steps: steps::brief(db, id)?, ..message })
}

pub(crate) fn branch(db: &Connection, chat: ChatId) -> Result<Vec<BranchMessage>, Fault> {
    let messages = steps::with_steps(db, all(db, &shown_branch(rows::MESSAGE), [chat], rows::message)?)?;
    if messages.is_empty() {
        must_exist(db, chat)?;
    }
    let mut versions: HashMap<Option<MessageId>, Vec<MessageId>> = HashMap::new();
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    for (parent, id) in all(db, ALL_VERSIONS, [chat], read)? {
        versions.entry(parent).or_default().push(id);
    }
    let with_versions = |message: Message| BranchMessage {
        versions: versions.get(&message.parent).cloned().unwrap_or_default(),
        message,
    };
    Ok(messages.into_iter().map(with_versions).collect())
}

/// Selects all messages of the chat `?1` by their parent, versions of one message oldest first, in one pass over an
/// index.
const ALL_VERSIONS: &str =
    "SELECT parent, id FROM message WHERE chat = ?1 AND deletion IS NULL ORDER BY parent, id";

/// Selects the versions of one message, oldest first: all messages of the chat `?1` whose parent is `?2`.
const VERSIONS: &str =
    "SELECT id FROM message WHERE chat = ?1 AND parent IS ?2 AND deletion IS NULL ORDER BY id";

/// What leads to the message `?1`.
const PATH: &str = "WITH RECURSIVE path (path_id, path_parent) AS (
        SELECT id, parent FROM message WHERE id = ?1
        UNION ALL
        SELECT id, parent FROM message JOIN path ON id = path_parent
    )";

/// Selects `columns` of what leads to the message `?1`, oldest first.
pub(crate) fn path(columns: &str) -> String {
    // A message is newer than its parent, so ids ascend along a branch. Not a plain `JOIN`, for which SQLite may choose
    // to read all messages in their order.
    format!("{PATH} SELECT {columns} FROM path CROSS JOIN message ON id = path_id ORDER BY id")
}

/// Selects `columns` of the branch of the chat `?1` that is shown, oldest first.
fn shown_branch(columns: &str) -> String {
    format!(
        "WITH RECURSIVE path (path_id, path_parent) AS (
             SELECT message.id, message.parent FROM chat JOIN message ON message.id = chat.active_leaf
             WHERE chat.id = ?1 AND chat.deletion IS NULL
             UNION ALL
             SELECT id, parent FROM message JOIN path ON id = path_parent
         )
         SELECT {columns} FROM path CROSS JOIN message ON id = path_id ORDER BY id"
    )
}

/// The newest message at or after `from`, or of the whole chat; as the newest it is one that nothing follows.
pub(crate) fn newest_leaf(
    db: &Connection,
    chat: ChatId,
    from: Option<MessageId>,
) -> rusqlite::Result<Option<MessageId>> {
    match from {
        None => first(
            db,
            "SELECT id FROM message WHERE chat = ?1 AND deletion IS NULL ORDER BY id DESC LIMIT 1",
            [chat],
            |row| row.get(0),
        ),
        Some(from) => {
            db.query_row(&format!("{BELOW} SELECT max(below_id) FROM below"), (chat, from), |row| row.get(0))
        }
    }
}

/// The message `?2` of the chat `?1` and all that follows it.
pub(crate) const BELOW: &str = "WITH RECURSIVE below (below_id) AS (
        SELECT ?2
        UNION ALL
        SELECT message.id FROM below CROSS JOIN message ON message.chat = ?1 AND message.parent = below_id
        WHERE message.deletion IS NULL
    )";

pub(crate) fn set_active_leaf(
    db: &Connection,
    chat: ChatId,
    leaf: Option<MessageId>,
) -> rusqlite::Result<()> {
    db.execute("UPDATE chat SET active_leaf = ?2 WHERE id = ?1", (chat, leaf)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{plan, store};

    #[test]
    fn a_branch_and_its_versions_are_read_without_a_scan() {
        let (_folder, store) = store();
        for sql in [&shown_branch(rows::MESSAGE), &path(rows::MESSAGE)] {
            let plan = plan(&store, sql);
            assert!(plan.contains("SEARCH message USING INTEGER PRIMARY KEY"), "{plan}");
            assert!(!plan.contains("SCAN message"), "{plan}");
        }
        let versions = plan(&store, ALL_VERSIONS);
        assert_eq!(versions, "SEARCH message USING COVERING INDEX message_versions (chat=?)");
        for sql in [VERSIONS, &format!("{BELOW} SELECT max(below_id) FROM below")] {
            let plan = plan(&store, sql);
            let by_parent = "SEARCH message USING COVERING INDEX message_versions (chat=? AND parent=?)";
            assert!(plan.contains(by_parent) && !plan.contains("SCAN message"), "{plan}");
        }
    }
}
