//! The Models screen in all its states, light and dark, in a usual and in a small window: nothing is cut off, and axe
//! finds nothing that somebody could not read or reach. The pictures are for people.

use std::fs;
use std::process::Command;

use foretoken_models::{Library, Location};
use foretoken_tests::fixtures::{copy_demo_model, demo_model};
use serde_json::json;
use tempfile::TempDir;

use crate::support::endless_model::open_endless_model;
use crate::support::hub::{Hub, NAME};
use crate::support::models_screen::{
    begin_conversion, cancel_job, download, is_measured, job_says, large_model, open_models, row,
    sandbox_with, skip_measurement,
};
use crate::support::notifications::Notifications;
use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::ESCAPE;
use crate::support::window::Window;

const SIZES: [(u32, u32); 2] = [(1100, 760), (720, 560)];

/// What the makers of the Hub's model write about it.
const CARD: &str = "---\nlicense: apache-2.0\n---\n# A small model\n\nIt tells **short stories**.\n\n\
    | Task | Share of right answers | A column with a very long name that needs room |\n|---|---|---|\n\
    | Sums | 99 % | Supercalifragilisticexpialidocious_and_more_of_the_same |\n\n\
    ```\npip install a_package_with_a_name_that_is_too_long_for_any_line_of_this_window_and_scrolls --upgrade\n```\n";

#[test]
fn getting_models_looks_right() {
    let folder = tempfile::tempdir().unwrap();
    let served = folder.path().join("served");
    copy_demo_model(&served);
    fs::write(served.join("README.md"), CARD).unwrap();
    let hub = Hub::with(&served, &["--rate", "120000"]);
    let sandbox = sandbox_with(&hub);
    let window = sandbox.open();
    let visual = VisualCheck::new(&window, &SIZES);
    open_models(&window);
    visual.check("models-1-empty");
    window.click("context-control");
    window.wait_until("the lengths are shown", || window.is_popover_shown());
    visual.check("models-2-context");
    close_popover(&window);
    window.choose_in_menu("models-more", "More", "Get models");
    window.wait_until("the menu closes", || !window.is_popover_shown());
    visual.check("models-3-catalogue");

    window.fill("search", "no such model");
    window.click("search-now");
    window.wait_until("nothing is found", || window.text("remote-models").contains("Nothing was found"));
    visual.check("models-4-nothing-found");
    window.fill("search", "qwen");
    window.click("search-now");
    window.wait_until("what the Hub has is shown", || window.is_shown("remote-model"));
    visual.check("models-5-search");
    window.click("end-search");

    window.click_one("remote-model", NAME);
    window.wait_until("the card is there", || window.text("model-card").contains("short stories"));
    visual.check("models-6-details");
    window.scroll("model-details", 2000);
    visual.check("models-7-card");
    window.press(&[], ESCAPE);
    window.wait_until("the sheet is closed", || !window.is_shown("model-details"));

    download(&window);
    window.wait_until("bytes arrive", || job_says(&window, "Downloading") && job_says(&window, " of "));
    window.click("job-files-toggle");
    visual.check("models-8-downloading");
    window.choose_in_menu("job-more", NAME, "Cancel");
    window.wait_until("it asks first", || window.is_shown("job-cancel-now"));
    visual.check("models-9-cancel");
    window.click("job-keep");
    window.click("job-pause");
    window.wait_until("it is paused", || job_says(&window, "Paused"));
    visual.check("models-10-paused");

    drop(hub);
    window.click("job-resume");
    window.wait_until("the Hub is gone", || window.is_shown("job-waiting"));
    visual.check("models-11-no-connection");
    window.fill("search", "qwen");
    window.click("search-now");
    window.wait_until("the search fails", || window.is_shown("listing-error"));
    visual.check("models-12-search-failed");
}

