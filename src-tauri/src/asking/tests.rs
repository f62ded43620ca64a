use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use foretoken_library::Location;
use foretoken_protocol::{
    AppEvent, Drafting, EngineState, FinishReason, GenerationSettings, Message, MessageStatus, ReplyEvent,
    Sampling,
};
use serde::de::DeserializeOwned;
use tauri::ipc::{Channel, InvokeResponseBody};
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::places::Places;
use crate::state::App;
use crate::testing::{ENDLESS_QUESTION, demo_model, endless, engine_program, kill};

const PATIENCE: Duration = Duration::from_secs(60);
const QUESTION: &str = "Tell me about the sea.";

/// An app with its own files and its own engine.
struct Running {
    app: Arc<App>,
    engine: PathBuf,
    _folder: TempDir,
}

fn places(folder: &TempDir) -> Places {
    let at = |name: &str| folder.path().join(name);
    Places {
        settings: at("settings.json"),
        chats: at("chats.sqlite"),
        log: at("foretoken.log"),
        location: Location::new(&at("config"), &at("data")),
        data: at("data"),
        cache: at("cache"),
        engine_state: at("engine"),
    }
}

async fn running() -> Running {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_program(folder.path());
    let (app, supervisor) = App::new(&places(&folder), engine.clone(), &demo_model()).unwrap();
    tokio::spawn(supervisor.run());
    let app = Arc::new(app);
    app.load_selected_model().await;
    let generation = GenerationSettings {
        sampling: Sampling::default(),
        drafting: Drafting::Auto,
        max_tokens: 48,
        thinking: false,
        stop: Vec::new(),
    };
    app.set_generation(generation).await.unwrap();
    Running { app, engine, _folder: folder }
}

async fn write(app: &App, max_tokens: u32, sampling: Sampling) {
    let generation = GenerationSettings { max_tokens, sampling, ..app.settings().generation };
    app.set_generation(generation).await.unwrap();
}

/// A page: a channel as the page has it, and what comes out of it.
fn page<T: DeserializeOwned + Send + 'static>() -> (Channel<T>, UnboundedReceiver<T>) {
    let (sender, events) = unbounded_channel();
    let channel = Channel::new(move |body| {
        let InvokeResponseBody::Json(json) = body else { panic!("messages are JSON") };
        assert!(json.len() < 8192 || json.contains("\"ended\""), "{} bytes", json.len());
        let _ = sender.send(serde_json::from_str(&json).unwrap());
        Ok(())
    });
    (channel, events)
}

async fn next(events: &mut UnboundedReceiver<ReplyEvent>) -> ReplyEvent {
    timeout(PATIENCE, events.recv()).await.unwrap().unwrap()
}

/// Reads until there is some text, and returns it.
async fn some_text(events: &mut UnboundedReceiver<ReplyEvent>) -> String {
    loop {
        if let ReplyEvent::Text { answer, .. } = next(events).await
            && !answer.is_empty()
        {
            return answer;
        }
    }
}

/// The text that comes until the end, and the message at the end.
async fn rest(events: &mut UnboundedReceiver<ReplyEvent>) -> (String, Message) {
    let mut text = String::new();
    loop {
        match next(events).await {
            ReplyEvent::Text { answer, .. } => text += &answer,
            ReplyEvent::Ended { message } => return (text, *message),
            ReplyEvent::Waiting { .. } | ReplyEvent::Reading { .. } | ReplyEvent::Live { .. } => {}
        }
    }
}

#[tokio::test]
async fn a_question_is_answered_and_kept() {
    let Running { app, .. } = &running().await;
    let (window, mut changes) = page();
    app.events.subscribe(window);
    let (channel, mut events) = page();
    let sent = app.ask(QUESTION.into(), channel).await.unwrap();
    assert_eq!(sent.messages.len(), 2);
    let (text, message) = rest(&mut events).await;
    assert!(!message.text.is_empty());
    assert!(message.text.starts_with(&text), "{text:?} {:?}", message.text);
    assert!(matches!(
        message.status,
        MessageStatus::Finished { reason: FinishReason::Stop | FinishReason::Length }
    ));
    assert_eq!(message.model.as_deref(), Some("Demo model"));
    assert!(message.stats.as_ref().unwrap().emitted > 0);

    let snapshot = app.snapshot().await.unwrap();
    assert_eq!(snapshot.chat, Some(sent.chat));
    assert_eq!(snapshot.messages, [sent.messages[0].clone(), message.clone()]);
    let AppEvent::Chats { chats } = changes.recv().await.unwrap() else { panic!("the chats changed") };
    assert_eq!(chats[0].title, QUESTION);

    let (channel, mut events) = page();
    let follow_up = app.ask("And then?".into(), channel).await.unwrap();
    assert_eq!(follow_up.chat, sent.chat);
    assert_eq!(follow_up.messages[0].parent, Some(message.id));
    rest(&mut events).await;
}

