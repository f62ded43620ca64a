//! A question, its reply, and the numbers under it.

use serde_json::{Value, json};

use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys;
use crate::support::window::Window;

const QUESTION: &str = "Tell me a story about an owl and a bell.";

/// Notes every state of the last reply that the page shows.
const WATCH: &str = "
    window.seen = [];
    const look = () => {
        const answer = [...document.querySelectorAll('[data-testid=answer]')].at(-1)?.textContent ?? '';
        if (answer !== window.seen.at(-1)) window.seen.push(answer);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });";

#[test]
fn a_reply_streams_and_shows_how_its_speed_was_made() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    // How far Auto guesses ahead is a matter of time on this machine.
    window.choose("mtp-control", "mtp-option-2");
    window.script(WATCH, json!([]));
    let answer = window.answer(QUESTION);
    assert!(answer.split_whitespace().count() > 20, "{answer}");

    let seen = window.script("return window.seen", json!([]));
    let seen: Vec<&str> = seen.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(seen.len() > 5, "the reply came in {} pieces", seen.len());
    assert!(
        seen.windows(2).all(|pair| pair[1].starts_with(pair[0])),
        "text that was shown changed: {seen:#?}"
    );

    let numbers = window.text("reply-footer");
    assert!(per_pass(&numbers) > 1.3, "{numbers}");
    assert!(!numbers.contains('×'), "no plain reply was measured yet: {numbers}");
    window.click("reply-footer");
    window.wait_until("the statistics open", || window.is_shown("pass-picture"));
    window.click("fold-guesses");
    let first = window.text("position-1");
    let (accepted, drafted) = accepted_of_drafted(&first);
    assert!(accepted > drafted / 2 && accepted <= drafted, "{first}");
    let filled = window.script(
        "const bar = document.querySelector('[data-testid=position-1] .bar-drafted');
         return bar.firstElementChild.getBoundingClientRect().width / bar.getBoundingClientRect().width",
        json!([]),
    );
    let share = f64::from(accepted) / f64::from(drafted);
    assert!((filled.as_f64().unwrap() - share).abs() < 0.02, "the bar is filled to {filled}, not {share}");
}

#[test]
fn greedy_text_is_the_same_at_every_depth_and_without_drafts() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.choose("sampling-control", "sampling-greedy");
    let auto = window.answer(QUESTION);

    let asked_with = |depth: &str| {
        window.choose("mtp-control", &format!("mtp-option-{depth}"));
        window.click("new-chat");
        window.wait_until("the new chat is empty", || !window.is_shown("message-user"));
        (window.answer(QUESTION), window.text("reply-footer"))
    };
    let (plain, numbers) = asked_with("off");
    assert_eq!(plain, auto);
    assert!(numbers.ends_with("1.0 per pass"), "{numbers}");
    window.click("reply-footer");
    window.wait_until("the statistics open", || window.is_shown("story"));
    assert!(!window.is_shown("fold-guesses"), "nothing was drafted, so no bar is drawn");
    window.press(&[], keys::ESCAPE);
    window.wait_until("the statistics close", || !window.is_shown("inspector"));

    for depth in [1, 3] {
        let (text, numbers) = asked_with(&depth.to_string());
        assert_eq!(text, auto, "at depth {depth}");
        assert!(numbers.contains("× plain"), "plain decoding was measured: {numbers}");
        assert_eq!(positions(&window), depth);
    }
}

/// How many positions the statistics of the last reply have.
fn positions(window: &Window<'_>) -> usize {
    window.click("reply-footer");
    window.wait_until("the statistics open", || window.is_shown("pass-picture"));
    if !window.is_shown("position-1") {
        window.click("fold-guesses");
    }
    let positions = (1..=8).take_while(|position| window.is_shown(&format!("position-{position}"))).count();
    window.press(&[], keys::ESCAPE);
    window.wait_until("the statistics close", || !window.is_shown("inspector"));
    positions
}

/// `1.8` of `58 tok/s · 1.8 per pass`.
fn per_pass(numbers: &str) -> f64 {
    let part = numbers.split(" · ").nth(1).and_then(|part| part.strip_suffix(" per pass"));
    part.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no tokens per pass in {numbers:?}"))
}

/// `21` and `27` of `1 ahead21 of 27 · 78 %`.
fn accepted_of_drafted(bar: &str) -> (u32, u32) {
    let counts = bar.strip_prefix("1 ahead").and_then(|bar| bar.split(" · ").next()?.split_once(" of "));
    let (accepted, drafted) = counts.unwrap_or_else(|| panic!("no counts in {bar:?}"));
    (accepted.parse().unwrap(), drafted.parse().unwrap())
}
