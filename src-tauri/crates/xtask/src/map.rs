//! Checks that the architecture document names only what is there.

use std::fs;
use std::path::PathBuf;

use crate::workspace::Workspace;

/// Short names of folders in the document, and where they are.
const FOLDERS: &[(&str, &str)] = &[
    ("engine/", "src-tauri/crates/engine/src/"),
    ("host/", "src-tauri/crates/host/src/"),
    ("protocol/", "src-tauri/crates/protocol/src/"),
    ("chats/", "src-tauri/crates/chats/src/"),
    ("models/", "src-tauri/crates/models/src/"),
    ("shell/", "src-tauri/src/"),
    ("ui/src", "ui/src"),
    ("ui/", "ui/src/"),
    ("src-tauri/", "src-tauri/"),
    ("tests/", "tests/"),
];

/// The file or folder that a piece of code in the document names, if it names one.
fn place(workspace: &Workspace, code: &str) -> Option<PathBuf> {
    let is_path = !code.contains([' ', '*', '<', '{']) && (code.ends_with('/') || code.contains('.'));
    let (short, long) = FOLDERS.iter().find(|(short, _)| is_path && code.starts_with(short))?;
    Some(workspace.root().join(format!("{long}{}", &code[short.len()..])))
}

/// Whether a name stands in a text as a word.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}

/// What the document names that is not there: paths, and after `path` :: the names of things in that file.
fn missing(workspace: &Workspace, document: &str) -> Vec<String> {
    let mut missing = Vec::new();
    let mut file: Option<(String, String)> = None;
    let mut parts = document.split('`');
    let mut before = parts.next().unwrap_or_default();
    while let (Some(code), after) = (parts.next(), parts.next().unwrap_or_default()) {
        let goes_on = matches!(before.trim(), "," | "or" | "and") && place(workspace, code).is_none();
        let names_one = goes_on || before.trim_end().ends_with("::");
        if let Some((path, text)) = file.take().filter(|_| names_one) {
            let name = code.rsplit("::").next().unwrap_or(code);
            if !has_word(&text, name) {
                missing.push(format!("{path} :: {code}"));
            }
            file = Some((path, text));
        } else if let Some(place) = place(workspace, code) {
            match place.exists() {
                true if after.trim() == "::" => {
                    file = fs::read_to_string(&place).ok().map(|text| (code.into(), text))
                }
                true => {}
                false => missing.push(code.to_owned()),
            }
        }
        before = after;
    }
    missing
}

#[test]
fn all_that_the_document_names_is_there() {
    let workspace = Workspace::locate();
    let document = fs::read_to_string(workspace.root().join("src-tauri/ARCHITECTURE.md")).unwrap();
    assert!(document.matches("` :: `").count() > 80, "the life of a token names its functions");
    assert_eq!(missing(&workspace, &document), Vec::<String>::new());
}

#[test]
fn what_is_not_there_is_found() {
    let here = "`shell/main.rs` and `tests/` stand, as does `engine/serve.rs` :: `serve`, `Inbox::take`.";
    assert_eq!(missing(&Workspace::locate(), here), Vec::<String>::new());
    let gone =
        "`shell/nowhere.rs` is not, nor `engine/serve.rs` ::\n`serv`, `Inbox::nowhere`; `anything` may be.";
    let expected = ["shell/nowhere.rs", "engine/serve.rs :: serv", "engine/serve.rs :: Inbox::nowhere"];
    assert_eq!(missing(&Workspace::locate(), gone), expected);
}
