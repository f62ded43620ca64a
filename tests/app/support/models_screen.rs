//! The Models screen as a page object, and the models that are there before the app is opened.

use std::fs;
use std::path::{Path, PathBuf};

use foretoken_tests::fixtures::{fixture, write_with_vocab};

use crate::support::hub::{Hub, NAME};
use crate::support::sandbox::{Sandbox, Suspended};
use crate::support::webdriver::keys::ESCAPE;
use crate::support::window::Window;

/// Tokens that [`large_model`] knows. Their embedding is zero and takes no room before the conversion.
const LARGE_VOCAB: u64 = 400_000;

/// Where the library is at first.
pub(crate) fn library(sandbox: &Sandbox) -> PathBuf {
    sandbox.data().join("models")
}

/// A sandbox whose app finds its models on this Hub.
pub(crate) fn sandbox_with(hub: &Hub) -> Sandbox {
    let mut sandbox = Sandbox::new(1280, 900);
    sandbox.set("HF_ENDPOINT", hub.endpoint());
    sandbox
}

/// Opens the Models screen and waits for the catalogue.
pub(crate) fn open_models(window: &Window<'_>) {
    window.click("open-models");
    window.wait_until("the catalogue is shown", || window.is_shown("remote-model"));
}

/// Begins the download of the Hub's model with what the page suggests.
pub(crate) fn download(window: &Window<'_>) {
    window.click_one("remote-model", NAME);
    window.click("download");
    window.wait_until("the download is in the queue", || window.is_shown("job"));
    window.wait_until("the sheet is closed", || !window.is_shown("model-details"));
}

pub(crate) fn job_says(window: &Window<'_>, words: &str) -> bool {
    window.text("job").contains(words)
}

/// Waits until the model of the one job is there and is being measured, and leaves that out: it takes long, and the
/// model can be used without.
pub(crate) fn skip_measurement(window: &Window<'_>) {
    window
        .wait_until("the model is measured", || job_says(window, "Measuring") || window.is_shown("job-use"));
    if !window.is_shown("job-use") {
        window.click("job-cancel");
    }
    window.wait_until("the model is ready", || window.is_shown("job-use"));
}

/// Ends the one job, from its menu, and what is asked before work is lost is answered.
pub(crate) fn cancel_job(window: &Window<'_>) {
    window.choose_in_menu("job-more", "", "Cancel");
    window.wait_until("it is gone", || {
        if window.is_shown("job-cancel-now") {
            window.click("job-cancel-now");
        }
        !window.is_shown("job")
    });
}

/// Whether the speed of a model that is here was measured.
pub(crate) fn is_measured(window: &Window<'_>, name: &str) -> bool {
    let row = row(window, name);
    row.contains(" plain") && !row.contains("about")
}

/// Opens what is known of a model that is here, and returns it.
pub(crate) fn details(window: &Window<'_>, name: &str) -> String {
    window.choose_in_menu("model-more", name, "Details");
    window.wait_until("the details are shown", || window.is_shown("local-details"));
    let details = window.text("local-details");
    window.press(&[], ESCAPE);
    window.wait_until("the details are closed", || !window.is_shown("local-details"));
    details
}

/// The row of a model that is here; empty if it is not.
pub(crate) fn row(window: &Window<'_>, name: &str) -> String {
    window.texts("local-model").into_iter().find(|row| row.contains(name)).unwrap_or_default()
}

/// A model whose conversion takes long enough to be met on the way.
pub(crate) fn large_model(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for entry in fs::read_dir(fixture("tiny-dense")).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if !name.contains("safetensors") {
            fs::copy(entry.path(), folder.join(name)).unwrap();
        }
    }
    write_with_vocab(folder, LARGE_VOCAB);
}

/// Begins the conversion that the form suggests and holds it where it is.
pub(crate) fn begin_conversion(window: &Window<'_>, sandbox: &Sandbox, model: &str) -> Suspended {
    window.choose_in_menu("model-more", model, "Convert");
    window.wait_until("the form is shown", || window.is_shown("convert-sheet"));
    let conversion = std::thread::scope(|scope| {
        let suspending = scope.spawn(|| sandbox.suspend("foretoken-engine", "convert"));
        window.click("convert");
        suspending.join().expect("a conversion begins")
    });
    window.wait_until("the form is closed", || !window.is_shown("convert-sheet"));
    conversion
}
