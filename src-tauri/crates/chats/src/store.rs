use std::path::{Path, PathBuf};
use std::time::SystemTime;

use foretoken_protocol::{
    Chat, ChatId, ErrorReport, FinishReason, GenerationSettings, Message, MessageId, MessageStatus,
    ReplyStats, Role,
};
use rusqlite::{
    Connection, OptionalExtension, Params, Row, ToSql, Transaction, TransactionBehavior, named_params,
};

use crate::{ChatsError, rows, schema};

/// All chats, in one file. Every call that writes is one transaction, committed when it returns.
#[derive(Debug)]
pub struct Store {
    db: Connection,
    path: PathBuf,
}

/// What a message is made of when it is added.
struct NewMessage<'a> {
    role: Role,
    text: &'a str,
    status: MessageStatus,
    model: Option<&'a str>,
    settings: Option<&'a GenerationSettings>,
}

/// Makes a value of a row.
type ReadRow<T> = fn(&Row<'_>) -> rusqlite::Result<T>;

impl Store {
    /// Opens the chats at `path`, made with its folder if it is not there.
    ///
    /// Replies that were still being written when the last process ended become [`MessageStatus::Interrupted`].
    /// A damaged file or one from a newer version is refused and left as it is.
    pub fn open(path: &Path) -> Result<Self, ChatsError> {
        let db = schema::open(path)?;
        db.execute("UPDATE message SET status = 'interrupted' WHERE status = 'streaming'", [])
            .map_err(|error| ChatsError::sqlite(path, error))?;
        Ok(Self { db, path: path.to_owned() })
    }

    /// All chats, the one that was written in last first.
    pub fn chats(&self) -> Result<Vec<Chat>, ChatsError> {
        self.all(&newest_first(), [], rows::chat)
    }

    /// Adds a chat without messages.
    pub fn create_chat(&mut self, title: &str) -> Result<Chat, ChatsError> {
        let sql = format!(
            "INSERT INTO chat (title, created_at, updated_at) VALUES (:title, :now, :now) RETURNING {}",
            rows::CHAT
        );
        let path = &self.path;
        let sqlite = |error| ChatsError::sqlite(path, error);
        let transaction = begin(&mut self.db).map_err(sqlite)?;
        let values = named_params! {":title": title, ":now": now()};
        let created = transaction.query_row(&sql, values, rows::chat).map_err(sqlite)?;
        transaction.commit().map_err(sqlite)?;
        Ok(created)
    }

    /// The branch of `chat` that ends in its newest message, oldest first.
    pub fn messages(&self, chat: ChatId) -> Result<Vec<Message>, ChatsError> {
        let messages = self.all(&newest_branch(), [chat], rows::message)?;
        if messages.is_empty() && !self.has_chat(chat)? {
            return Err(ChatsError::UnknownChat { id: chat });
        }
        Ok(messages)
    }

    /// One message.
    pub fn message(&self, id: MessageId) -> Result<Message, ChatsError> {
        let sql = format!("SELECT {} FROM message WHERE id = ?1", rows::MESSAGE);
        self.first(&sql, [id], rows::message)?.ok_or(ChatsError::UnknownMessage { id })
    }

    /// The chat that a message belongs to.
    pub fn chat_of(&self, message: MessageId) -> Result<ChatId, ChatsError> {
        self.first("SELECT chat FROM message WHERE id = ?1", [message], |row| row.get(0))?
            .ok_or(ChatsError::UnknownMessage { id: message })
    }

    /// Adds what the person wrote after `parent`, or as the beginning of a branch.
    pub fn add_user_message(
        &mut self,
        chat: ChatId,
        parent: Option<MessageId>,
        text: &str,
    ) -> Result<Message, ChatsError> {
        let status = MessageStatus::Finished { reason: FinishReason::Stop };
        self.add(chat, parent, NewMessage { role: Role::User, text, status, model: None, settings: None })
    }

    /// Adds an empty reply to `parent` that `model` is about to write. A further one for the same parent is a retry.
    pub fn begin_reply(
        &mut self,
        chat: ChatId,
        parent: MessageId,
        model: &str,
        settings: &GenerationSettings,
    ) -> Result<Message, ChatsError> {
        let reply = NewMessage {
            role: Role::Assistant,
            text: "",
            status: MessageStatus::Streaming,
            model: Some(model),
            settings: Some(settings),
        };
        self.add(chat, Some(parent), reply)
    }

    /// Replaces what a reply says so far.
    pub fn update_reply(&mut self, id: MessageId, text: &str, thinking: &str) -> Result<(), ChatsError> {
        self.change_reply(
            id,
            "text = :text, thinking = :thinking",
            &[(":text", &text), (":thinking", &thinking)],
        )
    }

    /// Marks a reply that had ended as being written again; its text stands, its numbers and error go.
    pub fn resume_reply(&mut self, id: MessageId) -> Result<Message, ChatsError> {
        self.set_status(id, MessageStatus::Streaming, None, None)
    }

    /// Marks a reply as ended. Its text is what the last [`Store::update_reply`] left.
    pub fn finish_reply(
        &mut self,
        id: MessageId,
        status: MessageStatus,
        stats: Option<&ReplyStats>,
        error: Option<&ErrorReport>,
    ) -> Result<Message, ChatsError> {
        self.set_status(id, status, stats, error)
    }

    fn set_status(
        &mut self,
        id: MessageId,
        status: MessageStatus,
        stats: Option<&ReplyStats>,
        error: Option<&ErrorReport>,
    ) -> Result<Message, ChatsError> {
        let stats = stats.map(rows::to_json).transpose().map_err(|error| self.error(error))?;
        let report = error.map(rows::to_json).transpose().map_err(|error| self.error(error))?;
        self.change_reply(
            id,
            "status = :status, stats = :stats, error = :error",
            &[(":status", &rows::status_name(status)), (":stats", &stats), (":error", &report)],
        )?;
        self.message(id)
    }

    fn add(
        &mut self,
        chat: ChatId,
        parent: Option<MessageId>,
        message: NewMessage<'_>,
    ) -> Result<Message, ChatsError> {
        let path = &self.path;
        let sqlite = |error| ChatsError::sqlite(path, error);
        let now = now();
        let settings = message.settings.map(rows::to_json).transpose().map_err(sqlite)?;
        let transaction = begin(&mut self.db).map_err(sqlite)?;
        if !touch(&transaction, chat, now).map_err(sqlite)? {
            return Err(ChatsError::UnknownChat { id: chat });
        }
        if let Some(id) = parent
            && !is_in(&transaction, id, chat).map_err(sqlite)?
        {
            return Err(ChatsError::UnknownMessage { id });
        }
        let sql = format!(
            "INSERT INTO message (chat, parent, role, text, thinking, status, model, settings, created_at)
             VALUES (:chat, :parent, :role, :text, '', :status, :model, :settings, :now) RETURNING {}",
            rows::MESSAGE
        );
        let values = named_params! {
            ":chat": chat,
            ":parent": parent,
            ":role": rows::role_name(message.role),
            ":text": message.text,
            ":status": rows::status_name(message.status),
            ":model": message.model,
            ":settings": settings,
            ":now": now,
        };
        let added = transaction.query_row(&sql, values, rows::message).map_err(sqlite)?;
        transaction.commit().map_err(sqlite)?;
        Ok(added)
    }

    /// Sets columns of a reply and moves its chat to the top. What a person wrote is out of its reach.
    fn change_reply(
        &mut self,
        id: MessageId,
        set: &str,
        values: &[(&str, &dyn ToSql)],
    ) -> Result<(), ChatsError> {
        let path = &self.path;
        let sqlite = |error| ChatsError::sqlite(path, error);
        let sql = format!("UPDATE message SET {set} WHERE id = :id AND role = 'assistant' RETURNING chat");
        let values = [values, &[(":id", &id)]].concat();
        let transaction = begin(&mut self.db).map_err(sqlite)?;
        let chat: Option<ChatId> =
            transaction.query_row(&sql, values.as_slice(), |row| row.get(0)).optional().map_err(sqlite)?;
        touch(&transaction, chat.ok_or(ChatsError::UnknownMessage { id })?, now()).map_err(sqlite)?;
        transaction.commit().map_err(sqlite)
    }

    fn has_chat(&self, chat: ChatId) -> Result<bool, ChatsError> {
        Ok(self.first("SELECT id FROM chat WHERE id = ?1", [chat], |_| Ok(()))?.is_some())
    }

    fn all<T>(&self, sql: &str, values: impl Params, read: ReadRow<T>) -> Result<Vec<T>, ChatsError> {
        let found = || self.db.prepare_cached(sql)?.query_map(values, read)?.collect::<rusqlite::Result<_>>();
        found().map_err(|error| self.error(error))
    }

    fn first<T>(&self, sql: &str, values: impl Params, read: ReadRow<T>) -> Result<Option<T>, ChatsError> {
        self.db.query_row(sql, values, read).optional().map_err(|error| self.error(error))
    }

    fn error(&self, error: rusqlite::Error) -> ChatsError {
        ChatsError::sqlite(&self.path, error)
    }
}

/// Selects all chats in the order of the list.
fn newest_first() -> String {
    format!("SELECT {} FROM chat ORDER BY updated_at DESC, id DESC", rows::CHAT)
}

/// Selects the newest message of a chat and what leads to it.
fn newest_branch() -> String {
    // A message is newer than its parent, so the newest is a leaf and ids ascend along a branch.
    format!(
        "WITH RECURSIVE branch (branch_id, branch_parent) AS (
             SELECT max(id), parent FROM message WHERE chat = ?1
             UNION ALL
             SELECT id, parent FROM message JOIN branch ON id = branch_parent
         )
         SELECT {} FROM branch JOIN message ON id = branch_id ORDER BY id",
        rows::MESSAGE
    )
}

