//! The sidebar: names, pins, tags, and finding what was said.

use serde_json::json;

use crate::support::endless_model::open_endless_model_for;
use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::{ARROW_DOWN, CONTROL, ENTER, ESCAPE, SHIFT};
use crate::support::window::Window;

const OWL: &str = "Tell me a story about an owl and a bell.";
const FOX: &str = "Tell me a story about a fox and a kite.";
const BEAR: &str = "Tell me a story about a bear and a boat.";

/// Two chats, the one about the fox open.
fn two_chats<'sandbox>(sandbox: &'sandbox Sandbox) -> Window<'sandbox> {
    let window = sandbox.open();
    window.answer(OWL);
    window.click("new-chat");
    window.wait_until("the new chat is empty", || !window.is_shown("message-user"));
    window.answer(FOX);
    window.wait_until("both are listed", || window.texts("chat") == [FOX, OWL]);
    window
}

fn rename(window: &Window<'_>, from: &str, to: &str) {
    window.choose_in_menu("chat-more", from, "Rename");
    window.wait_until("the name can be changed", || window.focus() == "rename");
    window.type_text(to);
    window.press(&[], ENTER);
}

fn tag(window: &Window<'_>, chat: &str, tags: &str) {
    window.choose_in_menu("chat-more", chat, "Tags");
    window.wait_until("the tags are asked for", || window.is_shown("tags-sheet"));
    window.fill("tags", tags);
    window.click("keep-tags");
    window.wait_until("the tags are kept", || !window.is_shown("tags-sheet"));
}

#[test]
fn chats_are_named_pinned_and_tagged() {
    let sandbox = Sandbox::new(1280, 900);
    let window = two_chats(&sandbox);
    rename(&window, OWL, "Ines the owl");
    window.wait_until("it has its name", || window.texts("chat") == [FOX, "Ines the owl"]);
    window.wait_until("its row has the focus", || window.focus() == "chat");

    window.choose_in_menu("chat-more", FOX, "Rename");
    window.wait_until("the name can be changed", || window.focus() == "rename");
    window.type_text("Something else");
    window.press(&[], ESCAPE);
    window.wait_until("the name is as it was", || window.texts("chat") == [FOX, "Ines the owl"]);

    window.choose_in_menu("chat-more", "Ines the owl", "Pin");
    window.wait_until("it stands first", || window.texts("chat") == ["Ines the owl", FOX]);
    assert!(window.text("chat-list").contains("Pinned"));

    assert!(!window.is_shown("tag-filter"), "no chat has a tag");
    tag(&window, FOX, "stories, animals");
    window.click("tag-filter");
    window.click_one("tag-choice", "stories");
    window.wait_until("only that is listed", || window.texts("chat") == [FOX]);
    window.click("new-chat");
    window.wait_until("the new chat is empty", || !window.is_shown("message-user"));
    window.answer(BEAR);
    window.wait_until("a chat that is begun here has the tag", || window.texts("chat") == [BEAR, FOX]);
    drop(window);

    let window = sandbox.open();
    window.wait_until("all are listed as they were", || window.texts("chat") == ["Ines the owl", BEAR, FOX]);
    window.answer(FOX);
    window.wait_until("a new chat comes after what is pinned", || window.texts("chat").len() == 4);
    assert_eq!(window.texts("chat")[0], "Ines the owl");
}

#[test]
fn a_search_leads_to_the_place() {
    let sandbox = Sandbox::new(1280, 600);
    let window = two_chats(&sandbox);
    window.press(&[CONTROL, SHIFT], 'f');
    window.wait_until("the search has the focus", || window.focus() == "chat-search");
    window.type_text("owl bell");
    window.wait_until("the title and the message are found", || window.texts("hit").len() >= 2);
    assert!(window.texts("hit").iter().all(|hit| hit.to_lowercase().contains("owl")));
    window.press(&[], ARROW_DOWN);
    window.wait_until("the first place has the focus", || window.focus() == "hit");
    window.press(&[], ARROW_DOWN);
    window.press(&[], ENTER);
    window.wait_until("its chat is open", || window.text("message-user") == OWL);
    window.wait_until("the place is shown", || in_view(&window));
    window.press(&[], ESCAPE);
    window.wait_until("what is marked in the chat is no longer", || !window.is_shown("find-bar"));
    window.press(&[], ESCAPE);
    window.wait_until("the list is back", || window.texts("chat") == [FOX, OWL]);
    assert_eq!(window.focus(), "chat-search");

    window.type_text("no such words anywhere");
    window.wait_until("nothing is found", || window.text("hits").contains("No chat has"));
}

