//! Ending a reply early and going on with it.

use std::thread::sleep;
use std::time::Duration;

use foretoken_tests::fixtures::endless_model;

use crate::support::sandbox::{Sandbox, Theme};
use crate::support::webdriver::keys;
use crate::support::window::Window;

#[test]
fn a_stopped_reply_keeps_its_text_and_can_be_continued() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open(Theme::Light);
    open_endless_model(&window, &sandbox);
    window.choose("mtp-control", "mtp-option-1");
    window.ask("Tell me a story about an owl and a bell.");
    let live = window.wait("the numbers appear while the reply is written", || {
        Some(window.text("live-line")).filter(|line| line.contains("tok/s"))
    });
    assert!(live.contains(" per pass · ") && live.ends_with(" %"), "{live}");
    assert!(!window.is_shown("send"), "there is one button, and it stops");

    let shown = window.wait_for_text(200);
    window.click("stop");
    window.wait_for_end();
    let stopped = window.text("answer");
    assert!(
        stopped.starts_with(stable_prefix(&shown)),
        "what was shown is kept:\n{shown}\nbecame\n{stopped}"
    );
    assert!(window.text("message-assistant").contains("Stopped"), "{}", window.text("message-assistant"));
    sleep(Duration::from_millis(500));
    assert_eq!(window.text("answer"), stopped, "nothing comes after the end");

    window.click("continue");
    let longer = window.wait_for_text(stopped.chars().count() + 100);
    assert!(
        longer.starts_with(stable_prefix(&stopped)),
        "it goes on where it ended:\n{stopped}\nbecame\n{longer}"
    );
    window.press(&[], keys::ESCAPE);
    window.wait_for_end();
    assert_eq!(window.texts("message-assistant").len(), 1, "it is the same reply");
}

/// What can no longer change: markdown at the end of a text that still grows may yet turn out to be something else.
pub(crate) fn stable_prefix(text: &str) -> &str {
    let end = text.char_indices().rev().nth(20).map_or(0, |(index, _)| index);
    &text[..end]
}

/// Lets the model that never stops answer, with room for a long reply.
pub(crate) fn open_endless_model(window: &Window<'_>, sandbox: &Sandbox) {
    window.open_model(&endless_model(sandbox.home()));
    window.wait_until("the model is ready", || {
        window.text("model-picker").contains("endless") && !window.is_shown("engine-banner")
    });
    window.wait_until("the picker closes", || !window.is_popover_shown());
    window.click("sampling-control");
    window.fill("max-tokens", "3500");
    window.press(&[], keys::ESCAPE);
    window.wait_until("the popover closes", || !window.is_popover_shown());
}
