//! Folders that are no usable model: each gets its own clear message in the app.

use foretoken_tests::bad_models::bad_models;

use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys::ESCAPE;

#[test]
fn the_picker_says_what_is_wrong_and_the_model_before_goes_on() {
    let sandbox = Sandbox::new(1280, 900);
    let folder = tempfile::tempdir().unwrap();
    let window = sandbox.open();
    window.click("model-picker");
    let mut before = String::new();
    for bad in bad_models(folder.path()) {
        window.choose_model(&bad.path);
        let message = window.wait("another message appears", || {
            Some(window.text("model-error")).filter(|message| !message.is_empty() && *message != before)
        });
        bad.assert_told(&message);
        before = message;
    }
    window.picture("model-error");
    window.press(&[], ESCAPE);
    window.wait_until("the picker closes", || !window.is_popover_shown());
    window.wait_until("the model before is ready again", || !window.is_shown("engine-banner"));
    assert!(window.text("model-picker").contains("Demo model"), "{}", window.text("model-picker"));
    assert!(!window.answer("What is the capital of France?").is_empty());
}
