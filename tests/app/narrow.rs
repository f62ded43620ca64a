//! The window where it is too narrow for the sidebar beside the page.

use serde_json::json;

use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::{CONTROL, ESCAPE, TAB};
use crate::support::window::Window;

/// The narrowest window.
const NARROW: (u32, u32) = (720, 520);
const FOX: &str = "Tell me about foxes.";
const OWL: &str = "Tell me about owls.";

fn call(window: &Window<'_>) {
    window.click("sidebar-toggle");
    window.wait_until("the sidebar is called", || window.is_shown("chat-list"));
}

fn is_away(window: &Window<'_>) {
    window.wait_until("the sidebar is away", || !window.is_shown("sidebar"));
}

/// Where the page begins, in pixels from the left.
fn page_begins_at(window: &Window<'_>) -> f64 {
    let body = "return document.querySelector('.main').getBoundingClientRect().left";
    window.script(body, json!([])).as_f64().expect("a number")
}

#[test]
fn the_sidebar_lies_over_the_page_while_it_is_called() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer(FOX);
    window.click("new-chat");
    window.wait_until("a new chat is open", || !window.is_shown("message-user"));
    window.answer(OWL);
    assert!(window.is_shown("sidebar"));
    window.resize(NARROW.0, NARROW.1);
    is_away(&window);
    assert_eq!(page_begins_at(&window), 0.0);

    // Its button and a new chat stand in the title area.
    call(&window);
    assert_eq!(page_begins_at(&window), 0.0, "it lies over the page");
    assert_eq!(window.focus(), "sidebar");
    window.press(&[], ESCAPE);
    is_away(&window);
    assert_eq!(window.focus(), "composer");

    call(&window);
    window.driver.click("[data-testid=beside-drawer]").expect("the page can be clicked");
    is_away(&window);

    call(&window);
    window.click_one("chat", FOX);
    window.wait_until("the chat is open", || window.text("message-user") == FOX);
    is_away(&window);

    window.press(&[CONTROL], 'f');
    window.wait_until("one can search", || window.focus() == "chat-search");
    window.type_text("owls");
    window.wait_until("it is found", || window.is_shown("hit"));
    window.press(&[], ESCAPE);
    window.wait_until("the search is given up", || !window.is_shown("hit"));
    window.press(&[], ESCAPE);
    is_away(&window);

    // Whoever goes on to the page with Tab sees it.
    call(&window);
    for _ in 0..40 {
        if !window.is_shown("sidebar") {
            break;
        }
        window.press(&[], TAB);
    }
    is_away(&window);

    window.click("new-chat");
    window.wait_until("a new chat is open", || !window.is_shown("message-user"));
    call(&window);
    window.click("open-models");
    window.wait_until("the models are there", || window.is_shown("models-screen"));
    is_away(&window);

    // In a wide window it is where it was.
    window.resize(1100, 760);
    window.wait_until("it is in its place", || window.is_shown("sidebar"));
    assert!(page_begins_at(&window) > 200.0);
}

#[test]
fn a_narrow_window_looks_right() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer(OWL);
    window.resize(NARROW.0, NARROW.1);
    is_away(&window);
    let sizes = [NARROW];
    let visual = VisualCheck::new(&window, &sizes);
    visual.check("narrow-1-chat");
    call(&window);
    visual.check("narrow-2-sidebar");
    window.press(&[], ESCAPE);
    is_away(&window);
    window.click("inspector-toggle");
    window.wait_until("the panel opens", || window.is_shown("inspector"));
    visual.check("narrow-3-panel");
}

#[test]
fn the_names_of_the_screens_stand_beside_each_other_in_the_narrowest_sidebar() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.drag("sidebar-edge", -120);
    let tops = "return ['models', 'benchmarks', 'settings']
                    .map((screen) => document.querySelector(`[data-testid=open-${screen}]`).getBoundingClientRect())
                    .map(({ top, right }) => [top, right <= document.querySelector('.sidebar').offsetWidth])";
    window.wait_until("the sidebar is narrow", || {
        window.script("return document.querySelector('.sidebar').offsetWidth", json!([])) == json!(200)
    });
    let places = window.script(tops, json!([]));
    assert!(places[0] == places[1] && places[1] == places[2] && places[0][1] == json!(true), "{places}");
}
