//! Ending the app while a reply is being written.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::support::dialog::Dialog;
use crate::support::endless_model::{keeps, open_endless_model};
use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys::CONTROL;
use crate::support::window::Window;

const QUESTION: &str = "Tell me a story about an owl and a bell.";
const TITLE: &str = "A reply is still being written";

fn runs(sandbox: &Sandbox) -> bool {
    !sandbox.running("foretoken").is_empty()
}

/// Presses keys after which the page may be gone.
fn press_last(window: &Window<'_>, key: char) {
    let _ = window.driver.press(&[CONTROL], [key]);
}

#[test]
fn quitting_asks_once_while_a_reply_is_written_and_keeps_it() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.ask(QUESTION);
    window.wait_for_text(50);
    for key in ['q', 'w'] {
        window.press(&[CONTROL], key);
        let dialog = Dialog::wait(&sandbox, TITLE);
        window.press(&[CONTROL], 'q');
        // What was pressed arrives before the answer.
        sleep(Duration::from_millis(500));
        dialog.dismiss();
        assert!(runs(&sandbox), "nobody has agreed");
    }
    let longer = window.text("answer").chars().count();
    window.wait_for_text(longer);
    assert!(!Dialog::is_open(&sandbox, TITLE), "it has been asked once");

    let shown = window.text("answer");
    window.press(&[CONTROL], 'q');
    Dialog::wait(&sandbox, TITLE).agree();
    window.wait_until("the app ends", || !runs(&sandbox));
    drop(window);

    let window = sandbox.open();
    window.click("chat");
    window.wait_until("the reply is there", || window.is_shown("continue"));
    let kept = window.text("answer");
    assert!(keeps(&kept, &shown), "what was shown is kept:\n{shown}\nbecame\n{kept}");
}

#[test]
fn quitting_does_not_wait_for_an_engine_that_stands_still() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.ask(QUESTION);
    let shown = window.wait_for_text(50);
    let _suspended = sandbox.suspend("foretoken-engine", "serve");
    press_last(&window, 'q');
    Dialog::wait(&sandbox, TITLE).agree();
    window.wait_until("the app ends", || !runs(&sandbox));
    window.wait_until("the engine ends with it", || sandbox.running("foretoken-engine").is_empty());
    drop(window);

    let window = sandbox.open();
    window.click("chat");
    window.wait_until("the reply is there", || window.is_shown("continue"));
    let kept = window.text("answer");
    assert!(keeps(&kept, &shown), "what was shown is kept:\n{shown}\nbecame\n{kept}");
}

#[test]
fn quitting_asks_nobody_while_nothing_is_written() {
    for key in ['q', 'w'] {
        let sandbox = Sandbox::new(1280, 900);
        let window = sandbox.open();
        window.answer("Hello!");
        press_last(&window, key);
        window.wait_until("the app ends", || !runs(&sandbox));
    }
}

#[test]
fn what_was_typed_last_is_there_after_the_end() {
    let sandbox = Sandbox::new(1280, 900);
    let mut typed = String::new();
    for key in ['q', 'w'] {
        let window = sandbox.open();
        let draft = "return document.querySelector('[data-testid=composer]').value";
        window.wait_until("what was typed before is there", || window.script(draft, json!([])) == typed);
        window.type_text("Wait");
        typed += "Wait";
        press_last(&window, key);
        window.wait_until("the app ends", || !runs(&sandbox));
    }
    let window = sandbox.open();
    window.wait_until("all of it is there", || {
        window.script("return document.querySelector('[data-testid=composer]').value", json!([])) == typed
    });
}
