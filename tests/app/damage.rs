//! Chats whose file is damaged: the last good copy takes its place, and nothing is thrown away. Chats of other programs
//! come in.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use foretoken_chats::Store;
use serde_json::json;

use crate::support::sandbox::Sandbox;
use crate::support::visual_check::VisualCheck;

/// Writes a chat, a copy of it, and then damages the file.
fn damage(sandbox: &Sandbox) {
    let path = sandbox.data().join("chats.sqlite");
    fs::create_dir_all(sandbox.data()).unwrap();
    let mut store = Store::open(&path).unwrap();
    for number in 0..200 {
        let chat = store.create_chat(&format!("Chat {number}")).unwrap().id;
        store.add_user_message(chat, None, &"words ".repeat(50)).unwrap();
    }
    store.back_up().unwrap();
    drop(store);
    let file = File::options().write(true).open(&path).unwrap();
    let pages = file.metadata().unwrap().len() / 4096;
    for page in 2..pages {
        file.write_all_at(&[0xa5; 2048], page * 4096).unwrap();
    }
}

#[test]
fn damaged_chats_are_restored_from_the_last_good_copy() {
    let sandbox = Sandbox::new(1280, 900);
    damage(&sandbox);
    let window = sandbox.open();
    let visual = VisualCheck::new(&window, &[(1100, 760), (720, 520)]);
    assert!(window.text("chats-trouble").contains("damaged"), "{}", window.text("chats-trouble"));
    visual.check("damage-1-offer");
    window.click("restore-chats");
    window.wait_until("the chats are back", || window.text("chat-list").contains("Chat 199"));
    assert!(!window.answer("Hello!").is_empty());
    assert!(sandbox.data().join("chats.sqlite.damaged-1").is_file(), "the damaged file is kept");
}

#[test]
fn damage_that_is_found_behind_the_window_is_restored_in_it() {
    let sandbox = Sandbox::new(1280, 900);
    let path = sandbox.data().join("chats.sqlite");
    fs::create_dir_all(sandbox.data()).unwrap();
    let mut store = Store::open(&path).unwrap();
    for number in 0..100 {
        let chat = store.create_chat(&format!("Chat {number}")).unwrap().id;
        store.add_user_message(chat, None, &"words ".repeat(20_000)).unwrap();
    }
    store.back_up().unwrap();
    drop(store);
    // In the texts of some chats, which nobody reads who opens the window.
    let file = File::options().write(true).open(&path).unwrap();
    let middle = file.metadata().unwrap().len() / 2 / 4096 * 4096;
    file.write_all_at(&[0xa5; 3 * 4096], middle).unwrap();

    let window = sandbox.open();
    window.wait_until("the list is there", || window.text("chat-list").contains("Chat 99"));
    window.wait_until("the damage is told", || window.is_shown("chats-trouble"));
    assert!(window.text("chats-trouble").contains("damaged"), "{}", window.text("chats-trouble"));
    window.picture("damage-3-behind-the-window");
    window.click("restore-chats");
    window.wait_until("the chats can be used", || window.is_shown("composer"));
    assert!(!window.answer("Hello!").is_empty());
    assert!(sandbox.data().join("chats.sqlite.damaged-1").is_file(), "the damaged file is kept");
}

#[test]
fn chats_of_another_program_come_in_with_a_report() {
    let sandbox = Sandbox::new(1280, 900);
    let file = sandbox.home().join("conversations.json");
    let message = |role: &str, parts: serde_json::Value| {
        json!({ "author": { "role": role }, "create_time": 1.0, "recipient": "all",
                "content": { "content_type": "text", "parts": parts } })
    };
    let conversation = json!([{ "title": "From elsewhere", "create_time": 1.0, "update_time": 2.0, "current_node": "b",
        "mapping": {
            "root": { "message": null, "parent": null, "children": ["a"] },
            "a": { "message": message("user", json!(["What is a bell?"])), "parent": "root", "children": ["b"] },
            "b": { "message": message("assistant", json!(["It rings."])), "parent": "a", "children": [] },
        } }]);
    fs::write(&file, conversation.to_string()).unwrap();
    let window = sandbox.open();
    window.import_chats(&file);
    window
        .wait_until("the report is shown", || window.text("note").contains("1 chat with 2 messages added."));
    let other = sandbox.home().join("letter.json");
    fs::write(&other, "Dear Ines").unwrap();
    window.import_chats(&other);
    window
        .wait_until("what holds no chats is refused", || window.text("action-error").contains("letter.json"));
    window.click_one("chat", "From elsewhere");
    window.wait_until("it is shown", || window.text("answer") == "It rings.");
}
