//! Deleting, which hides, undoing it, which brings back exactly what was hidden, and purging, which is final.

use std::ops::RangeInclusive;

use foretoken_protocol::{ChatId, Deletion, DeletionId, MessageId};
use rusqlite::{Connection, Row, named_params};

use crate::error::Fault;
use crate::position::TreePosition;
use crate::sql::{all, first, now};
use crate::store::{MESSAGE_BYTES, PIECE_BYTES};
use crate::{ChatsError, Store, steps, title_from, tree};

impl Store {
    /// Deletes a message and all that follows it. Where it was shown, a version beside it is shown, or what it
    /// followed.
    pub fn delete_message(&mut self, id: MessageId) -> Result<DeletionId, ChatsError> {
        self.write(|db| {
            let TreePosition { chat, parent } = TreePosition::of(db, id)?;
            let deletion = record(db, chat, Some(id))?;
            let hide = format!(
                "{} UPDATE message SET deletion = ?3 WHERE id IN (SELECT below_id FROM below)",
                tree::BELOW
            );
            db.execute(&hide, (chat, id, deletion))?;
            if active_deletion(db, chat)? == Some(deletion) {
                let beside = first(db, NEAREST_VERSION, (chat, parent, id), |row| row.get(0))?;
                let leaf = match beside {
                    Some(beside) => tree::newest_leaf(db, chat, Some(beside))?,
                    None => parent,
                };
                tree::set_active_leaf(db, chat, leaf)?;
            }
            Ok(deletion)
        })
    }

    /// Deletes a chat with everything in it.
    pub fn delete_chat(&mut self, chat: ChatId) -> Result<DeletionId, ChatsError> {
        self.write(|db| {
            tree::must_exist(db, chat)?;
            let deletion = record(db, chat, None)?;
            db.execute("UPDATE chat SET deletion = ?2 WHERE id = ?1", (chat, deletion))?;
            Ok(deletion)
        })
    }

    /// Brings back what one call deleted, and shows it where it was shown. Returns its chat.
    ///
    /// What stands below something that was deleted later comes back together with that.
    pub fn undo_deletion(&mut self, id: DeletionId) -> Result<ChatId, ChatsError> {
        if id <= self.last_final {
            return Err(ChatsError::UnknownDeletion { id });
        }
        self.write(|db| {
            let sql = "SELECT chat, message, active_leaf FROM deletion WHERE id = ?1";
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let found: Option<(ChatId, Option<MessageId>, Option<MessageId>)> = first(db, sql, [id], read)?;
            let (chat, message, shown_before) = found.ok_or(ChatsError::UnknownDeletion { id })?;
            match message {
                None => drop(db.execute("UPDATE chat SET deletion = NULL WHERE deletion = ?1", [id])?),
                Some(message) => bring_back(db, id, chat, message, shown_before)?,
            }
            db.execute("DELETE FROM deletion WHERE id = ?1", [id])?;
            Ok(chat)
        })
    }

    /// What can be brought back, the last one first. What stands in or below something that was deleted too is brought
    /// back after that, and listed then.
    pub fn deletions(&self) -> Result<Vec<Deletion>, ChatsError> {
        let after = self.last_final;
        self.read(|db| Ok(all(db, DELETIONS, [after], deletion)?))
    }

    /// Makes all deletions final: none of them can be undone, and [`Store::purge_deleted`] removes what they hide.
    pub fn forget_deletions(&mut self) -> Result<(), ChatsError> {
        self.last_final = self
            .read(|db| Ok(db.query_row("SELECT ifnull(max(id), 0) FROM deletion", [], |row| row.get(0))?))?;
        // The clock may have been set back since something was deleted.
        let last = "SELECT max(ifnull((SELECT max(deleted_at) FROM project), 0),
                               ifnull((SELECT max(removed_at) FROM project_file WHERE removed_at IS NOT NULL), 0))";
        let last: u64 = self.read(|db| Ok(db.query_row(last, [], |row| row.get(0))?))?;
        self.final_at = last.max(now());
        self.deleted_presets.clear();
        Ok(())
    }

    /// Removes some of what final deletions hide, little enough for others to wait. Returns whether there is more. When
    /// there is not, pictures are removed too that were given more than a day ago and that nothing has.
    pub fn purge_deleted(&mut self) -> Result<bool, ChatsError> {
        let through = self.last_final;
        let more = self.write(|db| purge(db, 1..=through))?;
        if !more {
            self.purge_projects()?;
            self.sweep_pictures()?;
        }
        Ok(more)
    }
}

