use std::sync::Arc;

use foretoken_chats::Store;
use foretoken_protocol::{
    AppEvent, Beginning, ChatId, ChatSettings, ChatSummary, Deletion, Destination, ExportFormat,
    GenerationSettings, UnseenReply,
};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use crate::chats::tests::{damage, fill};
use crate::log::Log;
use crate::open::OpenPlace;
use crate::state::App;
use crate::testing::{
    ENDLESS_QUESTION, PATIENCE, Running, demo_model, endless, engine_program, kill, page, places, rest,
    running, some_text, write,
};

const QUESTION: &str = "Tell me about the sea.";

/// What the window is told next.
async fn change(changes: &mut UnboundedReceiver<AppEvent>) -> AppEvent {
    timeout(PATIENCE, changes.recv()).await.expect("the window is told something").unwrap()
}

/// What the window is told next about a chat in the list.
async fn told(changes: &mut UnboundedReceiver<AppEvent>) -> ChatSummary {
    loop {
        if let AppEvent::Chat { chat } = change(changes).await {
            return chat;
        }
    }
}

#[tokio::test]
async fn what_is_deleted_comes_back() {
    let Running { app, .. } = &running().await;
    let (channel, mut events) = page();
    let sent = app.ask(app.open_chat(), QUESTION.into(), channel).await.unwrap();
    let (_, reply) = rest(&mut events).await;

    let deleted = app.delete_message(reply.id).await.unwrap();
    assert_eq!(deleted.chat.messages.len(), 1);
    assert_eq!(app.undo_deletion(deleted.deletion).await.unwrap(), sent.chat);
    assert_eq!(app.show_chat(1, sent.chat).await.unwrap().messages[1].message, reply);

    let deletion = app.delete_chat(sent.chat).await.unwrap();
    assert_eq!(app.snapshot().await.unwrap().open, None, "a chat that is gone is not open");
    assert_eq!(app.show_chat(2, sent.chat).await.unwrap_err().code, "unknown_chat");
    app.undo_deletion(deletion).await.unwrap();
    assert_eq!(app.show_chat(3, sent.chat).await.unwrap().messages.len(), 2);
}

#[tokio::test]
async fn deleting_ends_the_reply_of_a_chat_and_waits_for_that_of_a_message() {
    let Running { app, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut events) = page();
    let sent = app.ask(app.open_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    some_text(&mut events).await;
    let reply = sent.messages[1].message.id;
    assert_eq!(app.delete_message(reply).await.unwrap_err().code, "still_writing");
    let deletion = app.delete_chat(sent.chat).await.unwrap();
    let (_, ended) = rest(&mut events).await;
    assert!(!ended.text.is_empty());
    app.undo_deletion(deletion).await.unwrap();
    assert_eq!(app.show_chat(1, sent.chat).await.unwrap().messages[1].message.text, ended.text);
}

/// Lets something come to where it waits for the store.
async fn begin<T>(doing: &mut (impl Future<Output = T> + Unpin)) {
    tokio::select! {
        biased;
        _ = doing => panic!("it waits for nothing"),
        () = std::future::ready(()) => {}
    }
}

/// Between a question that is stored and the reply that the engine is asked for, a message is not deleted and a chat is left.
#[tokio::test]
async fn what_is_deleted_while_it_is_asked_is_not_written_on() {
    let Running { app, .. } = &running().await;
    write(app, 4096, endless()).await;
    let ask = async |to: Destination| {
        let (channel, events) = page();
        let sent = app.ask(to, ENDLESS_QUESTION.into(), channel).await.unwrap();
        (sent, events)
    };
    let (first, mut events) = ask(app.open_chat().into()).await;
    let question = first.messages[0].message.id;
    app.stop(first.messages[1].message.id);
    rest(&mut events).await;

    let mut asked = Box::pin(ask(app.open_chat().into()));
    begin(&mut asked).await;
    let (refused, (second, mut events)) = tokio::join!(app.delete_message(question), asked);
    assert_eq!(refused.unwrap_err().code, "still_writing");
    app.stop(second.messages[1].message.id);
    rest(&mut events).await;

    let mut asked = Box::pin(ask(app.open_chat().into()));
    begin(&mut asked).await;
    app.delete_chat(first.chat).await.unwrap();
    asked.await;
    timeout(PATIENCE, app.replies.all_ended()).await.expect("nobody writes in a chat that is gone");
}

#[tokio::test]
async fn whoever_has_gone_on_is_not_led_back() {
    let Running { app, .. } = &running().await;
    let ask = async |to: Destination| {
        let (channel, mut events) = page();
        let sent = app.ask(to, QUESTION.into(), channel).await.unwrap();
        rest(&mut events).await;
        sent
    };
    let one = ask(app.open_chat().into()).await;
    app.begin_chat(1);
    let two = ask(app.open_chat().into()).await;
    assert_eq!(app.open_chat(), OpenPlace { navigation: 1, chat: Some(two.chat) });

    // Commands of one person, in the order of the scheduler.
    app.show_chat(5, two.chat).await.unwrap();
    assert_eq!(app.show_chat(3, one.chat).await.unwrap_err().code, "left");
    app.begin_chat(4);
    assert_eq!(app.show_message(2, one.messages[0].message.id).await.unwrap_err().code, "left");
    assert_eq!(app.branch(4, one.messages[1].message.id).await.unwrap_err().code, "left");
    assert_eq!(app.snapshot().await.unwrap().chats.total, 3, "what was branched is there");
    assert_eq!(app.open_chat(), OpenPlace { navigation: 5, chat: Some(two.chat) });
    app.delete_chat(one.chat).await.unwrap();
    assert_eq!(app.open_chat().chat, Some(two.chat), "another one is gone");

    // A new chat that is left before it begins.
    app.begin_chat(6);
    let left = app.open_chat();
    app.begin_chat(7);
    ask(left.into()).await;
    assert_eq!(app.open_chat(), OpenPlace { navigation: 7, chat: None });
    let snapshot = app.snapshot().await.unwrap();
    assert_eq!((snapshot.navigation, snapshot.open), (7, None));
}

#[tokio::test]
async fn all_deletions_can_be_undone_until_the_app_ends() {
    let Running { app, .. } = &running().await;
    let (window, mut changes) = page();
    app.events.subscribe(window);
    let (channel, mut events) = page();
    let sent = app.ask(app.open_chat(), QUESTION.into(), channel).await.unwrap();
    let (_, reply) = rest(&mut events).await;
    let other = app.branch(1, reply.id).await.unwrap().chat.id;
    app.delete_message(reply.id).await.unwrap();
    app.delete_chat(other).await.unwrap();

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
        app.undo_deletion(deletion.id).await.unwrap();
    }
    assert_eq!(app.snapshot().await.unwrap().deletions, []);
    assert_eq!(app.show_chat(2, sent.chat).await.unwrap().messages[1].message, reply);
    assert_eq!(app.show_chat(3, other).await.unwrap().messages.len(), 2);
}

