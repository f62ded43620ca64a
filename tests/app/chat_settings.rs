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

/// What a field of the inspector holds.
fn value(window: &Window<'_>, name: &str) -> String {
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
    window.click("inspector-toggle");
    window.fill("system-prompt", PROMPT);
    window.click("scope-chat");
    window.choose("mtp-control", "mtp-option-off");
    window.answer(OWL);
    assert!(window.text("reply-footer").contains("1.0 per pass"), "{}", window.text("reply-footer"));
    window.fill("preset-name", "Owl");
    window.click("keep-preset");
    window.wait_until("the chat is set by it", || window.is_shown("update-preset"));

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
    window.click("inspector-toggle");
    let choose = "const select = document.querySelector('[data-testid=preset]');
                  select.value = [...select.options].find((option) => option.textContent === 'Owl').value;
                  select.dispatchEvent(new Event('change', { bubbles: true }))";
    window.wait_until("there is a preset", || window.text("preset").contains("Owl"));
    window.script(choose, json!([]));
    window.wait_until("the new chat is set by it", || {
        window.text("mtp-control").contains("Off") && value(&window, "system-prompt") == PROMPT
    });
    window.answer(OWL);
    assert!(window.text("reply-footer").contains("1.0 per pass"), "{}", window.text("reply-footer"));
    window.click("delete-preset");
    window.wait_until("it is gone", || !window.text("preset").contains("Owl"));
    assert_eq!(value(&window, "system-prompt"), PROMPT, "the chat keeps its settings");
}

#[test]
fn what_a_preset_replaces_and_a_deleted_preset_come_back() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    let choose = |name: &str| {
        let body = "const select = document.querySelector('[data-testid=preset]');
                    select.value = [...select.options].find(({ textContent }) => textContent === arguments[0]).value;
                    select.dispatchEvent(new Event('change', { bubbles: true }))";
        window.script(body, json!([name]));
    };
    let note_says = |words: &str| {
        window.wait_until("the note says what was done", || window.text("note").contains(words));
    };
    let prompt_is = |text: &str| {
        window.wait_until("the chat has that prompt", || value(&window, "system-prompt") == text);
    };
    window.click("inspector-toggle");
    window.fill("system-prompt", PROMPT);
    window.fill("preset-name", "Owl");
    window.click("keep-preset");
    window.wait_until("the chat is set by it", || window.is_shown("update-preset"));
    choose("The model's own values");
    prompt_is("");
    assert!(!window.is_shown("undo"), "the preset still has all of it");

    window.fill("system-prompt", "You are a fox.");
    choose("Owl");
    prompt_is(PROMPT);
    note_says("“Owl” has replaced");
    window.click("undo");
    prompt_is("You are a fox.");
    choose("Owl");
    prompt_is(PROMPT);
    note_says("“Owl” has replaced");
    window.fill("system-prompt", "You are an old owl.");
    window.click("undo");
    prompt_is("You are a fox.");
    note_says("are back");
    window.click("undo");
    prompt_is("You are an old owl.");

    window.wait_until("it is still set by the preset", || window.is_shown("update-preset"));
    window.click("delete-preset");
    window.wait_until("the preset is gone", || !window.text("preset").contains("Owl"));
    note_says("“Owl” was deleted.");
    window.click("undo");
    window.wait_until("the preset is back", || window.text("preset").contains("Owl"));
    window.wait_until("the chat is set by it", || window.is_shown("update-preset"));
    prompt_is("You are an old owl.");
    choose("The model's own values");
    choose("Owl");
    prompt_is(PROMPT);

    // The note of the deletion gives way to another one.
    window.fill("system-prompt", "You are a fox.");
    window.click("delete-preset");
    note_says("“Owl” was deleted.");
    window.fill("preset-name", "Fox");
    window.click("keep-preset");
    window.wait_until("the chat is set by another", || window.is_shown("update-preset"));
    window.click("update-preset");
    note_says("“Fox” was updated.");
    window.click("deletions");
    window.wait_until("the preset is listed", || window.text("bring-back").contains("Bring back"));
    window.click("bring-back");
    window.wait_until("the preset is back", || window.text("preset").contains("Owl"));
    window.wait_until("nothing is left to bring back", || !window.is_shown("deletions"));
    choose("Owl");
    prompt_is(PROMPT);
}

#[test]
fn the_settings_of_a_chat_look_right() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    let looks = VisualCheck::new(&window, &[(1100, 760), (720, 520)]);
    window.click("inspector-toggle");
    window.fill("system-prompt", PROMPT);
    window.answer(OWL);
    window.fill("preset-name", "A preset with a name that is longer than the panel is wide");
    window.click("keep-preset");
    window.wait_until("the chat is set by it", || window.is_shown("update-preset"));
    looks.check("settings-1-inspector");
    window.press(&[], ESCAPE);
}
