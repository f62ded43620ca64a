//! Messages that are edited, answered again, branched and deleted: nothing is lost.

use serde_json::json;

use crate::support::sandbox::Sandbox;
use crate::support::visual_check::{VisualCheck, come_to_rest};
use crate::support::webdriver::keys::{ARROW_UP, CONTROL, ENTER, ESCAPE, SHIFT};
use crate::support::window::Window;

const OWL: &str = "Tell me a story about an owl and a bell.";
const FOX: &str = "Tell me a story about a fox and a kite.";

/// A window in which the model has answered, always the same to the same question.
fn asked<'sandbox>(sandbox: &'sandbox Sandbox) -> (Window<'sandbox>, String) {
    let window = sandbox.open();
    window.choose("sampling-control", "sampling-greedy");
    let answer = window.answer(OWL);
    (window, answer)
}

fn shows(window: &Window<'_>, question: &str) {
    window.wait_until(&format!("{question:?} is shown"), || window.text("message-user") == question);
}

#[test]
fn an_edited_message_is_a_version_and_a_stepper_leads_to_each() {
    let sandbox = Sandbox::new(1280, 900);
    let (window, owl) = asked(&sandbox);
    assert!(!window.is_shown("versions"), "there is one version of everything");

    window.click("edit");
    window.wait_until("the text can be changed", || window.focus() == "edit-text");
    window.press(&[], ESCAPE);
    shows(&window, OWL);
    window.wait_until("one can write on", || window.focus() == "composer");

    window.press(&[], ARROW_UP);
    window.wait_until("the last message can be changed", || window.focus() == "edit-text");
    window.fill("edit-text", FOX);
    window.click("new-chat");
    window.wait_until("the new chat is empty", || !window.is_shown("message-user"));
    drop(window);

    let window = sandbox.open();
    window.click("chat");
    shows(&window, OWL);
    window.wait_until("the edit is offered", || window.text("edit") == "Continue editing");
    window.picture("unsent-edit");
    window.click("edit");
    window.wait_until("the text can be changed", || window.focus() == "edit-text");
    let text = window.script("return document.querySelector('[data-testid=edit-text]').value", json!([]));
    assert_eq!(text, json!(FOX), "the edit is there after a restart");
    window.press(&[], ENTER);
    shows(&window, FOX);
    window.wait_for_end();
    let fox = window.text("answer");
    assert_ne!(fox, owl);
    assert_eq!(window.texts("versions"), ["2 of 2"]);

    window.click("version-earlier");
    shows(&window, OWL);
    assert_eq!(window.text("answer"), owl);
    assert_eq!(window.texts("versions"), ["1 of 2"]);
    window.wait_until("the button that was used keeps the focus", || window.focus() == "version-earlier");

    window.click("retry");
    window.wait_until("there is another reply", || window.texts("versions") == ["1 of 2", "2 of 2"]);
    window.wait_for_end();
    assert_eq!(window.text("answer"), owl);
    drop(window);

    let window = sandbox.open();
    window.click("chat");
    shows(&window, OWL);
    assert_eq!(window.texts("versions"), ["1 of 2", "2 of 2"], "the versions are there after a restart");

    window.click("inspector-toggle");
    window.click("inspector-page-this chat");
    window.wait_until("the panel counts them", || window.text("chat-versions").contains("of 2 messages"));
    window.click("chat-versions");
    window.wait_until("it leads to those of the reply", || window.focus() == "version-earlier");
}

#[test]
fn two_versions_of_a_reply_are_read_side_by_side_and_one_is_kept() {
    let sandbox = Sandbox::new(1280, 900);
    let (window, owl) = asked(&sandbox);
    window.click("retry");
    window.wait_until("there is another reply", || window.texts("versions") == ["2 of 2"]);
    window.wait_for_end();
    window.press(&[CONTROL, SHIFT], 'd');
    window.wait_until("both can be read", || window.texts("answer") == [owl.clone(), owl.clone()]);
    VisualCheck::new(&window, &[(1100, 760), (720, 520)]).check("versions-7-side-by-side");
    window.click("keep-left");
    window.wait_until("the one that was chosen is shown", || window.texts("versions") == ["1 of 2"]);
}

#[test]
fn a_message_becomes_the_end_of_a_chat_of_its_own() {
    let sandbox = Sandbox::new(1280, 900);
    let (window, owl) = asked(&sandbox);
    window.answer(FOX);
    window.choose_in_menu("message-more", "the reply", "Branch into a new chat");
    window.wait_until("there are two chats", || window.texts("chat").len() == 2);
    shows(&window, OWL);
    assert_eq!(window.texts("answer"), [owl]);
    window.answer("What is multi-token prediction?");
    window.click("chat");
    shows(&window, FOX);
}

