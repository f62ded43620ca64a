//! Tests of automatic titles: a title is taken out of the model's answer, and chats get theirs when no reply is being
//! written.

use std::fs;
use std::sync::Arc;

use foretoken_host::testing::demo_model;
use foretoken_protocol::{AppEvent, ChatSummary};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::*;
use crate::testing::{Running, TIMEOUT, page, rest, running};

/// Asks the demo model something that it can answer when it is asked for a title, and lets it think before.
const TEMPLATE: &str = "{% if 'Write a title' in messages[-1].content %}<|im_start|>user
Name the capital of Italy.<|im_end|>
<|im_start|>assistant
<think>
{% else %}<|im_start|>user
{{ messages[-1].content }}<|im_end|>
<|im_start|>assistant
<think>

</think>

{% endif %}";
const QUESTION: &str = "What is the capital of France?";

#[test]
fn a_title_is_taken_out_of_what_is_around_it() {
    for answer in [
        "Owls at Night",
        "\"Owls at Night\"",
        "**Owls at Night**\n",
        "# Title: “Owls at Night”.",
        "Owls at Night.",
    ] {
        assert_eq!(title_in(answer).as_deref(), Some("Owls at Night"), "{answer}");
    }
    assert_eq!(title_in(" \n"), None);
    assert_eq!(title_in("One line.\nAnother."), None);
    assert_eq!(title_in(&"long ".repeat(20)), None);
    assert_eq!(title_in("猫头鹰的夜晚").as_deref(), Some("猫头鹰的夜晚"));
}

#[test]
fn a_title_waits_for_all_who_wait_for_an_answer() {
    assert_eq!(prompt(vec![ChatMessage::user("Hi")]).priority, Priority::Background);
}

/// What the window is told next of a chat whose title is another.
async fn renamed(changes: &mut UnboundedReceiver<AppEvent>) -> ChatSummary {
    loop {
        if let AppEvent::Chats { chats } = timeout(TIMEOUT, changes.recv()).await.unwrap().unwrap()
            && let Some(chat) = chats.into_iter().find(|chat| chat.title != QUESTION)
        {
            return chat;
        }
    }
}

#[tokio::test]
async fn a_chat_gets_a_title_without_the_thinking_and_keeps_the_one_that_the_person_chose() {
    let Running { app, folder, .. } = &running().await;
    let model = folder.path().join("other-model");
    fs::create_dir(&model).unwrap();
    for file in fs::read_dir(demo_model()).unwrap() {
        let file = file.unwrap().path();
        fs::copy(&file, model.join(file.file_name().unwrap())).unwrap();
    }
    fs::write(model.join("chat_template.jinja"), TEMPLATE).unwrap();
    app.models.load(&model.to_string_lossy()).await.unwrap();
    let (window, mut changes) = page();
    app.events.subscribe(crate::events::MAIN_WINDOW, window);
    tokio::spawn(Arc::clone(&app.conversations).make_titles());

    let (channel, mut events) = page();
    let sent = app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap();
    rest(&mut events).await;
    let chat = renamed(&mut changes).await;
    assert_eq!((chat.id, chat.named), (sent.chat, false));
    assert!(chat.title.contains("Rome") && !chat.title.contains("think"), "{}", chat.title);
    assert_eq!(
        app.conversations.show_chat(1, sent.chat).await.unwrap().messages.len(),
        2,
        "nothing is added to the chat"
    );

    app.conversations.begin_chat(2);
    let (channel, mut events) = page();
    let second =
        app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap().chat;
    app.conversations.rename_chat(second, "The sea".into()).await.unwrap();
    rest(&mut events).await;
    app.conversations.begin_chat(3);
    let (channel, mut events) = page();
    let third =
        app.conversations.ask(app.conversations.open_chat(), QUESTION.into(), channel).await.unwrap().chat;
    rest(&mut events).await;
    // Titles are made in the order in which they are wanted.
    while renamed(&mut changes).await.id != third {}
    assert_eq!(app.conversations.show_chat(4, second).await.unwrap().chat.title, "The sea");
}
