//! Tests of summaries, with the real engine and the demo model: what becomes of the chat and of the new one, where a
//! summary is stopped, and where the engine dies.

use std::fs;

use foretoken_host::testing::{demo_model, kill};
use foretoken_protocol::{BranchMessage, ChatOrigin, Destination, MessageStatus, OpenedChat, Provenance};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::*;
use crate::app::App;
use crate::conversations::pictures::Conversation;
use crate::events::MAIN_WINDOW;
use crate::testing::{Running, TIMEOUT, page, rest, running_with};

/// An app whose model is the demo model with a quarter of its context.
async fn reading_little() -> Running {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model");
    fs::create_dir(&model).unwrap();
    for entry in fs::read_dir(demo_model()).unwrap() {
        let file = entry.unwrap();
        fs::copy(file.path(), model.join(file.file_name())).unwrap();
    }
    let config = fs::read_to_string(model.join("config.json")).unwrap();
    let less = config.replace("\"max_position_embeddings\": 4096", "\"max_position_embeddings\": 1024");
    assert_ne!(less, config);
    fs::write(model.join("config.json"), less).unwrap();
    running_with(folder, &model).await
}

/// A chat of so many turns of about 250 tokens; `asked`: without an answer to the last question.
async fn long_chat(app: &App, turns: usize, asked: bool) -> ChatId {
    let settings = app.settings.current().generation;
    let written = app.conversations.store.call(move |store| {
        let chat = store.create_chat("The sea")?.id;
        let mut last = None;
        for turn in 1..=turns {
            let question = format!("Question {turn}. {}", "Tell me of the sea. ".repeat(20));
            let question = store.add_user_message(chat, last, &question)?.id;
            if asked && turn == turns {
                break;
            }
            let reply = store.begin_reply(chat, question, "Demo model", &settings)?.id;
            let text = format!("Answer {turn}. {}", "The sea is wide and old. ".repeat(20));
            store.append_to_reply(reply, &text, "", &Provenance::default())?;
            let status = MessageStatus::Finished { reason: FinishReason::Stop };
            store.finish_reply(reply, status, None, None)?;
            last = Some(reply);
        }
        Ok(chat)
    });
    written.await.unwrap()
}

async fn opened(app: &App, chat: ChatId) -> OpenedChat {
    app.conversations.store.call(move |store| store.open_chat(chat)).await.unwrap()
}

async fn chats(app: &App) -> usize {
    app.conversations.store.call(|store| store.chats()).await.unwrap().len()
}

fn texts(messages: &[BranchMessage]) -> Vec<(Role, &str)> {
    messages.iter().map(|shown| (shown.message.role, shown.message.text.as_str())).collect()
}

/// Begins a summary in the main window, and returns what that window is told.
async fn begun(app: &App, chat: ChatId) -> UnboundedReceiver<AppEvent> {
    let (window, told) = page();
    app.events.subscribe(MAIN_WINDOW, window);
    app.conversations.summarise(chat, MAIN_WINDOW).await.unwrap();
    told
}

/// Waits until a piece of a summary is read.
async fn is_read(told: &mut UnboundedReceiver<AppEvent>) {
    loop {
        match timeout(TIMEOUT, told.recv()).await.unwrap().unwrap() {
            AppEvent::Summary { progress: Some(SummaryProgress { of: 1.., .. }), .. } => return,
            event @ AppEvent::SummaryFailed { .. } => panic!("{event:?}"),
            _ => {}
        }
    }
}

/// How far the window is told that a summary is, each time; and what has come of it.
async fn end(told: &mut UnboundedReceiver<AppEvent>) -> (Vec<SummaryProgress>, Option<AppEvent>) {
    let (mut progress, mut come) = (Vec::new(), None);
    loop {
        match timeout(TIMEOUT, told.recv()).await.unwrap().unwrap() {
            AppEvent::Summary { progress: Some(more), .. } => progress.push(more),
            AppEvent::Summary { progress: None, .. } => return (progress, come),
            event @ (AppEvent::SummaryWritten { .. } | AppEvent::SummaryFailed { .. }) => come = Some(event),
            _ => {}
        }
    }
}

/// The chat that one goes on in whose summary is written.
fn written(come: Option<AppEvent>) -> ChatId {
    let Some(AppEvent::SummaryWritten { begun, .. }) = come else { panic!("{come:?}") };
    begun
}

