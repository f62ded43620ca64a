//! As many chats, and as long a chat, as people come to have: what is in view is drawn, and all of it is reached.

use serde_json::json;

use crate::support::sandbox::Sandbox;
use crate::support::stored_chats::{StoredChat, write_chats};
use crate::support::window::Window;

const CHATS: usize = 10_000;
const MESSAGES: usize = 2_000;
/// More than this is never drawn, whatever there is.
const DRAWN: usize = 80;

/// Many chats with a question and an answer each, the newest with many messages.
fn many_chats() -> impl Iterator<Item = StoredChat> {
    let short = |number| StoredChat {
        title: format!("Chat {number}"),
        messages: vec![format!("Question {number}"), "An answer.".into()],
    };
    let long = |number| match number % 2 {
        0 => format!("Long question {number}, with some words more."),
        _ => long_answer(number),
    };
    let longest =
        StoredChat { title: format!("Chat {}", CHATS - 1), messages: (0..MESSAGES).map(long).collect() };
    (0..CHATS - 1).map(short).chain([longest])
}

fn long_answer(number: usize) -> String {
    let words = "Some **words** of an answer, and `code` too. ".repeat(1 + number % 40);
    format!("Answer {number}.\n\n{words}\n\n- one\n- two\n\n```rust\nlet number = {number};\n```\n")
}

/// Moves what scrolls until `there` holds. Returns the time between two pictures in milliseconds, sorted.
fn scroll_until(window: &Window<'_>, name: &str, pixels: i32, mut there: impl FnMut() -> bool) -> Vec<f64> {
    window.script(
        "window.frames_seen = [];
         let before = performance.now();
         window.look = requestAnimationFrame(function look(now) {
             window.frames_seen.push(now - before);
             before = now;
             window.look = requestAnimationFrame(look);
         })",
        json!([]),
    );
    // With the wheel first: the view follows only a hand away from the end.
    window.scroll(name, pixels.signum() * 100);
    window.wait_until(&format!("{name} is scrolled"), || {
        let body = "document.querySelector(`[data-testid=${arguments[0]}]`).scrollTop += arguments[1]";
        window.script(body, json!([name, pixels]));
        there()
    });
    let frames = window.script("cancelAnimationFrame(window.look); return window.frames_seen", json!([]));
    let mut frames: Vec<f64> = serde_json::from_value(frames).unwrap();
    frames.sort_by(f64::total_cmp);
    frames
}

fn tell(what: &str, frames: &[f64]) {
    let at = |share: f64| frames[((frames.len() - 1) as f64 * share) as usize];
    println!("{what}: {} pictures, p50 {:.0} ms, p95 {:.0} ms", frames.len(), at(0.5), at(0.95));
}

#[test]
fn ten_thousand_chats_and_two_thousand_messages_are_reached() {
    let sandbox = Sandbox::new(1280, 900);
    write_chats(&sandbox.data(), many_chats());
    let window = sandbox.open();
    window.wait_until("the newest is listed", || {
        window.texts("chat").first().is_some_and(|it| it == "Chat 9999")
    });
    assert!(window.texts("chat").len() < DRAWN);
    let frames =
        scroll_until(&window, "chat-list", 20_000, || window.texts("chat").iter().any(|it| it == "Chat 0"));
    tell("the list", &frames);
    assert!(window.texts("chat").len() < DRAWN, "what was passed is no longer drawn");
    window.click_one("chat", "Chat 17");
    window.wait_until("one of the oldest opens", || window.text("message-user").starts_with("Question 17"));

    scroll_until(&window, "chat-list", -200_000, || window.texts("chat").iter().any(|it| it == "Chat 9999"));
    let opening = window.driver.async_script(
        "const begun = performance.now();
         [...document.querySelectorAll('[data-testid=chat]')].find((it) => it.textContent === 'Chat 9999').click();
         while (!document.querySelector('.conversation').textContent.includes('Answer 1999.'))
             await new Promise(requestAnimationFrame);
         return performance.now() - begun",
        json!([]),
    );
    println!("a chat of {MESSAGES} messages opens in {:.0} ms", opening.unwrap().as_f64().unwrap());
    at_end(&window);
    let drawn =
        |window: &Window<'_>| window.texts("message-user").len() + window.texts("message-assistant").len();
    assert!(drawn(&window) < DRAWN, "{} messages are drawn", drawn(&window));
    window.picture("many-chats");

    let frames = scroll_until(&window, "conversation", -9_000, || {
        window.texts("message-user").iter().any(|it| it.starts_with("Long question 0,"))
    });
    tell("the conversation", &frames);
    window.click("latest");
    at_end(&window);

    window.fill("chat-search", "\"Answer 701\"");
    window.wait_until("it is found", || window.is_shown("hit"));
    window.click("hit");
    window.wait_until("the view is there", || {
        let centre = "const lit = document.querySelector('.lit')?.getBoundingClientRect();
                      return Boolean(lit && lit.top < innerHeight && lit.bottom > 44)";
        window.script(centre, json!([])) == json!(true)
    });
    assert!(drawn(&window) < DRAWN);
}

/// The end of the chat is in view.
fn at_end(window: &Window<'_>) {
    let rest = "const box = document.querySelector('[data-testid=conversation]');
                return box.scrollHeight - box.clientHeight - box.scrollTop < 2";
    window.wait_until("the view is at the end", || window.script(rest, json!([])) == json!(true));
}
