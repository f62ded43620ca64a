//! What the mouse does that no button says: the menu on a right click, and the edge of the sidebar.

use serde_json::{Value, json};

use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys::{ARROW_LEFT, ARROW_RIGHT};
use crate::support::window::Window;

const OWL: &str = "Tell me a story about an owl and a bell.";

/// Whether the webview's own menu would open on a right click in the middle of what a selector finds; of a paragraph,
/// in the middle of its first words that are in view.
fn opens_menu(window: &Window<'_>, selector: &str) -> bool {
    let body = "const element = document.querySelector(arguments[0]);
                const words = document.createRange();
                words.selectNodeContents(element);
                const places = element.matches('p') ? [...words.getClientRects()] : [element.getBoundingClientRect()];
                const points = places.map(({ x, y, width, height }) => [x + width / 2, y + height / 2]);
                const isInView = ([x, y]) => element.contains(document.elementFromPoint(x, y));
                const [clientX, clientY] = points.find(isInView);
                const click = { clientX, clientY, button: 2, bubbles: true, cancelable: true };
                return document.elementFromPoint(clientX, clientY).dispatchEvent(new MouseEvent('contextmenu', click))";
    window.script(body, json!([selector])) == json!(true)
}

#[test]
fn the_webviews_menu_opens_only_where_it_is_of_use() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer(OWL);
    let answer = "[data-testid=answer] p";
    for nothing in [answer, ".toolbar", "[data-testid=open-models]", ".sidebar", "[data-testid=send]"] {
        assert!(!opens_menu(&window, nothing), "a menu on {nothing} offers to reload the page");
    }
    assert!(opens_menu(&window, "[data-testid=composer]"), "one can paste");
    window.script("getSelection().selectAllChildren(document.querySelector(arguments[0]))", json!([answer]));
    assert!(opens_menu(&window, answer), "what is selected can be copied");
    assert!(!opens_menu(&window, ".toolbar"), "but not elsewhere");
    window.open_settings("appearance");
    assert!(!opens_menu(&window, "[data-testid=settings-appearance] h2"));
}

fn width(window: &Window<'_>) -> i64 {
    let width = window.script("return document.querySelector('.sidebar').offsetWidth", json!([]));
    width.as_i64().unwrap()
}

fn edge(window: &Window<'_>, attribute: &str) -> Value {
    let body = "return document.querySelector('[data-testid=sidebar-edge]').getAttribute(arguments[0])";
    window.script(body, json!([attribute]))
}

#[test]
fn the_sidebar_is_as_wide_as_it_was_made() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    assert_eq!(width(&window), 248);
    assert_eq!(edge(&window, "aria-valuenow"), "248");
    window.drag("sidebar-edge", 50);
    window.wait_until("it is wider", || width(&window) == 298 && edge(&window, "aria-valuenow") == "298");
    window.drag("sidebar-edge", 400);
    window.wait_until("it is as wide as it can be", || width(&window) == 320);
    window.drag("sidebar-edge", -250);
    window.wait_until("it is as narrow as it can be", || width(&window) == 200);
    window.script("document.querySelector('[data-testid=sidebar-edge]').focus()", json!([]));
    window.press(&[], ARROW_RIGHT);
    window.press(&[], ARROW_RIGHT);
    window.press(&[], ARROW_LEFT);
    window.wait_until("keys move it", || width(&window) == 210 && edge(&window, "aria-valuenow") == "210");
    let kept = "return (await window.__TAURI_INTERNALS__.invoke('snapshot')).preferences.sidebar_width";
    window.wait_until("it is kept", || window.driver.async_script(kept, json!([])) == Ok(json!(210)));
    drop(window);

    let window = sandbox.open();
    assert_eq!(width(&window), 210, "it is as wide from the start");
    let twice = "document.querySelector('[data-testid=sidebar-edge]')
                 .dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))";
    window.script(twice, json!([]));
    window.wait_until("it has its usual width", || width(&window) == 248);
    window.wait_until("that is kept", || window.driver.async_script(kept, json!([])) == Ok(Value::Null));
}
