//! Unsent edits: the text and the pictures that the person is changing a message to, kept until they are sent or given
//! up.

use foretoken_protocol::{ChatId, MessageId, MessagePicture, UnsentEdit};
use rusqlite::{Connection, Row};

use crate::error::Fault;
use crate::pictures::{described_list, named};
use crate::position::TreePosition;
use crate::sql::{self, all};
use crate::{ChatsError, Store};

impl Store {
    /// Keeps what a message is being changed to, with pictures that the store has; without pictures it stays with those
    /// of the message. No text gives that up.
    pub fn set_edit(
        &mut self,
        message: MessageId,
        text: Option<&str>,
        pictures: Option<&[MessagePicture]>,
    ) -> Result<(), ChatsError> {
        self.write(|db| {
            let Some(text) = text else { return Ok(remove(db, message)?) };
            TreePosition::of(db, message)?;
            keep(db, message, text, pictures)
        })
    }
}

/// What the messages of a chat are being changed to, whether they are on the branch that is shown or not.
pub(crate) fn of_chat(db: &Connection, chat: ChatId) -> rusqlite::Result<Vec<UnsentEdit>> {
    let sql = concat!(
        "SELECT edit.message, edit.text, edit.pictures IS NOT NULL AS changed, ",
        described_list!("edit.pictures"),
        " AS described FROM edit JOIN message ON message.id = edit.message
         WHERE message.chat = ?1 AND message.deletion IS NULL ORDER BY edit.message"
    );
    let read = |row: &Row<'_>| {
        Ok(UnsentEdit {
            message: row.get("message")?,
            text: row.get("text")?,
            pictures: row.get::<_, bool>("changed")?.then(|| sql::list(row, "described")).transpose()?,
        })
    };
    all(db, sql, [chat], read)
}

/// Keeps what a message is being changed to.
pub(crate) fn keep(
    db: &Connection,
    message: MessageId,
    text: &str,
    pictures: Option<&[MessagePicture]>,
) -> Result<(), Fault> {
    let pictures = pictures.map(|pictures| named(db, pictures)).transpose()?;
    let keep = "INSERT OR REPLACE INTO edit (message, text, pictures) VALUES (?1, ?2, ?3)";
    db.execute(keep, (message, text, pictures))?;
    Ok(())
}

/// Gives up what a message was being changed to, if it was.
pub(crate) fn remove(db: &Connection, message: MessageId) -> rusqlite::Result<()> {
    db.execute("DELETE FROM edit WHERE message = ?1", [message]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unsent_edit_stays_with_its_message_until_it_is_sent_or_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chats.sqlite");
        let mut store = Store::open(&path).unwrap();
        let chat = store.create_chat("Owls").unwrap().id;
        let message = store.add_user_message(chat, None, "Who?").unwrap().id;
        let other = store.create_chat("Bells").unwrap().id;
        let elsewhere = store.add_user_message(other, None, "Where?").unwrap().id;
        let edits = |store: &Store, chat| store.open_chat(chat).unwrap().edits;
        let edit = |message, text: &str| UnsentEdit { message, text: text.into(), pictures: None };

        store.set_edit(message, Some("Who is"), None).unwrap();
        store.set_edit(message, Some("Who is it?"), None).unwrap();
        // An emptied field is what the person has left, too.
        store.set_edit(elsewhere, Some(""), None).unwrap();
        drop(store);
        let mut store = Store::open(&path).unwrap();
        assert_eq!(edits(&store, chat), [edit(message, "Who is it?")]);
        assert_eq!(edits(&store, other), [edit(elsewhere, "")]);

        let sent = store.edit_message(message, "Who is it?").unwrap().id;
        assert_eq!(edits(&store, chat), [], "it was sent");
        store.set_edit(elsewhere, None, None).unwrap();
        assert_eq!(edits(&store, other), [], "it was given up");

        store.set_edit(sent, Some("Who then?"), None).unwrap();
        let deletion = store.delete_message(sent).unwrap();
        assert_eq!(edits(&store, chat), [], "its message is deleted");
        store.undo_deletion(deletion).unwrap();
        assert_eq!(edits(&store, chat), [edit(sent, "Who then?")], "and came back with it");
        let unknown = store.set_edit(99, Some("?"), None).unwrap_err();
        assert!(matches!(unknown, ChatsError::UnknownMessage { id: 99 }), "{unknown}");
    }
}
