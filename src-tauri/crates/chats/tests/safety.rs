//! Backups, the way back to them, and the lock.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use foretoken_chats::{ChatsError, Store, backups, restorable, restore_backup};
use foretoken_protocol::ErrorReport;
use rusqlite::Connection;
use tempfile::TempDir;

const DATABASE: &str = "FORETOKEN_CHATS_TEST_LOCK";

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    (folder, path)
}

fn code(error: ChatsError) -> String {
    ErrorReport::from(error).code
}

fn titles(store: &Store) -> Vec<String> {
    store.chats().unwrap().into_iter().map(|chat| chat.title).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Fills the file with chats until it has many pages, and one with this title.
fn fill(store: &mut Store, title: &str) {
    for number in 0..50 {
        let chat = store.create_chat(&format!("{title} {number}")).unwrap().id;
        store.add_user_message(chat, None, &"words ".repeat(200)).unwrap();
    }
    store.create_chat(title).unwrap();
}

fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 3 * 4096].fill(0xA5);
    fs::write(path, bytes).unwrap();
}

#[test]
fn the_last_two_backups_are_kept() {
    let (folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(backups(&path), []);
    for round in ["first", "second", "third"] {
        fill(&mut store, round);
        let made = store.back_up().unwrap();
        assert_eq!(made, PathBuf::from(&backups(&path)[0].path));
        // What is still in the write-ahead log is in the copy, which needs none.
        let copy = Connection::open(&made).unwrap();
        let found: u32 =
            copy.query_row("SELECT count(*) FROM chat WHERE title = ?1", [round], |row| row.get(0)).unwrap();
        assert_eq!(found, 1);
    }
    let kept = backups(&path);
    assert_eq!(kept.len(), 2);
    assert!(kept[0].bytes > kept[1].bytes && kept[0].made_at >= kept[1].made_at);
    drop(store);
    assert_eq!(names(folder.path()), ["chats.db", "chats.db.backup-1", "chats.db.backup-2", "chats.db.lock"]);
}

#[test]
fn a_damaged_file_makes_way_for_the_last_good_backup() {
    let (_folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    fill(&mut store, "kept");
    store.back_up().unwrap();
    let kept = titles(&store);
    fill(&mut store, "lost");
    drop(store);
    damage(&path);
    let damaged = fs::read(&path).unwrap();
    let found = Store::open(&path).and_then(|store| store.check().map_err(|error| (error, store.leave()).0));
    assert_eq!(code(found.unwrap_err()), "chats_corrupt");

    let restored = restore_backup(&path).unwrap();
    assert_eq!(titles(&Store::open(&path).unwrap()), kept);
    let aside = restored.set_aside.unwrap();
    assert!(fs::read(&aside).unwrap() == damaged, "the damaged file is kept as it was");
    assert!(restored.backup.exists());

    // A second time the first damaged file is not replaced.
    damage(&path);
    let again = restore_backup(&path).unwrap().set_aside.unwrap();
    assert_ne!(again, aside);
    assert!(fs::read(&aside).unwrap() == damaged);
    assert_eq!(titles(&Store::open(&path).unwrap()), kept);
}

#[test]
fn the_log_of_a_damaged_file_does_not_reach_the_backup() {
    let (_folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    fill(&mut store, "kept");
    store.back_up().unwrap();
    fill(&mut store, "in the log");
    let log = path.with_extension("db-wal");
    let (bytes, logged) = (fs::read(&path).unwrap(), fs::read(&log).unwrap());
    drop(store);
    fs::write(&path, bytes).unwrap();
    fs::write(&log, &logged).unwrap();

    let aside = restore_backup(&path).unwrap().set_aside.unwrap();
    assert!(!titles(&Store::open(&path).unwrap()).contains(&"in the log".to_owned()));
    assert!(fs::read(format!("{}-wal", aside.display())).unwrap() == logged);
    // What was set aside can be opened with its log.
    assert!(titles(&Store::open(&aside).unwrap()).contains(&"in the log".to_owned()));
}

#[test]
fn a_damaged_backup_is_passed_over_and_none_is_an_error() {
    let (_folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    assert_eq!(code(restore_backup(&path).unwrap_err()), "no_backup");
    fill(&mut store, "older");
    store.back_up().unwrap();
    fill(&mut store, "newer");
    let newest = store.back_up().unwrap();
    drop(store);
    damage(&newest);
    damage(&path);
    restore_backup(&path).unwrap();
    let found = titles(&Store::open(&path).unwrap());
    assert!(found.contains(&"older".to_owned()) && !found.contains(&"newer".to_owned()));

    damage(Path::new(&backups(&path)[1].path));
    damage(&path);
    let before = names(path.parent().unwrap());
    assert_eq!(code(restore_backup(&path).unwrap_err()), "no_backup");
    assert_eq!(names(path.parent().unwrap()), before, "nothing was moved");
}

#[test]
fn a_damaged_file_takes_the_place_of_no_backup() {
    let (_folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    // More than SQLite keeps in memory, so that it reads the middle of the file again.
    for _ in 0..80 {
        let chat = store.create_chat("large").unwrap().id;
        store.add_user_message(chat, None, &"words ".repeat(16_000)).unwrap();
    }
    let good = fs::read(store.back_up().unwrap()).unwrap();
    let folder = path.parent().unwrap();
    drop(store);
    let store = Store::open(&path).unwrap();
    damage(&path);
    assert_eq!(code(store.back_up().unwrap_err()), "chats_corrupt");
    assert!(fs::read(&backups(&path)[0].path).unwrap() == good);
    assert_eq!(backups(&path).len(), 1);
    assert!(names(folder).iter().all(|name| name.starts_with("chats.db")), "{:?}", names(folder));
}

#[test]
#[ignore = "the process that the next test starts and kills"]
fn copier() {
    let path = std::env::var_os(DATABASE).expect("is started by the next test");
    let store = Store::open(Path::new(&path)).unwrap();
    eprintln!("open");
    loop {
        store.back_up().unwrap();
    }
}

#[test]
fn what_an_interrupted_backup_leaves_is_removed_at_the_next_start() {
    let (folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    for round in 0..20 {
        fill(&mut store, &format!("round {round}"));
    }
    drop(store);
    let left = || names(folder.path()).into_iter().filter(|name| name.contains("part")).collect::<Vec<_>>();
    // Most of the time it is copying.
    for _ in 0..100 {
        let mut child = start("copier", &path);
        while child.try_wait().unwrap().is_none() && left().is_empty() {}
        child.kill().unwrap();
        child.wait().unwrap();
        if !left().is_empty() {
            break;
        }
    }
    assert_ne!(left(), Vec::<String>::new(), "one was interrupted");
    fs::write(folder.path().join("chats.db2.part-x"), "of another database").unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(left(), ["chats.db2.part-x"]);
    store.back_up().unwrap();
    assert_eq!(left(), ["chats.db2.part-x"]);
}

fn start(test: &str, path: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", test, "--nocapture"])
        .env(DATABASE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), "open");
    child
}

#[test]
#[ignore = "the process that the other test starts and kills"]
fn holder() {
    let path = std::env::var_os(DATABASE).expect("is started by the other test");
    let _store = Store::open(Path::new(&path)).unwrap();
    eprintln!("open");
    std::thread::sleep(std::time::Duration::from_secs(600));
}

#[test]
fn a_second_process_is_told_that_the_chats_are_in_use() {
    let (_folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    fill(&mut store, "chats");
    store.back_up().unwrap();
    drop(store);
    let mut child = start("holder", &path);
    let refused = ErrorReport::from(Store::open(&path).unwrap_err());
    assert_eq!(refused.code, "chats_busy");
    assert!(refused.message.contains("Another program"), "{refused}");
    assert_eq!(code(restore_backup(&path).unwrap_err()), "chats_busy");
    child.kill().unwrap();
    child.wait().unwrap();
    // However it ended.
    Store::open(&path).unwrap();
}

#[test]
fn chats_of_a_newer_version_make_way_for_the_copy_from_before() {
    let (folder, path) = file();
    let mut store = Store::open(&path).unwrap();
    store.create_chat("from before").unwrap();
    drop(store);
    let version = |path: &Path, version: u32| {
        let db = Connection::open(path).unwrap();
        db.pragma_update(None, "user_version", version).unwrap();
    };
    let known: u32 = {
        let db = Connection::open(&path).unwrap();
        db.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    };
    // What a newer version does: a copy, its own layout, and later a backup of that.
    fs::copy(&path, folder.path().join(format!("chats.db.layout-{known}"))).unwrap();
    version(&path, known + 1);
    fs::copy(&path, folder.path().join("chats.db.backup-1")).unwrap();
    assert!(matches!(Store::open(&path), Err(ChatsError::Newer { .. })));

    let copies: Vec<_> = restorable(&path).into_iter().map(|copy| copy.path).collect();
    assert!(matches!(&copies[..], [copy] if copy.ends_with(&format!("layout-{known}"))), "{copies:?}");
    let restored = restore_backup(&path).unwrap();
    assert!(restored.set_aside.unwrap().ends_with("chats.db.newer-1"));
    let store = Store::open(&path).unwrap();
    assert_eq!(titles(&store), ["from before"]);
}