/// One test, since measuring takes longest.
#[test]
fn models_that_are_here_look_right_and_are_measured() {
    let hub = Hub::with(&demo_model(), &[]);
    let sandbox = sandbox_with(&hub);
    let disk = sandbox.home().join("disk");
    fs::create_dir(&disk).unwrap();
    let own = Library::create(&disk.join("models")).unwrap();
    copy_demo_model(&own.root().join("org--Little"));
    copy_demo_model(
        &own.root().join("org--Another-model-with-a-name-that-is-longer-than-a-line-can-be-4bit"),
    );
    copy_demo_model(&own.root().join("org--Broken"));
    let tensors = own.root().join("org--Broken/model.safetensors");
    fs::File::options().write(true).open(tensors).unwrap().set_len(100_000).unwrap();
    let cached = sandbox.home().join(".cache/huggingface/hub/models--org--Cached");
    let commit = "0123456789abcdef0123456789abcdef01234567";
    copy_demo_model(&cached.join("snapshots").join(commit));
    fs::create_dir_all(cached.join("refs")).unwrap();
    fs::write(cached.join("refs/main"), commit).unwrap();
    let settings = sandbox.settings();
    Location::new(&settings, &sandbox.data()).choose(&own).unwrap();

    let window = sandbox.open();
    let visual = VisualCheck::new(&window, &SIZES);
    window.click("open-models");
    window.wait_until("the models are described", || row(&window, "Cached").contains("MTP head"));
    window.wait_until("one is broken", || window.is_shown("broken-model"));
    visual.check("models-20-here");
    window.choose_in_menu("model-more", "Little", "Convert");
    window.wait_until("the form is shown", || window.is_shown("convert-sheet"));
    visual.check("models-21-convert");
    window.press(&[], ESCAPE);
    window.wait_until("the form is closed", || !window.is_shown("convert-sheet"));
    window.open_menu("model-more", "Cached");
    window.wait_until("the menu is open", || window.is_popover_shown());
    visual.check("models-22-menu");
    close_popover(&window);
    let notifications = Notifications::on(&sandbox);
    a_speed_is_filled_once_it_is_measured_and_hollow_while_it_is_expected(&window);
    assert!(
        notifications.told().is_empty(),
        "what somebody sees is not told again: {:?}",
        notifications.told()
    );
    visual.check("models-50-speeds");
    window.click("end-search");
    window.choose_in_menu("model-more", "Broken", "Delete");
    window.wait_until("it can be brought back", || window.is_shown("undo-delete"));
    visual.check("models-23-deleted");

    fs::rename(&disk, sandbox.home().join("unplugged")).unwrap();
    window.wait_until("the library is offline", || window.is_shown("library-offline"));
    window.wait_until("so is its model", || row(&window, "Little").contains("Offline"));
    visual.check("models-24-offline");
}

/// Filled is measured, hollow is expected, and where nothing tells there is no picture. Ends in a search.
fn a_speed_is_filled_once_it_is_measured_and_hollow_while_it_is_expected(window: &Window<'_>) {
    let pictures = |kind: &str| {
        let count = "return document.querySelectorAll(`[data-testid=${arguments[0]}] .speed-picture.${arguments[1]}`).length";
        ["local-model", "remote-model"].map(|row| window.script(count, json!([row, kind])).as_u64().unwrap())
    };
    window.wait_until("the model is described", || row(window, "Little").contains("MTP head"));
    assert_eq!(pictures("measured"), [0, 0], "nobody has measured anything");
    assert!(!is_measured(window, "Little"));

    window.choose_in_menu("model-more", "Little", "Measure");
    window.wait_until("it is measured", || is_measured(window, "Little"));
    window.click("job-cancel");
    window.wait_until("the queue is empty", || !window.is_shown("job"));
    assert_eq!(pictures("measured"), [1, 0]);
    let words = row(window, "Little");
    assert!(words.contains(" guessing"), "{words}");
    let menu = "return document.querySelector('.menu')?.textContent ?? ''";
    window.open_menu("model-more", "Little");
    window.wait_until("it can be measured again", || {
        window.script(menu, json!([])).as_str().is_some_and(|menu| menu.contains("Measure again"))
    });
    close_popover(window);
    // What is like it is expected to be as fast, and that is said.
    window.fill("search", "qwen");
    window.click("search-now");
    window.wait_until("a speed is expected", || window.text("remote-model").contains("about "));
    assert_eq!(pictures("expected")[1], 1);
    assert_eq!(pictures("measured"), [1, 0]);
    let names = window.script(
        "return [...document.querySelectorAll('[data-testid=speed]')].map((speed) => speed.ariaLabel)",
        json!([]),
    );
    let names: Vec<String> = serde_json::from_value(names).unwrap();
    assert!(names.iter().any(|name| name.starts_with("Measured on ")), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("Expected on ") && name.contains("not measured")));
}

