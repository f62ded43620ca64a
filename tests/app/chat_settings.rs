//! What a chat keeps for itself: what was typed and not sent, its system prompt, its settings; and presets.

use serde_json::json;

use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::ESCAPE;
use crate::support::window::Window;

const OWL: &str = "Tell me a story about an owl and a bell.";
const PROMPT: &str = "You are an owl.";

fn draft(window: &Window<'_>) -> String {
    let text = window.script("return document.querySelector('[data-testid=composer]').value", json!([]));
    text.as_str().unwrap_or_default().to_owned()
}

/// Opens the settings of the chat's replies, if they are not open.
fn open_settings(window: &Window<'_>) {
    if !window.is_shown("system-prompt") {
        window.click("sampling-control");
        window.wait_until("the settings open", || window.is_shown("system-prompt"));
    }
}

/// Closes them again.
fn close_settings(window: &Window<'_>) {
    window.press(&[], ESCAPE);
    window.wait_until("the settings close", || !window.is_popover_shown());
}

/// What a field of the chat's settings holds.
fn value(window: &Window<'_>, name: &str) -> String {
    open_settings(window);
    let body = "return document.querySelector(`[data-testid=${arguments[0]}]`)?.value ?? ''";
    window.script(body, json!([name])).as_str().unwrap_or_default().to_owned()
}

/// Waits until the shell has kept a draft of the new chat.
fn kept(window: &Window<'_>, text: &str) {
    window.wait_until("the draft is kept", || {
        let body = "return (await window.__TAURI_INTERNALS__.invoke('snapshot')).draft.text";
        window.driver.async_script(body, json!([])) == Ok(json!(text))
    });
}

#[test]
fn what_is_typed_stays_with_its_chat_and_survives_a_crash() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer(OWL);
    window.fill("composer", "More about the bell, please");
    window.click("new-chat");
    window.wait_until("the new chat has nothing in it", || draft(&window).is_empty());
    window.fill("composer", "A thought that is not");
    kept(&window, "A thought that is not");
    window.click("chat");
    window.wait_until("the first one has its own", || draft(&window) == "More about the bell, please");
    sandbox.kill("foretoken");
    drop(window);

    let window = sandbox.open();
    window.wait_until("the new chat has its own", || draft(&window) == "A thought that is not");
    window.click("chat");
    window.wait_until("the first one has its own", || draft(&window) == "More about the bell, please");
    window.click("send");
    window.wait_until("it is sent", || window.texts("message-user").len() == 2);
    window.wait_for_end();
    assert_eq!(draft(&window), "");
    window.click("new-chat");
    window.wait_until("the other is still there", || draft(&window) == "A thought that is not");
}

#[test]
fn a_chat_has_its_own_prompt_and_settings_and_gives_them_to_others() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_settings(&window);
    window.fill("system-prompt", PROMPT);
    window.click("scope-chat");
    close_settings(&window);
    window.choose("mtp-control", "mtp-option-off");
    window.answer(OWL);
    assert!(window.text("reply-footer").contains("1.0 per pass"), "{}", window.text("reply-footer"));
    keep_preset(&window, "Owl");

    window.click("new-chat");
    window.wait_until("a new chat follows the app", || {
        window.text("mtp-control").contains("Auto") && value(&window, "system-prompt").is_empty()
    });
    window.click("chat");
    window.wait_until("the chat has its own", || {
        window.text("mtp-control").contains("Off") && value(&window, "system-prompt") == PROMPT
    });
    drop(window);

    let window = sandbox.open();
    open_settings(&window);
    window.wait_until("there is a preset", || window.text("preset").contains("Owl"));
    choose_preset(&window, "Owl");
    window.wait_until("the new chat is set by it", || {
        window.text("mtp-control").contains("Off") && value(&window, "system-prompt") == PROMPT
    });
    close_settings(&window);
    window.answer(OWL);
    assert!(window.text("reply-footer").contains("1.0 per pass"), "{}", window.text("reply-footer"));
    open_settings(&window);
    window.click("delete-preset");
    window.wait_until("it is gone", || !window.text("preset").contains("Owl"));
    assert_eq!(value(&window, "system-prompt"), PROMPT, "the chat keeps its settings");
}

