//! A chat that is longer than the model can read goes on behind a summary of its older part.

use crate::support::sandbox::Sandbox;
use crate::support::stored_chats::{StoredChat, write_chats};

#[test]
fn a_chat_that_is_too_long_goes_on_behind_a_summary_and_stays_as_it_is() {
    const QUESTION: &str = "Tell me a story about an owl and a bell.";
    let sandbox = Sandbox::new(1280, 900);
    let text = |number: usize| format!("Part {number}. {}", "The sea is wide and old. ".repeat(50));
    let messages: Vec<String> = (0..16).map(text).collect();
    write_chats(&sandbox.data(), [StoredChat { title: "The sea".into(), messages: messages.clone() }]);
    let window = sandbox.open();
    window.click_one("chat", "The sea");
    window.wait_until("the chat is open", || window.text("answer").starts_with("Part 15."));
    window.ask(QUESTION);
    window.wait_until("the model can read less than that", || window.is_shown("reply-error"));
    assert!(
        window.text("reply-error").contains("Summarise the older part"),
        "{}",
        window.text("reply-error")
    );

    window.click("summarise");
    window.wait_until("it is said how far it is", || {
        window.is_shown("summary-note") || window.is_shown("summary")
    });
    window.wait_until("the chat goes on in a new one", || {
        window.texts("chat").len() == 2 && window.text("message-user") == QUESTION
    });
    window.wait_until("what had no answer has one", || {
        assert!(!window.is_shown("reply-error"), "{}", window.text("reply-error"));
        !window.text("answer").is_empty()
    });
    window.wait_for_end();
    window.scroll("conversation", -100_000);
    window.wait_until("it begins with the summary", || window.is_shown("summary"));
    assert!(window.texts("message-user")[0].starts_with("Part "), "behind it the latest messages stand");

    window.click("summary-origin");
    window.wait_until("one click leads back", || window.is_shown("reply-error"));
    assert_eq!(window.text("message-user"), QUESTION);
    assert!(window.texts("answer").iter().any(|answer| answer.trim() == messages[15].trim()));
}
