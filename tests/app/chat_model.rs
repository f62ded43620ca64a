//! A chat and the model that answers it.

use foretoken_tests::fixtures::copy_demo_model;

use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::window::Window;

const FOX: &str = "Tell me a story about a fox and a kite.";
const OWL: &str = "Tell me a story about an owl and a bell.";

fn wait_for_model(window: &Window<'_>, name: &str) {
    window.wait_until("the model is ready", || {
        window.text("model-picker").contains(name) && !window.is_shown("engine-banner")
    });
    window.wait_until("the picker closes", || !window.is_popover_shown());
}

#[test]
fn a_chat_offers_the_model_that_has_answered_it() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer(FOX);
    assert!(!window.is_shown("model-note"), "it is the one that answers");
    let other = sandbox.home().join("Qwen3.5-0.1B");
    copy_demo_model(&other);
    window.open_model(&other);
    wait_for_model(&window, "Qwen3.5-0.1B");
    window
        .wait_until("the first one is offered", || window.text("model-note").contains("by the demo model."));
    window.click("new-chat");
    window.wait_until("a new chat has none", || !window.is_shown("model-note"));
    window.answer(OWL);

    window.click_one("chat", FOX);
    window.wait_until("it is offered when the chat opens", || window.is_shown("model-note"));
    assert!(window.text("model-picker").contains("Qwen3.5-0.1B"), "nothing is loaded by opening a chat");
    VisualCheck::new(&window, &[(1100, 760), (720, 520)]).check("chat-model");
    window.click("use-again");
    wait_for_model(&window, "Demo model");
    window.wait_until("there is nothing to offer", || !window.is_shown("model-note"));

    // The newest stands first; it may have got a title by now.
    let newest = window.texts("chat").swap_remove(0);
    window.click_one("chat", &newest);
    window.wait_until("the other one is offered", || window.text("model-note").contains("by Qwen3.5-0.1B."));
    window.answer("And then?");
    assert!(!window.is_shown("model-note"), "the chat has gone on with the one that is loaded");
}
