//! Files that must not be opened, and must be left as they are.

use std::fs;
use std::path::{Path, PathBuf};

use foretoken_chats::{ChatsError, Reader, Store};
use foretoken_protocol::ErrorReport;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tempfile::TempDir;

/// A database with enough chats to fill many pages.
fn database() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let mut store = Store::open(&path).unwrap();
    for number in 0..200 {
        let chat = store.create_chat(&format!("chat {number}")).unwrap().id;
        store.add_user_message(chat, None, &"words ".repeat(100)).unwrap();
    }
    (folder, path)
}

/// Opens the file and looks for damage, which must fail and must not change a byte of it or of its write-ahead log.
fn refusal(path: &Path) -> ErrorReport {
    let log = path.with_extension("db-wal");
    let before = (fs::read(path).unwrap(), fs::read(&log).unwrap_or_default());
    let report = ErrorReport::from(opened(path).expect_err("must be refused"));
    assert!(before == (fs::read(path).unwrap(), fs::read(&log).unwrap_or_default()), "the file was changed");
    assert!(report.message.contains(path.to_str().unwrap()), "{report}");
    assert!(!report.hint.is_empty());
    report
}

fn opened(path: &Path) -> Result<(), ChatsError> {
    let store = Store::open(path)?;
    // As the app does it, beside a store that is used.
    let found = Reader::open(path)?.check();
    if found.is_err() {
        store.leave()?;
    }
    found
}

#[test]
fn a_newer_layout_is_refused() {
    let (_folder, path) = database();
    let file = Connection::open(&path).unwrap();
    let layout: u32 = file.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    file.pragma_update(None, "user_version", 1000).unwrap();
    drop(file);
    let report = refusal(&path);
    assert_eq!(report.code, "chats_newer");
    assert!(report.message.contains("1000"), "{report}");

    Connection::open(&path).unwrap().pragma_update(None, "user_version", layout).unwrap();
    assert_eq!(Store::open(&path).unwrap().chats().unwrap().len(), 200);
}

#[test]
fn a_newer_layout_that_is_still_in_the_log_is_refused() {
    let (_folder, path) = database();
    let newer = Connection::open(&path).unwrap();
    newer.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    newer.pragma_update(None, "user_version", 1000).unwrap();
    drop(newer);
    assert!(fs::metadata(path.with_extension("db-wal")).unwrap().len() > 0, "the log must hold the change");
    assert_eq!(refusal(&path).code, "chats_newer");
}

#[test]
fn what_is_not_a_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    for content in ["nothing".to_owned(), "not a database ".repeat(10_000)] {
        fs::write(&path, content).unwrap();
        assert_eq!(refusal(&path).code, "chats_corrupt");
    }
}

#[test]
fn a_truncated_database_is_refused() {
    let (_folder, path) = database();
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(refusal(&path).code, "chats_corrupt");
}

#[test]
fn damage_in_the_middle_is_found_before_anything_is_written() {
    let (_folder, path) = database();
    // All but the first and those that are free.
    let pages: Vec<usize> = {
        let db = Connection::open(&path).unwrap();
        let mut used = db.prepare("SELECT pageno - 1 FROM dbstat WHERE pageno > 1").unwrap();
        used.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert!(pages.len() > 50);
    let whole = fs::read(&path).unwrap();
    for page in pages {
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xA5);
        fs::write(&path, bytes).unwrap();
        assert_eq!(refusal(&path).code, "chats_corrupt", "page {page}");
    }
}

#[test]
fn a_negative_layout_is_damage() {
    let (_folder, path) = database();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", -1).unwrap();
    assert_eq!(refusal(&path).code, "chats_corrupt");
}

#[test]
fn a_place_that_cannot_hold_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    for path in [folder.path().to_owned(), folder.path().join("file").join("chats.db")] {
        let report = ErrorReport::from(Store::open(&path).unwrap_err());
        assert_eq!(report.code, "chats_io");
        assert!(report.message.contains(path.to_str().unwrap()), "{report}");
    }
}

#[test]
fn a_file_that_another_program_writes_in_is_busy() {
    let (_folder, path) = database();
    let mut store = Store::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(ErrorReport::from(store.create_chat("late").unwrap_err()).code, "chats_busy");
    other.execute_batch("ROLLBACK").unwrap();
    store.create_chat("in time").unwrap();
}
