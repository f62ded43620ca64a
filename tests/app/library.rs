//! The model library through the window, against a Hub that speaks the real one's protocol.

use std::fs;
use std::path::{Path, PathBuf};

use foretoken_library::{Library, Location};
use foretoken_tests::fixtures::demo_model;
use serde_json::json;

use crate::desk::{Desk, Theme};
use crate::hub::{Hub, NAME, REPO};
use crate::webdriver::keys;
use crate::window::Window;

/// Where the app keeps its data on a desk.
fn data(desk: &Desk) -> PathBuf {
    desk.home().join(".local/share/dev.foretoken.Foretoken")
}

/// Where the library is at first.
fn library(desk: &Desk) -> PathBuf {
    data(desk).join("models")
}

fn copy_demo(to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(demo_model()).unwrap().flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A desk whose app finds its models on this Hub.
fn desk_with(hub: &Hub) -> Desk {
    let mut desk = Desk::new(1280, 900);
    desk.set("HF_ENDPOINT", hub.endpoint());
    desk
}

/// Opens the Models screen and waits for the catalogue.
fn open_models(window: &Window<'_>) {
    window.click("open-models");
    window.wait_until("the catalogue is shown", || window.is_shown("remote-model"));
}

/// Begins the download of the Hub's model with what the page suggests.
fn download(window: &Window<'_>) {
    window.click_one("remote-model", NAME);
    window.click("download");
    window.wait_until("the download is in the queue", || window.is_shown("job"));
    window.wait_until("the sheet is closed", || !window.is_shown("model-details"));
}

fn job_says(window: &Window<'_>, words: &str) -> bool {
    window.text("job").contains(words)
}

/// The row of a model that is here; empty if it is not.
fn row(window: &Window<'_>, name: &str) -> String {
    window.texts("local-model").into_iter().find(|row| row.contains(name)).unwrap_or_default()
}

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
    let hub = Hub::with(&demo_model(), &[]);
    let desk = desk_with(&hub);
    let window = desk.open(Theme::Light);
    open_models(&window);
    window.picture("models-empty");
    download(&window);
    window.wait_until("the model is measured", || job_says(&window, "Measuring"));
    window.picture("models-measuring");
    window.wait_until("the model is ready", || window.is_shown("job-use"));
    window.picture("models-ready");

    let converted = library(&desk).join("Qwen--Qwen3.5-0.8B-4bit");
    assert!(converted.join("config.json").is_file());
    assert!(!library(&desk).join("Qwen--Qwen3.5-0.8B").exists(), "the original files are removed");
    window.wait_until("the model is described", || row(&window, "Qwen3.5-0.8B-4bit").contains("MTP head"));
    let described = row(&window, "Qwen3.5-0.8B-4bit");
    assert!(described.contains("Fits well"), "{described}");
    assert!(described.contains("tok/s"), "it was measured: {described}");

    window.click("job-use");
    window.wait_until("the chat is shown", || window.is_shown("composer"));
    window.wait_until("the model is loaded", || window.text("model-picker").contains("Qwen3.5-0.8B-4bit"));
    window.wait_until("it is ready", || !window.is_shown("engine-banner"));
    assert!(!window.answer("What is the capital of France?").is_empty());
    window.click("open-models");
    window.wait_until("its use is noted", || row(&window, "Qwen3.5-0.8B-4bit").contains("Used today"));
}

#[test]
fn a_download_is_paused_goes_on_and_is_cancelled_without_a_trace() {
    let hub = Hub::with(&demo_model(), &["--rate", "150000"]);
    let desk = desk_with(&hub);
    let window = desk.open(Theme::Light);
    open_models(&window);
    download(&window);
    window.wait_until("bytes arrive", || job_says(&window, "Downloading") && job_says(&window, " of "));
    window.click("job-pause");
    window.wait_until("it is paused", || job_says(&window, "Paused"));
    window.picture("models-paused");
    window.click("job-resume");
    window.wait_until("it goes on", || job_says(&window, "Downloading") && job_says(&window, " of "));
    window.click("job-cancel");
    window.click("job-cancel-now");
    window.wait_until("it is gone", || !window.is_shown("job"));
    let home = library(&desk).join(".foretoken");
    window.wait_until("nothing is left of it", || files_below(&home.join("downloads")).is_empty());
    assert_eq!(row(&window, NAME), "");
}

