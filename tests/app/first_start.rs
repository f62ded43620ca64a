//! The empty chat: for those who begin, the idea and the ways on; for whoever has chats and a model, calm.

use foretoken_tests::fixtures::copy_demo_model;
use serde_json::json;

use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;

const SIZES: [(u32, u32); 3] = [(1100, 760), (800, 600), (720, 520)];

#[test]
fn those_who_begin_try_the_demo_model_and_use_what_another_program_has() {
    let sandbox = Sandbox::new(1280, 900);
    for name in ["Qwen3.5-0.1B", "Qwen3.5-0.2B"] {
        copy_demo_model(&sandbox.home().join(".lmstudio/models/community").join(name));
    }
    let window = sandbox.open();
    window.wait_until("a model is offered for the machine", || {
        window.text("model-offer").contains("For this computer") && window.is_shown("download-offered")
    });
    window.wait_until("the models of the other program are told of", || {
        window.text("first-start").contains("2 models in LM Studio’s folder")
    });
    let visual = VisualCheck::new(&window, &SIZES);
    visual.check("first-start");
    window.resize(720, 520);
    let top = "return document.querySelector('[data-testid=conversation]').scrollTop";
    assert_eq!(window.script(top, json!([])), json!(0), "its beginning is shown where it does not fit");
    window.resize(1100, 760);

    window.click_one("example", "four countries");
    window.wait_until("the whole question is asked", || {
        window.text("message-user") == "Make a table with four countries and their capitals."
    });
    window.wait_for_end();
    window.click("new-chat");
    window.wait_until("the demo model still answers", || window.is_shown("first-start"));

    window.click("get-bigger");
    window.wait_until("there are others to get", || window.is_shown("remote-model"));
    window.click("new-chat");
    window.click("use-elsewhere");
    window.wait_until("the first of them is shown", || window.focus() == "local-model");
    window.click("use-model");
    window.wait_until("it answers in a calm chat", || window.is_shown("empty-chat"));
    assert!(!window.is_shown("first-start"));
    window.wait_until("it is ready", || !window.is_shown("engine-banner"));
    visual.check("empty-chat");
}