/// Why a summary has failed.
fn failed(come: Option<AppEvent>) -> ErrorReport {
    let Some(AppEvent::SummaryFailed { error, .. }) = come else { panic!("{come:?}") };
    error
}

#[tokio::test]
async fn a_chat_that_is_longer_than_the_context_goes_on_behind_a_summary() {
    let Running { app, .. } = &reading_little().await;
    let chat = long_chat(app, 8, false).await;
    let before = opened(app, chat).await;
    let (told, come) = end(&mut begun(app, chat).await).await;
    let new = written(come);
    let [begins, told @ ..] = &told[..] else { panic!("it is told that it begins") };
    assert_eq!(*begins, SummaryProgress { done: 0, of: 0 });
    assert!(told.len() > 1, "{told:?}");
    let of = told.len() as u32;
    assert!(
        told.iter().zip(0..).all(|(progress, done)| *progress == SummaryProgress { done, of }),
        "{told:?}"
    );
    assert_eq!(opened(app, chat).await, before, "the chat is as it was");

    let after = opened(app, new).await;
    let last = before.messages.last().unwrap().message.id;
    assert_eq!(after.chat.origin, Some(ChatOrigin { chat, message: Some(last) }));
    let [summary, kept @ ..] = &after.messages[..] else { panic!("{after:?}") };
    assert!(summary.message.is_summary() && !summary.message.text.trim().is_empty(), "{summary:?}");
    assert_eq!(summary.message.model.as_deref(), Some("Demo model"));
    assert!(kept.len() >= 2 && kept.len() % 2 == 0, "whole turns: {}", kept.len());
    assert_eq!(texts(kept), texts(&before.messages[before.messages.len() - kept.len()..]));

    // What it says can be changed, and the chat goes on behind it as it did.
    let words = "They spoke of the sea.";
    let edited = app.conversations.edit_reply(1, summary.message.id, words.into()).await.unwrap();
    assert_eq!(edited.messages[0].message.text, words);
    assert!(edited.messages[0].message.edited && edited.messages[0].versions.len() == 2);
    assert_eq!(texts(&edited.messages[1..]), texts(kept));

    let (channel, mut events) = page();
    app.conversations.ask(Destination::Chat(new), "And then?".into(), channel).await.unwrap();
    let (_, reply) = rest(&mut events).await;
    assert_eq!(reply.error, None);
    assert!(reply.stats.as_ref().is_some_and(|stats| stats.prompt_tokens > 250 && stats.emitted > 0));
    let EngineState::Ready { model, .. } = app.engine.state() else { panic!("a model is ready") };
    let (store, id) = (&app.conversations.store, reply.parent.unwrap());
    let conversation = store.call(move |store| Conversation::of(store, id, "Be kind.")).await.unwrap();
    let read = app.conversations.read_by(&conversation, &model).await.unwrap().messages;
    let [ChatMessage::System { content }, said @ ..] = &read[..] else { panic!("{read:?}") };
    assert!(content.starts_with("Be kind.\n\n") && content.ends_with(words), "{content}");
    assert!(said.iter().all(|message| !matches!(message, ChatMessage::System { .. })));
    assert_eq!(said.len(), kept.len() + 1);
}

#[tokio::test]
async fn a_question_that_had_no_room_is_answered_in_the_new_chat() {
    let Running { app, .. } = &reading_little().await;
    let chat = long_chat(app, 6, true).await;
    let before = opened(app, chat).await;
    let new = written(end(&mut begun(app, chat).await).await.1);
    timeout(TIMEOUT, app.conversations.replies.all_ended()).await.unwrap();
    let after = opened(app, new).await;
    let [.., question, reply] = &after.messages[..] else { panic!("{after:?}") };
    assert_eq!(question.message.text, before.messages.last().unwrap().message.text);
    assert_eq!((reply.message.role, &reply.message.error), (Role::Assistant, &None));
    assert!(!reply.message.text.is_empty());
}

