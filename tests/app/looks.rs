//! What the screens look like: nothing is cut off or out of reach at any size, light and dark. The pictures are for
//! people.

use serde_json::{Value, json};

use crate::desk::{Desk, Theme};
use crate::models::bad_models;
use crate::stopping::open_endless_model;
use crate::webdriver::keys::{ENTER, ESCAPE};
use crate::window::Window;

const SIZES: [(u32, u32); 3] = [(800, 600), (1100, 760), (2560, 1440)];

#[test]
fn every_screen_fits_in_light() {
    every_screen_fits(Theme::Light);
}

#[test]
fn every_screen_fits_in_dark() {
    every_screen_fits(Theme::Dark);
}

fn every_screen_fits(theme: Theme) {
    let desk = Desk::new(2560, 1440);
    let window = desk.open(theme);
    assert_eq!(
        window.script("return matchMedia('(prefers-color-scheme: dark)').matches", json!([])),
        json!(theme == Theme::Dark)
    );
    let check = |screen: &str| fits_at_every_size(&window, screen, theme);

    check("1-first-start");
    window.answer("Make a table with four countries and their capitals.");
    window.answer("Write a Python function that says hello.");
    window.answer("Tell me a story about an owl and a bell.");
    check("2-replies");
    window.click("reply-footer");
    window.wait_until("the statistics open", || window.is_shown("stats-popover"));
    check("3-statistics");
    window.press(&[], ESCAPE);
    window.wait_until("the statistics close", || !window.is_popover_shown());
    for (control, screen) in [("mtp-control", "4-mtp"), ("sampling-control", "5-sampling")] {
        window.click(control);
        window.wait_until("the popover opens", || window.is_popover_shown());
        check(screen);
        window.press(&[], ESCAPE);
        window.wait_until("the popover closes", || !window.is_popover_shown());
    }

    window.click("model-picker");
    check("6-models");
    let bad = bad_models(desk.home()).swap_remove(3);
    window.fill("model-path", bad.path.to_str().expect("a path in UTF-8"));
    window.press(&[], ENTER);
    window.wait_until("the message appears", || window.is_shown("model-error"));
    check("7-model-error");
    window.press(&[], ESCAPE);
    window.wait_until("the picker closes", || !window.is_popover_shown());

    open_endless_model(&window, &desk);
    window.click("new-chat");
    window.ask("Tell me a story about an owl and a bell.");
    window.wait_until("numbers appear", || window.text("live-line").contains("tok/s"));
    check("8-streaming");
    assert!(window.is_shown("stop"), "the reply was still being written");
    desk.kill("foretoken-engine");
    window.wait_for_end();
    check("9-engine-died");
}

/// Looks at a screen at all sizes: the page itself never scrolls, and what is used is within the window.
fn fits_at_every_size(window: &Window<'_>, screen: &str, theme: Theme) {
    for (width, height) in SIZES {
        window.driver.resize(width, height).expect("the window can be resized");
        window.wait_until(&format!("the page is {width} wide"), || {
            window.script("return [innerWidth, innerHeight]", json!([])) == json!([width, height])
        });
        window.wait_until("nothing moves", || {
            window.script(
                "return document.getAnimations().every((one) => one.playState !== 'running')",
                json!([]),
            ) == json!(true)
        });
        window.picture(&format!(
            "{screen}-{}-{width}x{height}",
            if theme == Theme::Dark { "dark" } else { "light" }
        ));
        let outside = window.script(OUTSIDE, json!([]));
        assert_eq!(outside, Value::Array(Vec::new()), "{screen} at {width}×{height}");
    }
}

/// What does not fit: a page that scrolls, and buttons, fields and popovers that are partly outside of the window.
/// Inside of something that scrolls, only the width counts.
const OUTSIDE: &str = "
    const outside = [];
    const root = document.scrollingElement;
    if (root.scrollWidth > innerWidth || root.scrollHeight > innerHeight) outside.push('the page scrolls');
    for (const element of document.querySelectorAll('button, input, textarea, .popover, .error-note')) {
        const box = element.getBoundingClientRect();
        if (box.width <= 1 || element.closest('[aria-hidden=true]')) continue;
        const scrolls = element.closest('.conversation, .chat-list, .popover') ?? null;
        const wide = box.left < -0.5 || box.right > innerWidth + 0.5;
        const high = (scrolls === null || scrolls === element) && (box.top < -0.5 || box.bottom > innerHeight + 0.5);
        if (wide || high) outside.push(`${element.dataset.testid ?? element.className ?? element.tagName}`);
    }
    return outside;";
