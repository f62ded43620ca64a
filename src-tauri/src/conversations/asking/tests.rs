//! Tests of asking, retrying, editing, stopping and continuing, with the real engine and the demo model: what the page
//! is sent, what the store keeps, and what becomes of a reply when the engine is killed, the app closes or its end
//! cannot be stored.

mod dispatch;

use std::path::PathBuf;
use std::sync::Arc;

use foretoken_host::testing::{ENDLESS_QUESTION, demo_model, endless, kill};
use foretoken_protocol::{
    AppEvent, Beginning, Destination, DraftRun, Drafting, EngineState, FinishReason, GenerationSettings,
    Message, MessageStatus, ReplyEvent, Sampling, Thinking,
};
use tokio::time::timeout;

use crate::app::App;
use crate::conversations::replies::Page;
use crate::log::Log;
use crate::models::library::testing::SHORT_MEASUREMENT;
use crate::testing::{Running, TIMEOUT, next, page, places, rest, running, some_text, write};

const QUESTION: &str = "Tell me about the sea.";

#[tokio::test]
async fn a_question_is_answered_and_kept() {
    let Running { app, .. } = &running().await;
    let (window, mut changes) = page();
    app.events.subscribe(crate::events::MAIN_WINDOW, window);
    let (channel, mut events) = page();
    let sent = app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
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
    let open = snapshot.open.unwrap();
    assert_eq!(open.chat.id, sent.chat);
    let shown: Vec<_> = open.messages.into_iter().map(|shown| shown.message).collect();
    assert_eq!(shown, [sent.messages[0].message.clone(), message.clone()]);
    let AppEvent::Chats { chats } = changes.recv().await.unwrap() else {
        panic!("the chat is new in the list")
    };
    let chats: Vec<_> = chats.iter().map(|chat| (chat.id, chat.title.as_str())).collect();
    assert_eq!(chats, [(sent.chat, QUESTION)]);

    let (channel, mut events) = page();
    let follow_up =
        app.conversations.ask(app.conversations.open_chat(), "And then?".into(), channel).await.unwrap();
    assert_eq!(follow_up.chat, sent.chat);
    assert_eq!(follow_up.messages[0].message.parent, Some(message.id));
    rest(&mut events).await;
}

#[tokio::test]
async fn a_stopped_reply_goes_on_in_the_same_words() {
    let Running { app, .. } = &running().await;
    let (channel, mut events) = page();
    app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
    let (_, whole) = rest(&mut events).await;

    write(app, 12, Sampling::default()).await;
    let (channel, mut events) = page();
    let part = app.conversations.retry(whole.id, channel).await.unwrap().messages[0].message.clone();
    assert_eq!(part.parent, whole.parent);
    let (_, part) = rest(&mut events).await;
    assert_eq!(part.status, MessageStatus::Finished { reason: FinishReason::Length });
    assert!(part.text.len() < whole.text.len() && whole.text.starts_with(&part.text));

    write(app, 36, Sampling::default()).await;
    let (channel, mut events) = page();
    app.conversations.continue_reply(part.id, channel).await.unwrap();
    let (added, grown) = rest(&mut events).await;
    assert_eq!(grown.id, part.id);
    assert!(grown.text.starts_with(&format!("{}{added}", part.text)));
    assert_eq!(grown.text, whole.text);
}

#[tokio::test]
async fn what_follows_an_edited_reply_is_written_behind_the_edited_text() {
    const EDITED: &str = "The sea is a wide, old book, and a gull is its only reader. It says:";
    let Running { app, .. } = &running().await;
    let ask = async |question: &str| {
        let (channel, mut events) = page();
        let place = app.conversations.open_chat();
        let sent = app.conversations.ask(place, question.into(), channel).await.unwrap();
        let (_, reply) = rest(&mut events).await;
        (sent.chat, reply)
    };
    let (chat, original) = ask(QUESTION).await;
    let (_, followed) = ask("And then?").await;

    let empty = app.conversations.edit_reply(1, original.id, " \n".into()).await.unwrap_err();
    assert_eq!(empty.code, "empty_reply");
    let question = original.parent.unwrap();
    let refused = app.conversations.edit_reply(1, question, EDITED.into()).await.unwrap_err();
    assert_eq!(refused.code, "not_a_reply");
    let opened = app.conversations.edit_reply(1, original.id, EDITED.into()).await.unwrap();
    let [_, shown] = &opened.messages[..] else { panic!("nothing follows it yet: {opened:?}") };
    let edited = shown.message.clone();
    assert_eq!((edited.text.as_str(), edited.edited, &edited.stats), (EDITED, true, &None));
    assert_eq!(shown.versions, [original.id, edited.id]);

    let (same, answered) = ask("And then?").await;
    assert_eq!((same, app.conversations.open_chat().chat), (chat, Some(chat)));
    let tokens = app.engine.count_tokens(vec![original.text.clone(), EDITED.into()]).await.unwrap();
    let read = |reply: &Message| reply.stats.as_ref().unwrap().prompt_tokens;
    assert_eq!(read(&answered) - tokens[1], read(&followed) - tokens[0], "the prompt holds the edited text");

    let (channel, mut events) = page();
    app.conversations.continue_reply(edited.id, channel).await.unwrap();
    let (_, grown) = rest(&mut events).await;
    assert_eq!((grown.id, grown.edited), (edited.id, true));
    assert!(grown.text.starts_with(EDITED) && grown.text.len() > EDITED.len(), "{:?}", grown.text);
    // The prompt is what was asked and the edited text, to the token.
    let first = read(&original) + tokens[1];
    assert_eq!(read(&grown), first);
    let kept = app.conversations.store.call(move |store| store.message(original.id)).await.unwrap();
    assert_eq!(kept.text, original.text);
}

