//! The draft model of a model through the window: offered, fetched from a Hub, used, and deleted with its model.

use std::fs;
use std::path::{Path, PathBuf};

use foretoken_models::Library;
use foretoken_tests::drafted::{draft_config, write_draft};
use foretoken_tests::fixtures::{copy_demo_model, demo_model};
use serde_json::json;

use crate::support::hub::Hub;
use crate::support::models_screen::{library, row, sandbox_with};
use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::ESCAPE;
use crate::support::window::Window;

const SIZES: [(u32, u32); 1] = [(1100, 760)];
const NAME: &str = "Qwen3.5-4B";
const DRAFT_REPO: &str = "z-lab/Qwen3.5-4B-DFlash";
const DRAFT_NAME: &str = "Qwen3.5-4B-DFlash";

/// A draft model of random weights for the demo model, with as many guesses in a block as the published ones have.
fn write_draft_model(folder: &Path) {
    let mut config = draft_config(6);
    (config["hidden_size"], config["vocab_size"]) = (json!(192), json!(2048));
    config["dflash_config"] =
        json!({ "block_size": 16, "mask_token_id": 2047, "target_layer_ids": [0, 1, 7] });
    fs::create_dir_all(folder).unwrap();
    write_draft(folder, &config);
}

/// A Hub with a draft model for the demo model, by the name of one that the catalogue knows.
fn hub(sandbox: &Path, options: &[&str]) -> Hub {
    let published = sandbox.join("published-draft");
    write_draft_model(&published);
    let served = format!("{DRAFT_REPO}={}", published.display());
    Hub::with(&demo_model(), &[&[served.as_str()], options].concat())
}

/// The demo model in the library, by the name of one that the draft model was made for.
fn install_target(sandbox: &Sandbox) -> PathBuf {
    fs::create_dir_all(sandbox.data()).unwrap();
    Library::create(&library(sandbox)).unwrap();
    let model = library(sandbox).join("Qwen--Qwen3.5-4B");
    copy_demo_model(&model);
    let source =
        json!({ "endpoint": "https://huggingface.co", "repo": "Qwen/Qwen3.5-4B", "commit": "0".repeat(40) });
    let record = json!({ "source": source, "added_at": 1, "last_used_at": null, "files": {} });
    fs::write(model.join("foretoken-library.json"), record.to_string()).unwrap();
    model
}

fn close_popover(window: &Window<'_>) {
    window.press(&[], ESCAPE);
    window.wait_until("the popover closes", || !window.is_popover_shown());
}

#[test]
fn a_draft_model_is_got_where_it_is_missed_and_then_guesses_ahead() {
    let published = tempfile::tempdir().unwrap();
    let hub = hub(published.path(), &["--rate", "300000"]);
    let sandbox = sandbox_with(&hub);
    install_target(&sandbox);
    let window = sandbox.open();
    let visual = VisualCheck::new(&window, &SIZES);
    window.click("open-models");
    window.wait_until("a draft model is offered", || {
        row(&window, NAME).contains("Draft model: none yet") && row(&window, NAME).contains("about 1.1 GB")
    });
    visual.check("draft-model-offered");
    window.choose_in_menu("model-more", NAME, "Delete");
    window.wait_until("the model goes alone", || window.is_shown("undo-delete"));
    window.click("undo-delete");
    window.wait_until("it is back", || row(&window, NAME).contains("MTP head"));
    window.click("use-model");
    window.wait_until("the model is loaded", || window.text("model-picker").contains(NAME));
    window.wait_until("it is ready", || !window.is_shown("engine-banner"));

    window.click("mtp-control");
    window.wait_until("DFlash is missed", || window.is_shown("mtp-missing-dflash"));
    assert!(!window.is_shown("mtp-option-dflash"));
    visual.check("dflash-missing");
    window.click("get-draft-model");
    window.wait_until("its download is told", || window.text("mtp-missing-dflash").contains("Downloading"));
    visual.check("dflash-on-its-way");
    // The model is loaded again by itself.
    window.wait_until("DFlash can be chosen", || window.is_shown("mtp-option-dflash"));
    visual.check("dflash-here");
    window.click("mtp-option-dflash");
    window.wait_until("it is chosen", || window.text("mtp-control").contains("DFlash"));
    window.click("model-picker");
    window.wait_until("the picker tells of it", || window.text("model-draft").contains(DRAFT_NAME));
    assert!(
        !window.texts("model-choice").iter().any(|choice| choice.contains(DRAFT_NAME)),
        "nobody chats with it"
    );
    close_popover(&window);

    // Whole blocks, whether they pay or not.
    let whole = "window.__TAURI_INTERNALS__.invoke('set_settings',
        { change: { drafting: { mode: 'dflash', depth: 15 } } }); return null";
    window.script(whole, json!([]));
    assert!(!window.answer("Tell me a story about an owl and a bell.").is_empty());
    window.click("reply-footer");
    window.wait_until("the numbers open", || window.is_shown("pass-picture"));
    let sticks_out =
        "const right = document.querySelector('.inspector-body').getBoundingClientRect().right - 16;
        return [...document.querySelectorAll('[data-testid=pass-picture] *')]
            .filter((part) => part.getBoundingClientRect().right > right).map((part) => part.className)";
    assert_eq!(window.script(sticks_out, json!([])), json!([]), "the picture of a block fits its panel");
    window.click("fold-guesses");
    assert!(window.text("inspector").contains("Drafts from DFlash"));
    visual.check("positions-of-a-block");
    window.script(
        "document.querySelector('[data-testid=position-15]').scrollIntoView({ block: 'end' })",
        json!([]),
    );
    assert!(window.is_shown("position-15"));
    window.picture("positions-of-a-block-end");
}

#[test]
fn a_draft_model_stands_under_its_model_and_is_deleted_with_it_or_stays() {
    let sandbox = Sandbox::new(1280, 900);
    let model = install_target(&sandbox);
    let draft = library(&sandbox).join("z-lab--Qwen3.5-4B-DFlash");
    write_draft_model(&draft);
    let source =
        json!({ "endpoint": "https://huggingface.co", "repo": DRAFT_REPO, "commit": "1".repeat(40) });
    let record = json!({ "source": source, "added_at": 1, "last_used_at": null, "files": {} });
    fs::write(draft.join("foretoken-library.json"), record.to_string()).unwrap();
    let window = sandbox.open();
    let visual = VisualCheck::new(&window, &SIZES);
    window.click("open-models");
    let told = |words: &str| row(&window, NAME).contains(words);
    window.wait_until("it stands under its model", || {
        told("guesses up to 15 ahead") && told("made for Qwen3.5-4B")
    });
    assert_eq!(window.texts("draft-model").len(), 2, "one came with the app");
    assert_eq!(window.texts("local-model").len(), 2, "it is no model to chat with");
    visual.check("draft-model-here");

    window.choose_in_menu("model-more", NAME, "Delete with its draft model");
    window.wait_until("both are gone", || window.texts("undo-delete").len() == 2);
    assert!(!model.exists() && !draft.exists());
    window.click("undo-delete");
    window.wait_until("the draft model is back", || draft.join("config.json").is_file());
}
