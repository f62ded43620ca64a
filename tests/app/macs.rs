//! Two apps with two homes, as on two Macs: their people pair them, and a model is spread over both.

use std::fs;
use std::process::Command;

use foretoken_tests::fixtures::endless_model;
use serde_json::json;

use crate::support::endless_model::keeps;
use crate::support::models_screen::open_models;
use crate::support::sandbox::{Sandbox, free_port};
use crate::support::window::Window;

/// A Mac that would lend itself at this port, with the model or without.
fn mac(port: u16, has_model: bool) -> Sandbox {
    let sandbox = Sandbox::new(1280, 900);
    let models: Vec<_> = has_model.then(|| endless_model(sandbox.home())).into_iter().collect();
    fs::create_dir_all(sandbox.settings()).unwrap();
    let settings = json!({
        "lending": {"on": false, "port": port, "only_on_power": true, "only_unused": true},
        "model_folders": models,
    });
    fs::write(sandbox.settings().join("settings.json"), settings.to_string()).unwrap();
    sandbox
}

fn stage(window: &Window<'_>) -> String {
    let stage = "return document.querySelector('[data-testid=pairing]')?.dataset.stage ?? ''";
    window.script(stage, json!([])).as_str().unwrap_or_default().to_owned()
}

fn is_shown_digits(window: &Window<'_>) -> bool {
    window.is_shown("digits")
}

/// Lets `studio` compute for `laptop`. Both have their settings open.
fn pair(laptop: &Window<'_>, studio: &Window<'_>, port: u16) {
    studio.click("lend-on");
    studio.wait_until("it lends itself", || studio.is_shown("lend-address"));
    studio.click("open-for-pairing");
    studio.wait_until("it is open", || studio.is_shown("open-words"));
    laptop.fill("pair-address", &format!("127.0.0.1:{port}"));
    laptop.click("pair-by-address");
    laptop.wait_until("both show digits", || is_shown_digits(laptop) && is_shown_digits(studio));
    assert_eq!(laptop.text("digits"), studio.text("digits"));
    laptop.picture("macs-digits");
    studio.click("digits-same");
    laptop.click("digits-same");
    laptop.wait_until("they are paired", || stage(laptop) == "paired" && stage(studio) == "paired");
    laptop.wait_until("it answers", || laptop.text("paired-mac").contains("connected"));
}

/// Ends the process that computes for another Mac.
fn kill_worker(sandbox: &Sandbox) {
    let is_worker = |id: &&u32| {
        fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|line| line.contains("\0worker\0"))
    };
    let found = sandbox.running("foretoken-engine");
    let worker = found.iter().find(is_worker).expect("another process computes here");
    assert!(Command::new("kill").args(["-KILL", &worker.to_string()]).status().unwrap().success());
}

#[test]
fn two_macs_pair_and_compute_together_until_one_is_lost_and_the_reply_goes_on() {
    let port = free_port();
    let (studio, laptop) = (mac(port, false), mac(free_port(), true));
    let (there, here) = (studio.open(), laptop.open());
    there.open_settings("other_macs");
    here.open_settings("other_macs");
    pair(&here, &there, port);
    here.picture("macs-paired");
    here.close_settings();

    open_models(&here);
    here.choose_in_menu("model-more", "endless", "Over several Macs");
    if here.is_shown("use-other-macs") {
        here.click("use-other-macs");
    }
    here.wait_until("it is known how it would lie", || here.is_shown("load-over-macs"));
    assert!(here.text("outlook").contains("about"), "{}", here.text("outlook"));
    here.picture("macs-outlook");
    here.click("load-over-macs");
    here.wait_until("it is loaded over both", || {
        here.text("model-picker").contains("2 Macs") && !here.is_shown("engine-banner")
    });
    there.wait_until("its owner sees who uses it", || there.is_shown("loan"));
    there.wait_until("and what it was given", || there.is_shown("stored-layers"));
    assert!(there.text("stored-layers").contains("endless"), "{}", there.text("stored-layers"));
    there.picture("macs-loan");

    here.click("new-chat");
    here.ask("What did the owl say to the bell?");
    let shown = here.wait_for_text(40);
    here.picture("macs-chat");
    kill_worker(&studio);
    here.wait_for_end();
    let text = here.text("answer");
    assert!(keeps(&text, &shown), "what was written stays:\n{shown}\nbecame\n{text}");
    here.wait_until("it is told", || here.is_shown("load-again"));
    assert!(here.text("engine-banner").contains("has ended"), "{}", here.text("engine-banner"));
    here.picture("macs-lost");
    there.wait_until("the loan is over", || !there.is_shown("loan"));
    here.click("load-again");
    here.wait_until("it is formed again", || !here.is_shown("engine-banner"));
    here.click("continue");
    here.wait_until("the reply goes on", || here.text("answer").len() > text.len() + 40);
    assert!(keeps(&here.text("answer"), &text));

    // Its owner takes it back.
    there.click("take-back");
    there.wait_until("it is free", || !there.is_shown("loan"));
    here.wait_until("it is told", || here.is_shown("load-again"));
    there.click("remove-layers");
    there.wait_until("they are gone", || !there.is_shown("stored-layers"));
}
