//! The app's own tools that reach files and the web: what is asked about, for how long an answer holds, and that
//! nothing is written but what the person has seen.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::thread;

use super::*;

/// An app with a folder `Notes` that has the file `today.txt`.
async fn with_notes() -> (Scripted, PathBuf) {
    let scripted = scripted().await;
    let notes = scripted.folder.path().join("Notes");
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("today.txt"), "milk\nbread\n").unwrap();
    scripted.app.toolbox.add_folder(notes.clone()).await.unwrap();
    (scripted, notes)
}

fn read() -> String {
    call("read_file", &[("path", "Notes/today.txt")])
}

fn edit(old: &str, new: &str) -> String {
    call("edit_file", &[("path", "Notes/today.txt"), ("old", old), ("new", new)])
}

fn allow(scope: CallScope) -> CallAnswer {
    CallAnswer::Allow { scope, arguments: None, seen: None }
}

/// Answers the one question of a reply, and returns how that ends or asks again.
async fn answer(app: &Arc<App>, message: &Message, answer: CallAnswer) -> Message {
    let asked = message.steps.iter().flat_map(|step| &step.calls);
    let asked = asked.clone().find(|call| call.state == CallState::Asking).expect("somebody is asked").id;
    let (channel, mut events) = page();
    app.conversations.decide(asked, answer, channel).await.unwrap();
    rest(&mut events).await.1
}

fn last_call(message: &Message) -> &ReplyCall {
    message.steps.iter().flat_map(|step| &step.calls).next_back().unwrap()
}

#[tokio::test]
async fn files_are_read_once_the_person_allows_it_and_only_in_picked_folders() {
    let (Scripted { app, .. }, notes) = &with_notes().await;
    let outside = call("read_file", &[("path", "/etc/hostname")]);
    let (chat, _, mut events) = ask(app, &["read_files"], question(&[&read(), &read(), &outside])).await;
    let (_, message) = rest(&mut events).await;
    assert_eq!(message.status, MessageStatus::Asking);
    let message = answer(app, &message, allow(CallScope::Chat)).await;
    assert_eq!(message.status, ENDED, "the others are not asked about");
    let first = details(app, first_call(&message)).await;
    assert!(first.result_for_model.unwrap().contains("bread"));
    assert_eq!(last_call(&message).state, CallState::Failed, "{message:?}");
    assert_eq!(app.toolbox.state().await.permissions[0].chat, Some(chat));

    // Another folder, and what was allowed before is not that.
    let more = notes.with_file_name("More");
    fs::create_dir(&more).unwrap();
    app.toolbox.add_folder(more).await.unwrap();
    assert_eq!(app.toolbox.state().await.permissions, []);
    let (channel, mut events) = page();
    let again = question(&[&read()]);
    app.conversations.ask(Destination::Chat(chat), again.as_str().into(), channel).await.unwrap();
    assert_eq!(rest(&mut events).await.1.status, MessageStatus::Asking);
}

#[tokio::test]
async fn a_change_is_shown_before_it_is_made_and_asked_about_each_time() {
    let (Scripted { app, .. }, notes) = &with_notes().await;
    let rounds = question(&[&edit("milk", "oat milk"), &edit("bread", "rolls")]);
    let (_, _, mut events) = ask(app, &["write_files"], rounds).await;
    let (_, message) = rest(&mut events).await;
    let id = first_call(&message);
    let shown = app.conversations.call_difference(id, None).await.unwrap();
    assert_eq!(
        (shown.path.as_str(), shown.creates, shown.added, shown.removed),
        ("Notes/today.txt", false, 1, 1)
    );
    assert!(shown.text.contains("-milk\n+oat milk\n bread\n"), "{}", shown.text);
    let (channel, _none) = page::<ReplyEvent>();
    let unseen = app.conversations.decide(id, allow(CallScope::Always), channel).await.unwrap_err();
    assert_eq!(unseen.code, "call_not_seen");
    let seen = |shown: CallDifference| CallAnswer::Allow {
        scope: CallScope::Always,
        arguments: None,
        seen: Some(shown.seen),
    };
    let message = answer(app, &message, seen(shown)).await;
    assert_eq!(fs::read_to_string(notes.join("today.txt")).unwrap(), "oat milk\nbread\n");
    assert_eq!(message.status, MessageStatus::Asking, "the next change is asked about, whatever was said");
    assert_eq!(app.toolbox.state().await.permissions, []);

    // The file is another one by the time that the person answers.
    let shown = app.conversations.call_difference(last_call(&message).id, None).await.unwrap();
    fs::write(notes.join("today.txt"), "bread, butter\n").unwrap();
    let message = answer(app, &message, seen(shown)).await;
    assert_eq!(last_call(&message).state, CallState::Failed);
    assert_eq!(fs::read_to_string(notes.join("today.txt")).unwrap(), "bread, butter\n");
}

