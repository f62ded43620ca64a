//! The layout of the database, and how an older one becomes the newest.

use std::path::Path;

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, TransactionBehavior};

use crate::sql::all;
use crate::{ChatsError, search};

/// Entry `n` takes a database from layout `n` to `n + 1`. What has been released never changes.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/1.sql"),
    include_str!("migrations/2.sql"),
    include_str!("migrations/3.sql"),
    include_str!("migrations/4.sql"),
    include_str!("migrations/5.sql"),
    include_str!("migrations/6.sql"),
    include_str!("migrations/7.sql"),
    include_str!("migrations/8.sql"),
    include_str!("migrations/9.sql"),
    include_str!("migrations/10.sql"),
    include_str!("migrations/11.sql"),
    include_str!("migrations/12.sql"),
    include_str!("migrations/13.sql"),
    include_str!("migrations/14.sql"),
];

/// The layout of the database, one that is known here; 0 for an empty file.
pub(crate) fn layout(db: &Connection, path: &Path) -> Result<usize, ChatsError> {
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

/// Reads every page of every table and index once, so that damage is found wherever it is.
pub(crate) fn check(db: &Connection, path: &Path) -> Result<(), ChatsError> {
    let sqlite = |error| ChatsError::sqlite(path, error);
    // Not the virtual tables, whose own check reads every word and takes five times as long: what they are kept in is
    // checked like any table, and what they hold can be made anew. Free pages hold nothing, and SQLite tests the list
    // of them where it takes from it.
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'";
    for table in all(db, tables, [], |row| row.get::<_, String>(0)).map_err(sqlite)? {
        let mut finding = None;
        db.pragma(None, "quick_check", &table, |row| {
            finding.get_or_insert(row.get::<_, String>(0)?);
            Ok(())
        })
        .map_err(sqlite)?;
        if let Some(detail) = finding.filter(|finding| finding != "ok") {
            return Err(ChatsError::Corrupt { path: path.to_owned(), detail: detail.replace('\n', " ") });
        }
    }
    Ok(())
}

/// With a write-ahead log a commit is one append that the system has taken over before the call returns, so the
/// end of this process, however sudden, loses nothing. `NORMAL` leaves out the wait for the disk on each commit:
/// only a power cut or a crash of the system itself can take the last commits, and the file stays sound.
pub(crate) fn configure(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    // On macOS only this flush reaches the disk itself; elsewhere it changes nothing.
    db.pragma_update(None, "checkpoint_fullfsync", true)?;
    db.pragma_update(None, "foreign_keys", true)?;
    // The triggers that keep the index in step call it.
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    db.create_scalar_function("search_terms", 1, flags, |call| {
        Ok(search::terms(call.get_raw(0).as_str_or_null()?.unwrap_or_default()))
    })
}

/// Brings the database to the newest layout, or leaves it as it was.
pub(crate) fn migrate(db: &mut Connection, path: &Path) -> Result<(), ChatsError> {
    let sqlite = |error| ChatsError::sqlite(path, error);
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite)?;
    for migration in &MIGRATIONS[layout(&transaction, path)?..] {
        transaction.execute_batch(migration).map_err(sqlite)?;
    }
    transaction.pragma_update(None, "user_version", MIGRATIONS.len()).map_err(sqlite)?;
    transaction.commit().map_err(sqlite)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use foretoken_protocol::{ErrorReport, SearchScope};
    use tempfile::TempDir;

    use super::*;
    use crate::Store;
    use crate::lock::beside;

    /// A file as the first version of the app left it: two branches in the first chat, nothing in the second.
    fn first_layout() -> (TempDir, std::path::PathBuf, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chats.db");
        let db = Connection::open(&path).unwrap();
        db.pragma_update(None, "journal_mode", "WAL").unwrap();
        db.execute_batch(MIGRATIONS[0]).unwrap();
        db.pragma_update(None, "user_version", 1).unwrap();
        db.execute_batch(
            "INSERT INTO chat (title, created_at, updated_at) VALUES ('Plätze', 1, 2), ('empty', 3, 4);
             INSERT INTO message (chat, parent, role, text, thinking, status, created_at)
             VALUES (1, NULL, 'user', 'Where is Zürich?', '', 'stop', 1),
                    (1, 1, 'assistant', 'In Switzerland.', 'Hm.', 'stop', 1),
                    (1, 1, 'assistant', 'Half of an', '', 'streaming', 1);",
        )
        .unwrap();
        (folder, path, db)
    }

    #[test]
    fn the_first_layout_becomes_the_newest_and_is_kept_beside() {
        let (_folder, path, db) = first_layout();
        drop(db);
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.chats().unwrap().iter().map(|chat| chat.id).collect::<Vec<_>>(), [2, 1]);
        let shown: Vec<_> = store.messages(1).unwrap().into_iter().map(|message| message.id).collect();
        assert_eq!(shown, [1, 3]);
        for (query, message) in [("platze", None), ("ZURICH", Some(1)), ("switz", Some(2)), ("half", Some(3))]
        {
            let found = store.search(query, &SearchScope::default(), 9).unwrap().chats;
            let messages: Vec<_> = found[0].messages.iter().map(|found| found.message).collect();
            assert_eq!(messages, message.into_iter().collect::<Vec<_>>(), "{query}");
            assert_eq!((found.len(), found[0].titled), (1, message.is_none()), "{query}");
        }
        store.add_user_message(2, None, "goes on").unwrap();

        let kept = Connection::open(beside(&path, "layout-1")).unwrap();
        assert_eq!(layout(&kept, &path).unwrap(), 1);
        let texts: i64 = kept.query_row("SELECT count(*) FROM message", [], |row| row.get(0)).unwrap();
        assert_eq!(texts, 3);
    }

    #[test]
    fn chats_from_before_there_were_tools_have_neither_steps_nor_tools() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chats.db");
        let db = Connection::open(&path).unwrap();
        configure(&db).unwrap();
        MIGRATIONS[..11].iter().for_each(|migration| db.execute_batch(migration).unwrap());
        db.pragma_update(None, "user_version", 11).unwrap();
        db.execute_batch(
            "INSERT INTO chat (title, created_at, updated_at, active_leaf) VALUES ('owls', 1, 2, 2);
             INSERT INTO message (chat, parent, role, text, thinking, status, created_at)
             VALUES (1, NULL, 'user', 'Who?', '', 'stop', 1), (1, 1, 'assistant', 'An owl.', '', 'stop', 1);",
        )
        .unwrap();
        drop(db);
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.messages(1).unwrap()[1].text, "An owl.");
        assert!(store.steps(2).unwrap().is_empty() && store.tool_permissions().unwrap().is_empty());
        assert_eq!(store.frozen_tools(1).unwrap(), None);
        store.continue_reply(2).unwrap();
        assert_eq!(store.begin_step(2).unwrap(), 0);
        assert_eq!(store.steps(2).unwrap()[0].text, "An owl.", "what there is is of the first step");
        assert_eq!(layout(&Connection::open(beside(&path, "layout-11")).unwrap(), &path).unwrap(), 11);
    }

    #[test]
    fn a_damaged_file_of_an_older_layout_is_left_as_it_is() {
        let (folder, path, db) = first_layout();
        let long = "words ".repeat(20_000);
        db.execute("UPDATE message SET text = ?1 WHERE id = 1", [&long]).unwrap();
        drop(db);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2 / 4096 * 4096;
        bytes[middle..middle + 4096].fill(0xA5);
        fs::write(&path, &bytes).unwrap();
        let error = ErrorReport::from(Store::open(&path).unwrap_err());
        assert_eq!(error.code, "chats_corrupt");
        assert!(fs::read(&path).unwrap() == bytes);
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(
            !names.into_iter().any(|name| name.to_string_lossy().contains("layout")),
            "no copy of damage"
        );
    }

    #[test]
    fn a_new_file_leaves_nothing_of_an_older_layout() {
        let folder = tempfile::tempdir().unwrap();
        drop(Store::open(&folder.path().join("chats.db")).unwrap());
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["chats.db", "chats.db.lock"]);
    }

    #[test]
    fn a_failed_migration_leaves_the_file_as_it_was() {
        let (_folder, path, db) = first_layout();
        // What the migration makes last is in its way, so that all before it is done and undone.
        db.execute_batch(
            "CREATE TABLE other (x);
             CREATE TRIGGER message_removed AFTER DELETE ON other BEGIN SELECT 1; END;",
        )
        .unwrap();
        let dump = |db: &Connection| -> Vec<String> {
            let mut rows = db.prepare("SELECT name || coalesce(sql, '') FROM sqlite_schema").unwrap();
            rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let before = dump(&db);
        drop(db);
        let error = ErrorReport::from(Store::open(&path).unwrap_err());
        assert!(error.message.contains("message_removed"), "{error}");
        let db = Connection::open(&path).unwrap();
        assert_eq!(dump(&db), before);
        assert_eq!(layout(&db, &path).unwrap(), 1);
    }
}
