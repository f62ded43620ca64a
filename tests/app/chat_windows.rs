//! Windows that show one chat each, beside the main window.

use serde_json::json;

use crate::support::dialog::Dialog;
use crate::support::endless_model::open_endless_model;
use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys::{ALT, CONTROL, ESCAPE};
use crate::support::window::Window;

const OWL: &str = "Tell me a story about an owl and a bell.";

fn windows(window: &Window<'_>) -> usize {
    window.driver.windows().map_or(0, |windows| windows.len())
}

fn typed(window: &Window<'_>) -> serde_json::Value {
    window.script("return document.querySelector('[data-testid=composer]').value", json!([]))
}

#[test]
fn a_chat_goes_on_in_two_windows_and_nothing_of_it_is_lost() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    let first = window.answer(OWL);
    window.choose_in_menu("chat-more", OWL, "Open in a new window");
    window.wait_until("it has a window", || windows(&window) == 2);
    window.enter("chat-window");
    window.wait_until("the chat is there", || {
        window.is_shown("message-user") && window.text("answer") == first
    });
    window.wait_until("it is called as the chat is", || Dialog::is_open(&sandbox, OWL));
    assert!(!window.is_shown("sidebar-toggle") && !window.is_shown("chat-list"));
    window.wait_until("one can write", || window.focus() == "composer");
    window.picture("chat-window");
    // The same chat once more is the same window.
    window.press(&[CONTROL, ALT], 'n');
    window.type_text("And then");
    window.enter("main-window");
    window.wait_until("what is typed there is seen here", || typed(&window) == json!("And then"));
    assert_eq!(windows(&window), 2);

    open_endless_model(&window, &sandbox);
    window.fill("composer", "What came before it?");
    window.enter("chat-window");
    window.wait_until("the last that was typed counts", || typed(&window) == json!("What came before it?"));
    window.click("send");
    window.wait_until("it is answered", || window.texts("answer").len() == 2);
    window.wait_for_text(40);
    window.enter("main-window");
    window.wait_until("the question is seen here too", || window.texts("message-user").len() == 2);
    window.wait_for_text(80);
    let here = window.text("answer");
    window.enter("chat-window");
    window.wait_for_text(here.chars().count() + 20);
    // The page that would answer is gone with the window.
    let _ = window.driver.press(&[CONTROL], ['w']);
    window.wait_until("it is closed", || windows(&window) == 1);
    window.enter("main-window");
    window.wait_for_text(here.chars().count() + 80);
    window.press(&[], ESCAPE);
    window.wait_for_end();

    window.press(&[CONTROL, ALT], 'n');
    window.wait_until("it is open again", || windows(&window) == 2);
    window.enter("chat-window");
    window.wait_until("all of it is there", || window.texts("answer").len() == 2);
    window.enter("main-window");
    window.press(&[CONTROL], 'w');
    window.wait_until("the chat goes on without the main window", || sandbox.shown_windows() == 1);
    window.enter("chat-window");
    window.choose_last_in_menu("this-chat-more", "", "Delete");
    window.wait_until("the window goes with its chat", || windows(&window) == 1);
    window.enter("main-window");
    window.wait_until("the main window is back", || sandbox.shown_windows() == 1);
    window.wait_until("what was deleted can be brought back there", || window.is_shown("undo"));
}