#[tokio::test]
async fn what_the_person_has_changed_is_what_is_shown_and_written() {
    let (Scripted { app, .. }, notes) = &with_notes().await;
    let write = call("write_file", &[("path", "Notes/new.txt"), ("content", "one\n")]);
    let (_, _, mut events) = ask(app, &["write_files"], question(&[&write])).await;
    let (_, message) = rest(&mut events).await;
    let changed = r#"{"path": "Notes/new.txt", "content": "two\n"}"#.to_owned();
    let shown = app.conversations.call_difference(first_call(&message), Some(changed.clone())).await.unwrap();
    assert!(shown.creates && shown.text.contains("+two"), "{shown:?}");
    let allow =
        CallAnswer::Allow { scope: CallScope::Once, arguments: Some(changed), seen: Some(shown.seen) };
    answer(app, &message, allow).await;
    assert_eq!(fs::read_to_string(notes.join("new.txt")).unwrap(), "two\n");
}

#[tokio::test]
async fn nobody_is_asked_about_a_change_that_cannot_be_made() {
    let (Scripted { app, .. }, _) = &with_notes().await;
    let (_, _, mut events) = ask(app, &["write_files"], question(&[&edit("butter", "jam")])).await;
    let (_, message) = rest(&mut events).await;
    assert_eq!(message.status, ENDED);
    assert!(message.text.contains("\"old\" does not occur in \"Notes/today.txt\""), "{}", message.text);
}

#[tokio::test]
async fn a_page_is_asked_about_by_its_host_and_again_once_files_were_read() {
    let (Scripted { app, .. }, _) = &with_notes().await;
    // Of the person's own network nothing is read, whatever they allow: a call to it reaches nobody here.
    let of = |host: &str| call("read_page", &[("address", &format!("http://{host}/a?b=c"))]);
    let (near, other) = (of("127.0.0.1:9"), of("127.0.0.2:9"));
    let rounds = question(&[&near, &near, &other, &read(), &near]);
    let (_, _, mut events) = ask(app, &["read_files", "read_page"], rounds).await;
    let (_, message) = rest(&mut events).await;
    let message = answer(app, &message, allow(CallScope::Always)).await;
    assert!(message.steps[0].calls[0].state == CallState::Failed, "{message:?}");
    assert_eq!(message.steps[1].calls[0].state, CallState::Failed, "the same host is not asked about");
    let permission = &app.toolbox.state().await.permissions[0];
    assert_eq!(
        (permission.server.as_str(), permission.server_fingerprint.as_str()),
        ("", "http://127.0.0.1:9")
    );
    assert_eq!(last_call(&message).state, CallState::Asking, "another host is");
    let message = answer(app, &message, allow(CallScope::Once)).await;
    assert_eq!(last_call(&message).tool, "read_file");
    let message = answer(app, &message, allow(CallScope::Once)).await;
    let leaks = last_call(&message);
    assert!(leaks.state == CallState::Asking && leaks.may_leak, "{leaks:?}");
}

#[tokio::test]
async fn a_file_that_the_person_has_sent_counts_as_theirs_and_as_a_strangers() {
    let (Scripted { app, .. }, _) = &with_notes().await;
    let near = call("read_page", &[("address", "http://127.0.0.1:9/a")]);
    for (files, leaks) in [("", false), ("\n\nFile: pay.txt\n```\n4,200\n```", true)] {
        let rounds = question(&[&near, &near]) + files;
        let (_, _, mut events) = ask(app, &["read_page"], rounds).await;
        let (_, message) = rest(&mut events).await;
        assert_eq!(last_call(&message).may_leak, leaks);
        let message = answer(app, &message, allow(CallScope::Chat)).await;
        assert_eq!(message.steps.len(), if leaks { 2 } else { 3 }, "{message:?}");
        if leaks {
            let again = last_call(&message);
            assert!(again.state == CallState::Asking && again.may_leak, "{again:?}");
        }
    }
}

