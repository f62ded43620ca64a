//! What servers have for the person: files and prompts for a message, and a sign-in where a server wants one.

use std::fs;

use foretoken_test_mcp::Vault;
use serde_json::json;

use crate::support::dialog::Dialog;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::{BACKSPACE, ENTER, ESCAPE};
use crate::support::window::Window;
use crate::tools::{add_server, agree, scripted, states};

const CHAT: [(u32, u32); 1] = [(1100, 760)];

/// What stands in the composer.
fn typed(window: &Window<'_>) -> String {
    let value = "return document.querySelector('[data-testid=composer]').value";
    window.script(value, json!([])).as_str().unwrap().to_owned()
}

#[test]
fn what_a_server_has_goes_with_a_message_that_begins_with_its_prompt() {
    let sandbox = scripted();
    let window = sandbox.open();
    add_server(&window, &sandbox);
    window.wait_until("it is listed as off", || states(&window) == ["off"]);
    window.close_settings();
    window.open_menu("attach", "Attach");
    let entries =
        "return [...document.querySelectorAll('.menu-item')].map((entry) => entry.textContent).join()";
    let entries = window.wait("the menu opens", || {
        let entries = window.script(entries, json!([])).as_str().unwrap().to_owned();
        Some(entries).filter(|entries| entries.contains("Files"))
    });
    assert!(!entries.contains("From a server"), "{entries}: none is on");
    window.press(&[], ESCAPE);
    window.open_settings("tools");
    agree(&window, &sandbox);
    window.close_settings();
    let visual = VisualCheck::new(&window, &CHAT);

    window.choose_in_menu("attach", "Attach", "From a server");
    window.wait_until("the server has told", || window.is_shown("resource"));
    visual.check("offers-1-resources");
    window.type_text("nothing that fits");
    window.wait_until("nothing fits", || !window.is_shown("resource"));
    for _ in "nothing that fits".chars() {
        window.press(&[], BACKSPACE);
    }
    window.wait_until("it is listed again", || window.is_shown("resource"));
    window.press(&[], ENTER);
    window.wait_until("it goes with the message", || window.is_shown("file"));
    window.wait_until("the sheet closes", || !window.is_shown("resource-sheet"));
    let file = window.text("file");
    assert!(file.contains("one"), "{file}");

    window.wait_until("one can write", || window.focus() == "composer");
    window.type_text("/gre");
    window.wait_until("its prompt is found", || window.texts("prompt").len() == 1);
    assert!(window.text("prompt").contains("Test"), "the server is named");
    window.press(&[], ENTER);
    window.wait_until("it asks for what is missing", || window.is_shown("prompt-card"));
    visual.check("offers-2-prompt");
    window.type_text("Ada");
    window.press(&[], ENTER);
    window.wait_until("the prompt is in the message", || typed(&window) == "Say hello to Ada.");
    assert!(!window.is_shown("prompt-card") && window.is_shown("file"));
    window.wait_until("one can write on", || window.focus() == "composer");
    window.press(&[], ENTER);
    window.wait_until("it is sent", || window.is_shown("message-user"));
    window.wait_for_end();
    let sent = window.text("message-user");
    assert!(sent.contains("Say hello to Ada.") && sent.contains("one"), "{sent}");
    assert_eq!(typed(&window), "");
}

#[test]
fn a_person_signs_in_with_their_browser_once_they_have_seen_where() {
    let mut sandbox = scripted();
    if !sandbox.add_keychain() {
        return;
    }
    let opened = sandbox.watch_browser();
    let vault = Vault::start(60);
    let window = sandbox.open();
    window.open_settings("tools");
    window.click("add-server");
    window.fill("server-name", "Vault");
    window.click("server-kind-address");
    window.fill("server-address", &vault.address);
    window.click("save-server");
    window.wait_until("it is listed as off", || states(&window) == ["off"]);
    window.click("server-switch");
    Dialog::wait(&sandbox, "Switch on “Vault”?").agree();
    window.wait_until("the server is on", || states(&window) == ["stopped"]);
    window.click_one("server-fold", "Vault");
    window.click("start-server");
    window.wait_until("it wants a sign-in", || window.is_shown("sign-in"));
    window.picture("offers-3-sign-in");

    window.click("sign-in");
    Dialog::wait(&sandbox, "Sign in to “Vault”?").dismiss();
    window.wait_until("nobody is signing in", || window.is_shown("sign-in"));
    assert!(!opened.exists(), "nothing was opened");
    window.click("sign-in");
    Dialog::wait(&sandbox, "Sign in to “Vault”?").agree();
    window.wait_until("the app waits for the browser", || window.is_shown("give-up-sign-in"));
    window.wait_until("the browser is asked", || opened.exists());
    window.click("give-up-sign-in");
    window.wait_until("it is given up", || window.is_shown("sign-in"));

    fs::remove_file(&opened).unwrap();
    window.click("sign-in");
    Dialog::wait(&sandbox, "Sign in to “Vault”?").agree();
    let address = window.wait("the browser is asked", || {
        fs::read_to_string(&opened).ok().filter(|address| address.ends_with('\n'))
    });
    let page = ureq::get(address.trim()).call().unwrap().body_mut().read_to_string().unwrap();
    assert!(page.contains("You are signed in"), "{page}");
    window.wait_until("its tools are there", || states(&window) == ["running"]);
    window.wait_until("one can sign out", || window.is_shown("sign-out"));
    window.picture("offers-4-signed-in");
    window.click("sign-out");
    window.wait_until("nobody is signed in", || !window.is_shown("sign-out"));
    window.click("start-server");
    window.wait_until("it wants a sign-in", || window.is_shown("sign-in"));
}
