//! Tests of pictures on their way from a file to a model.

use std::sync::Arc;

use foretoken_protocol::{
    Drafting, GenerationSettings, MessageStatus, PictureFormat, Provenance, Sampling, Thinking,
};

use foretoken_host::testing::{demo_model, engine_program};

use super::*;
use crate::app::App;
use crate::conversations::asking::Question;
use crate::log::Log;
use crate::models::library::testing::SHORT_MEASUREMENT;
use crate::testing::{Running, page, places, rest, running};

#[test]
fn replies_without_an_answer_are_left_out_of_the_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("chats.sqlite")).unwrap();
    let settings = GenerationSettings {
        sampling: Sampling::default(),
        drafting: Drafting::Off,
        max_tokens: 1,
        thinking: Thinking::Off,
        stop: Vec::new(),
    };
    let chat = store.create_chat("A chat").unwrap().id;
    let mut last = None;
    for answer in ["One.", "", "Three."] {
        let question = store.add_user_message(chat, last, &format!("Before {answer:?}")).unwrap().id;
        let reply = store.begin_reply(chat, question, "model", &settings).unwrap().id;
        store.append_to_reply(reply, answer, "", &Provenance::default()).unwrap();
        store.finish_reply(reply, MessageStatus::Interrupted, None, None).unwrap();
        last = Some(reply);
    }
    let Conversation { said, .. } = Conversation::of(&store, last.unwrap(), "").unwrap();
    let texts: Vec<_> = said.iter().map(|said| said.message.content()).collect();
    assert_eq!(texts, ["Before \"One.\"", "One.", "Before \"\"", "Before \"Three.\"", "Three."]);
}

const NONE: UnseenPictures = UnseenPictures { no_sight: 0, no_room: 0, missing: 0, undecoded: 0 };

#[test]
fn what_every_chat_should_know_comes_before_what_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = foretoken_chats::Store::open(&folder.path().join("chats.sqlite")).unwrap();
    let chat = store.create_chat("Owls").unwrap().id;
    let question = store.add_user_message(chat, None, "Who?").unwrap().id;
    let mut told = |system_prompt: &str, without_standing, standing| -> Vec<String> {
        let settings = foretoken_protocol::ChatSettings {
            system_prompt: system_prompt.into(),
            without_standing,
            ..Default::default()
        };
        store.set_chat_settings(chat, &settings).unwrap();
        assert_eq!(store.chat_settings(chat).unwrap(), settings);
        let conversation = Conversation::of(&store, question, standing).unwrap();
        conversation.said.iter().map(|said| said.message.content().into_owned()).collect()
    };
    assert_eq!(told("", false, "Metric units."), ["Metric units.", "Who?"]);
    assert_eq!(told("Be brief.", false, "Metric units."), ["Metric units.\n\nBe brief.", "Who?"]);
    assert_eq!(told("Be brief.", true, "Metric units."), ["Be brief.", "Who?"]);
    assert_eq!(told(" ", true, "Metric units."), ["Who?"]);
    assert_eq!(told(" ", false, " \n"), ["Who?"]);
    let project = store.create_project("Forest").unwrap().id;
    store.change_project(project, Some("Forest"), Some("At night."), None).unwrap();
    store.move_chat(chat, Some(project)).unwrap();
    let told = |store: &foretoken_chats::Store| {
        let conversation = Conversation::of(store, question, "Metric units.").unwrap();
        conversation.said[0].message.content().into_owned()
    };
    let settings =
        foretoken_protocol::ChatSettings { system_prompt: "Be brief.".into(), ..Default::default() };
    store.set_chat_settings(chat, &settings).unwrap();
    assert_eq!(told(&store), "Metric units.\n\nAt night.\n\nBe brief.");
    let settings = foretoken_protocol::ChatSettings { without_project: true, ..settings };
    store.set_chat_settings(chat, &settings).unwrap();
    assert_eq!(told(&store), "Metric units.\n\nBe brief.");
}

