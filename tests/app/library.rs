//! The model library through the window, against a Hub that speaks the real one's protocol.

use std::fs;
use std::path::{Path, PathBuf};

use foretoken_engine::mlx::Dtype;
use foretoken_models::{Library, Location};
use foretoken_tests::fixtures::{copy_demo_model, demo_model, edit_json, write_demo_with};
use serde_json::{Value, json};

use crate::support::drag::Drag;
use crate::support::endless_model::open_endless_model;
use crate::support::hub::{Hub, NAME, REPO};
use crate::support::models_screen::{
    begin_conversion, cancel_job, details, download, is_measured, job_says, large_model, library,
    open_models, row, sandbox_with, skip_measurement,
};
use crate::support::native_window::NativeWindow;
use crate::support::notifications::{Notification, Notifications};
use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys;
use crate::support::window::Window;

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(files_below(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}

#[test]
fn from_an_empty_library_to_a_reply_of_a_downloaded_and_converted_model() {
    // A processor measures 4 bits with numbers of 32 bits in a fifth of the time.
    let model = tempfile::tempdir().unwrap();
    write_demo_with(model.path(), |tensors| {
        tensors.values_mut().for_each(|tensor| *tensor = tensor.astype(Dtype::Float32).unwrap());
    });
    edit_json(model.path(), "config.json", |config| config["text_config"]["dtype"] = "float32".into());
    let hub = Hub::with(model.path(), &[]);
    let sandbox = sandbox_with(&hub);
    let window = sandbox.open();
    open_models(&window);
    window.picture("models-empty");
    download(&window);
    window.wait_until("the model is measured", || job_says(&window, "Measuring"));
    window.picture("models-measuring");
    window.wait_until("the model is ready", || window.is_shown("job-use"));
    window.picture("models-ready");

    let converted = library(&sandbox).join("Qwen--Qwen3.5-0.8B-4bit");
    assert!(converted.join("config.json").is_file());
    assert!(!library(&sandbox).join("Qwen--Qwen3.5-0.8B").exists(), "the original files are removed");
    window.wait_until("the model is described", || row(&window, "Qwen3.5-0.8B-4bit").contains("MTP head"));
    let described = row(&window, "Qwen3.5-0.8B-4bit");
    assert!(described.contains("4-bit") && described.contains("guesses up to 3 ahead"), "{described}");
    assert!(is_measured(&window, "Qwen3.5-0.8B-4bit"), "it was measured: {described}");
    let known = details(&window, "Qwen3.5-0.8B-4bit");
    for words in ["Fits well", "4.9 million parameters", "tok/s", "Qwen/Qwen3.5-0.8B"] {
        assert!(known.contains(words), "{known}");
    }

    window.click("job-use");
    window.wait_until("the chat is shown", || window.is_shown("composer"));
    window.wait_until("the model is loaded", || window.text("model-picker").contains("Qwen3.5-0.8B-4bit"));
    window.wait_until("it is ready", || !window.is_shown("engine-banner"));
    assert!(!window.answer("What is the capital of France?").is_empty());
    window.click("open-models");
    window.wait_until("it is in use", || row(&window, "Qwen3.5-0.8B-4bit").contains("in use"));
    window.wait_until("its use is noted", || details(&window, "Qwen3.5-0.8B-4bit").contains("Used today"));
}

#[test]
fn a_download_is_paused_goes_on_and_is_cancelled_without_a_trace() {
    let hub = Hub::with(&demo_model(), &["--rate", "450000"]);
    let sandbox = sandbox_with(&hub);
    let window = sandbox.open();
    open_models(&window);
    download(&window);
    window.wait_until("bytes arrive", || job_says(&window, "Downloading") && job_says(&window, " of "));
    window.click("job-pause");
    window.wait_until("it is paused", || job_says(&window, "Paused"));
    window.picture("models-paused");
    window.click("job-resume");
    window.wait_until("it goes on", || job_says(&window, "Downloading") && job_says(&window, " of "));
    cancel_job(&window);
    let home = library(&sandbox).join(".foretoken");
    window.wait_until("nothing is left of it", || files_below(&home.join("downloads")).is_empty());
    assert_eq!(row(&window, NAME), "");
}

#[test]
fn a_download_goes_on_when_the_app_is_opened_again_after_it_died() {
    let hub = Hub::with(&demo_model(), &["--rate", "1200000"]);
    let sandbox = sandbox_with(&hub);
    let window = sandbox.open();
    open_models(&window);
    download(&window);
    window.wait_until("bytes arrive", || job_says(&window, "Downloading") && job_says(&window, " of "));
    sandbox.kill("foretoken");
    drop(window);

    let window = sandbox.open();
    window.click("open-models");
    // On a busy machine the rest has come before the window is there.
    window.wait_until("it goes on by itself", || {
        job_says(&window, "Downloading") || job_says(&window, "Measuring")
    });
    skip_measurement(&window);
    assert!(row(&window, "Qwen3.5-0.8B-4bit").contains("Use"), "{:?}", window.texts("local-model"));
}

#[test]
fn a_deleted_model_comes_back_until_the_app_quits() {
    let sandbox = Sandbox::new(1280, 900);
    let own = library(&sandbox);
    fs::create_dir_all(sandbox.data()).unwrap();
    Library::create(&own).unwrap();
    copy_demo_model(&own.join("org--Little"));
    let window = sandbox.open();
    window.click("open-models");
    window.wait_until("the model is listed", || row(&window, "Little").contains("MTP head"));
    window.choose_in_menu("model-more", "Little", "Delete");
    window.wait_until("it can be brought back", || window.is_shown("undo-delete"));
    assert_eq!(row(&window, "Little"), "");
    assert!(!own.join("org--Little").exists());
    window.click("undo-delete");
    window.wait_until("it is back", || row(&window, "Little").contains("MTP head"));
    assert!(own.join("org--Little/config.json").is_file());

    window.choose_in_menu("model-more", "Little", "Delete");
    window.wait_until("it is deleted again", || window.is_shown("undo-delete"));
    drop(window);
    let window = sandbox.open();
    window.click("open-models");
    window.wait_until("the library is shown", || window.is_shown("local-model"));
    window.wait_until("it is gone for good", || files_below(&own.join(".foretoken/trash")).is_empty());
    assert_eq!(row(&window, "Little"), "");
}

#[test]
fn a_folder_that_is_dropped_on_the_window_is_used_where_it_is() {
    let sandbox = Sandbox::new(1280, 900);
    let mine = sandbox.home().join("mine");
    copy_demo_model(&mine);
    let window = sandbox.open();
    let mut drag = Drag::over(&sandbox, &mine);
    window.wait_until("the window says what a drop does", || drag.hold() && window.is_shown("drop-target"));
    window.picture("models-drop");
    drag.leave();
    window.wait_until("the folder is away again", || !window.is_shown("drop-target"));
    assert!(!window.is_shown("local-model"), "nothing was added");

    let mut drag = Drag::over(&sandbox, &mine);
    window.wait_until("the window would take it", || drag.hold() && window.is_shown("drop-target"));
    drag.release();
    window.wait_until("the model is listed", || {
        drag.answer();
        row(&window, "mine").contains("MTP head")
    });
    assert!(!window.is_shown("drop-target"));
    assert!(files_below(&library(&sandbox)).iter().all(|file| !file.ends_with("model.safetensors")));
    assert!(mine.join("model.safetensors").is_file());
}

#[test]
fn a_library_on_a_disk_that_is_not_connected_is_offline_and_comes_back() {
    let sandbox = Sandbox::new(1280, 900);
    let disk = sandbox.home().join("disk");
    fs::create_dir(&disk).unwrap();
    let own = Library::create(&disk.join("models")).unwrap();
    copy_demo_model(&own.root().join("org--Little"));
    let settings = sandbox.settings();
    Location::new(&settings, &sandbox.data()).choose(&own).unwrap();
    let window = sandbox.open();
    window.click("open-models");
    window.wait_until("the model is listed", || row(&window, "Little").contains("MTP head"));

    let unplugged = sandbox.home().join("unplugged");
    fs::rename(&disk, &unplugged).unwrap();
    window.wait_until("the library is offline", || window.is_shown("library-offline"));
    window.wait_until("so is its model", || row(&window, "Little").contains("Offline"));
    window.picture("models-offline");
    assert!(!disk.exists(), "nothing is made in its place");
    fs::rename(&unplugged, &disk).unwrap();
    window.wait_until("the library is back", || !window.is_shown("library-offline"));
    window.wait_until("so is its model", || row(&window, "Little").contains("Use"));
}

#[test]
fn a_download_waits_for_the_librarys_disk_and_goes_on_when_it_is_back() {
    let hub = Hub::with(&demo_model(), &["--rate", "1500000"]);
    let sandbox = sandbox_with(&hub);
    let disk = sandbox.home().join("disk");
    fs::create_dir(&disk).unwrap();
    let own = Library::create(&disk.join("models")).unwrap();
    let settings = sandbox.settings();
    Location::new(&settings, &sandbox.data()).choose(&own).unwrap();
    let window = sandbox.open();
    open_models(&window);
    window.click_one("remote-model", NAME);
    window.click("conversion-none");
    window.click("download");
    window.wait_until("the sheet is closed", || !window.is_shown("model-details"));
    window.wait_until("bytes arrive", || job_says(&window, "Downloading") && job_says(&window, " of "));

    let unplugged = sandbox.home().join("unplugged");
    fs::rename(&disk, &unplugged).unwrap();
    window.wait_until("the library is offline", || window.is_shown("library-offline"));
    window.wait_until("so is the download", || !job_says(&window, "Downloading"));
    window.picture("models-offline-download");
    assert!(!disk.exists(), "nothing is made in its place");
    fs::rename(&unplugged, &disk).unwrap();
    skip_measurement(&window);
    assert!(row(&window, NAME).contains("Use"), "{:?}", window.texts("local-model"));
}

#[test]
fn a_gated_model_says_how_to_get_in_and_without_a_keychain_no_token_is_kept() {
    const TOKEN: &str = "hf_secretsecret";
    let hub = Hub::with(&demo_model(), &["--token", TOKEN]);
    let sandbox = sandbox_with(&hub);
    let window = sandbox.open();
    open_models(&window);
    download(&window);
    window.wait_until("the refusal is shown", || window.is_shown("job-error"));
    let refusal = window.text("job-error");
    assert!(refusal.contains("only for people whom its owner has let in"), "{refusal}");
    assert!(refusal.contains(REPO), "where to ask is named: {refusal}");
    window.picture("models-gated");

    window.click("token-control");
    window.wait_until("the token can be typed", || window.is_shown("hub-token"));
    window.click("hub-token");
    window.type_text(TOKEN);
    window.press(&[], keys::ENTER);
    window.wait_until("it is refused", || window.is_shown("token-error"));
    let refusal = window.text("token-error");
    assert!(refusal.contains("keychain cannot be used"), "{refusal}");
    window.press(&[], keys::ESCAPE);
    window.wait_until("the popover closes", || !window.is_popover_shown());
    let page = window.script("return document.documentElement.outerHTML", json!([]));
    assert!(!page.as_str().unwrap().contains(TOKEN));
    assert_nowhere(&sandbox, TOKEN);
}

/// No file of the sandbox holds this text.
fn assert_nowhere(sandbox: &Sandbox, secret: &str) {
    for file in files_below(sandbox.home()) {
        let content = fs::read(&file).unwrap_or_default();
        let holds = content.windows(secret.len()).any(|part| part == secret.as_bytes());
        assert!(!holds, "the secret is in {}", file.display());
    }
}

#[test]
fn with_a_token_in_the_keychain_a_gated_model_is_fetched_and_the_token_is_nowhere_else() {
    const TOKEN: &str = "hf_secretsecret";
    let hub = Hub::with(&demo_model(), &["--token", TOKEN]);
    let mut sandbox = sandbox_with(&hub);
    if !sandbox.add_keychain() {
        return;
    }
    let window = sandbox.open();
    open_models(&window);
    download(&window);
    window.wait_until("the refusal is shown", || window.is_shown("job-error"));
    window.click("token-control");
    window.wait_until("the token can be typed", || window.is_shown("hub-token"));
    window.click("hub-token");
    window.type_text(TOKEN);
    window.click("keep-token");
    window.wait_until("it is kept", || window.text("token-state").starts_with("Set."));
    window.wait_until("the popover closes", || !window.is_popover_shown());
    window.click("job-retry");
    skip_measurement(&window);
    let page = window.script("return document.documentElement.outerHTML", json!([]));
    assert!(!page.as_str().unwrap().contains(TOKEN));
    drop(window);
    let keyring = sandbox.home().join(".local/share/keyrings");
    assert!(!files_below(&keyring).is_empty(), "the keychain is a real one");
    assert_nowhere(&sandbox, TOKEN);

    let window = sandbox.open();
    window.click("open-models");
    window.wait_until("it is still there", || window.text("token-state").starts_with("Set."));
    window.click("remove-token");
    window.wait_until("it is removed", || window.text("token-state").starts_with("Not set."));
}

#[test]
fn bytes_that_are_wrong_never_become_a_model_and_are_fetched_again() {
    let hub = Hub::with(&demo_model(), &["--corrupt"]);
    let port = hub.endpoint().rsplit(':').next().unwrap().to_owned();
    let sandbox = sandbox_with(&hub);
    let window = sandbox.open();
    open_models(&window);
    download(&window);
    window.wait_until("what is wrong is said", || window.is_shown("job-error"));
    let refusal = window.text("job-error");
    assert!(refusal.contains("arrives damaged"), "{refusal}");
    assert_eq!(row(&window, NAME), "");
    window.picture("models-corrupt");
    drop(hub);

    let _hub = Hub::with(&demo_model(), &["--port", &port]);
    window.click("job-retry");
    skip_measurement(&window);
}

#[test]
fn a_conversion_is_paused_goes_on_and_is_cancelled_without_a_trace() {
    let sandbox = Sandbox::new(1280, 900);
    fs::create_dir_all(sandbox.data()).unwrap();
    let own = Library::create(&library(&sandbox)).unwrap();
    let source = own.root().join("org--Large");
    large_model(&source);
    let before = files_below(&source);
    let window = sandbox.open();
    window.click("open-models");
    window.wait_until("the model is described", || row(&window, "Large").contains("MTP head"));

    begin_conversion(&window, &sandbox, "Large");
    window.wait_until("it is converted", || job_says(&window, "Converting"));
    cancel_job(&window);
    let home = own.root().join(".foretoken");
    window.wait_until("nothing is left of it", || files_below(&home.join("conversions")).is_empty());

    begin_conversion(&window, &sandbox, "Large");
    window.wait_until("it is converted again", || job_says(&window, "Converting"));
    window.click("job-pause");
    window.wait_until("it is paused", || job_says(&window, "Paused"));
    let converted = own.root().join("Large-4bit");
    assert!(!converted.exists(), "nothing counts before it is whole");
    window.click("job-resume");
    skip_measurement(&window);
    assert!(converted.join("config.json").is_file());
    assert_eq!(files_below(&source), before, "the original files are kept");
}

#[test]
fn the_title_bar_says_how_far_long_work_is_and_a_notification_that_it_has_ended() {
    let hub = Hub::with(&demo_model(), &["--rate", "1500000"]);
    let sandbox = sandbox_with(&hub);
    let window = sandbox.open();
    let (native, notifications) = (NativeWindow::on(&sandbox), Notifications::on(&sandbox));
    assert_eq!(native.title(), "Foretoken");
    open_models(&window);
    window.click_one("remote-model", NAME);
    window.click("conversion-none");
    window.click("download");
    window.wait_until("the sheet is closed", || !window.is_shown("model-details"));
    window.click("new-chat");
    window.wait_until("the screen is left", || !window.is_shown("models-screen"));
    let percent = || native.title().strip_prefix("Foretoken, ")?.strip_suffix(" %")?.parse::<u32>().ok();
    let first = window.wait("the title says how far it is", percent);
    let later = window.wait("it goes on", || percent().filter(|&later| later > first));
    assert!(later <= 100, "{first} %, then {later} %");
    window.click("open-models");
    native.lose_focus();
    window.wait_until("it is measured", || is_measured(&window, NAME));
    window.wait_until("the title is the app's name again", || native.title() == "Foretoken");
    window.wait_until("its end is told", || !notifications.told().is_empty());
    let (title, body) = ("Qwen3.5-0.8B is ready".into(), "It can be used now.".into());
    assert_eq!(notifications.told(), [Notification { title, body, clickable: true }]);
}

#[test]
fn a_search_says_what_the_headers_of_a_models_files_say() {
    let hub = Hub::with(&demo_model(), &[]);
    let sandbox = sandbox_with(&hub);
    let window = sandbox.open();
    open_models(&window);
    window.fill("search", "qwen");
    window.click("search-now");
    window.wait_until("what the Hub has is shown", || {
        let rows = window.texts("remote-model");
        rows.len() == 1 && rows[0].contains("4.9 million parameters") && rows[0].contains("with MTP head")
    });
    assert!(window.text("remote-model").contains("fits well"), "{}", window.text("remote-model"));
    window.picture("models-search");
    // The model is raw and smaller than 5 GB.
    for (name, choice, passes) in [
        ("filter-format", "Converted, 4-bit", false),
        ("filter-format", "As published", true),
        ("filter-size", "Up to 5 GB", true),
        ("filter-format", "Converted", false),
    ] {
        choose(&window, name, choice);
        window.wait_until("the filter counts", || window.is_shown("remote-model") == passes);
    }
    choose(&window, "filter-format", "Any format");
    window.wait_until("the model is shown again", || window.is_shown("remote-model"));
}

/// Chooses an option of a list by its words.
fn choose(window: &Window<'_>, name: &str, choice: &str) {
    let script = "const select = document.querySelector(`[data-testid=${arguments[0]}]`);
                  select.value = [...select.options].find((option) => option.textContent === arguments[1]).value;
                  select.dispatchEvent(new Event('change', { bubbles: true }))";
    window.script(script, json!([name, choice]));
}

#[test]
fn a_newer_version_is_told_of_and_takes_the_older_ones_place_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let served = folder.path().join("served");
    copy_demo_model(&served);
    // A list of models under the name of nobody whom the person knows.
    let lists = folder.path().join("lists");
    write_list(&lists, "Planted");
    let lists = format!("foretoken/catalogue={}", lists.display());
    let hub = Hub::with(&served, &[&lists]);
    let port = hub.endpoint().rsplit(':').next().unwrap().to_owned();
    let sandbox = sandbox_with(&hub);
    let window = sandbox.open();
    open_models(&window);
    window.click_one("remote-model", NAME);
    window.click("conversion-none");
    window.click("download");
    window.wait_until("the sheet is closed", || !window.is_shown("model-details"));
    skip_measurement(&window);
    let config = library(&sandbox).join("Qwen--Qwen3.5-0.8B/generation_config.json");
    let older = fs::read_to_string(&config).unwrap();
    drop(hub);

    let newer = format!("{older}\n");
    fs::write(served.join("generation_config.json"), &newer).unwrap();
    let _hub = Hub::with(&served, &[&lists, "--port", &port, "--rate", "1500000"]);
    let is_told = || row(&window, NAME).contains("A newer version is on the Hub");
    assert!(!is_told(), "nobody has asked yet");
    window.choose_in_menu("models-more", "More", "Check for updates");
    window.wait_until("the newer version is told of", is_told);
    assert!(!window.texts("remote-model").iter().any(|model| model.contains("Planted")));
    window.picture("models-update");
    window.click("look-at-update");
    window.click("download");
    window.wait_until("bytes arrive", || job_says(&window, "Downloading") && job_says(&window, " of "));
    assert_eq!(fs::read_to_string(&config).unwrap(), older, "the older version stays until then");
    assert!(row(&window, NAME).contains("Use"), "and can be used: {}", row(&window, NAME));
    window.wait_until("the newer version is there", || {
        fs::read_to_string(&config).is_ok_and(|text| text == newer)
    });
    window.wait_until("it is the newest", || row(&window, NAME).contains("Use") && !is_told());
    assert!(files_below(&library(&sandbox).join(".foretoken/downloads")).is_empty());
}

