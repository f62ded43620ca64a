//! The quick panel, which keys bring up from any program.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;
use x11rb::protocol::xproto::ModMask;

use crate::support::dialog::Dialog;
use crate::support::native_window::NativeWindow;
use crate::support::sandbox::Sandbox;
use crate::support::screen_keys::{ALT, CONTROL, SPACE, ScreenKeys};
use crate::support::webdriver::keys;
use crate::support::window::Window;

/// What a window hears of the keyboard comes a moment after it is shown or gone, on a busy machine more than one;
/// nobody presses as fast.
const PAUSE: Duration = Duration::from_millis(1500);

fn is_up(sandbox: &Sandbox) -> bool {
    Dialog::is_open(sandbox, "Quick question")
}

/// Chooses the keys of the panel, in the settings.
fn choose_keys(window: &Window<'_>, id: &str) {
    let body = "const select = document.querySelector('[data-testid=quick-key]');
                select.value = arguments[0];
                select.dispatchEvent(new Event('change', { bubbles: true }))";
    window.script(body, json!([id]));
}

fn chosen_keys(window: &Window<'_>) -> serde_json::Value {
    window.script("return document.querySelector('[data-testid=quick-key]').value", json!([]))
}

/// Presses the keys of the panel. The main window gets the keyboard, as a window manager would see to.
fn call(sandbox: &Sandbox, screen: &ScreenKeys) {
    NativeWindow::on(sandbox).take_focus();
    sleep(PAUSE);
    screen.press(&[ALT], SPACE);
}

fn height(window: &Window<'_>) -> f64 {
    window.script("return innerHeight", json!([])).as_f64().unwrap()
}

#[test]
fn a_key_asks_from_any_program_and_the_answer_goes_on_in_the_window() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    let screen = ScreenKeys::of(&sandbox);
    // Another program has these.
    screen.take(ModMask::CONTROL | ModMask::M1, SPACE);
    window.open_settings("general");
    choose_keys(&window, "control_alt_space");
    window.wait_until("it says why these cannot be had", || {
        window.text("settings-error").contains("cannot bring up the quick panel")
    });
    assert_eq!(chosen_keys(&window), json!("off"));
    choose_keys(&window, "alt_space");
    window.wait_until("others can", || {
        std::fs::read_to_string(sandbox.settings().join("settings.json"))
            .is_ok_and(|kept| kept.contains("alt_space"))
    });
    window.close_settings();

    screen.press(&[CONTROL, ALT], SPACE);
    sleep(Duration::from_millis(300));
    assert!(!is_up(&sandbox), "the other program has these still");
    screen.press(&[ALT], SPACE);
    window.enter("quick-panel");
    window.wait_until("it is up", || is_up(&sandbox));
    window.wait_until("one can type", || window.focus() == "quick-field");
    let empty = height(&window);
    window.type_text("Tell me a story about an owl and a bell.");
    window.press(&[], keys::ENTER);
    window.wait_until("it is answered", || {
        window.text("quick-reply").contains("tok/s") && window.text("quick-close").contains("close")
    });
    window.wait_until("it has grown with its answer", || height(&window) > empty + 40.0);
    window.picture("quick-panel");
    let reply = window.text("quick-reply");
    window.press(&[], keys::ESCAPE);
    window.wait_until("it is put away", || !is_up(&sandbox));
    window.enter("composer");
    assert!(!window.is_shown("message-user"), "the window is where it was");
    window.wait_until("the chat is in the list", || window.texts("chat").len() == 1);

    call(&sandbox, &screen);
    window.wait_until("it is up again", || is_up(&sandbox));
    window.enter("quick-panel");
    assert_eq!(window.text("quick-reply"), reply, "what was asked is still there");
    // The panel goes with the click, and a driver that presses and lets go would wait for its next frame.
    window.script("document.querySelector('[data-testid=quick-go-on]').click()", json!([]));
    window.wait_until("it is put away", || !is_up(&sandbox));
    window.enter("composer");
    window.wait_until("the chat is open in the window", || window.is_shown("message-user"));
    let first = reply.lines().next().unwrap();
    assert!(window.text("message-assistant").contains(first), "{reply}");

    call(&sandbox, &screen);
    window.wait_until("it is up", || is_up(&sandbox));
    sleep(PAUSE);
    screen.press(&[ALT], SPACE);
    window.wait_until("the same keys put it away", || !is_up(&sandbox));
    call(&sandbox, &screen);
    window.enter("quick-panel");
    window.wait_until("it begins anew", || !window.is_shown("quick-reply"));
    window.press(&[], keys::ESCAPE);
    window.enter("composer");
}
