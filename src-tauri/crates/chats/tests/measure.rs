//! How long calls take on as many chats as a person may have. Prints, and judges nothing:
//! `cargo test --release -p foretoken-chats --test measure -- --ignored --nocapture`.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use foretoken_chats::Store;
use foretoken_protocol::{
    FinishReason, GenerationSettings, MessageStatus, Provenance, SearchScope, Thinking,
};
use serde_json::json;

const CHATS: usize = 10_000;
const LONG_CHAT: usize = 2_000;

const WORDS: [&str; 24] = [
    "the",
    "model",
    "drafts",
    "tokens",
    "and",
    "checks",
    "them",
    "in",
    "one",
    "pass",
    "speed",
    "memory",
    "cache",
    "Zürich",
    "café",
    "naïve",
    "模型",
    "速度",
    "写代码",
    "北京",
    "trait",
    "borrow",
    "lifetime",
    "iterator",
];

/// Words that look random and are the same each time.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize
    }

    fn text(&mut self, words: usize) -> String {
        let mut text = String::new();
        for _ in 0..words {
            text.push_str(WORDS[self.next() % WORDS.len()]);
            // As many rare words as texts have.
            if self.next().is_multiple_of(4) {
                text.push_str(&format!("{:x}", self.next() % 50_000));
            }
            text.push(' ');
        }
        text
    }
}

fn settings() -> GenerationSettings {
    GenerationSettings {
        sampling: Default::default(),
        drafting: Default::default(),
        max_tokens: 64,
        thinking: Thinking::Off,
        stop: vec![],
    }
}

/// Prints the median of a few calls, and returns what the last one gave.
fn time<T>(what: &str, mut call: impl FnMut() -> T) -> T {
    let mut times: Vec<Duration> = Vec::new();
    let mut last = None;
    for _ in 0..5 {
        let start = Instant::now();
        last = Some(call());
        times.push(start.elapsed());
    }
    times.sort();
    println!("{what:45} {:9.2} ms", times[2].as_secs_f64() * 1e3);
    last.expect("was called")
}

#[test]
#[ignore = "takes minutes and judges nothing"]
fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let mut store = Store::open(&path).unwrap();
    let mut rng = Rng(1);
    let made = folder.path().join("made.json");
    fs::write(&made, many_chats(&mut rng)).unwrap();
    let start = Instant::now();
    let report = store.import(&made, &|_, _| unreachable!("it holds no picture")).unwrap();
    println!("import of {} messages: {:.0} ms", report.messages, start.elapsed().as_secs_f64() * 1e3);

    let start = Instant::now();
    let mut last = None;
    let long = store.create_chat("long").unwrap().id;
    for _ in 0..LONG_CHAT {
        last = Some(store.add_user_message(long, last, &rng.text(100)).unwrap().id);
    }
    println!("add a message: {:.3} ms each", start.elapsed().as_secs_f64() * 1e3 / LONG_CHAT as f64);

    let first = time("first page of 50 chats", || store.chat_page(None, None, 50).unwrap());
    let mut middle = first.next;
    for _ in 0..100 {
        middle = store.chat_page(None, middle, 50).unwrap().next;
    }
    time("page of 50 in the middle", || store.chat_page(None, middle, 50).unwrap());
    time("all chats", || store.chats().unwrap());
    let opened = time("open a chat of 2 000 messages", || store.open_chat(long).unwrap());
    assert_eq!(opened.messages.len(), LONG_CHAT);
    time("show another branch of it", || {
        let first = opened.messages[0].message.id;
        let edited = store.edit_message(first, "edited").unwrap().id;
        store.show_branch(first).unwrap();
        edited
    });
    for query in ["model", "mod", "m", "tokens lifetime", "\"the model\"", "北京", "写", "model1f", "absent"]
    {
        let scope = SearchScope::default();
        let found = time(&format!("search for {query}"), || store.search(query, &scope, 50).unwrap());
        assert_eq!(found.places == 0, query == "absent");
    }

    measure_replies(&mut store, long, last, &mut rng);
    time("delete and undo a chat of 2 000 messages", || {
        let deletion = store.delete_message(opened.messages[0].message.id).unwrap();
        store.undo_deletion(deletion).unwrap();
    });
    measure_files(store, long, folder.path(), &path);
}

/// Replies that grow, behind a message of a chat.
fn measure_replies(store: &mut Store, chat: u32, last: Option<u32>, rng: &mut Rng) {
    let stop = MessageStatus::Finished { reason: FinishReason::Stop };
    let question = store.add_user_message(chat, last, "write at length").unwrap().id;
    let none = Provenance::default();
    for size in [2_000, 20_000, 200_000] {
        let reply = store.begin_reply(chat, question, "demo", &settings()).unwrap().id;
        let text = rng.text(size / 7);
        time(&format!("add {} bytes to a reply", text.len()), || {
            store.append_to_reply(reply, &text, "", &none).unwrap()
        });
        time("end it", || store.finish_reply(reply, stop, None, None).unwrap());
    }
    let reply = store.begin_reply(chat, question, "demo", &settings()).unwrap().id;
    let text = "a piece of text ".repeat(12_500);
    let start = Instant::now();
    // 4 Hz for 330 s: 200 kB at 600 bytes a second.
    let piece = text.len() / 1_320;
    for step in 0..1_320 {
        store.append_to_reply(reply, &text[step * piece..][..piece], "", &none).unwrap();
    }
    println!("1 320 updates up to 200 000 bytes: {:.0} ms in all", start.elapsed().as_secs_f64() * 1e3);
    store.finish_reply(reply, stop, None, None).unwrap();
}

/// Copies, exports and the start, with `long` the longest chat of the store at `path`.
fn measure_files(store: Store, long: u32, folder: &Path, path: &Path) {
    let json = folder.join("all.json");
    time("back up", || store.back_up().unwrap());
    time("export all as JSON", || store.export_json(None, Default::default(), &json).unwrap());
    drop(store);
    println!("database {} MB, JSON {} MB", megabytes(path), megabytes(&json));
    let mut store = time("open", || Store::open(path).unwrap());
    time("look for damage", || store.check().unwrap());
    let deletion = store.delete_chat(long).unwrap();
    drop(store);
    let start = Instant::now();
    let mut store = Store::open(path).unwrap();
    while store.purge_deleted().unwrap() {}
    println!("open and purge 2 000 messages: {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    assert!(store.undo_deletion(deletion).is_err());
}

/// Chats of two questions and two replies each, as a file.
fn many_chats(rng: &mut Rng) -> String {
    let mut message = |parent: Option<u32>, role: &str, words: usize| {
        json!({"parent": parent, "role": role, "text": rng.text(words), "thinking": "", "created_at": 1,
               "status": {"state": "finished", "reason": "stop"}})
    };
    let chats: Vec<_> = (0..CHATS)
        .map(|number| {
            let messages = [
                message(None, "user", 20),
                message(Some(1), "assistant", 200),
                message(Some(2), "user", 20),
                message(Some(3), "assistant", 200),
            ];
            json!({"title": format!("Chat {number}"), "named": true, "pinned": false, "tags": [], "created_at": 1,
                   "updated_at": number, "settings": {"system_prompt": ""}, "draft": "", "messages": messages})
        })
        .collect();
    json!({"format": "foretoken-chats", "version": 1, "chats": chats}).to_string()
}

fn megabytes(path: &std::path::Path) -> u64 {
    std::fs::metadata(path).unwrap().len() / 1_000_000
}