/// Writes a list of models that is newer than the app's, whose first model has this name.
fn write_list(folder: &Path, first: &str) {
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../src-tauri/crates/models/src/catalogue/catalogue.json");
    let mut list: Value = serde_json::from_str(&fs::read_to_string(source).unwrap()).unwrap();
    list["updated"] = "2999-01-01".into();
    list["entries"][0]["name"] = first.into();
    fs::create_dir(folder).unwrap();
    fs::write(folder.join("catalogue.json"), list.to_string()).unwrap();
}

#[test]
fn a_list_of_models_of_one_s_own_comes_from_the_address_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let lists = folder.path().join("lists");
    write_list(&lists, "My own model");
    let hub = Hub::with(&demo_model(), &[&format!("mine/lists={}", lists.display())]);
    let mut sandbox = sandbox_with(&hub);
    let address = format!("{}/mine/lists/resolve/main/catalogue.json", hub.endpoint());
    sandbox.set("FORETOKEN_CATALOGUE", &address);
    let window = sandbox.open();
    open_models(&window);
    assert!(!window.texts("remote-model").iter().any(|model| model.contains("My own model")));
    window.choose_in_menu("models-more", "More", "Check for updates");
    window.wait_until("the list is shown", || {
        window.texts("remote-model").iter().any(|model| model.contains("My own model"))
    });
}

