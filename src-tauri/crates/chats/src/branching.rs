//! How a chat's tree branches: a message is written anew, or what leads to one becomes a chat of its own.

use foretoken_protocol::{
    ChatId, ChatSummary, FinishReason, Message, MessageId, MessagePicture, MessageStatus, Provenance, Role,
};
use rusqlite::{Connection, named_params};

use crate::error::Fault;
use crate::pieces::{self, whole};
use crate::replies::{self, NewMessage};
use crate::sql::{all, now, to_json};
use crate::tree::{TreePosition, message, path, set_active_leaf};
use crate::{ChatsError, Store, edits, list, pictures};

impl Store {
    /// Writes `text` in place of that of a message: it becomes a further version, which is shown, and nothing follows
    /// it yet.
    ///
    /// The message itself stays. The version has its pictures. That of a reply is marked as edited; it keeps the model
    /// and the thinking, but neither numbers nor drafts nor settings, which are of a text that it no longer has.
    pub fn edit_message(&mut self, id: MessageId, text: &str) -> Result<Message, ChatsError> {
        self.edit(id, text, None)
    }

    /// Edits a message as [`Store::edit_message`] does. The version has these pictures, which the store has, and no
    /// others.
    pub fn edit_message_with_pictures(
        &mut self,
        id: MessageId,
        text: &str,
        pictures: &[MessagePicture],
    ) -> Result<Message, ChatsError> {
        self.edit(id, text, Some(pictures))
    }

    fn edit(
        &mut self,
        id: MessageId,
        text: &str,
        pictures: Option<&[MessagePicture]>,
    ) -> Result<Message, ChatsError> {
        self.write(|db| {
            let TreePosition { chat, parent } = TreePosition::of(db, id)?;
            let edited = message(db, id)?;
            let status = MessageStatus::Finished { reason: FinishReason::Stop };
            let new = NewMessage {
                role: edited.role,
                text,
                pictures: pictures.unwrap_or(&edited.pictures),
                // Nobody has changed it, and a reply that is continued goes on behind it as LM Studio's does.
                thinking: &edited.thinking,
                edited: edited.role == Role::Assistant,
                status,
                model: edited.model.as_deref(),
                settings: None,
            };
            edits::remove(db, id)?;
            replies::add(db, chat, parent, new)
        })
    }

    /// Copies the messages that lead to one, itself included, into a chat of their own with the same settings and tags,
    /// in the same project.
    pub fn branch_into_new_chat(&mut self, last: MessageId) -> Result<ChatSummary, ChatsError> {
        self.write(|db| {
            let TreePosition { chat, .. } = TreePosition::of(db, last)?;
            let copy =
                "INSERT INTO chat (title, named, created_at, updated_at, system_prompt, without_standing,
                                          without_project, generation, preset, project, origin_chat, origin_message)
                        SELECT title, named, :now, :now, system_prompt, without_standing, without_project, generation,
                               preset, project, id, :last
                        FROM chat WHERE id = :chat RETURNING id";
            let values = named_params! {":now": now(), ":last": last, ":chat": chat};
            let new: ChatId = db.query_row(copy, values, |row| row.get(0))?;
            db.execute("INSERT INTO chat_tag SELECT ?1, name FROM chat_tag WHERE chat = ?2", (new, chat))?;
            let mut parent = None;
            for id in all(db, &path("id"), [last], |row| row.get::<_, MessageId>(0))? {
                parent = Some(copy_message(db, id, new, parent)?);
            }
            set_active_leaf(db, new, parent)?;
            list::summary(db, new)
        })
    }
}

/// Copies a message after `parent`. What is still being written there is not written on here.
fn copy_message(
    db: &Connection,
    id: MessageId,
    chat: ChatId,
    parent: Option<MessageId>,
) -> Result<MessageId, Fault> {
    let known = pieces::provenance(db, id)?;
    let known = (known != Provenance::default()).then(|| to_json(&known)).transpose()?;
    let copy = concat!(
        "INSERT INTO message
             (chat, parent, role, text, thinking, edited, status, stats, error, model, settings, created_at, provenance)
         SELECT ?2, ?3, role, ",
        whole!("text"),
        ", ",
        whole!("thinking"),
        ", edited, iif(status = 'streaming', 'interrupted', status), stats, error, model, settings, created_at, ?4
         FROM message WHERE id = ?1 RETURNING id"
    );
    let copied = db.prepare_cached(copy)?.query_row((id, chat, parent, known), |row| row.get(0))?;
    pictures::copy(db, id, copied)?;
    Ok(copied)
}
