//! Tests of keeping chats in a running app: opening, branching, naming, deleting and restoring them, presets, import
//! and export, and repair of a damaged database; and that the window is told of each change.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use foretoken_chats::Store;
use foretoken_host::testing::{ENDLESS_QUESTION, demo_model, endless, engine_program, kill};
use foretoken_protocol::{
    AppEvent, Beginning, ChatId, ChatSettings, ChatSummary, Deletion, Destination, ErrorReport, ExportFormat,
    ExportedPictures, FinishReason, GenerationSettings, ImportReport, Imported, MessageStatus, PictureDetail,
    PictureFacts, PictureFormat, Preset, UnseenReply,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{sleep, timeout};

use crate::app::App;
use crate::blocking::blocking;
use crate::chat_store::tests::{damage, fill};
use crate::conversations::open::OpenPlace;
use crate::log::Log;
use crate::models::library::testing::SHORT_MEASUREMENT;
use crate::testing::{Running, TIMEOUT, page, places, rest, running, some_text, write};

const QUESTION: &str = "Tell me about the sea.";
const CANCELLED: MessageStatus = MessageStatus::Finished { reason: FinishReason::Cancelled };

/// What the window is told next.
async fn change(changes: &mut UnboundedReceiver<AppEvent>) -> AppEvent {
    timeout(TIMEOUT, changes.recv()).await.expect("the window is told something").unwrap()
}

/// What the window is told next about a chat in the list.
async fn told(changes: &mut UnboundedReceiver<AppEvent>) -> ChatSummary {
    loop {
        if let AppEvent::Chats { mut chats } = change(changes).await {
            assert_eq!(chats.len(), 1);
            return chats.remove(0);
        }
    }
}

/// The chats of which what models have read is on the disk.
pub(crate) fn remembered(folder: &TempDir) -> BTreeSet<ChatId> {
    let Ok(entries) = fs::read_dir(places(folder).engine_state.join(foretoken_prefixes::FOLDER)) else {
        return BTreeSet::new();
    };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(".state")?.split_once('.')?.1.parse().ok()).collect()
}

