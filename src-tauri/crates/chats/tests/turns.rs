//! Long work in pieces: others come in between, and a piece that is never done leaves nothing behind.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};

use foretoken_chats::{ChatsError, Store, import};
use foretoken_protocol::{ErrorReport, GenerationSettings, MessageId, Provenance, SearchScope, Thinking};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

const CHATS: usize = 40;
const MESSAGES: usize = 5;
/// Two pieces at most hold a message of this size.
const BYTES: usize = 100_000;

fn store() -> (TempDir, PathBuf, Store) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let store = Store::open(&path).unwrap();
    (folder, path, store)
}

/// A file with presets and 20 MB of chats; the last one comes from the first.
fn file(folder: &Path, last_shown: u32) -> PathBuf {
    let messages: Vec<_> = (0..MESSAGES)
        .map(|number| {
            let parent = if number == 0 { json!(null) } else { json!(number) };
            json!({"parent": parent, "role": "user", "text": "words ".repeat(BYTES / 6), "thinking": "", "created_at": 1,
                   "status": {"state": "finished", "reason": "stop"}})
        })
        .collect();
    let chats: Vec<_> = (1..=CHATS)
        .map(|number| {
            let is_last = number == CHATS;
            json!({"title": format!("Chat {number}"), "named": true, "pinned": false, "tags": ["new"], "created_at": 1,
                   "updated_at": number, "settings": {"system_prompt": "", "generation": null, "preset": 1},
                   "draft": "typed", "origin": is_last.then(|| json!({"chat": 1, "message": 2})),
                   "shown": if is_last { last_shown } else { 3 }, "messages": messages})
        })
        .collect();
    let presets = json!([{"name": "Brief", "system_prompt": "Be brief.", "generation": null}]);
    let path = folder.join("chats.json");
    let text = json!({"format": "foretoken-chats", "presets": presets, "version": 1}).to_string();
    fs::write(&path, format!("{},\"chats\":{}}}", &text[..text.len() - 1], json!(chats))).unwrap();
    path
}

fn begin_reply(store: &mut Store) -> MessageId {
    let settings = GenerationSettings {
        sampling: Default::default(),
        drafting: Default::default(),
        max_tokens: 64,
        thinking: Thinking::Off,
        stop: vec![],
    };
    let chat = store.create_chat("being answered").unwrap().id;
    let question = store.add_user_message(chat, None, "?").unwrap().id;
    store.begin_reply(chat, question, "demo", &settings).unwrap().id
}

/// Rows of all tables that an import writes in.
fn rows(path: &Path) -> Vec<u32> {
    let db = Connection::open(path).unwrap();
    [
        "chat",
        "message",
        "message_terms_docsize",
        "title_terms_docsize",
        "chat_tag",
        "draft",
        "preset",
        "deletion",
    ]
    .map(|table| db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap())
    .into()
}

#[test]
fn a_reply_is_saved_between_the_pieces_of_an_import_which_appears_at_once() {
    let (folder, _path, mut store) = store();
    let file = file(folder.path(), 3);
    let reply = begin_reply(&mut store);
    let store = RefCell::new(store);
    let (turns, longest) = (Cell::new(0), Cell::new(0));
    let log = folder.path().join("chats.db-wal");
    let report = import(&file, &|_, _| unreachable!("it holds no picture"), &|piece| {
        let mut store = store.borrow_mut();
        // It is empty after each piece.
        Connection::open(folder.path().join("chats.db"))
            .and_then(|db| db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
            .unwrap();
        assert_eq!((store.chats()?.len(), store.deletions()?.len()), (1, 0), "nothing of it is seen");
        let found = store.search("words", &SearchScope::default(), 9)?.chats.len();
        assert_eq!(store.tags()?.len() + store.presets()?.len() + found, 0);
        piece(&mut store)?;
        longest.set(fs::metadata(&log).unwrap().len().max(longest.get()));
        turns.set(turns.get() + 1);
        store.append_to_reply(reply, "more ", "", &Provenance::default())
    })
    .unwrap();
    assert_eq!((report.chats as usize, report.messages as usize), (CHATS, CHATS * MESSAGES));
    assert!(turns.get() > CHATS * MESSAGES * BYTES / 1_000_000, "{} pieces", turns.get());
    assert!(longest.get() < 4_000_000, "a piece has written {} bytes", longest.get());

    let store = store.into_inner();
    assert_eq!(store.message(reply).unwrap().text, "more ".repeat(turns.get()));
    let chats = store.chats().unwrap();
    assert_eq!(chats.len(), CHATS + 1);
    let last = store.open_chat(chats.iter().find(|chat| chat.title == "Chat 40").unwrap().id).unwrap();
    let first = store.open_chat(chats.iter().find(|chat| chat.title == "Chat 1").unwrap().id).unwrap();
    let origin = last.chat.origin.unwrap();
    assert_eq!((origin.chat, origin.message), (first.chat.id, Some(first.messages[1].message.id)));
    assert_eq!(last.settings.preset, Some(store.presets().unwrap()[0].id));
    assert_eq!((last.draft.text.as_str(), last.messages.len()), ("typed", MESSAGES));
    assert_eq!(store.tags().unwrap()[0].chats as usize, CHATS);
    let found = store.search("words", &SearchScope::default(), 9).unwrap();
    assert_eq!(found.chats.iter().map(|chat| chat.messages.len()).sum::<usize>(), 9);
}

#[test]
fn an_import_that_is_refused_at_its_end_leaves_nothing() {
    let (folder, path, mut store) = store();
    let file = file(folder.path(), 99);
    let error =
        ErrorReport::from(store.import(&file, &|_, _| unreachable!("it holds no picture")).unwrap_err());
    assert_eq!(error.code, "not_importable");
    assert!(error.message.contains("in chat 40: “Chat 40”: message 99 is to be shown"), "{error}");
    assert_eq!(rows(&path), [0; 8]);
}

#[test]
fn an_import_that_is_cut_off_is_purged_at_the_next_start() {
    let (folder, path, store) = store();
    let file = file(folder.path(), 3);
    let (store, turns) = (RefCell::new(store), Cell::new(0));
    let error = import(&file, &|_, _| unreachable!("it holds no picture"), &|piece| {
        turns.set(turns.get() + 1);
        // As if the process had ended.
        if turns.get() > 10 {
            Err(ChatsError::Full { path: "/".into() })
        } else {
            piece(&mut store.borrow_mut())
        }
    });
    assert_eq!(ErrorReport::from(error.unwrap_err()).code, "chats_full");
    drop(store);
    assert!(rows(&path)[0] > 2);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.chats().unwrap(), []);
    let mut pieces = 1;
    while store.purge_deleted().unwrap() {
        pieces += 1;
    }
    assert!(pieces > 2, "others come in between");
    assert_eq!(rows(&path), [0; 8]);
}
