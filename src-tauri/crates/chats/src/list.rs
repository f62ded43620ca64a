//! The list of chats: titles, pins and tags.

use foretoken_protocol::{Chat, ChatCursor, ChatId, ChatPage, ChatSummary, ProjectId, Tag, UnseenReply};
use rusqlite::{Connection, named_params};

use crate::error::Fault;
use crate::project_files::must_exist as must_be_project;
use crate::sql::{all, first, now};
use crate::title::{one_line, title_from};
use crate::tree::{self, must_exist};
use crate::{ChatsError, Store, rows};

impl Store {
    /// All chats, the one that was written in last first.
    pub fn chats(&self) -> Result<Vec<Chat>, ChatsError> {
        self.read(|db| Ok(all(db, &newest_first(), [], rows::chat)?))
    }

    /// Up to `limit` chats that come after `after`, or the first ones: pinned ones first, then the one that was written
    /// in last. Those of projects stand there. With a tag, only those that have it, of projects too.
    pub fn chat_page(
        &self,
        tag: Option<&str>,
        after: Option<ChatCursor>,
        limit: u32,
    ) -> Result<ChatPage, ChatsError> {
        self.read(|db| page(db, tag, after, limit))
    }

    /// One chat as it stands in the list.
    pub fn chat(&self, id: ChatId) -> Result<ChatSummary, ChatsError> {
        self.read(|db| summary(db, id))
    }

    /// Adds a chat without messages. Its title is an automatic one.
    pub fn create_chat(&mut self, title: &str) -> Result<Chat, ChatsError> {
        self.create_chat_in(None, title)
    }

    /// The same in a project, if one is given.
    pub fn create_chat_in(&mut self, project: Option<ProjectId>, title: &str) -> Result<Chat, ChatsError> {
        let sql = format!(
            "INSERT INTO chat (title, created_at, updated_at, project) VALUES (:title, :now, :now, :project)
             RETURNING {}",
            rows::CHAT
        );
        self.write(|db| {
            project.map_or(Ok(()), |project| must_be_project(db, project))?;
            let values = named_params! {":title": title, ":now": now(), ":project": project};
            Ok(db.query_row(&sql, values, rows::chat)?)
        })
    }

    /// Gives a chat the title that the person chose. An empty one leaves the choice to the app again, which takes the
    /// first message that is shown.
    pub fn rename_chat(&mut self, id: ChatId, title: &str) -> Result<ChatSummary, ChatsError> {
        self.write(|db| {
            must_exist(db, id)?;
            let chosen = one_line(title);
            let title = match chosen.as_str() {
                "" => first_text(db, id)?.map_or_else(String::new, |text| title_from(&text)),
                _ => chosen.clone(),
            };
            let named = !chosen.is_empty();
            db.execute("UPDATE chat SET title = ?2, named = ?3 WHERE id = ?1", (id, title, named))?;
            summary(db, id)
        })
    }

    /// Gives a chat a title that nobody chose, shortened as [`title_from`] does, unless a person has chosen one.
    /// Returns whether it has it.
    pub fn set_automatic_title(&mut self, id: ChatId, title: &str) -> Result<bool, ChatsError> {
        self.write(|db| {
            must_exist(db, id)?;
            let sql = "UPDATE chat SET title = ?2 WHERE id = ?1 AND named = 0";
            Ok(db.execute(sql, (id, title_from(title)))? == 1)
        })
    }

    /// Pins a chat before the others, or lets it go.
    pub fn set_pinned(&mut self, id: ChatId, pinned: bool) -> Result<(), ChatsError> {
        self.write(|db| {
            must_exist(db, id)?;
            db.execute("UPDATE chat SET pinned = ?2 WHERE id = ?1", (id, pinned))?;
            Ok(())
        })
    }

    /// Marks a chat as having an unseen reply, with how that ended; `None` removes the mark. Returns whether the mark
    /// was another one before.
    pub fn set_unseen(&mut self, id: ChatId, unseen: Option<UnseenReply>) -> Result<bool, ChatsError> {
        self.write(|db| {
            must_exist(db, id)?;
            let sql = "UPDATE chat SET unseen = ?2 WHERE id = ?1 AND unseen IS NOT ?2";
            Ok(db.execute(sql, (id, unseen.map(rows::unseen_name)))? == 1)
        })
    }

    /// Gives a chat these tags and no others. A tag that nobody has used yet is made by its use, and one that nobody
    /// uses any more is gone.
    pub fn set_tags(&mut self, id: ChatId, tags: &[String]) -> Result<ChatSummary, ChatsError> {
        self.write(|db| {
            must_exist(db, id)?;
            set_tags(db, id, tags)?;
            summary(db, id)
        })
    }

    /// All tags in the order of the alphabet.
    pub fn tags(&self) -> Result<Vec<Tag>, ChatsError> {
        let sql = "SELECT name, count(*) FROM chat_tag JOIN chat ON chat.id = chat_tag.chat
                   WHERE chat.deletion IS NULL GROUP BY name ORDER BY name";
        self.read(|db| Ok(all(db, sql, [], |row| Ok(Tag { name: row.get(0)?, chats: row.get(1)? }))?))
    }

    /// Gives a tag another name wherever it is used. If there is a tag of that name, the two become one.
    pub fn rename_tag(&mut self, from: &str, to: &str) -> Result<(), ChatsError> {
        let to = one_line(to);
        if to.is_empty() {
            return Ok(());
        }
        self.write(|db| {
            // The spelling that the other tag already has gives way too.
            db.execute("UPDATE chat_tag SET name = ?1 WHERE name = ?1", [&to])?;
            db.execute("UPDATE OR REPLACE chat_tag SET name = ?2 WHERE name = ?1", [from, &to])?;
            Ok(())
        })
    }

