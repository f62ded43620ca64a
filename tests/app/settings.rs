//! The settings and the diagnostics screen.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::dialog::Dialog;
use crate::support::endless_model::open_endless_model;
use crate::support::native_window::NativeWindow;
use crate::support::notifications::Notifications;
use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::{ARROW_DOWN, ARROW_RIGHT, CONTROL, ENTER, ESCAPE};
use crate::support::window::Window;

/// A word that no program says by itself.
const SECRET: &str = "Xylophonwald";

fn kept(sandbox: &Sandbox) -> Value {
    let path = sandbox.settings().join("settings.json");
    fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn is_dark(window: &Window<'_>) -> bool {
    window.script("return matchMedia('(prefers-color-scheme: dark)').matches", json!([])) == json!(true)
}

fn width(window: &Window<'_>) -> f64 {
    window.script("return innerWidth", json!([])).as_f64().unwrap()
}

#[test]
fn the_notices_of_others_can_be_read() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.open_settings("notices");
    window.wait_until("all are listed", || window.texts("notice").len() > 300);
    let place = window.texts("notice").iter().position(|notice| notice.starts_with("MLX ")).unwrap();
    let click = "document.querySelectorAll('[data-testid=notice-open]')[arguments[0]].click()";
    window.script(click, json!([place]));
    window.wait_until("a licence is shown", || window.text("notice-text").contains("Apple Inc."));
    window.script(click, json!([0]));
    window.wait_until("another is shown in its place", || {
        !window.text("notice-text").is_empty() && !window.text("notice-text").contains("Apple Inc.")
    });
    assert_eq!(window.texts("notice-text").len(), 1, "one is drawn at a time");
    window.picture("notices");
}

#[test]
fn preferences_hold_at_once_and_after_a_start() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    assert!(!is_dark(&window));
    window.answer("Hello!");
    window.click("reply-footer");
    window.click("fold-time");
    window.wait_until("it unfolds", || is_unfolded(&window, "fold-time"));
    window.press(&[CONTROL], 'k');
    window.wait_until("the palette is open", || window.focus() == "palette-field");
    window.type_text("updates");
    window.wait_until("a build that names no server looks for none", || {
        window.script("return document.activeElement.value", json!([])) == json!("updates")
            && !window.texts("palette-choice").iter().any(|choice| choice.contains("updates"))
    });
    window.press(&[], ESCAPE);
    window.open_settings("general");
    assert!(!window.text("settings-general").contains("Updates"));
    let usual = width(&window);
    window.click("notifications");
    window.click("open-replies");
    window.click("default-mtp-2");
    window.click("default-thinking-brief");
    window.click("open-appearance");
    window.click("pulse");
    window.click("hue-teal");
    window.click("width-wide");
    window.click("appearance-dark");
    window.wait_until("it is dark", || is_dark(&window));
    // Last: WebDriver clicks beside what is drawn larger.
    window.tab_to("zoom");
    window.press(&[], ARROW_RIGHT);
    window.press(&[], ARROW_RIGHT);
    window.wait_until("everything is larger", || (width(&window) - usual / 1.25).abs() < 2.0);
    window.press(&[CONTROL], '=');
    window.wait_until("it grows by a key", || (width(&window) - usual / 1.4).abs() < 2.0);
    window.press(&[CONTROL], '-');
    window.wait_until("it shrinks by a key", || (width(&window) - usual / 1.25).abs() < 2.0);
    window.wait_until("all is kept", || {
        let kept = kept(&sandbox);
        kept["preferences"]
            == json!({
                "language": null, "appearance": "dark", "zoom": 125, "notifications": false,
                "keep_running": false, "quick_key": "off", "menu_bar": false, "check_for_updates": "weekly",
                "keep_read": true,
                "unload_after": null, "standing_instructions": "",
                "sidebar_width": null, "wide": true, "wake": true, "pulse": false,
                "hue": "teal", "settings_page": "appearance", "open_folds": {
                    "speed": false, "guesses": false, "parts": false, "time": true, "prompt": false,
                    "memory": false, "settings": false, "chat_memory": false, "figures": false
                },
                "open_projects": []
            })
            && kept["generation"]["drafting"] == json!({ "mode": "fixed", "depth": 2 })
            && kept["generation"]["thinking"] == json!({ "mode": "brief" })
    });
    window.close_settings();
    assert!(is_dark(&window), "all windows are");
    window.wait_until("new chats follow", || window.text("mtp-control").contains('2'));
    let look = "return { ...document.documentElement.dataset }";
    assert_eq!(window.script(look, json!([])), json!({ "hue": "teal", "wide": "true" }));
    drop(window);

    let window = sandbox.open();
    assert!(is_dark(&window), "it is dark from the start");
    window.open_settings("appearance");
    assert!((width(&window) - usual / 1.25).abs() < 2.0, "it is as large as it was");
    window.press(&[CONTROL], '0');
    window.wait_until("it has its usual size again", || (width(&window) - usual).abs() < 2.0);
    window.click("appearance-auto");
    window.wait_until("it is as the system is", || !is_dark(&window));
    window.close_settings();
    window.click("chat");
    window.click("reply-footer");
    window.wait_until("what was unfolded is", || is_unfolded(&window, "fold-time"));
    assert!(!is_unfolded(&window, "fold-speed"), "the rest is not");
}

