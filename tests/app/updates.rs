//! Newer versions: looked for, downloaded, refused and put off, by a copy of the app that takes itself for installed.
//! `package.rs` installs one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use foretoken_tests::programs::built;
use serde_json::{Value, json};

use crate::palette::go_to;
use crate::support::endless_model::open_endless_model;
use crate::support::releases::{Answer, Releases, forged, json_answer};
use crate::support::sandbox::Sandbox;
use crate::support::webdriver::keys::ESCAPE;
use crate::support::window::Window;

/// What an app says of itself that comes from no package, and one that comes from Debian's.
const UNBUNDLED: &[u8] = b"__TAURI_BUNDLE_TYPE_VAR_UNK";
const BUNDLED: &[u8] = b"__TAURI_BUNDLE_TYPE_VAR_DEB";

/// Beginning and end of a Debian package that nobody can install.
const PACKAGE: &[u8] = b"!<arch>\ndebian-binary   1700000000  0     0     100644  4         `\n2.0\n";

/// A copy of the app that takes itself for installed, in a sandbox whose system installs nothing.
fn installed(sandbox: &mut Sandbox, releases: &Releases) -> PathBuf {
    let folder = sandbox.home().join("app");
    fs::create_dir(&folder).unwrap();
    let mut program = fs::read(built("foretoken")).unwrap();
    let place = program.windows(UNBUNDLED.len()).position(|bytes| bytes == UNBUNDLED).expect("Tauri's mark");
    program[place..place + BUNDLED.len()].copy_from_slice(BUNDLED);
    let app = folder.join("foretoken");
    fs::write(&app, program).unwrap();
    fs::set_permissions(&app, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(built("foretoken-engine"), folder.join("foretoken-engine")).unwrap();
    // Each of these would ask for a password, and is refused it.
    let refusing = sandbox.home().join("bin");
    fs::create_dir(&refusing).unwrap();
    for name in ["pkexec", "zenity", "kdialog", "sudo"] {
        let program = refusing.join(name);
        fs::write(&program, "#!/bin/sh\necho \"$0 $*\" >> \"$HOME/asked\"\nexit 126\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    sandbox.set("PATH", &format!("{}:{path}", refusing.display()));
    fs::create_dir_all(sandbox.settings()).unwrap();
    let settings = json!({
        "preferences": { "check_for_updates": "each_start" },
        "hub": { "proxy": releases.proxy() },
    });
    fs::write(sandbox.settings().join("settings.json"), settings.to_string()).unwrap();
    // Only the proxy knows where that is.
    sandbox.set("FORETOKEN_UPDATES_ENDPOINT", "http://releases.invalid/latest.json");
    sandbox.set("FORETOKEN_UPDATES_KEY", &releases.key());
    app
}

/// What the sheet says, or the error in it.
fn told(window: &Window<'_>) -> String {
    window.text("update-sheet")
}

/// Opens the sheet by the palette.
fn look(window: &Window<'_>) {
    go_to(window, "check for updates");
    window.wait_until("the sheet is open", || window.is_shown("update-sheet"));
}

/// Waits until the sheet says something.
fn wait_for(window: &Window<'_>, words: &str) {
    window.wait_until(words, || told(window).contains(words));
}

#[test]
fn whatever_goes_wrong_with_a_newer_version_the_old_one_stays_and_says_so() {
    let releases = Releases::start();
    let mut sandbox = Sandbox::new(1280, 900);
    let app = installed(&mut sandbox, &releases);
    let before = fs::read(&app).unwrap();
    // The look at the start finds nobody, which is worth no word.
    releases.say(Answer::HangUp, Answer::HangUp);
    let window = sandbox.open_program(&app);
    assert!(!window.is_shown("update-row") && !window.is_shown("update-sheet"));

    let good = |version| releases.latest(version, &releases.sign(version, PACKAGE));
    look(&window);
    wait_for(&window, "cannot be reached");
    let page = b"<!doctype html><title>Sign in to this network</title>".to_vec();
    let mut other_system = good("9.9.9");
    let platform = other_system["platforms"].as_object_mut().unwrap().remove("linux-x86_64").unwrap();
    other_system["platforms"]["darwin-aarch64"] = platform;
    let faulty: [(Answer, &str); 5] = [
        (Answer::Status(500), "names no version"),
        (Answer::Is(page), "names no version"),
        (Answer::Cut(good("9.9.9").to_string().into_bytes()), "names no version"),
        (json_answer(&json!({ "version": "9.9.9" })), "names no version"),
        (json_answer(&other_system), "not for this system"),
    ];
    for (latest, words) in faulty {
        releases.say(latest, Answer::HangUp);
        window.click("update-look");
        wait_for(&window, words);
    }
    releases.say(json_answer(&good("0.0.1")), Answer::HangUp);
    window.click("update-look");
    wait_for(&window, "This is the newest version");
    window.click("update-close");
    window.wait_until("the sheet is closed", || !window.is_shown("update-sheet"));

    // Whoever looks twice is told once.
    releases.say(Answer::Silence, Answer::HangUp);
    let asked = releases.asked("/latest.json");
    for _ in 0..2 {
        look(&window);
        window.wait_until("it looks", || releases.asked("/latest.json") == asked + 1);
        window.press(&[], ESCAPE);
        window.wait_until("the sheet is closed", || !window.is_shown("update-sheet"));
    }
    releases.publish("9.9.9", PACKAGE);
    look(&window);
    wait_for(&window, "Owls answer faster");
    assert_eq!(releases.asked("/latest.json"), asked + 1);
    assert_eq!(window.text("update-words"), "12 MB");
    window.picture("update");
    let mut changed = PACKAGE.to_vec();
    changed[70] ^= 1;
    let by_another = releases.latest("9.9.9", &forged("9.9.9", PACKAGE));
    // A version that had a fault once, under a new name.
    let renamed = releases.latest("9.9.9", &releases.sign("0.0.1", PACKAGE));
    let unsigned = releases.latest("9.9.9", "");
    let not_a_package = b"#!/bin/sh\nrm -rf ~\n";
    let is_package = || Answer::Is(PACKAGE.to_vec());
    let faulty: [(Value, Answer, &str); 8] = [
        (good("9.9.9"), Answer::Status(404), "cannot be downloaded"),
        (good("9.9.9"), Answer::HangUp, "cannot be downloaded"),
        (good("9.9.9"), Answer::Cut(PACKAGE.to_vec()), "cannot be downloaded"),
        (good("9.9.9"), Answer::Is(changed), "thrown away"),
        (by_another, is_package(), "thrown away"),
        (renamed, is_package(), "signed for version 0.0.1"),
        (unsigned, is_package(), "thrown away"),
        (
            releases.latest("9.9.9", &releases.sign("9.9.9", not_a_package)),
            Answer::Is(not_a_package.to_vec()),
            "cannot be installed here",
        ),
    ];
    for (latest, archive, words) in faulty {
        releases.say(json_answer(&latest), archive);
        window.click("update-install");
        wait_for(&window, words);
        window.wait_until("one may do without it", || window.is_shown("update-later"));
        assert!(!told(&window).contains("rm -rf"));
    }
    assert!(!sandbox.home().join("asked").exists(), "nobody was asked for a password");
    window.picture("update-failed");
    // Genuine at last, and the system does not allow it.
    releases.publish("9.9.9", PACKAGE);
    window.click("update-install");
    wait_for(&window, "not installed the new version");
    let asked = fs::read_to_string(sandbox.home().join("asked")).unwrap();
    assert!(asked.contains("dpkg -i"), "{asked}");

    // A newer one has come meanwhile: the person has not agreed to that.
    releases.publish("9.10.0", PACKAGE);
    window.click("update-install");
    wait_for(&window, "Foretoken 9.10.0");
    window.wait_until("it asks again", || window.text("update-install") == "Install and restart");
    assert_eq!(fs::read_to_string(sandbox.home().join("asked")).unwrap(), asked);

    // It is given up while it arrives.
    let arrived = releases.asked("/archive");
    releases.say(json_answer(&good("9.10.0")), Answer::Stall(PACKAGE.to_vec()));
    window.click("update-install");
    window.wait_until("some of it is here", || releases.asked("/archive") > arrived);
    window.click("update-cancel");
    window.wait_until("it asks again", || window.text("update-install") == "Install and restart");
    assert_eq!(fs::read_to_string(sandbox.home().join("asked")).unwrap(), asked);

    // A server that says nothing is left.
    releases.say(json_answer(&good("9.10.0")), Answer::Silence);
    window.click("update-install");
    window.click("update-cancel");
    window.wait_until("it can be installed later", || window.is_shown("update-later"));
    window.click("update-later");
    window.wait_until("nothing is said of it", || {
        !window.is_shown("update-sheet") && !window.is_shown("update-row")
    });
    window.answer("Hello!");
    assert_eq!(fs::read(&app).unwrap(), before);
    drop(window);

    // Put off, also after the next start; the one after it is told of.
    let kept = fs::read(sandbox.settings().join("settings.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&kept).unwrap()["postponed_update"], "9.10.0");
    releases.publish("9.10.0", PACKAGE);
    let window = sandbox.open_program(&app);
    look(&window);
    wait_for(&window, "Foretoken 9.10.0");
    assert!(!window.is_shown("update-row"));
    drop(window);
    releases.publish("9.11.0", PACKAGE);
    let window = sandbox.open_program(&app);
    window.wait_until("the sidebar tells of it", || window.text("update-row").contains("9.11.0"));

    // The power goes in the middle of a download.
    releases.say(json_answer(&good("9.11.0")), Answer::Silence);
    window.click("update-row");
    window.click("update-install");
    window.wait_until("it is on its way", || window.is_shown("update-cancel"));
    sandbox.kill_all();
    drop(window);
    assert_eq!(fs::read(&app).unwrap(), before);
    let window = sandbox.open_program(&app);
    window.wait_until("the sidebar tells of it", || window.text("update-row").contains("9.11.0"));
}

#[test]
fn a_newer_version_waits_until_nothing_is_written() {
    let releases = Releases::start();
    let mut sandbox = Sandbox::new(1280, 900);
    let app = installed(&mut sandbox, &releases);
    releases.publish("9.9.9", PACKAGE);
    let window = sandbox.open_program(&app);
    open_endless_model(&window, &sandbox);
    window.ask("Tell me a story about an owl and a bell.");
    window.wait_for_text(50);
    window.click("update-row");
    window.click("update-install");
    wait_for(&window, "Waits for replies");
    let shown = window.text("answer").chars().count();
    window.wait_for_text(shown + 50);
    assert!(!sandbox.home().join("asked").exists(), "it waits");
    window.picture("update-waits");
    window.press(&[], ESCAPE);
    window.wait_until("the sheet is closed", || !window.is_shown("update-sheet"));
    window.wait_until("the sidebar says so", || window.text("update-row").contains("waits"));
    window.click("stop");
    window.wait_until("it goes on by itself", || sandbox.home().join("asked").exists());
    window.wait_until("the sidebar says that it has failed", || {
        window.text("update-row").contains("has failed")
    });
    window.ask("And then?");
    window.wait_for_text(10);
}