/// All characters of a text that came from drafts, and how long the stretches are in all.
fn drafted(text: &str, runs: &[DraftRun]) -> (usize, usize) {
    let all = runs.iter().map(|run| run.0 as usize).sum();
    let of_drafts = runs.iter().filter(|run| run.1 > 0).map(|run| run.0 as usize).sum();
    assert_eq!(all, text.chars().count(), "{text:?} {runs:?}");
    (of_drafts, all)
}

#[tokio::test]
async fn where_a_text_came_from_is_told_kept_and_goes_on_with_it() {
    let Running { app, .. } = &running().await;
    let drafting =
        |drafting| GenerationSettings { drafting, max_tokens: 12, ..app.settings.current().generation };
    app.settings.set_generation(drafting(Drafting::Fixed { depth: 2 })).await.unwrap();
    let (channel, mut events) = page();
    app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
    let (mut told, mut chars) = (0, 0);
    let message = loop {
        match next(&mut events).await {
            ReplyEvent::Text { answer, provenance, .. } => {
                let (of_drafts, all) = drafted(&answer, &provenance.answer);
                told += of_drafts;
                chars += all;
            }
            ReplyEvent::Ended { message } => break *message,
            _ => {}
        }
    };
    let id = message.id;
    let stored = |id| app.conversations.store.call(move |store| store.provenance(id));
    let first = stored(id).await.unwrap();
    let (of_drafts, all) = drafted(&message.text, &first.answer);
    assert!(of_drafts > 0 && of_drafts < all);
    assert!(first.answer.iter().all(|run| run.1 <= 2));
    assert!(told <= of_drafts && chars <= all, "what comes with the end is not told before");

    app.settings.set_generation(drafting(Drafting::Off)).await.unwrap();
    let (channel, mut events) = page();
    app.conversations.continue_reply(id, channel).await.unwrap();
    let (_, grown) = rest(&mut events).await;
    assert!(grown.text.len() > message.text.len());
    let second = stored(id).await.unwrap();
    assert_eq!(drafted(&grown.text, &second.answer).0, of_drafts, "what was added came from no drafts");
    assert!(first.answer[..first.answer.len() - 1].iter().eq(&second.answer[..first.answer.len() - 1]));
}

#[tokio::test]
async fn a_gain_is_known_once_the_same_was_done_without_drafts() {
    let Running { app, .. } = &running().await;
    let speed = async |drafting, sampling| {
        let settings = GenerationSettings { drafting, sampling, ..app.settings.current().generation };
        app.settings.set_generation(settings).await.unwrap();
        let (channel, mut events) = page();
        app.conversations
            .ask(Destination::New(Beginning::default()), QUESTION.into(), channel)
            .await
            .unwrap();
        let (_, message) = rest(&mut events).await;
        let stats = message.stats.unwrap();
        assert!(stats.emitted >= 24, "long enough to tell a speed: {stats:?}");
        stats
    };
    let (greedy, one) = (Sampling::default(), Drafting::Fixed { depth: 1 });
    assert_eq!(speed(one, greedy).await.plain, None);
    let plain = speed(Drafting::Off, greedy).await;
    assert_eq!(plain.plain, None);
    // What was learned is written when the reply has ended.
    let known = timeout(TIMEOUT, async {
        loop {
            if let Some(known) = speed(one, greedy).await.plain {
                return known;
            }
        }
    });
    assert_eq!(known.await.unwrap().tokens_per_second, plain.tokens_per_second);
    // Nearly greedy, so that it is as long.
    let warm = Sampling { temperature: 0.01, ..greedy };
    assert_eq!(speed(one, warm).await.plain, None, "drawn words were not measured");
}

