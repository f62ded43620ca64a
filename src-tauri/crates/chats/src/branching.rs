//! How a chat's tree branches: a message is written anew, or what leads to one becomes a chat of its own.

use foretoken_protocol::{
    ChatId, ChatSummary, FinishReason, Message, MessageId, MessagePicture, MessageStatus, Provenance, Role,
};
use rusqlite::{Connection, named_params};

use crate::error::Fault;
use crate::pieces::{self, whole};
use crate::position::TreePosition;
use crate::replies::{self, NewMessage};
use crate::sql::{all, now, to_json};
use crate::tree::{message, path, set_active_leaf};
use crate::{ChatsError, Store, edits, list, pictures, steps};

impl Store {
    /// Writes `text` in place of that of a message: it becomes a further version, which is shown, and nothing follows
    /// it yet. Behind a summary the chat goes on as it does: what is shown there is copied.
    ///
    /// The message itself stays. The version has its pictures. That of a reply is marked as edited; it keeps the model
    /// and the thinking, but neither numbers nor drafts nor settings, which are of a text that it no longer has. It has
    /// the steps too, among which the text is divided.
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
                edited: edited.role == Role::Assistant || edited.is_summary(),
                status,
                model: edited.model.as_deref(),
                settings: None,
            };
            edits::remove(db, id)?;
            let behind = if edited.is_summary() { shown_behind(db, chat, id)? } else { Vec::new() };
            let version = replies::add(db, chat, parent, new)?;
            steps::copy_edited(db, id, version.id, text)?;
            copy_behind(db, &behind, chat, version.id)?;
            Ok(version)
        })
    }

    /// Copies the messages that lead to one, itself included, into a chat of their own with the same settings and tags,
    /// in the same project.
    pub fn branch_into_new_chat(&mut self, last: MessageId) -> Result<ChatSummary, ChatsError> {
        self.write(|db| {
            let new = begin_branch(db, last)?;
            let mut parent = None;
            for id in all(db, &path("id"), [last], |row| row.get::<_, MessageId>(0))? {
                parent = Some(copy_message(db, id, new, parent)?);
            }
            set_active_leaf(db, new, parent)?;
            list::summary(db, new)
        })
    }

    /// Begins a chat with a summary that `model` has written of another one up to `last`, and copies of the messages
    /// `kept` of that one behind it, oldest first. It has the same settings and tags.
    pub fn go_on_with_summary(
        &mut self,
        last: MessageId,
        summary: &str,
        model: &str,
        kept: &[MessageId],
    ) -> Result<ChatSummary, ChatsError> {
        self.write(|db| {
            let new = begin_branch(db, last)?;
            let summary = NewMessage {
                role: Role::System,
                text: summary,
                pictures: &[],
                thinking: "",
                edited: false,
                status: MessageStatus::Finished { reason: FinishReason::Stop },
                model: Some(model),
                settings: None,
            };
            let summary = replies::add(db, new, None, summary)?;
            copy_behind(db, kept, new, summary.id)?;
            list::summary(db, new)
        })
    }
}

/// Begins a chat that comes from a message of another one, with the settings and tags of that, in its project, and
/// without messages.
fn begin_branch(db: &Connection, last: MessageId) -> Result<ChatId, Fault> {
    let TreePosition { chat, .. } = TreePosition::of(db, last)?;
    let copy = "INSERT INTO chat (title, named, created_at, updated_at, system_prompt, without_standing,
                                  without_project, generation, preset, project, tools, tools_frozen,
                                  origin_chat, origin_message)
                SELECT title, named, :now, :now, system_prompt, without_standing, without_project, generation,
                       preset, project, tools, tools_frozen, id, :last
                FROM chat WHERE id = :chat RETURNING id";
    let values = named_params! {":now": now(), ":last": last, ":chat": chat};
    let new: ChatId = db.query_row(copy, values, |row| row.get(0))?;
    db.execute("INSERT INTO chat_tag SELECT ?1, name FROM chat_tag WHERE chat = ?2", (new, chat))?;
    Ok(new)
}

/// The messages that are shown behind one, oldest first; none where that one is not shown.
fn shown_behind(db: &Connection, chat: ChatId, id: MessageId) -> rusqlite::Result<Vec<MessageId>> {
    let shown: Option<MessageId> =
        db.query_row("SELECT active_leaf FROM chat WHERE id = ?1", [chat], |row| row.get(0))?;
    let branch = all(db, &path("id"), [shown], |row| row.get::<_, MessageId>(0))?;
    let at = branch.iter().position(|&shown| shown == id);
    Ok(at.map_or_else(Vec::new, |at| branch[at + 1..].to_vec()))
}

/// Copies messages one behind the other, the first behind `parent`, and shows them.
fn copy_behind(
    db: &Connection,
    messages: &[MessageId],
    chat: ChatId,
    parent: MessageId,
) -> Result<(), Fault> {
    let mut last = parent;
    for &id in messages {
        last = copy_message(db, id, chat, Some(last))?;
    }
    Ok(set_active_leaf(db, chat, Some(last))?)
}

/// Copies a message after `parent`. What is still being written there is not written on here, nothing of it runs, and
/// nobody is asked.
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
        ", edited, iif(status IN ('streaming', 'asking'), 'interrupted', status), stats, error, model, settings, created_at, ?4
         FROM message WHERE id = ?1 RETURNING id"
    );
    let copied = db.prepare_cached(copy)?.query_row((id, chat, parent, known), |row| row.get(0))?;
    pictures::copy(db, id, copied)?;
    steps::copy(db, id, copied)?;
    Ok(copied)
}
