use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension, Params, Row, Transaction, TransactionBehavior};

use crate::error::Fault;
use crate::lock::Lock;
use crate::{ChatsError, schema};

/// All chats, in one file. Every call that writes is one transaction, committed when it returns.
#[derive(Debug)]
pub struct Store {
    // Before the lock, since fields are dropped in this order: the file is closed before others may open it.
    pub(crate) db: Connection,
    pub(crate) path: PathBuf,
    _lock: Lock,
}

impl Store {
    /// Opens the chats at `path`, made with its folder if it is not there, for this process alone.
    ///
    /// Replies that were still being written when the last process ended become
    /// [`Interrupted`](foretoken_protocol::MessageStatus::Interrupted), and what it had deleted is purged. A damaged
    /// file or one from a newer version is refused and left as it is, and so is one that another process has open.
    pub fn open(path: &Path) -> Result<Self, ChatsError> {
        let (db, lock) = schema::open(path)?;
        let mut store = Self { db, path: path.to_owned(), _lock: lock };
        store.write(|db| {
            db.execute("UPDATE message SET status = 'interrupted' WHERE status = 'streaming'", [])?;
            Ok(())
        })?;
        store.purge_deleted()?;
        Ok(store)
    }

    /// Does `job` in one transaction: all of it is committed, or nothing.
    pub(crate) fn write<T>(
        &mut self,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, ChatsError> {
        let Self { db, path, .. } = self;
        write(db, job).map_err(|fault| fault.at(path))
    }

    /// Does `job`, which only reads.
    pub(crate) fn read<T>(&self, job: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, ChatsError> {
        job(&self.db).map_err(|fault| fault.at(&self.path))
    }
}

fn write<T>(db: &mut Connection, job: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
    // Takes the right to write at once, so that no later statement of the transaction finds it taken. The commit is
    // always asked for: what a `RETURNING` statement commits by itself, it does after its answer, when an error is
    // lost.
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = job(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

/// All rows of a query.
pub(crate) fn all<T>(
    db: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    db.prepare_cached(sql)?.query_map(values, read)?.collect()
}

/// The first row of a query, if it has one.
pub(crate) fn first<T>(
    db: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    db.prepare_cached(sql)?.query_row(values, read).optional()
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