#[tokio::test]
async fn a_reply_is_stopped() {
    let Running { app, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut events) = page();
    let reply = app
        .conversations
        .ask(app.conversations.open_chat(), ENDLESS_QUESTION.into(), channel)
        .await
        .unwrap()
        .messages[1]
        .message
        .id;
    some_text(&mut events).await;

    let refused =
        app.conversations.ask(app.conversations.open_chat(), "Too early".into(), page().0).await.unwrap_err();
    assert_eq!(refused.code, "still_writing");
    app.conversations.stop(reply).await.unwrap();
    let (_, message) = rest(&mut events).await;
    assert_eq!(message.status, MessageStatus::Finished { reason: FinishReason::Cancelled });
    assert!(!message.text.is_empty());
}

#[tokio::test]
async fn chats_are_answered_side_by_side() {
    let Running { app, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut first) = page();
    let one =
        app.conversations.ask(app.conversations.open_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    some_text(&mut first).await;

    app.conversations.begin_chat(1);
    let (channel, mut second) = page();
    let two =
        app.conversations.ask(app.conversations.open_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    assert_ne!(one.chat, two.chat);
    some_text(&mut second).await;
    // What has come until now may be from before the second one began.
    while first.try_recv().is_ok() {}
    some_text(&mut first).await;

    for (sent, events) in [(two, &mut second), (one, &mut first)] {
        app.conversations.stop(sent.messages[1].message.id).await.unwrap();
        let (_, message) = rest(events).await;
        assert_eq!(message.status, MessageStatus::Finished { reason: FinishReason::Cancelled });
    }
}

#[tokio::test]
async fn a_page_that_opens_later_gets_the_rest() {
    let Running { app, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut first) = page();
    let reply = app
        .conversations
        .ask(app.conversations.open_chat(), ENDLESS_QUESTION.into(), channel)
        .await
        .unwrap()
        .messages[1]
        .message
        .id;
    some_text(&mut first).await;
    let (channel, mut second) = page();
    let standing = app.conversations.attach(reply, channel).await.unwrap();
    let more = some_text(&mut second).await;
    app.conversations.stop(reply).await.unwrap();
    let (added, message) = rest(&mut second).await;
    assert!(message.text.starts_with(&format!("{}{more}{added}", standing.text)));
    assert_eq!(app.conversations.attach(reply, page().0).await.unwrap(), message);
}

#[tokio::test]
async fn every_window_that_shows_a_chat_is_told_of_its_reply_and_hears_all_of_it() {
    let Running { app, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (window, mut changes) = page();
    app.events.subscribe("chat-1", window);
    let (channel, mut first) = page();
    let sent =
        app.conversations.ask(app.conversations.open_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    let told = AppEvent::ChatChanged { chat: sent.chat };
    while timeout(TIMEOUT, changes.recv()).await.unwrap() != Some(told.clone()) {}
    let begun = some_text(&mut first).await;
    let reply = sent.messages[1].message.id;
    let (events, mut second) = page();
    let of_window = Page { window: "chat-1".into(), events };
    let standing = app.conversations.attach(reply, of_window).await.unwrap();
    let more = some_text(&mut second).await;
    app.conversations.stop(reply).await.unwrap();
    let (added, message) = rest(&mut second).await;
    assert!(message.text.starts_with(&format!("{}{more}{added}", standing.text)));
    let (text, heard) = rest(&mut first).await;
    assert_eq!(heard, message);
    assert!(message.text.starts_with(&format!("{begun}{text}")), "nothing is left out");
    assert!(text.ends_with(&format!("{more}{added}")), "the first window goes on hearing it");
}

/// A full disk may keep the end of a reply from being stored.
#[tokio::test]
async fn a_reply_whose_end_was_not_stored_has_ended_for_a_page_that_opens_later() {
    let Running { app, .. } = &running().await;
    write(app, 12, Sampling::default()).await;
    let (channel, mut events) = page();
    app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
    let (_, part) = rest(&mut events).await;
    let id = part.id;
    // What the store holds until it is told the end.
    app.conversations.store.call(move |store| store.continue_reply(id)).await.unwrap();
    let open = app.snapshot().await.unwrap().open.unwrap();
    assert_eq!(open.messages[1].message.status, MessageStatus::Streaming);

    let ended = app.conversations.attach(id, page().0).await.unwrap();
    assert_eq!((ended.status, &ended.text), (MessageStatus::Interrupted, &part.text));
    assert_eq!(app.conversations.store.call(move |store| store.message(id)).await.unwrap(), ended);
    let (channel, mut events) = page();
    app.conversations.continue_reply(id, channel).await.unwrap();
    let (_, grown) = rest(&mut events).await;
    assert!(grown.text.starts_with(&part.text) && grown.text.len() > part.text.len());
}

#[tokio::test]
async fn a_killed_engine_leaves_what_was_written_and_answers_the_next_question() {
    let Running { app, engine, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut events) = page();
    app.conversations.ask(app.conversations.open_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    let begun = some_text(&mut events).await;
    kill(engine);
    let (_, message) = rest(&mut events).await;
    assert_eq!(message.status, MessageStatus::Interrupted);
    assert!(message.text.starts_with(&begun));
    assert_eq!(message.error.as_ref().unwrap().code, "engine_stopped");

    write(app, 24, Sampling::default()).await;
    let (channel, mut events) = page();
    app.conversations.ask(app.conversations.open_chat(), "Are you there?".into(), channel).await.unwrap();
    let (_, answer) = rest(&mut events).await;
    assert!(!answer.text.is_empty());
    assert!(matches!(app.engine.state(), EngineState::Ready { .. }));

    let (channel, mut events) = page();
    app.conversations.continue_reply(message.id, channel).await.unwrap();
    let (_, grown) = rest(&mut events).await;
    assert!(grown.text.starts_with(&message.text) && grown.text.len() > message.text.len());
    assert_eq!(grown.error, None);
}

#[tokio::test]
async fn closing_the_app_keeps_what_was_written() {
    let Running { app, folder, .. } = running().await;
    write(&app, 4096, endless()).await;
    let (channel, mut events) = page();
    let reply = app
        .conversations
        .ask(app.conversations.open_chat(), ENDLESS_QUESTION.into(), channel)
        .await
        .unwrap()
        .messages[1]
        .message
        .id;
    let begun = some_text(&mut events).await;
    timeout(TIMEOUT, app.close()).await.unwrap();

    let store = foretoken_chats::Store::open(&places(&folder).chats).unwrap();
    let message = store.message(reply).unwrap();
    assert!(message.text.starts_with(&begun));
    assert_eq!(message.error.unwrap().code, "app_closed");
}

#[tokio::test]
async fn what_cannot_be_answered_is_refused_before_it_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (app, supervisor) = App::new(
        &places(&folder),
        PathBuf::from("/nowhere/engine"),
        &demo_model(),
        SHORT_MEASUREMENT,
        Log::default(),
    )
    .unwrap();
    tokio::spawn(supervisor.run());
    let app = Arc::new(app);
    app.models.load_selected().await;
    assert_eq!(
        app.conversations.ask(app.conversations.open_chat(), " \n".into(), page().0).await.unwrap_err().code,
        "no_question"
    );
    assert_eq!(
        app.conversations
            .ask(app.conversations.open_chat(), QUESTION.into(), page().0)
            .await
            .unwrap_err()
            .code,
        "engine_not_started"
    );
    assert_eq!(app.conversations.retry(7, page().0).await.unwrap_err().code, "unknown_message");
    assert_eq!(app.snapshot().await.unwrap().chats.chats, []);
}

#[tokio::test]
async fn an_edited_question_is_a_version_with_a_reply_of_its_own() {
    let Running { app, .. } = &running().await;
    let (channel, mut events) = page();
    let first = app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
    let (_, answer) = rest(&mut events).await;

    let (channel, mut events) = page();
    let edited =
        app.conversations.edit(first.messages[0].message.id, "What is MTP?".into(), channel).await.unwrap();
    let [question, reply] = &edited.messages[..] else { panic!("{edited:?}") };
    assert_eq!(question.versions, [first.messages[0].message.id, question.message.id]);
    assert_eq!((question.message.text.as_str(), question.message.parent), ("What is MTP?", None));
    assert_eq!(reply.versions, [reply.message.id]);
    rest(&mut events).await;

    let refused = app.conversations.edit(answer.id, "I say so".into(), page().0).await.unwrap_err();
    assert_eq!(refused.code, "not_a_question");
    assert_eq!(
        app.conversations.edit(question.message.id, " ".into(), page().0).await.unwrap_err().code,
        "no_question"
    );

    let shown = app.conversations.show_message(1, answer.id).await.unwrap();
    let ids: Vec<_> = shown.messages.iter().map(|shown| shown.message.id).collect();
    assert_eq!(ids, [first.messages[0].message.id, answer.id]);
    assert_eq!(shown.messages[0].versions, question.versions);
}

#[tokio::test]
async fn a_reply_that_thinks_answers_when_it_is_told_to() {
    let Running { app, .. } = &running().await;
    // With drafts, one step could write all of it, and take no time after its first token.
    let (drafting, usual) = (Drafting::Off, app.settings.current().generation);
    app.settings
        .set_generation(GenerationSettings { thinking: Thinking::Normal, max_tokens: 3, drafting, ..usual })
        .await
        .unwrap();
    let (channel, mut events) = page();
    app.conversations
        .ask(app.conversations.open_chat(), "Tell me a story about an owl and a bell.".into(), channel)
        .await
        .unwrap();
    let (_, part) = rest(&mut events).await;
    assert!(part.text.is_empty() && !part.thinking.is_empty(), "{part:?}");
    let thought = part.stats.as_ref().unwrap().thinking.seconds;
    assert!(thought > 0.0);

    write(app, 200, Sampling::default()).await;
    let (channel, mut events) = page();
    app.conversations.answer_now(part.id, channel).await.unwrap();
    let (_, whole) = rest(&mut events).await;
    assert_eq!((whole.id, &whole.thinking), (part.id, &part.thinking));
    assert!(whole.stats.unwrap().thinking.seconds >= thought, "it is known how long it has thought");
    assert!(!whole.text.is_empty() && !whole.text.contains("think>"), "{:?}", whole.text);
    assert_eq!(
        app.conversations.answer_now(part.id, page().0).await.unwrap_err().code,
        "nothing_to_continue"
    );
}

#[tokio::test]
async fn a_reply_that_is_being_written_is_ended_before_it_answers() {
    let Running { app, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut first) = page();
    let reply = app
        .conversations
        .ask(app.conversations.open_chat(), ENDLESS_QUESTION.into(), channel)
        .await
        .unwrap()
        .messages[1]
        .message
        .id;
    let begun = some_text(&mut first).await;
    let (channel, mut second) = page();
    app.conversations.answer_now(reply, channel).await.unwrap();
    let (_, ended) = rest(&mut first).await;
    assert!(ended.text.starts_with(&begun));
    some_text(&mut second).await;
    app.conversations.stop(reply).await.unwrap();
    let (_, whole) = rest(&mut second).await;
    assert!(whole.text.starts_with(&ended.text) && whole.text.len() > ended.text.len());
}

#[tokio::test]
async fn the_instructions_of_a_chat_come_first() {
    let Running { app, .. } = &running().await;
    let (channel, mut events) = page();
    let sent = app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
    let (_, answer) = rest(&mut events).await;
    let EngineState::Ready { model, .. } = app.snapshot().await.unwrap().engine else {
        panic!("a model is ready")
    };
    let prompt = async || {
        let conversation = app
            .conversations
            .store
            .call(move |store| crate::conversations::pictures::Conversation::of(store, answer.id, ""));
        let conversation = conversation.await?;
        Ok::<_, foretoken_protocol::ErrorReport>(
            app.conversations.read_by(&conversation, &model).await?.messages,
        )
    };
    let roles = |messages: Vec<foretoken_protocol::ChatMessage>| -> Vec<serde_json::Value> {
        messages.iter().map(|message| serde_json::json!(message)["role"].clone()).collect()
    };
    assert_eq!(roles(prompt().await.unwrap()), ["user", "assistant"]);
    let settings =
        foretoken_protocol::ChatSettings { system_prompt: "Be brief.".into(), ..Default::default() };
    app.conversations.store.call(move |store| store.set_chat_settings(sent.chat, &settings)).await.unwrap();
    assert_eq!(roles(prompt().await.unwrap()), ["system", "user", "assistant"]);
}

#[tokio::test]
async fn a_reply_with_the_usual_limit_ends_where_a_shorter_context_does() {
    let Running { app, .. } = &running().await;
    write(app, crate::settings::Settings::default().generation.max_tokens, endless()).await;
    let EngineState::Ready { model, .. } = app.snapshot().await.unwrap().engine else {
        panic!("a model is ready")
    };
    let (channel, mut events) = page();
    // Reading is quicker than writing.
    let question = "a ".repeat(model.context_length as usize - 500);
    app.conversations.ask(app.conversations.open_chat(), question.into(), channel).await.unwrap();
    let (_, whole) = rest(&mut events).await;
    assert_eq!(whole.status, MessageStatus::Finished { reason: FinishReason::Length });
    let stats = whole.stats.unwrap();
    assert_eq!(stats.prompt_tokens + stats.emitted, model.context_length);
    assert!(stats.emitted > 300, "{stats:?}");
    assert!(app.settings.current().generation.max_tokens > model.context_length);
}