/// Whether a line that folds is open.
fn is_unfolded(window: &Window<'_>, fold: &str) -> bool {
    let body = "return document.querySelector(`[data-testid=${arguments[0]}]`)?.ariaExpanded";
    window.script(body, json!([fold])) == json!("true")
}

fn remembered(sandbox: &Sandbox) -> usize {
    let folder = sandbox.home().join(".cache/dev.foretoken.Foretoken/engine/prefixes");
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "state" || end == "kv")).count()
}

#[test]
fn what_models_have_read_is_kept_until_a_person_does_not_want_that() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    let question = "A bell rings, and a frog sings. ".repeat(8);
    window.answer(&question);
    window.wait_until("it is kept", || remembered(&sandbox) > 0);
    window.open_settings("data");
    window.click("keep-read");
    window.wait_until("it is removed", || remembered(&sandbox) == 0);
    assert_eq!(kept(&sandbox)["preferences"]["keep_read"], json!(false));
    window.close_settings();
    window.answer(&question);
    // As long as it took to be kept before, and more.
    sleep(Duration::from_secs(2));
    assert_eq!(remembered(&sandbox), 0);
}

#[test]
fn the_app_is_dark_where_the_desktop_is() {
    let mut sandbox = Sandbox::new(1280, 900);
    sandbox.set("GTK_THEME", "Adwaita:dark");
    assert!(is_dark(&sandbox.open()));
}

#[test]
fn settings_can_be_changed_with_the_keyboard() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.open_settings("general");
    window.tab_to("notifications");
    window.press(&[], ENTER);
    window.wait_until("nothing is told", || kept(&sandbox)["preferences"]["notifications"] == json!(false));
    window.tab_to("open-general");
    window.press(&[], ARROW_DOWN);
    window.wait_until("the next page is open", || window.is_shown("settings-appearance"));
    window.tab_to("appearance-auto");
    window.press(&[], ARROW_RIGHT);
    window.press(&[], ARROW_RIGHT);
    window.wait_until("it is dark", || is_dark(&window));
    window.tab_to("open-appearance");
    for page in [
        "replies",
        "prompts",
        "models",
        "tools",
        "local_api",
        "other_macs",
        "data",
        "keyboard",
        "diagnostics",
    ] {
        window.press(&[], ARROW_DOWN);
        window.wait_until(&format!("{page} is open"), || window.is_shown(&format!("settings-{page}")));
    }
    window.tab_to("copy-report");
    window.close_settings();
    window.open_settings("diagnostics");
    window.press(&[CONTROL], 'n');
    window.close_settings();
    window.wait_until("one can write in a new chat", || window.focus() == "composer");
}

#[test]
fn a_closed_window_comes_back_where_the_app_keeps_running() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.click("open-benchmarks");
    window.open_settings("general");
    window.click("keep-running");
    window.wait_until("it is kept", || kept(&sandbox)["preferences"]["keep_running"] == json!(true));
    window.close_settings();
    assert_eq!(sandbox.running("foretoken").len(), 1, "the window of the settings closes by itself");
    window.press(&[CONTROL], 'w');
    window.wait_until("the window is gone", || sandbox.shown_windows() == 0);
    assert_eq!(sandbox.running("foretoken").len(), 1, "the app goes on");

    assert!(sandbox.launch_again(), "a second start ends by itself");
    window.wait_until("the window is back", || sandbox.shown_windows() == 1);
    assert_eq!(sandbox.running("foretoken").len(), 1, "two starts are one app");
    assert_eq!(sandbox.running("foretoken-engine").len(), 1);
    assert!(window.is_shown("benchmarks-screen"), "the page is as it was");
}

