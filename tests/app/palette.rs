//! What can be done from anywhere: the palette, the keys and the list of them.

use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::{ARROW_DOWN, ARROW_UP, CONTROL, ENTER, ESCAPE, PAGE_DOWN, PAGE_UP};
use crate::support::window::Window;

/// Opens the palette, looks for something and chooses what comes first.
pub(crate) fn go_to(window: &Window<'_>, words: &str) {
    window.press(&[CONTROL], 'k');
    window.wait_until("the palette is open", || window.focus() == "palette-field");
    window.type_text(words);
    window.press(&[], ENTER);
    window.wait_until("the palette is closed", || !window.is_shown("palette"));
}

#[test]
fn the_palette_goes_to_chats_commands_models_and_settings() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer("Tell me about owls.");
    window.press(&[CONTROL], 'n');
    window.wait_until("a new chat is open", || !window.is_shown("message-user"));
    window.answer("Tell me about bells.");

    go_to(&window, "owls");
    window.wait_until("the chat is open", || window.text("message-user") == "Tell me about owls.");
    go_to(&window, "settings: privacy");
    window.enter_settings();
    window.wait_until("its page is open", || window.is_shown("settings-data"));
    window.close_settings();
    go_to(&window, "write a mess");
    window.wait_until("one can write", || window.focus() == "composer");

    // With the arrow keys, round the end.
    window.press(&[CONTROL], 'k');
    window.wait_until("the palette is open", || window.focus() == "palette-field");
    let selected = || {
        window.script(
            "return document.querySelector('[data-testid=palette-choice][aria-selected=true]').textContent",
            serde_json::json!([]),
        )
    };
    let first = selected();
    window.press(&[], ARROW_UP);
    window.wait_until("the last is chosen", || selected() != first);
    window.press(&[], ARROW_DOWN);
    window.wait_until("the first is chosen", || selected() == first);
    window.press(&[], ESCAPE);
    window.wait_until("the palette is closed", || !window.is_shown("palette"));
    window.wait_until("the focus comes back", || window.focus() == "composer");
}

#[test]
fn keys_do_what_the_list_of_them_says() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer("Tell me about owls.");

    window.press(&[CONTROL], 'i');
    window.wait_until("the statistics open", || window.is_shown("pass-picture"));
    window.press(&[], ESCAPE);
    window.wait_until("they close", || !window.is_shown("inspector"));

    window.press(&[CONTROL], 'l');
    window.press(&[], ARROW_UP);
    window.wait_until("the last message can be changed", || window.focus() == "edit-text");
    window.press(&[], ESCAPE);
    window.wait_until("it is left as it was", || window.focus() == "composer");

    window.press(&[CONTROL], 'n');
    window.wait_until("a new chat is open", || !window.is_shown("message-user"));
    window.answer("Tell me about bells.");
    window.press(&[CONTROL], PAGE_DOWN);
    window.wait_until("the next chat is open", || window.text("message-user") == "Tell me about owls.");
    window.press(&[CONTROL], PAGE_UP);
    window.wait_until("the one before is open", || window.text("message-user") == "Tell me about bells.");

    window.open_settings("keyboard");
    assert!(window.text("settings-keyboard").contains("Ctrl+K"));
    window.close_settings();
    window.press(&[CONTROL], '/');
    window.wait_until("the keys are listed", || window.text("shortcuts").contains("Ctrl+K"));
    window.press(&[], ESCAPE);
    window.wait_until("the list closes", || !window.is_shown("shortcuts"));

    // The page that would answer is gone with the window.
    let _ = window.driver.press(&[CONTROL], ['w']);
    window.wait_until("the window closes, and with it the app", || sandbox.running("foretoken").is_empty());
}

#[test]
fn the_palette_and_the_list_of_keys_look_right() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer("Tell me about owls.");
    window.press(&[CONTROL], 'n');
    window.wait_until("a new chat is open", || !window.is_shown("message-user"));
    let visual = VisualCheck::new(&window, &[(1100, 760), (720, 520)]);
    window.press(&[CONTROL], 'k');
    window.wait_until("the palette is open", || window.focus() == "palette-field");
    visual.check("palette-1-open");
    window.type_text("no such thing");
    window.wait_until("nothing is found", || !window.is_shown("palette-choice"));
    visual.check("palette-2-nothing");
    window.press(&[], ESCAPE);
    window.wait_until("it closes", || !window.is_shown("palette"));
    window.press(&[CONTROL], '/');
    window.wait_until("the keys are listed", || window.is_shown("shortcuts"));
    visual.check("palette-3-keys");
}