#[tokio::test]
async fn the_search_service_that_the_person_has_set_is_asked_and_no_other() {
    let Scripted { app, .. } = &scripted().await;
    let search = call("search_web", &[("query", "opening hours")]);
    let (_, _, mut events) = ask(app, &["search_web"], question(&[&search])).await;
    let (_, message) = rest(&mut events).await;
    assert_eq!((message.status, message.text.as_str()), (ENDED, search.as_str()), "there is no such tool");

    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/searx", service.local_addr().unwrap());
    let asked = thread::spawn(move || {
        let (stream, _) = service.accept().unwrap();
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).unwrap();
        let found =
            json!({ "results": [{ "url": "https://example.org/", "title": "Hours", "content": "9 to 5" }] });
        let found = found.to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length";
        write!(&stream, "{head}: {}\r\n\r\n{found}", found.len()).unwrap();
        line
    });
    let refused = app.toolbox.set_search("file:///etc/passwd").await.unwrap_err();
    assert_eq!(refused.code, "tool_search_address");
    app.toolbox.set_search(&address).await.unwrap();
    let (_, _, mut events) = ask(app, &["search_web"], question(&[&search])).await;
    let (_, message) = rest(&mut events).await;
    let message = answer(app, &message, allow(CallScope::Once)).await;
    assert!(message.text.contains("1. Hours\n   https://example.org/\n   9 to 5"), "{}", message.text);
    assert!(asked.join().unwrap().starts_with("GET /searx/search?q=opening+hours&format=json "));
}

#[tokio::test]
async fn a_chat_has_a_tool_as_soon_as_what_it_needs_is_set() {
    const SAY: &str = "{\"say_results\": true}";
    let Scripted { app, folder } = &scripted().await;
    let (chat, _, mut events) = ask(app, &["read_files"], SAY.to_owned()).await;
    assert!(rest(&mut events).await.1.text.ends_with("[] of []"));
    let notes = folder.path().join("Notes");
    fs::create_dir(&notes).unwrap();
    app.toolbox.add_folder(notes).await.unwrap();
    let (channel, mut events) = page();
    app.conversations.ask(Destination::Chat(chat), SAY.into(), channel).await.unwrap();
    let text = rest(&mut events).await.1.text.clone();
    assert!(text.ends_with("of [list_files read_file search_files]"), "{text}");
}

#[tokio::test]
async fn what_was_allowed_and_taken_back_before_it_ran_is_asked_about_again() {
    let (Scripted { app, .. }, _) = &with_notes().await;
    let (_, _, mut events) = ask(app, &["read_files"], question(&[&(read() + &read())])).await;
    let (_, message) = rest(&mut events).await;
    let [one, two] = [0, 1].map(|at| message.steps[0].calls[at].id);
    let (channel, _none) = page::<ReplyEvent>();
    app.conversations.decide(one, allow(CallScope::Chat), channel).await.unwrap();
    app.toolbox.stop_all().await.unwrap();
    let (channel, mut events) = page();
    let deny = CallAnswer::Deny { note: String::new() };
    app.conversations.decide(two, deny, channel).await.unwrap();
    let (_, message) = rest(&mut events).await;
    assert_eq!(message.status, MessageStatus::Asking);
    let again = &message.steps[0].calls[0];
    assert!(again.state == CallState::Asking && again.decision.is_none(), "{again:?}");
    let message = answer(app, &message, allow(CallScope::Once)).await;
    assert_eq!(message.steps[0].calls[0].state, CallState::Done);
}

#[tokio::test]
async fn what_a_change_came_to_unasked_is_private_too() {
    let (Scripted { app, .. }, _) = &with_notes().await;
    let page_of = call("read_page", &[("address", "http://127.0.0.1:9/a")]);
    let rounds = question(&[&page_of, &edit("pin=1234", "x"), &page_of]);
    let (_, _, mut events) = ask(app, &["write_files", "read_page"], rounds).await;
    let (_, message) = rest(&mut events).await;
    let message = answer(app, &message, allow(CallScope::Chat)).await;
    let leaks = last_call(&message);
    assert!(leaks.tool == "read_page" && leaks.may_leak, "{message:?}");
}