    /// Takes a tag from all chats.
    pub fn delete_tag(&mut self, name: &str) -> Result<(), ChatsError> {
        self.write(|db| {
            db.execute("DELETE FROM chat_tag WHERE name = ?1", [name])?;
            Ok(())
        })
    }
}

pub(crate) fn summary(db: &Connection, id: ChatId) -> Result<ChatSummary, Fault> {
    let sql = format!("SELECT {} FROM chat WHERE id = ?1 AND deletion IS NULL", rows::SUMMARY);
    Ok(first(db, &sql, [id], rows::summary)?.ok_or(ChatsError::UnknownChat { id })?)
}

/// Replaces the tags of a chat.
pub(crate) fn set_tags(db: &Connection, id: ChatId, tags: &[String]) -> rusqlite::Result<()> {
    db.execute("DELETE FROM chat_tag WHERE chat = ?1", [id])?;
    let mut add = db.prepare_cached("INSERT OR IGNORE INTO chat_tag (chat, name) VALUES (?1, ?2)")?;
    for tag in tags.iter().map(|tag| one_line(tag)).filter(|tag| !tag.is_empty()) {
        // One tag has one spelling.
        let known = "SELECT name FROM chat_tag WHERE name = ?1 LIMIT 1";
        let tag = first(db, known, [&tag], |row| row.get(0))?.unwrap_or(tag);
        add.execute((id, tag))?;
    }
    Ok(())
}

/// Selects all chats, newest first.
fn newest_first() -> String {
    format!("SELECT {} FROM chat WHERE deletion IS NULL ORDER BY updated_at DESC, id DESC", rows::CHAT)
}

fn page(
    db: &Connection,
    tag: Option<&str>,
    after: Option<ChatCursor>,
    limit: u32,
) -> Result<ChatPage, Fault> {
    // Before the first place: higher than any value of `pinned`.
    let (pinned, updated_at, id) =
        after.map_or((2, 0, 0), |cursor| (u8::from(cursor.pinned), cursor.updated_at, cursor.id));
    // One more tells whether there is more.
    let asked = u64::from(limit) + 1;
    let mut chats = match tag {
        None => all(db, &page_of_all(), (pinned, updated_at, id, asked), rows::summary)?,
        Some(tag) => all(db, &page_of_tag(), (pinned, updated_at, id, asked, tag), rows::summary)?,
    };
    let total = match tag {
        None => db.query_row(COUNT, [], |row| row.get(0))?,
        Some(tag) => db.query_row(COUNT_OF_TAG, [tag], |row| row.get(0))?,
    };
    let more = chats.len() as u64 == asked;
    chats.truncate(limit as usize);
    let next = chats.last().filter(|_| more).map(|last| ChatCursor {
        pinned: last.pinned,
        updated_at: last.updated_at,
        id: last.id,
    });
    Ok(ChatPage { chats, next, total })
}

const COUNT: &str = "SELECT count(*) FROM chat WHERE deletion IS NULL AND project IS NULL";

const COUNT_OF_TAG: &str = "SELECT count(*) FROM chat_tag CROSS JOIN chat ON chat.id = chat_tag.chat
    WHERE chat_tag.name = ?1 AND chat.deletion IS NULL";

/// Selects the `?4` chats that come after the place (`?1`, `?2`, `?3`).
fn page_of_all() -> String {
    format!("SELECT {} FROM chat WHERE deletion IS NULL AND project IS NULL AND {PLACE}", rows::SUMMARY)
}

/// Selects the `?4` chats with the tag `?5` that come after the place (`?1`, `?2`, `?3`).
fn page_of_tag() -> String {
    // The `+` keeps SQLite from walking the whole list for the few that have the tag.
    format!(
        "SELECT {} FROM chat WHERE id IN (SELECT chat FROM chat_tag WHERE name = ?5)
         AND +deletion IS NULL AND {PLACE}",
        rows::SUMMARY
    )
}

const PLACE: &str = "(pinned, updated_at, id) < (?1, ?2, ?3)
    ORDER BY pinned DESC, updated_at DESC, id DESC LIMIT ?4";

/// The text of the first message that is shown.
fn first_text(db: &Connection, id: ChatId) -> Result<Option<String>, Fault> {
    let branch = tree::branch(db, id)?;
    Ok(branch.into_iter().next().map(|first| first.message.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{plan, store};

    #[test]
    fn lists_are_read_from_an_index() {
        let (_folder, store) = store();
        assert_eq!(plan(&store, &newest_first()), "SCAN chat USING INDEX chat_by_update");
        let page = plan(&store, &page_of_all());
        assert!(page.starts_with("SEARCH chat USING INDEX chat_list ((pinned,updated_at)<(?,?));"), "{page}");
        assert!(!page.contains("SCAN") && !page.contains("TEMP B-TREE FOR ORDER BY"), "{page}");
        let tagged = plan(&store, &page_of_tag());
        assert!(tagged.contains("chat_tag_by_name (name=?)") && !tagged.contains("SCAN"), "{tagged}");
        assert_eq!(plan(&store, COUNT), "SCAN chat USING COVERING INDEX chat_list");
        let count = plan(&store, COUNT_OF_TAG);
        assert!(!count.contains("SCAN"), "{count}");
    }
}
