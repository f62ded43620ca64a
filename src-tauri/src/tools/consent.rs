//! What the person agrees to before a server is started or reached: a dialog that the system draws and no page can
//! change, with all that runs.

use std::path::Path;

use foretoken_tools::configuration::{ServerEntry, Transport};
use foretoken_tools::visible;
use reqwest::Url;
use tauri::WebviewWindow;
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons, MessageDialogKind};
use tokio::sync::oneshot;

use super::error::ToolboxError;
use crate::language::Texts;

/// Lines that a dialog has room for on a small screen.
const MOST_LINES: usize = 40;
/// Characters of a line in a narrow dialog.
const LINE: usize = 48;

/// What is shown of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    /// What is asked is called so among the texts.
    of: &'static str,
    /// What people call the server.
    name: String,
    /// What each part is called among the texts, and its lines.
    parts: Vec<(&'static str, Vec<String>)>,
}

impl Question {
    /// Of a server whose program is at `program`, if it is one. A server of which not all can be shown is refused.
    pub(super) fn of(entry: &ServerEntry, program: Option<&Path>) -> Result<Self, ToolboxError> {
        let lines = |names: &[String]| names.iter().map(|name| shown(name)).collect::<Vec<_>>();
        let mut parts = match &entry.transport {
            Transport::Program { command, arguments, environment, folder } => {
                let program = program.unwrap_or(Path::new(command)).to_string_lossy();
                let numbered = |(place, text): (usize, &String)| format!("{}. {}", place + 1, shown(text));
                vec![
                    ("tool-server.program", vec![shown(&program)]),
                    ("tool-server.arguments", arguments.iter().enumerate().map(numbered).collect()),
                    ("tool-server.variables", lines(environment)),
                    (
                        "tool-server.folder",
                        folder.iter().map(|folder| shown(&folder.to_string_lossy())).collect(),
                    ),
                ]
            }
            Transport::Http { address, headers } => {
                vec![("tool-server.address", vec![shown(address)]), ("tool-server.headers", lines(headers))]
            }
        };
        parts.retain(|(_, lines)| !lines.is_empty());
        let height = |line: &String| line.chars().count().div_ceil(LINE).max(1);
        let heights = parts.iter().flat_map(|(_, lines)| lines.iter().map(height));
        // Beside its lines a part has a title of two, and a space.
        if heights.sum::<usize>() + 3 * parts.len() > MOST_LINES {
            return Err(ToolboxError::TooLong { name: entry.name.clone() });
        }
        Ok(Self { of: "tool-server", name: entry.name.clone(), parts })
    }

    /// Whether to sign in to the server of this name with the browser, at this address, for tokens that are asked for
    /// at another. What stands behind the places is for the server alone.
    pub(super) fn of_sign_in(name: String, address: &str, tokens: &str) -> Self {
        let place = |address: &str| shown(address.split(['?', '#']).next().unwrap_or(address));
        let host = |address: &str| Url::parse(address).ok().and_then(|url| url.host_str().map(str::to_owned));
        let mut parts = vec![("tool-sign-in.address", vec![place(address)])];
        if host(address) != host(tokens) {
            parts.push(("tool-sign-in.tokens", vec![place(tokens)]));
        }
        Self { of: "tool-sign-in", name, parts }
    }

    /// What the dialog asks.
    fn title(&self, texts: &Texts) -> String {
        texts.say_of(self.of, [("name", self.name.as_str().into())])
    }

    /// All that the person agrees to.
    fn message(&self, texts: &Texts) -> String {
        let part = |(name, lines): &(&str, Vec<String>)| format!("{}\n{}", texts.say(name), lines.join("\n"));
        self.parts.iter().map(part).collect::<Vec<_>>().join("\n\n")
    }

    /// Asks the person in front of a window.
    pub(super) async fn ask(self, window: WebviewWindow, texts: &Texts) -> bool {
        let (answer, answered) = oneshot::channel();
        window
            .dialog()
            .message(self.message(texts))
            .title(self.title(texts))
            .kind(MessageDialogKind::Warning)
            .parent(&window)
            .buttons(MessageDialogButtons::OkCancelCustom(
                texts.say(&format!("{}.agree", self.of)),
                texts.say(&format!("{}.disagree", self.of)),
            ))
            .show(move |agreed| {
                // Nobody waits any more where the window is gone.
                let _ = answer.send(agreed);
            });
        answered.await.unwrap_or(false)
    }
}

