//! Processes that die, or stand still, in the middle of a reply.

use std::thread::sleep;
use std::time::Duration;

use crate::support::endless_model::{keeps, open_endless_model};
use crate::support::sandbox::Sandbox;

const QUESTION: &str = "Tell me a story about an owl and a bell.";

#[test]
fn an_engine_that_dies_in_mid_reply_loses_nothing_and_comes_back() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.ask(QUESTION);
    let shown = window.wait_for_text(200);
    sandbox.kill("foretoken-engine");
    window.wait_for_end();

    let message = window.text("reply-error");
    for part in ["The engine stopped (signal 9).", "starts again by itself", "words above are kept"] {
        assert!(message.contains(part), "{part:?} is missing in: {message}");
    }
    let kept = window.text("answer");
    assert!(keeps(&kept, &shown), "what was shown is kept:\n{shown}\nbecame\n{kept}");
    window.picture("engine-died");

    window.ask("What is the capital of France?");
    window.wait_for_text(20);
    assert_eq!(window.texts("message-assistant").len(), 2);
    assert!(keeps(&window.texts("answer")[0], &shown), "the first reply stays");
    window.click("stop");
    window.wait_for_end();
    assert_eq!(sandbox.running("foretoken-engine").len(), 1);
}

#[test]
fn an_engine_that_stands_still_and_heeds_no_stop_is_started_anew() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.ask(QUESTION);
    let shown = window.wait_for_text(200);
    let _suspended = sandbox.suspend("foretoken-engine", "serve");
    window.click("stop");
    window.wait_for_end();

    let message = window.text("reply-error");
    for part in ["has done nothing for", "starts again by itself", "words above are kept"] {
        assert!(message.contains(part), "{part:?} is missing in: {message}");
    }
    let kept = window.text("answer");
    assert!(keeps(&kept, &shown), "what was shown is kept:\n{shown}\nbecame\n{kept}");
    window.picture("engine-hung");

    window.click("continue");
    let longer = window.wait_for_text(kept.chars().count() + 100);
    assert!(keeps(&longer, &kept), "it goes on where it ended:\n{kept}\nbecame\n{longer}");
    window.click("stop");
    window.wait_for_end();
    assert_eq!(sandbox.running("foretoken-engine").len(), 1);
}

#[test]
fn an_app_that_dies_in_mid_reply_shows_question_and_text_when_it_is_opened_again() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.ask(QUESTION);
    let shown = window.wait_for_text(200);
    // What is older than a second is stored.
    sleep(Duration::from_millis(1500));
    sandbox.kill("foretoken");
    window.wait_until("the engine ends with the app", || sandbox.running("foretoken-engine").is_empty());
    drop(window);

    let window = sandbox.open();
    window.wait_until("the chat is listed", || window.text("chat-list").contains(QUESTION));
    window.click("chat");
    window.wait_until("the chat is shown", || window.is_shown("message-user"));
    assert_eq!(window.text("message-user"), QUESTION);
    let kept = window.text("answer");
    assert!(keeps(&kept, &shown), "what was shown is kept:\n{shown}\nbecame\n{kept}");
    let message = window.text("reply-error");
    assert!(message.contains("interrupted"), "{message}");

    window.click("continue");
    let longer = window.wait_for_text(kept.chars().count() + 100);
    assert!(keeps(&longer, &kept), "it goes on where it ended:\n{kept}\nbecame\n{longer}");
}
