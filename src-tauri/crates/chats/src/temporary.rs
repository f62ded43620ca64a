//! Temporary chats: a store in memory alone, of the same tables and code as the one on the disk. The numbers that it
//! gives begin where those of the other end, so that a number says where its chat, its message or its deletion is.

use std::path::Path;

use foretoken_protocol::ChatId;
use rusqlite::Connection;

use crate::{ChatsError, Reader, Store, pictures, schema};

/// The first number that a temporary store gives: the upper half of all that there are.
pub const FIRST_TEMPORARY: u32 = 1 << 31;

/// Whether a chat, a message, a deletion or a permission of this number is of a temporary chat.
pub const fn is_temporary(number: u32) -> bool {
    number >= FIRST_TEMPORARY
}

impl Store {
    /// A store in memory, which is gone when it is dropped. The files of its pictures are in a folder beside `path`,
    /// where nothing else of it is.
    pub fn temporary(path: &Path) -> Result<Self, ChatsError> {
        let sqlite = |error| ChatsError::sqlite(path, error);
        let mut db = Connection::open_in_memory().map_err(sqlite)?;
        schema::configure(&db).map_err(sqlite)?;
        // Neither what is sorted nor what may be taken back goes into a file, and what is removed is overwritten.
        db.pragma_update(None, "temp_store", "MEMORY").map_err(sqlite)?;
        db.pragma_update(None, "secure_delete", true).map_err(sqlite)?;
        pictures::define_functions(&db, path).map_err(sqlite)?;
        schema::migrate(&mut db, path)?;
        let begin = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
        for table in ["chat", "message", "deletion", "permission"] {
            db.execute(begin, (table, FIRST_TEMPORARY - 1)).map_err(sqlite)?;
        }
        Ok(Self::new(Reader { db, path: path.to_owned() }, None))
    }

    /// Removes all chats but one for good. Nothing that was deleted before can be brought back.
    pub fn remove_all_but(&mut self, kept: Option<ChatId>) -> Result<(), ChatsError> {
        for chat in self.chats()? {
            if Some(chat.id) != kept {
                self.delete_chat(chat.id)?;
            }
        }
        self.forget_deletions()?;
        while self.purge_deleted()? {}
        Ok(())
    }
}
