//! A model whose replies go on until something ends them, and what can be said of the text of such a reply.

use foretoken_tests::fixtures::endless_model;

use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys;
use crate::support::window::Window;

/// Whether `text` has what was `shown` of it while it grew, as far as that could no longer change: markdown at its end
/// may yet turn out to be something else, and an open mark of emphasis, which is not shown, to be one that means
/// itself.
pub(crate) fn keeps(text: &str, shown: &str) -> bool {
    let words = |text: &str| text.replace(['*', '_', '~', '`'], "");
    let shown = words(shown);
    let end = shown.char_indices().rev().nth(20).map_or(0, |(index, _)| index);
    words(text).starts_with(&shown[..end])
}

/// Lets the model that never stops answer, with room for a long reply.
pub(crate) fn open_endless_model(window: &Window<'_>, sandbox: &Sandbox) {
    open_endless_model_for(window, sandbox, 3500);
}

/// The same, for replies of so many tokens.
pub(crate) fn open_endless_model_for(window: &Window<'_>, sandbox: &Sandbox, tokens: u32) {
    window.open_model(&endless_model(sandbox.home()));
    window.wait_until("the model is ready", || {
        window.text("model-picker").contains("endless") && !window.is_shown("engine-banner")
    });
    window.wait_until("the picker closes", || !window.is_popover_shown());
    window.click("sampling-control");
    window.fill("max-tokens", &tokens.to_string());
    window.press(&[], keys::ESCAPE);
    window.wait_until("the popover closes", || !window.is_popover_shown());
}