#[test]
fn verdicts_follow_the_length_of_a_chat_which_is_remembered() {
    let hub = Hub::with(&demo_model(), &[]);
    let sandbox = sandbox_with(&hub);
    let window = sandbox.open();
    open_models(&window);
    let judged_at = |tokens: &str| {
        window.click_one("remote-model", NAME);
        window.wait_until("the verdict is explained", || window.is_shown("model-details"));
        let details = window.text("model-details");
        assert!(details.contains(&format!("for a context of {tokens} tokens")), "{details}");
        window.press(&[], keys::ESCAPE);
        window.wait_until("the sheet is closed", || !window.is_shown("model-details"));
    };
    judged_at("16,384");
    window.fill("search", "qwen");
    window.click("search-now");
    window.wait_until("what the Hub has is shown", || window.text("remote-model").contains("with MTP head"));

    // What was found is judged anew without asking the Hub again.
    drop(hub);
    window.click("context-control");
    window.wait_until("the choice that holds has the focus", || window.focus() == "context-16384");
    window.press(&[], keys::ARROW_DOWN);
    window.wait_until("the next length is chosen", || window.text("context-control").contains("32k"));
    window.click("context-262144");
    window.wait_until("the longest is chosen", || window.text("context-control").contains("256k"));
    window.wait_until("the popover closes", || !window.is_popover_shown());
    assert!(!window.is_shown("listing-error"), "{}", window.text("listing-error"));
    window.click("end-search");
    window.wait_until("the catalogue is shown", || window.texts("remote-model").len() > 1);
    judged_at("262,144");
    drop(window);

    let window = sandbox.open();
    window.click("open-models");
    window.wait_until("it is remembered", || window.text("context-control").contains("256k"));
}

