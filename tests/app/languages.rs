//! The app in other languages than English.

use serde_json::json;

use crate::support::dialog::Dialog;
use crate::support::endless_model::open_endless_model;
use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys::CONTROL;
use crate::support::window::Window;

const TYPED: &str = "And what came before it?";

/// The language that a page says it is in.
fn language(window: &Window<'_>) -> serde_json::Value {
    window.script("return document.documentElement.lang", json!([]))
}

fn choose_language(window: &Window<'_>, language: &str) {
    let script = "const select = document.querySelector('[data-testid=language]');
                  select.value = arguments[0];
                  select.dispatchEvent(new Event('change', { bubbles: true }))";
    window.script(script, json!([language]));
}

#[test]
fn another_language_is_spoken_at_once_and_nothing_is_lost() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    assert_eq!(language(&window), "en");
    open_endless_model(&window, &sandbox);
    window.ask("Tell me a story about an owl and a bell.");
    window.wait_for_text(40);
    window.fill("composer", TYPED);

    window.open_settings("general");
    choose_language(&window, "de");
    window.wait_until("the settings are in German", || window.text("open-general") == "Allgemein");
    window.wait_until("and are called so", || Dialog::is_open(&sandbox, "Einstellungen"));
    window.close_settings();
    window.wait_until("so is the chat", || {
        language(&window) == "de" && window.text("new-chat").contains("Neuer Chat")
    });
    let typed = "return document.querySelector('[data-testid=composer]').value";
    window.wait_until("what was typed is there", || window.script(typed, json!([])) == TYPED);
    let so_far = window.text("answer").chars().count();
    window.wait_for_text(so_far + 40);
    window.picture("german");

    window.press(&[CONTROL], 'q');
    Dialog::wait(&sandbox, "Eine Antwort wird noch geschrieben").dismiss();
    window.click("stop");
    window.wait_for_end();
    drop(window);

    let window = sandbox.open();
    assert_eq!(language(&window), "de", "it is spoken from the start");
}

#[test]
fn the_systems_language_is_spoken_and_errors_keep_their_details() {
    let mut sandbox = Sandbox::new(1280, 900);
    sandbox.set("LANG", "ja_JP.UTF-8");
    let folder = tempfile::tempdir().unwrap();
    let window = sandbox.open();
    assert_eq!(language(&window), "ja");
    window.wait_until("it is Japanese", || window.text("new-chat").contains("新規チャット"));
    window.click("model-picker");
    window.click("open-folder");
    Dialog::wait(&sandbox, "モデルフォルダを開く").choose(folder.path());
    window.wait_until("what is wrong is said", || window.is_shown("model-error"));
    let error = window.text("model-error");
    assert!(error.contains("。"), "in Japanese: {error}");
    assert!(error.contains(folder.path().to_str().unwrap()), "with what it is about: {error}");
    window.picture("japanese");
}
