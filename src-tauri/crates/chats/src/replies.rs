//! Messages as they are added, and replies as they are written.

use foretoken_protocol::{
    ChatId, ErrorReport, FinishReason, GenerationSettings, Message, MessageId, MessagePicture, MessageStatus,
    Provenance, ReplyStats, Role,
};
use rusqlite::{Connection, OptionalExtension, named_params};

use crate::error::Fault;
use crate::pieces::{self, whole};
use crate::position::TreePosition;
use crate::sql::{self, now};
use crate::{ChatsError, Store, pictures, rows, steps, tree};

/// What a message is made of when it is added.
pub(crate) struct NewMessage<'a> {
    pub(crate) role: Role,
    pub(crate) text: &'a str,
    pub(crate) pictures: &'a [MessagePicture],
    pub(crate) thinking: &'a str,
    /// Whether it is a reply whose text a person has changed.
    pub(crate) edited: bool,
    pub(crate) status: MessageStatus,
    pub(crate) model: Option<&'a str>,
    pub(crate) settings: Option<&'a GenerationSettings>,
}

impl Store {
    /// Adds what the person wrote after `parent`, or as the beginning of a branch, and shows it.
    pub fn add_user_message(
        &mut self,
        chat: ChatId,
        parent: Option<MessageId>,
        text: &str,
    ) -> Result<Message, ChatsError> {
        self.add_user_message_with_pictures(chat, parent, text, &[])
    }

    /// Adds what the person wrote as [`Store::add_user_message`] does, with pictures that the store has.
    pub fn add_user_message_with_pictures(
        &mut self,
        chat: ChatId,
        parent: Option<MessageId>,
        text: &str,
        pictures: &[MessagePicture],
    ) -> Result<Message, ChatsError> {
        let message = NewMessage {
            role: Role::User,
            text,
            pictures,
            thinking: "",
            edited: false,
            status: MessageStatus::Finished { reason: FinishReason::Stop },
            model: None,
            settings: None,
        };
        self.write(|db| add(db, chat, parent, message))
    }

    /// Adds an empty reply to `parent` that `model` is about to write, and shows it. A further one for the same parent
    /// is a retry.
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
            pictures: &[],
            thinking: "",
            edited: false,
            status: MessageStatus::Streaming,
            model: Some(model),
            settings: Some(settings),
        };
        self.write(|db| add(db, chat, Some(parent), reply))
    }

    /// Replaces the model and the settings that a reply is stored with. [`Store::begin_reply`] was given the ones that
    /// were expected; these are the ones that the engine has begun it with.
    pub fn set_reply_model(
        &mut self,
        id: MessageId,
        model: &str,
        settings: &GenerationSettings,
    ) -> Result<(), ChatsError> {
        self.write(|db| {
            let sql = "UPDATE message SET model = ?2, settings = ?3 WHERE id = ?1 AND role = 'assistant'";
            match db.execute(sql, (id, model, sql::to_json(settings)?))? {
                1 => Ok(()),
                _ => Err(ChatsError::UnknownMessage { id }.into()),
            }
        })
    }

    /// Adds to the end of a reply that is being written. A reply that was deleted meanwhile goes on, so that undoing
    /// brings all of it back. Of a reply with steps it is the last one that grows.
    pub fn append_to_reply(
        &mut self,
        id: MessageId,
        text: &str,
        thinking: &str,
        provenance: &Provenance,
    ) -> Result<(), ChatsError> {
        self.write(|db| {
            let chat = match steps::more(db, id, text, thinking, provenance)? {
                Some((text, thinking, provenance)) => pieces::add(db, id, &text, &thinking, &provenance)?,
                None => pieces::add(db, id, text, thinking, provenance)?,
            };
            touch(db, chat, now())?;
            Ok(())
        })
    }

    /// Where the text of a message came from; nothing where that was never known. The stretches may end before the text
    /// does, where only the beginning is known.
    pub fn provenance(&self, id: MessageId) -> Result<Provenance, ChatsError> {
        self.read(|db| pieces::provenance(db, id))
    }

    /// Marks a reply that had ended as being written again; its text stands, its numbers and error go.
    pub fn continue_reply(&mut self, id: MessageId) -> Result<Message, ChatsError> {
        self.write(|db| {
            TreePosition::of(db, id)?;
            end_or_resume(db, id, MessageStatus::Streaming, None, None)
        })
    }

    /// Marks a reply as ended. Its text is what was there and what was added.
    pub fn finish_reply(
        &mut self,
        id: MessageId,
        status: MessageStatus,
        stats: Option<&ReplyStats>,
        error: Option<&ErrorReport>,
    ) -> Result<Message, ChatsError> {
        self.write(|db| end_or_resume(db, id, status, stats, error))
    }
}

/// Adds a message, shows it, and moves its chat to the top.
pub(crate) fn add(
    db: &Connection,
    chat: ChatId,
    parent: Option<MessageId>,
    message: NewMessage<'_>,
) -> Result<Message, Fault> {
    let now = now();
    if !touch(db, chat, now)? {
        return Err(ChatsError::UnknownChat { id: chat }.into());
    }
    if let Some(id) = parent
        && TreePosition::of(db, id)?.chat != chat
    {
        return Err(ChatsError::UnknownMessage { id }.into());
    }
    let sql = "INSERT INTO message (chat, parent, role, text, thinking, edited, status, model, settings, created_at)
         VALUES (:chat, :parent, :role, :text, :thinking, :edited, :status, :model, :settings, :now) RETURNING id";
    let values = named_params! {
        ":chat": chat,
        ":parent": parent,
        ":role": rows::role_name(message.role),
        ":text": message.text,
        ":thinking": message.thinking,
        ":edited": message.edited,
        ":status": rows::status_name(message.status),
        ":model": message.model,
        ":settings": message.settings.map(sql::to_json).transpose()?,
        ":now": now,
    };
    let added = db.query_row(sql, values, |row| row.get(0))?;
    pictures::give(db, added, message.pictures)?;
    // Nothing can follow it yet.
    tree::set_active_leaf(db, chat, Some(added))?;
    tree::message(db, added)
}