/// A bitmap of one colour.
pub(crate) fn bitmap(width: u32, height: u32) -> Vec<u8> {
    let size = 3 * width.next_multiple_of(4) * height;
    let mut bytes = b"BM".to_vec();
    for number in [54 + size, 0, 54, 40, width, height, 1 | (24 << 16), 0, size, 0, 0, 0, 0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.resize(54 + size as usize, 0x5a);
    bytes
}

/// Folders of pictures that are being decoded.
fn decoding(folder: &std::path::Path) -> usize {
    let processes = std::fs::read_dir(folder.join("engine/decoding")).unwrap().flatten();
    let pictures = processes.filter_map(|process| std::fs::read_dir(process.path()).ok());
    pictures.flatten().flatten().filter(|entry| entry.path().is_dir()).count()
}

fn part(text: &str) -> ContentPart {
    ContentPart::Text { text: text.into() }
}

#[tokio::test]
async fn a_picture_is_kept_and_read_by_models_that_see() {
    let Running { app, folder, .. } = &running().await;
    let conversations = &app.conversations;
    let (picture, notes) =
        conversations.add_picture(None, bitmap(512, 256), "an owl.bmp".into()).await.unwrap();
    assert_eq!((picture.format, picture.width, picture.height), (PictureFormat::Bmp, 512, 256));
    assert_eq!((picture.tokens, picture.name.as_str(), notes.len()), (128, "an owl.bmp", 0));
    let (view, _) = conversations.picture_view(picture.hash.clone()).await.unwrap();
    assert!(view.starts_with(b"\x89PNG") || view.starts_with(b"\xff\xd8"), "it can be shown");
    let saved = folder.path().join("saved.bmp");
    conversations.save_picture(&picture.hash, saved.clone()).await.unwrap();
    assert_eq!(std::fs::read(saved).unwrap(), bitmap(512, 256));

    let shown = picture.clone();
    let conversation = conversations.store.call(move |store| {
        let chat = store.create_chat("A chat")?.id;
        let question = store.add_user_message_with_pictures(chat, None, "What is it?", &[shown])?;
        Conversation::of(store, question.id, "")
    });
    let conversation = conversation.await.unwrap();
    let EngineState::Ready { model: blind, .. } = app.engine.state() else { panic!("a model is ready") };
    let pictures = PictureInput::Available { least_pixels: 1 << 16, most_pixels: 1 << 24, tower_bytes: 1 };
    let sees = ModelInfo { pictures: Box::new(pictures), ..(*blind).clone() };
    let cache = folder.path().join("cache/pictures");
    std::fs::remove_dir_all(&cache).unwrap();
    let named = ChatMessage::user("[picture: an owl.bmp]\nWhat is it?");
    let read = conversations.read_by(&conversation, &blind).await.unwrap();
    assert_eq!(read, Read { messages: vec![named], unseen: UnseenPictures { no_sight: 1, ..NONE } });
    assert!(!cache.exists(), "nothing is decoded for it");
    let Read { messages: read, unseen } = conversations.read_by(&conversation, &sees).await.unwrap();
    assert_eq!(unseen, NONE);
    let pixels: Vec<PathBuf> = read[0].pictures().map(ToOwned::to_owned).collect();
    let content = Content::Parts(vec![ContentPart::Image { pixels: pixels[0].clone() }, part("What is it?")]);
    assert_eq!(read, [ChatMessage::User { content }]);
    let made = std::fs::read(&pixels[0]).unwrap();
    assert!(made.len() > 512 * 256 * 3, "all of it in full size");

    // What is gone from the cache is made again.
    std::fs::remove_file(&pixels[0]).unwrap();
    assert_eq!(conversations.read_by(&conversation, &sees).await.unwrap().messages, read);
    assert_eq!(std::fs::read(&pixels[0]).unwrap(), made);
    assert_eq!(decoding(folder.path()), 0, "nothing but pixels is left");
    // Another model reads it in another size.
    let pictures = PictureInput::Available { least_pixels: 1 << 10, most_pixels: 1 << 14, tower_bytes: 1 };
    let narrow = ModelInfo { pictures: Box::new(pictures), ..(*blind).clone() };
    let read = conversations.read_by(&conversation, &narrow).await.unwrap().messages;
    let smaller = std::fs::metadata(read[0].pictures().next().unwrap()).unwrap().len();
    assert!(smaller <= (3 << 14) + 64, "{smaller} bytes");

    std::fs::remove_dir_all(folder.path().join("pictures")).unwrap();
    let gone = ChatMessage::user("[picture: an owl.bmp, missing]\nWhat is it?");
    for model in [&sees, &blind] {
        let read = conversations.read_by(&conversation, model).await.unwrap();
        let unseen = UnseenPictures { missing: 1, ..NONE };
        assert_eq!(read, Read { messages: vec![gone.clone()], unseen });
    }
    let gone = conversations.picture_view(picture.hash).await.unwrap_err();
    assert_eq!(gone.code, "picture_missing");
    assert_eq!(conversations.picture_view("../../etc".into()).await.unwrap_err().code, "picture_missing");
}

#[tokio::test]
async fn a_picture_costs_by_its_detail() {
    let Running { app, .. } = &running().await;
    let (picture, _) = app.conversations.add_picture(None, bitmap(1600, 1200), "photo".into()).await.unwrap();
    let tokens = |detail| app.conversations.in_detail(picture.clone(), detail).unwrap().tokens;
    assert_eq!(picture.tokens, tokens(PictureDetail::Standard));
    assert_eq!(tokens(PictureDetail::Low), 13 * 18);
    assert_eq!(tokens(PictureDetail::Standard), 27 * 36);
    assert_eq!(tokens(PictureDetail::High), 38 * 50);
    let narrow = MessagePicture { width: 4000, height: 2, ..picture.clone() };
    let refused = app.conversations.in_detail(narrow, PictureDetail::Low).unwrap_err();
    assert_eq!(refused.code, "picture_size");
}

#[tokio::test]
async fn a_broken_picture_is_named_and_the_app_goes_on() {
    let Running { app, folder, .. } = &running().await;
    let mut broken = bitmap(64, 64);
    broken.truncate(100);
    let refused = app.conversations.add_picture(None, broken, "a b.bmp".into()).await.unwrap_err();
    assert!(refused.message.starts_with("a b.bmp: "), "{refused}");
    assert!(!refused.hint.is_empty() && !refused.message.contains("/tmp"), "{refused}");
    let large = vec![0; foretoken_pictures::LARGEST_FILE as usize + 1];
    let refused = app.conversations.add_picture(None, large, "huge".into()).await.unwrap_err();
    assert_eq!(refused.code, "picture_too_large");
    assert_eq!(decoding(folder.path()), 0, "nothing is left");
    assert!(!folder.path().join("cache/pictures").exists());
    app.conversations.add_picture(None, bitmap(64, 64), "a.bmp".into()).await.unwrap();
}

/// What the context cannot hold is named, the oldest first, and not decoded; what is asked about is seen all the same.
#[tokio::test]
async fn pictures_that_do_not_fit_are_named() {
    let Running { app, folder, .. } = &running().await;
    let conversations = &app.conversations;
    let (picture, _) = conversations.add_picture(None, bitmap(512, 256), "owl".into()).await.unwrap();
    let conversation = conversations.store.call(move |store| {
        let chat = store.create_chat("A chat")?.id;
        let mut last = None;
        for text in ["One", "Two", "Three"] {
            let pictures = [picture.clone(), picture.clone()];
            last = Some(store.add_user_message_with_pictures(chat, last, text, &pictures)?.id);
        }
        Conversation::of(store, last.unwrap_or_default(), "")
    });
    let conversation = conversation.await.unwrap();
    let EngineState::Ready { model, .. } = app.engine.state() else { panic!("a model is ready") };
    let seen = async |context_length: u32| {
        let sees = PictureInput::Available { least_pixels: 1 << 16, most_pixels: 1 << 24, tower_bytes: 1 };
        let model = ModelInfo { pictures: Box::new(sees), context_length, ..(*model).clone() };
        let Read { messages, unseen } = conversations.read_by(&conversation, &model).await.unwrap();
        let seen: Vec<usize> = messages.iter().map(|message| message.pictures().count()).collect();
        assert_eq!(unseen, UnseenPictures { no_room: 6 - seen.iter().sum::<usize>() as u32, ..NONE });
        seen
    };
    // Each is 130 tokens.
    assert_eq!(seen(1 << 12).await, [2, 2, 2]);
    assert_eq!(seen(800).await, [0, 2, 2]);
    assert_eq!(seen(640).await, [0, 1, 2]);
    std::fs::remove_dir_all(folder.path().join("cache/pictures")).unwrap();
    assert_eq!(seen(100).await, [0, 0, 2]);
    assert_eq!(std::fs::read_dir(folder.path().join("cache/pictures")).unwrap().count(), 1);
    assert_eq!(fitting([3, 4, 1].into_iter(), 6), 1, "the oldest go, also where one of them would fit");
}

/// What was sent long ago may be damaged by now: that is told, or the question is not answered.
#[tokio::test]
async fn a_damaged_picture_is_told_and_one_that_is_asked_about_fails_the_reply() {
    let Running { app, folder, .. } = &running().await;
    let conversations = &app.conversations;
    let (picture, _) = conversations.add_picture(None, bitmap(64, 64), "an owl.bmp".into()).await.unwrap();
    let conversation = conversations.store.call(move |store| {
        let chat = store.create_chat("A chat")?.id;
        let first = store.add_user_message_with_pictures(chat, None, "What is it?", &[picture])?.id;
        let second = store.add_user_message(chat, Some(first), "Really?")?.id;
        Ok((Conversation::of(store, first, "")?, Conversation::of(store, second, "")?))
    });
    let (about_it, behind_it) = conversation.await.unwrap();
    std::fs::remove_dir_all(folder.path().join("cache/pictures")).unwrap();
    let originals = walk(&folder.path().join("pictures"));
    for original in originals.iter().filter(|file| std::fs::read(file).unwrap().starts_with(b"BM")) {
        std::fs::remove_file(original).unwrap();
        std::fs::write(original, &bitmap(64, 64)[..100]).unwrap();
    }
    let EngineState::Ready { model, .. } = app.engine.state() else { panic!("a model is ready") };
    let pictures = PictureInput::Available { least_pixels: 1 << 16, most_pixels: 1 << 24, tower_bytes: 1 };
    let sees = ModelInfo { pictures: Box::new(pictures), ..(*model).clone() };
    let Read { messages, unseen } = conversations.read_by(&behind_it, &sees).await.unwrap();
    assert_eq!(unseen, UnseenPictures { undecoded: 1, ..NONE });
    assert_eq!(messages[0], ChatMessage::user("[picture: an owl.bmp, missing]\nWhat is it?"));
    let refused = conversations.read_by(&about_it, &sees).await.unwrap_err();
    assert!(refused.message.contains("an owl.bmp") && !refused.hint.is_empty(), "{refused}");
}

/// The files below a folder.
fn walk(folder: &std::path::Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// Without a model nobody knows whether the next one sees.
#[tokio::test]
async fn a_question_whose_picture_cannot_be_made_ready_is_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_program(folder.path());
    let (app, _never_run) =
        App::new(&places(&folder), engine, &demo_model(), SHORT_MEASUREMENT, Log::default()).unwrap();
    let app = Arc::new(app);
    let (picture, _) =
        app.conversations.add_picture(None, bitmap(64, 64), "an owl.bmp".into()).await.unwrap();
    let cache = folder.path().join("cache/pictures");
    std::fs::remove_dir_all(&cache).unwrap();
    std::fs::write(&cache, "in the way").unwrap();
    let question = Question { text: "What is it?".into(), pictures: vec![picture] };
    let refused = app.conversations.ask(app.conversations.open_chat(), question, page().0).await.unwrap_err();
    assert_eq!(refused.code, "picture_not_prepared");
    assert!(refused.message.contains("an owl.bmp"), "{refused}");
    let chats = app.conversations.store.call(|store| store.chats()).await.unwrap();
    assert_eq!(chats, [], "nothing was stored");
}

#[tokio::test]
async fn a_message_may_be_pictures_alone() {
    let Running { app, .. } = &running().await;
    let (picture, _) =
        app.conversations.add_picture(None, bitmap(64, 64), "an owl.bmp".into()).await.unwrap();
    let question = |count| Question { text: " ".into(), pictures: vec![picture.clone(); count] };
    let (channel, mut events) = page();
    let many = app.conversations.ask(app.conversations.open_chat(), question(21), page().0).await;
    assert_eq!(many.unwrap_err().code, "pictures_too_many");
    let sent = app.conversations.ask(app.conversations.open_chat(), question(1), channel).await.unwrap();
    rest(&mut events).await;
    let opened = app.conversations.store.call(move |store| store.open_chat(sent.chat)).await.unwrap();
    assert_eq!(opened.chat.title, "an owl.bmp");
    assert_eq!(opened.messages[0].message.pictures, std::slice::from_ref(&picture));
    let unknown = MessagePicture { hash: "0".repeat(64), ..picture };
    let question = Question { text: "What is it?".into(), pictures: vec![unknown] };
    let refused =
        app.conversations.edit(opened.messages[0].message.id, question, page().0).await.unwrap_err();
    assert!(refused.code.contains("picture"), "{refused}");
}
