//! The database of the chats and its connections: a `Store`, the only one that writes, which holds the lock that keeps
//! other processes out, and `Reader`s, each with a read-only connection of its own. Thanks to SQLite's write-ahead log
//! a reader sees the last commit and waits for no writer. Imports and purges write in pieces of about 512 KiB of text,
//! so that other jobs come in between.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use foretoken_protocol::{ChatId, DeletionId, Preset};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::ChatsError;
use crate::error::Fault;
use crate::lock::Lock;
use crate::pictures;

/// About how many bytes of text one piece of long work writes or removes, so that others wait for no more than that.
pub(crate) const PIECE_BYTES: usize = 512 * 1024;
/// About what a message costs beside its text, in bytes of it.
pub(crate) const MESSAGE_BYTES: usize = 1024;

/// Work on a store that is short enough for others to wait for.
pub type Piece = Box<dyn FnOnce(&mut Store) -> Result<(), ChatsError> + Send>;

/// Reads chats that a [`Store`] has open, beside it: neither waits for the other, and each read sees what was committed
/// when it began.
#[derive(Debug)]
pub struct Reader {
    pub(crate) db: Connection,
    pub(crate) path: PathBuf,
}

impl Reader {
    /// Opens the chats at `path`, which a store of this process has open.
    pub fn open(path: &Path) -> Result<Self, ChatsError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let sqlite = |error| ChatsError::sqlite(path, error);
        let db = Connection::open_with_flags(path, flags).map_err(sqlite)?;
        pictures::define_functions(&db, path).map_err(sqlite)?;
        Ok(Self { db, path: path.to_owned() })
    }

    /// Does `job`, which only reads.
    pub(crate) fn read<T>(&self, job: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, ChatsError> {
        job(&self.db).map_err(|fault| fault.at(&self.path))
    }

    /// Does `job`, which only reads; all of its queries see the chats of one moment.
    pub(crate) fn read_at_once<T>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, ChatsError> {
        self.read(|db| match db.is_autocommit() {
            true => job(&*db.unchecked_transaction()?),
            // It is one moment already.
            false => job(db),
        })
    }
}

/// All chats, in one file. Every call that writes is one transaction, committed when it returns, unless several are
/// made [`Store::at_once`].
#[derive(Debug)]
pub struct Store {
    // Before the lock, since fields are dropped in this order: the file is closed before others may open it.
    reader: Reader,
    /// None where there is no file.
    lock: Option<Lock>,
    /// The last deletion that can no longer be undone.
    pub(crate) last_final: DeletionId,
    /// Projects and files of projects that were deleted until then, in milliseconds since 1970, stay so.
    pub(crate) final_at: u64,
    /// Presets that can be brought back, the last one last.
    pub(crate) deleted_presets: Vec<DeletedPreset>,
}

/// A store reads as a [`Reader`] does.
impl Deref for Store {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

/// A preset that was deleted. It is kept here alone, until the store is closed.
#[derive(Debug, Clone)]
pub(crate) struct DeletedPreset {
    pub(crate) preset: Preset,
    /// The chats that were set by it.
    pub(crate) chats: Vec<ChatId>,
}

impl Store {
    /// What `reader` reads, to be written for as long as `lock` is held.
    pub(crate) fn new(reader: Reader, lock: Option<Lock>) -> Self {
        Self { reader, lock, last_final: 0, final_at: 0, deleted_presets: Vec::new() }
    }

    /// Whether its chats are temporary: in memory alone.
    pub fn is_temporary(&self) -> bool {
        self.lock.is_none()
    }

    /// Does what writes several times in one transaction: all of it is committed when this returns, or nothing.
    pub fn at_once<T>(
        &mut self,
        job: impl FnOnce(&mut Self) -> Result<T, ChatsError>,
    ) -> Result<T, ChatsError> {
        self.run("BEGIN IMMEDIATE")?;
        let committed = job(self).and_then(|done| self.run("COMMIT").map(|()| done));
        if committed.is_err() && !self.db.is_autocommit() {
            self.run("ROLLBACK")?;
        }
        committed
    }

    fn run(&self, sql: &str) -> Result<(), ChatsError> {
        self.read(|db| Ok(db.execute_batch(sql)?))
    }

    /// Does `job` in one transaction: all of it is committed, or nothing.
    pub(crate) fn write<T>(
        &mut self,
        job: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, ChatsError> {
        let Reader { db, path } = &mut self.reader;
        write(db, job).map_err(|fault| fault.at(path))
    }
}

fn write<T>(db: &mut Connection, job: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
    if !db.is_autocommit() {
        let part = db.savepoint()?;
        let done = job(&part)?;
        part.commit()?;
        return Ok(done);
    }
    // Takes the right to write at once, so that no later statement of the transaction finds it taken. The commit is
    // always asked for: what a `RETURNING` statement commits by itself, it does after its answer, when an error is
    // lost.
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = job(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::store;

    #[test]
    fn what_is_written_at_once_is_there_whole_or_not_at_all() {
        let (_folder, mut store) = store();
        let other = Reader::open(&store.path).unwrap();
        let seen = || {
            let count = |row: &rusqlite::Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?));
            other
                .read(|db| {
                    Ok(db.query_row(
                        "SELECT (SELECT count(*) FROM chat), (SELECT count(*) FROM message)",
                        [],
                        count,
                    )?)
                })
                .unwrap()
        };
        let lost = store.at_once(|store| {
            let chat = store.create_chat("lost")?.id;
            assert_eq!(store.open_chat(chat)?.messages, [], "it reads what it has written");
            // Of a part that fails nothing stays, and the rest may go on.
            assert!(store.add_user_message(99, None, "nowhere").is_err());
            store.add_user_message(chat, None, "hello")?;
            store.message(99).map(drop)
        });
        assert!(matches!(lost, Err(ChatsError::UnknownMessage { .. })), "{lost:?}");
        assert_eq!(seen(), (0, 0));
        let whole = store.at_once(|store| {
            let chat = store.create_chat("whole")?.id;
            assert_eq!(seen(), (0, 0), "nobody else sees a part of it");
            store.add_user_message(chat, None, "hello")
        });
        whole.unwrap();
        assert_eq!(seen(), (1, 1));
    }

    #[test]
    fn who_reads_holds_up_nobody_who_writes_and_sees_one_moment() {
        let (_folder, mut store) = store();
        store.create_chat("before").unwrap();
        let reader = Reader::open(&store.path).unwrap();
        let count = |db: &Connection| -> u32 {
            db.query_row("SELECT count(*) FROM chat", [], |row| row.get(0)).unwrap()
        };
        let seen = reader.read_at_once(|db| {
            let begun = count(db);
            store.create_chat("meanwhile").unwrap();
            Ok([begun, count(db)])
        });
        assert_eq!(seen.unwrap(), [1, 1]);
        assert_eq!(reader.read(|db| Ok(count(db))).unwrap(), 2);
    }
}