#[test]
fn a_measurement_waits_until_the_chat_is_idle() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.ask("Tell me a story about an owl and a bell.");
    window.wait_until("the reply is written", || window.text("live-line").contains("tok/s"));
    window.click("open-models");
    window.choose_in_menu("model-more", "Demo model", "Measure");
    window.wait_until("it waits", || job_says(&window, "Waiting for the chat"));
    assert!(window.text("job-held").contains("no reply is being written"), "{}", window.text("job-held"));
    window.picture("models-held");
    // The dot of a chat that is being written in never comes to rest.
    window.driver.click("[data-testid=chat]").unwrap();
    window.click("stop");
    window.wait_for_end();
    window.click("open-models");
    window.wait_until("it is being measured", || job_says(&window, "Measuring"));
}

#[test]
fn another_model_is_chosen_in_the_chat_with_the_keyboard() {
    let sandbox = Sandbox::new(1280, 900);
    fs::create_dir_all(sandbox.data()).unwrap();
    let own = Library::create(&library(&sandbox)).unwrap();
    copy_demo_model(&own.root().join("org--Little"));
    let window = sandbox.open();
    let mut steps = 0;
    while window.focus() != "model-picker" {
        window.press(&[keys::SHIFT], keys::TAB);
        steps += 1;
        assert!(steps < 20, "the picker is not reached");
    }
    window.press(&[], keys::ENTER);
    window.wait_until("the library's model is listed with its MTP head", || {
        window.texts("model-choice").iter().any(|choice| choice.contains("Little") && choice.contains("MTP"))
    });
    let focused = || window.script("return document.activeElement.textContent", json!([])).to_string();
    let mut steps = 0;
    while !(window.focus() == "model-choice" && focused().contains("Little")) {
        window.press(&[], keys::TAB);
        steps += 1;
        assert!(steps < 20, "the model is not reached");
    }
    window.press(&[], keys::ENTER);
    window.wait_until("the model is loaded", || {
        window.text("model-picker").contains("Little") && !window.is_shown("engine-banner")
    });
}