fn end_or_resume(
    db: &Connection,
    id: MessageId,
    status: MessageStatus,
    stats: Option<&ReplyStats>,
    error: Option<&ErrorReport>,
) -> Result<Message, Fault> {
    let chat = set_status(db, id, status, stats, error)?;
    touch(db, chat, now())?;
    tree::message(db, id)
}

/// Changes what a reply is at, joins its pieces into its row, and returns its chat. A step that is being written ends
/// with it. What a person wrote is out of its reach.
pub(crate) fn set_status(
    db: &Connection,
    id: MessageId,
    status: MessageStatus,
    stats: Option<&ReplyStats>,
    error: Option<&ErrorReport>,
) -> Result<ChatId, Fault> {
    let known = pieces::provenance(db, id)?;
    if status != MessageStatus::Streaming {
        steps::settle(db, id, status, None, None)?;
    }
    let sql = concat!(
        "UPDATE message SET status = :status, stats = :stats, error = :error,
         provenance = ifnull(:provenance, provenance), text = ",
        whole!("text"),
        ", thinking = ",
        whole!("thinking"),
        " WHERE id = :id AND role = 'assistant' RETURNING chat"
    );
    let values = named_params! {
        ":id": id,
        ":status": rows::status_name(status),
        ":stats": stats.map(sql::to_json).transpose()?,
        ":error": error.map(sql::to_json).transpose()?,
        ":provenance": (known != Provenance::default()).then(|| sql::to_json(&known)).transpose()?,
    };
    let chat = db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    pieces::clear(db, id)?;
    Ok(chat.ok_or(ChatsError::UnknownMessage { id })?)
}

/// Moves a chat to the top of the list; `false` if there is no such chat.
fn touch(db: &Connection, chat: ChatId, now: u64) -> rusqlite::Result<bool> {
    let changed = db.execute(
        "UPDATE chat SET updated_at = :now WHERE id = :chat AND deletion IS NULL",
        named_params! {":now": now, ":chat": chat},
    )?;
    Ok(changed == 1)
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::DraftRun;

    use super::*;
    use crate::testing::{settings, store};

    fn finished_reply(store: &mut Store) -> Message {
        let chat = store.create_chat("a chat").unwrap().id;
        let question = store.add_user_message(chat, None, "why?").unwrap();
        let reply = store.begin_reply(chat, question.id, "demo", &settings()).unwrap();
        store.append_to_reply(reply.id, "because", "", &Provenance::default()).unwrap();
        let status = MessageStatus::Finished { reason: FinishReason::Stop };
        let stats = ReplyStats { emitted: 7, ..Default::default() };
        store.finish_reply(reply.id, status, Some(&stats), None).unwrap()
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
    fn another_model_than_was_expected_may_write_a_reply() {
        let (_folder, mut store) = store();
        let reply = finished_reply(&mut store);
        let other = GenerationSettings { max_tokens: 3, ..settings() };
        store.set_reply_model(reply.id, "another", &other).unwrap();
        let known = Message { model: Some("another".into()), ..reply };
        assert_eq!(store.message(known.id).unwrap(), known);
        let json: String = store
            .db
            .query_row("SELECT settings FROM message WHERE id = ?1", [known.id], |row| row.get(0))
            .unwrap();
        assert_eq!(serde_json::from_str::<GenerationSettings>(&json).unwrap(), other);
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
    fn where_a_text_came_from_goes_with_it_into_another_chat() {
        let (_folder, mut store) = store();
        let reply = finished_reply(&mut store);
        assert_eq!(store.provenance(reply.id).unwrap().answer, [DraftRun(7, 0)]);
        let kept = Provenance { thinking: Vec::new(), answer: vec![DraftRun(7, 0), DraftRun(4, 2)] };
        store.continue_reply(reply.id).unwrap();
        let drafted = Provenance { thinking: Vec::new(), answer: vec![DraftRun(4, 2)] };
        store.append_to_reply(reply.id, " why", "", &drafted).unwrap();
        store.finish_reply(reply.id, reply.status, None, None).unwrap();
        assert_eq!(store.provenance(reply.id).unwrap(), kept);
        store.continue_reply(reply.id).unwrap();
        assert_eq!(store.provenance(reply.id).unwrap(), kept, "the text stands, and what is known of it");
        let branched = store.branch_into_new_chat(reply.id).unwrap().id;
        let copy = store.messages(branched).unwrap().pop().unwrap();
        assert_eq!(store.provenance(copy.id).unwrap(), kept);
        let error = store.provenance(99).unwrap_err();
        assert!(matches!(error, ChatsError::UnknownMessage { id: 99 }), "{error}");
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
        let reply = store.continue_reply(reply.id).unwrap();
        let pages: i64 = store.db.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        // The limit makes SQLite answer as it does when the disk refuses a page.
        store.db.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
        let none = Provenance::default();
        let error = store.append_to_reply(reply.id, &"long ".repeat(10_000), "", &none).unwrap_err();
        assert_eq!(ErrorReport::from(&error).code, "chats_full");
        assert_eq!(store.message(reply.id).unwrap(), reply);
        store.append_to_reply(reply.id, " short", "", &none).unwrap();
        assert_eq!(store.message(reply.id).unwrap().text, "because short");
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
