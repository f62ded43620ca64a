//! Opening the chats and leaving them, and whether their file is sound.

use std::path::Path;

use foretoken_protocol::MessageStatus;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::lock::Lock;
use crate::sql::all;
use crate::{ChatsError, Reader, Store, backup, calls, pictures, replies, schema};

impl Reader {
    /// Reads every page of every table and index once, so that damage is found wherever it is. Takes about as long as
    /// reading the file.
    pub fn check(&self) -> Result<(), ChatsError> {
        schema::check(&self.db, &self.path)
    }
}

impl Store {
    /// Opens the chats at `path`, made with its folder if it is not there, for this process alone.
    ///
    /// Replies that were still being written when the last process ended become
    /// [`Interrupted`](foretoken_protocol::MessageStatus::Interrupted), and what it had deleted stays so, for
    /// [`Store::purge_deleted`] to remove. Calls of tools that ran become
    /// [`Unknown`](foretoken_protocol::CallState::Unknown), and what the person was asked they are asked again. A file
    /// from a newer version is refused and left as it is, and so is one that another process has open. Damage is found
    /// where it is met; [`Reader::check`] looks for it everywhere.
    pub fn open(path: &Path) -> Result<Self, ChatsError> {
        let (db, lock) = open(path)?;
        backup::remove_leftovers(path);
        let mut store = Self::new(Reader { db, path: path.to_owned() }, Some(lock));
        store.forget_deletions()?;
        let streaming = "SELECT id FROM message WHERE status = 'streaming'";
        let streaming = store.read(|db| Ok(all(db, streaming, [], |row| row.get(0))?))?;
        let calls_left = store.read(|db| Ok(calls::is_anything_left(db)?))?;
        // Where there is nothing to write, nothing is: the file may be damaged.
        if calls_left || !streaming.is_empty() {
            store.write(|db| {
                calls::take_over(db)?;
                for id in streaming {
                    replies::set_status(db, id, MessageStatus::Interrupted, None, None)?;
                }
                Ok(())
            })?;
        }
        Ok(store)
    }

    /// Closes chats that turned out to be damaged. The file and its write-ahead log are left as they are.
    pub fn leave(self) -> Result<(), ChatsError> {
        let done = self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        done.map(drop).map_err(|error| ChatsError::sqlite(&self.path, error))
    }
}

/// Opens the database at `path`, made if it is not there, in the newest layout, for this process alone.
///
/// A file that is from a newer version is refused before anything is written to it, and so is one that is damaged where
/// an older layout is to be changed. Damage in the newest is looked for later, since that takes as long as reading the
/// file.
fn open(path: &Path) -> Result<(Connection, Lock), ChatsError> {
    let sqlite = |error| ChatsError::sqlite(path, error);
    // SQLite makes the file, not its folder.
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| ChatsError::Io { path: path.to_owned(), detail: error.to_string() })?;
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(path, flags).map_err(sqlite)?;
    let lock = Lock::take(path)?;

    // Closing would move what a write-ahead log still holds into the file, which a refused file must be spared.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(sqlite)?;
    let found = schema::layout(&db, path)?;
    // The copy is checked.
    if 0 < found && found < schema::MIGRATIONS.len() {
        backup::keep_layout(&db, path, found).map_err(|fault| fault.at(path))?;
    }
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(sqlite)?;

    schema::configure(&db).map_err(sqlite)?;
    pictures::define_functions(&db, path).map_err(sqlite)?;
    if found < schema::MIGRATIONS.len() {
        schema::migrate(&mut db, path)?;
    }
    Ok((db, lock))
}
