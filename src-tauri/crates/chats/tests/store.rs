//! Chats as the shell keeps them, in real files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use foretoken_chats::{ChatsError, Store};
use foretoken_protocol::{
    Drafting, DraftingNote, ErrorReport, FinishReason, GenerationSettings, Message, MessageStatus,
    PositionStats, Provenance, ReplyStats, Role, Sampling, Thinking,
};
use tempfile::TempDir;

const STOPPED: MessageStatus = MessageStatus::Finished { reason: FinishReason::Stop };

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data").join("chats.db");
    (folder, path)
}

fn open(path: &Path) -> Store {
    Store::open(path).unwrap()
}

fn settings() -> GenerationSettings {
    GenerationSettings {
        sampling: Sampling {
            temperature: 0.7,
            top_p: 0.9,
            top_k: 20,
            seed: Some(u64::MAX),
            ..Default::default()
        },
        drafting: Drafting::Fixed { depth: 3 },
        max_tokens: 512,
        thinking: Thinking::Normal,
        stop: vec!["\n\n".to_owned()],
    }
}

fn stats() -> ReplyStats {
    let not_paying =
        DraftingNote::NotPaying { drafts: 2, times_as_long: 2.125, times_as_many_tokens: 1.0 / 3.0 };
    ReplyStats {
        prompt_tokens: 31,
        emitted: 120,
        steps: 64,
        tokens_per_pass: 1.0 / 3.0,
        tokens_per_second: 58.25,
        peak_memory_bytes: u64::MAX,
        positions: vec![PositionStats { drafted: 64, accepted: 56 }],
        seed: u64::MAX,
        drafting_note: Some(not_paying),
        ..Default::default()
    }
}

fn code(error: ChatsError) -> String {
    ErrorReport::from(error).code
}

fn ids(messages: &[Message]) -> Vec<u32> {
    messages.iter().map(|message| message.id).collect()
}

/// Lets the clock of the store move on.
fn tick() {
    std::thread::sleep(Duration::from_millis(3));
}

#[test]
fn everything_comes_back_after_opening_again() {
    let (_folder, path) = file();
    let mut store = open(&path);
    let chat = store.create_chat("Zoë’s 🦊 \"chat\"; DROP TABLE chat").unwrap();
    let question = store.add_user_message(chat.id, None, "nul \0, tab \t, 漢字, 👩‍👩‍👧, שלום").unwrap();
    assert_eq!((question.role, question.status, question.parent), (Role::User, STOPPED, None));
    let begun = store.begin_reply(chat.id, question.id, "demo", &settings()).unwrap();
    assert_eq!(
        (begun.role, begun.status, begun.parent),
        (Role::Assistant, MessageStatus::Streaming, Some(question.id))
    );
    assert_eq!(
        (begun.text.as_str(), begun.thinking.as_str(), begun.model.as_deref()),
        ("", "", Some("demo"))
    );
    store.append_to_reply(begun.id, "An", "Hm", &Provenance::default()).unwrap();
    store.append_to_reply(begun.id, " answer", "m.", &Provenance::default()).unwrap();
    let error = ErrorReport { code: "a".into(), message: "b \"c\"".into(), hint: "d".into() };
    let status = MessageStatus::Finished { reason: FinishReason::Error };
    let reply = store.finish_reply(begun.id, status, Some(&stats()), Some(&error)).unwrap();
    assert_eq!(
        reply,
        Message {
            text: "An answer".into(),
            thinking: "Hmm.".into(),
            status,
            stats: Some(stats()),
            error: Some(error),
            ..begun
        }
    );
    let chats = store.chats().unwrap();
    drop(store);

    let store = open(&path);
    assert_eq!(store.chats().unwrap(), chats);
    assert_eq!(chats[0].title, chat.title);
    assert_eq!(store.messages(chat.id).unwrap(), [question, reply.clone()]);
    assert_eq!(store.message(reply.id).unwrap(), reply);
    assert_eq!(store.chat_of(reply.id).unwrap(), chat.id);
}

#[test]
fn every_status_comes_back() {
    let (_folder, path) = file();
    let mut store = open(&path);
    let chat = store.create_chat("").unwrap().id;
    let question = store.add_user_message(chat, None, "?").unwrap().id;
    let reasons = [FinishReason::Stop, FinishReason::Length, FinishReason::Cancelled, FinishReason::Error];
    let statuses = reasons.map(|reason| MessageStatus::Finished { reason });
    for status in statuses.into_iter().chain([MessageStatus::Interrupted]) {
        let reply = store.begin_reply(chat, question, "demo", &settings()).unwrap();
        assert_eq!(store.finish_reply(reply.id, status, None, None).unwrap().status, status);
    }
}

