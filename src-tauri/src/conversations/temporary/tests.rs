//! Tests of temporary chats, with the real engine and the demo model: what is on the disk, and what is gone.

use std::path::Path;
use std::time::Duration;

use foretoken_host::testing::{ENDLESS_QUESTION, endless};
use foretoken_protocol::{Message, SearchScope};
use tokio::time::{sleep, timeout};

use crate::conversations::filing::tests::remembered;
use crate::conversations::pictures::tests::bitmap;
use crate::testing::{Running, TIMEOUT, page, rest, running, some_text, write};

/// What is written in a temporary chat, and nowhere else.
const NEEDLE: &str = "quixotic-zebra-4711";

/// The files below a folder in which a text stands. The engine's program is none of them.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if !path.ends_with("foretoken-engine") {
            // One that is gone meanwhile holds nothing.
            let bytes = std::fs::read(&path).unwrap_or_default();
            if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// Asks in the open chat and returns the reply.
async fn ask(Running { app, .. }: &Running, question: &str) -> Message {
    let (channel, mut events) = page();
    app.conversations.ask(app.conversations.open_chat(), question.into(), channel).await.unwrap();
    rest(&mut events).await.1
}

/// The files are read while the app runs, as one that is killed leaves them.
#[tokio::test]
async fn nothing_of_a_temporary_chat_is_in_any_file_until_it_is_kept() {
    let running = running().await;
    let (conversations, folder) = (&running.app.conversations, running.folder.path());
    let chat = conversations.begin_temporary(1).await.unwrap().chat.id;
    let reply = ask(&running, &format!("Tell me about the {NEEDLE}. ").repeat(20)).await;
    let question = reply.parent.unwrap();
    conversations.edit_reply(2, reply.id, format!("The {NEEDLE} is a bell.")).await.unwrap();
    let again = ask(&running, "And then?").await;
    assert!(!again.text.is_empty());
    let typed = conversations.store.call_for(chat, move |store| {
        store.set_edit(question, Some(NEEDLE), None)?;
        store.set_draft_text(Some(chat), NEEDLE)
    });
    typed.await.unwrap();
    conversations.store.back_up().await.unwrap();
    let found = conversations.search(NEEDLE.into(), SearchScope::default(), 9).await.unwrap();
    assert_eq!((found.places, holding(folder, NEEDLE)), (0, Vec::new()));
    assert!(!running.app.log.after(0).iter().any(|line| line.text.contains(NEEDLE)));
    let snapshot = running.app.snapshot().await.unwrap();
    assert_eq!((snapshot.chats.total, snapshot.deletions.len()), (0, 0));
    let open = snapshot.open.unwrap();
    assert_eq!((open.chat.id, open.messages.len(), open.draft.text.as_str()), (chat, 4, NEEDLE));

    let kept = conversations.keep_chat(3, chat).await.unwrap();
    assert_eq!((kept.messages.len(), kept.draft.text.as_str()), (4, NEEDLE));
    assert_eq!(conversations.open_chat().chat, Some(kept.chat.id));
    assert!(!holding(folder, NEEDLE).is_empty(), "what is kept is stored");
    assert_eq!(conversations.show_chat(4, chat).await.unwrap_err().code, "unknown_chat");
    assert_eq!(running.app.snapshot().await.unwrap().chats.total, 1);
    ask(&running, "And then?").await;
    let remembered = timeout(TIMEOUT, async {
        loop {
            match remembered(&running.folder) {
                none if none.is_empty() => sleep(Duration::from_millis(20)).await,
                some => break some,
            }
        }
    });
    assert_eq!(
        remembered.await.unwrap(),
        [kept.chat.id].into(),
        "and so is what a model has read of it, not before"
    );
}

#[tokio::test]
async fn a_temporary_chat_that_was_left_ends_with_its_reply_and_its_pictures() {
    let running = running().await;
    let app = &running.app;
    let conversations = &app.conversations;
    let temporary = running.folder.path().join("cache").join("temporary");
    let chat = conversations.begin_temporary(1).await.unwrap().chat.id;
    let (picture, _) = conversations.add_picture(Some(chat), bitmap(64, 64), "owl.bmp".into()).await.unwrap();
    assert!(temporary.is_dir());
    assert!(conversations.picture_view(picture.hash.clone()).await.is_ok());
    write(app, 4096, endless()).await;
    let (channel, mut events) = page();
    conversations.ask(conversations.open_chat(), ENDLESS_QUESTION.into(), channel).await.unwrap();
    some_text(&mut events).await;

    conversations.begin_chat(2);
    conversations.show_chat(3, chat).await.unwrap();
    conversations.end_temporary().await;
    assert_eq!(conversations.show_chat(4, chat).await.unwrap().messages.len(), 2, "it was gone back to");

    conversations.begin_chat(5);
    conversations.end_temporary().await;
    rest(&mut events).await;
    assert_eq!(conversations.show_chat(6, chat).await.unwrap_err().code, "unknown_chat");
    assert!(!temporary.exists());
    assert!(conversations.picture_view(picture.hash).await.is_err());
    let next = conversations.begin_temporary(7).await.unwrap();
    assert!(next.chat.id > chat && next.messages.is_empty());
}
