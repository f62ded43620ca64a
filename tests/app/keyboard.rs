//! The whole app without a mouse.

use foretoken_tests::fixtures::demo_model;
use serde_json::json;

use crate::support::endless_model::open_endless_model;
use crate::support::hub::{Hub, NAME};
use crate::support::models_screen::{cancel_job, download, job_says, open_models, sandbox_with};
use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys::{
    ARROW_DOWN, ARROW_LEFT, BACKSPACE, CONTROL, ENTER, ESCAPE, F6, SHIFT, TAB,
};
use crate::support::window::Window;

#[test]
fn everything_can_be_done_with_the_keyboard() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    assert_eq!(window.focus(), "composer", "one can write at once");

    window.type_text("Hello!");
    window.press(&[SHIFT], ENTER);
    window.type_text("Tell me a story about a fox and a kite.");
    assert!(!window.is_shown("message-user"), "Shift-Enter does not send");
    window.press(&[], ENTER);
    window.wait_until("the message is sent", || window.is_shown("message-user"));
    assert_eq!(window.text("message-user"), "Hello!\nTell me a story about a fox and a kite.");
    window.wait_for_end();
    assert_eq!(window.focus(), "composer", "one can write on");

    // The controls under the text, in the order in which they stand.
    for control in ["attach", "mtp-control", "sampling-control"] {
        window.press(&[], TAB);
        assert_eq!(window.focus(), control);
    }
    opens_and_closes(&window, "sampling-control", "sampling-greedy");
    window.press(&[], ENTER);
    window.wait_until("it is open", || window.is_shown("thinking-control"));
    while window.focus() != "thinking-control-normal" {
        window.press(&[], TAB);
    }
    window.press(&[], ARROW_LEFT);
    window.press(&[], ARROW_LEFT);
    window
        .wait_until("the model is not to think", || window.text("sampling-control").contains("No thinking"));
    window.press(&[], ESCAPE);
    window.wait_until("it is closed", || !window.is_popover_shown());
    assert_eq!(window.focus(), "sampling-control");

    window.press(&[SHIFT], TAB);
    window.press(&[], ENTER);
    window.wait_until("the choice that holds has the focus", || window.focus() == "mtp-option-auto");
    window.press(&[], ARROW_DOWN);
    assert_eq!(window.focus(), "mtp-option-off");
    window.press(&[], ENTER);
    window.wait_until("the choice is taken", || window.text("mtp-control").contains("Off"));
    window.wait_until("the focus comes back", || window.focus() == "mtp-control");

    // Backwards from the field to the numbers of the reply.
    window.press(&[CONTROL], 'l');
    assert_eq!(window.focus(), "composer");
    window.press(&[SHIFT], TAB);
    let mut steps = 0;
    while window.focus() != "reply-footer" {
        window.press(&[SHIFT], TAB);
        steps += 1;
        assert!(steps < 6, "the numbers of the reply are not reached");
    }
    window.press(&[], ENTER);
    window.wait_until("the statistics open", || window.is_shown("story"));
    window.press(&[], ESCAPE);
    window.wait_until("they close", || !window.is_shown("inspector"));
    assert_eq!(window.focus(), "reply-footer", "the focus has stayed");

    window.press(&[CONTROL], 'n');
    window.wait_until("a new chat is open", || !window.is_shown("message-user"));
    window.wait_until("one can write at once", || window.focus() == "composer");
    window.press(&[CONTROL], 'b');
    window.wait_until("the sidebar is gone", || !window.is_shown("chat-list"));
    window.press(&[CONTROL], 'b');
    window.wait_until("the sidebar is back", || window.is_shown("chat-list"));
}

/// What the focus is in.
fn area(window: &Window<'_>) -> String {
    let body =
        "const areas = { sidebar: '.sidebar', title: '.main > .toolbar', line: '[data-testid=reply-footer]',
                                text: '[data-testid=conversation], .screen', composer: '.composer',
                                panel: '[data-testid=inspector]' };
                const found = Object.entries(areas).find(([, area]) => document.activeElement?.closest(area));
                return found?.[0] ?? ''";
    window.script(body, json!([])).as_str().unwrap_or_default().to_owned()
}

#[test]
fn f6_goes_from_area_to_area_and_back() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer("Hello!");
    window.press(&[CONTROL], 'i');
    window.wait_until("the panel opens", || window.is_shown("story"));
    window.press(&[CONTROL], 'l');
    let all = ["panel", "sidebar", "title", "text", "line", "composer"];
    for expected in all {
        window.press(&[], F6);
        assert_eq!(area(&window), expected);
    }
    for expected in ["line", "text", "title", "sidebar", "panel", "composer"] {
        window.press(&[SHIFT], F6);
        assert_eq!(area(&window), expected);
    }

    // What is not there is passed over.
    window.press(&[CONTROL], 'b');
    window.wait_until("the sidebar is gone", || !window.is_shown("chat-list"));
    window.press(&[], F6);
    assert_eq!(area(&window), "panel");
    window.press(&[], F6);
    assert_eq!(area(&window), "title");
    window.press(&[CONTROL], 'b');
    window.wait_until("the sidebar is back", || window.is_shown("chat-list"));
    window.click("open-models");
    window.wait_until("another screen is there", || window.is_shown("models-screen"));
    let reached: Vec<String> = (0..3)
        .map(|_| {
            window.press(&[], F6);
            area(&window)
        })
        .collect();
    let order = ["sidebar", "title", "text"];
    let first = order.iter().position(|area| *area == reached[0]).expect("it is one of them");
    assert_eq!(reached, [0, 1, 2].map(|step| order[(first + step) % 3]));
}