/// Whether what a search has led to is lit and in view.
fn in_view(window: &Window<'_>) -> bool {
    let lit = "const lit = document.querySelector('.lit')?.getBoundingClientRect();
               return Boolean(lit && lit.bottom > 44 && lit.top < innerHeight)";
    window.script(lit, json!([])) == json!(true)
}

#[test]
fn dots_say_what_has_ended_unseen_until_it_is_seen() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    // Long enough to be left while it is written; its end is waited for.
    open_endless_model_for(&window, &sandbox, 600);
    window.ask(FOX);
    window.click("new-chat");
    window.wait_until("it is being written", || dots_of(&window) == ["A reply is being written"]);
    window.wait_until("there is something to read", || dots_of(&window) == [UNSEEN]);

    window.ask(OWL);
    window.click("new-chat");
    window.wait_until("it is being written", || dots_of(&window) == ["A reply is being written", UNSEEN]);
    sandbox.kill("foretoken-engine");
    window.wait_until("it has failed", || dots_of(&window) == [FAILED, UNSEEN]);
    window.wait_until("the engine is back", || !window.is_shown("engine-banner"));
    VisualCheck::new(&window, &[(1100, 760)]).check("list-8-dots");
    drop(window);

    let window = sandbox.open();
    window.wait_until("both are still unseen", || dots_of(&window) == [FAILED, UNSEEN]);
    window.click_one("chat", FOX);
    window.wait_until("one is seen", || dots_of(&window) == [FAILED]);
    window.click_one("chat", OWL);
    window.wait_until("both are seen", || dots_of(&window).is_empty());
    window.wait_until("the failure is told in the chat", || window.is_shown("reply-error"));
}

const UNSEEN: &str = "A reply that you have not seen";
const FAILED: &str = "The last reply failed";

/// What the dots of the list say, from above.
fn dots_of(window: &Window<'_>) -> Vec<String> {
    let labels = "return [...document.querySelectorAll('.chat-row [role=img]')].map((dot) => dot.ariaLabel)";
    serde_json::from_value(window.script(labels, json!([]))).expect("a list of words")
}

#[test]
fn the_list_looks_right() {
    let sandbox = Sandbox::new(1280, 900);
    let window = two_chats(&sandbox);
    let visual = VisualCheck::new(&window, &[(1100, 760), (760, 520)]);
    tag(&window, FOX, "stories, a tag with a name that is longer than the sidebar is wide");
    window.choose_in_menu("chat-more", OWL, "Pin");
    window.wait_until("it is pinned", || window.text("chat-list").contains("Pinned"));
    visual.check("list-1-pinned");
    window.open_menu("chat-more", OWL);
    window.wait_until("the menu is open", || window.is_popover_shown());
    visual.check("list-2-menu");
    window.press(&[], ESCAPE);
    window.wait_until("the menu is closed", || !window.is_popover_shown());
    window.choose_in_menu("chat-more", OWL, "Rename");
    window.wait_until("the name can be changed", || window.focus() == "rename");
    visual.check("list-3-rename");
    window.press(&[], ESCAPE);
    window.choose_in_menu("chat-more", OWL, "Tags");
    window.wait_until("the tags are asked for", || window.is_shown("tags-sheet"));
    visual.check("list-4-tags");
    window.press(&[], ESCAPE);
    window.wait_until("the sheet is closed", || !window.is_shown("tags-sheet"));
    window.click("tag-filter");
    window.wait_until("the tags are shown", || window.is_popover_shown());
    visual.check("list-5-filter");
    window.press(&[], ESCAPE);
    window.wait_until("the tags are closed", || !window.is_popover_shown());
    window.fill("chat-search", "owl");
    window.wait_until("something is found", || window.is_shown("hit"));
    visual.check("list-6-search");
    window.fill("chat-search", "no such words");
    window.wait_until("nothing is found", || window.text("hits").contains("No chat has"));
    visual.check("list-7-nothing");
}