/// Removes some of what these deletions hide, for good. Returns whether there is more.
pub(crate) fn purge(db: &Connection, deletions: RangeInclusive<DeletionId>) -> Result<bool, Fault> {
    let range = (deletions.start(), deletions.end());
    let mut room = PIECE_BYTES;
    let chat = "SELECT id FROM chat WHERE deletion BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1";
    while let Some(chat) = first(db, chat, range, |row| row.get::<_, ChatId>(0))? {
        let messages = "SELECT id FROM message WHERE chat = ?1 ORDER BY id DESC LIMIT 1000";
        if !remove(db, &all(db, messages, [chat], |row| row.get(0))?, &mut room)? {
            return Ok(true);
        }
        let left = "SELECT 1 FROM message WHERE chat = ?1 LIMIT 1";
        if first(db, left, [chat], |_| Ok(()))?.is_none() {
            db.execute("DELETE FROM chat WHERE id = ?1", [chat])?;
        }
    }
    let messages = "SELECT id FROM message WHERE deletion BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1000";
    loop {
        let some: Vec<MessageId> = all(db, messages, range, |row| row.get(0))?;
        if some.is_empty() {
            break;
        }
        if !remove(db, &some, &mut room)? {
            return Ok(true);
        }
    }
    db.execute("DELETE FROM deletion WHERE id BETWEEN ?1 AND ?2", range)?;
    Ok(false)
}

/// Removes messages while there is room for what they hold. Returns whether all are gone.
fn remove(db: &Connection, ids: &[MessageId], room: &mut usize) -> Result<bool, Fault> {
    // From the leaves up and one by one: SQLite limits how deep one removal may cause the next.
    let sql = "DELETE FROM message WHERE id = ?1 RETURNING octet_length(text) + octet_length(thinking)";
    for id in ids {
        if *room == 0 {
            return Ok(false);
        }
        let of_steps = steps::bytes(db, *id)?;
        let bytes: usize = first(db, sql, [id], |row| row.get(0))?.unwrap_or_default();
        *room = room.saturating_sub(bytes + of_steps + MESSAGE_BYTES);
    }
    Ok(true)
}

/// Selects the deletions after `?1` that can be undone now, the last one first; what was deleted with a project comes
/// back with that. Of a deleted message only the first
/// 1000 characters are read, from which its excerpt is made.
const DELETIONS: &str =
    "SELECT deletion.id, deletion.chat, chat.title, deletion.message, substr(message.text, 1, 1000) AS text
     FROM deletion JOIN chat ON chat.id = deletion.chat
     LEFT JOIN message ON message.id = deletion.message
     LEFT JOIN message AS above ON above.id = message.parent
     WHERE deletion.id > ?1 AND NOT EXISTS (SELECT 1 FROM project WHERE project.deletion = deletion.id)
     AND (deletion.message IS NULL OR (chat.deletion IS NULL AND above.deletion IS NULL))
     ORDER BY deletion.id DESC";

fn deletion(row: &Row<'_>) -> rusqlite::Result<Deletion> {
    let text: Option<String> = row.get("text")?;
    Ok(Deletion {
        id: row.get("id")?,
        chat: row.get("chat")?,
        title: row.get("title")?,
        message: row.get("message")?,
        excerpt: text.map(|text| title_from(&text)).unwrap_or_default(),
    })
}

/// The version of `?3` before it, or else the one after it.
const NEAREST_VERSION: &str = "SELECT id FROM message WHERE chat = ?1 AND parent IS ?2 AND deletion IS NULL
    ORDER BY id > ?3, abs(id - ?3) LIMIT 1";

pub(crate) fn record(
    db: &Connection,
    chat: ChatId,
    message: Option<MessageId>,
) -> rusqlite::Result<DeletionId> {
    let sql = "INSERT INTO deletion (chat, message, active_leaf, deleted_at)
               SELECT id, :message, active_leaf, :now FROM chat WHERE id = :chat RETURNING id";
    let values = named_params! {":chat": chat, ":message": message, ":now": now()};
    db.query_row(sql, values, |row| row.get(0))
}

/// The deletion that hides the leaf which is shown.
fn active_deletion(db: &Connection, chat: ChatId) -> rusqlite::Result<Option<DeletionId>> {
    let sql =
        "SELECT message.deletion FROM chat JOIN message ON message.id = chat.active_leaf WHERE chat.id = ?1";
    Ok(first(db, sql, [chat], |row| row.get(0))?.flatten())
}

/// Brings back the messages that `deletion` hides, whose topmost is `top`.
fn bring_back(
    db: &Connection,
    deletion: DeletionId,
    chat: ChatId,
    top: MessageId,
    shown_before: Option<MessageId>,
) -> Result<(), Fault> {
    let above = "SELECT above.deletion FROM message JOIN message AS above ON above.id = message.parent
                 WHERE message.id = ?1";
    let hidden_by: Option<DeletionId> = first(db, above, [top], |row| row.get(0))?.flatten();
    let was_shown = "SELECT 1 FROM message WHERE id = ?1 AND deletion = ?2";
    let was_shown = first(db, was_shown, (shown_before, deletion), |_| Ok(()))?.is_some();
    db.execute("UPDATE message SET deletion = ?2 WHERE deletion = ?1", (deletion, hidden_by))?;
    if hidden_by.is_some() {
        return Ok(());
    }
    let shown = "SELECT active_leaf FROM chat WHERE id = ?1";
    let shown_now: Option<MessageId> = first(db, shown, [chat], |row| row.get(0))?.flatten();
    // What is shown may have been followed by what came back.
    let from = if was_shown { shown_before } else { shown_now };
    let leaf = tree::newest_leaf(db, chat, from)?;
    Ok(tree::set_active_leaf(db, chat, leaf)?)
}