#[tokio::test]
async fn what_models_have_read_of_a_chat_is_kept_and_goes_with_it() {
    let Running { app, folder, .. } = &running().await;
    let mut chats = Vec::new();
    for question in ["One bell rings. ", "Two frogs sing. "] {
        let (channel, mut events) = page();
        let destination = Destination::New(Beginning::default());
        let sent = app.conversations.ask(destination, question.repeat(20).into(), channel).await.unwrap();
        rest(&mut events).await;
        chats.push(sent.chat);
    }
    let both: BTreeSet<ChatId> = chats.iter().copied().collect();
    timeout(TIMEOUT, async {
        while remembered(folder) != both {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("it is kept while nobody asks");
    app.conversations.delete_chat(chats[0]).await.unwrap();
    timeout(TIMEOUT, async {
        while remembered(folder) != BTreeSet::from([chats[1]]) {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("it goes with its chat");
    app.prefixes.forget(chats[1]).await;
    assert_eq!(remembered(folder), BTreeSet::new());
}

#[tokio::test]
async fn what_is_deleted_comes_back() {
    let Running { app, .. } = &running().await;
    let (channel, mut events) = page();
    let sent = app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
    let (_, reply) = rest(&mut events).await;

    let deleted = app.conversations.delete_message(reply.id).await.unwrap();
    assert_eq!(deleted.chat.messages.len(), 1);
    assert_eq!(app.conversations.undo_deletion(deleted.deletion).await.unwrap(), sent.chat);
    assert_eq!(app.conversations.show_chat(1, sent.chat).await.unwrap().messages[1].message, reply);

    let deletion = app.conversations.delete_chat(sent.chat).await.unwrap();
    assert_eq!(app.snapshot().await.unwrap().open, None, "a chat that is gone is not open");
    assert_eq!(app.conversations.show_chat(2, sent.chat).await.unwrap_err().code, "unknown_chat");
    app.conversations.undo_deletion(deletion).await.unwrap();
    assert_eq!(app.conversations.show_chat(3, sent.chat).await.unwrap().messages.len(), 2);
}

#[tokio::test]
async fn deleting_ends_the_reply_of_a_chat_and_waits_for_that_of_a_message() {
    let Running { app, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut events) = page();
    let sent =
        app.conversations.ask(app.conversations.open_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    some_text(&mut events).await;
    let reply = sent.messages[1].message.id;
    assert_eq!(app.conversations.delete_message(reply).await.unwrap_err().code, "still_writing");
    let deletion = app.conversations.delete_chat(sent.chat).await.unwrap();
    let (_, ended) = rest(&mut events).await;
    assert_eq!(ended.status, CANCELLED);
    assert!(!ended.text.is_empty());
    app.conversations.undo_deletion(deletion).await.unwrap();
    assert_eq!(app.conversations.show_chat(1, sent.chat).await.unwrap().messages[1].message.text, ended.text);
}

/// Lets something come to where it waits for the store.
async fn begin<T>(doing: &mut (impl Future<Output = T> + Unpin)) {
    tokio::select! {
        biased;
        _ = doing => panic!("it waits for nothing"),
        () = std::future::ready(()) => {}
    }
}

/// Between a question that is stored and the reply that the engine is asked for, a message is not deleted and a chat is
/// left.
#[tokio::test]
async fn what_is_deleted_while_it_is_asked_is_not_written_on() {
    let Running { app, .. } = &running().await;
    write(app, 4096, endless()).await;
    let ask = async |to: Destination| {
        let (channel, events) = page();
        let sent = app.conversations.ask(to, ENDLESS_QUESTION.into(), channel).await.unwrap();
        (sent, events)
    };
    let (first, mut events) = ask(app.conversations.open_chat().into()).await;
    let question = first.messages[0].message.id;
    app.conversations.stop(first.messages[1].message.id).await.unwrap();
    rest(&mut events).await;

    let mut asked = Box::pin(ask(app.conversations.open_chat().into()));
    begin(&mut asked).await;
    let mut deleted = Box::pin(app.conversations.delete_message(question));
    begin(&mut deleted).await;
    // The store has done what it was asked for by both before either goes on.
    app.conversations.store.call(|_| Ok(())).await.unwrap();
    let (refused, (second, mut events)) = tokio::join!(deleted, asked);
    assert_eq!(refused.unwrap_err().code, "still_writing");
    app.conversations.stop(second.messages[1].message.id).await.unwrap();
    rest(&mut events).await;

    let mut asked = Box::pin(ask(app.conversations.open_chat().into()));
    begin(&mut asked).await;
    app.conversations.delete_chat(first.chat).await.unwrap();
    let (_, mut events) = asked.await;
    assert_eq!(rest(&mut events).await.1.status, CANCELLED, "nobody writes in a chat that is gone");
    timeout(TIMEOUT, app.conversations.replies.all_ended()).await.unwrap();
}

#[tokio::test]
async fn a_chat_in_a_window_of_its_own_is_seen_and_leaves_the_main_window_where_it_is() {
    let Running { app, .. } = &running().await;
    let ask = async |to: Destination| {
        let (channel, mut events) = page();
        let sent = app.conversations.ask(to, QUESTION.into(), channel).await.unwrap();
        rest(&mut events).await;
        sent
    };
    let one = ask(app.conversations.open_chat().into()).await;
    app.conversations.begin_chat(1);
    let main = app.conversations.open_chat();
    let opened = app.conversations.show_chat(None::<u32>, one.chat).await.unwrap();
    assert_eq!(opened.messages.len(), 2);
    assert_eq!(app.conversations.open_chat(), main);

    let unseen = async || {
        let chat = one.chat;
        app.conversations.store.call(move |store| store.chat(chat)).await.unwrap().unseen
    };
    app.conversations.enter_window(one.chat);
    ask(Destination::Chat(one.chat)).await;
    assert_eq!(unseen().await, None, "somebody has it before them");
    app.conversations.leave_window(one.chat);
    ask(Destination::Chat(one.chat)).await;
    assert_eq!(unseen().await, Some(UnseenReply::Written));
}

#[tokio::test]
async fn whoever_has_gone_on_is_not_led_back() {
    let Running { app, .. } = &running().await;
    let ask = async |to: Destination| {
        let (channel, mut events) = page();
        let sent = app.conversations.ask(to, QUESTION.into(), channel).await.unwrap();
        rest(&mut events).await;
        sent
    };
    let one = ask(app.conversations.open_chat().into()).await;
    app.conversations.begin_chat(1);
    let two = ask(app.conversations.open_chat().into()).await;
    assert_eq!(app.conversations.open_chat(), OpenPlace { navigation: 1, chat: Some(two.chat) });

    // Commands of one person, in the order of the scheduler.
    app.conversations.show_chat(5, two.chat).await.unwrap();
    assert_eq!(app.conversations.show_chat(3, one.chat).await.unwrap_err().code, "left");
    app.conversations.begin_chat(4);
    assert_eq!(app.conversations.show_message(2, one.messages[0].message.id).await.unwrap_err().code, "left");
    assert_eq!(app.conversations.branch(4, one.messages[1].message.id).await.unwrap_err().code, "left");
    assert_eq!(app.snapshot().await.unwrap().chats.total, 3, "what was branched is there");
    assert_eq!(app.conversations.open_chat(), OpenPlace { navigation: 5, chat: Some(two.chat) });
    app.conversations.delete_chat(one.chat).await.unwrap();
    assert_eq!(app.conversations.open_chat().chat, Some(two.chat), "another one is gone");

    // A new chat that is left before it begins.
    app.conversations.begin_chat(6);
    let left = app.conversations.open_chat();
    app.conversations.begin_chat(7);
    ask(left.into()).await;
    assert_eq!(app.conversations.open_chat(), OpenPlace { navigation: 7, chat: None });
    let snapshot = app.snapshot().await.unwrap();
    assert_eq!((snapshot.navigation, snapshot.open), (7, None));
}

#[tokio::test]
async fn all_deletions_can_be_undone_until_the_app_ends() {
    let Running { app, .. } = &running().await;
    let (window, mut changes) = page();
    app.events.subscribe(crate::events::MAIN_WINDOW, window);
    let (channel, mut events) = page();
    let sent = app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
    let (_, reply) = rest(&mut events).await;
    let other = app.conversations.branch(1, reply.id).await.unwrap().chat.id;
    app.conversations.delete_message(reply.id).await.unwrap();
    app.conversations.delete_chat(other).await.unwrap();

    let mut told = Vec::new();
    while told.len() < 2 {
        if let AppEvent::Deletions { deletions } = change(&mut changes).await {
            told = deletions;
        }
    }
    let ids = |deletions: &[Deletion]| -> Vec<_> {
        deletions.iter().map(|deletion| (deletion.chat, deletion.message)).collect()
    };
    assert_eq!(ids(&told), [(other, None), (sent.chat, Some(reply.id))]);
    assert_eq!(app.snapshot().await.unwrap().deletions, told, "a page that opens later knows of them");
    for deletion in told.iter().rev() {
        app.conversations.undo_deletion(deletion.id).await.unwrap();
    }
    assert_eq!(app.snapshot().await.unwrap().deletions, []);
    assert_eq!(app.conversations.show_chat(2, sent.chat).await.unwrap().messages[1].message, reply);
    assert_eq!(app.conversations.show_chat(3, other).await.unwrap().messages.len(), 2);
}

#[tokio::test]
async fn a_reply_that_ends_with_the_app_is_marked() {
    let Running { app, folder, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut events) = page();
    let sent =
        app.conversations.ask(app.conversations.open_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    some_text(&mut events).await;
    app.conversations.begin_chat(1);
    timeout(TIMEOUT, app.close()).await.unwrap();
    let store = foretoken_chats::Store::open(&places(folder).chats).unwrap();
    assert_eq!(store.chat(sent.chat).unwrap().unseen, Some(UnseenReply::Failed));
}

#[tokio::test]
async fn the_window_hears_of_every_change_in_the_list() {
    let Running { app, .. } = &running().await;
    let (window, mut changes) = page();
    app.events.subscribe(crate::events::MAIN_WINDOW, window);
    let (channel, mut events) = page();
    let sent = app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
    rest(&mut events).await;
    // It has begun, and it has ended.
    told(&mut changes).await;
    told(&mut changes).await;

    app.conversations.rename_chat(sent.chat, "The sea".into()).await.unwrap();
    let chat = told(&mut changes).await;
    assert_eq!((chat.title.as_str(), chat.named), ("The sea", true));
    app.conversations.pin_chat(sent.chat, true).await.unwrap();
    assert!(told(&mut changes).await.pinned);
    app.conversations.tag_chat(sent.chat, vec!["water".into(), " ".into()]).await.unwrap();
    assert_eq!(told(&mut changes).await.tags, ["water"]);
    assert!(matches!(change(&mut changes).await, AppEvent::Tags { tags } if tags[0].chats == 1));

    let branch = app.conversations.branch(1, sent.messages[0].message.id).await.unwrap();
    let chat = told(&mut changes).await;
    assert_eq!(chat, branch.chat);
    assert_eq!((chat.tags, branch.messages.len()), (vec!["water".to_owned()], 1));
    assert_eq!(chat.origin.unwrap().chat, sent.chat);
}

#[tokio::test]
async fn a_reply_that_ends_while_its_chat_is_not_open_is_marked_until_it_is() {
    let Running { app, engine, .. } = &running().await;
    let (window, mut changes) = page();
    app.events.subscribe(crate::events::MAIN_WINDOW, window);
    write(app, 4096, endless()).await;
    let ask = async |chat: Option<ChatId>| {
        let (channel, mut events) = page();
        let to = chat.map_or_else(|| app.conversations.open_chat().into(), Destination::Chat);
        let sent = app.conversations.ask(to, ENDLESS_QUESTION.into(), channel).await.unwrap();
        some_text(&mut events).await;
        (sent.chat, sent.messages[1].message.id, events)
    };
    let (chat, reply, mut events) = ask(None).await;
    app.conversations.stop(reply).await.unwrap();
    rest(&mut events).await;
    told(&mut changes).await;
    assert_eq!(told(&mut changes).await.unseen, None, "it was open");

    let (_, reply, mut events) = ask(Some(chat)).await;
    told(&mut changes).await;
    app.conversations.begin_chat(1);
    app.conversations.stop(reply).await.unwrap();
    rest(&mut events).await;
    assert_eq!(told(&mut changes).await.unseen, Some(UnseenReply::Written));
    assert_eq!(app.conversations.show_chat(2, chat).await.unwrap().chat.unseen, None);
    assert_eq!(told(&mut changes).await.unseen, None, "the list hears of it");

    let (_, reply, mut events) = ask(Some(chat)).await;
    told(&mut changes).await;
    app.conversations.begin_chat(3);
    kill(engine);
    rest(&mut events).await;
    assert_eq!(told(&mut changes).await.unseen, Some(UnseenReply::Failed));
    assert_eq!(app.conversations.show_message(4, reply).await.unwrap().chat.unseen, None);
    assert_eq!(told(&mut changes).await.unseen, None);
}

#[tokio::test]
async fn chats_go_into_files_and_come_back() {
    let Running { app, folder, .. } = &running().await;
    let (channel, mut events) = page();
    let sent = app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
    let (_, reply) = rest(&mut events).await;
    let at = |name: &str| folder.path().join(name);

    app.conversations
        .export(Some(sent.chat), ExportFormat::Markdown, ExportedPictures::default(), at("chat.md"))
        .await
        .unwrap();
    let written = std::fs::read_to_string(at("chat.md")).unwrap();
    assert!(written.contains(QUESTION) && written.contains(&reply.text), "{written}");

    app.conversations
        .export(None, ExportFormat::Json, ExportedPictures::default(), at("all.json"))
        .await
        .unwrap();
    let added = ImportReport { chats: 1, messages: 2, left_out: 0, missing_pictures: 0 };
    let imported = app.conversations.import(vec![Ok(at("all.json"))]).await.unwrap();
    assert_eq!(imported, Imported { added, refused: vec![] });
    assert_eq!(app.snapshot().await.unwrap().chats.total, 2);
    let Imported { added, refused } = app.conversations.import(vec![Ok(at("chat.md"))]).await.unwrap();
    assert_eq!((added, refused.len()), (ImportReport::default(), 1));
    assert_eq!(refused[0].code, "not_importable");
}

#[tokio::test]
async fn pictures_of_imported_chats_are_decoded_by_the_engine_program() {
    let Running { app, folder, .. } = &running().await;
    let path = folder.path().join("all.json");
    let content = include_bytes!("../../../crates/pictures/tests/reference/a.png");
    let facts = PictureFacts {
        format: PictureFormat::Png,
        width: 1,
        height: 1,
        resized_width: 32,
        resized_height: 32,
        tokens: 1,
        digest: String::new(),
        view: "view.png".into(),
        notes: Vec::new(),
    };
    let given = app.conversations.store.call(move |store| {
        let kept = store.picture_files().keep(content, b"nobody has looked at it", &facts)?;
        let picture = store.add_picture(&kept, "a.png", PictureDetail::Low)?;
        let chat = store.create_chat("Pictures")?.id;
        store.add_user_message_with_pictures(chat, None, "What is it?", &[picture])
    });
    let given = given.await.unwrap().pictures.remove(0);
    app.conversations
        .export(None, ExportFormat::Json, ExportedPictures::default(), path.clone())
        .await
        .unwrap();
    let imported = app.conversations.import(vec![Ok(path)]).await.unwrap();
    let added = ImportReport { chats: 1, messages: 1, left_out: 0, missing_pictures: 0 };
    assert_eq!(imported, Imported { added, refused: vec![] });
    let imported = app.conversations.store.call(|store| {
        let newest = store.chats()?.into_iter().map(|chat| chat.id).max().expect("there are two");
        Ok(store.messages(newest)?.remove(0).pictures.remove(0))
    });
    let picture = imported.await.unwrap();
    assert_eq!((picture.name, picture.detail, picture.missing), (given.name, given.detail, false));
    assert_ne!((picture.width, picture.tokens), (given.width, given.tokens), "somebody has looked at it");
}

#[tokio::test]
async fn several_files_are_imported_one_after_the_other_and_each_is_accounted_for() {
    let Running { app, folder, .. } = &running().await;
    let (window, mut changes) = page();
    app.events.subscribe(crate::events::MAIN_WINDOW, window);
    let at = |name: &str| folder.path().join(name);
    let chat = |title: &str, time: u32| {
        json!({"title": title, "named": true, "pinned": false, "tags": [], "created_at": time, "updated_at": time,
               "settings": {"system_prompt": ""}, "draft": "", "messages": []})
    };
    let file = |chats: Vec<Value>| {
        let owl = json!({"name": "Owl", "system_prompt": "You are an owl.", "generation": null});
        let file = json!({"format": "foretoken-chats", "version": 1, "presets": [owl], "chats": chats});
        file.to_string()
    };
    // It is read only when somebody writes into it, and until then nothing after it is.
    assert!(Command::new("mkfifo").arg(at("slow.json")).status().unwrap().success());
    std::fs::write(at("two.json"), file(vec![chat("Second", 2), chat("Third", 3)])).unwrap();
    std::fs::write(at("bad.json"), "{}").unwrap();
    std::fs::write(at("late.json"), file(vec![chat("Fourth", 4)])).unwrap();
    let gone = ErrorReport { code: "not_handed_over".into(), message: "Gone.".into(), hint: "".into() };
    let files = vec![Ok(at("slow.json")), Err(gone.clone()), Ok(at("bad.json")), Ok(at("two.json"))];
    let first = tokio::spawn({
        let app = Arc::clone(app);
        async move { app.conversations.import(files).await.unwrap() }
    });
    let late = tokio::spawn({
        let (app, late) = (Arc::clone(app), at("late.json"));
        async move { app.conversations.import(vec![Ok(late)]).await.unwrap() }
    });
    let titles = async || -> Vec<String> {
        let chats = app.snapshot().await.unwrap().chats.chats;
        chats.into_iter().map(|chat| chat.title).collect()
    };
    let slow = at("slow.json");
    let opened = blocking(move || std::fs::File::options().write(true).open(slow).unwrap());
    let mut slow = timeout(TIMEOUT, opened).await.expect("somebody reads the first file");
    for _ in 0..100 {
        assert_eq!(titles().await, [""; 0], "the others wait for it");
    }
    slow.write_all(file(vec![chat("First", 1)]).as_bytes()).unwrap();
    drop(slow);

    let Imported { added, refused } = timeout(TIMEOUT, first).await.unwrap().unwrap();
    assert_eq!((added.chats, added.messages), (3, 0));
    assert_eq!(refused.len(), 2);
    assert_eq!((&refused[0], refused[1].code.as_str()), (&gone, "not_importable"));
    assert!(refused[1].message.contains("bad.json"), "{}", refused[1]);
    assert_eq!(timeout(TIMEOUT, late).await.unwrap().unwrap().added.chats, 1);
    assert_eq!(titles().await, ["Fourth", "Third", "Second", "First"]);
    let presets = loop {
        if let AppEvent::Presets { presets, .. } = change(&mut changes).await {
            break presets;
        }
    };
    assert_eq!(presets.len(), 1, "the window is told of presets that came along, each once: {presets:?}");
}

#[tokio::test]
async fn the_window_hears_of_every_change_of_the_presets() {
    let Running { app, .. } = &running().await;
    let (window, mut changes) = page();
    app.events.subscribe(crate::events::MAIN_WINDOW, window);
    let mut told = async || loop {
        if let AppEvent::Presets { presets, deleted } = change(&mut changes).await {
            return (presets, deleted);
        }
    };
    let owl = app.conversations.add_preset("Owl".into(), "You are an owl.".into(), None).await.unwrap();
    assert_eq!(told().await, (vec![owl.clone()], vec![]));
    let owl = Preset { system_prompt: "You are an old owl.".into(), ..owl };
    app.conversations.change_preset(owl.clone()).await.unwrap();
    assert_eq!(told().await, (vec![owl.clone()], vec![]));
    app.conversations.delete_preset(owl.id).await.unwrap();
    assert_eq!(told().await, (vec![], vec![owl.clone()]));
    let shown = app.snapshot().await.unwrap();
    assert_eq!(
        (shown.presets, shown.deleted_presets),
        (vec![], vec![owl.clone()]),
        "a page that opens later"
    );
    app.conversations.restore_preset(owl.id).await.unwrap();
    assert_eq!(told().await, (vec![owl], vec![]));
}

#[tokio::test]
async fn a_chat_writes_by_its_own_settings() {
    let Running { app, .. } = &running().await;
    let own = |max_tokens| ChatSettings {
        system_prompt: "Be brief.".into(),
        generation: Some(GenerationSettings { max_tokens, ..app.settings.current().generation }),
        ..ChatSettings::default()
    };
    let (channel, mut events) = page();
    let new = Destination::New(Beginning { navigation: Some(0), settings: own(3), project: None });
    let chat = app.conversations.ask(new, QUESTION.into(), channel).await.unwrap().chat;
    assert_eq!(rest(&mut events).await.1.stats.unwrap().emitted, 3);
    assert_eq!(app.conversations.show_chat(1, chat).await.unwrap().settings, own(3));

    app.conversations.set_chat_settings(chat, own(5)).await.unwrap();
    let (channel, mut events) = page();
    app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
    assert_eq!(rest(&mut events).await.1.stats.unwrap().emitted, 5);

    app.conversations.begin_chat(2);
    let (channel, mut events) = page();
    app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
    assert!(rest(&mut events).await.1.stats.unwrap().emitted > 5, "a new chat follows the app");
}

#[tokio::test]
async fn damage_is_looked_for_once_the_window_can_be_used_and_told_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let places = places(&folder);
    let mut store = Store::open(&places.chats).unwrap();
    fill(&mut store, 100, 120_000).unwrap();
    store.back_up().unwrap();
    drop(store);
    damage(&places.chats);
    let program = engine_program(folder.path());
    let app = App::new(&places, program, &demo_model(), SHORT_MEASUREMENT, Log::default()).unwrap().0;
    let app = Arc::new(app);
    let (window, mut changes) = page();
    app.events.subscribe(crate::events::MAIN_WINDOW, window);
    tokio::spawn({
        let app = Arc::clone(&app);
        async move { tokio::join!(app.conversations.look_after_chats(), app.conversations.publish_damage()) }
    });
    let shown = app.snapshot().await.unwrap();
    assert_eq!((shown.trouble, shown.chats.total), (None, 100), "the window does not wait");
    let AppEvent::ChatsTrouble { trouble } = change(&mut changes).await else { panic!("damage is told") };
    assert_eq!((trouble.error.code.as_str(), trouble.backups.len()), ("chats_corrupt", 1));
    assert_eq!(app.snapshot().await.unwrap().trouble, Some(trouble));
    app.conversations.restore_chats().await.unwrap();
    let shown = app.snapshot().await.unwrap();
    assert_eq!((shown.trouble, shown.chats.total), (None, 100));
}

#[tokio::test]
async fn restoring_ends_replies_that_the_restored_chats_do_not_know() {
    let Running { app, folder, .. } = &running().await;
    app.conversations.store.call(|store| fill(store, 100, 120_000)).await.unwrap();
    app.conversations.store.back_up().await.unwrap();
    write(app, 4096, endless()).await;
    let (channel, mut events) = page();
    let sent =
        app.conversations.ask(app.conversations.open_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    some_text(&mut events).await;
    assert_eq!(app.conversations.restore_chats().await.unwrap_err().code, "chats_not_damaged");
    assert!(app.conversations.replies.are_written(), "nothing was changed");
    damage(&places(folder).chats);
    assert_eq!(app.conversations.store.check().await.unwrap_err().code, "chats_corrupt");
    app.conversations.restore_chats().await.unwrap();
    let (_, ended) = rest(&mut events).await;
    assert_eq!(ended.error.unwrap().code, "chats_corrupt", "it could not be stored, and says so");
    let shown = app.snapshot().await.unwrap();
    assert_eq!((shown.trouble, shown.open, shown.chats.total), (None, None, 100));
    assert_eq!(app.conversations.show_chat(1, sent.chat).await.unwrap_err().code, "unknown_chat");
}