#[test]
fn a_download_goes_on_when_the_app_is_opened_again_after_it_died() {
    let hub = Hub::with(&demo_model(), &["--rate", "250000"]);
    let desk = desk_with(&hub);
    let window = desk.open(Theme::Light);
    open_models(&window);
    download(&window);
    window.wait_until("bytes arrive", || job_says(&window, "Downloading") && job_says(&window, " of "));
    desk.kill("foretoken");
    drop(window);

    let window = desk.open(Theme::Light);
    window.click("open-models");
    window.wait_until("it goes on by itself", || job_says(&window, "Downloading"));
    window.wait_until("the model is measured", || job_says(&window, "Measuring"));
    window.click("job-cancel");
    window.wait_until("the measurement is left out", || window.is_shown("job-use"));
    assert!(row(&window, "Qwen3.5-0.8B-4bit").contains("Use"), "{:?}", window.texts("local-model"));
}

#[test]
fn a_deleted_model_comes_back_until_the_app_quits() {
    let desk = Desk::new(1280, 900);
    let own = library(&desk);
    fs::create_dir_all(data(&desk)).unwrap();
    Library::create(&own).unwrap();
    copy_demo(&own.join("org--Little"));
    let window = desk.open(Theme::Light);
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
    let window = desk.open(Theme::Light);
    window.click("open-models");
    window.wait_until("the library is shown", || window.is_shown("local-model"));
    window.wait_until("it is gone for good", || files_below(&own.join(".foretoken/trash")).is_empty());
    assert_eq!(row(&window, "Little"), "");
}

#[test]
fn a_library_on_a_disk_that_is_not_connected_is_offline_and_comes_back() {
    let desk = Desk::new(1280, 900);
    let disk = desk.home().join("disk");
    fs::create_dir(&disk).unwrap();
    let own = Library::create(&disk.join("models")).unwrap();
    copy_demo(&own.root().join("org--Little"));
    let settings = desk.home().join(".config/dev.foretoken.Foretoken");
    Location::new(&settings, &data(&desk)).choose(&own).unwrap();
    let window = desk.open(Theme::Light);
    window.click("open-models");
    window.wait_until("the model is listed", || row(&window, "Little").contains("MTP head"));

    let unplugged = desk.home().join("unplugged");
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
fn a_gated_model_says_how_to_get_in_and_without_a_keychain_no_token_is_kept() {
    const TOKEN: &str = "hf_secretsecret";
    let hub = Hub::with(&demo_model(), &["--token", TOKEN]);
    let desk = desk_with(&hub);
    let window = desk.open(Theme::Light);
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
    for file in files_below(desk.home()) {
        let content = fs::read(&file).unwrap_or_default();
        let holds = content.windows(TOKEN.len()).any(|part| part == TOKEN.as_bytes());
        assert!(!holds, "the token is in {}", file.display());
    }
}

#[test]
fn a_search_says_what_the_headers_of_a_models_files_say() {
    let hub = Hub::with(&demo_model(), &[]);
    let desk = desk_with(&hub);
    let window = desk.open(Theme::Light);
    open_models(&window);
    window.fill("search", "qwen");
    window.click("search-now");
    window.wait_until("what the Hub has is shown", || {
        let rows = window.texts("remote-model");
        rows.len() == 1 && rows[0].contains("1.6 million parameters") && rows[0].contains("With MTP head")
    });
    assert!(window.text("remote-model").contains("Fits well"), "{}", window.text("remote-model"));
    window.picture("models-search");
}
