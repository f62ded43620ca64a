//! Pictures that go with a message: dropped, pasted or chosen, seen by a model and named to one that cannot see.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use foretoken_tests::fixtures::fixture;
use foretoken_tests::oracle::write_vision;
use serde_json::{Value, json};

use crate::support::clipboard::copied_png;
use crate::support::dialog::Dialog;
use crate::support::drag::Drag;
use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;
use crate::support::webdriver::keys::ESCAPE;
use crate::support::window::Window;

/// A picture of a moon at dusk, which is nowhere white or black.
fn picture(sandbox: &Sandbox, name: &str) -> PathBuf {
    let (width, height) = (700, 500);
    let pixel = |at: usize| {
        let (x, y) = ((at % width) as i32, (at / width) as i32);
        let is_moon = (x - 480).pow(2) + (y - 150).pow(2) < 70 * 70;
        let dusk = [40 + y / 4, 50 + y / 5, 120 - y / 8].map(|value| value as u8);
        if is_moon { [240, 226, 180] } else { dusk }
    };
    let path = sandbox.home().join(name);
    let mut encoder = png::Encoder::new(File::create(&path).unwrap(), width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    let pixels: Vec<[u8; 3]> = (0..width * height).map(pixel).collect();
    encoder.write_header().unwrap().write_image_data(pixels.as_flattened()).unwrap();
    path
}

fn drop_on(window: &Window<'_>, sandbox: &Sandbox, path: &Path, done: impl Fn() -> bool) {
    let mut drag = Drag::all_over(sandbox, &[path]);
    window.wait_until("the window would take it", || drag.hold() && window.is_shown("drop-target"));
    drag.release();
    window.wait_until("it has taken it", || {
        drag.answer();
        done()
    });
}

/// Pastes a PNG picture into the field for the next message.
fn paste(window: &Window<'_>, png: &[u8]) {
    let body = "const bytes = Uint8Array.from(atob(arguments[0]), (c) => c.charCodeAt(0));
                const clipboardData = new DataTransfer();
                clipboardData.items.add(new File([bytes], 'image.png', { type: 'image/png' }));
                const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
                document.querySelector('[data-testid=composer]').dispatchEvent(paste)";
    window.script(body, json!([BASE64_STANDARD.encode(png)]));
}

/// Opens a tiny model with a vision tower, for replies of a few tokens.
fn open_model_that_sees(window: &Window<'_>, sandbox: &Sandbox) {
    let model = sandbox.home().join("seeing");
    write_vision("tiny-vision", &model, &["--dtype", "float32"]);
    window.open_model(&model);
    window.wait_until("the model is ready", || {
        window.text("model-picker").contains("seeing") && !window.is_shown("engine-banner")
    });
    window.wait_until("the picker closes", || !window.is_popover_shown());
    window.click("sampling-control");
    window.fill("max-tokens", "12");
    window.press(&[], ESCAPE);
    window.wait_until("the popover closes", || !window.is_popover_shown());
}

/// What the last reply took.
fn last_stats(window: &Window<'_>) -> Value {
    stored(window, "snapshot", "known.open.messages.at(-1).message.stats")
}

/// What a command answers, as far as an expression goes that calls it `known`.
fn stored(window: &Window<'_>, command: &str, expression: &str) -> Value {
    let body =
        format!("const known = await window.__TAURI_INTERNALS__.invoke('{command}'); return {expression}");
    window.driver.async_script(&body, json!([])).expect("it answers")
}

#[test]
fn pictures_are_dropped_pasted_asked_about_opened_saved_and_edited() {
    let sandbox = Sandbox::new(1280, 900);
    let owl = picture(&sandbox, "An owl and a bell.png");
    let window = sandbox.open();
    open_model_that_sees(&window, &sandbox);
    drop_on(&window, &sandbox, &owl, || window.text("picture").contains("An owl"));
    assert!(window.text("picture").contains("140 tokens"), "{}", window.text("picture"));
    window.wait_until("the library knows that it sees", || {
        let seeing = "known.models.filter((model) => model.sight === 'sees').map(({ name }) => name)";
        stored(&window, "library", seeing) == json!(["seeing"])
    });
    paste(&window, &fs::read(fixture("goldens/tiny-vision/a.png")).unwrap());
    window.wait_until("both are there", || window.texts("picture").len() == 2);
    window.choose_in_menu("picture-detail", "An owl", "Low");
    window.wait_until("it is seen in less detail", || {
        let label = "return document.querySelector('[data-testid=picture-detail]').ariaLabel";
        window.script(label, json!([])).as_str().is_some_and(|label| label.contains("Low detail"))
    });
    window.fill("composer", "What is in these pictures?");
    let visual = VisualCheck::new(&window, &[(1280, 900), (720, 520)]);
    visual.check("pictures-to-send");
    drop(window);

    let window = sandbox.open();
    window.wait_until("the draft has kept them", || window.texts("picture").len() == 2);
    open_model_that_sees_again(&window);
    window.click("send");
    window.wait_until("the message is sent", || window.text("message-user").contains("these pictures"));
    window.wait_for_end();
    let visual = VisualCheck::new(&window, &[(1280, 900), (720, 520)]);
    visual.check("pictures-in-a-chat");
    let stats = last_stats(&window);
    assert!(stats["pictures"] == json!(2) && stats["picture_tokens"].as_u64().unwrap() > 140, "{stats}");
    assert!(stats["tower_seconds"].as_f64().unwrap() > 0.0, "{stats}");

    window.script("document.querySelector('[data-testid=picture-open]').click()", json!([]));
    window.wait_until("it is open", || window.text("large-picture").contains("An owl and a bell.png"));
    visual.check("picture-opened");
    window.click("copy-picture");
    window.wait_until("it is copied", || window.text("copy-picture") == "Copied");
    let saved = sandbox.home().join("saved.png");
    window.click("save-picture");
    Dialog::wait(&sandbox, "Save picture").save_as(&saved);
    window.wait_until("it is saved", || saved.is_file() && window.text("note").contains("Saved as"));
    assert_eq!(fs::read(&saved).unwrap(), fs::read(&owl).unwrap());
    window.press(&[], ESCAPE);
    window.wait_until("it is closed", || !window.is_shown("large-picture"));
    // WebKitGTK tells a page nothing of a picture that it copied itself, so the keys would paste none.
    paste(&window, &copied_png(&sandbox).expect("other programs get it"));
    window.wait_until("what was copied is pasted", || window.text("picture").contains("140 tokens"));
    window.click("picture-remove");
    window.wait_until("it is taken away", || window.texts("picture").len() == 2);

    let exported = sandbox.home().join("chat.json");
    window.choose_in_menu("chat-more", "More", "Export as JSON");
    window
        .wait_until("it asks for the pictures", || window.text("export-sheet").contains("The pictures take"));
    visual.check("export-with-pictures");
    window.click("export-now");
    Dialog::wait(&sandbox, "Export").save_as(&exported);
    window.wait_until("it is written", || exported.is_file() && window.text("note").contains("Exported to"));
    let file: Value = serde_json::from_str(&fs::read_to_string(&exported).unwrap()).unwrap();
    assert_eq!(file["pictures"].as_array().unwrap().len(), 2);

    window.answer("And what else?");
    let stats = last_stats(&window);
    assert!(stats["cached_tokens"].as_u64().unwrap() > 140, "the pictures are not looked at again: {stats}");
    assert_eq!(stats["tower_seconds"].as_f64(), Some(0.0), "{stats}");

    window.script("document.querySelector('[data-testid=edit]').click()", json!([]));
    window.wait_until("it can be edited", || window.is_shown("edit-text"));
    window.picture("pictures-edited");
    window.script("document.querySelector('.question-form [data-testid=picture-remove]').click()", json!([]));
    let kept = || stored(&window, "snapshot", "known.open.edits[0]?.pictures?.length") == json!(1);
    window.wait_until("what it is changed to is kept", kept);
    window.script("window.isOld = true; location.reload()", json!([]));
    window.wait_until("the page begins anew", || {
        window.script("return !window.isOld", json!([])) == json!(true)
            && window.text("edit") == "Edit"
            && window.texts("picture").len() == 2
    });
    window.script("document.querySelector('[data-testid=edit]').click()", json!([]));
    window
        .wait_until("it is edited on", || window.is_shown("edit-text") && window.texts("picture").len() == 1);
    window.click("send-edit");
    window.wait_until("it is asked anew", || window.texts("picture").len() == 1);
    window.wait_for_end();
    window.click("version-earlier");
    window.wait_until("the earlier version has both", || window.texts("picture").len() == 2);
    window.import_chats(&exported);
    window.wait_until("it is read", || window.text("note").contains("1 chat with 2 messages added."));
    window.wait_until("both are listed", || window.texts("chat").len() == 2);
    let open = "[...document.querySelectorAll('[data-testid=chat]')].find((row) => row.ariaCurrent === null).click()";
    window.script(open, json!([]));
    window.wait_until("its pictures are there", || {
        let drawn = "return document.querySelectorAll('.picture-open img').length";
        window.script(drawn, json!([])) == json!(2)
    });
}

/// After a start the model that was opened last is loaded.
fn open_model_that_sees_again(window: &Window<'_>) {
    window.wait_until("the model is ready", || {
        window.text("model-picker").contains("seeing") && !window.is_shown("engine-banner")
    });
}

#[test]
fn a_model_that_cannot_see_is_told_the_name_and_says_why() {
    let sandbox = Sandbox::new(1280, 900);
    let owl = picture(&sandbox, "owl.png");
    let broken = sandbox.home().join("broken.png");
    fs::write(&broken, &fs::read(&owl).unwrap()[..1000]).unwrap();
    let window = sandbox.open();
    window.click("attach");
    window.wait_until("the menu says why", || {
        let body = "const menu = document.querySelector('.menu:not([data-starting-style])');
                    return menu && menu.getAnimations().length === 0 ? menu.textContent : ''";
        let menu = window.script(body, json!([]));
        menu.as_str().is_some_and(|menu| menu.contains("This model reads text alone.Get a model that sees"))
    });
    window.picture("attach-menu");
    window.press(&[], ESCAPE);
    drop_on(&window, &sandbox, &broken, || window.text("action-error").contains("broken.png"));
    assert!(!window.is_shown("picture"));
    drop_on(&window, &sandbox, &owl, || window.is_shown("picture"));
    window.wait_until("it is said", || window.text("pictures-note").contains("cannot see pictures"));
    let visual = VisualCheck::new(&window, &[(1280, 900), (720, 520)]);
    visual.check("pictures-unseen");
    window.answer("What is it?");
    let stats = last_stats(&window);
    assert_eq!(stats["picture_tokens"], json!(0), "{stats}");
    assert_eq!(window.texts("picture").len(), 1, "it stays in the chat");
}
