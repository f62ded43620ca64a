//! Folders that are no usable model: each gets its own clear message, in the app and on the command line.

use std::process::Command;

use foretoken_tests::programs::built;

use crate::support::bad_models::{BadModel, bad_models};

/// Checks that a message names what is wrong and says what to do.
fn assert_clear(bad: &BadModel, message: &str) {
    for name in &bad.names {
        assert!(message.contains(name), "{}: {name:?} is not named in: {message}", bad.path.display());
    }
    assert!(message.contains(bad.advice), "{}: no advice in: {message}", bad.path.display());
}

#[test]
fn the_command_line_says_in_one_line_what_is_wrong_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut messages = Vec::new();
    for bad in bad_models(folder.path()) {
        let path = bad.path.to_str().unwrap();
        let mut commands = vec![vec!["generate", "--prompt", "Hello", "--model", path]];
        if !bad.only_for_chats {
            commands.push(vec!["inspect", path]);
        }
        for arguments in commands {
            let output = Command::new(built("foretoken-engine")).args(&arguments).output().unwrap();
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success(), "{arguments:?} succeeds");
            assert_eq!(message.lines().count(), 1, "{arguments:?} says: {message}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{arguments:?}");
            assert_clear(&bad, &message);
            messages.push(message);
        }
    }
    messages.sort();
    messages.dedup();
    assert_eq!(messages.len(), 6, "each kind has a message of its own: {messages:#?}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_picker_says_what_is_wrong_and_the_model_before_goes_on() {
    use crate::support::sandbox::Sandbox;

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
        assert_clear(&bad, &message);
        before = message;
    }
    window.picture("model-error");
    window.press(&[], crate::support::webdriver::keys::ESCAPE);
    window.wait_until("the picker closes", || !window.is_popover_shown());
    window.wait_until("the model before is ready again", || !window.is_shown("engine-banner"));
    assert!(window.text("model-picker").contains("Demo model"), "{}", window.text("model-picker"));
    assert!(!window.answer("What is the capital of France?").is_empty());
}