/// Sets the chat by a preset.
fn choose_preset(window: &Window<'_>, name: &str) {
    open_settings(window);
    window.wait_until("the presets are there", || window.is_shown("preset"));
    let body = "const select = document.querySelector('[data-testid=preset]');
                select.value = [...select.options].find(({ textContent }) => textContent === arguments[0]).value;
                select.dispatchEvent(new Event('change', { bubbles: true }))";
    window.script(body, json!([name]));
}

/// Keeps the chat's settings as a preset.
fn keep_preset(window: &Window<'_>, name: &str) {
    open_settings(window);
    window.fill("preset-name", name);
    window.click("keep-preset");
    window.wait_until("the chat is set by it", || window.is_shown("update-preset"));
}

fn note_says(window: &Window<'_>, words: &str) {
    window.wait_until("the note says what was done", || window.text("note").contains(words));
}

/// Takes back what the note tells of, which closes the settings.
fn undo(window: &Window<'_>) {
    window.click("undo");
    window.wait_until("the settings close", || !window.is_popover_shown());
}

fn prompt_is(window: &Window<'_>, text: &str) {
    window.wait_until("the chat has that prompt", || value(window, "system-prompt") == text);
}

#[test]
fn what_a_preset_replaces_and_a_deleted_preset_come_back() {
    let sandbox = Sandbox::new(1280, 900);
    let window = &sandbox.open();
    open_settings(window);
    window.fill("system-prompt", PROMPT);
    keep_preset(window, "Owl");
    choose_preset(window, "Standard");
    prompt_is(window, "");
    assert!(!window.is_shown("undo"), "the preset still has all of it");

    window.fill("system-prompt", "You are a fox.");
    choose_preset(window, "Owl");
    prompt_is(window, PROMPT);
    note_says(window, "“Owl” has replaced");
    undo(window);
    prompt_is(window, "You are a fox.");
    choose_preset(window, "Owl");
    prompt_is(window, PROMPT);
    note_says(window, "“Owl” has replaced");
    window.fill("system-prompt", "You are an old owl.");
    undo(window);
    prompt_is(window, "You are a fox.");
    note_says(window, "are back");
    undo(window);
    prompt_is(window, "You are an old owl.");
    open_settings(window);
    window.wait_until("it is still set by the preset", || window.is_shown("update-preset"));
    delete_and_bring_back(window);
    another_note_hides_the_deletion(window);
}

/// Deletes the preset of a chat whose prompt has been changed since, and brings it back with the note.
fn delete_and_bring_back(window: &Window<'_>) {
    window.click("delete-preset");
    window.wait_until("the preset is gone", || !window.text("preset").contains("Owl"));
    note_says(window, "“Owl” was deleted.");
    undo(window);
    preset_is_back(window);
    window.wait_until("the chat is set by it", || window.is_shown("update-preset"));
    prompt_is(window, "You are an old owl.");
    choose_preset(window, "Standard");
    choose_preset(window, "Owl");
    prompt_is(window, PROMPT);
}

fn preset_is_back(window: &Window<'_>) {
    window.wait_until("the preset is back", || {
        open_settings(window);
        window.text("preset").contains("Owl")
    });
}

/// The note of a deletion gives way to another one; the preset is then brought back from the list of what was deleted.
fn another_note_hides_the_deletion(window: &Window<'_>) {
    open_settings(window);
    window.fill("system-prompt", "You are a fox.");
    window.click("delete-preset");
    note_says(window, "“Owl” was deleted.");
    keep_preset(window, "Fox");
    window.click("update-preset");
    note_says(window, "“Fox” was updated.");
    window.click("deletions");
    window.wait_until("the preset is listed", || window.text("bring-back").contains("Bring back"));
    window.click("bring-back");
    window.wait_until("it is no longer listed", || !window.is_shown("bring-back"));
    preset_is_back(window);
    window.wait_until("nothing is left to bring back", || !window.is_shown("deletions"));
    choose_preset(window, "Owl");
    prompt_is(window, PROMPT);
}

#[test]
fn the_settings_of_a_chat_look_right() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    let visual = VisualCheck::new(&window, &[(1100, 760), (720, 520)]);
    open_settings(&window);
    window.fill("system-prompt", PROMPT);
    close_settings(&window);
    window.answer(OWL);
    keep_preset(&window, "A preset with a name that is longer than the panel is wide");
    visual.check("settings-1-replies");
    close_settings(&window);
    window.click("inspector-toggle");
    window.click("inspector-page-this chat");
    visual.check("settings-2-this-chat");
    window.press(&[], ESCAPE);
}