#[tokio::test]
async fn a_stopped_reply_goes_on_in_the_same_words() {
    let Running { app, .. } = &running().await;
    let (channel, mut events) = page();
    app.ask(QUESTION.into(), channel).await.unwrap();
    let (_, whole) = rest(&mut events).await;

    write(app, 12, Sampling::default()).await;
    let (channel, mut events) = page();
    let part = app.retry(whole.id, channel).await.unwrap().messages[0].clone();
    assert_eq!(part.parent, whole.parent);
    let (_, part) = rest(&mut events).await;
    assert_eq!(part.status, MessageStatus::Finished { reason: FinishReason::Length });
    assert!(part.text.len() < whole.text.len() && whole.text.starts_with(&part.text));

    write(app, 36, Sampling::default()).await;
    let (channel, mut events) = page();
    app.go_on(part.id, channel).await.unwrap();
    let (added, grown) = rest(&mut events).await;
    assert_eq!(grown.id, part.id);
    assert!(grown.text.starts_with(&format!("{}{added}", part.text)));
    assert_eq!(grown.text, whole.text);
}

#[tokio::test]
async fn a_reply_is_stopped() {
    let Running { app, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut events) = page();
    let reply = app.ask(ENDLESS_QUESTION.into(), channel).await.unwrap().messages[1].id;
    some_text(&mut events).await;

    let refused = app.ask("Too early".into(), page().0).await.unwrap_err();
    assert_eq!(refused.code, "still_writing");
    app.stop(reply);
    let (_, message) = rest(&mut events).await;
    assert_eq!(message.status, MessageStatus::Finished { reason: FinishReason::Cancelled });
    assert!(!message.text.is_empty());
}

#[tokio::test]
async fn chats_are_answered_side_by_side() {
    let Running { app, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut first) = page();
    let one = app.ask(ENDLESS_QUESTION.into(), channel).await.unwrap();
    some_text(&mut first).await;

    app.set_open_chat(None);
    let (channel, mut second) = page();
    let two = app.ask(ENDLESS_QUESTION.into(), channel).await.unwrap();
    assert_ne!(one.chat, two.chat);
    some_text(&mut second).await;
    // What has come until now may be from before the second one began.
    while first.try_recv().is_ok() {}
    some_text(&mut first).await;

    for (sent, events) in [(two, &mut second), (one, &mut first)] {
        app.stop(sent.messages[1].id);
        let (_, message) = rest(events).await;
        assert_eq!(message.status, MessageStatus::Finished { reason: FinishReason::Cancelled });
    }
}

#[tokio::test]
async fn a_page_that_opens_later_gets_the_rest() {
    let Running { app, .. } = &running().await;
    write(app, 400, endless()).await;
    let (channel, mut first) = page();
    let reply = app.ask(ENDLESS_QUESTION.into(), channel).await.unwrap().messages[1].id;
    some_text(&mut first).await;
    let (channel, mut second) = page();
    let standing = app.attach(reply, channel).await.unwrap();
    let (added, message) = rest(&mut second).await;
    assert!(message.text.starts_with(&format!("{}{added}", standing.text)));
    assert_eq!(app.attach(reply, page().0).await.unwrap(), message);
}

#[tokio::test]
async fn a_killed_engine_leaves_what_was_written_and_answers_the_next_question() {
    let Running { app, engine, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut events) = page();
    app.ask(ENDLESS_QUESTION.into(), channel).await.unwrap();
    let begun = some_text(&mut events).await;
    kill(engine);
    let (_, message) = rest(&mut events).await;
    assert_eq!(message.status, MessageStatus::Interrupted);
    assert!(message.text.starts_with(&begun));
    assert_eq!(message.error.as_ref().unwrap().code, "engine_stopped");

    write(app, 24, Sampling::default()).await;
    let (channel, mut events) = page();
    app.ask("Are you there?".into(), channel).await.unwrap();
    let (_, answer) = rest(&mut events).await;
    assert!(!answer.text.is_empty());
    assert!(matches!(app.engine.state(), EngineState::Ready { .. }));

    let (channel, mut events) = page();
    app.go_on(message.id, channel).await.unwrap();
    let (_, grown) = rest(&mut events).await;
    assert!(grown.text.starts_with(&message.text) && grown.text.len() > message.text.len());
    assert_eq!(grown.error, None);
}

#[tokio::test]
async fn closing_the_app_keeps_what_was_written() {
    let Running { app, _folder: folder, .. } = running().await;
    write(&app, 4096, endless()).await;
    let (channel, mut events) = page();
    let reply = app.ask(ENDLESS_QUESTION.into(), channel).await.unwrap().messages[1].id;
    let begun = some_text(&mut events).await;
    timeout(PATIENCE, app.close()).await.unwrap();

    let store = foretoken_chats::Store::open(&places(&folder).chats).unwrap();
    let message = store.message(reply).unwrap();
    assert!(message.text.starts_with(&begun));
    assert_eq!(message.error.unwrap().code, "app_closed");
}

#[tokio::test]
async fn what_cannot_be_answered_is_refused_before_it_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (app, supervisor) = App::new(&places(&folder), "/nowhere/engine".into(), &demo_model()).unwrap();
    tokio::spawn(supervisor.run());
    let app = Arc::new(app);
    app.load_selected_model().await;
    assert_eq!(app.ask(" \n".into(), page().0).await.unwrap_err().code, "no_question");
    assert_eq!(app.ask(QUESTION.into(), page().0).await.unwrap_err().code, "engine_not_started");
    assert_eq!(app.retry(7, page().0).await.unwrap_err().code, "unknown_message");
    assert_eq!(app.snapshot().await.unwrap().chats, []);
}
