//! What the window says about drafts where there are none, or where they do not pay.

use foretoken_tests::fixtures::{fixture, write_demo_with};
use serde_json::json;

use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys;
use crate::support::window::Window;

fn control_says(window: &Window<'_>, words: &str) -> bool {
    window.text("mtp-control").contains(words)
}

#[test]
fn a_model_whose_head_was_removed_says_so_and_answers_plainly() {
    let sandbox = Sandbox::new(1280, 900);
    let model = sandbox.home().join("removed");
    write_demo_with(&model, |tensors| tensors.retain(|name, _| !name.starts_with("mtp.")));
    let window = sandbox.open();
    window.open_model(&model);
    window.wait_until("the control says why", || control_says(&window, "head removed"));
    window.press(&[], keys::ESCAPE);
    window.wait_until("the picker closes", || !window.is_popover_shown());
    window.click("mtp-control");
    window.click("mtp-option-off");
    window.wait_until("nothing drafts", || control_says(&window, "Off"));
    assert!(!window.answer("What is MTP?").is_empty());
    let numbers = window.text("reply-footer");
    assert!(numbers.ends_with("1.0 per pass"), "{numbers}");
}

#[test]
fn where_drafts_do_not_pay_the_control_says_so() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    // A quantized model with random weights: on the CPU two rows cost two passes, and its head guesses at random.
    window.open_model(&fixture("tiny-dense-q4f32"));
    window.wait_until("the model is loaded", || window.text("model-picker").contains("tiny-dense"));
    window.press(&[], keys::ESCAPE);
    window.wait_until("the picker closes", || !window.is_popover_shown());
    // It would write until its context ends.
    window.click("sampling-control");
    window.fill("max-tokens", "1024");
    window.press(&[], keys::ESCAPE);
    window.wait_until("the popover closes", || !window.is_popover_shown());
    let told = (0..5).any(|_| {
        window.ask("Tell me something.");
        window.wait_for_end();
        control_says(&window, "not paying here")
    });
    assert!(told, "{}", window.text("mtp-control"));
}

#[test]
fn thinking_is_folded_and_another_try_takes_the_place_of_the_first() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer("Tell me a story about an owl and a bell.");
    let folded = window.text("thinking");
    assert!(folded.starts_with("Thought for "), "{folded}");
    window.click("thinking-toggle");
    window.wait_until("the thinking opens", || window.text("thinking").len() > folded.len() + 20);
    let is_first = "return document.querySelector('[data-testid=message-assistant]').first === true";
    window.script("document.querySelector('[data-testid=message-assistant]').first = true", json!([]));
    window.click("retry");
    window.wait_until("another reply is complete", || {
        window.script(is_first, json!([])) == json!(false)
            && window.is_shown("reply-footer")
            && !window.text("answer").is_empty()
    });
    assert_eq!(window.texts("message-assistant").len(), 1);
}

#[test]
fn how_long_a_reply_has_thought_is_known_after_a_start() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer("Tell me a story about an owl and a bell.");
    let words = window.text("thinking-toggle");
    assert!(words.starts_with("Thought for "), "{words}");
    drop(window);

    let window = sandbox.open();
    window.click("chat");
    window.wait_until("the chat is open", || window.is_shown("thinking-toggle"));
    assert_eq!(window.text("thinking-toggle"), words);
}