#[test]
fn work_that_waits_and_work_that_runs_look_right() {
    let sandbox = Sandbox::new(1280, 900);
    fs::create_dir_all(sandbox.data()).unwrap();
    let own = Library::create(&sandbox.data().join("models")).unwrap();
    copy_demo_model(&own.root().join("org--Little"));
    large_model(&own.root().join("org--Large"));
    let window = sandbox.open();
    let visual = VisualCheck::new(&window, &SIZES);
    open_endless_model(&window, &sandbox);
    window.ask("Tell me a story about an owl and a bell.");
    window.wait_until("the reply is written", || window.text("live-line").contains("tok/s"));
    let chat = sandbox.suspend("foretoken-engine", "serve");
    window.click("open-models");
    window.choose_in_menu("model-more", "Little", "Measure");
    window.wait_until("it waits", || window.is_shown("job-held"));
    visual.check("models-40-held");
    window.click("job-cancel");
    window.wait_until("it is gone", || !window.is_shown("job"));
    chat.resume();
    window.driver.click("[data-testid=chat]").unwrap();
    window.click("stop");
    window.wait_for_end();

    window.click("open-models");
    let conversion = begin_conversion(&window, &sandbox, "Large");
    window.wait_until("it is converted", || job_says(&window, "Converting"));
    visual.check("models-41-converting");
    conversion.resume();
    skip_measurement(&window);
    visual.check("models-42-converted");
}

#[test]
fn a_full_disk_and_a_refusal_look_right() {
    let hub = Hub::with(&demo_model(), &["--token", "hf_secretsecret"]);
    let sandbox = sandbox_with(&hub);
    {
        let window = sandbox.open();
        let visual = VisualCheck::new(&window, &SIZES);
        open_models(&window);
        download(&window);
        window.wait_until("the refusal is shown", || window.is_shown("job-error"));
        visual.check("models-30-gated");
        cancel_job(&window);
    }
    let Some(disk) = Small::mount(2) else { return };
    let own = Library::create(&disk.0.path().join("models")).unwrap();
    let settings = sandbox.settings();
    Location::new(&settings, &sandbox.data()).choose(&own).unwrap();
    let window = sandbox.open();
    let visual = VisualCheck::new(&window, &SIZES);
    open_models(&window);
    window.wait_until("the disk is almost full", || window.is_shown("disk-full"));
    visual.check("models-31-disk-full");
    window.click_one("remote-model", NAME);
    window.wait_until("the details are shown", || window.is_shown("model-details"));
    let why = window.text("model-details");
    assert!(why.contains("is free"), "why there is no download is said: {why}");
    visual.check("models-32-no-room");
}

/// A small file system in memory, taken away at the end.
struct Small(TempDir);

impl Small {
    fn mount(megabytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={megabytes}m");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        eprintln!("SKIPPED: only root can mount a small file system, so a full disk was NOT looked at");
        None
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

fn close_popover(window: &Window<'_>) {
    window.press(&[], ESCAPE);
    window.wait_until("the popover closes", || !window.is_popover_shown());
}