#[test]
fn escape_closes_the_nearest_thing_and_then_stops_the_reply() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer("Tell me a story about an owl and a bell.");
    open_endless_model(&window, &sandbox);
    window.press(&[CONTROL], 'i');
    window.wait_until("the panel opens", || window.is_shown("story"));
    window.ask("Tell me a story about an owl and a bell.");
    window.wait_until("it is written", || window.text("live-line").contains("tok/s"));
    window.click("mtp-control");
    window.wait_until("the menu opens", || window.is_popover_shown());
    window.press(&[], ESCAPE);
    window.wait_until("the menu closes", || !window.is_popover_shown());
    assert!(window.is_shown("inspector"));
    window.press(&[], ESCAPE);
    window.wait_until("the panel closes", || !window.is_shown("inspector"));
    assert!(window.is_shown("stop"), "the reply goes on");
    window.press(&[], ESCAPE);
    window.wait_for_end();
    assert!(window.text("conversation").contains("Stopped"));
}

#[test]
fn escape_on_the_models_screen_ends_a_search_and_answers_a_question_before_it_leaves() {
    let hub = Hub::with(&demo_model(), &["--rate", "120000"]);
    let sandbox = sandbox_with(&hub);
    let window = sandbox.open();
    open_models(&window);
    window.fill("search", "qwen");
    window.press(&[], ENTER);
    window.wait_until("what the Hub has is shown", || window.is_shown("end-search"));
    window.press(&[CONTROL], 'a');
    window.press(&[], BACKSPACE);
    assert!(window.is_shown("end-search"), "what was found stays without its text");
    window.press(&[], ESCAPE);
    window.wait_until("the search has ended", || !window.is_shown("end-search"));
    assert!(window.is_shown("models-screen"));
    window.press(&[], ESCAPE);
    window.wait_until("the chat is back", || !window.is_shown("models-screen"));

    open_models(&window);
    download(&window);
    // What has not begun is cancelled without a question.
    window.wait_until("bytes arrive", || job_says(&window, " of ") && job_says(&window, "/s"));
    window.choose_in_menu("job-more", NAME, "Cancel");
    window.wait_until("it asks first", || window.focus() == "confirm-cancel");
    window.press(&[], ESCAPE);
    window.wait_until("the question is answered", || !window.is_shown("confirm-cancel"));
    assert!(window.is_shown("models-screen") && window.is_shown("job"), "the download goes on where it was");
    cancel_job(&window);
}

/// Opens the popover of the control that has the focus, and closes it with Escape.
fn opens_and_closes(window: &Window<'_>, control: &str, first: &str) {
    assert_eq!(window.focus(), control);
    window.press(&[], ENTER);
    window.wait_until("the focus is in the popover", || window.is_shown(first) && window.focus() != control);
    window.press(&[], ESCAPE);
    window.wait_until("the focus comes back", || !window.is_popover_shown() && window.focus() == control);
}

/// Presses a key in a field as WebKit tells of it, and says whether the page did something with it.
fn is_heard(window: &Window<'_>, field: &str, key: &str, code: u32) -> bool {
    let body = "const [name, key, keyCode] = arguments;
                const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
                Object.defineProperty(event, 'keyCode', { value: keyCode });
                return !document.querySelector(`[data-testid=${name}]`).dispatchEvent(event)";
    window.script(body, json!([field, key, code])) == json!(true)
}

#[test]
fn keys_of_an_input_method_are_its_own_in_every_field() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    // The composition has ended when its last key is told; only the code says whose it was.
    let heard = |field: &str, key: &str, code: u32| {
        assert!(!is_heard(&window, field, key, 229), "{key} in {field} is the input method's");
        assert!(is_heard(&window, field, key, code), "{key} in {field} is the app's");
    };
    window.fill("composer", "Hello!");
    heard("composer", "Enter", 13);
    window.wait_until("the message is sent", || window.is_shown("message-user"));
    window.wait_for_end();

    window.click("edit");
    window.wait_until("the text can be changed", || window.focus() == "edit-text");
    heard("edit-text", "Escape", 27);
    window.wait_until("the edit is given up", || !window.is_shown("edit-text"));
    window.choose_in_menu("chat-more", "Hello!", "Rename");
    window.wait_until("the name can be changed", || window.focus() == "rename");
    heard("rename", "Enter", 13);
    window.wait_until("the name is taken", || !window.is_shown("rename"));

    window.fill("chat-search", "Hello");
    window.wait_until("something is found", || window.is_shown("hit"));
    heard("chat-search", "Escape", 27);
    window.wait_until("the search is given up", || !window.is_shown("hit"));

    window.press(&[CONTROL], 'k');
    window.wait_until("the palette is open", || window.focus() == "palette-field");
    heard("palette-field", "ArrowDown", 40);
    assert!(!is_heard(&window, "palette-field", "Escape", 229));
    assert!(window.is_shown("palette"), "Escape has closed the candidates, and nothing else");
    window.press(&[], ESCAPE);
    window.wait_until("the palette is closed", || !window.is_shown("palette"));

    window.click("open-models");
    window.fill("search", "owl");
    heard("search", "Escape", 27);
}
