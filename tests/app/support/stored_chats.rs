//! Chats that are there before the app is opened.

use std::fs;
use std::path::Path;

use foretoken_chats::Store;
use serde_json::{Value, json};

/// An answer with all of markdown in it.
pub(crate) const ANSWER: &str = include_str!("answer.md");

/// A chat: questions and answers in turn.
pub(crate) struct StoredChat {
    pub(crate) title: String,
    pub(crate) messages: Vec<String>,
}

/// Writes chats into the app's data folder, the newest last.
pub(crate) fn write_chats(data: &Path, chats: impl IntoIterator<Item = StoredChat>) {
    let chats: Vec<Value> =
        chats.into_iter().enumerate().map(|(number, chat)| as_json(number, chat)).collect();
    fs::create_dir_all(data).expect("a folder for the data");
    let file = data.join("chats.json");
    // The format comes first.
    let listed = serde_json::to_string(&chats).expect("chats are JSON");
    let text = format!("{{\"format\":\"foretoken-chats\",\"version\":1,\"presets\":[],\"chats\":{listed}}}");
    fs::write(&file, text).expect("a file with chats");
    let mut store = Store::open(&data.join("chats.sqlite")).expect("a store");
    let report =
        store.import(&file, &|_, _| unreachable!("they have no pictures")).expect("the chats can be read");
    assert_eq!(report.chats as usize, chats.len());
}

fn as_json(number: usize, StoredChat { title, messages }: StoredChat) -> Value {
    let shown = messages.len();
    let messages: Vec<Value> = messages
        .into_iter()
        .enumerate()
        .map(|(index, text)| {
            let parent = if index == 0 { Value::Null } else { json!(index) };
            let role = if index % 2 == 0 { "user" } else { "assistant" };
            json!({ "parent": parent, "role": role, "text": text, "thinking": "", "stats": null, "error": null,
                    "status": { "state": "finished", "reason": "stop" }, "model": null, "settings": null,
                    "created_at": 1 })
        })
        .collect();
    json!({ "title": title, "named": true, "pinned": false, "tags": [], "created_at": 1, "updated_at": number + 1,
            "draft": "", "origin": null, "shown": shown, "messages": messages,
            "settings": { "system_prompt": "", "generation": null, "model": null, "preset": null } })
}