/// A text on one line, in which all is seen: nothing in it can pass for another line, or for the space between two.
fn shown(text: &str) -> String {
    let (text, _) = visible(text);
    if text.is_empty() {
        return "∅".into();
    }
    let mut shown = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_beside_space = shown.is_empty() || shown.ends_with([' ', '␣']);
        match character {
            ' ' if is_beside_space || matches!(characters.peek(), None | Some(' ')) => shown.push('␣'),
            ' ' => shown.push(' '),
            _ if character.is_whitespace() || character.is_control() => {
                shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(character)));
            }
            _ => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::Language;

    use super::*;

    fn entry(arguments: &[&str]) -> ServerEntry {
        ServerEntry {
            slug: "files".into(),
            name: "Files".into(),
            transport: Transport::Program {
                command: "npx".into(),
                arguments: arguments.iter().map(ToString::to_string).collect(),
                environment: vec!["TOKEN".into(), "A\nB".into()],
                folder: Some("/home/ines/notes".into()),
            },
        }
    }

    #[test]
    fn the_dialog_shows_all_that_runs() {
        let question = Question::of(&entry(&["-y", "", "a b"]), Some(Path::new("/opt/bin/npx"))).unwrap();
        let english = Texts::of(Language::En);
        assert_eq!(question.title(english), "Switch on “Files”?");
        assert_eq!(
            question.message(english),
            "This program will run with all that you may do on this machine, whenever a chat uses it:\n\
             /opt/bin/npx\n\nArguments:\n1. -y\n2. ∅\n3. a b\n\nEnvironment variables:\nTOKEN\nA⟨U+000A⟩B\n\n\
             Folder:\n/home/ines/notes"
        );
        let http =
            Transport::Http { address: "https://example.org/mcp".into(), headers: vec!["X-Key".into()] };
        let http = ServerEntry { transport: http, ..entry(&[]) };
        assert_eq!(
            Question::of(&http, None).unwrap().message(english),
            "What models write for its tools will be sent to this address:\nhttps://example.org/mcp\n\n\
             Headers:\nX-Key"
        );
    }

    #[test]
    fn every_language_shows_the_same() {
        let question = Question::of(&entry(&["-y"]), Some(Path::new("/opt/bin/npx"))).unwrap();
        for language in [Language::En, Language::De, Language::Zh, Language::Ja] {
            let texts = Texts::of(language);
            let (title, message) = (question.title(texts), question.message(texts));
            assert!(title.contains("Files"), "{title}");
            for line in ["/opt/bin/npx", "1. -y", "TOKEN", "/home/ines/notes"] {
                assert!(message.lines().any(|shown| shown == line), "{message}");
            }
            for name in ["agree", "disagree", "program", "address", "headers"] {
                let name = format!("tool-server.{name}");
                assert_ne!(texts.say(&name), name);
            }
        }
    }

    #[test]
    fn a_sign_in_shows_where_it_is() {
        let address = "https://auth.example.org/authorize?state=abc#d";
        let question = Question::of_sign_in("Vault".into(), address, "https://auth.example.org/token");
        let other = Question::of_sign_in("Vault".into(), address, "https://other.example/token");
        for language in [Language::En, Language::De, Language::Zh, Language::Ja] {
            let texts = Texts::of(language);
            assert!(question.title(texts).contains("Vault"));
            let message = question.message(texts);
            assert!(message.ends_with("\nhttps://auth.example.org/authorize"), "{message}");
            assert!(other.message(texts).ends_with("\nhttps://other.example/token"));
            for name in ["agree", "disagree", "address", "tokens", "done", "not-done", "lang"] {
                let name = format!("tool-sign-in.{name}");
                assert_ne!(texts.say(&name), name);
            }
        }
    }

    #[test]
    fn nothing_hides_in_a_line() {
        for (text, expected) in [
            ("a b", "a b"),
            ("a\n2. --safe", "a⟨U+000A⟩2. --safe"),
            ("a      2. b", "a␣␣␣␣␣␣2. b"),
            (" a ", "␣a␣"),
            (" ", "␣"),
            ("a\u{202e}b\u{a0}c\u{200b}\td", "a⟨U+202E⟩b⟨U+00A0⟩c⟨U+200B⟩⟨U+0009⟩d"),
            ("", "∅"),
            ("größe 読む", "größe 読む"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn a_server_of_which_not_all_can_be_shown_is_refused() {
        let many = vec!["--flag"; 60];
        let long = "x".repeat(4000);
        for arguments in [&many[..], &[long.as_str()]] {
            let refused = Question::of(&entry(arguments), None).unwrap_err();
            assert!(matches!(refused, ToolboxError::TooLong { .. }), "{refused:?}");
        }
        assert!(Question::of(&entry(&["--flag"; 15]), None).is_ok());
    }
}