/// Takes the right to write at once, so that no later statement of the transaction finds it taken. The commit is
/// always asked for: what a `RETURNING` statement commits by itself, it does after its answer, when an error is lost.
fn begin(db: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    db.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Moves a chat to the top of the list; `false` if there is no such chat.
fn touch(db: &Connection, chat: ChatId, now: u64) -> rusqlite::Result<bool> {
    let changed = db.execute(
        "UPDATE chat SET updated_at = :now WHERE id = :chat",
        named_params! {":now": now, ":chat": chat},
    )?;
    Ok(changed == 1)
}

/// Whether a message belongs to a chat.
fn is_in(db: &Connection, message: MessageId, chat: ChatId) -> rusqlite::Result<bool> {
    db.query_row("SELECT chat = ?2 FROM message WHERE id = ?1", [message, chat], |row| row.get(0))
        .optional()
        .map(|found| found.unwrap_or(false))
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn store() -> (TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("chats.db")).unwrap();
        (folder, store)
    }

    fn settings() -> GenerationSettings {
        GenerationSettings {
            sampling: Default::default(),
            drafting: Default::default(),
            max_tokens: 64,
            thinking: false,
            stop: vec![],
        }
    }

    fn finished_reply(store: &mut Store) -> Message {
        let chat = store.create_chat("a chat").unwrap().id;
        let question = store.add_user_message(chat, None, "why?").unwrap();
        let reply = store.begin_reply(chat, question.id, "demo", &settings()).unwrap();
        store.update_reply(reply.id, "because", "").unwrap();
        let status = MessageStatus::Finished { reason: FinishReason::Stop };
        let stats = ReplyStats { emitted: 7, ..Default::default() };
        store.finish_reply(reply.id, status, Some(&stats), None).unwrap()
    }

    fn plan(store: &Store, sql: &str) -> String {
        let mut statement = store.db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let values = vec![1; statement.parameter_count()];
        let steps = statement
            .query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>("detail"))
            .unwrap();
        steps.collect::<rusqlite::Result<Vec<_>>>().unwrap().join("; ")
    }

    #[test]
    fn the_list_is_read_from_an_index_and_a_branch_without_a_scan() {
        let (_folder, store) = store();
        let list = plan(&store, &newest_first());
        assert_eq!(list, "SCAN chat USING INDEX chat_by_update");
        let branch = plan(&store, &newest_branch());
        assert!(branch.contains("SEARCH message"), "{branch}");
        assert!(!branch.contains("SCAN message"), "{branch}");
    }

    #[test]
    fn the_settings_of_a_reply_are_kept() {
        let (_folder, mut store) = store();
        let reply = finished_reply(&mut store);
        let json: String = store
            .db
            .query_row("SELECT settings FROM message WHERE id = ?1", [reply.id], |row| row.get(0))
            .unwrap();
        assert_eq!(serde_json::from_str::<GenerationSettings>(&json).unwrap(), settings());
    }

    #[test]
    fn fields_of_a_later_version_do_not_break_reading() {
        let (_folder, mut store) = store();
        let reply = finished_reply(&mut store);
        store.db.execute("UPDATE message SET stats = json_set(stats, '$.later', json('{}'))", []).unwrap();
        assert_eq!(store.message(reply.id).unwrap(), reply);
    }

    #[test]
    fn numbers_that_cannot_be_read_leave_the_text() {
        let (_folder, mut store) = store();
        let reply = finished_reply(&mut store);
        store.db.execute("UPDATE message SET stats = '[', error = '{}'", []).unwrap();
        assert_eq!(store.message(reply.id).unwrap(), Message { stats: None, ..reply });
    }

    #[test]
    fn a_value_that_no_version_writes_is_damage() {
        let (_folder, mut store) = store();
        let reply = finished_reply(&mut store);
        store.db.execute("UPDATE message SET status = 'odd'", []).unwrap();
        let error = store.message(reply.id).unwrap_err();
        assert!(matches!(error, ChatsError::Corrupt { .. }), "{error}");
        assert!(error.to_string().contains("odd"), "{error}");
    }

    #[test]
    fn a_full_disk_is_named_and_leaves_what_was_there() {
        let (_folder, mut store) = store();
        let reply = finished_reply(&mut store);
        let pages: i64 = store.db.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        // The limit makes SQLite answer as it does when the disk refuses a page.
        store.db.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
        let error = store.update_reply(reply.id, &"long ".repeat(10_000), "").unwrap_err();
        assert_eq!(ErrorReport::from(&error).code, "chats_full");
        assert_eq!(store.message(reply.id).unwrap(), reply);
        store.update_reply(reply.id, "short", "").unwrap();
        assert_eq!(store.message(reply.id).unwrap().text, "short");
    }

    #[test]
    fn a_message_cannot_follow_itself_or_one_of_another_chat() {
        let (_folder, mut store) = store();
        let first = finished_reply(&mut store);
        let second = finished_reply(&mut store);
        for parent in [first.id, second.id] {
            let moved = store.db.execute("UPDATE message SET parent = ?1 WHERE id = ?2", [parent, second.id]);
            assert!(moved.is_err(), "parent {parent}");
        }
    }
}
