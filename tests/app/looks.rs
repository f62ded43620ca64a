//! What the screens look like: nothing is cut off or out of reach at any size, light and dark. The pictures are for
//! people.

use foretoken_tests::bad_models::bad_models;

use crate::support::endless_model::open_endless_model;
use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::ESCAPE;

/// The kept pictures show other sizes.
const SIZES: [(u32, u32); 1] = [(1100, 760)];

#[test]
fn every_screen_fits() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    let visual = VisualCheck::new(&window, &SIZES);
    let check = |screen: &str| visual.check(screen);

    check("1-first-start");
    window.choose("mtp-control", "mtp-option-3");
    window.answer("Make a table with four countries and their capitals.");
    window.answer("Write a Python function that says hello.");
    window.answer("Tell me a story about an owl and a bell.");
    check("2-replies");
    window.click("reply-footer");
    window.wait_until("the panel opens", || window.is_shown("pass-picture"));
    check("3-statistics");
    window.press(&[], ESCAPE);
    window.wait_until("the panel closes", || !window.is_shown("inspector"));
    for (control, screen) in
        [("mtp-control", "4-mtp"), ("sampling-control", "5-sampling"), ("model-picker", "6-models")]
    {
        window.click(control);
        window.wait_until("the popover opens", || window.is_popover_shown());
        check(screen);
        window.press(&[], ESCAPE);
        window.wait_until("the popover closes", || !window.is_popover_shown());
    }

    let bad = bad_models(sandbox.home()).swap_remove(3);
    window.open_model(&bad.path);
    window.wait_until("the message appears", || window.is_shown("model-error"));
    check("7-model-error");
    window.press(&[], ESCAPE);
    window.wait_until("the picker closes", || !window.is_popover_shown());

    open_endless_model(&window, &sandbox);
    window.click("new-chat");
    window.wait_until("the new chat is empty", || !window.is_shown("message-user"));
    window.ask("Tell me a story about an owl and a bell.");
    window.wait_until("numbers appear", || window.text("live-line").contains("tok/s"));
    check("8-streaming");
    assert!(window.is_shown("stop"), "the reply was still being written");
    sandbox.kill("foretoken-engine");
    window.wait_for_end();
    check("9-engine-died");
}