/// The model is loaded again, answers as before, and the app starts that way the next time.
#[test]
fn smaller_memory_for_long_chats_loads_the_model_again_and_is_remembered() {
    const IS_ON: &str = "return document.querySelector('[data-testid=smaller-memory]')?.checked ?? null";
    let sandbox = Sandbox::new(1280, 900);
    let settings = sandbox.settings().join("settings.json");
    let learned = sandbox.home().join(".cache/dev.foretoken.Foretoken/engine");
    // What is learned about drafts names the form that the engine keeps keys and values in.
    let is_kept = |precision: &str| {
        let words = format!("\"kv_precision\":\"{precision}\"");
        let has = |file: &PathBuf| fs::read_to_string(file).is_ok_and(|text| text.contains(&words));
        files_below(&learned).iter().any(has)
    };
    let window = sandbox.open();
    window.ask("Tell me a story about an owl.");
    window.wait_for_end();
    window.wait_until("the engine has learned", || is_kept("full"));
    window.click("open-models");
    window.wait_until("it is off", || window.script(IS_ON, json!([])) == json!(false));
    window.click("smaller-memory");
    let is_written = || fs::read_to_string(&settings).is_ok_and(|text| text.contains("\"eight\""));
    window.wait_until("it holds", is_written);
    window.wait_until("it is on", || window.script(IS_ON, json!([])) == json!(true));
    window.click("new-chat");
    assert!(!window.answer("Tell me a story about a fox.").is_empty());
    window.wait_until("the engine has learned anew", || is_kept("eight"));
    drop(window);

    let window = sandbox.open();
    window.click("open-models");
    window.wait_until("it is remembered", || window.script(IS_ON, json!([])) == json!(true));
    window.click("smaller-memory");
    window.wait_until("it is off again", || !is_written());
    window.wait_until("and says so", || window.script(IS_ON, json!([])) == json!(false));
}
