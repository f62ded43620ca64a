//! The end of what grows stays in view for a reader who is there, and leaves alone one who is not.

use serde_json::json;

use crate::support::endless_model::open_endless_model;
use crate::support::sandbox::Sandbox;
use crate::support::window::Window;

#[test]
fn the_view_follows_a_reader_at_the_end_and_nobody_else() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.ask("Tell me a story about an owl and a bell.");
    window.wait_until("the reply is longer than the window", || top(&window) > 200.0);
    assert_at_end(&window);

    window.scroll("conversation", -600);
    window.wait_until("the way back is shown", || window.is_shown("latest"));
    let place = top(&window);
    let length = window.text("answer").chars().count();
    window.wait_for_text(length + 300);
    assert!((top(&window) - place).abs() < 1.0, "the place where one reads does not move");

    window.click("latest");
    window.wait_until("the view is at the end again", || !window.is_shown("latest"));
    let length = window.text("answer").chars().count();
    window.wait_for_text(length + 300);
    assert_at_end(&window);

    // Little by little, as by a finger, while the text goes on.
    for _ in 0..3 {
        window.scroll("conversation", -8);
    }
    window.wait_until("the way back is shown", || window.is_shown("latest"));
    window.click("latest");
    assert_at_end(&window);

    for (width, height) in [(800, 600), (1280, 900), (720, 520), (1100, 760)] {
        window.resize(width, height);
        assert_at_end(&window);
    }
    sandbox.kill("foretoken-engine");
    window.wait_for_end();
    for (width, height) in [(1280, 900), (800, 600), (1100, 760), (720, 520)] {
        window.resize(width, height);
        assert_at_end(&window);
    }
}

fn top(window: &Window<'_>) -> f64 {
    let top =
        window.script("return document.querySelector('[data-testid=conversation]').scrollTop", json!([]));
    top.as_f64().expect("a number")
}

/// The view is at the end, or gets there as soon as the page is drawn.
fn assert_at_end(window: &Window<'_>) {
    let rest = "const box = document.querySelector('[data-testid=conversation]');
                return box.scrollHeight - box.clientHeight - box.scrollTop < 2";
    window.wait_until("the view is at the end", || window.script(rest, json!([])) == json!(true));
    assert!(!window.is_shown("latest"), "nobody has scrolled");
}
