//! The window where it is too narrow for the sidebar beside the page.

use serde_json::json;

use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::{ALT, CONTROL, ENTER, ESCAPE, SHIFT, TAB};
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

fn has_focus(window: &Window<'_>, name: &str) {
    window.wait_until(&format!("{name} has the focus"), || window.focus() == name);
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
    has_focus(&window, "sidebar-toggle");
    window.press(&[CONTROL], 'l');
    window.press(&[CONTROL], 'b');
    window.wait_until("its key calls it", || window.focus() == "sidebar");
    window.press(&[], ESCAPE);
    is_away(&window);
    has_focus(&window, "composer");

    call(&window);
    window.driver.click("[data-testid=beside-drawer]").expect("the page can be clicked");
    is_away(&window);

    call(&window);
    window.click_one("chat", FOX);
    window.wait_until("the chat is open", || window.text("message-user") == FOX);
    is_away(&window);

    window.press(&[CONTROL, SHIFT], 'f');
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
fn the_focus_is_never_lost_with_the_sidebar() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.resize(NARROW.0, NARROW.1);
    is_away(&window);
    for screen in ["models", "benchmarks"] {
        call(&window);
        window.click(&format!("open-{screen}"));
        window.wait_until("the screen is there", || window.is_shown(&format!("{screen}-screen")));
        is_away(&window);
        call(&window);
        window.press(&[], ESCAPE);
        is_away(&window);
        has_focus(&window, "sidebar-toggle");
        assert!(window.is_shown(&format!("{screen}-screen")), "only the sidebar goes");
        window.press(&[], ENTER);
        window.wait_until("the button calls it", || window.focus() == "sidebar");
        window.press(&[], ESCAPE);
        is_away(&window);
    }

    // As at another zoom, while somebody types in it.
    window.press(&[CONTROL, SHIFT], 'f');
    has_focus(&window, "chat-search");
    window.resize(1100, 760);
    window.wait_until("it is in its place", || page_begins_at(&window) > 200.0);
    assert_eq!(window.focus(), "chat-search");
    window.resize(NARROW.0, NARROW.1);
    window.wait_until("it lies over the page", || window.is_shown("beside-drawer"));
    assert_eq!(window.focus(), "chat-search");
    window.type_text("owls");
    window.wait_until("nothing is found", || window.text("hits").contains("No chat has"));
    // First the search goes, then the sidebar.
    window.press(&[], ESCAPE);
    window.wait_until("the search is given up", || !window.is_shown("hits"));
    window.press(&[], ESCAPE);
    is_away(&window);
    has_focus(&window, "sidebar-toggle");
}

#[test]
fn the_panel_takes_the_place_of_the_sidebar_that_lies_over_the_page() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer(OWL);
    window.resize(NARROW.0, NARROW.1);
    is_away(&window);
    for held in [&[CONTROL][..], &[CONTROL, ALT]] {
        call(&window);
        window.press(held, 'i');
        window.wait_until("the panel opens", || window.is_shown("inspector"));
        is_away(&window);
        // It can be clicked.
        window.click("inspector-page-this chat");
        window.wait_until("its other page is there", || window.is_shown("room"));
        window.click("inspector-page-this reply");
        window.wait_until("the first is back", || window.is_shown("story"));
        window.click("inspector-toggle");
        window.wait_until("the panel is closed", || !window.is_shown("inspector"));
    }
}

#[test]
fn a_narrow_window_looks_right() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer(OWL);
    window.choose_in_menu("chat-more", OWL, "Tags");
    window.wait_until("the tags are asked for", || window.is_shown("tags-sheet"));
    window.fill("tags", "stories, a tag with a name that is longer than the sidebar is wide");
    window.click("keep-tags");
    window.wait_until("the tags are kept", || !window.is_shown("tags-sheet"));
    // The sidebar stays where the focus is.
    window.click("composer");
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
    window.press(&[], ESCAPE);
    window.wait_until("the panel is closed", || !window.is_shown("inspector"));

    // What is done in the sidebar, as far as it lies over the page.
    call(&window);
    window.open_menu("chat-more", OWL);
    window.wait_until("the menu is open", || window.is_popover_shown());
    visual.check("narrow-4-menu");
    window.press(&[], ESCAPE);
    window.wait_until("the menu is closed", || !window.is_popover_shown());
    window.click("tag-filter");
    window.wait_until("the tags are shown", || window.is_popover_shown());
    visual.check("narrow-5-tags");
    window.press(&[], ESCAPE);
    window.wait_until("the tags are closed", || !window.is_popover_shown());
    window.fill("chat-search", "owls");
    window.wait_until("it is found", || window.is_shown("hit"));
    visual.check("narrow-6-search");
    window.fill("chat-search", "no such words");
    window.wait_until("nothing is found", || window.text("hits").contains("No chat has"));
    visual.check("narrow-7-nothing");
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
