//! What the screens look like: nothing is cut off or out of reach at any size, light and dark. The pictures are for
//! people.

use serde_json::json;

use crate::desk::{Desk, Theme};
use crate::models::bad_models;
use crate::stopping::open_endless_model;
use crate::webdriver::keys::ESCAPE;
use crate::window::Window;

const SIZES: [(u32, u32); 3] = [(1100, 760), (800, 600), (2560, 1440)];

#[test]
fn every_screen_fits_at_every_size() {
    every_screen_fits(Theme::Light, &SIZES);
}

#[test]
fn every_screen_fits_in_the_dark() {
    every_screen_fits(Theme::Dark, &SIZES[..1]);
}

fn every_screen_fits(theme: Theme, sizes: &[(u32, u32)]) {
    let desk = Desk::new(2560, 1440);
    let window = desk.open(theme);
    assert_eq!(
        window.script("return matchMedia('(prefers-color-scheme: dark)').matches", json!([])),
        json!(theme == Theme::Dark)
    );
    let name = if theme == Theme::Dark { "dark" } else { "light" };
    let check = |screen: &str| {
        for &(width, height) in sizes {
            fits(&window, (width, height), &format!("{screen}-{name}-{width}x{height}"));
        }
    };

    check("1-first-start");
    window.answer("Make a table with four countries and their capitals.");
    window.answer("Write a Python function that says hello.");
    window.answer("Tell me a story about an owl and a bell.");
    check("2-replies");
    for (control, screen) in [
        ("reply-footer", "3-statistics"),
        ("mtp-control", "4-mtp"),
        ("sampling-control", "5-sampling"),
        ("model-picker", "6-models"),
    ] {
        window.click(control);
        window.wait_until("the popover opens", || window.is_popover_shown());
        check(screen);
        window.press(&[], ESCAPE);
        window.wait_until("the popover closes", || !window.is_popover_shown());
    }

    let bad = bad_models(desk.home()).swap_remove(3);
    window.open_model(&bad.path);
    window.wait_until("the message appears", || window.is_shown("model-error"));
    check("7-model-error");
    window.press(&[], ESCAPE);
    window.wait_until("the picker closes", || !window.is_popover_shown());

    open_endless_model(&window, &desk);
    for &size in sizes {
        window.click("new-chat");
        window.wait_until("the new chat is empty", || !window.is_shown("message-user"));
        window.ask("Tell me a story about an owl and a bell.");
        window.wait_until("numbers appear", || window.text("live-line").contains("tok/s"));
        fits(&window, size, &format!("8-streaming-{name}-{}x{}", size.0, size.1));
        assert!(window.is_shown("stop"), "the reply was still being written");
        if size != sizes[sizes.len() - 1] {
            window.click("stop");
            window.wait_for_end();
        }
    }
    desk.kill("foretoken-engine");
    window.wait_for_end();
    check("9-engine-died");
}

/// Looks at a screen in a window of some size: the page itself never moves, and what is used is within the window.
fn fits(window: &Window<'_>, (width, height): (u32, u32), picture: &str) {
    window.driver.resize(width, height).expect("the window can be resized");
    window.wait_until(&format!("the page is {width} wide"), || {
        window.script("return [innerWidth, innerHeight]", json!([])) == json!([width, height])
    });
    window.driver.async_script(STILL, json!([])).expect("the page comes to rest");
    window.picture(picture);
    assert_eq!(window.script(OUTSIDE, json!([])), json!([]), "{picture}");
}

/// Waits until the page is drawn and nothing moves but what always does.
const STILL: &str = "
    const frame = () => new Promise(requestAnimationFrame);
    const ends = (one) => one.effect.getComputedTiming().endTime !== Infinity;
    do { await frame(); await frame(); }
    while (document.getAnimations().some((one) => one.playState === 'running' && ends(one)));";

/// What does not fit: a page that has scrolled, and buttons, fields and popovers that are partly outside of the window.
/// Inside of something that scrolls, only the width counts.
const OUTSIDE: &str = "
    const outside = [];
    const root = document.scrollingElement;
    if (root.scrollLeft !== 0 || root.scrollTop !== 0) outside.push('the page has moved');
    for (const element of document.querySelectorAll('button, input, textarea, .popover, .error-note')) {
        const box = element.getBoundingClientRect();
        if (box.width <= 1 || element.closest('[aria-hidden=true]')) continue;
        const scrolls = element.closest('.conversation, .chat-list, .popover') ?? null;
        const wide = box.left < -0.5 || box.right > innerWidth + 0.5;
        const high = (scrolls === null || scrolls === element) && (box.top < -0.5 || box.bottom > innerHeight + 0.5);
        if (wide || high) outside.push(`${element.dataset.testid ?? element.className ?? element.tagName}`);
    }
    return outside;";
