//! A process that is killed while a project is deleted, brought back or given a file leaves nothing half done.
#![cfg(unix)]

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use foretoken_chats::{IndexedText, Store};
use foretoken_protocol::Attachment;

/// Names the database to the writing process.
const DATABASE: &str = "FORETOKEN_CHATS_TEST_DATABASE";
const ROUNDS: u32 = 10;
const CHATS: usize = 40;

fn long_text() -> Attachment {
    let lines = (0..2000).map(|line| format!("Line {line} tells of the owl number {line} and its bell.\n"));
    Attachment { name: "owls.txt".into(), text: lines.collect() }
}

/// Deletes a project and brings it back, adds a file and takes it away, without end.
fn write_until_killed(path: &Path) -> ! {
    let mut store = Store::open(path).unwrap();
    let file = IndexedText::new(long_text());
    let project = match store.projects().unwrap().first() {
        Some(project) => project.id,
        None => store.create_project("Greenhouse").unwrap().id,
    };
    // Chats that have left it come in again.
    for chat in store.chats().unwrap() {
        store.move_chat(chat.id, Some(project)).unwrap();
    }
    while store.chats().unwrap().len() < CHATS {
        let chat = store.create_chat("chat").unwrap().id;
        store.move_chat(chat, Some(project)).unwrap();
    }
    for turn in 0_u32.. {
        // It fails when nobody listens any more, which ends this process.
        std::io::stderr().write_all(format!("{turn}\n").as_bytes()).expect("somebody listens");
        store.delete_project(project, turn % 2 == 1).unwrap();
        store.restore_project(project).unwrap();
        store.add_project_file(project, &file).unwrap();
    }
    unreachable!()
}

#[test]
#[ignore = "the process that the other test starts and kills"]
fn writer() {
    let path = std::env::var_os(DATABASE).expect("is started by the other test");
    write_until_killed(Path::new(&path));
}

/// Runs a writer and kills it after `delay` of writing.
fn kill_writer(path: &Path, delay: Duration) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "writer", "--nocapture"])
        .env(DATABASE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    assert_eq!(first.trim(), "0");
    let reader = std::thread::spawn(move || lines.lines().count());
    std::thread::sleep(delay);
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
    reader.join().unwrap();
}

#[test]
fn a_killed_process_leaves_projects_and_their_files_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let text = long_text();
    let passages = foretoken_passages::cut(&text.text).len();
    for round in 0..ROUNDS {
        kill_writer(&path, Duration::from_millis(RandomState::new().hash_one(round) % 400));
        let mut store = Store::open(&path).unwrap();
        let listed = store.chat_page(None, None, 999).unwrap().total as usize;
        let projects = store.projects().unwrap();
        // It is there with all of its chats, or it is gone and they are all in the list, or gone with it.
        let inside = projects.first().map_or(0, |project| project.chats as usize);
        let whole = match projects.len() {
            0 => listed == CHATS || listed == 0,
            _ => inside == CHATS && listed == 0,
        };
        assert!(
            whole,
            "round {round}: {} projects with {inside} chats, {listed} in the list",
            projects.len()
        );
        let db = rusqlite::Connection::open(&path).unwrap();
        let count = |sql: &str| -> usize { db.query_row(sql, [], |row| row.get(0)).unwrap() };
        let files = count("SELECT count(*) FROM project_file");
        assert_eq!(count("SELECT count(*) FROM project_passage"), files * passages, "round {round}");
        let found = "SELECT count(*) FROM project_terms WHERE project_terms MATCH 'owl'";
        assert_eq!(count(found), files * passages, "round {round}: the index holds every passage");
        let orphans = "SELECT count(*) FROM project_terms WHERE project_terms MATCH 'owl'
                       AND rowid NOT IN (SELECT id FROM project_passage)";
        assert_eq!(count(orphans), 0, "round {round}");
        drop(db);
        // What was deleted is purged, so that a new one is made in the next round where it was gone.
        while store.purge_deleted().unwrap() {}
        println!("round {round}: {} projects, {files} files, {listed} chats in the list", projects.len());
    }
}