#[test]
fn a_long_reply_that_ends_unseen_is_told_unless_nobody_wants_to_know() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    let (native, notifications) = (NativeWindow::on(&sandbox), Notifications::on(&sandbox));
    open_endless_model(&window, &sandbox);
    let ends_unseen = |long: Duration| {
        window.ask("Tell me a story about an owl and a bell.");
        sleep(long);
        native.lose_focus();
        // Not with the mouse, which would bring the focus back.
        window.script("document.querySelector('[data-testid=stop]').click()", json!([]));
        window.wait_for_end();
        native.take_focus();
    };
    ends_unseen(Duration::ZERO);
    ends_unseen(Duration::from_secs(11));
    window.wait_until("it is told", || !notifications.told().is_empty());
    let bodies = || notifications.told().into_iter().map(|told| told.body).collect::<Vec<_>>();
    assert_eq!(bodies(), ["The reply is finished."]);

    assert!(notifications.told()[0].clickable);
    window.click("new-chat");
    window.wait_until("a new chat is open", || !window.is_shown("message-user"));
    window.click("open-benchmarks");
    notifications.click_last();
    window.wait_until("a click opens its chat", || window.is_shown("message-user"));

    window.open_settings("general");
    window.click("notifications");
    window.wait_until("it is kept", || kept(&sandbox)["preferences"]["notifications"] == json!(false));
    window.close_settings();
    ends_unseen(Duration::from_secs(11));
    assert_eq!(bodies().len(), 1);
}

#[test]
fn two_starts_at_once_are_one_app() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    let seconds: Vec<bool> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..3).map(|_| scope.spawn(|| sandbox.launch_again())).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert_eq!(seconds, [true; 3]);
    assert_eq!(sandbox.running("foretoken").len(), 1);
    assert_eq!(sandbox.shown_windows(), 1);
    assert!(!window.answer("Hello!").is_empty());
}

#[test]
fn the_log_and_the_report_hold_nothing_of_any_chat() {
    let mut sandbox = Sandbox::new(1280, 900);
    sandbox.set("RUST_LOG", "debug");
    let window = sandbox.open();
    window.answer(&format!("Tell me a story about a {SECRET}."));
    let own = format!("{SECRET} {SECRET}");
    window.click("sampling-control");
    window.fill("system-prompt", &own);
    window.fill("preset-name", &own);
    window.press(&[], ENTER);
    window.fill("chat-search", SECRET);
    window.wait_until("it is found", || window.is_shown("hit"));
    // A reply that ends badly, and a file that cannot be read. The engine stands still, so that it ends no sooner.
    let _suspended = sandbox.suspend("foretoken-engine", "serve");
    window.ask(&own);
    sandbox.kill("foretoken-engine");
    window.wait_for_end();
    assert!(window.is_shown("reply-error"), "the reply has not ended badly");
    let broken = sandbox.home().join("broken.json");
    fs::write(&broken, format!("{{\"chats\": \"{own}\"}}")).unwrap();
    window.import_chats(&broken);
    window.wait_until("it is refused", || window.is_shown("action-error"));
    window.fill("composer", &format!("A draft about a {SECRET}."));

    window.press(&[CONTROL], 'k');
    window.wait_until("the palette is open", || window.focus() == "palette-field");
    window.type_text("diagnostics");
    window.press(&[], ENTER);
    window.enter_settings();
    window.wait_until("the log tells of the engine's end", || {
        window.text("log").contains("The engine stopped")
    });
    assert!(!window.text("log").contains(SECRET), "{}", window.text("log"));

    let report =
        window.driver.async_script("return window.__TAURI_INTERNALS__.invoke('report')", json!([])).unwrap();
    let report = report.as_str().unwrap();
    for part in ["Foretoken ", "Memory: ", "Preferences: ", "Sampling: ", "The engine stopped"] {
        assert!(report.contains(part), "{part} is missing in\n{report}");
    }
    assert!(!report.contains(SECRET), "{report}");
    assert!(!report.contains(&*sandbox.home().to_string_lossy()), "{report}");
    window.wait_until("the report is ready", || {
        let disabled = "return document.querySelector('[data-testid=copy-report]').ariaDisabled";
        window.script(disabled, json!([])).is_null()
    });
    window.click("copy-report");
    window.wait_until("it is copied", || window.text("copy-report") == "Copied");
    drop(window);
    for folder in [".local/state/dev.foretoken.Foretoken", ".cache/dev.foretoken.Foretoken"] {
        assert_nothing_of(SECRET, &sandbox.home().join(folder));
    }
    assert!(!fs::read_to_string(sandbox.home().join("stderr.log")).unwrap().contains(SECRET));
}

/// No file in a folder holds a word.
fn assert_nothing_of(word: &str, folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            assert_nothing_of(word, &path);
        } else if let Ok(bytes) = fs::read(&path) {
            assert!(!String::from_utf8_lossy(&bytes).contains(word), "{word} is in {}", path.display());
        }
    }
}

