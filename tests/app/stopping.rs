//! Ending a reply early and going on with it.

use std::thread::sleep;
use std::time::Duration;

use crate::support::endless_model::{keeps, open_endless_model};
use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys;

#[test]
fn a_stopped_reply_keeps_its_text_and_can_be_continued() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.choose("mtp-control", "mtp-option-1");
    window.ask("Tell me a story about an owl and a bell.");
    let live = window.wait("the numbers appear while the reply is written", || {
        Some(window.text("live-line")).filter(|line| line.contains("tok/s"))
    });
    assert!(live.contains(" per pass · ") && live.ends_with(" % accepted"), "{live}");
    assert!(!window.is_shown("send"), "there is one button, and it stops");

    let shown = window.wait_for_text(200);
    window.click("stop");
    window.wait_for_end();
    let stopped = window.text("answer");
    assert!(keeps(&stopped, &shown), "what was shown is kept:\n{shown}\nbecame\n{stopped}");
    assert!(window.text("message-assistant").contains("Stopped"), "{}", window.text("message-assistant"));
    sleep(Duration::from_millis(500));
    assert_eq!(window.text("answer"), stopped, "nothing comes after the end");

    window.click("continue");
    let longer = window.wait_for_text(stopped.chars().count() + 100);
    assert!(keeps(&longer, &stopped), "it goes on where it ended:\n{stopped}\nbecame\n{longer}");
    window.press(&[], keys::ESCAPE);
    window.wait_for_end();
    assert_eq!(window.texts("message-assistant").len(), 1, "it is the same reply");
}