#[test]
fn a_retry_is_a_sibling_and_the_newest_branch_is_shown() {
    let (_folder, path) = file();
    let mut store = open(&path);
    let chat = store.create_chat("tree").unwrap().id;
    let elsewhere = store.create_chat("another").unwrap().id;
    assert_eq!(store.messages(chat).unwrap(), []);

    let question = store.add_user_message(chat, None, "q1").unwrap();
    let first = store.begin_reply(chat, question.id, "demo", &settings()).unwrap();
    let follow_up = store.add_user_message(chat, Some(first.id), "q2").unwrap();
    let second = store.begin_reply(chat, follow_up.id, "demo", &settings()).unwrap();
    store.add_user_message(elsewhere, None, "not of this tree").unwrap();
    assert_eq!(ids(&store.messages(chat).unwrap()), [question.id, first.id, follow_up.id, second.id]);

    let retry = store.begin_reply(chat, follow_up.id, "demo", &settings()).unwrap();
    assert_eq!(ids(&store.messages(chat).unwrap()), [question.id, first.id, follow_up.id, retry.id]);
    let early_retry = store.begin_reply(chat, question.id, "demo", &settings()).unwrap();
    assert_eq!(ids(&store.messages(chat).unwrap()), [question.id, early_retry.id]);
    let edited = store.add_user_message(chat, None, "q1, edited").unwrap();
    assert_eq!(ids(&store.messages(chat).unwrap()), [edited.id]);
    let back = store.add_user_message(chat, Some(second.id), "q3").unwrap();
    assert_eq!(
        ids(&store.messages(chat).unwrap()),
        [question.id, first.id, follow_up.id, second.id, back.id]
    );
    for message in [first, second, retry, early_retry] {
        assert_eq!(store.message(message.id).unwrap(), message);
    }
}

#[test]
fn every_write_moves_the_chat_to_the_top() {
    let (_folder, path) = file();
    let mut store = open(&path);
    let old = store.create_chat("old").unwrap().id;
    let question = store.add_user_message(old, None, "?").unwrap().id;
    let reply = store.begin_reply(old, question, "demo", &settings()).unwrap().id;
    let writes: [&dyn Fn(&mut Store); 5] = [
        &|store| store.append_to_reply(reply, "text", "", &Provenance::default()).unwrap(),
        &|store| drop(store.finish_reply(reply, STOPPED, None, None).unwrap()),
        &|store| drop(store.continue_reply(reply).unwrap()),
        &|store| drop(store.add_user_message(old, Some(reply), "more").unwrap()),
        &|store| drop(store.begin_reply(old, question, "demo", &settings()).unwrap()),
    ];
    for (number, write) in writes.iter().enumerate() {
        tick();
        let new = store.create_chat("new").unwrap();
        assert_eq!(store.chats().unwrap()[0], new);
        tick();
        write(&mut store);
        let top = store.chats().unwrap().swap_remove(0);
        assert_eq!(top.id, old, "write {number}");
        assert!(top.updated_at > new.updated_at, "write {number}");
    }
}

#[test]
fn a_reply_left_streaming_is_interrupted_and_can_be_continued() {
    let (_folder, path) = file();
    let mut store = open(&path);
    let chat = store.create_chat("chat").unwrap().id;
    let question = store.add_user_message(chat, None, "?").unwrap();
    let done = store.begin_reply(chat, question.id, "demo", &settings()).unwrap();
    let done = store.finish_reply(done.id, STOPPED, Some(&stats()), None).unwrap();
    let open_reply = store.begin_reply(chat, question.id, "demo", &settings()).unwrap();
    store.append_to_reply(open_reply.id, "half", "thought", &Provenance::default()).unwrap();
    let updated_at = store.chats().unwrap()[0].updated_at;
    drop(store);
    tick();

    let mut store = open(&path);
    let reply = store.message(open_reply.id).unwrap();
    assert_eq!(reply.status, MessageStatus::Interrupted);
    assert_eq!((reply.text.as_str(), reply.thinking.as_str()), ("half", "thought"));
    assert_eq!(store.message(done.id).unwrap(), done);
    assert_eq!(store.message(question.id).unwrap(), question);
    assert_eq!(store.chats().unwrap()[0].updated_at, updated_at, "opening writes nothing in a chat");

    let resumed = store.continue_reply(done.id).unwrap();
    assert_eq!(resumed, Message { status: MessageStatus::Streaming, stats: None, ..done });
    let resumed = store.continue_reply(reply.id).unwrap();
    assert_eq!(resumed, Message { status: MessageStatus::Streaming, ..reply });
    store.append_to_reply(resumed.id, " and whole", "", &Provenance::default()).unwrap();
    let finished = store.finish_reply(resumed.id, STOPPED, Some(&stats()), None).unwrap();
    assert_eq!((finished.text.as_str(), finished.status), ("half and whole", STOPPED));
}