#[test]
fn what_is_deleted_can_be_brought_back() {
    let sandbox = Sandbox::new(1280, 900);
    let (window, owl) = asked(&sandbox);
    window.choose_in_menu("message-more", "the reply", "Delete");
    window.wait_until("the reply is gone", || !window.is_shown("message-assistant"));
    window.click("undo");
    window.wait_until("the reply is back", || window.text("answer") == owl);

    window.choose_in_menu("chat-more", OWL, "Delete");
    window.wait_until("the chat is gone", || !window.is_shown("chat") && !window.is_shown("message-user"));
    window.click("undo");
    shows(&window, OWL);
    assert_eq!(window.texts("chat"), [OWL]);

    window.choose_in_menu("chat-more", OWL, "Delete");
    window.wait_until("the chat is gone", || !window.is_shown("chat"));
    drop(window);
    let window = sandbox.open();
    window.wait_until("the list is there", || window.is_shown("chat-list"));
    assert!(!window.is_shown("chat"), "what was deleted is gone after a restart");
}

#[test]
fn all_that_was_deleted_is_listed_until_the_app_quits() {
    let sandbox = Sandbox::new(1280, 900);
    let (window, owl) = asked(&sandbox);
    assert!(!window.is_shown("deletions"), "nothing was deleted");
    window.choose_in_menu("message-more", "the reply", "Delete");
    window.wait_until("the reply is gone", || !window.is_shown("message-assistant"));
    window.choose_in_menu("chat-more", OWL, "Delete");
    window.wait_until("the chat is gone", || !window.is_shown("chat"));
    for (deleted, back) in [("the chat", "message-user"), ("the reply", "message-assistant")] {
        window.click("deletions");
        window.wait_until(&format!("{deleted} is listed"), || window.texts("bring-back").len() == 1);
        window.click("bring-back");
        window.wait_until(&format!("{deleted} is back"), || window.is_shown(back));
        window.press(&[], ESCAPE);
    }
    assert_eq!(window.text("answer"), owl);
    window.wait_until("nothing is left to bring back", || !window.is_shown("deletions"));
}

#[test]
fn versions_look_right() {
    let sandbox = Sandbox::new(1280, 900);
    let (window, _) = asked(&sandbox);
    let visual = VisualCheck::new(&window, &[(1100, 760), (760, 520), (720, 520)]);
    window.click("edit");
    window.wait_until("the text can be changed", || window.focus() == "edit-text");
    visual.check("versions-1-edit");
    window.fill("edit-text", FOX);
    window.click("new-chat");
    window.wait_until("the new chat is empty", || !window.is_shown("message-user"));
    window.click("chat");
    window.wait_until("the edit is offered", || window.text("edit") == "Continue editing");
    visual.check("versions-6-unsent-edit");
    window.click("edit");
    window.wait_until("the text can be changed", || window.focus() == "edit-text");
    window.click("send-edit");
    window.wait_for_end();
    window.click("retry");
    window.wait_until("there is another reply", || window.texts("versions").len() == 2);
    window.wait_for_end();
    visual.check("versions-2-steppers");
    window.open_menu("message-more", "the reply");
    window.wait_until("the menu is open", || window.is_popover_shown());
    visual.check("versions-3-menu");
    window.press(&[], ESCAPE);
    window.wait_until("the menu is closed", || !window.is_popover_shown());
    window.choose_in_menu("message-more", "the reply", "Delete");
    window.wait_until("it can be brought back", || window.is_shown("undo"));
    visual.check("versions-4-deleted");
    window.choose_in_menu("chat-more", OWL, "Delete");
    window.wait_until("the chat is gone", || !window.is_shown("chat"));
    window.click("sampling-control");
    window.fill("preset-name", "Stories about owls that are told at night");
    window.click("keep-preset");
    window.wait_until("there is a preset", || window.is_shown("delete-preset"));
    // The popover has grown and finds its place.
    come_to_rest(&window);
    window.click("delete-preset");
    window.wait_until("the preset is gone", || !window.is_shown("delete-preset"));
    window.press(&[], ESCAPE);
    window.click("deletions");
    window.wait_until("what was deleted is listed", || window.texts("bring-back").len() == 2);
    // A narrow window has no list of them until the sidebar is called.
    VisualCheck::new(&window, &[(1100, 760), (760, 520)]).check("versions-5-deletions");
}
