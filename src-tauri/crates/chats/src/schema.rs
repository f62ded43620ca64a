//! The layout of the database, and how an older one becomes the newest.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::ChatsError;

/// Entry `n` takes a database from layout `n` to `n + 1`. What has been released never changes.
const MIGRATIONS: &[&str] = &["
    -- AUTOINCREMENT: an id is never given twice, so a late event cannot reach a newer chat or message.
    CREATE TABLE chat (
        id         INTEGER PRIMARY KEY AUTOINCREMENT,
        title      TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX chat_by_update ON chat (updated_at, id);

    CREATE TABLE message (
        id         INTEGER PRIMARY KEY AUTOINCREMENT,
        chat       INTEGER NOT NULL REFERENCES chat (id) ON DELETE CASCADE,
        parent     INTEGER CHECK (parent < id),
        role       TEXT NOT NULL,
        text       TEXT NOT NULL,
        thinking   TEXT NOT NULL,
        status     TEXT NOT NULL,
        stats      TEXT,
        error      TEXT,
        model      TEXT,
        settings   TEXT,
        created_at INTEGER NOT NULL,
        UNIQUE (chat, id),
        -- A parent is of the same chat.
        FOREIGN KEY (chat, parent) REFERENCES message (chat, id) ON DELETE CASCADE
    ) STRICT;
    CREATE INDEX message_by_parent ON message (chat, parent);
    CREATE INDEX message_streaming ON message (id) WHERE status = 'streaming';
"];

/// Opens the database at `path`, made if it is not there, in the newest layout.
///
/// A file that is damaged or from a newer version is refused before anything is written to it.
pub(crate) fn open(path: &Path) -> Result<Connection, ChatsError> {
    let sqlite = |error| ChatsError::sqlite(path, error);
    // SQLite makes the file, not its folder.
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| ChatsError::Io { path: path.to_owned(), detail: error.to_string() })?;
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(path, flags).map_err(sqlite)?;

    // Closing would move what a write-ahead log still holds into the file, which a refused file must be spared.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(sqlite)?;
    layout(&db, path)?;
    check(&db, path)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(sqlite)?;

    configure(&db).map_err(sqlite)?;
    migrate(&mut db, path)?;
    Ok(db)
}

/// The layout of the database, one that is known here; 0 for an empty file.
fn layout(db: &Connection, path: &Path) -> Result<usize, ChatsError> {
    let found: i64 = db
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(|error| ChatsError::sqlite(path, error))?;
    let known = MIGRATIONS.len();
    match usize::try_from(found) {
        Ok(layout) if layout <= known => Ok(layout),
        Ok(found) => Err(ChatsError::Newer { path: path.to_owned(), found, known }),
        Err(_) => Err(ChatsError::Corrupt {
            path: path.to_owned(),
            detail: format!("its layout number is {found}"),
        }),
    }
}

/// Reads every page once, so that damage is found before anything is added to it.
fn check(db: &Connection, path: &Path) -> Result<(), ChatsError> {
    let finding: String = db
        .pragma_query_value(None, "quick_check", |row| row.get(0))
        .map_err(|error| ChatsError::sqlite(path, error))?;
    if finding == "ok" {
        return Ok(());
    }
    Err(ChatsError::Corrupt { path: path.to_owned(), detail: finding.replace('\n', " ") })
}

/// With a write-ahead log a commit is one append that the system has taken over before the call returns, so the
/// end of this process, however sudden, loses nothing. `NORMAL` leaves out the wait for the disk on each commit:
/// only a power cut or a crash of the system itself can take the last commits, and the file stays sound.
fn configure(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    // On macOS only this flush reaches the disk itself; elsewhere it changes nothing.
    db.pragma_update(None, "checkpoint_fullfsync", true)?;
    db.pragma_update(None, "foreign_keys", true)
}

/// Brings the database to the newest layout, or leaves it as it was.
fn migrate(db: &mut Connection, path: &Path) -> Result<(), ChatsError> {
    let sqlite = |error| ChatsError::sqlite(path, error);
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite)?;
    // Asked again, since another process may have migrated the file before the transaction began.
    for migration in &MIGRATIONS[layout(&transaction, path)?..] {
        transaction.execute_batch(migration).map_err(sqlite)?;
    }
    transaction.pragma_update(None, "user_version", MIGRATIONS.len()).map_err(sqlite)?;
    transaction.commit().map_err(sqlite)
}