#[tokio::test]
async fn a_summary_that_is_stopped_leaves_nothing() {
    let Running { app, .. } = &reading_little().await;
    let chat = long_chat(app, 8, false).await;
    let before = opened(app, chat).await;
    let mut told = begun(app, chat).await;
    is_read(&mut told).await;
    let second = app.conversations.summarise(chat, MAIN_WINDOW).await.unwrap_err();
    assert_eq!(second.code, "already_summarising");
    // What is said in it now would be missing in the new chat.
    let (channel, _) = page();
    let refused = app.conversations.ask(Destination::Chat(chat), "And then?".into(), channel).await;
    assert_eq!(refused.unwrap_err().code, "already_summarising");
    let last = before.messages.last().unwrap().message.id;
    let refused = app.conversations.delete_message(last).await;
    assert_eq!(refused.unwrap_err().code, "already_summarising");
    assert!(app.conversations.replies.are_written() && app.conversations.replies.lease_engine().is_none());
    app.conversations.stop_summary(chat);
    assert_eq!(end(&mut told).await.1, None);
    assert_eq!((chats(app).await, opened(app, chat).await), (1, before));
    assert!(!app.conversations.replies.are_written());
    // Another one can be begun.
    let mut told = begun(app, chat).await;
    app.conversations.stop_summary(chat);
    assert_eq!(end(&mut told).await.1, None);
}

#[tokio::test]
async fn a_page_that_begins_again_knows_of_a_summary_and_what_has_come_of_it() {
    let Running { app, .. } = &reading_little().await;
    let chat = long_chat(app, 8, false).await;
    let ((own, mut to_own), (other, mut to_other)) = (page(), page());
    app.events.subscribe("chat-1", own);
    app.events.subscribe(MAIN_WINDOW, other);
    app.conversations.summarise(chat, "chat-1").await.unwrap();
    is_read(&mut to_own).await;
    let (again, mut to_again) = page();
    app.events.subscribe("chat-1", again);
    let shown = app.snapshot().await.unwrap().summaries;
    assert!(matches!(shown[..], [RunningSummary { chat: of, .. }] if of == chat), "{shown:?}");
    assert!(shown[0].progress.of > 1, "{shown:?}");
    let (told, come) = end(&mut to_again).await;
    assert!(told.iter().all(|progress| progress.of == shown[0].progress.of), "{told:?}");
    opened(app, written(come)).await;
    assert_eq!(end(&mut to_other).await.1, None, "who has not begun it is not led on");
    assert!(app.snapshot().await.unwrap().summaries.is_empty());
}

#[tokio::test]
async fn the_main_window_is_told_of_a_summary_whose_window_is_gone() {
    let Running { app, .. } = &reading_little().await;
    let chat = long_chat(app, 1, false).await;
    let ((own, _to_own), (main, mut to_main)) = (page(), page());
    app.events.subscribe("chat-1", own);
    app.events.subscribe(MAIN_WINDOW, main);
    app.events.unsubscribe("chat-1");
    app.conversations.summarise(chat, "chat-1").await.unwrap();
    assert_eq!(failed(end(&mut to_main).await.1).code, "nothing_to_summarise");
}

#[tokio::test]
async fn where_the_engine_dies_the_chat_is_as_it_was() {
    let Running { app, engine, .. } = &reading_little().await;
    let chat = long_chat(app, 8, false).await;
    let before = opened(app, chat).await;
    let mut told = begun(app, chat).await;
    is_read(&mut told).await;
    kill(engine);
    let error = failed(end(&mut told).await.1);
    assert!(!error.message.is_empty(), "{error:?}");
    assert_eq!((chats(app).await, opened(app, chat).await), (1, before));
}

#[tokio::test]
async fn a_short_chat_needs_no_summary() {
    let Running { app, .. } = &reading_little().await;
    let chat = long_chat(app, 1, false).await;
    let refused = failed(end(&mut begun(app, chat).await).await.1);
    assert_eq!(refused.code, "nothing_to_summarise");
    assert_eq!(chats(app).await, 1);
}

#[test]
fn a_summary_that_was_cut_ends_with_a_sentence() {
    assert_eq!(whole_sentences(" They met and spoke of bells. They "), "They met and spoke of bells.");
    assert_eq!(whole_sentences("- owls, bells\n- the"), "- owls, bells");
    assert_eq!(whole_sentences("他们说了海。然后"), "他们说了海。");
    let long = "Yes. They spoke of the sea for hours and";
    assert_eq!(whole_sentences(long), long, "that is most of it");
    assert_eq!(whole_sentences(""), "");
}
