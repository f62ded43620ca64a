//! What holds for a reply is what the engine that comes to write it is like: another model, or one that stands still.

use std::path::PathBuf;

use foretoken_host::testing::{halt, process_of};

use super::*;

fn a_new_chat() -> Destination {
    Destination::New(Beginning::default())
}

/// The demo model once more, under another name and with another sampling that it recommends.
fn other_model(folder: &tempfile::TempDir) -> PathBuf {
    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    for entry in std::fs::read_dir(demo_model()).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), other.join(entry.file_name())).unwrap();
    }
    let recommended = r#"{"do_sample": true, "temperature": 0.25, "top_p": 0.5, "top_k": 7}"#;
    std::fs::write(other.join("generation_config.json"), recommended).unwrap();
    other
}

/// The person has chosen another model, asks at once, and it is the other one that answers.
#[tokio::test]
async fn a_reply_that_waits_for_a_model_is_written_as_that_model_is() {
    let Running { app, engine, folder } = &running().await;
    let other = other_model(folder);
    // Only the likeliest: a reply that is drawn could end before its limit, and would have nothing to go on with.
    write(app, 12, Sampling { top_k: 1, ..endless() }).await;
    let (channel, mut events) = page();
    let first = app.conversations.ask(a_new_chat(), QUESTION.into(), channel).await.unwrap();
    let (_, before) = rest(&mut events).await;
    assert_eq!(before.model.as_deref(), Some("Demo model"));
    let own = GenerationSettings {
        sampling: Sampling { top_k: 3, ..Sampling::default() },
        ..app.settings.current().generation
    };

    halt(engine, true);
    let mut state = app.engine.watch();
    let loading = tokio::spawn({
        let (app, other) = (Arc::clone(app), other.to_string_lossy().into_owned());
        async move { app.models.load(&other).await }
    });
    state.wait_for(|state| matches!(state, EngineState::Loading { .. })).await.unwrap();
    // One that is new, one that goes on, and one in a chat that has settings of its own.
    let (channel, mut new) = page();
    let asked = app.conversations.ask(a_new_chat(), QUESTION.into(), channel).await.unwrap();
    let (channel, mut continued) = page();
    app.conversations.continue_reply(before.id, channel).await.unwrap();
    let chat = app
        .conversations
        .store
        .call({
            let own = own.clone();
            move |store| {
                let chat = store.create_chat("Its own")?.id;
                let settings =
                    foretoken_protocol::ChatSettings { generation: Some(own), ..Default::default() };
                store.set_chat_settings(chat, &settings)?;
                Ok(chat)
            }
        })
        .await
        .unwrap();
    let (channel, mut third) = page();
    app.conversations.ask(Destination::Chat(chat), QUESTION.into(), channel).await.unwrap();
    halt(engine, false);

    let recommended = Sampling { temperature: 0.25, top_p: 0.5, top_k: 7, ..Sampling::default() };
    for (events, sampling) in
        [(&mut new, recommended), (&mut continued, recommended), (&mut third, own.sampling)]
    {
        let told = next(events).await;
        assert!(matches!(&told, ReplyEvent::Begun { model } if model == "other"), "{told:?}");
        let (_, message) = rest(events).await;
        assert_eq!(message.model.as_deref(), Some("other"));
        assert_eq!(message.stats.unwrap().sampling, sampling);
        let id = message.id;
        assert_eq!(
            app.conversations.store.call(move |store| store.message(id)).await.unwrap().model,
            message.model
        );
    }
    assert_eq!(loading.await.unwrap().unwrap().defaults, recommended);
    assert_ne!(asked.chat, first.chat);

    // Nothing is told where it is as expected.
    let (channel, mut events) = page();
    app.conversations.ask(Destination::Chat(asked.chat), "And then?".into(), channel).await.unwrap();
    let told = next(&mut events).await;
    assert!(!matches!(told, ReplyEvent::Begun { .. }), "{told:?}");
}

/// The model before is loaded again, and answers as it always did.
#[tokio::test]
async fn a_reply_that_waits_for_a_model_which_does_not_load_is_written_by_the_one_before() {
    let Running { app, engine, folder } = &running().await;
    let broken = other_model(folder);
    std::fs::remove_file(broken.join("tokenizer.json")).unwrap();
    let chosen = Sampling { temperature: 0.75, ..Sampling::default() };
    write(app, 12, chosen).await;
    halt(engine, true);
    let mut state = app.engine.watch();
    let loading = tokio::spawn({
        let (app, broken) = (Arc::clone(app), broken.to_string_lossy().into_owned());
        async move { app.models.load(&broken).await }
    });
    state.wait_for(|state| matches!(state, EngineState::Loading { .. })).await.unwrap();
    let (channel, mut events) = page();
    app.conversations.ask(a_new_chat(), QUESTION.into(), channel).await.unwrap();
    halt(engine, false);
    let (_, message) = rest(&mut events).await;
    assert_eq!(message.model.as_deref(), Some("Demo model"));
    assert_eq!(message.stats.unwrap().sampling, chosen);
    loading.await.unwrap().unwrap_err();
}

/// Only the chat whose reply is awaited waits for it.
#[tokio::test]
async fn an_engine_that_stands_still_does_not_keep_people_from_asking_elsewhere() {
    let Running { app, engine, .. } = &running().await;
    write(app, 4096, endless()).await;
    let (channel, mut first) = page();
    let one = app.conversations.ask(a_new_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    some_text(&mut first).await;
    halt(engine, true);
    let reply = one.messages[1].message.id;
    let (channel, mut answer) = page();
    let answering = tokio::spawn({
        let app = Arc::clone(app);
        async move { app.conversations.answer_now(reply, channel).await }
    });
    // It has told the engine, and waits.
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;

    let (channel, mut second) = page();
    let two = timeout(TIMEOUT, app.conversations.ask(a_new_chat(), QUESTION.into(), channel))
        .await
        .unwrap()
        .unwrap();
    assert_ne!(two.chat, one.chat);
    let refused = app.conversations.retry(reply, page().0).await.unwrap_err();
    assert_eq!(refused.code, "still_writing", "in its own chat it has to end first");
    assert!(!answering.is_finished(), "the engine stands still");

    // It is ended, started again, and told the rest.
    let (_, ended) = rest(&mut first).await;
    assert_eq!(
        (ended.status, ended.error.unwrap().code.as_str()),
        (MessageStatus::Interrupted, "engine_hung")
    );
    let (_, interrupted) = rest(&mut second).await;
    assert_eq!(interrupted.error.unwrap().code, "engine_hung");
    answering.await.unwrap().unwrap();
    some_text(&mut answer).await;
    app.conversations.stop(reply).await.unwrap();
    let (_, whole) = rest(&mut answer).await;
    assert!(whole.text.starts_with(&ended.text) && whole.text.len() > ended.text.len());
}

#[tokio::test]
async fn closing_the_app_keeps_what_an_engine_that_stands_still_has_written() {
    let Running { app, engine, folder } = running().await;
    write(&app, 4096, endless()).await;
    let (channel, mut events) = page();
    let sent = app.conversations.ask(a_new_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    let begun = some_text(&mut events).await;
    halt(&engine, true);
    timeout(TIMEOUT, app.close()).await.unwrap();
    let store = foretoken_chats::Store::open(&places(&folder).chats).unwrap();
    assert!(store.message(sent.messages[1].message.id).unwrap().text.starts_with(&begun));
    timeout(TIMEOUT, async {
        while process_of(&engine).is_some() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await
    .unwrap();
}