#[tokio::test]
async fn a_reply_that_ends_with_the_app_is_marked() {
    let Running { app, folder, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut events) = page();
    let sent = app.ask(app.open_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    some_text(&mut events).await;
    app.begin_chat(1);
    timeout(PATIENCE, app.close()).await.unwrap();
    let store = foretoken_chats::Store::open(&places(folder).chats).unwrap();
    assert_eq!(store.chat(sent.chat).unwrap().unseen, Some(UnseenReply::Failed));
}

#[tokio::test]
async fn the_window_hears_of_every_change_in_the_list() {
    let Running { app, .. } = &running().await;
    let (window, mut changes) = page();
    app.events.subscribe(window);
    let (channel, mut events) = page();
    let sent = app.ask(app.open_chat(), QUESTION.into(), channel).await.unwrap();
    rest(&mut events).await;
    // It has begun, and it has ended.
    told(&mut changes).await;
    told(&mut changes).await;

    app.rename_chat(sent.chat, "The sea".into()).await.unwrap();
    let chat = told(&mut changes).await;
    assert_eq!((chat.title.as_str(), chat.named), ("The sea", true));
    app.pin_chat(sent.chat, true).await.unwrap();
    assert!(told(&mut changes).await.pinned);
    app.tag_chat(sent.chat, vec!["water".into(), " ".into()]).await.unwrap();
    assert_eq!(told(&mut changes).await.tags, ["water"]);
    assert!(matches!(change(&mut changes).await, AppEvent::Tags { tags } if tags[0].chats == 1));

    let branch = app.branch(1, sent.messages[0].message.id).await.unwrap();
    let chat = told(&mut changes).await;
    assert_eq!(chat, branch.chat);
    assert_eq!((chat.tags, branch.messages.len()), (vec!["water".to_owned()], 1));
    assert_eq!(chat.origin.unwrap().chat, sent.chat);
}

#[tokio::test]
async fn a_reply_that_ends_while_its_chat_is_not_open_is_marked_until_it_is() {
    let Running { app, engine, .. } = &running().await;
    let (window, mut changes) = page();
    app.events.subscribe(window);
    write(app, 4096, endless()).await;
    let ask = async |chat: Option<ChatId>| {
        let (channel, mut events) = page();
        let to = chat.map_or_else(|| app.open_chat().into(), Destination::Chat);
        let sent = app.ask(to, ENDLESS_QUESTION.into(), channel).await.unwrap();
        some_text(&mut events).await;
        (sent.chat, sent.messages[1].message.id, events)
    };
    let (chat, reply, mut events) = ask(None).await;
    app.stop(reply);
    rest(&mut events).await;
    told(&mut changes).await;
    assert_eq!(told(&mut changes).await.unseen, None, "it was open");

    let (_, reply, mut events) = ask(Some(chat)).await;
    told(&mut changes).await;
    app.begin_chat(1);
    app.stop(reply);
    rest(&mut events).await;
    assert_eq!(told(&mut changes).await.unseen, Some(UnseenReply::Written));
    assert_eq!(app.show_chat(2, chat).await.unwrap().chat.unseen, None);
    assert_eq!(told(&mut changes).await.unseen, None, "the list hears of it");

    let (_, reply, mut events) = ask(Some(chat)).await;
    told(&mut changes).await;
    app.begin_chat(3);
    kill(engine);
    rest(&mut events).await;
    assert_eq!(told(&mut changes).await.unseen, Some(UnseenReply::Failed));
    assert_eq!(app.show_message(4, reply).await.unwrap().chat.unseen, None);
    assert_eq!(told(&mut changes).await.unseen, None);
}

#[tokio::test]
async fn chats_go_into_files_and_come_back() {
    let Running { app, folder, .. } = &running().await;
    let (channel, mut events) = page();
    let sent = app.ask(app.open_chat(), QUESTION.into(), channel).await.unwrap();
    let (_, reply) = rest(&mut events).await;
    let at = |name: &str| folder.path().join(name);

    app.export(Some(sent.chat), ExportFormat::Markdown, at("chat.md")).await.unwrap();
    let written = std::fs::read_to_string(at("chat.md")).unwrap();
    assert!(written.contains(QUESTION) && written.contains(&reply.text), "{written}");

    app.export(None, ExportFormat::Json, at("all.json")).await.unwrap();
    let report = app.import(at("all.json")).await.unwrap();
    assert_eq!((report.chats, report.messages, report.left_out), (1, 2, 0));
    assert_eq!(app.snapshot().await.unwrap().chats.total, 2);
    assert_eq!(app.import(at("chat.md")).await.unwrap_err().code, "not_importable");
}

#[tokio::test]
async fn a_chat_writes_by_its_own_settings() {
    let Running { app, .. } = &running().await;
    let own = |max_tokens| ChatSettings {
        system_prompt: "Be brief.".into(),
        generation: Some(GenerationSettings { max_tokens, ..app.settings().generation }),
        ..ChatSettings::default()
    };
    let (channel, mut events) = page();
    let new = Destination::New(Beginning { navigation: 0, settings: own(3) });
    let chat = app.ask(new, QUESTION.into(), channel).await.unwrap().chat;
    assert_eq!(rest(&mut events).await.1.stats.unwrap().emitted, 3);
    assert_eq!(app.show_chat(1, chat).await.unwrap().settings, own(3));

    app.set_chat_settings(chat, own(5)).await.unwrap();
    let (channel, mut events) = page();
    app.ask(app.open_chat(), QUESTION.into(), channel).await.unwrap();
    assert_eq!(rest(&mut events).await.1.stats.unwrap().emitted, 5);

    app.begin_chat(2);
    let (channel, mut events) = page();
    app.ask(app.open_chat(), QUESTION.into(), channel).await.unwrap();
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
    let app = App::new(&places, program, &demo_model(), Log::default()).unwrap().0;
    let app = Arc::new(app);
    let (window, mut changes) = page();
    app.events.subscribe(window);
    tokio::spawn({
        let app = Arc::clone(&app);
        async move { tokio::join!(app.look_after_chats(), app.publish_damage()) }
    });
    let shown = app.snapshot().await.unwrap();
    assert_eq!((shown.trouble, shown.chats.total), (None, 100), "the window does not wait");
    let AppEvent::ChatsTrouble { trouble } = change(&mut changes).await else { panic!("damage is told") };
    assert_eq!((trouble.error.code.as_str(), trouble.backups.len()), ("chats_corrupt", 1));
    assert_eq!(app.snapshot().await.unwrap().trouble, Some(trouble));
    app.restore_chats().await.unwrap();
    let shown = app.snapshot().await.unwrap();
    assert_eq!((shown.trouble, shown.chats.total), (None, 100));
}

#[tokio::test]
async fn restoring_ends_replies_that_the_restored_chats_do_not_know() {
    let Running { app, folder, .. } = &running().await;
    app.chats.call(|store| fill(store, 100, 120_000)).await.unwrap();
    app.chats.back_up().await.unwrap();
    write(app, 4096, endless()).await;
    let (channel, mut events) = page();
    let sent = app.ask(app.open_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    some_text(&mut events).await;
    assert_eq!(app.restore_chats().await.unwrap_err().code, "chats_not_damaged");
    assert!(app.replies.are_written(), "nothing was changed");
    damage(&places(folder).chats);
    assert_eq!(app.chats.check().await.unwrap_err().code, "chats_corrupt");
    app.restore_chats().await.unwrap();
    let (_, ended) = rest(&mut events).await;
    assert_eq!(ended.error.unwrap().code, "chats_corrupt", "it could not be stored, and says so");
    let shown = app.snapshot().await.unwrap();
    assert_eq!((shown.trouble, shown.open, shown.chats.total), (None, None, 100));
    assert_eq!(app.show_chat(1, sent.chat).await.unwrap_err().code, "unknown_chat");
}