#[test]
fn what_does_not_exist_is_named_and_changes_nothing() {
    let (_folder, path) = file();
    let mut store = open(&path);
    let chat = store.create_chat("chat").unwrap();
    let other = store.create_chat("other").unwrap();
    let question = store.add_user_message(chat.id, None, "mine").unwrap();
    let chats = store.chats().unwrap();
    tick();

    assert_eq!(code(store.messages(99).unwrap_err()), "unknown_chat");
    assert_eq!(code(store.add_user_message(99, None, "x").unwrap_err()), "unknown_chat");
    assert_eq!(code(store.begin_reply(99, question.id, "demo", &settings()).unwrap_err()), "unknown_chat");
    assert_eq!(code(store.message(99).unwrap_err()), "unknown_message");
    assert_eq!(code(store.chat_of(99).unwrap_err()), "unknown_message");
    assert_eq!(code(store.add_user_message(chat.id, Some(99), "x").unwrap_err()), "unknown_message");
    // A parent in another chat, and a person's message as a reply.
    assert_eq!(
        code(store.begin_reply(other.id, question.id, "demo", &settings()).unwrap_err()),
        "unknown_message"
    );
    for id in [99, question.id] {
        assert_eq!(
            code(store.append_to_reply(id, "x", "", &Provenance::default()).unwrap_err()),
            "unknown_message"
        );
        assert_eq!(code(store.continue_reply(id).unwrap_err()), "unknown_message");
        assert_eq!(code(store.finish_reply(id, STOPPED, None, None).unwrap_err()), "unknown_message");
    }
    let report = ErrorReport::from(store.message(99).unwrap_err());
    assert!(report.message.contains("99") && !report.hint.is_empty());
    assert_eq!(store.chats().unwrap(), chats);
    assert_eq!(store.messages(chat.id).unwrap(), [question]);
    assert_eq!(store.messages(other.id).unwrap(), []);
}

#[test]
fn two_threads_write_through_one_store() {
    const EACH: usize = 200;
    let (_folder, path) = file();
    let store = Arc::new(Mutex::new(open(&path)));
    let writers = ["left", "right"].map(|name| {
        let store = Arc::clone(&store);
        std::thread::spawn(move || {
            let chat = store.lock().unwrap().create_chat(name).unwrap().id;
            let mut parent = None;
            for number in 0..EACH {
                let text = format!("{name} {number}");
                parent = Some(store.lock().unwrap().add_user_message(chat, parent, &text).unwrap().id);
            }
            chat
        })
    });
    let [left, right] = writers.map(|writer| writer.join().unwrap());
    let store = store.lock().unwrap();
    for (chat, name) in [(left, "left"), (right, "right")] {
        let texts: Vec<_> = store.messages(chat).unwrap().into_iter().map(|message| message.text).collect();
        assert_eq!(texts, (0..EACH).map(|number| format!("{name} {number}")).collect::<Vec<_>>());
    }
}

#[test]
fn ten_thousand_chats_and_a_long_one_are_listed_in_order() {
    let (_folder, path) = file();
    let mut store = open(&path);
    let created: Vec<_> = (0..10_000).map(|n| store.create_chat(&format!("chat {n}")).unwrap().id).collect();
    let mut parent = None;
    for number in 0..2_000 {
        parent = Some(store.add_user_message(created[0], parent, &number.to_string()).unwrap().id);
    }
    let listed: Vec<_> = store.chats().unwrap().into_iter().map(|chat| chat.id).collect();
    let newest_first: Vec<_> = created[..1].iter().chain(created[1..].iter().rev()).copied().collect();
    assert_eq!(listed, newest_first);
    let texts: Vec<_> = store.messages(created[0]).unwrap().into_iter().map(|message| message.text).collect();
    assert_eq!(texts, (0..2_000).map(|number| number.to_string()).collect::<Vec<_>>());
}