#[test]
fn guesses_are_tinted_as_the_settings_say() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    open_endless_model(&window, &sandbox);
    window.choose("mtp-control", "mtp-option-2");
    let tints = "return document.querySelectorAll('.wake > :not(.caret)').length > 0";
    let tinted = || window.script(tints, json!([])) == json!(true);
    window.ask("Tell me a story about an owl and a bell.");
    window.wait_until("the newest words are tinted", tinted);
    window.open_settings("appearance");
    window.click("wake");
    window.wait_until("it is kept", || kept(&sandbox)["preferences"]["wake"] == json!(false));
    window.click("settings-reveal");
    window.close_settings();
    window.wait_until("no word is tinted while it comes", || !tinted());
    let marks = "return [...CSS.highlights.keys()].some((name) => name.startsWith('draft-'))";
    window.wait_until("all guesses are marked", || window.script(marks, json!([])) == json!(true));
    window.click("stop");
    window.wait_for_end();
}

#[test]
fn chats_are_exported_from_the_settings() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.answer("Tell me about owls.");
    window.open_settings("data");
    window.click("settings-export");
    let file = sandbox.home().join("all.json");
    Dialog::wait(&sandbox, "Export").save_as(&file);
    window.close_settings();
    window.wait_until("it is told", || window.text("note").contains("Exported"));
    assert!(fs::read_to_string(&file).unwrap().contains("Tell me about owls."));
}

#[test]
fn settings_and_diagnostics_look_right() {
    let sandbox = Sandbox::new(1280, 900);
    let window = sandbox.open();
    window.open_settings("general");
    let visual = VisualCheck::new(&window, &[(880, 680), (720, 520)]);
    for page in ["general", "appearance", "replies", "models", "data", "keyboard", "diagnostics", "notices"] {
        window.click(&format!("open-{page}"));
        window.wait_until("the page is open", || window.is_shown(&format!("settings-{page}")));
        match page {
            "data" => window.wait_until("all places are known", || window.is_shown("reveal-log")),
            "diagnostics" => window.wait_until("the log is shown", || window.text("log").contains("engine")),
            "notices" => {
                window.wait_until("the notices are listed", || window.texts("notice").len() > 300);
                window.script("document.querySelector('[data-testid=notice-open]').click()", json!([]));
                window.wait_until("a licence is shown", || window.text("notice-text").len() > 100);
            }
            _ => {}
        }
        visual.check(&format!("settings-{page}"));
    }
}

/// Confirms that everything is removed. The page may be gone before it has answered.
fn remove_now(window: &Window<'_>) {
    window.wait_until("it can be confirmed", || window.is_shown("remove-now"));
    let confirm = "document.querySelector('[data-testid=remove-now]').click()";
    let _ = window.driver.script(confirm, json!([]));
}

#[test]
fn whoever_leaves_sees_what_is_stored_and_takes_it_away() {
    let sandbox = Sandbox::new(1280, 900);
    let own = || {
        let folders =
            [".cache", ".config", ".local/share", ".local/state"].map(|folder| sandbox.home().join(folder));
        folders
            .map(|folder| folder.join("dev.foretoken.Foretoken"))
            .into_iter()
            .filter(|folder| folder.exists())
    };
    let model = sandbox.data().join("models/a--model");
    let window = sandbox.open();
    window.answer("Hello!");
    fs::create_dir_all(&model).unwrap();
    fs::write(model.join("config.json"), "{}").unwrap();
    window.open_settings("data");
    window.click("remove-everything");
    window
        .wait_until("it says what goes", || window.text("remove-sheet").contains("dev.foretoken.Foretoken"));
    window.picture("remove-everything");
    window.click("remove-cancel");
    window.wait_until("nothing is asked", || !window.is_shown("remove-sheet"));
    window.click("remove-everything");
    remove_now(&window);
    window.wait_until("the app ends", || sandbox.running("foretoken").is_empty());
    assert_eq!(own().collect::<Vec<_>>(), [sandbox.data()]);
    assert_eq!(fs::read_dir(sandbox.data()).unwrap().count(), 1, "models alone stay");
    assert!(model.join("config.json").exists());
    drop(window);

    let window = sandbox.open();
    assert!(!window.is_shown("chat"), "it begins anew");
    window.open_settings("data");
    window.click("remove-everything");
    window.click("remove-models");
    remove_now(&window);
    window.wait_until("the app ends", || sandbox.running("foretoken").is_empty());
    assert_eq!(own().collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new());
}
